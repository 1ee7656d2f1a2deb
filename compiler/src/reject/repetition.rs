//! Randomness that repeats: a draw whose state is the same at every replay.

use super::{inside, provenance};
use crate::diagnostics::codes;
use monograph_ir::{Diagnostic, Graph, NodeId, Note, Op, OutputKind, ParamKind, ValueId};

/// A diagnostic for each draw that gives the same numbers at every replay, because what it depends on is captured or
/// is a state that no replay changes. Inputs may change; in the body of a loop everything is taken to change if any of the
/// loop's operands does.
pub fn repeated_randomness(graph: &Graph) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let changes = graph.params().iter().enumerate().map(|(number, param)| match param.kind {
        ParamKind::Input(_) => true,
        ParamKind::State => is_replaced(graph, number as u32),
        ParamKind::Constant => false,
    });
    visit(graph, &changes.collect::<Vec<_>>(), &[], &mut diagnostics);
    diagnostics
}

/// Whether a replay gives the state of that parameter another value than it has.
fn is_replaced(graph: &Graph, number: u32) -> bool {
    let stays = |value: ValueId| graph.node(value.node).op == Op::Parameter(number);
    graph.outputs().iter().any(|o| o.kind == OutputKind::State(number) && !stays(o.value))
}

fn visit(graph: &Graph, params: &[bool], around: &[Note], diagnostics: &mut Vec<Diagnostic>) {
    let seen = seen(graph);
    let mut changes = vec![false; graph.len()];
    for (id, node) in graph.iter() {
        let operands: Vec<bool> = node.operands.iter().map(|v| changes[v.node.index()]).collect();
        let any = operands.contains(&true);
        changes[id.index()] = match node.op {
            Op::Parameter(number) => params[number as usize],
            _ => any,
        };
        if matches!(node.op, Op::RandomBits { .. }) && !any && seen[id.index()] {
            diagnostics.push(repeats(graph, id, around));
        }
        for region in node.op.regions() {
            let mut notes = vec![inside(node.op.name(), graph.origin(id))];
            notes.extend_from_slice(around);
            let params = match node.op {
                Op::Cond { .. } => operands[1..].to_vec(),
                _ => vec![any; region.0.params().len()],
            };
            visit(&region.0, &params, &notes, diagnostics);
        }
    }
}

/// The nodes whose values come to an output, other than as the state of a draw: words that only name another stream
/// may stay.
fn seen(graph: &Graph) -> Vec<bool> {
    let mut seen = vec![false; graph.len()];
    for output in graph.outputs() {
        seen[output.value.node.index()] = true;
    }
    for (id, node) in graph.iter().rev() {
        if seen[id.index()] && !matches!(node.op, Op::RandomBits { .. }) {
            node.operands.iter().for_each(|v| seen[v.node.index()] = true);
        }
    }
    seen
}

fn repeats(graph: &Graph, id: NodeId, around: &[Note]) -> Diagnostic {
    let mut notes: Vec<Note> = graph.node(id).operands.iter().map(|&v| provenance::made(graph, v)).collect();
    notes.extend_from_slice(around);
    Diagnostic {
        code: codes::REPEATED_RANDOMNESS,
        message: "every replay would draw the same random numbers, because no replay changes the generator".into(),
        origin: graph.origin(id).clone(),
        label: "draws from a generator that stays".into(),
        notes,
        help: vec![
            "keep the generator in the state of `trace_step`, and return it with the new state".into(),
            "pass the generator as an input, and choose at each replay what it draws".into(),
        ],
    }
}
