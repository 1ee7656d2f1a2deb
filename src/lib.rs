//! Facade.
#![forbid(unsafe_code)]
