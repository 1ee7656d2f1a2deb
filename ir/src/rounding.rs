//! Conversions between `f16`, `bf16` and the wider floats, each correctly rounded (nearest, ties to even).
//!
//! Written here because the `half` crate's conversions from `f64` cut the low 32 bits off before they round: a value
//! just above a tie rounds down there.

use half::{bf16, f16};

/// The `f16` nearest to `x`; NaN stays NaN.
#[inline]
pub(crate) fn f16_from_f32(x: f32) -> f16 {
    let bits = x.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    let rounded = if magnitude > 0x7f80_0000 {
        0x7e00 | (magnitude >> 13) as u16 & 0x3ff
    } else if magnitude >= 0x4780_0000 {
        // 2¹⁶ and above, infinity too.
        0x7c00
    } else if magnitude < 0x3880_0000 {
        // Below 2⁻¹⁴ the result is a multiple of 2⁻²⁴, which is the distance of floats in 0.5..1.
        ((f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits()) as u16
    } else {
        // The exponent's bias goes from 127 to 15; a carry out of the mantissa is right, up to infinity.
        ((magnitude - (112 << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13) as u16
    };
    f16::from_bits(sign | rounded)
}

/// The value of an `f16`, exactly.
#[inline]
pub(crate) fn f16_to_f32(x: f16) -> f32 {
    let bits = u32::from(x.to_bits());
    let magnitude = bits & 0x7fff;
    let value = if magnitude >= 0x7c00 {
        0x7f80_0000 | magnitude << 13
    } else {
        // 2¹¹² moves the bias from 15 to 127; subnormals come out normalized.
        (f32::from_bits(magnitude << 13) * f32::from_bits((127 + 112) << 23)).to_bits()
    };
    f32::from_bits((bits & 0x8000) << 16 | value)
}

/// The `bf16` nearest to `x`; NaN stays NaN.
#[inline]
pub(crate) fn bf16_from_f32(x: f32) -> bf16 {
    let bits = x.to_bits();
    bf16::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 {
        (bits >> 16) as u16 | 0x40
    } else {
        ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
    })
}

/// The value of a `bf16`, exactly.
#[inline]
pub(crate) fn bf16_to_f32(x: bf16) -> f32 {
    f32::from_bits(u32::from(x.to_bits()) << 16)
}

/// The `f16` nearest to `x`, rounded once.
pub(crate) fn f16_from_f64(x: f64) -> f16 {
    f16_from_f32(odd_f32(x))
}

/// The `bf16` nearest to `x`, rounded once.
pub(crate) fn bf16_from_f64(x: f64) -> bf16 {
    bf16_from_f32(odd_f32(x))
}

/// The `f16` nearest to `x`, rounded once.
pub(crate) fn f16_from_i64(x: i64) -> f16 {
    f16_from_f64(odd_f64(x))
}

/// The `bf16` nearest to `x`, rounded once.
pub(crate) fn bf16_from_i64(x: i64) -> bf16 {
    bf16_from_f64(odd_f64(x))
}

/// `x` rounded to odd: where it is inexact, the neighbour towards zero with its last bit set. A second rounding to
/// two or more bits less then sees on which side of a tie `x` was, so that the whole rounds as if once.
fn odd_f32(x: f64) -> f32 {
    let nearest = x as f32;
    let back = f64::from(nearest);
    if back == x || nearest.is_nan() || nearest.is_infinite() {
        return nearest;
    }
    let towards_zero = nearest.to_bits() - u32::from(back.abs() > x.abs());
    f32::from_bits(towards_zero | 1)
}

/// [`odd_f32`] for an integer.
fn odd_f64(x: i64) -> f64 {
    let nearest = x as f64;
    let (back, exact) = (nearest as i128, i128::from(x));
    if back == exact {
        return nearest;
    }
    let towards_zero = nearest.to_bits() - u64::from(back.abs() > exact.abs());
    f64::from_bits(towards_zero | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_the_way_through_f32() {
        for bits in 0..=u16::MAX {
            let (h, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert!(f16_to_f32(h) == h.to_f32_const() || h.is_nan() && f16_to_f32(h).is_nan(), "{bits:#x}");
            assert!(f16_from_f32(f16_to_f32(h)) == h || h.is_nan() && f16_from_f32(f16_to_f32(h)).is_nan());
            assert!(bf16_from_f32(bf16_to_f32(b)) == b || b.is_nan() && bf16_from_f32(bf16_to_f32(b)).is_nan());
        }
    }

    #[test]
    fn ties_go_to_even_and_their_neighbours_do_not() {
        // Between every two neighbours: the middle, one f32 below it and one above it.
        for bits in 0..0x7bffu16 {
            let (low, high) = (f16::from_bits(bits), f16::from_bits(bits + 1));
            let middle = (f16_to_f32(low) + f16_to_f32(high)) / 2.0;
            let even = if bits % 2 == 0 { low } else { high };
            assert_eq!(f16_from_f32(middle), even, "{bits:#x}");
            assert_eq!(f16_from_f32(middle.next_down()), low, "{bits:#x}");
            assert_eq!(f16_from_f32(-middle.next_up()), -high, "{bits:#x}");
            assert_eq!(f16_from_f64(f64::from(middle).next_up()), high, "{bits:#x}");
            assert_eq!(f16_from_f64(-f64::from(middle).next_down()), -low, "{bits:#x}");
        }
        for bits in 0..0x7f7fu16 {
            let (low, high) = (bf16::from_bits(bits), bf16::from_bits(bits + 1));
            let middle = (f64::from(bf16_to_f32(low)) + f64::from(bf16_to_f32(high))) / 2.0;
            let even = if bits % 2 == 0 { low } else { high };
            assert_eq!(bf16_from_f64(middle), even, "{bits:#x}");
            assert_eq!(bf16_from_f64(middle.next_down()), low, "{bits:#x}");
            assert_eq!(bf16_from_f64(middle.next_up()), high, "{bits:#x}");
        }
    }

    #[test]
    fn overflow_underflow_and_nan() {
        assert_eq!(f16_from_f32(65519.996).to_bits(), 0x7bff);
        assert_eq!(f16_from_f32(65520.0).to_bits(), 0x7c00);
        assert_eq!(f16_from_f64(f64::MAX).to_bits(), 0x7c00);
        assert_eq!(f16_from_f64(-f64::MIN_POSITIVE).to_bits(), 0x8000);
        assert_eq!(f16_from_f32(2.980_232_2e-8).to_bits(), 0, "2^-25 is a tie between 0 and the smallest");
        assert_eq!(f16_from_f32(f32::from_bits(0x7f80_0001)).to_bits(), 0x7e00);
        assert_eq!(bf16_from_f32(f32::from_bits(0x7f80_0001)).to_bits(), 0x7fc0);
        assert_eq!(bf16_from_f32(f32::from_bits(0xffff_ffff)).to_bits(), 0xffff);
        assert_eq!(bf16_from_f32(f32::MAX).to_bits(), 0x7f80);
        assert!(bf16_from_f64(f64::NAN).is_nan() && f16_from_f64(f64::NAN).is_nan());
    }

    #[test]
    fn integers_round_once() {
        // 2^62 + 2^53 + 1 lies just above a tie of bf16, but i64 -> f64 and i64 -> f32 both round it onto the tie.
        assert_eq!(bf16_from_i64((1 << 62) + (1 << 54) + 1).to_bits(), 0x5e81);
        assert_eq!(bf16_from_i64((1 << 62) + (1 << 54)).to_bits(), 0x5e80);
        assert_eq!(bf16_from_i64(i64::MIN).to_bits(), 0xdf00);
        assert_eq!(f16_from_i64(2049).to_bits(), 0x6800);
        assert_eq!(f16_from_i64(2051).to_bits(), 0x6802);
        assert_eq!(f16_from_i64(-65520).to_bits(), 0xfc00);
    }
}
