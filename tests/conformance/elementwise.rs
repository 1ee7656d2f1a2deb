//! The functions of one element: bits, halves, casts, arithmetic.

use crate::probe::{Bound, Set};
use crate::values::{all_of_16_bits, beside_the_edges, operands};
use monograph::DType;

const FLOATS: [DType; 2] = [DType::F32, DType::F64];
const INTEGERS: [DType; 5] = [DType::I8, DType::U8, DType::I32, DType::U32, DType::I64];

/// Bits, and the 16-bit floats in both directions: all of their values, and what they are rounded from.
pub(crate) fn bits_and_halves() -> Vec<Set> {
    let mut sets = Vec::new();
    let mut bits = Set::new("bits", [operands(DType::F32), operands(DType::F64), operands(DType::U32)].concat());
    let u64s = DType::I64;
    bits.each(&[0], DType::U32, "mg_bits(a)", Bound::Exact);
    bits.each(&[3], u64s, "(long long)mg_bits(a)", Bound::Exact);
    bits.each(&[6], DType::F32, "mg_f32_of_bits(a)", Bound::Exact);
    bits.each(&[3], DType::F64, "mg_f64_of_bits(mg_bits(a))", Bound::Exact);
    bits.each(&[0], DType::Bool, "mg_negative(a)", Bound::Exact);
    bits.each(&[3], DType::Bool, "mg_negative(a)", Bound::Exact);
    for (name, dtype) in [("f16", DType::F16), ("bf16", DType::BF16)] {
        bits.each(&[0], dtype, &format!("mg_to_{name}_bits(a)"), Bound::Exact);
        bits.each(&[1], DType::F32, &format!("mg_round_{name}(a)"), Bound::Exact);
        let mut all = Set::new("halves", vec![all_of_16_bits(dtype)]);
        // The operand is converted by mg_from_f16 or mg_from_bf16 where it is loaded.
        all.each(&[0], DType::F32, "a", Bound::Exact);
        all.each(&[0], dtype, &format!("mg_to_{name}_bits(a)"), Bound::Exact);
        sets.push(all);
    }
    sets.push(bits);
    sets
}

/// Every cast from every type.
pub(crate) fn casts() -> Vec<Set> {
    let each = |from: DType| {
        let mut set = Set::new("casts", operands(from));
        for (name, to) in [
            ("bool", DType::Bool),
            ("i8", DType::I8),
            ("u8", DType::U8),
            ("i32", DType::I32),
            ("u32", DType::U32),
            ("i64", DType::I64),
            ("f32", DType::F32),
            ("f64", DType::F64),
            ("f16", DType::F32),
            ("bf16", DType::F32),
        ] {
            set.each(&[0], to, &format!("mg_cast_{name}(a)"), Bound::Exact);
        }
        if matches!(from, DType::F64 | DType::I64) {
            set.each(&[0], DType::F32, "mg_round_odd(a)", Bound::Exact);
        }
        if matches!(from, DType::I32 | DType::U32 | DType::I64) {
            set.each(&[0], DType::I32, "mg_opaque((int)a)", Bound::Exact);
            let limited = "mg_cast_u8(mg_minimum(mg_maximum(a, b), c)) == (unsigned char)255";
            set.each(&[0, 1, 2], DType::Bool, limited, Bound::Exact);
            let limited = "mg_cast_u8(a < 0 ? 0 : a > 255 ? 255 : a) == (unsigned char)255";
            set.each(&[0], DType::Bool, limited, Bound::Exact);
        }
        // Limits and comparisons with them are simplified together by the compilers.
        for (name, limit) in [
            ("u8", "(unsigned char)255"),
            ("u8", "(unsigned char)0"),
            ("i8", "(signed char)127"),
            ("i8", "(signed char)-128"),
        ] {
            set.each(&[0], DType::Bool, &format!("mg_cast_{name}(a) == {limit}"), Bound::Exact);
        }
        set
    };
    FLOATS.into_iter().chain(INTEGERS).chain([DType::Bool]).map(each).collect()
}

/// Functions of floats.
pub(crate) fn floats() -> Vec<Set> {
    let each = |dtype: DType| {
        let mut set = Set::new("floats", operands(dtype));
        for name in ["neg", "abs", "sign", "sqrt", "rsqrt", "floor", "ceil", "round", "trunc"] {
            set.each(&[0], dtype, &format!("mg_{name}(a)"), Bound::Exact);
        }
        for name in ["exp", "expm1", "log", "log1p", "sin", "cos", "tanh", "erf"] {
            set.each(&[0], dtype, &format!("mg_{name}(a)"), Bound::Ulps(4.0));
        }
        // The greatest errors that CUDA's manual gives, and one unit for the function of the host, but four for the cubic
        // root of f64, which glibc has no better.
        let approximate = [
            ("exp2", [3.0, 2.0]),
            ("log2", [2.0, 2.0]),
            ("log10", [3.0, 2.0]),
            ("cbrt", [2.0, 5.0]),
            ("tan", [5.0, 3.0]),
            ("asin", [3.0, 3.0]),
            ("acos", [3.0, 3.0]),
            ("atan", [3.0, 3.0]),
            ("sinh", [4.0, 3.0]),
            ("cosh", [3.0, 2.0]),
            ("asinh", [4.0, 4.0]),
            ("acosh", [5.0, 4.0]),
            ("atanh", [4.0, 3.0]),
            ("erfc", [5.0, 6.0]),
        ];
        for (name, [single, double]) in approximate {
            let bound = Bound::Ulps(if dtype == DType::F32 { single } else { double });
            set.each(&[0], dtype, &format!("mg_{name}(a)"), bound);
        }
        set.each(&[0, 1], dtype, "mg_hypot(a, b)", Bound::Ulps(if dtype == DType::F32 { 4.0 } else { 3.0 }));
        for name in ["is_nan", "is_finite", "is_inf", "sign_bit"] {
            set.each(&[0], DType::Bool, &format!("mg_{name}(a)"), Bound::Exact);
        }
        for name in ["add", "sub", "mul", "div", "rem", "div_floor", "mod_floor", "copysign", "maximum", "minimum"] {
            set.each(&[0, 1], dtype, &format!("mg_{name}(a, b)"), Bound::Exact);
        }
        set.each(&[0, 1], dtype, "mg_atan2(a, b)", Bound::Ulps(4.0));
        set.each(&[0, 1], dtype, "mg_pow(a, b)", Bound::Ulps(16.0));
        set.each(&[0, 1, 2], dtype, "mg_fma(a, b, c)", Bound::Exact);
        for name in ["argmax", "argmin"] {
            set.each(&[0, 1], DType::Bool, &format!("mg_{name}_before(a, i % 3, b, i % 2)"), Bound::Exact);
        }
        set
    };
    FLOATS.into_iter().map(each).collect()
}

/// The functions that are written out, of operations that all devices round alike, and what they are made of.
pub(crate) fn special() -> Vec<Set> {
    let mut sets = Vec::new();
    for dtype in FLOATS {
        let mut set = Set::new("special", [operands(dtype), beside_the_edges(dtype)].concat());
        for name in ["erfinv", "lgamma", "digamma"] {
            for operand in [0, 1, 3] {
                set.each(&[operand], dtype, &format!("mg_{name}(a)"), Bound::Exact);
            }
        }
        set.each(&[0, 1], dtype, &format!("mg_nextafter_{dtype}(a, b)"), Bound::Exact);
        if dtype == DType::F64 {
            for name in ["ln", "sin_pi", "lgamma_at_2", "lgamma_above", "digamma_above"] {
                set.each(&[3], dtype, &format!("mg_{name}(a)"), Bound::Exact);
            }
            let horner = "([&] { const double c[] = {0.5, -3.0, 0.25}; return mg_horner(c, a); })()";
            set.each(&[3], dtype, horner, Bound::Exact);
        }
        sets.push(set);
    }
    for (name, dtype) in [("f16", DType::F16), ("bf16", DType::BF16)] {
        let mut set = Set::new("neighbours", vec![all_of_16_bits(dtype)]);
        for towards in ["-1.0f", "0.0f", "mg_f32_of_bits(0x7f800000u)", "a"] {
            let next = format!("mg_to_{name}_bits(mg_nextafter_{name}(a, {towards}))");
            set.each(&[0], dtype, &next, Bound::Exact);
        }
        sets.push(set);
    }
    sets
}

/// Random words: every word of blocks of any state and offset.
pub(crate) fn random() -> Vec<Set> {
    let mut set = Set::new("random", operands(DType::I64));
    for word in 0..4 {
        set.each(&[0, 1, 2], DType::U32, &format!("mg_philox(a, b, c, i).x[{word}]"), Bound::Exact);
    }
    set.each(&[0, 1, 2], DType::U32, "mg_philox(a, b, c, b).x[0]", Bound::Exact);
    set.each(&[0, 1], DType::U32, "mg_word(mg_philox(a, b, 0, i / 4), i % 4)", Bound::Exact);
    vec![set]
}

/// Functions of integers and of bool.
pub(crate) fn integers() -> Vec<Set> {
    let each = |dtype: DType| {
        let mut set = Set::new("integers", operands(dtype));
        for name in ["neg", "abs", "sign", "count_ones", "leading_zeros", "not"] {
            set.each(&[0], dtype, &format!("mg_{name}(a)"), Bound::Exact);
        }
        for name in [
            "add",
            "sub",
            "mul",
            "div",
            "rem",
            "div_floor",
            "mod_floor",
            "shl",
            "shr",
            "and",
            "or",
            "xor",
            "maximum",
            "minimum",
        ] {
            set.each(&[0, 1], dtype, &format!("mg_{name}(a, b)"), Bound::Exact);
        }
        set.each(&[0, 1, 2], dtype, "mg_fma(a, b, c)", Bound::Exact);
        for name in ["argmax", "argmin"] {
            set.each(&[0, 1], DType::Bool, &format!("mg_{name}_before(a, i % 3, b, i % 2)"), Bound::Exact);
        }
        if matches!(dtype, DType::I32 | DType::I64) {
            set.each(
                &[0],
                dtype,
                &format!("mg_limit(a, ({})100)", monograph_compiler::codegen::storage(dtype)),
                Bound::Exact,
            );
        }
        set
    };
    let mut sets: Vec<Set> = INTEGERS.into_iter().map(each).collect();
    let mut truth = Set::new("truth", operands(DType::Bool));
    truth.each(&[0], DType::Bool, "mg_not(a)", Bound::Exact);
    for name in ["and", "or", "xor", "maximum", "minimum"] {
        truth.each(&[0, 1], DType::Bool, &format!("mg_{name}(a, b)"), Bound::Exact);
    }
    sets.push(truth);
    sets
}
