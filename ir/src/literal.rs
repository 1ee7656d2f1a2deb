//! `Literal`: one element of any dtype, by its bits.

use crate::DType;
use crate::rounding::{bf16_from_f64, bf16_from_i64, f16_from_f64, f16_from_i64};
use half::{bf16, f16};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A scalar constant. Equality, order and hash are those of the bits, so that NaN equals itself and -0 is not 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Literal {
    dtype: DType,
    /// The element, little-endian, zero-extended.
    bits: u64,
}

impl Literal {
    /// The literal with these bits; bits above the dtype's width are cut off, a `bool` is 0 or 1.
    pub const fn from_bits(dtype: DType, bits: u64) -> Literal {
        let bits = match dtype {
            DType::Bool => (bits != 0) as u64,
            _ if dtype.size() == 8 => bits,
            _ => bits & ((1 << (8 * dtype.size())) - 1),
        };
        Literal { dtype, bits }
    }

    /// The value of `dtype` nearest to `value`: floats round to nearest even, integers saturate and truncate, NaN
    /// becomes 0 there, `bool` is `value != 0`.
    pub fn from_f64(dtype: DType, value: f64) -> Literal {
        let bits = match dtype {
            DType::Bool => u64::from(value != 0.0),
            DType::I8 => value as i8 as u8 as u64,
            DType::U8 => value as u8 as u64,
            DType::I32 => value as i32 as u32 as u64,
            DType::U32 => value as u32 as u64,
            DType::I64 => value as i64 as u64,
            DType::F16 => u64::from(f16_from_f64(value).to_bits()),
            DType::BF16 => u64::from(bf16_from_f64(value).to_bits()),
            DType::F32 => u64::from((value as f32).to_bits()),
            DType::F64 => value.to_bits(),
        };
        Literal { dtype, bits }
    }

    /// The value of `dtype` for an integer: wraps at the width of an integer dtype, rounds for floats.
    pub fn from_i64(dtype: DType, value: i64) -> Literal {
        match dtype {
            DType::Bool => Literal::from_bits(dtype, value as u64),
            _ if dtype.is_integer() => Literal::from_bits(dtype, value as u64),
            DType::F16 => Literal::from_bits(dtype, u64::from(f16_from_i64(value).to_bits())),
            DType::BF16 => Literal::from_bits(dtype, u64::from(bf16_from_i64(value).to_bits())),
            // Straight from the integer: going through f64 would round twice.
            DType::F32 => Literal::from_bits(dtype, u64::from((value as f32).to_bits())),
            _ => Literal::from_f64(dtype, value as f64),
        }
    }

    /// Zero (`false`).
    pub const fn zero(dtype: DType) -> Literal {
        Literal { dtype, bits: 0 }
    }

    /// One (`true`).
    pub fn one(dtype: DType) -> Literal {
        Literal::from_i64(dtype, 1)
    }

    /// Type of the element.
    pub const fn dtype(self) -> DType {
        self.dtype
    }

    /// The element's bits, zero-extended.
    pub const fn bits(self) -> u64 {
        self.bits
    }

    /// The element's bytes, little-endian: the first `dtype.size()` of them count.
    pub const fn to_le_bytes(self) -> [u8; 8] {
        self.bits.to_le_bytes()
    }

    /// The value, rounded where an `i64` is beyond 2⁵³.
    pub fn to_f64(self) -> f64 {
        match self.dtype {
            DType::F16 => f16::from_bits(self.bits as u16).to_f64(),
            DType::BF16 => bf16::from_bits(self.bits as u16).to_f64(),
            DType::F32 => f64::from(f32::from_bits(self.bits as u32)),
            DType::F64 => f64::from_bits(self.bits),
            _ => self.to_i64() as f64,
        }
    }

    /// The value of an integer or `bool`; for a float, truncated and saturated.
    pub fn to_i64(self) -> i64 {
        match self.dtype {
            DType::Bool | DType::U8 | DType::U32 => self.bits as i64,
            DType::I8 => i64::from(self.bits as u8 as i8),
            DType::I32 => i64::from(self.bits as u32 as i32),
            DType::I64 => self.bits as i64,
            _ => self.to_f64() as i64,
        }
    }

    /// Reads what [`Display`](fmt::Display) writes, and any decimal number; bits in hexadecimal are taken as they are.
    /// A decimal for f16 or bf16 is read as f64 and then rounded, so one that is nearer to a tie than f64 can tell counts
    /// as the tie.
    pub fn parse(dtype: DType, text: &str) -> Option<Literal> {
        if let Some(hex) = text.strip_prefix("0x") {
            let bits = u64::from_str_radix(hex, 16).ok()?;
            let literal = Literal::from_bits(dtype, bits);
            return (literal.bits == bits).then_some(literal);
        }
        match dtype {
            DType::Bool => match text {
                "true" => Some(Literal::one(dtype)),
                "false" => Some(Literal::zero(dtype)),
                _ => None,
            },
            _ if dtype.is_integer() => {
                let value: i64 = text.parse().ok()?;
                let literal = Literal::from_i64(dtype, value);
                (literal.to_i64() == value).then_some(literal)
            }
            // A decimal is read in f32 itself: going through f64 would round twice.
            DType::F32 => text.parse::<f32>().ok().map(|v| Literal::from_bits(dtype, u64::from(v.to_bits()))),
            _ => text.parse::<f64>().ok().map(|v| Literal::from_f64(dtype, v)),
        }
    }
}

impl fmt::Display for Literal {
    /// The shortest text that [`Literal::parse`] reads back to the same bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.dtype {
            DType::Bool => (self.bits != 0).to_string(),
            _ if self.dtype.is_integer() => self.to_i64().to_string(),
            DType::F32 => format!("{:?}", f32::from_bits(self.bits as u32)),
            _ => format!("{:?}", self.to_f64()),
        };
        match Literal::parse(self.dtype, &text) {
            Some(back) if back == *self => f.write_str(&text),
            _ => write!(f, "{:#x}", self.bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_keeps_every_bit() {
        for dtype in DType::ALL {
            for bits in [
                0,
                1,
                2,
                0x7f,
                0x80,
                0x3c00,
                0x7fc0,
                0x7f80_0001,
                0x3f80_0000,
                0x8000_0000,
                0x7ff8_0000_0000_0001,
                u64::MAX,
            ] {
                let literal = Literal::from_bits(dtype, bits);
                assert_eq!(Literal::parse(dtype, &literal.to_string()), Some(literal), "{dtype} {bits:#x} {literal}");
            }
        }
    }

    #[test]
    fn numbers_become_the_nearest_value() {
        assert_eq!(Literal::from_f64(DType::BF16, 0.269_140_877).to_f64(), 0.269_531_25);
        assert_eq!(Literal::from_f64(DType::I8, 300.0).to_i64(), 127);
        assert_eq!(Literal::from_f64(DType::I32, f64::NAN).to_i64(), 0);
        assert_eq!(Literal::from_i64(DType::U8, -1).to_i64(), 255);
        assert_eq!(Literal::from_f64(DType::F32, -0.0).to_string(), "-0.0");
        assert_eq!(Literal::parse(DType::U8, "256"), None);
        assert_eq!(Literal::parse(DType::Bool, "2"), None);
    }
}
