//! Who reads what through which views.

use super::classify::Class;
use crate::index::{Index, delinear, linear, through, variables};
use monograph_ir::{Graph, NodeId, Op, Shape, ValueId};

/// One use of a computed node: operand `operand` of `user` is a view of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Use {
    pub(super) user: NodeId,
    pub(super) operand: u32,
}

/// For each node that is computed or a parameter, its uses by computed nodes through free views; and for each
/// computed node, what it reads.
pub(super) struct Reads {
    pub(super) uses: Vec<Vec<Use>>,
    pub(super) roots: Vec<Vec<NodeId>>,
}

impl Reads {
    pub(super) fn of(graph: &Graph, classes: &[Class], live: &[bool]) -> Reads {
        let mut reads = Reads { uses: vec![Vec::new(); graph.len()], roots: vec![Vec::new(); graph.len()] };
        for (id, node) in graph.iter() {
            if classes[id.index()] != Class::Computed || !live[id.index()] {
                continue;
            }
            for (operand, &value) in node.operands.iter().enumerate() {
                if let Some(root) = root(graph, classes, value) {
                    reads.uses[root.node.index()].push(Use { user: id, operand: operand as u32 });
                    reads.roots[id.index()].push(root.node);
                }
            }
        }
        reads
    }
}

/// The computed node or parameter that a value is a view of; none for what is made of constants.
pub(super) fn root(graph: &Graph, classes: &[Class], value: ValueId) -> Option<ValueId> {
    let mut value = value;
    loop {
        match classes[value.node.index()] {
            Class::Free if graph.node(value.node).op.is_view() => value = graph.node(value.node).operands[0],
            Class::Free | Class::Empty => return None,
            Class::Parameter | Class::Computed => return Some(value),
        }
    }
}

/// How a value is read, relative to a space of points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    /// Point `i` in row-major order reads element `i`.
    Same,
    /// Each point reads the element of its row: the space without the reduced axes.
    Row,
    /// Anything else.
    Other,
}

/// How the points of `space` read the root of `value`, if they read `value` (which has as many elements as the space)
/// element for element. `axes` are those that rows lack, if there are rows.
pub(super) fn relation(
    graph: &Graph,
    classes: &[Class],
    value: ValueId,
    space: &Shape,
    axes: Option<&[usize]>,
) -> Relation {
    let is_reshape = |id: NodeId| matches!(graph.node(id).op, Op::Reshape(_));
    let mut at = value;
    while classes[at.node.index()] == Class::Free && is_reshape(at.node) {
        at = graph.node(at.node).operands[0];
    }
    if classes[at.node.index()] != Class::Free {
        return Relation::Same;
    }
    let points = variables(space, 0);
    let position = linear(&points, space);
    let shape = &graph.spec(value).shape;
    let mut index = if shape == space { points.clone() } else { delinear(&position, shape) };
    let mut at = value;
    while classes[at.node.index()] == Class::Free {
        let node = graph.node(at.node);
        let Some(&operand) = node.operands.first() else { return Relation::Other };
        match through(&node.op, &graph.spec(operand).shape, &index) {
            Some(inner) if node.op.is_view() => index = inner,
            _ => return Relation::Other,
        }
        at = operand;
    }
    let read = linear(&index, &graph.spec(at).shape);
    if read == position {
        return Relation::Same;
    }
    match axes {
        Some(axes) if read == row(&points, space, axes) => Relation::Row,
        _ => Relation::Other,
    }
}

/// The row-major position of a point's row.
fn row(points: &[Index], space: &Shape, axes: &[usize]) -> Index {
    let kept = || (0..space.rank()).filter(|d| !axes.contains(d));
    let index: Vec<Index> = kept().map(|d| points[d].clone()).collect();
    let extents: Vec<usize> = kept().map(|d| space[d]).collect();
    linear(&index, &extents)
}
