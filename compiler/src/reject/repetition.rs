//! Randomness that repeats: a draw whose state is the same at every replay.

use super::{inside, provenance};
use crate::diagnostics::codes;
use monograph_ir::{Diagnostic, Graph, Note, Op, OutputKind, ParamKind, ValueId};

/// A diagnostic for each draw that gives the same numbers at every replay, because what it depends on is captured or
/// is a state that no replay changes. Inputs may change; a body's values are taken to change if any operand of its op
/// does.
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
    let mut changes = vec![false; graph.len()];
    for (id, node) in graph.iter() {
        let any = node.operands.iter().any(|v| changes[v.node.index()]);
        changes[id.index()] = match node.op {
            Op::Parameter(number) => params[number as usize],
            _ => any,
        };
        if matches!(node.op, Op::RandomBits { .. }) && !any {
            let mut notes: Vec<Note> = node.operands.iter().map(|&v| provenance::made(graph, v)).collect();
            notes.extend_from_slice(around);
            diagnostics.push(Diagnostic {
                code: codes::REPEATED_RANDOMNESS,
                message: "every replay would draw the same random numbers, because no replay changes the generator"
                    .into(),
                origin: graph.origin(id).clone(),
                label: "draws from a generator that stays".into(),
                notes,
                help: vec![
                    "keep the generator in the state of `trace_step`, and return it with the new state".into(),
                    "pass the generator as an input, and choose at each replay what it draws".into(),
                ],
            });
        }
        for region in node.op.regions() {
            let mut notes = vec![inside(node.op.name(), graph.origin(id))];
            notes.extend_from_slice(around);
            visit(&region.0, &vec![any; region.0.params().len()], &notes, diagnostics);
        }
    }
}
