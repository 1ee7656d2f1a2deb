//! Choices: integers of a range, classes, permutations.

use super::super::normalize::INDEX;
use super::super::tracer::{record, reject, scope};
use super::super::{AxisIndex, Operand, Tensor};
use super::Rng;
use crate::diagnostics::codes;
use monograph_ir::{DType, Literal, Op, Shape};
use std::ops::Range;

/// An i64 scalar of the formula.
#[track_caller]
fn integer(value: i64) -> Tensor {
    record(Op::Constant(Literal::from_i64(DType::I64, value)), &[])
}

/// A bound of a range as an i64 scalar: a number of the user's.
#[track_caller]
fn bound(value: i64) -> Tensor {
    match i32::try_from(value) {
        // The type that a literal of the source has.
        Ok(value) => value.tensor(Some(DType::I64)),
        Err(_) => value.tensor(Some(DType::I64)),
    }
}

/// Smallest and greatest value of an integer dtype.
fn limits(dtype: DType) -> Option<(i64, i64)> {
    Some(match dtype {
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::U8 => (0, u8::MAX.into()),
        DType::I32 => (i32::MIN.into(), i32::MAX.into()),
        DType::U32 => (0, u32::MAX.into()),
        DType::I64 => (i64::MIN, i64::MAX),
        DType::Bool | DType::F16 | DType::BF16 | DType::F32 | DType::F64 => return None,
    })
}

/// The lower 32 bits.
#[track_caller]
fn low_half(x: Tensor) -> Tensor {
    x & integer(u32::MAX.into())
}

/// The upper 32 bits, as a number that is not negative.
#[track_caller]
fn high_half(x: Tensor) -> Tensor {
    low_half(x.shift_right(integer(32)))
}

impl Rng<Tensor> {
    /// Integers of `dtype` in that range: the upper 64 bits of the product of 64 random bits and the size of the range,
    /// so that the probability of each differs by less than 2⁻⁶⁴ from that of the others. Two words an element; equal
    /// on every device.
    #[track_caller]
    pub fn randint(&mut self, dtype: DType, shape: impl Into<Shape>, range: Range<i64>) -> Tensor {
        let Some((low, high)) = limits(dtype) else {
            let message = format!("`randint` gives integers (i8, u8, i32, u32, i64), not {dtype}");
            return reject(codes::OPERANDS, message, "is no integer dtype", &[], &[]);
        };
        if range.is_empty() {
            let message = format!("`randint`: no integer lies in {}..{}", range.start, range.end);
            let help = "the end is the first integer that is not drawn".to_string();
            return reject(codes::NUMBER, message, "an empty range", &[], &[help]);
        }
        if range.start < low || range.end - 1 > high {
            let message = format!("`randint`: {}..{} does not lie in {dtype}, {low}..={high}", range.start, range.end);
            let help = "draw i64".to_string();
            return reject(codes::NUMBER, message, "does not fit", &[], &[help]);
        }
        let shape = shape.into();
        let (low, high) = (bound(range.start), bound(range.end));
        let _scope = scope("randint");
        self.below(&shape, high - low, range.end.abs_diff(range.start) <= 1 << 32, low).cast(dtype)
    }

    /// Integers in `low..high`, two integer tensors of one dtype that broadcast to the shape; `low` where the range is
    /// empty. Otherwise as [`Rng::randint`].
    #[track_caller]
    pub fn randint_between(&mut self, shape: impl Into<Shape>, low: &Tensor, high: &Tensor) -> Tensor {
        let shape = shape.into();
        for x in [low, high] {
            if let Some(dtype) = x.known_dtype().filter(|d| !d.is_integer()) {
                let message = format!("`randint_between` takes integers (i8, u8, i32, u32, i64), not {dtype}");
                let help = "convert it first: `.cast(DType::I64)`".to_string();
                return reject(codes::OPERANDS, message, "needs integers", &[*x], &[help]);
            }
        }
        let (low, high) = (low.broadcast_to(shape.clone()), high.broadcast_to(shape.clone()));
        let _scope = scope("randint_between");
        // Compared before they are widened, so that two dtypes are refused.
        let is_empty = high.le(low);
        let (from, to) = (low.cast(DType::I64), high.cast(DType::I64));
        let drawn = self.below(&shape, to - from, low.dtype().size() <= 4, from).cast(low.dtype());
        is_empty.select(low, drawn)
    }

    /// `start` plus integers below `count`, the bits of an unsigned number of 64 bits, or at most 2³² where it is
    /// `short`.
    #[track_caller]
    fn below(&mut self, shape: &Shape, count: Tensor, short: bool, start: Tensor) -> Tensor {
        let words = self.words(shape, 2);
        let (a, b) = (words[0].cast(DType::I64), words[1].cast(DType::I64));
        if short {
            // A sum below 2⁶⁴, as unsigned numbers, also where the count is 2³².
            return high_half(a * count + high_half(b * count)) + start;
        }
        // By halves, as in writing; no partial sum reaches 2⁶⁴.
        let (c, d) = (high_half(count), low_half(count));
        let middle = a * d + high_half(b * d);
        let other = b * c + low_half(middle);
        a * c + high_half(middle) + high_half(other) + start
    }

    /// For each row of `logits` (floats of shape `[…, classes]`) a class (i64, shape `[…]`) with the probabilities
    /// `softmax(logits)`; a class of -inf is never chosen beside another. The logarithms of weights are logits.
    #[track_caller]
    pub fn categorical(&mut self, logits: &Tensor) -> Tensor {
        let _scope = scope("categorical");
        match self.perturbed("categorical", logits, None) {
            Ok(scores) => scores.argmax(-1),
            Err(poison) => poison,
        }
    }

    /// `draws` classes of each row of `logits`, with replacement: [`Rng::categorical`], of shape `[…, draws]`.
    #[track_caller]
    pub fn multinomial(&mut self, logits: &Tensor, draws: usize) -> Tensor {
        let _scope = scope("multinomial");
        match self.perturbed("multinomial", logits, Some(draws)) {
            Ok(scores) => scores.argmax(-1),
            Err(poison) => poison,
        }
    }

    /// `draws` different classes of each row of `logits`, in the order in which they are drawn without replacement, each
    /// from the probabilities of those that are left: i64 of shape `[…, draws]`. Classes of -inf come last. Costs as
    /// [`Tensor::topk`].
    #[track_caller]
    pub fn multinomial_distinct(&mut self, logits: &Tensor, draws: usize) -> Tensor {
        let _scope = scope("multinomial_distinct");
        match self.perturbed("multinomial_distinct", logits, None) {
            Ok(scores) => scores.topk(draws, -1).1,
            Err(poison) => poison,
        }
    }

    /// The logits with Gumbel noise, each row `draws` times: the greatest of a row is a fair draw of `softmax`, and the
    /// order of a row one without replacement.
    #[track_caller]
    fn perturbed(&mut self, name: &str, logits: &Tensor, draws: Option<usize>) -> Result<Tensor, Tensor> {
        logits.require_float(name)?;
        let Some(spec) = logits.known() else { return Err(logits.absorb()) };
        let Some((_, rows)) = spec.shape.split_last() else {
            let message = format!("`{name}`: {spec} has no dimension of classes");
            return Err(reject(codes::OPERANDS, message, "is a scalar", &[*logits], &[]));
        };
        let x = logits.widened();
        let x = match draws {
            Some(draws) => {
                let classes = spec.shape.iter().copied().last();
                x.unsqueeze(-2).broadcast_to(rows.iter().copied().chain([draws]).chain(classes).collect::<Shape>())
            }
            None => x,
        };
        Ok(x + self.gumbel(x.dtype(), x.shape()))
    }

    /// 0, 1, …, `n - 1` (i64) in random order: sorted by 64 random bits each. Equal ones, which come up with a
    /// probability below `n² / 2⁶⁵`, keep their order. Costs as [`Tensor::argsort`]; equal on every device.
    #[track_caller]
    pub fn permutation(&mut self, n: usize) -> Tensor {
        let _scope = scope("permutation");
        let words = self.words(&Shape::from([n]), 2);
        let (high, low) = (words[0].cast(INDEX), words[1].cast(INDEX));
        (high.shift_left(integer(32)) | low).argsort(0)
    }

    /// The slices of `x` along `axis` in random order.
    #[track_caller]
    pub fn shuffle(&mut self, x: &Tensor, axis: impl AxisIndex) -> Tensor {
        let _scope = scope("shuffle");
        let Some(spec) = x.known() else { return x.absorb() };
        match x.axis(&spec, axis) {
            Ok(axis) => x.take(self.permutation(spec.shape[axis]), axis),
            Err(poison) => poison,
        }
    }
}
