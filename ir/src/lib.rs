//! See `ARCHITECTURE.md`.
#![forbid(unsafe_code)]
