//! `cse`: common subexpressions become one node.

use super::rebuild::rebuild;
use monograph_ir::{Error, Graph};

/// Rebuilds the graph, which merges equal pure nodes; the earliest one's origin is kept.
///
/// # Errors
/// [`Error::Internal`] if the graph is ill-typed.
pub fn cse(graph: &Graph) -> Result<Graph, Error> {
    rebuild(graph, "cse", |new, node, operands, origin| new.apply(node.op.clone(), &operands, origin.clone()))
}
