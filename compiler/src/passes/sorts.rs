//! `sorts`: every `argsort` becomes element-wise ops around the ops that have kernels.
//!
//! An element becomes a key of at most 32 bits whose order as an unsigned number is the order of the elements, above
//! its index: one number whose order is the stable order. Rows of these are sorted in one kernel if they are short,
//! else byte by byte. Elements of 64 bits are sorted by their lower half, and the result of that by the upper one.

use super::rebuild::{Operands, rebuild};
use crate::codegen::sort::{LONGEST_ROW, TILE};
use monograph_ir::{
    Axes, DType, Elementwise, Error, Graph, InferError, Literal, Op, Origin, Reduction, Shape, ValueId,
};
use rustc_hash::FxHashMap;

/// Replaces every `argsort`, and every `take_along` of the sorted integers themselves, which are in the keys.
///
/// # Errors
/// [`Error::Internal`] if a replacement is ill-typed.
pub fn sorts(graph: &Graph) -> Result<Graph, Error> {
    let mut made: FxHashMap<ValueId, Made> = FxHashMap::default();
    rebuild(graph, "sorts", |new, node, operands: Operands, origin| {
        match node.op {
            Op::Argsort { axis, descending } => {
                let (order, sorted) = argsort(&mut Builder { graph: new, origin }, operands[0], axis, descending)?;
                if let Some(sorted) = sorted {
                    made.insert(order, Made { of: operands[0], sorted, axis, descending });
                }
                return Ok(order);
            }
            Op::TakeAlong { axis } => {
                let found = made.get(&operands[1]).filter(|m| m.of == operands[0] && m.axis == axis);
                if let Some(made) = found {
                    return made.values(&mut Builder { graph: new, origin });
                }
            }
            _ => {}
        }
        new.apply(node.op.clone(), &operands, origin.clone())
    })
}

/// A sort whose keys hold the elements.
struct Made {
    of: ValueId,
    /// Keys and indices in rows.
    sorted: ValueId,
    axis: usize,
    descending: bool,
}

impl Made {
    /// The sorted elements.
    fn values(&self, b: &mut Builder<'_>) -> Result<ValueId, InferError> {
        let dtype = b.graph.spec(self.of).dtype;
        let high = b.with(Elementwise::Shr, self.sorted, 32)?;
        let mut key = b.op(Op::Cast(DType::U32), &[high])?;
        if self.descending {
            key = b.with(Elementwise::Xor, key, all_ones(dtype))?;
        }
        let rows = match dtype {
            DType::U32 => key,
            DType::I32 => {
                let bits = b.with(Elementwise::Xor, key, 1 << 31)?;
                b.op(Op::Bitcast(DType::I32), &[bits])?
            }
            DType::I8 => {
                let signed = b.op(Op::Cast(DType::I32), &[key])?;
                let moved = b.with(Elementwise::Sub, signed, 128)?;
                b.op(Op::Cast(DType::I8), &[moved])?
            }
            _ => b.op(Op::Cast(dtype), &[key])?,
        };
        let shape = b.graph.spec(self.of).shape.clone();
        b.back(rows, &shape, self.axis)
    }
}

/// The greatest key of a dtype of at most 32 bits.
fn all_ones(dtype: DType) -> i64 {
    (1i64 << (8 * dtype.size())) - 1
}

/// The indices that sort `axis`, and the rows of keys and indices where the keys give the elements back.
fn argsort(
    b: &mut Builder<'_>,
    x: ValueId,
    axis: usize,
    descending: bool,
) -> Result<(ValueId, Option<ValueId>), InferError> {
    let spec = b.graph.spec(x).clone();
    let rows = b.rows(x, &spec.shape, axis)?;
    let (order, sorted) = if spec.dtype.size() == 8 {
        let key = wide_key(b, rows, spec.dtype)?;
        let key = if descending { b.with(Elementwise::Xor, key, -1)? } else { key };
        let low = b.with(Elementwise::And, key, LOW)?;
        let (order, _) = by_key(b, low, 4)?;
        // The upper half as an unsigned number, in the order by the lower one.
        let high = b.with(Elementwise::Shr, key, 32)?;
        let high = b.with(Elementwise::Add, high, 1 << 31)?;
        let high = b.op(Op::TakeAlong { axis: 1 }, &[high, order])?;
        let (second, _) = by_key(b, high, 4)?;
        (b.op(Op::TakeAlong { axis: 1 }, &[order, second])?, None)
    } else {
        let key = narrow_key(b, rows, spec.dtype)?;
        let key = if descending { b.with(Elementwise::Xor, key, all_ones(spec.dtype))? } else { key };
        let key = b.op(Op::Cast(DType::I64), &[key])?;
        let (order, sorted) = by_key(b, key, spec.dtype.size() as u32)?;
        (order, (!spec.dtype.is_float()).then_some(sorted))
    };
    Ok((b.back(order, &spec.shape, axis)?, sorted))
}

/// The lower half of a packed element.
const LOW: i64 = 0xffff_ffff;

/// The stable order of rows of keys, `i64[rows, n]` below 256 to the power of `bytes`, and keys and indices sorted.
fn by_key(b: &mut Builder<'_>, key: ValueId, bytes: u32) -> Result<(ValueId, ValueId), InferError> {
    let sorted = sorted(b, key, bytes)?;
    Ok((b.with(Elementwise::And, sorted, LOW)?, sorted))
}

/// Keys (`i64[rows, n]`, below 256 to the power of `bytes`, at most 4) above their indices, sorted.
pub(super) fn sorted(b: &mut Builder<'_>, key: ValueId, bytes: u32) -> Result<ValueId, InferError> {
    let shape = b.graph.spec(key).shape.clone();
    let high = b.with(Elementwise::Shl, key, 32)?;
    let index = b.op(Op::Iota { dtype: DType::I64, shape: shape.clone(), axis: 1 }, &[])?;
    let mut packed = b.op(Elementwise::Or, &[high, index])?;
    if shape[1] <= LONGEST_ROW {
        return b.op(Op::SortPacked, &[packed]);
    }
    for byte in 0..bytes {
        let (shift, tile) = (32 + 8 * byte, TILE);
        let counts = b.op(Op::DigitCounts { shift, tile }, &[packed])?;
        let ends = b.op(Op::Scan { kind: Reduction::Sum, axis: 2 }, &[counts])?;
        packed = b.op(Op::PlaceByDigit { shift, tile }, &[packed, ends])?;
    }
    Ok(packed)
}

/// A key (`u32`, in as many bytes as the dtype has) with the order of the elements: NaN is the greatest, ±0 are one.
fn narrow_key(b: &mut Builder<'_>, x: ValueId, dtype: DType) -> Result<ValueId, InferError> {
    match dtype {
        DType::U32 => Ok(x),
        DType::I32 => {
            let bits = b.op(Op::Bitcast(DType::U32), &[x])?;
            b.with(Elementwise::Xor, bits, 1 << 31)
        }
        DType::I8 => {
            let wide = b.op(Op::Cast(DType::I32), &[x])?;
            let moved = b.with(Elementwise::Add, wide, 128)?;
            b.op(Op::Cast(DType::U32), &[moved])
        }
        DType::F16 | DType::BF16 | DType::F32 => {
            let wide = if dtype == DType::F32 { x } else { b.op(Op::Cast(DType::F32), &[x])? };
            let magnitude = magnitude(b, wide, dtype)?;
            let middle = 1i64 << (8 * dtype.size() - 1);
            let middle = b.like(magnitude, Literal::from_i64(DType::U32, middle))?;
            let above = b.op(Elementwise::Add, &[middle, magnitude])?;
            let below = b.op(Elementwise::Sub, &[middle, magnitude])?;
            b.signed(wide, below, above, Literal::from_i64(DType::U32, all_ones(dtype)))
        }
        _ => b.op(Op::Cast(DType::U32), &[x]),
    }
}

/// The bits of the absolute value of an `f32`, in the format of `dtype`, where it is exact; of NaN, anything.
fn magnitude(b: &mut Builder<'_>, x: ValueId, dtype: DType) -> Result<ValueId, InferError> {
    let mut absolute = b.op(Elementwise::Abs, &[x])?;
    if dtype == DType::F16 {
        // The scale moves the exponents of f16 to those of f32, subnormal numbers included.
        let scale = b.like(absolute, Literal::from_f64(DType::F32, 2f64.powi(-112)))?;
        absolute = b.op(Elementwise::Mul, &[absolute, scale])?;
    }
    let bits = b.op(Op::Bitcast(DType::U32), &[absolute])?;
    match dtype {
        DType::F16 => {
            let short = b.with(Elementwise::Shr, bits, 13)?;
            // Infinity is not scaled.
            b.with(Elementwise::Minimum, short, 0x7c00)
        }
        DType::BF16 => b.with(Elementwise::Shr, bits, 16),
        _ => Ok(bits),
    }
}

/// A key (`i64`) with the order of elements of 64 bits.
fn wide_key(b: &mut Builder<'_>, x: ValueId, dtype: DType) -> Result<ValueId, InferError> {
    if dtype == DType::I64 {
        return Ok(x);
    }
    let absolute = b.op(Elementwise::Abs, &[x])?;
    let above = b.op(Op::Bitcast(DType::I64), &[absolute])?;
    let below = b.op(Elementwise::Neg, &[above])?;
    b.signed(x, below, above, Literal::from_i64(DType::I64, i64::MAX))
}

/// Adds nodes of one origin.
pub(super) struct Builder<'a> {
    pub(super) graph: &'a mut Graph,
    pub(super) origin: &'a Origin,
}

impl Builder<'_> {
    pub(super) fn op(&mut self, op: impl Into<Op>, operands: &[ValueId]) -> Result<ValueId, InferError> {
        self.graph.apply(op.into(), operands, self.origin.clone())
    }

    /// A literal in the shape of a value.
    pub(super) fn like(&mut self, x: ValueId, literal: Literal) -> Result<ValueId, InferError> {
        let shape = self.graph.spec(x).shape.clone();
        super::rebuild::splat(self.graph, literal, &shape, self.origin)
    }

    /// A binary op with a number of the dtype of its first operand.
    pub(super) fn with(&mut self, op: Elementwise, x: ValueId, number: i64) -> Result<ValueId, InferError> {
        let literal = Literal::from_i64(self.graph.spec(x).dtype, number);
        let number = self.like(x, literal)?;
        self.op(op, &[x, number])
    }

    /// `below` where the float `x` is below zero, `nan` where it is NaN, else `above`.
    fn signed(&mut self, x: ValueId, below: ValueId, above: ValueId, nan: Literal) -> Result<ValueId, InferError> {
        let zero = self.like(x, Literal::zero(self.graph.spec(x).dtype))?;
        let negative = self.op(Elementwise::Lt, &[x, zero])?;
        let number = self.op(Op::Select, &[negative, below, above])?;
        let is_nan = self.op(Elementwise::IsNan, &[x])?;
        let nan = self.like(number, nan)?;
        self.op(Op::Select, &[is_nan, nan, number])
    }

    /// A tensor as `[rows, n]`, `n` along the axis.
    fn rows(&mut self, x: ValueId, shape: &Shape, axis: usize) -> Result<ValueId, InferError> {
        let (outer, n, inner) = around(shape, axis);
        let mut rows = x;
        if inner > 1 {
            let block = self.op(Op::Reshape([outer, n, inner].into()), &[rows])?;
            rows = self.op(Op::Permute(Axes::from_slice(&[0, 2, 1])), &[block])?;
        }
        self.op(Op::Reshape([outer * inner, n].into()), &[rows])
    }

    /// The inverse of [`Builder::rows`].
    fn back(&mut self, rows: ValueId, shape: &Shape, axis: usize) -> Result<ValueId, InferError> {
        let (outer, n, inner) = around(shape, axis);
        let mut x = rows;
        if inner > 1 {
            let block = self.op(Op::Reshape([outer, inner, n].into()), &[rows])?;
            x = self.op(Op::Permute(Axes::from_slice(&[0, 2, 1])), &[block])?;
        }
        self.op(Op::Reshape(shape.clone()), &[x])
    }
}

/// Elements before, along and behind an axis.
fn around(shape: &Shape, axis: usize) -> (usize, usize, usize) {
    (shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product())
}
