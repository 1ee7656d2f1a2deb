//! How elements of each dtype are spelled in CUDA C++: in memory, in registers, and as literals.

use monograph_ir::{DType, Literal, Reduction};

/// The type of an element in memory.
pub const fn storage(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool | DType::U8 => "unsigned char",
        DType::I8 => "signed char",
        DType::I32 => "int",
        DType::U32 => "unsigned",
        DType::I64 => "long long",
        DType::F16 | DType::BF16 => "unsigned short",
        DType::F32 => "float",
        DType::F64 => "double",
    }
}

/// The type of an element in a register: `f16` and `bf16` are held as floats.
pub(super) const fn register(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::F16 | DType::BF16 => "float",
        _ => storage(dtype),
    }
}

/// The register's value of an element in memory.
pub(super) fn loaded(dtype: DType, raw: &str) -> String {
    match dtype {
        DType::Bool => format!("({raw} != 0)"),
        DType::F16 => format!("mg_from_f16({raw})"),
        DType::BF16 => format!("mg_from_bf16({raw})"),
        _ => raw.to_string(),
    }
}

/// The element in memory of a register's value.
pub(super) fn stored(dtype: DType, value: &str) -> String {
    match dtype {
        DType::Bool => format!("(unsigned char)({value})"),
        DType::F16 => format!("mg_to_f16_bits({value})"),
        DType::BF16 => format!("mg_to_bf16_bits({value})"),
        _ => value.to_string(),
    }
}

/// A register's value rounded to its dtype.
pub(super) fn rounded(dtype: DType, value: &str) -> String {
    match dtype {
        DType::F16 => format!("mg_round_f16({value})"),
        DType::BF16 => format!("mg_round_bf16({value})"),
        _ => value.to_string(),
    }
}

/// A literal as an expression of the register's type.
pub(super) fn literal(literal: Literal) -> String {
    match literal.dtype() {
        DType::Bool => (literal.bits() != 0).to_string(),
        DType::I8 => format!("(signed char)({})", literal.to_i64()),
        DType::U8 => format!("(unsigned char)({})", literal.to_i64()),
        DType::I32 if literal.to_i64() == i64::from(i32::MIN) => "(-2147483647 - 1)".into(),
        DType::I32 => signed(literal.to_i64(), ""),
        DType::U32 => format!("{}u", literal.to_i64()),
        DType::I64 if literal.to_i64() == i64::MIN => "(-9223372036854775807ll - 1)".into(),
        DType::I64 => signed(literal.to_i64(), "ll"),
        DType::F16 | DType::BF16 | DType::F32 => {
            let value = literal.to_f64() as f32;
            if value.is_finite() {
                float(format!("{value:?}f"))
            } else {
                format!("mg_f32_of_bits({:#x}u)", value.to_bits())
            }
        }
        DType::F64 => {
            let value = literal.to_f64();
            if value.is_finite() {
                float(format!("{value:?}"))
            } else {
                format!("mg_f64_of_bits({:#x}ull)", value.to_bits())
            }
        }
    }
}

fn signed(value: i64, suffix: &str) -> String {
    float(format!("{value}{suffix}"))
}

/// In parentheses where it begins with a sign.
fn float(text: String) -> String {
    if text.starts_with('-') { format!("({text})") } else { text }
}

/// The value that a reduction starts from: combined with any element it gives that element.
pub(crate) fn identity(kind: Reduction, dtype: DType) -> Literal {
    if let Some(identity) = kind.identity(dtype) {
        return identity;
    }
    let lowest = matches!(kind, Reduction::Max);
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
            Literal::from_f64(dtype, if lowest { f64::NEG_INFINITY } else { f64::INFINITY })
        }
        DType::Bool => Literal::from_bits(dtype, u64::from(!lowest)),
        // Saturates at the dtype's own limits.
        DType::I64 => Literal::from_i64(dtype, if lowest { i64::MIN } else { i64::MAX }),
        DType::I8 | DType::U8 | DType::I32 | DType::U32 => {
            Literal::from_f64(dtype, if lowest { f64::NEG_INFINITY } else { f64::INFINITY })
        }
    }
}
