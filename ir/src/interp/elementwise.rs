//! What each row of the element-wise table computes on the host: one arm a row.
//!
//! An arm gives one expression for floats, written for `f32` and `f64`, and one for integers. `f16` and `bf16` are
//! computed in `f32` and rounded once. The functions are those of the standard library and of `libm`: within an ulp
//! or so of the true value, not correctly rounded, so kernels are compared with a tolerance there.

use super::number::{Float, Integer, Neighbours, Real, maximum, minimum};
use super::tensor::{collect, with_any};
use super::{Cell, Data, EvalError, Tensor};
use crate::{DType, Elementwise};
use half::{bf16, f16};

fn unary<T: Cell, U: Cell>(operands: &[Tensor], f: impl Fn(T) -> U) -> Result<Data, EvalError> {
    let [x] = take(operands)?;
    collect(x.cells()?.iter().map(|&x| f(x))).map(U::data)
}

fn binary<T: Cell, U: Cell>(operands: &[Tensor], f: impl Fn(T, T) -> U) -> Result<Data, EvalError> {
    let [a, b] = take(operands)?;
    collect(a.cells()?.iter().zip(b.cells()?).map(|(&a, &b)| f(a, b))).map(U::data)
}

fn take<const N: usize>(operands: &[Tensor]) -> Result<&[Tensor; N], EvalError> {
    operands.try_into().map_err(|_| EvalError::Invalid(format!("{} operands instead of {N}", operands.len())))
}

/// The closure for one element type: operands widened, result narrowed.
macro_rules! lane {
    ($x:ident, $T:ty, same, |$a:ident| $f:expr) => {
        unary($x, |$a: $T| -> $T {
            let $a = $a.widen();
            <$T>::narrow($f)
        })
    };
    ($x:ident, $T:ty, same, |$a:ident, $b:ident| $f:expr) => {
        binary($x, |$a: $T, $b: $T| -> $T {
            let ($a, $b) = ($a.widen(), $b.widen());
            <$T>::narrow($f)
        })
    };
    ($x:ident, $T:ty, bool, |$a:ident| $f:expr) => {
        unary($x, |$a: $T| -> bool {
            let $a = $a.widen();
            $f
        })
    };
    ($x:ident, $T:ty, plain, |$a:ident| $f:expr) => {
        unary($x, |$a: $T| -> $T { $f })
    };
    ($x:ident, $T:ty, plain, |$a:ident, $b:ident| $f:expr) => {
        binary($x, |$a: $T, $b: $T| -> $T { $f })
    };
}

/// One expression for every float dtype; `same` or `bool` is the result, `plain` that of operands left as they are.
macro_rules! float {
    ($x:ident, $kind:ident, $args:tt $f:expr) => {
        match dtype($x)? {
            DType::F16 => float!(@ $x, f16, $kind, $args $f),
            DType::BF16 => float!(@ $x, bf16, $kind, $args $f),
            DType::F32 => float!(@ $x, f32, $kind, $args $f),
            DType::F64 => float!(@ $x, f64, $kind, $args $f),
            other @ (DType::Bool | DType::I8 | DType::U8 | DType::I32 | DType::U32 | DType::I64) => {
                Err(EvalError::dtype(other))
            }
        }
    };
    (@ $x:ident, $T:ty, $kind:ident, ($($a:ident),+) $f:expr) => { lane!($x, $T, $kind, |$($a),+| $f) };
}

/// One expression for every integer dtype.
macro_rules! integer {
    ($x:ident, $args:tt $f:expr) => {
        match dtype($x)? {
            DType::I8 => integer!(@ $x, i8, $args $f),
            DType::U8 => integer!(@ $x, u8, $args $f),
            DType::I32 => integer!(@ $x, i32, $args $f),
            DType::U32 => integer!(@ $x, u32, $args $f),
            DType::I64 => integer!(@ $x, i64, $args $f),
            other @ (DType::Bool | DType::F16 | DType::BF16 | DType::F32 | DType::F64) => Err(EvalError::dtype(other)),
        }
    };
    (@ $x:ident, $T:ty, ($($a:ident),+) $f:expr) => { lane!($x, $T, plain, |$($a),+| $f) };
}

/// One expression for floats and one for integers.
macro_rules! number {
    ($x:ident, $args:tt float $f:expr, int $i:expr) => {
        if dtype($x)?.is_float() { float!($x, same, $args $f) } else { integer!($x, $args $i) }
    };
}

/// One expression for integers and `bool`.
macro_rules! bits {
    ($x:ident, $args:tt $f:expr) => {
        match dtype($x)? {
            DType::Bool => integer!(@ $x, bool, $args $f),
            _ => integer!($x, $args $f),
        }
    };
}

/// A function that is generic over every element type.
macro_rules! any {
    ($x:ident, $f:expr) => {
        with_any!($x.first().ok_or_else(none)?.data(), cells => { let _ = cells; binary_like($x, cells, $f) })
    };
}

/// [`binary`], with the element type taken from `_like`.
fn binary_like<T: Cell, U: Cell>(operands: &[Tensor], _like: &[T], f: impl Fn(T, T) -> U) -> Result<Data, EvalError> {
    binary(operands, f)
}

fn none() -> EvalError {
    EvalError::Invalid("no operands".into())
}

fn dtype(operands: &[Tensor]) -> Result<DType, EvalError> {
    operands.first().map(Tensor::dtype).ok_or_else(none)
}

/// The elements of `op` over operands that inference accepted.
pub(super) fn elementwise(op: Elementwise, x: &[Tensor]) -> Result<Data, EvalError> {
    match op {
        Elementwise::Neg => number!(x, (a) float -a, int a.wrapping_neg()),
        Elementwise::Abs => number!(x, (a) float a.abs(), int a.magnitude()),
        Elementwise::Sign => number!(x, (a) float Real::sign(a), int Integer::sign(a)),
        Elementwise::Exp => float!(x, same, (a) a.exp()),
        Elementwise::Expm1 => float!(x, same, (a) a.exp_m1()),
        Elementwise::Log => float!(x, same, (a) a.ln()),
        Elementwise::Log1p => float!(x, same, (a) a.ln_1p()),
        Elementwise::Sqrt => float!(x, same, (a) a.sqrt()),
        Elementwise::Rsqrt => float!(x, same, (a) 1.0 / a.sqrt()),
        Elementwise::Sin => float!(x, same, (a) a.sin()),
        Elementwise::Cos => float!(x, same, (a) a.cos()),
        Elementwise::Tanh => float!(x, same, (a) a.tanh()),
        Elementwise::Erf => float!(x, same, (a) Real::erf(a)),
        Elementwise::Exp2 => float!(x, same, (a) a.exp2()),
        Elementwise::Log2 => float!(x, same, (a) a.log2()),
        Elementwise::Log10 => float!(x, same, (a) a.log10()),
        Elementwise::Cbrt => float!(x, same, (a) a.cbrt()),
        Elementwise::Tan => float!(x, same, (a) a.tan()),
        Elementwise::Asin => float!(x, same, (a) a.asin()),
        Elementwise::Acos => float!(x, same, (a) a.acos()),
        Elementwise::Atan => float!(x, same, (a) a.atan()),
        Elementwise::Sinh => float!(x, same, (a) a.sinh()),
        Elementwise::Cosh => float!(x, same, (a) a.cosh()),
        Elementwise::Asinh => float!(x, same, (a) Real::asinh(a)),
        Elementwise::Acosh => float!(x, same, (a) Real::acosh(a)),
        Elementwise::Atanh => float!(x, same, (a) Real::atanh(a)),
        Elementwise::Erfc => float!(x, same, (a) Real::erfc(a)),
        Elementwise::Erfinv => float!(x, same, (a) Real::erfinv(a)),
        Elementwise::Lgamma => float!(x, same, (a) Real::lgamma(a)),
        Elementwise::Digamma => float!(x, same, (a) Real::digamma(a)),
        Elementwise::Floor => float!(x, same, (a) a.floor()),
        Elementwise::Ceil => float!(x, same, (a) a.ceil()),
        Elementwise::Round => float!(x, same, (a) a.round_ties_even()),
        Elementwise::Trunc => float!(x, same, (a) a.trunc()),
        Elementwise::IsNan => float!(x, bool, (a) a.is_nan()),
        Elementwise::IsInf => float!(x, bool, (a) a.is_infinite()),
        Elementwise::IsFinite => float!(x, bool, (a) a.is_finite()),
        Elementwise::SignBit => float!(x, bool, (a) Real::sign_bit(a)),
        Elementwise::CountOnes => integer!(x, (a) Integer::count_ones(a)),
        Elementwise::LeadingZeros => integer!(x, (a) Integer::leading_zeros(a)),
        Elementwise::Not => bits!(x, (a) !a),
        Elementwise::Add => number!(x, (a, b) float a + b, int a.wrapping_add(b)),
        Elementwise::Sub => number!(x, (a, b) float a - b, int a.wrapping_sub(b)),
        Elementwise::Mul => number!(x, (a, b) float a * b, int a.wrapping_mul(b)),
        Elementwise::Div => number!(x, (a, b) float a / b, int a.quotient(b)),
        Elementwise::Rem => number!(x, (a, b) float a % b, int a.remainder(b)),
        Elementwise::DivFloor => number!(x, (a, b) float Real::quotient_floor(a, b), int Integer::quotient_floor(a, b)),
        Elementwise::ModFloor => {
            number!(x, (a, b) float Real::remainder_floor(a, b), int Integer::remainder_floor(a, b))
        }
        Elementwise::Pow => float!(x, same, (a, b) a.powf(b)),
        Elementwise::Atan2 => float!(x, same, (a, b) a.atan2(b)),
        Elementwise::Hypot => float!(x, same, (a, b) a.hypot(b)),
        Elementwise::Copysign => float!(x, same, (a, b) if Real::sign_bit(b) { -a.abs() } else { a.abs() }),
        Elementwise::Nextafter => float!(x, plain, (a, b) a.next_after(b)),
        Elementwise::Maximum => any!(x, maximum),
        Elementwise::Minimum => any!(x, minimum),
        Elementwise::And => bits!(x, (a, b) a & b),
        Elementwise::Or => bits!(x, (a, b) a | b),
        Elementwise::Xor => bits!(x, (a, b) a ^ b),
        Elementwise::Shl => integer!(x, (a, b) a.shift_left(b)),
        Elementwise::Shr => integer!(x, (a, b) a.shift_right(b)),
        Elementwise::Eq => any!(x, |a, b| a.eq(&b)),
        Elementwise::Ne => any!(x, |a, b| a.ne(&b)),
        Elementwise::Lt => any!(x, |a, b| a.lt(&b)),
        Elementwise::Le => any!(x, |a, b| a.le(&b)),
        Elementwise::Gt => any!(x, |a, b| a.gt(&b)),
        Elementwise::Ge => any!(x, |a, b| a.ge(&b)),
    }
}

/// `a` where the mask is true, else `b`.
pub(super) fn select(operands: &[Tensor]) -> Result<Data, EvalError> {
    let [mask, a, b] = take(operands)?;
    fn choose<T: Cell>(mask: &[bool], a: &[T], b: &Tensor) -> Result<Data, EvalError> {
        let lanes = mask.iter().zip(a.iter().zip(b.cells()?));
        collect(lanes.map(|(&mask, (&a, &b))| if mask { a } else { b })).map(T::data)
    }
    with_any!(a.data(), a => choose(mask.cells()?, a, b))
}
