//! `Scalar`: a number of any dtype with its exact bits, and its checked conversion to another dtype.

use crate::rounding::{bf16_from_f64, f16_from_f64};
use crate::{DType, Element};
use half::{bf16, f16};
use std::fmt;

/// One element of any dtype.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scalar {
    dtype: DType,
    /// The element's bytes in native byte order, then zeros.
    bytes: [u8; 8],
}

/// A number that another dtype cannot hold.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the {} {scalar} cannot be held by {to}", scalar.dtype())]
pub struct ConversionError {
    /// The number.
    pub scalar: Scalar,
    /// The dtype that cannot hold it.
    pub to: DType,
}

/// The value of a scalar, apart from its width.
#[derive(Clone, Copy)]
enum Number {
    Bool(bool),
    Integer(i64),
    Float(f64),
}

impl Scalar {
    /// An element with its exact bits.
    pub fn new<T: Element>(value: T) -> Scalar {
        let mut bytes = [0; 8];
        bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        Scalar { dtype: T::DTYPE, bytes }
    }

    /// Its type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Its bytes in native byte order, as many as the dtype has.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.dtype.size()]
    }

    /// The element, if `T` is its type.
    pub fn get<T: Element>(&self) -> Option<T> {
        if T::DTYPE == self.dtype { T::read(self.bytes()) } else { None }
    }

    /// The same number as another dtype.
    ///
    /// An integer is held exactly or not at all. A float becomes the nearest float of another width, ties to even,
    /// because a decimal fraction such as 0.1 has no exact float anyway; it becomes an integer if it is one.
    ///
    /// # Errors
    /// Where the number has no place in the dtype: a fraction, NaN or an infinity in an integer, an integer out of
    /// range or beyond a float's precision, a finite float beyond the largest of the dtype; and between `bool` and
    /// numbers.
    pub fn convert(self, to: DType) -> Result<Scalar, ConversionError> {
        if self.dtype == to {
            return Ok(self);
        }
        let converted = match self.number() {
            Number::Bool(_) => None,
            Number::Integer(n) => from_integer(n, to),
            Number::Float(x) => from_float(x, to),
        };
        converted.ok_or(ConversionError { scalar: self, to })
    }

    fn number(&self) -> Number {
        let b = self.bytes;
        match self.dtype {
            DType::Bool => Number::Bool(b[0] != 0),
            DType::I8 => Number::Integer(i8::from_ne_bytes([b[0]]).into()),
            DType::U8 => Number::Integer(b[0].into()),
            DType::I32 => Number::Integer(i32::from_ne_bytes([b[0], b[1], b[2], b[3]]).into()),
            DType::U32 => Number::Integer(u32::from_ne_bytes([b[0], b[1], b[2], b[3]]).into()),
            DType::I64 => Number::Integer(i64::from_ne_bytes(b)),
            DType::F16 => Number::Float(f16::from_ne_bytes([b[0], b[1]]).into()),
            DType::BF16 => Number::Float(bf16::from_ne_bytes([b[0], b[1]]).into()),
            DType::F32 => Number::Float(f32::from_ne_bytes([b[0], b[1], b[2], b[3]]).into()),
            DType::F64 => Number::Float(f64::from_ne_bytes(b)),
        }
    }
}

fn from_integer(n: i64, to: DType) -> Option<Scalar> {
    fn integer<T: Element + TryFrom<i64>>(n: i64) -> Option<Scalar> {
        T::try_from(n).ok().map(Scalar::new)
    }
    // Through i128, because i64::MAX as a float is 2^63, which would saturate back to i64::MAX.
    let exactly = |scalar: Scalar, value: f64| (value as i128 == i128::from(n)).then_some(scalar);
    match to {
        DType::Bool => None,
        DType::I8 => integer::<i8>(n),
        DType::U8 => integer::<u8>(n),
        DType::I32 => integer::<i32>(n),
        DType::U32 => integer::<u32>(n),
        DType::I64 => Some(Scalar::new(n)),
        DType::F16 => {
            let x = f16::from_f32(n as f32);
            exactly(Scalar::new(x), x.to_f64())
        }
        DType::BF16 => {
            let x = bf16::from_f32(n as f32);
            exactly(Scalar::new(x), x.to_f64())
        }
        DType::F32 => exactly(Scalar::new(n as f32), (n as f32).into()),
        DType::F64 => exactly(Scalar::new(n as f64), n as f64),
    }
}

fn from_float(x: f64, to: DType) -> Option<Scalar> {
    let within = |scalar: Scalar, finite: bool| (finite || !x.is_finite()).then_some(scalar);
    match to {
        DType::Bool => None,
        DType::I8 | DType::U8 | DType::I32 | DType::U32 | DType::I64 => {
            // NaN and the infinities have a fraction of NaN.
            let n = if x.fract() == 0.0 { i64::try_from(x as i128).ok()? } else { return None };
            from_integer(n, to)
        }
        DType::F16 => {
            let y = f16_from_f64(x);
            within(Scalar::new(y), y.is_finite())
        }
        DType::BF16 => {
            let y = bf16_from_f64(x);
            within(Scalar::new(y), y.is_finite())
        }
        DType::F32 => within(Scalar::new(x as f32), (x as f32).is_finite()),
        DType::F64 => Some(Scalar::new(x)),
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number() {
            Number::Bool(b) => write!(f, "{b}"),
            Number::Integer(n) => write!(f, "{n}"),
            Number::Float(x) => write!(f, "{x:?}"),
        }
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({self})", self.dtype)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: Element, U: Element>(from: T, to: U) {
        assert_eq!(Scalar::new(from).convert(U::DTYPE), Ok(Scalar::new(to)));
    }

    #[track_caller]
    fn fails<T: Element>(from: T, to: DType, message: &str) {
        assert_eq!(Scalar::new(from).convert(to).unwrap_err().to_string(), message);
    }

    #[test]
    fn bits_are_kept() {
        let nan = f32::from_bits(0x7fc0_1234);
        assert_eq!(Scalar::new(nan).bytes(), 0x7fc0_1234u32.to_ne_bytes());
        assert_eq!(Scalar::new(nan).convert(DType::F32).unwrap().bytes(), 0x7fc0_1234u32.to_ne_bytes());
        assert_eq!(Scalar::new(i64::MIN).get::<i64>(), Some(i64::MIN));
        assert_eq!(Scalar::new(1i32).get::<f32>(), None);
        assert_eq!(Scalar::new(true).bytes(), [1]);
        assert_eq!(format!("{:?}", Scalar::new(0.5f32)), "f32(0.5)");
    }

    #[test]
    fn integers_are_held_exactly() {
        check(-128i32, -128i8);
        check(3_000_000_000u32, 3_000_000_000i64);
        check(16_777_216i32, 16_777_216f32);
        check(7u8, bf16::from_f32(7.0));
        check(2048i32, f16::from_f32(2048.0));
        check(i64::MIN, -9_223_372_036_854_775_808f64);
        fails(128i32, DType::I8, "the i32 128 cannot be held by i8");
        fails(-1i32, DType::U32, "the i32 -1 cannot be held by u32");
        fails(16_777_217i32, DType::F32, "the i32 16777217 cannot be held by f32");
        fails(i64::MAX, DType::F64, "the i64 9223372036854775807 cannot be held by f64");
        fails(2049i32, DType::F16, "the i32 2049 cannot be held by f16");
        fails(65_536i32, DType::F16, "the i32 65536 cannot be held by f16");
        fails(257i32, DType::BF16, "the i32 257 cannot be held by bf16");
        fails(1i32, DType::Bool, "the i32 1 cannot be held by bool");
        fails(true, DType::F32, "the bool true cannot be held by f32");
    }

    #[test]
    fn floats_become_the_nearest_float() {
        check(0.1f64, 0.1f32);
        check(0.1f32, 0.100_000_001_490_116_12_f64);
        check(-0.0f64, -0.0f32);
        check(f64::NEG_INFINITY, f16::NEG_INFINITY);
        check(1e-300f64, 0f32);
        assert!(Scalar::new(f64::NAN).convert(DType::F32).unwrap().get::<f32>().unwrap().is_nan());
        assert!(Scalar::new(f64::NAN).convert(DType::F16).unwrap().get::<f16>().unwrap().is_nan());
        fails(1e39f64, DType::F32, "the f64 1e39 cannot be held by f32");
        fails(65_520f64, DType::F16, "the f64 65520.0 cannot be held by f16");
        check(65_519f64, f16::MAX);
    }

    #[test]
    fn sixteen_bits_are_rounded_once() {
        // Just above the tie between 1 and 1 + 2^-10; by way of the nearest f32 it would become the tie, and then 1.
        check(1.0 + 2f64.powi(-11) + 2f64.powi(-40), f16::from_bits(0x3c01));
        check(1.0 + 2f64.powi(-11), f16::from_bits(0x3c00));
        check(-1.0 - 2f64.powi(-8) - 2f64.powi(-40), bf16::from_bits(0xbf81));
        // The smallest subnormal of f16 is 2^-24; half of it is a tie with zero.
        check(2f64.powi(-25), f16::from_bits(0));
        check(2f64.powi(-25) + 2f64.powi(-70), f16::from_bits(1));
    }

    #[test]
    fn floats_become_integers_if_they_are() {
        check(-3.0f64, -3i32);
        check(-0.0f64, 0i64);
        check(255f32, 255u8);
        check(-9_223_372_036_854_775_808f64, i64::MIN);
        fails(0.5f64, DType::I32, "the f64 0.5 cannot be held by i32");
        fails(9_223_372_036_854_775_808f64, DType::I64, "the f64 9.223372036854776e18 cannot be held by i64");
        fails(1e300f64, DType::I64, "the f64 1e300 cannot be held by i64");
        fails(f64::NAN, DType::I32, "the f64 NaN cannot be held by i32");
        fails(f64::INFINITY, DType::I64, "the f64 inf cannot be held by i64");
        fails(1f64, DType::Bool, "the f64 1.0 cannot be held by bool");
    }
}
