//! `canonicalize`: one form for what can be written in several.
//!
//! Constants stand at the right of commutative ops; a stack of views of one kind is one view; views that change
//! nothing are gone; element-wise work comes before a broadcast; transposes are flags of the matrix product that reads
//! them. Every step is exact to the bit.

use super::rebuild::{Operands, Step, simplify, splat, splat_of};
use super::views;
use monograph_ir::{
    Axes, DType, Elementwise, Error, Graph, InferError, Literal, Op, Origin, Reduction, Shape, ValueId,
};
use smallvec::{SmallVec, smallvec};

/// Brings every node into its canonical form.
///
/// # Errors
/// [`Error::Internal`] if a replacement is ill-typed.
pub fn canonicalize(graph: &Graph) -> Result<Graph, Error> {
    simplify(graph, "canonicalize", step)
}

fn step(graph: &mut Graph, op: &Op, operands: &[ValueId], origin: &Origin) -> Result<Step, InferError> {
    Ok(match op {
        Op::Iota { dtype, shape, axis } if shape.get(*axis) == Some(&1) => {
            Step::Value(splat(graph, Literal::zero(*dtype), shape, origin)?)
        }
        Op::Elementwise(e) => match elementwise(graph, *e, operands) {
            Step::Keep => repeat_later(graph, op, operands, origin)?,
            other => other,
        },
        Op::Select => repeat_later(graph, op, operands, origin)?,
        Op::Cast(to) => match cast(graph, *to, operands[0]) {
            Step::Keep => repeat_later(graph, op, operands, origin)?,
            other => other,
        },
        Op::Bitcast(to) => bitcast(graph, *to, operands[0]),
        Op::Reshape(shape) => reshape(graph, shape, operands[0]),
        Op::Permute(axes) => permute(graph, axes, operands[0]),
        Op::Broadcast(shape) => broadcast(graph, shape, operands[0]),
        Op::Slice { starts, limits, strides } => slice(graph, starts, limits, strides, operands[0]),
        Op::Pad { low, high } => {
            let shape = &graph.spec(operands[0]).shape;
            if low.iter().chain(high).all(|&n| n == 0) {
                Step::Value(operands[0])
            } else if low.iter().chain(high).all(|&n| n <= 0) {
                let starts: Axes = low.iter().map(|n| n.unsigned_abs() as usize).collect();
                let limits = shape.iter().zip(high).map(|(d, n)| d - n.unsigned_abs() as usize).collect();
                let strides = smallvec![1; shape.rank()];
                Step::Become(Op::Slice { starts, limits, strides }, smallvec![operands[0]])
            } else {
                Step::Keep
            }
        }
        Op::Concat { .. } if operands.len() == 1 => Step::Value(operands[0]),
        Op::Reverse(axes) => reverse(graph, axes, operands[0]),
        Op::Reduce { kind, axes } => reduce(graph, *kind, axes, operands[0]),
        Op::Scan { kind, axis } if *kind != Reduction::Sum && graph.spec(operands[0]).shape[*axis] == 1 => {
            Step::Value(operands[0])
        }
        Op::ArgReduce { axis, .. } if graph.spec(operands[0]).shape[*axis] == 1 => {
            let shape = views::without(&graph.spec(operands[0]).shape, &[*axis]);
            Step::Value(splat(graph, Literal::zero(DType::I64), &shape, origin)?)
        }
        Op::Argsort { axis, .. } if graph.spec(operands[0]).shape[*axis] == 1 => {
            let shape = graph.spec(operands[0]).shape.clone();
            Step::Value(splat(graph, Literal::zero(DType::I64), &shape, origin)?)
        }
        Op::Matmul { transpose_a, transpose_b } => matmul(graph, [*transpose_a, *transpose_b], operands),
        // Nothing else is written in two ways.
        Op::Parameter(_)
        | Op::Constant(_)
        | Op::Iota { .. }
        | Op::RandomBits { .. }
        | Op::Concat { .. }
        | Op::ArgReduce { .. }
        | Op::Scan { .. }
        | Op::Argsort { .. }
        | Op::SortPacked
        | Op::DigitCounts { .. }
        | Op::PlaceByDigit { .. }
        | Op::ScatterSorted { .. }
        | Op::Convolution { .. }
        | Op::WindowReduce { .. }
        | Op::WindowArg { .. }
        | Op::WindowScatter { .. }
        | Op::Take { .. }
        | Op::TakeAlong { .. }
        | Op::Scatter { .. }
        | Op::DynamicSlice { .. }
        | Op::DynamicUpdateSlice
        | Op::Cond { .. }
        | Op::While { .. }
        | Op::For { .. }
        | Op::Dynamic(_)
        | Op::Host(_) => Step::Keep,
    })
}

/// The op that makes a value, and its operands.
fn made_by(graph: &Graph, value: ValueId) -> (&Op, &[ValueId]) {
    let node = graph.node(value.node);
    (&node.op, &node.operands)
}

fn unary(op: Op, operand: ValueId) -> Step {
    Step::Become(op, smallvec![operand])
}

fn elementwise(graph: &Graph, op: Elementwise, operands: &[ValueId]) -> Step {
    match (op, operands) {
        (Elementwise::Neg | Elementwise::Not, &[x]) => match made_by(graph, x) {
            (Op::Elementwise(inner), &[y]) if *inner == op => Step::Value(y),
            _ => Step::Keep,
        },
        (_, &[a, b]) if op.is_commutative() => {
            let key = |v: ValueId| (splat_of(graph, v).is_some(), v);
            if key(a) > key(b) { Step::Become(op.into(), smallvec![b, a]) } else { Step::Keep }
        }
        _ => Step::Keep,
    }
}

/// An element-wise op over operands that are repeated from one smaller shape: computes on that shape, and repeats what
/// comes out. Splats come from any shape.
fn repeat_later(graph: &mut Graph, op: &Op, operands: &[ValueId], origin: &Origin) -> Result<Step, InferError> {
    let to = graph.spec(operands[0]).shape.clone();
    let mut sources: SmallVec<[Result<ValueId, Literal>; 3]> = SmallVec::new();
    for &operand in operands {
        sources.push(match (splat_of(graph, operand), made_by(graph, operand)) {
            (Some(literal), _) => Err(literal),
            (None, (Op::Broadcast(_), &[x])) => Ok(x),
            _ => return Ok(Step::Keep),
        });
    }
    let Some(&first) = sources.iter().find_map(|s| s.as_ref().ok()) else { return Ok(Step::Keep) };
    let from = graph.spec(first).shape.clone();
    let differs = |s: &Result<ValueId, Literal>| s.as_ref().is_ok_and(|&x| graph.spec(x).shape != from);
    if sources.iter().any(differs) || from.elements() >= to.elements() {
        return Ok(Step::Keep);
    }
    let mut small = Operands::new();
    for source in sources {
        small.push(match source {
            Ok(x) => x,
            Err(literal) => splat(graph, literal, &from, origin)?,
        });
    }
    let result = graph.apply(op.clone(), &small, origin.clone())?;
    Ok(unary(Op::Broadcast(to), result))
}

fn cast(graph: &Graph, to: DType, x: ValueId) -> Step {
    if graph.spec(x).dtype == to {
        return Step::Value(x);
    }
    match made_by(graph, x) {
        (Op::Cast(through), &[y]) if skips(graph.spec(y).dtype, *through, to) => unary(Op::Cast(to), y),
        _ => Step::Keep,
    }
}

/// Whether every value of `from` is one of `to`.
fn holds(to: DType, from: DType) -> bool {
    use DType::{BF16, Bool, F16, F32, F64, I8, I32, I64, U8, U32};
    match from {
        _ if from == to => true,
        Bool => true,
        I8 => !matches!(to, Bool | U8 | U32),
        U8 => !matches!(to, Bool | I8),
        I32 => matches!(to, I64 | F64),
        U32 => matches!(to, I64 | F64),
        I64 => false,
        F16 | BF16 => matches!(to, F32 | F64),
        F32 => to == F64,
        F64 => false,
    }
}

/// Whether a cast from `from` through `through` to `to` is the cast from `from` to `to`.
fn skips(from: DType, through: DType, to: DType) -> bool {
    if !holds(through, from) {
        return false;
    }
    // An integer wraps in an integer but saturates through a float; and 16-bit floats may be reached through f32,
    // which rounds the wide integers once more.
    match (from.is_integer(), through.is_float(), to) {
        (true, true, _) if to.is_integer() => holds(to, from),
        (true, _, DType::F16 | DType::BF16) => from.size() == 1,
        _ => true,
    }
}

fn bitcast(graph: &Graph, to: DType, x: ValueId) -> Step {
    if graph.spec(x).dtype == to {
        return Step::Value(x);
    }
    match made_by(graph, x) {
        (Op::Bitcast(_), &[y]) => unary(Op::Bitcast(to), y),
        _ => Step::Keep,
    }
}

fn reshape(graph: &Graph, shape: &Shape, x: ValueId) -> Step {
    if graph.spec(x).shape == *shape {
        return Step::Value(x);
    }
    match made_by(graph, x) {
        (Op::Reshape(_), &[y]) => unary(Op::Reshape(shape.clone()), y),
        _ => Step::Keep,
    }
}

fn permute(graph: &Graph, axes: &Axes, x: ValueId) -> Step {
    if axes.is_sorted() {
        return Step::Value(x);
    }
    let shape = &graph.spec(x).shape;
    if views::keeps_order(axes, shape) {
        return unary(Op::Reshape(axes.iter().map(|&a| shape[a]).collect()), x);
    }
    match made_by(graph, x) {
        (Op::Permute(inner), &[y]) => unary(Op::Permute(views::permute_twice(inner, axes)), y),
        _ => Step::Keep,
    }
}

fn broadcast(graph: &Graph, shape: &Shape, x: ValueId) -> Step {
    let from = &graph.spec(x).shape;
    if from == shape {
        return Step::Value(x);
    }
    let core = views::without_leading_ones;
    match made_by(graph, x) {
        (Op::Constant(_), _) => Step::Keep,
        (Op::Broadcast(_), &[y]) => unary(Op::Broadcast(shape.clone()), y),
        _ if from.elements() == shape.elements() => unary(Op::Reshape(shape.clone()), x),
        // Extents of 1 at the left come and go by the rule of broadcasting itself.
        (Op::Reshape(_), &[y])
            if graph.spec(y).shape.rank() <= shape.rank() && core(&graph.spec(y).shape) == core(from) =>
        {
            unary(Op::Broadcast(shape.clone()), y)
        }
        _ => Step::Keep,
    }
}

fn slice(graph: &Graph, starts: &Axes, limits: &Axes, strides: &Axes, x: ValueId) -> Step {
    let shape = &graph.spec(x).shape;
    let slice = views::Slice { starts: starts.clone(), limits: limits.clone(), strides: strides.clone() };
    let tight = slice.tight();
    if tight.extents()[..] == shape[..] {
        return Step::Value(x);
    }
    if tight != slice {
        return unary(tight.op(), x);
    }
    match made_by(graph, x) {
        (Op::Slice { starts, limits, strides }, &[y]) => {
            let inner = views::Slice { starts: starts.clone(), limits: limits.clone(), strides: strides.clone() };
            inner.then(&slice).map_or(Step::Keep, |both| unary(both.op(), y))
        }
        (Op::Concat { axis }, parts) => {
            let mut begin = 0;
            for &part in parts {
                let end = begin + graph.spec(part).shape[*axis];
                if begin <= starts[*axis] && limits[*axis] <= end {
                    let mut inside = slice;
                    inside.starts[*axis] -= begin;
                    inside.limits[*axis] -= begin;
                    return unary(inside.op(), part);
                }
                begin = end;
            }
            Step::Keep
        }
        _ => Step::Keep,
    }
}

fn reverse(graph: &Graph, axes: &Axes, x: ValueId) -> Step {
    let shape = &graph.spec(x).shape;
    let mut kept: Axes = axes.iter().copied().filter(|&a| shape[a] > 1).collect();
    kept.sort_unstable();
    if kept.is_empty() {
        return Step::Value(x);
    }
    if kept != *axes {
        return unary(Op::Reverse(kept), x);
    }
    match made_by(graph, x) {
        (Op::Reverse(inner), &[y]) => {
            let once = |a: &Axes, b: &Axes| a.iter().copied().filter(|i| !b.contains(i)).collect::<Axes>();
            let both = once(inner, axes).into_iter().chain(once(axes, inner)).collect();
            unary(Op::Reverse(both), y)
        }
        _ => Step::Keep,
    }
}

fn reduce(graph: &Graph, kind: Reduction, axes: &Axes, x: ValueId) -> Step {
    let spec = graph.spec(x);
    // The float sum of one -0 is +0, because it starts at +0: no view can stand for it.
    let trivial = axes.iter().all(|&a| spec.shape[a] == 1) && !(kind == Reduction::Sum && spec.dtype.is_float());
    if trivial {
        return unary(Op::Reshape(views::without(&spec.shape, axes)), x);
    }
    Step::Keep
}

fn matmul(graph: &Graph, transposed: [bool; 2], operands: &[ValueId]) -> Step {
    let mut flags = transposed;
    let mut over = Operands::from_slice(operands);
    for (flag, operand) in flags.iter_mut().zip(&mut over) {
        if let (Op::Permute(axes), [x]) = made_by(graph, *operand)
            && views::swaps_last_two(axes)
        {
            *flag = !*flag;
            *operand = *x;
        }
    }
    if flags == transposed {
        return Step::Keep;
    }
    Step::Become(Op::Matmul { transpose_a: flags[0], transpose_b: flags[1] }, over)
}
