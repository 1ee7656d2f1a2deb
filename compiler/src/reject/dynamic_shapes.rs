//! Shapes that depend on data: kernels, memory and launches are planned before there is data.

use super::{provenance, visit};
use crate::diagnostics::codes;
use monograph_ir::{Code, Diagnostic, DynamicOp, Graph, NodeId, Note, Op};
use std::collections::BTreeSet;

/// At most so many consumers of a dynamic value are shown.
const SHOWN_USES: usize = 3;

/// A diagnostic for each op whose result's shape depends on data; what uses the result is noted there.
pub fn dynamic_shapes(graph: &Graph) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    visit(graph, &mut |graph, id, around| {
        if let Op::Dynamic(op) = graph.node(id).op {
            diagnostics.push(diagnose(graph, id, op, around));
        }
    });
    diagnostics
}

fn diagnose(graph: &Graph, id: NodeId, op: DynamicOp, around: &[Note]) -> Diagnostic {
    let (code, remedies) = remedy(op);
    let operands = &graph.node(id).operands;
    let mut notes: Vec<Note> = operands.iter().map(|&v| provenance::made(graph, v)).collect();
    notes.dedup();
    notes.extend(uses(graph, id));
    notes.extend_from_slice(around);
    Diagnostic {
        code,
        message: format!("the shape of `{op}` depends on data, so it cannot be part of a CUDA graph"),
        origin: graph.origin(id).clone(),
        label: "how many elements this gives is known only at run time".into(),
        notes,
        help: remedies.iter().map(|r| r.to_string()).collect(),
    }
}

fn remedy(op: DynamicOp) -> (Code, &'static [&'static str]) {
    match op {
        DynamicOp::Nonzero => (
            codes::NONZERO,
            &[
                "`nonzero_padded(size, fill)` gives the first `size` indices, then `fill`",
                "if the indices only choose elements, a mask does: `x.ne(0.0).select(&x, 0.0)`",
            ],
        ),
        DynamicOp::MaskedSelect => (
            codes::MASKED_SELECT,
            &[
                "`masked_select_padded(&mask, size, fill)` gives the first `size` elements, then `fill`",
                "if the elements are only reduced afterwards, keep the shape: `mask.select(&x, 0.0).sum(..)`",
            ],
        ),
        DynamicOp::Unique => {
            (codes::UNIQUE, &["`unique_padded(size, fill)` gives the first `size` distinct elements, then `fill`"])
        }
        DynamicOp::RepeatInterleave => (
            codes::REPEAT_INTERLEAVE,
            &["`take(&indices, axis)` repeats by an index tensor of fixed size, computed from the counts"],
        ),
        DynamicOp::DynamicRange => (
            codes::DYNAMIC_RANGE,
            &["`arange(dtype, bound)` has a fixed size, and `arange(dtype, bound).lt(&end)` masks what lies beyond"],
        ),
    }
}

/// Notes on what uses the result, directly or not, each place once.
fn uses(graph: &Graph, root: NodeId) -> Vec<Note> {
    let mut tainted = BTreeSet::from([root]);
    let mut places = Vec::new();
    for (id, node) in graph.iter() {
        if !node.operands.iter().any(|v| tainted.contains(&v.node)) {
            continue;
        }
        // A later dynamic op has a diagnostic of its own, which follows; its uses are that one's.
        if !matches!(node.op, Op::Dynamic(_)) {
            tainted.insert(id);
        }
        let origin = graph.origin(id);
        if origin != graph.origin(root) && !places.contains(origin) {
            places.push(origin.clone());
        }
    }
    let more = places.len().saturating_sub(SHOWN_USES);
    let mut notes: Vec<Note> = places
        .into_iter()
        .take(SHOWN_USES)
        .map(|origin| Note { origin: Some(origin), message: "its result is used here".into() })
        .collect();
    if more > 0 {
        notes.push(Note { origin: None, message: format!("its result is used at {more} more places") });
    }
    notes
}
