//! The memory planner.
