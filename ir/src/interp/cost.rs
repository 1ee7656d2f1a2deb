//! `cost`: about how many scalar operations a graph takes.

use crate::{Graph, Node, Op, Spec};

/// About how many scalar operations [`evaluate`](super::evaluate) takes for a graph, so that a test can leave out
/// big ones. Saturates.
///
/// An element computed or moved counts 1, a multiplication with its addition 2, a reduction or scan 1 an element
/// read; reshapes and parameters are free. A `cond` counts its dearer branch, a `fori_loop` all its rounds, and a
/// `while_loop`, whose rounds are unknown, one.
pub fn cost(graph: &Graph) -> u64 {
    graph.nodes().iter().fold(0, |sum, node| sum.saturating_add(node_cost(graph, node)))
}

fn node_cost(graph: &Graph, node: &Node) -> u64 {
    let elements = |spec: Option<&Spec>| spec.and_then(|s| s.shape.elements()).unwrap_or(0) as u64;
    let result = || elements(node.results.first().and_then(|t| t.spec()));
    let operand = |i: usize| elements(node.operands.get(i).and_then(|&v| graph.ty(v).spec()));
    match &node.op {
        Op::Parameter(_) | Op::Reshape(_) | Op::Dynamic(_) | Op::Host(_) => 0,
        Op::Constant(_)
        | Op::Iota { .. }
        | Op::Elementwise(_)
        | Op::Select
        | Op::Cast(_)
        | Op::Bitcast(_)
        | Op::Permute(_)
        | Op::Broadcast(_)
        | Op::Slice { .. }
        | Op::Pad { .. }
        | Op::Concat { .. }
        | Op::Reverse(_)
        | Op::Take { .. }
        | Op::TakeAlong { .. }
        | Op::DynamicSlice { .. }
        | Op::DynamicUpdateSlice => result(),
        Op::Reduce { .. } | Op::ArgReduce { .. } | Op::Scan { .. } => operand(0).max(result()),
        // Comparisons: the logarithm of what could be one row.
        Op::Argsort { .. } | Op::SortPacked => result().saturating_mul(1 + u64::from(result().max(1).ilog2())),
        Op::DigitCounts { .. } | Op::PlaceByDigit { .. } => operand(0).saturating_add(result()),
        Op::Matmul { transpose_a, .. } => {
            let inner = node.operands.first().and_then(|&a| graph.ty(a).spec()).map_or(0, |a| {
                let back = if *transpose_a { 2 } else { 1 };
                a.shape.rank().checked_sub(back).map_or(0, |axis| a.shape[axis])
            });
            result().saturating_mul(2).saturating_mul(inner as u64).max(result())
        }
        // A block of four words takes ten rounds of some operations.
        Op::RandomBits { .. } => result().saturating_mul(16),
        Op::Convolution { .. } => {
            let kernel = node.operands.get(1).and_then(|&v| graph.ty(v).spec());
            let inner = kernel.map_or(0, |k| k.shape.iter().skip(1).product::<usize>() as u64);
            result().saturating_mul(2).saturating_mul(inner).max(result())
        }
        Op::WindowReduce { sizes, .. } | Op::WindowArg { sizes, .. } => {
            result().saturating_mul(sizes.iter().product::<usize>() as u64)
        }
        Op::WindowScatter { sizes, .. } => {
            operand(0).saturating_mul(sizes.iter().product::<usize>() as u64).saturating_add(result())
        }
        Op::Scatter { .. } | Op::ScatterSorted { .. } => result().saturating_add(operand(2)),
        Op::Cond { then, otherwise } => cost(&then.0).max(cost(&otherwise.0)),
        Op::While { condition, body } => cost(&condition.0).saturating_add(cost(&body.0)),
        Op::For { count, body } => cost(&body.0).saturating_mul(*count),
    }
}
