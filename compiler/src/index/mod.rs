//! Symbolic index maps.
