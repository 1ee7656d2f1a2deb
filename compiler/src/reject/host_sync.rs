//! Reads on the host: inside a trace there is no value yet, and inside a CUDA graph the host has no turn.

use super::{provenance, visit};
use crate::diagnostics::codes;
use monograph_ir::{Code, Diagnostic, Graph, HostOp, Op};

/// A diagnostic for each op that needs a value on the host.
pub fn host_sync(graph: &Graph) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    visit(graph, &mut |graph, id, around| {
        let node = graph.node(id);
        let Op::Host(op) = node.op else { return };
        let (code, label, help) = remedy(op);
        let mut help: Vec<String> = help.iter().map(|h| h.to_string()).collect();
        if !around.is_empty() {
            help.push("a body cannot hold a probe: return the value from the body, and probe the result".into());
        }
        let mut notes: Vec<_> = node.operands.iter().map(|&v| provenance::made(graph, v)).collect();
        notes.extend_from_slice(around);
        diagnostics.push(Diagnostic {
            code,
            message: format!("`{op}` reads a tensor on the host, but inside a trace there is no value yet"),
            origin: graph.origin(id).clone(),
            label: label.into(),
            notes,
            help,
        });
    });
    diagnostics
}

fn remedy(op: HostOp) -> (Code, &'static str, &'static [&'static str]) {
    const RETURN: &str = "return the tensor from the traced function, and read the output after the replay";
    match op {
        HostOp::Item => (
            codes::ITEM,
            "needs the value now",
            &[
                RETURN,
                "if the number goes back into the computation, use the tensor itself: a scalar tensor broadcasts",
                "if it decides what to compute, use `mask.select(&a, &b)` or `cond`",
            ],
        ),
        HostOp::ToVec => (
            codes::TO_VEC,
            "needs the values now",
            &[RETURN, "or name it with `probe(\"name\", &x)`, and read `exe.probe(\"name\")` after the replay"],
        ),
        HostOp::Print => (
            codes::PRINT,
            "needs the values now",
            &["`probe(\"name\", &x)` makes it readable after each replay, with `exe.probe(\"name\")`"],
        ),
        HostOp::Assert => (
            codes::ASSERT,
            "needs the values now",
            &["`probe(\"name\", &condition.all(..))`, and check `exe.probe(\"name\")` after the replay"],
        ),
    }
}
