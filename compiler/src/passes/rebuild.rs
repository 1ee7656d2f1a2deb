//! What the passes share: rebuilding a graph node by node, and reading and writing splats.

use monograph_ir::{Error, Graph, InferError, Literal, Node, Op, Origin, Shape, ValueId, ValueMap};
use smallvec::SmallVec;

/// The operands of a node.
pub(crate) type Operands = SmallVec<[ValueId; 3]>;

/// What a simplification makes of an op over operands.
pub(crate) enum Step {
    /// Nothing: it is as simple as it gets.
    Keep,
    /// A value that is there already.
    Value(ValueId),
    /// Another op, which may be simplified further.
    Become(Op, Operands),
}

/// Rebuilds a graph in index order. `emit` is called for every pure node with one result, with its operands in the
/// new graph, and says which value it becomes; every other node is copied.
///
/// # Errors
/// [`Error::Internal`] where `emit` or inference fails: a pass made something ill-typed.
pub(crate) fn rebuild(
    graph: &Graph,
    pass: &'static str,
    mut emit: impl FnMut(&mut Graph, &Node, Operands, &Origin) -> Result<ValueId, InferError>,
) -> Result<Graph, Error> {
    let (mut new, mut map) = graph.rebuild();
    for (id, node) in graph.iter() {
        if matches!(node.op, Op::Parameter(_)) {
            continue;
        }
        let operands = map.all(&node.operands);
        let origin = graph.origin(id);
        if node.op.is_pure() && node.results.len() == 1 && node.op.regions().is_empty() {
            let value = emit(&mut new, node, operands, origin).map_err(|e| defect(pass, e))?;
            map.insert(id.value(), value);
        } else {
            let copy = new.add(node.op.clone(), &operands, origin.clone()).map_err(|e| defect(pass, e))?;
            map.insert_node(id, node.results.len(), copy);
        }
    }
    outputs(graph, &mut new, &map);
    Ok(new)
}

/// [`rebuild`] with every node simplified by `step` until it stays.
///
/// # Errors
/// As [`rebuild`].
pub(crate) fn simplify(
    graph: &Graph,
    pass: &'static str,
    mut step: impl FnMut(&mut Graph, &Op, &[ValueId], &Origin) -> Result<Step, InferError>,
) -> Result<Graph, Error> {
    rebuild(graph, pass, |new, node, operands, origin| {
        let (mut op, mut operands) = (node.op.clone(), operands);
        loop {
            match step(new, &op, &operands, origin)? {
                Step::Keep => return new.apply(op, &operands, origin.clone()),
                Step::Value(value) => return Ok(value),
                Step::Become(next, over) => (op, operands) = (next, over),
            }
        }
    })
}

/// Declares the outputs of `graph` in its rebuilt form.
pub(crate) fn outputs(graph: &Graph, new: &mut Graph, map: &ValueMap) {
    for output in graph.outputs() {
        new.output(output.name.clone(), map.at(output.value), output.kind);
    }
}

/// The error for a pass that made something ill-typed.
pub(crate) fn defect(pass: &str, error: impl std::fmt::Display) -> Error {
    Error::Internal(format!("the pass `{pass}` made an ill-formed graph: {error}"))
}

/// A tensor of that shape whose every element is `literal`: a constant, and a broadcast where it is no scalar.
///
/// # Errors
/// Where the tensor would be too large to exist.
pub(crate) fn splat(
    graph: &mut Graph,
    literal: Literal,
    shape: &Shape,
    origin: &Origin,
) -> Result<ValueId, InferError> {
    let scalar = graph.apply(Op::Constant(literal), &[], origin.clone())?;
    match shape.rank() {
        0 => Ok(scalar),
        _ => graph.apply(Op::Broadcast(shape.clone()), &[scalar], origin.clone()),
    }
}

/// The one value of all elements, where that is written in the graph: a constant, or views of one.
///
/// Looks through at most as many views as a canonical graph stacks on a constant, so that it takes constant time.
pub(crate) fn splat_of(graph: &Graph, mut value: ValueId) -> Option<Literal> {
    for _ in 0..4 {
        let node = graph.node(value.node);
        match &node.op {
            Op::Constant(literal) => return Some(*literal),
            op if op.is_view() => value = node.operands[0],
            _ => return None,
        }
    }
    None
}
