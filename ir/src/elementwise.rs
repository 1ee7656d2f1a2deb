//! The table of element-wise ops: one row an op, from which enum, names, typing and CUDA spelling follow.
//!
//! What a row computes on the host is one arm in `interp/elementwise.rs`; those two places are all there is to add.

use crate::DType;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The dtypes that an element-wise op takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// `f16`, `bf16`, `f32`, `f64`.
    Float,
    /// Integers.
    Integer,
    /// Floats and integers.
    Number,
    /// Integers and `bool`.
    Bits,
    /// Everything.
    Any,
}

impl Domain {
    /// Whether the op takes that dtype.
    pub const fn contains(self, dtype: DType) -> bool {
        match self {
            Domain::Float => dtype.is_float(),
            Domain::Integer => dtype.is_integer(),
            Domain::Number => dtype.is_float() || dtype.is_integer(),
            Domain::Bits => dtype.is_integer() || matches!(dtype, DType::Bool),
            Domain::Any => true,
        }
    }

    /// In words, for messages.
    pub const fn describe(self) -> &'static str {
        match self {
            Domain::Float => "a float dtype (f16, bf16, f32, f64)",
            Domain::Integer => "an integer dtype (i8, u8, i32, u32, i64)",
            Domain::Number => "a number (a float or an integer dtype)",
            Domain::Bits => "an integer dtype or bool",
            Domain::Any => "any dtype",
        }
    }
}

macro_rules! elementwise {
    ($($(#[doc = $doc:literal])+ $variant:ident $name:literal $arity:literal $domain:ident $result:ident $cuda:literal;)*) => {
        /// An op that computes each element of its result from the elements at the same index of its operands.
        ///
        /// All operands have one dtype and one shape; broadcasting is an op of its own.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Elementwise { $($(#[doc = $doc])+ $variant,)* }

        impl Elementwise {
            /// Every row of the table, in its order.
            pub const ALL: &'static [Elementwise] = &[$(Elementwise::$variant),*];

            /// The name in the textual form.
            pub const fn name(self) -> &'static str {
                match self { $(Elementwise::$variant => $name,)* }
            }

            /// Number of operands.
            pub const fn arity(self) -> usize {
                match self { $(Elementwise::$variant => $arity,)* }
            }

            /// Dtypes of the operands.
            pub const fn domain(self) -> Domain {
                match self { $(Elementwise::$variant => Domain::$domain,)* }
            }

            /// Dtype of the result for operands of `dtype`.
            pub const fn result(self, dtype: DType) -> DType {
                match self { $(Elementwise::$variant => elementwise!(@result $result dtype),)* }
            }

            /// What it computes, in one line.
            pub const fn doc(self) -> &'static str {
                match self { $(Elementwise::$variant => concat!($($doc, " "),+),)* }
            }

            /// The CUDA C++ expression, `$0` and `$1` standing for the operands and `$t` for the name of their dtype.
            ///
            /// Functions named `mg_…` are overloads of the kernel prelude, for `float`, `double` and each integer
            /// type; `f16` and `bf16` are computed in `float` and rounded.
            pub const fn cuda(self) -> &'static str {
                match self { $(Elementwise::$variant => $cuda,)* }
            }
        }
    };
    (@result same $dtype:ident) => { $dtype };
    (@result bool $dtype:ident) => { DType::Bool };
}

elementwise! {
    /// `-x`; wraps.
    Neg "neg" 1 Number same "mg_neg($0)";
    /// Absolute value; `MIN` of a signed integer stays `MIN`.
    Abs "abs" 1 Number same "mg_abs($0)";
    /// -1, 0 or 1; keeps the sign of zero and NaN.
    Sign "sign" 1 Number same "mg_sign($0)";
    /// `e^x`.
    Exp "exp" 1 Float same "mg_exp($0)";
    /// `e^x - 1`, accurate near 0.
    Expm1 "expm1" 1 Float same "mg_expm1($0)";
    /// Natural logarithm.
    Log "log" 1 Float same "mg_log($0)";
    /// `ln(1 + x)`, accurate near 0.
    Log1p "log1p" 1 Float same "mg_log1p($0)";
    /// Square root, correctly rounded.
    Sqrt "sqrt" 1 Float same "mg_sqrt($0)";
    /// `1 / sqrt(x)`: the quotient of the correctly rounded root.
    Rsqrt "rsqrt" 1 Float same "mg_rsqrt($0)";
    /// Sine of radians.
    Sin "sin" 1 Float same "mg_sin($0)";
    /// Cosine of radians.
    Cos "cos" 1 Float same "mg_cos($0)";
    /// Hyperbolic tangent.
    Tanh "tanh" 1 Float same "mg_tanh($0)";
    /// The Gauss error function.
    Erf "erf" 1 Float same "mg_erf($0)";
    /// `2^x`.
    Exp2 "exp2" 1 Float same "mg_exp2($0)";
    /// Logarithm to base 2.
    Log2 "log2" 1 Float same "mg_log2($0)";
    /// Logarithm to base 10.
    Log10 "log10" 1 Float same "mg_log10($0)";
    /// Cube root, of negative numbers too.
    Cbrt "cbrt" 1 Float same "mg_cbrt($0)";
    /// Tangent of radians.
    Tan "tan" 1 Float same "mg_tan($0)";
    /// Arc sine in radians; NaN outside of -1..1.
    Asin "asin" 1 Float same "mg_asin($0)";
    /// Arc cosine in radians, in 0..π; NaN outside of -1..1.
    Acos "acos" 1 Float same "mg_acos($0)";
    /// Arc tangent in radians, in ±π/2.
    Atan "atan" 1 Float same "mg_atan($0)";
    /// Hyperbolic sine.
    Sinh "sinh" 1 Float same "mg_sinh($0)";
    /// Hyperbolic cosine.
    Cosh "cosh" 1 Float same "mg_cosh($0)";
    /// Inverse hyperbolic sine.
    Asinh "asinh" 1 Float same "mg_asinh($0)";
    /// Inverse hyperbolic cosine; NaN below 1.
    Acosh "acosh" 1 Float same "mg_acosh($0)";
    /// Inverse hyperbolic tangent; ±inf at ±1, NaN outside of -1..1.
    Atanh "atanh" 1 Float same "mg_atanh($0)";
    /// `1 - erf(x)`, accurate where that is near 0.
    Erfc "erfc" 1 Float same "mg_erfc($0)";
    /// Inverse of `erf`, equal bits on every device; ±inf at ±1, NaN outside of -1..1.
    Erfinv "erfinv" 1 Float same "mg_erfinv($0)";
    /// Logarithm of the absolute value of the gamma function, equal bits on every device; inf at 0, at negative
    /// integers and at ±inf.
    Lgamma "lgamma" 1 Float same "mg_lgamma($0)";
    /// Derivative of the logarithm of the gamma function, equal bits on every device; ∓inf at ±0, NaN at negative
    /// integers and at -inf.
    Digamma "digamma" 1 Float same "mg_digamma($0)";
    /// Greatest integer not above `x`.
    Floor "floor" 1 Float same "mg_floor($0)";
    /// Smallest integer not below `x`.
    Ceil "ceil" 1 Float same "mg_ceil($0)";
    /// Nearest integer, halves to even.
    Round "round" 1 Float same "mg_round($0)";
    /// Integer part, towards zero.
    Trunc "trunc" 1 Float same "mg_trunc($0)";
    /// Whether `x` is NaN.
    IsNan "is_nan" 1 Float bool "mg_is_nan($0)";
    /// Whether `x` is an infinity.
    IsInf "is_inf" 1 Float bool "mg_is_inf($0)";
    /// Whether `x` is neither NaN nor an infinity.
    IsFinite "is_finite" 1 Float bool "mg_is_finite($0)";
    /// Whether `x` is negative or -0. False for NaN, the sign of which devices choose.
    SignBit "sign_bit" 1 Float bool "mg_sign_bit($0)";
    /// Number of bits that are 1.
    CountOnes "count_ones" 1 Integer same "mg_count_ones($0)";
    /// Number of 0 bits above the highest 1, at the dtype's width; all bits for 0.
    LeadingZeros "leading_zeros" 1 Integer same "mg_leading_zeros($0)";
    /// Every bit inverted; logical not for `bool`.
    Not "not" 1 Bits same "mg_not($0)";
    /// `a + b`; wraps.
    Add "add" 2 Number same "mg_add($0, $1)";
    /// `a - b`; wraps.
    Sub "sub" 2 Number same "mg_sub($0, $1)";
    /// `a * b`; wraps.
    Mul "mul" 2 Number same "mg_mul($0, $1)";
    /// `a / b`; integers truncate, `x / 0` is all ones, `MIN / -1` is `MIN`.
    Div "div" 2 Number same "mg_div($0, $1)";
    /// Remainder with the sign of `a`; integers: `x % 0` is `x`, `MIN % -1` is 0.
    Rem "rem" 2 Number same "mg_rem($0, $1)";
    /// Quotient rounded towards minus infinity; by zero as `div`.
    DivFloor "div_floor" 2 Number same "mg_div_floor($0, $1)";
    /// Remainder with the sign of `b`; by zero as `rem`.
    ModFloor "mod_floor" 2 Number same "mg_mod_floor($0, $1)";
    /// `a` to the power of `b`, as C's `pow`.
    Pow "pow" 2 Float same "mg_pow($0, $1)";
    /// Angle of the point (`b`, `a`) in radians.
    Atan2 "atan2" 2 Float same "mg_atan2($0, $1)";
    /// `sqrt(a² + b²)` without overflow or underflow on the way; inf if either operand is ±inf, even beside NaN.
    Hypot "hypot" 2 Float same "mg_hypot($0, $1)";
    /// The magnitude of `a` with the sign of `b`, also that of a zero; plus where `b` is NaN.
    Copysign "copysign" 2 Float same "mg_copysign($0, $1)";
    /// The next value of the dtype from `a` towards `b`; `b` where they are equal, NaN if either is.
    Nextafter "nextafter" 2 Float same "mg_nextafter_$t($0, $1)";
    /// The greater; NaN if either is, `max(-0, +0)` is `+0`.
    Maximum "maximum" 2 Any same "mg_maximum($0, $1)";
    /// The smaller; NaN if either is, `min(-0, +0)` is `-0`.
    Minimum "minimum" 2 Any same "mg_minimum($0, $1)";
    /// Bitwise (for `bool` logical) and.
    And "and" 2 Bits same "mg_and($0, $1)";
    /// Bitwise (for `bool` logical) or.
    Or "or" 2 Bits same "mg_or($0, $1)";
    /// Bitwise (for `bool` logical) exclusive or.
    Xor "xor" 2 Bits same "mg_xor($0, $1)";
    /// `a << b`; 0 where `b` is not in `0..bits`.
    Shl "shl" 2 Integer same "mg_shl($0, $1)";
    /// `a >> b`, arithmetic for signed integers; the sign's fill where `b` is not in `0..bits`.
    Shr "shr" 2 Integer same "mg_shr($0, $1)";
    /// `a == b`; false for NaN.
    Eq "eq" 2 Any bool "($0 == $1)";
    /// `a != b`; true for NaN.
    Ne "ne" 2 Any bool "($0 != $1)";
    /// `a < b`; false for NaN.
    Lt "lt" 2 Any bool "($0 < $1)";
    /// `a <= b`; false for NaN.
    Le "le" 2 Any bool "($0 <= $1)";
    /// `a > b`; false for NaN.
    Gt "gt" 2 Any bool "($0 > $1)";
    /// `a >= b`; false for NaN.
    Ge "ge" 2 Any bool "($0 >= $1)";
}

impl Elementwise {
    /// The row of that name.
    pub fn from_name(name: &str) -> Option<Elementwise> {
        Elementwise::ALL.iter().copied().find(|e| e.name() == name)
    }

    /// Whether devices may differ by some units in the last place of floats, each having a function of its own.
    pub const fn is_approximate(self) -> bool {
        use Elementwise::*;
        matches!(
            self,
            Exp | Expm1
                | Log
                | Log1p
                | Sin
                | Cos
                | Tanh
                | Erf
                | Exp2
                | Log2
                | Log10
                | Cbrt
                | Tan
                | Asin
                | Acos
                | Atan
                | Sinh
                | Cosh
                | Asinh
                | Acosh
                | Atanh
                | Erfc
                | Pow
                | Atan2
                | Hypot
        )
    }

    /// Whether `op(a, b) == op(b, a)` to the bit, for every dtype of the domain (NaN payloads aside).
    pub const fn is_commutative(self) -> bool {
        matches!(
            self,
            Elementwise::Add
                | Elementwise::Mul
                | Elementwise::Maximum
                | Elementwise::Minimum
                | Elementwise::And
                | Elementwise::Or
                | Elementwise::Xor
                | Elementwise::Eq
                | Elementwise::Ne
        )
    }
}

impl fmt::Display for Elementwise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
