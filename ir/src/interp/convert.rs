//! Conversions between dtypes, and iota.

use super::tensor::{collect, room, with_any, with_dtype};
use super::{Cell, Data, EvalError, Tensor};
use crate::rounding::*;
use crate::{DType, Spec};
use half::{bf16, f16};

/// An element that a number of another type can become: floats round to nearest even, once; integers wrap when they
/// come from integers, saturate and truncate when they come from floats, with NaN → 0; `bool` is `x != 0`.
trait Target: Cell {
    fn from_i64(x: i64) -> Self;
    fn from_f32(x: f32) -> Self;
    fn from_f64(x: f64) -> Self;
}

macro_rules! targets {
    ($($cell:ty, |$i:ident| $from_i64:expr, |$s:ident| $from_f32:expr, |$d:ident| $from_f64:expr;)*) => {$(
        impl Target for $cell {
            #[inline(always)]
            fn from_i64($i: i64) -> $cell {
                $from_i64
            }
            #[inline(always)]
            fn from_f32($s: f32) -> $cell {
                $from_f32
            }
            #[inline(always)]
            fn from_f64($d: f64) -> $cell {
                $from_f64
            }
        }
    )*};
}

targets! {
    bool, |x| x != 0, |x| x != 0.0, |x| x != 0.0;
    i8, |x| x as i8, |x| x as i8, |x| x as i8;
    u8, |x| x as u8, |x| x as u8, |x| x as u8;
    i32, |x| x as i32, |x| x as i32, |x| x as i32;
    u32, |x| x as u32, |x| x as u32, |x| x as u32;
    i64, |x| x, |x| x as i64, |x| x as i64;
    f16, |x| f16_from_i64(x), |x| f16_from_f32(x), |x| f16_from_f64(x);
    bf16, |x| bf16_from_i64(x), |x| bf16_from_f32(x), |x| bf16_from_f64(x);
    f32, |x| x as f32, |x| x, |x| x as f32;
    f64, |x| x as f64, |x| f64::from(x), |x| x;
}

/// An element that can become another type; goes through a type that holds it exactly.
trait Source: Cell {
    fn convert<T: Target>(self) -> T;
}

macro_rules! sources {
    ($($cell:ty, |$x:ident| $convert:expr;)*) => {$(
        impl Source for $cell {
            #[inline(always)]
            fn convert<T: Target>(self) -> T {
                let $x = self;
                $convert
            }
        }
    )*};
}

sources! {
    bool, |x| T::from_i64(i64::from(x));
    i8, |x| T::from_i64(i64::from(x));
    u8, |x| T::from_i64(i64::from(x));
    i32, |x| T::from_i64(i64::from(x));
    u32, |x| T::from_i64(i64::from(x));
    i64, |x| T::from_i64(x);
    f16, |x| T::from_f32(f16_to_f32(x));
    bf16, |x| T::from_f32(bf16_to_f32(x));
    f32, |x| T::from_f32(x);
    f64, |x| T::from_f64(x);
}

/// Each element as another dtype.
pub(super) fn cast(x: &Tensor, to: DType) -> Result<Data, EvalError> {
    fn all<S: Source, T: Target>(x: &[S]) -> Result<Data, EvalError> {
        collect(x.iter().map(|x| x.convert::<T>())).map(T::data)
    }
    fn from<S: Source>(x: &[S], to: DType) -> Result<Data, EvalError> {
        with_dtype!(to, T => all::<S, T>(x))
    }
    if x.dtype() == to {
        return Ok(x.data().clone());
    }
    with_any!(x.data(), cells => from(cells, to))
}

/// The same bits as another dtype of the same size.
pub(super) fn bitcast(x: &Tensor, to: DType) -> Result<Data, EvalError> {
    Tensor::from_bytes(Spec::new(to, x.shape()), x.bytes()).map(Tensor::into_data)
}

/// 0, 1, 2, … along an axis, wrapped or rounded once.
pub(super) fn iota(dtype: DType, shape: &[usize], axis: usize) -> Result<Data, EvalError> {
    let outer = shape[..axis].iter().product();
    let inner = shape[axis + 1..].iter().product();
    fn count<T: Target>(outer: usize, extent: usize, inner: usize) -> Result<Data, EvalError> {
        let mut out = room(outer * extent * inner)?;
        for _ in 0..outer {
            for i in 0..extent {
                out.extend(std::iter::repeat_n(T::from_i64(i as i64), inner));
            }
        }
        Ok(T::data(out))
    }
    with_dtype!(dtype, T => count::<T>(outer, shape[axis], inner))
}
