//! Codes, explanations and rendering of diagnostics.
