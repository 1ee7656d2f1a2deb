//! Methods for the rows of the element-wise table, comparisons, `select` and conversions.

use super::operators::{align, binary};
use super::tracer::{record, reject, scope};
use super::{Operand, Tensor};
use crate::diagnostics::codes;
use monograph_ir::{DType, Elementwise, Op};

macro_rules! unary {
    ($($(#[doc = $doc:literal])+ $method:ident $op:ident;)*) => {
        impl Tensor {
            $(
                $(#[doc = $doc])+
                #[track_caller]
                pub fn $method(&self) -> Tensor {
                    record(Elementwise::$op, &[*self])
                }
            )*
        }
    };
}

unary! {
    /// Absolute value of floats and integers; `MIN` of a signed integer stays `MIN`.
    abs Abs;
    /// -1, 0 or 1 with the dtype of floats and integers; keeps the sign of zero and NaN.
    sign Sign;
    /// `e^x` of floats.
    exp Exp;
    /// `e^x - 1` of floats, accurate near 0.
    expm1 Expm1;
    /// Natural logarithm of floats.
    log Log;
    /// `ln(1 + x)` of floats, accurate near 0.
    log1p Log1p;
    /// Square root of floats.
    sqrt Sqrt;
    /// `1 / sqrt(x)` of floats.
    rsqrt Rsqrt;
    /// Sine of floats in radians.
    sin Sin;
    /// Cosine of floats in radians.
    cos Cos;
    /// Hyperbolic tangent of floats.
    tanh Tanh;
    /// The Gauss error function of floats.
    erf Erf;
    /// `2^x` of floats.
    exp2 Exp2;
    /// Logarithm of floats to base 2.
    log2 Log2;
    /// Logarithm of floats to base 10.
    log10 Log10;
    /// Cube root of floats, of negative ones too.
    cbrt Cbrt;
    /// Tangent of floats in radians.
    tan Tan;
    /// Arc sine of floats in radians; NaN outside of -1..1.
    asin Asin;
    /// Arc cosine of floats in radians, in 0..π; NaN outside of -1..1.
    acos Acos;
    /// Arc tangent of floats in radians, in ±π/2.
    atan Atan;
    /// Hyperbolic sine of floats.
    sinh Sinh;
    /// Hyperbolic cosine of floats.
    cosh Cosh;
    /// Inverse hyperbolic sine of floats.
    asinh Asinh;
    /// Inverse hyperbolic cosine of floats; NaN below 1.
    acosh Acosh;
    /// Inverse hyperbolic tangent of floats; ±inf at ±1, NaN outside of -1..1.
    atanh Atanh;
    /// `1 - erf(x)` of floats, accurate where that is near 0.
    erfc Erfc;
    /// Inverse of [`Tensor::erf`] of floats; ±inf at ±1, NaN outside of -1..1. Equal bits on every device.
    erfinv Erfinv;
    /// Logarithm of the absolute value of the gamma function, of floats; inf at 0, at negative integers and at ±inf.
    /// Equal bits on every device.
    lgamma Lgamma;
    /// Derivative of the logarithm of the gamma function, of floats; ∓inf at ±0, NaN at negative integers and at
    /// -inf. Equal bits on every device.
    digamma Digamma;
    /// Greatest integer not above `x`, as a float.
    floor Floor;
    /// Smallest integer not below `x`, as a float.
    ceil Ceil;
    /// Nearest integer, halves to even, as a float.
    round Round;
    /// Integer part towards zero, as a float.
    trunc Trunc;
    /// A bool tensor: whether each float is NaN.
    is_nan IsNan;
    /// A bool tensor: whether each float is an infinity.
    is_inf IsInf;
    /// A bool tensor: whether each float is neither NaN nor an infinity.
    is_finite IsFinite;
    /// A bool tensor: whether each float is negative or -0. False for NaN, the sign of which devices choose.
    sign_bit SignBit;
    /// Number of bits of each integer that are 1, in its dtype.
    count_ones CountOnes;
    /// Number of 0 bits above the highest 1 of each integer, at its width and in its dtype; all bits for 0.
    leading_zeros LeadingZeros;
    /// Every bit of integers inverted; logical not of bools. Also written `!x`.
    logical_not Not;
}

macro_rules! binary_methods {
    ($($(#[doc = $doc:literal])+ $method:ident $op:ident;)*) => {
        impl Tensor {
            $(
                $(#[doc = $doc])+
                #[track_caller]
                pub fn $method(&self, rhs: impl Operand) -> Tensor {
                    let rhs = rhs.tensor(self.known_dtype());
                    binary(Elementwise::$op, *self, rhs)
                }
            )*
        }
    };
}

binary_methods! {
    /// Quotient of floats or integers rounded towards minus infinity. (`/` on integers truncates.)
    div_floor DivFloor;
    /// Remainder with the sign of `rhs`, NumPy's `remainder`. (`%` has the sign of the left side, as `fmod`.)
    mod_floor ModFloor;
    /// Floats to the power of `rhs`, as C's `pow`.
    pow Pow;
    /// Angle of the point (`rhs`, `self`) in radians.
    atan2 Atan2;
    /// `sqrt(self² + rhs²)` of floats without overflow on the way; inf if either is ±inf, even beside NaN.
    hypot Hypot;
    /// The magnitude of a float with the sign of `rhs`, also that of a zero; plus where `rhs` is NaN.
    copysign Copysign;
    /// The next value of the float dtype from `self` towards `rhs`; `rhs` where they are equal, NaN if either is.
    nextafter Nextafter;
    /// Logical and of bools, bitwise and of integers. Also written `a & b`.
    logical_and And;
    /// Logical or of bools, bitwise or of integers. Also written `a | b`.
    logical_or Or;
    /// Logical exclusive or of bools, bitwise of integers. Also written `a ^ b`.
    logical_xor Xor;
    /// The greater of both; NaN if either is. [`Tensor::fmax`] ignores NaN.
    maximum Maximum;
    /// The smaller of both; NaN if either is. [`Tensor::fmin`] ignores NaN.
    minimum Minimum;
    /// `self << rhs` of integers; 0 where `rhs` is not in `0..bits`.
    shift_left Shl;
    /// `self >> rhs` of integers, arithmetic for signed ones.
    shift_right Shr;
    /// A bool tensor: `self == rhs`; false for NaN.
    eq Eq;
    /// A bool tensor: `self != rhs`; true for NaN.
    ne Ne;
    /// A bool tensor: `self < rhs`; false for NaN.
    lt Lt;
    /// A bool tensor: `self <= rhs`; false for NaN.
    le Le;
    /// A bool tensor: `self > rhs`; false for NaN.
    gt Gt;
    /// A bool tensor: `self >= rhs`; false for NaN.
    ge Ge;
}

impl Tensor {
    /// `low` where smaller, `high` where greater; NaN stays. Where `low > high` the result is `high`.
    #[track_caller]
    pub fn clamp(&self, low: impl Operand, high: impl Operand) -> Tensor {
        let low = low.tensor(self.known_dtype());
        let high = high.tensor(self.known_dtype());
        let _scope = scope("clamp");
        self.maximum(low).minimum(high)
    }

    /// `a` where this bool tensor is true, else `b`; the three shapes broadcast. Both sides are computed.
    #[track_caller]
    pub fn select(&self, a: impl Operand, b: impl Operand) -> Tensor {
        let like = a.own_dtype().or(b.own_dtype());
        let (a, b) = (a.tensor(like), b.tensor(like));
        let _scope = scope("select");
        match align("select", [*self, a, b]) {
            Ok(operands) => record(Op::Select, &operands),
            Err(poison) => poison,
        }
    }

    /// Each element as another dtype: float to integer saturates with NaN → 0, to `bool` is `x != 0`, floats round
    /// to nearest even, integers wrap.
    #[track_caller]
    pub fn cast(&self, dtype: DType) -> Tensor {
        if self.known_dtype() == Some(dtype) { *self } else { record(Op::Cast(dtype), &[*self]) }
    }

    /// The same bits as another dtype of the same size.
    #[track_caller]
    pub fn bitcast(&self, dtype: DType) -> Tensor {
        if self.known_dtype() == Some(dtype) { *self } else { record(Op::Bitcast(dtype), &[*self]) }
    }

    /// This tensor in the dtype in which its sums are accumulated, f32 for f16 and bf16: composite functions of
    /// floats compute there and round once at their end.
    #[track_caller]
    pub(super) fn widened(&self) -> Tensor {
        match self.known_dtype() {
            Some(dtype) => self.cast(dtype.accumulator()),
            None => *self,
        }
    }

    /// The inverse of [`Tensor::widened`] for a result: rounds it to the dtype of `original`.
    #[track_caller]
    pub(super) fn rounded_as(&self, original: &Tensor) -> Tensor {
        match original.known_dtype() {
            Some(dtype) => self.cast(dtype),
            None => *self,
        }
    }

    /// Whether the tensor is of floats (or nothing is known of it); else the poison of a diagnostic.
    #[track_caller]
    pub(super) fn require_float(&self, name: &str) -> Result<(), Tensor> {
        match self.known_dtype() {
            Some(dtype) if !dtype.is_float() => {
                let message = format!("`{name}` takes a float dtype (f16, bf16, f32, f64), not {dtype}");
                let help = "convert it first: `.cast(DType::F32)`".to_string();
                Err(reject(codes::OPERANDS, message, "needs floats", &[*self], &[help]))
            }
            _ => Ok(()),
        }
    }
}

/// `a` where `mask` is true, else `b`: [`Tensor::select`] as a function.
#[track_caller]
pub fn where_(mask: &Tensor, a: impl Operand, b: impl Operand) -> Tensor {
    mask.select(a, b)
}
