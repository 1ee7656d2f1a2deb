//! The reference interpreter against constants that do not come from it.

mod common;
mod elementwise;
mod graphs;
mod movement;
mod reductions;
mod rounding;
mod sorting;
mod windows;
