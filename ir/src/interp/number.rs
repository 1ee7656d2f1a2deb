//! What the interpreter needs to know of each element type.

use super::{Cell, special};
use crate::rounding::*;
use half::{bf16, f16};

/// A float as ops compute with it: `f16` and `bf16` in `f32`, rounded once when the result is stored.
pub(super) trait Float: Cell {
    /// The type that is computed in.
    type Wide;

    /// The value, exactly.
    fn widen(self) -> Self::Wide;

    /// The nearest value.
    fn narrow(wide: Self::Wide) -> Self;
}

macro_rules! floats {
    ($($cell:ty, $wide:ty, |$x:ident| $widen:expr, |$w:ident| $narrow:expr;)*) => {$(
        impl Float for $cell {
            type Wide = $wide;

            #[inline(always)]
            fn widen(self) -> $wide {
                let $x = self;
                $widen
            }

            #[inline(always)]
            fn narrow($w: $wide) -> $cell {
                $narrow
            }
        }
    )*};
}

floats! {
    f16, f32, |x| f16_to_f32(x), |w| f16_from_f32(w);
    bf16, f32, |x| bf16_to_f32(x), |w| bf16_from_f32(w);
    f32, f32, |x| x, |w| w;
    f64, f64, |x| x, |w| w;
}

/// A number that can be summed and multiplied up: in `f32` for `f16` and `bf16`, in `f64` for `f32` and `f64`,
/// wrapping for integers, and rounded once at the end.
pub(super) trait Number: Cell {
    /// The type of the running value.
    type Acc: Copy;
    /// 0.
    const ZERO: Self::Acc;
    /// 1.
    const ONE: Self::Acc;

    /// The value, exactly.
    fn acc(self) -> Self::Acc;
    /// `a + b`.
    fn sum(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    /// `a * b`.
    fn product(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    /// The nearest value.
    fn round(acc: Self::Acc) -> Self;
}

macro_rules! numbers {
    (float $($cell:ty, $acc:ty, |$x:ident| $widen:expr, |$w:ident| $narrow:expr;)*) => {$(
        impl Number for $cell {
            type Acc = $acc;
            const ZERO: $acc = 0.0;
            const ONE: $acc = 1.0;

            #[inline(always)]
            fn acc(self) -> $acc {
                let $x = self;
                $widen
            }
            #[inline(always)]
            fn sum(a: $acc, b: $acc) -> $acc {
                a + b
            }
            #[inline(always)]
            fn product(a: $acc, b: $acc) -> $acc {
                a * b
            }
            #[inline(always)]
            fn round($w: $acc) -> $cell {
                $narrow
            }
        }
    )*};
    (int $($cell:ty)*) => {$(
        impl Number for $cell {
            type Acc = $cell;
            const ZERO: $cell = 0;
            const ONE: $cell = 1;

            #[inline(always)]
            fn acc(self) -> $cell {
                self
            }
            #[inline(always)]
            fn sum(a: $cell, b: $cell) -> $cell {
                a.wrapping_add(b)
            }
            #[inline(always)]
            fn product(a: $cell, b: $cell) -> $cell {
                a.wrapping_mul(b)
            }
            #[inline(always)]
            fn round(acc: $cell) -> $cell {
                acc
            }
        }
    )*};
}

numbers! { float
    f16, f32, |x| f16_to_f32(x), |w| f16_from_f32(w);
    bf16, f32, |x| bf16_to_f32(x), |w| bf16_from_f32(w);
    f32, f64, |x| f64::from(x), |w| w as f32;
    f64, f64, |x| x, |w| w;
}
numbers! { int i8 u8 i32 u32 i64 }

/// What an order of elements needs besides `<`.
pub(super) trait Order: Cell {
    /// The value below or equal to all others.
    const LOWEST: Self;
    /// The value above or equal to all others.
    const HIGHEST: Self;

    /// A value of the same order that compares fast: `f16` and `bf16` widened.
    fn key(self) -> impl PartialOrd + Copy;
    /// Whether it is NaN.
    fn nan(self) -> bool;
    /// Whether its sign bit is set; tells -0 from +0.
    fn negative(self) -> bool;
}

macro_rules! orders {
    ($($cell:ty, $low:expr, $high:expr, |$x:ident| $key:expr, $nan:expr, $negative:expr;)*) => {$(
        impl Order for $cell {
            const LOWEST: $cell = $low;
            const HIGHEST: $cell = $high;

            #[inline(always)]
            fn key(self) -> impl PartialOrd + Copy {
                let $x = self;
                $key
            }
            #[inline(always)]
            fn nan(self) -> bool {
                let $x = self;
                let _ = $x;
                $nan
            }
            #[inline(always)]
            fn negative(self) -> bool {
                let $x = self;
                let _ = $x;
                $negative
            }
        }
    )*};
}

orders! {
    bool, false, true, |x| x, false, false;
    i8, i8::MIN, i8::MAX, |x| x, false, false;
    u8, u8::MIN, u8::MAX, |x| x, false, false;
    i32, i32::MIN, i32::MAX, |x| x, false, false;
    u32, u32::MIN, u32::MAX, |x| x, false, false;
    i64, i64::MIN, i64::MAX, |x| x, false, false;
    f16, f16::NEG_INFINITY, f16::INFINITY, |x| f16_to_f32(x), x.is_nan(), x.to_bits() >> 15 != 0;
    bf16, bf16::NEG_INFINITY, bf16::INFINITY, |x| bf16_to_f32(x), x.is_nan(), x.to_bits() >> 15 != 0;
    f32, f32::NEG_INFINITY, f32::INFINITY, |x| x, x.is_nan(), x.is_sign_negative();
    f64, f64::NEG_INFINITY, f64::INFINITY, |x| x, x.is_nan(), x.is_sign_negative();
}

/// The greater; the first NaN if there is one; +0 is above -0.
#[inline(always)]
pub(super) fn maximum<T: Order>(a: T, b: T) -> T {
    let (x, y) = (a.key(), b.key());
    if x > y || a.nan() || (x == y && !a.negative()) { a } else { b }
}

/// The smaller; the first NaN if there is one; -0 is below +0.
#[inline(always)]
pub(super) fn minimum<T: Order>(a: T, b: T) -> T {
    let (x, y) = (a.key(), b.key());
    if x < y || a.nan() || (x == y && a.negative()) { a } else { b }
}

/// Integer division as the ops define it: nothing panics.
pub(super) trait Integer: Cell {
    /// Truncated; all ones by zero; `MIN / -1` is `MIN`.
    fn quotient(self, by: Self) -> Self;
    /// With the sign of `self`; `self` by zero.
    fn remainder(self, by: Self) -> Self;
    /// Rounded towards minus infinity; by zero as [`Integer::quotient`].
    fn quotient_floor(self, by: Self) -> Self;
    /// With the sign of `by`; by zero as [`Integer::remainder`].
    fn remainder_floor(self, by: Self) -> Self;
    /// 0 where the amount is not in `0..bits`.
    fn shift_left(self, by: Self) -> Self;
    /// The sign's fill where the amount is not in `0..bits`.
    fn shift_right(self, by: Self) -> Self;
    /// -1, 0 or 1.
    fn sign(self) -> Self;
    /// `MIN` stays.
    fn magnitude(self) -> Self;
    /// How many bits are 1.
    fn count_ones(self) -> Self;
    /// How many 0 bits are above the highest 1.
    fn leading_zeros(self) -> Self;
}

macro_rules! integers {
    ($($cell:ty, |$x:ident| $sign:expr, $magnitude:expr, $fill:expr;)*) => {$(
        impl Integer for $cell {
            #[inline]
            fn quotient(self, by: $cell) -> $cell {
                if by == 0 { !0 } else { self.wrapping_div(by) }
            }
            #[inline]
            fn remainder(self, by: $cell) -> $cell {
                if by == 0 { self } else { self.wrapping_rem(by) }
            }
            #[inline]
            #[allow(unused_comparisons, reason = "one text for signed and unsigned integers")]
            fn quotient_floor(self, by: $cell) -> $cell {
                let rest = self.remainder(by);
                let below = by != 0 && rest != 0 && ((rest < 0) != (by < 0));
                self.quotient(by).wrapping_sub(below as $cell)
            }
            #[inline]
            #[allow(unused_comparisons, reason = "one text for signed and unsigned integers")]
            fn remainder_floor(self, by: $cell) -> $cell {
                let rest = self.remainder(by);
                if by != 0 && rest != 0 && ((rest < 0) != (by < 0)) { rest.wrapping_add(by) } else { rest }
            }
            #[inline]
            fn shift_left(self, by: $cell) -> $cell {
                u32::try_from(by).ok().and_then(|by| self.checked_shl(by)).unwrap_or(0)
            }
            #[inline]
            fn shift_right(self, by: $cell) -> $cell {
                let $x = self;
                u32::try_from(by).ok().and_then(|by| self.checked_shr(by)).unwrap_or($fill)
            }
            #[inline]
            fn sign(self) -> $cell {
                let $x = self;
                $sign
            }
            #[inline]
            fn magnitude(self) -> $cell {
                let $x = self;
                $magnitude
            }
            #[inline]
            fn count_ones(self) -> $cell {
                <$cell>::count_ones(self) as $cell
            }
            #[inline]
            fn leading_zeros(self) -> $cell {
                <$cell>::leading_zeros(self) as $cell
            }
        }
    )*};
}

integers! {
    i8, |x| x.signum(), x.wrapping_abs(), x >> 7;
    u8, |x| u8::from(x != 0), x, { let _ = x; 0 };
    i32, |x| x.signum(), x.wrapping_abs(), x >> 31;
    u32, |x| u32::from(x != 0), x, { let _ = x; 0 };
    i64, |x| x.signum(), x.wrapping_abs(), x >> 63;
}

/// The functions of floats that the standard library does not have, or has with other edges.
pub(super) trait Real: Copy {
    /// -1 or 1; keeps ±0 and NaN.
    fn sign(self) -> Self;
    /// Whether it is negative or -0; false for NaN.
    fn sign_bit(self) -> bool;
    /// The error function.
    fn erf(self) -> Self;
    /// 1 less the error function.
    fn erfc(self) -> Self;
    /// Inverse hyperbolic sine.
    fn asinh(self) -> Self;
    /// Inverse hyperbolic cosine.
    fn acosh(self) -> Self;
    /// Inverse hyperbolic tangent.
    fn atanh(self) -> Self;
    /// Inverse of the error function.
    fn erfinv(self) -> Self;
    /// Logarithm of the absolute value of the gamma function.
    fn lgamma(self) -> Self;
    /// Derivative of the logarithm of the gamma function.
    fn digamma(self) -> Self;
    /// The exact quotient rounded towards minus infinity.
    fn quotient_floor(self, by: Self) -> Self;
    /// Remainder with the sign of `by`.
    fn remainder_floor(self, by: Self) -> Self;
}

macro_rules! reals {
    ($($real:ty, $erf:path, $erfc:path, $asinh:path, $acosh:path, $atanh:path;)*) => {$(
        impl Real for $real {
            #[inline]
            fn sign(self) -> $real {
                if self == 0.0 || self.is_nan() { self } else { <$real>::copysign(1.0, self) }
            }

            #[inline]
            fn sign_bit(self) -> bool {
                self.is_sign_negative() && !self.is_nan()
            }

            #[inline]
            fn erf(self) -> $real {
                $erf(self)
            }

            #[inline]
            fn erfc(self) -> $real {
                $erfc(self)
            }

            #[inline]
            fn asinh(self) -> $real {
                $asinh(self)
            }

            #[inline]
            fn acosh(self) -> $real {
                // The crate's gives numbers for some of -4096..-2.
                if self < 1.0 { <$real>::NAN } else { $acosh(self) }
            }

            #[inline]
            fn atanh(self) -> $real {
                $atanh(self)
            }

            #[inline]
            fn erfinv(self) -> $real {
                special::erfinv(f64::from(self)) as $real
            }

            #[inline]
            fn lgamma(self) -> $real {
                special::lgamma(f64::from(self)) as $real
            }

            #[inline]
            fn digamma(self) -> $real {
                special::digamma(f64::from(self)) as $real
            }

            /// As Python and NumPy: from the exact remainder, so that `1 // 0.1` is 9 though `1 / 0.1` rounds to 10;
            /// -1 // inf is -1 and inf // x is NaN. By zero it is `a / b`.
            #[inline]
            fn quotient_floor(self, by: $real) -> $real {
                if by == 0.0 {
                    return self / by;
                }
                let rest = self % by;
                let mut quotient = (self - rest) / by;
                if rest != 0.0 && (rest < 0.0) != (by < 0.0) {
                    quotient -= 1.0;
                }
                if quotient == 0.0 {
                    return <$real>::copysign(0.0, self / by);
                }
                // `quotient` is an integer but for rounding.
                let floor = quotient.floor();
                if quotient - floor > 0.5 { floor + 1.0 } else { floor }
            }

            /// As Python and NumPy: zero takes the sign of `by`, -1 % inf is inf, by zero it is NaN.
            #[inline]
            fn remainder_floor(self, by: $real) -> $real {
                let rest = self % by;
                if rest == 0.0 {
                    <$real>::copysign(0.0, by)
                } else if (rest < 0.0) != (by < 0.0) {
                    rest + by
                } else {
                    rest
                }
            }
        }
    )*};
}

reals! {
    f32, libm::erff, libm::erfcf, libm::asinhf, libm::acoshf, libm::atanhf;
    f64, libm::erf, libm::erfc, libm::asinh, libm::acosh, libm::atanh;
}

/// Floats beside a float of their own dtype.
pub(super) trait Neighbours: Cell {
    /// The next value towards `other`: `other` where equal, NaN if either is.
    fn next_after(self, other: Self) -> Self;
}

macro_rules! neighbours {
    ($($cell:ty)*) => {$(
        impl Neighbours for $cell {
            #[inline]
            fn next_after(self, other: $cell) -> $cell {
                if self.is_nan() || other.is_nan() {
                    return <$cell>::NAN;
                }
                let zero = <$cell>::from_bits(0);
                if self == other {
                    other
                } else if self == zero {
                    let least = <$cell>::from_bits(1);
                    if other > zero { least } else { -least }
                } else if (self < other) == (self > zero) {
                    // The numbers of one sign are in the order of their bits.
                    <$cell>::from_bits(self.to_bits() + 1)
                } else {
                    <$cell>::from_bits(self.to_bits() - 1)
                }
            }
        }
    )*};
}

neighbours! { f16 bf16 f32 f64 }
