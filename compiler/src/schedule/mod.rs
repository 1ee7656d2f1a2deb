//! Scheduling: the order of the launches, and what must wait for what.
//!
//! [`order`] puts groups into a total order; [`hazards`] derives from the bytes that each launch touches which earlier
//! launches it must wait for; [`reduce`] drops what follows from the rest. Everything later may rely on the order:
//! every edge goes from an earlier launch to a later one.

mod dag;
mod hazards;
mod order;
mod reduce;

pub(crate) use dag::first_places;
pub use dag::{plan_dot, to_petgraph};
pub use hazards::{Range, Touches, hazards};
pub use order::{Job, order, peak};
pub use reduce::{Ancestors, reduce};

/// For each launch, the earlier launches that it waits for, ascending, each once.
pub type Waits = Vec<Vec<u32>>;

/// For each launch, the number of launches on the longest path to it.
pub fn levels(waits: &Waits) -> Vec<u32> {
    let mut levels: Vec<u32> = Vec::with_capacity(waits.len());
    for wait in waits {
        levels.push(wait.iter().map(|&w| levels[w as usize] + 1).max().unwrap_or(0));
    }
    levels
}
