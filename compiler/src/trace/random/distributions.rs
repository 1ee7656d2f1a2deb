//! Numbers from random words.
//!
//! `f16` and `bf16` are computed in `f32` where the formula rounds, and rounded once at the end.

use super::super::create::filled;
use super::super::tracer::{reject, scope};
use super::super::{Operand, Tensor, zeros};
use super::Rng;
use crate::diagnostics::codes;
use monograph_ir::{DType, Literal, Shape};

/// A float scalar of the formula, which is no number of the user's.
#[track_caller]
fn number(dtype: DType, value: f64) -> Tensor {
    filled(Literal::from_f64(dtype, value), Shape::scalar())
}

/// A power of two.
fn power(exponent: i32) -> f64 {
    2.0f64.powi(exponent)
}

/// `word >> count`.
#[track_caller]
fn upper(word: Tensor, count: u32) -> Tensor {
    word.shift_right(word.constant_like(f64::from(count)))
}

/// Parameters of a distribution, stretched to the shape of the draw.
#[track_caller]
pub(super) fn stretched(parameter: impl Operand, dtype: DType, shape: &Shape) -> Tensor {
    parameter.tensor(Some(dtype)).broadcast_to(shape.clone())
}

/// Refuses a dtype that is no float.
#[track_caller]
fn require_float(name: &str, dtype: DType) -> Result<(), Tensor> {
    if dtype.is_float() {
        return Ok(());
    }
    let message = format!("`{name}` gives floats (f16, bf16, f32, f64), not {dtype}");
    let help = "integers come from `randint`, bools from `bernoulli`".to_string();
    Err(reject(codes::OPERANDS, message, "is no float dtype", &[], &[help]))
}

impl Rng<Tensor> {
    /// Floats in [0, 1), each multiple of the last place below 1 alike: multiples of 2⁻²⁴ for `f32`, 2⁻⁵³ for `f64`,
    /// 2⁻¹¹ for `f16`, 2⁻⁸ for `bf16`. One word an element, two for `f64`; equal bits on every device.
    #[track_caller]
    pub fn uniform(&mut self, dtype: DType, shape: impl Into<Shape>) -> Tensor {
        let shape = shape.into();
        if let Err(poison) = require_float("uniform", dtype) {
            return poison;
        }
        let _scope = scope("uniform");
        self.unit(dtype, &shape)
    }

    /// Floats in [low, high): `uniform · (high - low) + low`, rounded. What rounds to `high` becomes `low`, which so
    /// gets as much as each value between. Bounds are finite and broadcast to the shape; where `low >= high` the
    /// result is `low`.
    #[track_caller]
    pub fn uniform_between(
        &mut self,
        dtype: DType,
        shape: impl Into<Shape>,
        low: impl Operand,
        high: impl Operand,
    ) -> Tensor {
        let shape = shape.into();
        if let Err(poison) = require_float("uniform_between", dtype) {
            return poison;
        }
        let (low, high) = (stretched(low, dtype, &shape), stretched(high, dtype, &shape));
        let _scope = scope("uniform_between");
        let u = self.unit(dtype, &shape).widened();
        let x = (u * (high.widened() - low.widened()) + low.widened()).cast(dtype);
        x.ge(high).select(low, x)
    }

    /// Normally distributed floats with mean 0 and variance 1, finite for every random word: by Box and Muller,
    /// `sqrt(-2 ln u) · cos(2π v)`, where `u` in (0, 1] has 32 random bits and `v` in [0, 1) has 24 (`f64`: 53 each).
    /// So no magnitude is above 6.77 (`f64`: 8.66). Two words an element, four for `f64`.
    #[track_caller]
    pub fn normal(&mut self, dtype: DType, shape: impl Into<Shape>) -> Tensor {
        let shape = shape.into();
        if let Err(poison) = require_float("normal", dtype) {
            return poison;
        }
        let _scope = scope("normal");
        self.standard_normal(dtype, &shape).cast(dtype)
    }

    /// Normally distributed floats with that mean and standard deviation, which broadcast to the shape:
    /// `normal · deviation + mean`.
    #[track_caller]
    pub fn normal_with(
        &mut self,
        dtype: DType,
        shape: impl Into<Shape>,
        mean: impl Operand,
        deviation: impl Operand,
    ) -> Tensor {
        let shape = shape.into();
        if let Err(poison) = require_float("normal_with", dtype) {
            return poison;
        }
        let (mean, deviation) = (stretched(mean, dtype, &shape), stretched(deviation, dtype, &shape));
        let _scope = scope("normal_with");
        (self.standard_normal(dtype, &shape) * deviation.widened() + mean.widened()).cast(dtype)
    }

    /// Exponentially distributed floats with that rate, which broadcasts to the shape: `-ln(u) / rate`, where `u` in
    /// (0, 1] has 32 random bits (`f64`: 53). One word an element, two for `f64`.
    #[track_caller]
    pub fn exponential(&mut self, dtype: DType, shape: impl Into<Shape>, rate: impl Operand) -> Tensor {
        let shape = shape.into();
        if let Err(poison) = require_float("exponential", dtype) {
            return poison;
        }
        let rate = stretched(rate, dtype, &shape);
        let _scope = scope("exponential");
        let wide = dtype.accumulator();
        // Subtracted from 0, so that the smallest is +0.
        ((number(wide, 0.0) - self.positive_unit(wide, &shape).log()) / rate.widened()).cast(dtype)
    }

    /// Floats of the standard Gumbel distribution, finite for every random word: `-ln(-ln(1 - u))`, where `u` in (0, 1)
    /// has 32 random bits (`f64`: 53). The index of the greatest of `logits + gumbel` is distributed as
    /// `softmax(logits)`. One word an element, two for `f64`.
    #[track_caller]
    pub fn gumbel(&mut self, dtype: DType, shape: impl Into<Shape>) -> Tensor {
        let shape = shape.into();
        if let Err(poison) = require_float("gumbel", dtype) {
            return poison;
        }
        let _scope = scope("gumbel");
        let wide = dtype.accumulator();
        // Below 1, where the logarithm would be infinite. Small `u`, which give the great values, keep their digits.
        let last = if wide == DType::F64 { 1.0 - power(-53) } else { 1.0 - power(-24) };
        let u = self.positive_unit(wide, &shape).minimum(number(wide, last));
        (-(-(-u).log1p()).log()).cast(dtype)
    }

    /// Bools that are true with probability `p`, float numbers that broadcast to the shape: `uniform < p`, with the 24
    /// random bits of `f32` (53 where `p` is `f64`). Never true for `p <= 0` and NaN, always for `p >= 1`. Equal on every
    /// device.
    #[track_caller]
    pub fn bernoulli(&mut self, shape: impl Into<Shape>, p: impl Operand) -> Tensor {
        let shape = shape.into();
        let dtype = p.own_dtype().unwrap_or(DType::F32);
        let p = stretched(p, dtype, &shape);
        if let Err(poison) = p.require_float("bernoulli") {
            return poison;
        }
        let _scope = scope("bernoulli");
        self.unit(dtype.accumulator(), &shape).lt(p.widened())
    }

    /// `x` with each element set to 0 with probability `p`, a number in `0..=1`, and the others divided by `1 - p`, so
    /// that the mean stays. Floats of any shape.
    #[track_caller]
    pub fn dropout(&mut self, x: &Tensor, p: f64) -> Tensor {
        if let Err(poison) = x.require_float("dropout") {
            return poison;
        }
        if !(0.0..=1.0).contains(&p) {
            let message = format!("`dropout`: {p} is no probability");
            let help = "give the share of elements that become 0, between 0 and 1".to_string();
            return reject(codes::NUMBER, message, "not in 0..=1", &[*x], &[help]);
        }
        let share = p.tensor(Some(DType::F32));
        let _scope = scope("dropout");
        let Some(spec) = x.known() else { return x.absorb() };
        let kept = self.unit(DType::F32, &spec.shape).ge(share);
        // Nothing is kept where `p` is 1.
        let scale = if p < 1.0 { 1.0 / (1.0 - p) } else { 0.0 };
        let scaled = (x.widened() * number(spec.dtype.accumulator(), scale)).rounded_as(x);
        kept.select(scaled, zeros(spec.dtype, []))
    }

    /// In [0, 1), as [`Rng::uniform`] says.
    #[track_caller]
    fn unit(&mut self, dtype: DType, shape: &Shape) -> Tensor {
        let digits = match dtype {
            DType::F64 => return self.fraction(shape) * number(DType::F64, power(-53)),
            DType::F16 => 11,
            DType::BF16 => 8,
            _ => 24,
        };
        upper(self.bits(shape.clone()), 32 - digits).cast(dtype) * number(dtype, power(-(digits as i32)))
    }

    /// 53 random bits of two words, as an integer in `f64`.
    #[track_caller]
    fn fraction(&mut self, shape: &Shape) -> Tensor {
        let words = self.words(shape, 2);
        fraction(words[0], words[1])
    }

    /// In (0, 1], `f32` with 32 or `f64` with 53 random bits: halfway between multiples of the last bit, and rounded.
    #[track_caller]
    fn positive_unit(&mut self, dtype: DType, shape: &Shape) -> Tensor {
        match dtype {
            DType::F64 => positive_unit(self.fraction(shape), 53),
            _ => positive_unit(self.bits(shape.clone()).cast(DType::F32), 32),
        }
    }

    /// [`Rng::normal`] in the accumulator of the dtype.
    #[track_caller]
    fn standard_normal(&mut self, dtype: DType, shape: &Shape) -> Tensor {
        let (u, v) = if dtype == DType::F64 {
            let words = self.words(shape, 4);
            let v = fraction(words[2], words[3]) * number(DType::F64, power(-53));
            (positive_unit(fraction(words[0], words[1]), 53), v)
        } else {
            let words = self.words(shape, 2);
            let v = upper(words[1], 8).cast(DType::F32) * number(DType::F32, power(-24));
            (positive_unit(words[0].cast(DType::F32), 32), v)
        };
        let radius = (u.log() * u.constant_like(-2.0)).sqrt();
        radius * (v * v.constant_like(std::f64::consts::TAU)).cos()
    }
}

/// The upper 53 bits of two words as an integer in `f64`.
#[track_caller]
fn fraction(high: Tensor, low: Tensor) -> Tensor {
    high.cast(DType::F64) * number(DType::F64, power(21)) + upper(low, 11).cast(DType::F64)
}

/// An integer below 2 to the `digits`, as a float, in (0, 1].
#[track_caller]
fn positive_unit(integer: Tensor, digits: i32) -> Tensor {
    integer * integer.constant_like(power(-digits)) + integer.constant_like(power(-digits - 1))
}
