//! The tracer.
