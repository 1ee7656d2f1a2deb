//! `fold`: what is known at compile time becomes a constant, where that is cheap.
//!
//! Two kinds of values are known: tensors of one value, whatever their size, and tensors of a few elements that
//! follow from constants and iotas. Only tensors of one value are written down, as a constant and a broadcast; the
//! few others are remembered for what is computed from them. Each node costs at most `WORK` elements, so the pass is
//! linear in the graph. Values are what the interpreter computes. Parameters are never looked at.

use super::rebuild::{rebuild, splat};
use monograph_ir::interp::{Tensor, evaluate_op};
use monograph_ir::{Error, Graph, Literal, Op, Reduction, Spec, ValueId};
use rustc_hash::FxHashMap;

/// The most elements that are read, computed and combined to fold one node.
const WORK: usize = 64;

/// A value that is known.
enum Known {
    /// Every element is the same.
    Splat(Literal),
    /// A few elements.
    Small(Tensor),
}

/// Folds every node whose operands are known and whose result is one value, and takes the side that a constant mask
/// selects.
///
/// # Errors
/// [`Error::Internal`] if a replacement is ill-typed.
pub fn fold(graph: &Graph) -> Result<Graph, Error> {
    let mut known: FxHashMap<ValueId, Known> = FxHashMap::default();
    rebuild(graph, "fold", |new, node, operands, origin| {
        if let Some(value) = chosen(&known, &node.op, &operands) {
            return Ok(value);
        }
        let Some(spec) = node.results[0].spec().filter(|s| !s.shape.is_empty()) else {
            return new.apply(node.op.clone(), &operands, origin.clone());
        };
        let result = value(new, &known, &node.op, &operands, spec);
        let value = match result {
            Some(Known::Splat(literal)) => splat(new, literal, &spec.shape, origin)?,
            _ => new.apply(node.op.clone(), &operands, origin.clone())?,
        };
        if let Some(result) = result {
            known.insert(value, result);
        }
        Ok(value)
    })
}

/// The operand that a `select` by a constant mask takes.
fn chosen(known: &FxHashMap<ValueId, Known>, op: &Op, operands: &[ValueId]) -> Option<ValueId> {
    match (op, known.get(operands.first()?)?) {
        (Op::Select, Known::Splat(mask)) => Some(operands[if mask.bits() != 0 { 1 } else { 2 }]),
        _ => None,
    }
}

/// What a node computes, if that is known and cheap.
fn value(
    graph: &Graph,
    known: &FxHashMap<ValueId, Known>,
    op: &Op,
    operands: &[ValueId],
    spec: &Spec,
) -> Option<Known> {
    if let Op::Constant(literal) = op {
        return Some(Known::Splat(*literal));
    }
    let operands: Vec<(&Spec, &Known)> =
        operands.iter().map(|v| Some((graph.spec(*v), known.get(v)?))).collect::<Option<_>>()?;
    if let Some(splats) = operands.iter().map(|(_, k)| k.splat()).collect::<Option<Vec<Literal>>>()
        && !splats.is_empty()
        && let Some(literal) = of_splats(op, &splats)
    {
        return Some(Known::Splat(literal));
    }
    if work(op, &operands, spec)? > WORK {
        return None;
    }
    let operands = operands.into_iter().map(|(s, k)| k.tensor(s)).collect::<Option<Vec<Tensor>>>()?;
    let result = evaluate_op(op, &operands).ok()?.pop()?;
    Some(one_value(&result).map_or(Known::Small(result), Known::Splat))
}

/// The value of every element of an op over tensors of one value, for the ops of which it is one again at any size.
fn of_splats(op: &Op, splats: &[Literal]) -> Option<Literal> {
    let first = splats[0];
    match op {
        Op::Elementwise(_) | Op::Select | Op::Cast(_) | Op::Bitcast(_) => {
            let scalars = splats.iter().map(|&l| Tensor::full(Spec::new(l.dtype(), []), l).ok());
            let result = evaluate_op(op, &scalars.collect::<Option<Vec<Tensor>>>()?).ok()?.pop()?;
            one_value(&result)
        }
        op if op.is_view() => Some(first),
        Op::Pad { .. } | Op::Concat { .. } => splats.iter().all(|&l| l == first).then_some(first),
        // Repeating an element changes none of these.
        Op::Reduce { kind, .. } | Op::Scan { kind, .. } => match kind {
            Reduction::Max | Reduction::Min | Reduction::Any | Reduction::All => Some(first),
            Reduction::Sum | Reduction::Prod => None,
        },
        _ => None,
    }
}

/// About how many elements an op reads, makes and combines.
fn work(op: &Op, operands: &[(&Spec, &Known)], result: &Spec) -> Option<usize> {
    let mut work = result.shape.elements()?;
    for (spec, _) in operands {
        work = work.checked_add(spec.shape.elements()?)?;
    }
    if let Op::Matmul { transpose_a, .. } = op {
        let shape = &operands[0].0.shape;
        let inner = shape[shape.rank() - if *transpose_a { 2 } else { 1 }];
        work = work.checked_add(result.shape.elements()?.checked_mul(inner)?)?;
    }
    let taps = match op {
        Op::Convolution { .. } => operands[1].0.shape.iter().skip(1).product(),
        Op::WindowReduce { sizes, .. } | Op::WindowArg { sizes, .. } | Op::WindowScatter { sizes, .. } => {
            sizes.iter().product()
        }
        _ => 0,
    };
    work.checked_add(result.shape.elements()?.checked_mul(taps)?)
}

impl Known {
    fn splat(&self) -> Option<Literal> {
        match self {
            Known::Splat(literal) => Some(*literal),
            Known::Small(_) => None,
        }
    }

    fn tensor(&self, spec: &Spec) -> Option<Tensor> {
        match self {
            Known::Splat(literal) => Tensor::full(spec.clone(), *literal).ok(),
            Known::Small(tensor) => Some(tensor.clone()),
        }
    }
}

/// The one value of all elements of a tensor that is not empty, if they have the same bits.
fn one_value(tensor: &Tensor) -> Option<Literal> {
    let dtype = tensor.dtype();
    let mut elements = tensor.bytes().chunks_exact(dtype.size());
    let first = elements.next()?;
    if !elements.all(|e| e == first) {
        return None;
    }
    let mut bits = [0; 8];
    bits[..first.len()].copy_from_slice(first);
    Some(Literal::from_bits(dtype, u64::from_le_bytes(bits)))
}
