//! Launches, their order and their edges.
