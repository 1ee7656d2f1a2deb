//! What becomes of each node: which are evaluated where they are needed, and which are computed once.

use super::asked_for;
use monograph_ir::{Elementwise, Graph, Op};

/// A view that is this many views away from memory is materialized, so that no kernel's index arithmetic (and no
/// compile time) grows without bound.
const MAX_FREE_DEPTH: u32 = 24;

/// An expression over constants of at most this many element-wise ops is evaluated wherever it is needed: masks.
const MAX_FREE_OPS: u32 = 6;

/// What becomes of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    /// A parameter of the graph.
    Parameter,
    /// Evaluated by index wherever it is needed.
    Free,
    /// Has no elements: nothing to compute.
    Empty,
    /// Computed by one group.
    Computed,
}

/// The class of each node. Views and constants that the graph returns, and views that lie too deep, are computed. With
/// `inline`, small expressions over constants are free too, but not over one that is computed: whoever needs them would
/// have to wait for it.
pub(super) fn classify(graph: &Graph, inline: bool) -> Vec<Class> {
    let mut classes = Vec::with_capacity(graph.len());
    let asked = asked_for(graph);
    let mut depth = vec![0u32; graph.len()];
    // For what depends on constants only, the number of element-wise ops.
    let mut constant: Vec<Option<u32>> = vec![None; graph.len()];
    for (id, node) in graph.iter() {
        let i = id.index();
        let over_constants = || {
            let mut costs = node.operands.iter().map(|v| constant[v.node.index()]);
            costs.try_fold(1u32, |sum, cost| cost.map(|c| sum.saturating_add(c))).filter(|&c| c <= MAX_FREE_OPS)
        };
        classes.push(match &node.op {
            Op::Parameter(_) => Class::Parameter,
            _ if node.results.iter().all(|t| t.spec().is_some_and(|s| s.shape.is_empty())) => Class::Empty,
            op if asked[i] && (op.is_view() || matches!(op, Op::Constant(_) | Op::Iota { .. })) => Class::Computed,
            Op::Constant(_) | Op::Iota { .. } => {
                constant[i] = Some(0);
                Class::Free
            }
            op if op.is_view() => {
                let below = node.operands[0].node.index();
                depth[i] = depth[below] + u32::from(classes[below] == Class::Free);
                if depth[i] > MAX_FREE_DEPTH {
                    depth[i] = 0;
                    Class::Computed
                } else {
                    constant[i] = constant[below];
                    Class::Free
                }
            }
            op if inline && !asked[i] && is_elementwise(op) && !is_expensive(op) && over_constants().is_some() => {
                constant[i] = over_constants();
                depth[i] = node.operands.iter().map(|v| depth[v.node.index()] + 1).max().unwrap_or(0);
                Class::Free
            }
            _ => Class::Computed,
        });
    }
    classes
}

/// Whether each element of the result needs the elements of the operands at its own index only.
pub(super) fn is_elementwise(op: &Op) -> bool {
    matches!(op, Op::Elementwise(_) | Op::Select | Op::Cast(_) | Op::Bitcast(_))
}

/// Whether computing an element again costs more than reading it again.
pub(super) fn is_expensive(op: &Op) -> bool {
    use Elementwise::*;
    match op {
        Op::Elementwise(op) => {
            op.is_approximate()
                || matches!(op, Sqrt | Rsqrt | Erfinv | Lgamma | Digamma | Div | Rem | DivFloor | ModFloor)
        }
        Op::Reduce { .. } | Op::ArgReduce { .. } | Op::RandomBits { .. } => true,
        op => super::grow::is_anchor(op),
    }
}
