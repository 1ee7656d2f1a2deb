//! The egg stage.
