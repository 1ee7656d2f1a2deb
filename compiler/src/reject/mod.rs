//! The rejection passes.
