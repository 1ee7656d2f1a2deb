//! Refuses what a CUDA graph cannot hold, before anything else looks at the graph.
//!
//! Three passes, one file each: shapes that depend on data, control flow that depends on data, and reads on the
//! host. Each reports every violation, root causes first, with how the operand got there, what depends on it, and
//! static alternatives that exist.
//!
//! A fourth, [`repeated_randomness`], is for traces alone: nothing is wrong with such a graph, but no user means it.

mod control_flow;
mod dynamic_shapes;
mod host_sync;
pub(crate) mod provenance;
mod repetition;

pub use control_flow::control_flow;
pub use dynamic_shapes::dynamic_shapes;
pub use host_sync::host_sync;
pub use repetition::repeated_randomness;

use monograph_ir::{Diagnostic, Graph, NodeId, Note, Origin};

/// Runs all passes.
///
/// # Errors
/// Every violation, those of [`dynamic_shapes`] first, then [`control_flow`], then [`host_sync`].
pub fn check(graph: &Graph) -> Result<(), Vec<Diagnostic>> {
    let mut diagnostics = dynamic_shapes(graph);
    diagnostics.extend(control_flow(graph));
    diagnostics.extend(host_sync(graph));
    if diagnostics.is_empty() { Ok(()) } else { Err(diagnostics) }
}

/// The note for what stands in a body of an op.
pub(crate) fn inside(op: &str, origin: &Origin) -> Note {
    Note { origin: Some(origin.clone()), message: format!("inside the `{op}` that is recorded here") }
}

/// Calls `f` for each node of the graph and of the bodies inside it, with the graph that holds the node and notes on
/// the bodies around it, innermost first.
fn visit(graph: &Graph, f: &mut impl FnMut(&Graph, NodeId, &[Note])) {
    visit_within(graph, &[], f);
}

fn visit_within(graph: &Graph, around: &[Note], f: &mut impl FnMut(&Graph, NodeId, &[Note])) {
    for (id, node) in graph.iter() {
        f(graph, id, around);
        for region in node.op.regions() {
            let mut notes = vec![inside(node.op.name(), graph.origin(id))];
            notes.extend_from_slice(around);
            visit_within(&region.0, &notes, f);
        }
    }
}
