//! Methods for the rows of the element-wise table, comparisons, `select`, conversions and activations.

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
    /// Remainder with the sign of `rhs`. (`%` has the sign of the left side.)
    mod_floor ModFloor;
    /// Floats to the power of `rhs`, as C's `pow`.
    pow Pow;
    /// Angle of the point (`rhs`, `self`) in radians.
    atan2 Atan2;
    /// The greater of both; NaN if either is.
    maximum Maximum;
    /// The smaller of both; NaN if either is.
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

    /// The greater of `x` and 0; NaN stays.
    #[track_caller]
    pub fn relu(&self) -> Tensor {
        let zero = self.constant_like(0.0);
        let _scope = scope("relu");
        self.maximum(zero)
    }

    /// `1 / (1 + e^-x)` of floats.
    #[track_caller]
    pub fn sigmoid(&self) -> Tensor {
        if let Err(poison) = self.require_float("sigmoid") {
            return poison;
        }
        let _scope = scope("sigmoid");
        let x = self.widened();
        let one = x.constant_like(1.0);
        (one / ((-x).exp() + one)).rounded_as(self)
    }

    /// `x * sigmoid(x)` of floats, also called swish.
    #[track_caller]
    pub fn silu(&self) -> Tensor {
        if let Err(poison) = self.require_float("silu") {
            return poison;
        }
        let _scope = scope("silu");
        let x = self.widened();
        (x * x.sigmoid()).rounded_as(self)
    }

    /// `x * Φ(x)` of floats, with the exact normal distribution function.
    #[track_caller]
    pub fn gelu(&self) -> Tensor {
        if let Err(poison) = self.require_float("gelu") {
            return poison;
        }
        let _scope = scope("gelu");
        let x = self.widened();
        let (half, one) = (x.constant_like(0.5), x.constant_like(1.0));
        let scale = x.constant_like(std::f64::consts::FRAC_1_SQRT_2);
        (x * half * ((x * scale).erf() + one)).rounded_as(self)
    }

    /// The approximation of [`Tensor::gelu`] by `tanh`, as GPT-2 uses it.
    #[track_caller]
    pub fn gelu_tanh(&self) -> Tensor {
        if let Err(poison) = self.require_float("gelu_tanh") {
            return poison;
        }
        let _scope = scope("gelu_tanh");
        let x = self.widened();
        let (half, one, cubic) = (x.constant_like(0.5), x.constant_like(1.0), x.constant_like(0.044715));
        let root = x.constant_like((2.0 / std::f64::consts::PI).sqrt());
        let inner = (x + x * x * x * cubic) * root;
        (x * half * (inner.tanh() + one)).rounded_as(self)
    }

    /// `ln(1 + e^x)` of floats, without overflow.
    #[track_caller]
    pub fn softplus(&self) -> Tensor {
        if let Err(poison) = self.require_float("softplus") {
            return poison;
        }
        let _scope = scope("softplus");
        let x = self.widened();
        (x.relu() + (-x.abs()).exp().log1p()).rounded_as(self)
    }
}

/// `a` where `mask` is true, else `b`: [`Tensor::select`] as a function.
#[track_caller]
pub fn where_(mask: &Tensor, a: impl Operand, b: impl Operand) -> Tensor {
    mask.select(a, b)
}
