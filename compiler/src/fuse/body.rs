//! Bodies: what a group computes, as a graph from what it reads to what it writes.

use super::{Assignment, storage};
use monograph_ir::{Binding, Graph, NodeId, Op, Origin, OutputKind, ParamKind, ValueId, ValueMap};
use rustc_hash::FxHashSet;

/// Whether a group has to read this value from memory: another group computes it, or it is a parameter, or it is
/// either of them under another shape.
fn is_read(graph: &Graph, assignment: &Assignment, group: u32, value: ValueId) -> bool {
    let root = storage(graph, value);
    if matches!(graph.node(root.node).op, Op::Parameter(_)) {
        return true;
    }
    match (assignment.group(value.node), assignment.group(root.node)) {
        (Some(own), _) => own != group,
        (None, Some(of_root)) => of_root != group,
        // An empty value is computed by nobody.
        (None, None) => graph.spec(value).shape.is_empty(),
    }
}

/// Everything below the outputs that the group computes itself, operands before users, and what it reads, both in
/// the order in which a walk from the outputs meets them: equal groups then have equal bodies wherever they stand.
fn walk(graph: &Graph, assignment: &Assignment, group: u32, outputs: &[ValueId]) -> (Vec<NodeId>, Vec<ValueId>) {
    let (mut order, mut inputs) = (Vec::new(), Vec::new());
    let (mut visited, mut read) = (FxHashSet::default(), FxHashSet::default());
    for &output in outputs {
        // Each entry is a node and the number of its operands that were walked.
        let mut stack = Vec::new();
        if visited.insert(output.node) {
            stack.push((output.node, 0));
        }
        while let Some((id, next)) = stack.pop() {
            let Some(&operand) = graph.node(id).operands.get(next) else {
                order.push(id);
                continue;
            };
            stack.push((id, next + 1));
            if is_read(graph, assignment, group, operand) {
                if read.insert(operand) {
                    inputs.push(operand);
                }
            } else if visited.insert(operand.node) {
                stack.push((operand.node, 0));
            }
        }
    }
    (order, inputs)
}

/// The nodes (copies of free ones included), the reads and the body of the group that computes `outputs`.
pub(super) fn build(
    graph: &Graph,
    assignment: &Assignment,
    group: u32,
    outputs: &[ValueId],
) -> (Vec<NodeId>, Vec<ValueId>, Graph) {
    let (nodes, inputs) = walk(graph, assignment, group, outputs);
    let mut body = Graph::new("body");
    let mut map = ValueMap::default();
    for (i, &input) in inputs.iter().enumerate() {
        let kind = ParamKind::Input(Binding::Copied);
        map.insert(input, body.parameter(format!("r{i}"), graph.spec(input).clone(), kind, Origin::Unknown));
    }
    for &id in &nodes {
        let node = graph.node(id);
        let new = body
            .add(node.op.clone(), &map.all(&node.operands), graph.origin(id).clone())
            .expect("a node that was inferred once has the same types in a body");
        map.insert_node(id, node.results.len(), new);
    }
    for (i, &output) in outputs.iter().enumerate() {
        body.output(format!("w{i}"), map.at(output), OutputKind::Result);
    }
    (nodes, inputs, body)
}
