//! Functions of numbers that are made of rows of the element-wise table, as accurate as a row of their own would be:
//! f16 and bf16 are computed in f32 and rounded once.

use super::tracer::scope;
use super::{Operand, Tensor};
use monograph_ir::DType;
use std::f64::consts::{LOG2_E, PI};

impl Tensor {
    /// `x * x`.
    #[track_caller]
    pub fn square(&self) -> Tensor {
        let _scope = scope("square");
        self * self
    }

    /// `1 / x`.
    #[track_caller]
    pub fn reciprocal(&self) -> Tensor {
        let one = self.constant_like(1.0);
        let _scope = scope("reciprocal");
        one / self
    }

    /// The greater of both; the other one where one is NaN. [`Tensor::maximum`] propagates NaN. The shapes broadcast, the
    /// dtypes are equal.
    ///
    /// ```
    /// use monograph_compiler::trace::{Tensor, trace};
    /// use monograph_ir::Element;
    ///
    /// let program = trace(|(x, y): (Tensor, Tensor)| x.fmax(y), (f32::spec([4, 1]), f32::spec([3])))?;
    /// assert_eq!(program.output_form().to_string(), "f32[4, 3]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn fmax(&self, rhs: impl Operand) -> Tensor {
        let rhs = rhs.tensor(self.known_dtype());
        let _scope = scope("fmax");
        self.without_nan(&rhs, self.maximum(rhs))
    }

    /// The smaller of both; the other one where one is NaN. [`Tensor::minimum`] propagates NaN.
    #[track_caller]
    pub fn fmin(&self, rhs: impl Operand) -> Tensor {
        let rhs = rhs.tensor(self.known_dtype());
        let _scope = scope("fmin");
        self.without_nan(&rhs, self.minimum(rhs))
    }

    /// `extreme` of `self` and `rhs`, but the other one where one is NaN.
    #[track_caller]
    fn without_nan(&self, rhs: &Tensor, extreme: Tensor) -> Tensor {
        match extreme.known_dtype() {
            Some(dtype) if dtype.is_float() => rhs.is_nan().select(self, self.is_nan().select(rhs, extreme)),
            _ => extreme,
        }
    }

    /// `ln(e^self + e^rhs)` of floats, without overflow.
    #[track_caller]
    pub fn logaddexp(&self, rhs: impl Operand) -> Tensor {
        let rhs = rhs.tensor(self.known_dtype());
        if let Err(poison) = self.require_float("logaddexp") {
            return poison;
        }
        let _scope = scope("logaddexp");
        let greater = self.maximum(rhs).widened();
        let distance = (self.widened() - rhs.widened()).abs();
        // Two equal infinities have no distance.
        greater.is_inf().select(greater, greater + (-distance).exp().log1p()).rounded_as(self)
    }

    /// `log2(2^self + 2^rhs)` of floats, without overflow.
    #[track_caller]
    pub fn logaddexp2(&self, rhs: impl Operand) -> Tensor {
        let rhs = rhs.tensor(self.known_dtype());
        if let Err(poison) = self.require_float("logaddexp2") {
            return poison;
        }
        let _scope = scope("logaddexp2");
        let greater = self.maximum(rhs).widened();
        let distance = (self.widened() - rhs.widened()).abs();
        let sum = greater + (-distance).exp2().log1p() * greater.constant_like(LOG2_E);
        greater.is_inf().select(greater, sum).rounded_as(self)
    }

    /// `sin(πx) / (πx)` of floats, 1 at 0: exactly 0 at the other integers. ±inf gives NaN.
    #[track_caller]
    pub fn sinc(&self) -> Tensor {
        if let Err(poison) = self.require_float("sinc") {
            return poison;
        }
        let _scope = scope("sinc");
        let x = self.widened();
        let constant = |value| x.constant_like(value);
        // The sine of π times the exact distance from an integer, minus where that is odd: no digits are lost far out.
        let whole = x.round();
        let odd = whole - (whole * constant(0.5)).floor() * constant(2.0);
        let sine = ((x - whole) * constant(PI)).sin() * (constant(1.0) - odd * constant(2.0));
        x.eq(constant(0.0)).select(constant(1.0), sine / (x * constant(PI))).rounded_as(self)
    }

    /// Degrees in radians, of floats.
    #[track_caller]
    pub fn deg2rad(&self) -> Tensor {
        self.scaled("deg2rad", PI / 180.0)
    }

    /// Radians in degrees, of floats.
    #[track_caller]
    pub fn rad2deg(&self) -> Tensor {
        self.scaled("rad2deg", 180.0 / PI)
    }

    #[track_caller]
    fn scaled(&self, name: &'static str, factor: f64) -> Tensor {
        if let Err(poison) = self.require_float(name) {
            return poison;
        }
        let _scope = scope(name);
        let x = self.widened();
        (x * x.constant_like(factor)).rounded_as(self)
    }

    /// 0 below 0, 1 above, `at_zero` at ±0; NaN stays. Of floats and integers, in their dtype; the shapes broadcast.
    ///
    /// ```
    /// use monograph_compiler::trace::{Tensor, trace};
    /// use monograph_ir::Element;
    ///
    /// let program = trace(|x: Tensor| x.heaviside(0.5), f32::spec([8]))?;
    /// assert_eq!(program.output_form().to_string(), "f32[8]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn heaviside(&self, at_zero: impl Operand) -> Tensor {
        let at_zero = at_zero.tensor(self.known_dtype());
        let (zero, one) = (self.constant_like(0.0), self.constant_like(1.0));
        let _scope = scope("heaviside");
        let step = self.eq(zero).select(at_zero, self.gt(zero).select(one, zero));
        match self.known_dtype() {
            Some(dtype) if dtype.is_float() => self.is_nan().select(self, step),
            _ => step,
        }
    }

    /// 0 for NaN, the greatest and the smallest finite value of the dtype for ±inf. Integers stay as they are.
    #[track_caller]
    pub fn nan_to_num(&self) -> Tensor {
        let greatest = match self.known_dtype() {
            Some(DType::F16) => 65504.0,
            // All ones but the last bit of the exponent: 2¹²⁸ - 2¹²⁰.
            Some(DType::BF16) => f64::from(f32::from_bits(0x7f7f_0000)),
            Some(DType::F32) => f64::from(f32::MAX),
            Some(DType::F64) => f64::MAX,
            Some(DType::Bool | DType::I8 | DType::U8 | DType::I32 | DType::U32 | DType::I64) | None => return *self,
        };
        let constant = |value| self.constant_like(value);
        let _scope = scope("nan_to_num");
        let finite = self.maximum(constant(-greatest)).minimum(constant(greatest));
        self.is_nan().select(constant(0.0), finite)
    }

    /// `nan` for NaN, `positive` for inf, `negative` for -inf, of floats; the shapes broadcast.
    #[track_caller]
    pub fn nan_to_num_with(&self, nan: impl Operand, positive: impl Operand, negative: impl Operand) -> Tensor {
        let like = self.known_dtype();
        let (nan, positive, negative) = (nan.tensor(like), positive.tensor(like), negative.tensor(like));
        if let Err(poison) = self.require_float("nan_to_num_with") {
            return poison;
        }
        let constant = |value| self.constant_like(value);
        let _scope = scope("nan_to_num_with");
        let finite = self.is_nan().select(nan, self);
        let above = self.eq(constant(f64::INFINITY)).select(positive, finite);
        self.eq(constant(f64::NEG_INFINITY)).select(negative, above)
    }

    /// A bool tensor: whether floats are equal, or finite with `|self - rhs| <= absolute + relative * |rhs|`. False
    /// for NaN. f16 and bf16 are compared in f32. The shapes broadcast.
    ///
    /// ```
    /// use monograph_compiler::trace::{Tensor, trace};
    /// use monograph_ir::Element;
    ///
    /// let program = trace(|x: Tensor| x.is_close(1.0, 1e-5, 1e-8), f32::spec([8]))?;
    /// assert_eq!(program.output_form().to_string(), "bool[8]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn is_close(&self, rhs: impl Operand, relative: f64, absolute: f64) -> Tensor {
        let rhs = rhs.tensor(self.known_dtype());
        if let Err(poison) = self.require_float("is_close") {
            return poison;
        }
        let _scope = scope("is_close");
        let equal = self.eq(rhs);
        let (a, b) = (self.widened(), rhs.widened());
        let allowed = b.abs() * b.constant_like(relative) + b.constant_like(absolute);
        equal | ((a - b).abs().le(allowed) & b.is_finite())
    }

    /// A bool scalar: whether all elements are close, as [`Tensor::is_close`] says. True without elements.
    #[track_caller]
    pub fn all_close(&self, rhs: impl Operand, relative: f64, absolute: f64) -> Tensor {
        let rhs = rhs.tensor(self.known_dtype());
        if let Err(poison) = self.require_float("all_close") {
            return poison;
        }
        let _scope = scope("all_close");
        self.is_close(rhs, relative, absolute).all(..)
    }
}
