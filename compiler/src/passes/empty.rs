//! `empty`: no op but a view is left that reads a tensor without elements.
//!
//! An empty result becomes a broadcast constant, and an op whose result is not empty although an operand is becomes
//! what that operand contributes. What comes behind may rely on it: no kernel reads an empty tensor.

use super::rebuild::{Operands, Step, simplify, splat};
use crate::codegen::identity;
use monograph_ir::{Error, Graph, InferError, Literal, Op, Origin, Spec, Types, ValueId, infer};
use smallvec::smallvec;

/// Replaces every empty result by a broadcast zero, and every op over empty operands by its value.
///
/// # Errors
/// [`Error::Internal`] if a replacement is ill-typed.
pub fn empty(graph: &Graph) -> Result<Graph, Error> {
    simplify(graph, "empty", step)
}

fn result(graph: &Graph, op: &Op, operands: &[ValueId]) -> Result<Option<Spec>, InferError> {
    let types: Vec<_> = operands.iter().map(|&v| graph.ty(v)).collect();
    let results: Types = infer(op, &types)?;
    Ok(results.first().and_then(|t| t.spec().cloned()))
}

fn step(graph: &mut Graph, op: &Op, operands: &[ValueId], origin: &Origin) -> Result<Step, InferError> {
    let is_empty = |v: ValueId| graph.ty(v).spec().is_some_and(|s| s.shape.is_empty());
    let Some(spec) = result(graph, op, operands)? else { return Ok(Step::Keep) };
    let fill = |graph: &mut Graph, literal| splat(graph, literal, &spec.shape, origin).map(Step::Value);
    if spec.shape.is_empty() {
        // The form that is asked for stays, or it would be replaced for ever.
        let done = matches!(op, Op::Broadcast(_)) && matches!(graph.node(operands[0].node).op, Op::Constant(_));
        return if done { Ok(Step::Keep) } else { fill(graph, Literal::zero(spec.dtype)) };
    }
    if !operands.iter().any(|&v| is_empty(v)) {
        return Ok(Step::Keep);
    }
    match op {
        Op::Reduce { kind, .. } => match kind.identity(spec.dtype) {
            Some(identity) => fill(graph, identity),
            // Inference refuses an empty extreme.
            None => Ok(Step::Keep),
        },
        Op::Pad { .. } => Ok(Step::Become(Op::Broadcast(spec.shape), smallvec![operands[1]])),
        Op::Concat { axis } => {
            let rest: Operands = operands.iter().copied().filter(|&v| !is_empty(v)).collect();
            match rest[..] {
                [one] => Ok(Step::Value(one)),
                _ => Ok(Step::Become(Op::Concat { axis: *axis }, rest)),
            }
        }
        Op::Matmul { .. } | Op::Take { .. } | Op::TakeAlong { .. } => fill(graph, Literal::zero(spec.dtype)),
        // Windows over nothing but padding.
        Op::Convolution { .. } => fill(graph, Literal::zero(spec.dtype)),
        Op::WindowReduce { kind, .. } => fill(graph, identity(*kind, spec.dtype)),
        Op::WindowArg { .. } => fill(graph, Literal::from_i64(spec.dtype, -1)),
        Op::Scatter { .. } | Op::ScatterSorted { .. } | Op::DynamicUpdateSlice => Ok(Step::Value(operands[0])),
        // The rest has an empty result where an operand is empty.
        Op::Parameter(_)
        | Op::Constant(_)
        | Op::Iota { .. }
        | Op::RandomBits { .. }
        | Op::Elementwise(_)
        | Op::Select
        | Op::Cast(_)
        | Op::Bitcast(_)
        | Op::Reshape(_)
        | Op::Permute(_)
        | Op::Broadcast(_)
        | Op::Slice { .. }
        | Op::Reverse(_)
        | Op::ArgReduce { .. }
        | Op::Scan { .. }
        | Op::Argsort { .. }
        | Op::SortPacked
        | Op::DigitCounts { .. }
        | Op::PlaceByDigit { .. }
        | Op::DynamicSlice { .. }
        | Op::WindowScatter { .. }
        | Op::Cond { .. }
        | Op::While { .. }
        | Op::For { .. }
        | Op::Dynamic(_)
        | Op::Host(_) => Ok(Step::Keep),
    }
}
