//! Control flow that depends on data: a CUDA graph launches the same kernels at every replay.
//!
//! A `cond` is accepted: its branches have no effects once [`dynamic_shapes`](super::dynamic_shapes) and
//! [`host_sync`](super::host_sync) find nothing in them, so both are computed and one is selected. `fori_loop` has a
//! static count. What is left is `while_loop`. (`if` and `while` of Rust on a tensor do not compile.)

use super::{provenance, visit};
use crate::diagnostics::codes;
use monograph_ir::{Diagnostic, Graph, Note, Op};

/// A diagnostic for each loop whose number of rounds depends on data.
pub fn control_flow(graph: &Graph) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    visit(graph, &mut |graph, id, around| {
        let node = graph.node(id);
        if !matches!(node.op, Op::While { .. }) {
            return;
        }
        let mut notes: Vec<Note> = Vec::new();
        for &operand in &node.operands {
            let note = provenance::made(graph, operand);
            if !notes.contains(&note) && notes.len() < 3 {
                notes.push(note);
            }
        }
        notes.extend_from_slice(around);
        diagnostics.push(Diagnostic {
            code: codes::WHILE_LOOP,
            message: "the number of rounds of `while_loop` depends on data, so it cannot be part of a CUDA graph"
                .into(),
            origin: graph.origin(id).clone(),
            label: "when this ends is known only at run time".into(),
            notes,
            help: vec![
                "`fori_loop(bound, state, body)` has a static number of rounds; inside, `goes_on.select(&new, &old)` \
                 keeps the state once the condition fails"
                    .into(),
                "or replay one round at a time from the host, and read the condition between replays".into(),
            ],
        });
    });
    diagnostics
}
