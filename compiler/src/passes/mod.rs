//! Graph-to-graph passes. [`optimize`] is their order; each is one file and one function of its name.

mod canonicalize;
mod cse;
mod dce;
mod empty;
mod fold;
pub(crate) mod rebuild;
mod regions;
mod scans;
mod scatters;
mod sorts;
pub(crate) mod views;

pub use canonicalize::canonicalize;
pub use cse::cse;
pub use dce::dce;
pub use empty::empty;
pub use fold::fold;
pub use regions::{NODE_LIMIT, regions};
pub use scans::scans;
pub use scatters::scatters;
pub use sorts::sorts;

use crate::{Options, rewrite::rewrite};
use monograph_ir::{Error, Graph, verify};

/// How often the cheap passes run at most until nothing changes: each round undoes one more layer of views that a
/// fold uncovered, and two are almost always enough.
const ROUNDS: usize = 4;

/// Everything between rejection and fusion. The result computes the same, to the bit unless `options.fast_math`, and
/// has no region, no `while_loop`, no dynamic and no host op, and no op but a view that reads an empty tensor.
///
/// Inlining regions, simplifying empty tensors and taking sorts apart are no optimization: the rest of the compiler
/// relies on them.
///
/// # Errors
/// [`Error::TooManyNodes`] if the unrolled program is too large; [`Error::Internal`] if a pass breaks the graph, or if
/// the graph has an op that must be rejected before.
pub fn optimize(graph: &Graph, options: &Options) -> Result<Graph, Error> {
    let mut graph = checked("regions", regions(graph)?)?;
    graph = checked("empty", empty(&graph)?)?;
    graph = checked("dce", dce(&graph)?)?;
    if options.optimize {
        graph = simplify(graph)?;
        graph = checked("rewrite", rewrite(&graph, options)?)?;
        graph = simplify(graph)?;
    }
    // What has no kernel, or a slow one, becomes what has. Behind all else, which knows the ops that programs have.
    graph = checked("sorts", sorts(&graph)?)?;
    if options.optimize {
        graph = checked("scatters", scatters(&graph)?)?;
        graph = checked("scans", scans(&graph)?)?;
    }
    checked("dce", dce(&graph)?)
}

/// The cheap passes, until nothing changes.
fn simplify(mut graph: Graph) -> Result<Graph, Error> {
    for _ in 0..ROUNDS {
        let mut next = checked("canonicalize", canonicalize(&graph)?)?;
        next = checked("fold", fold(&next)?)?;
        next = checked("cse", cse(&next)?)?;
        next = checked("dce", dce(&next)?)?;
        if next == graph {
            break;
        }
        graph = next;
    }
    Ok(graph)
}

/// The graph, verified in debug builds.
fn checked(pass: &'static str, graph: Graph) -> Result<Graph, Error> {
    if cfg!(debug_assertions) {
        verify(&graph).map_err(|e| rebuild::defect(pass, e))?;
    }
    Ok(graph)
}
