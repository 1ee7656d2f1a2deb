//! How a value got there: notes on what it is made of.

use monograph_ir::{Graph, NodeId, Note, Op, ParamKind, ValueId};
use std::collections::BTreeSet;

/// At most so many inputs are named for one value.
const NAMED: usize = 3;
/// At most so many nodes are looked at for one value.
const VISITED: usize = 2_000;

/// A note on where a value comes from: the parameter that it is, or the place where it was made and the parameters
/// that it depends on.
pub(crate) fn made(graph: &Graph, value: ValueId) -> Note {
    let node = graph.node(value.node);
    let ty = graph.ty(value);
    match node.op {
        Op::Parameter(number) => {
            Note { origin: None, message: format!("{} is of type {ty}", parameter(graph, number)) }
        }
        Op::Constant(literal) => {
            Note { origin: Some(graph.origin(value.node).clone()), message: format!("{literal} is of type {ty}") }
        }
        _ => {
            let from = roots(graph, value.node);
            let from = if from.is_empty() { String::new() } else { format!(", from {from}") };
            let message = format!("a tensor of type {ty} is made here{from}");
            Note { origin: Some(graph.origin(value.node).clone()), message }
        }
    }
}

/// A parameter in words: "input `x`".
fn parameter(graph: &Graph, number: u32) -> String {
    let param = &graph.params()[number as usize];
    let kind = match param.kind {
        ParamKind::Input(_) => "input",
        ParamKind::State => "state",
        ParamKind::Constant => "captured array",
    };
    format!("{kind} `{}`", param.name)
}

/// The parameters that a node depends on, in words, in their order.
fn roots(graph: &Graph, node: NodeId) -> String {
    let mut seen = BTreeSet::from([node]);
    let mut stack = vec![node];
    let mut found = BTreeSet::new();
    while let Some(id) = stack.pop() {
        if let Op::Parameter(number) = graph.node(id).op {
            found.insert(number);
        }
        let operands = graph.node(id).operands.iter().map(|v| v.node);
        stack.extend(operands.filter(|&n| seen.len() < VISITED && seen.insert(n)));
    }
    let mut words: Vec<String> = found.iter().take(NAMED).map(|&n| parameter(graph, n)).collect();
    if found.len() > NAMED {
        words.push(format!("{} more", found.len() - NAMED));
    }
    match words.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}
