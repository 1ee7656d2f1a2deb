//! The first elements of a tensor, for people and for JSON.

use half::{bf16, f16};
use monograph_ir::{Array, ArrayError, DType, Element};
use serde_json::Value;

/// Elements that people are shown.
const SHOWN: usize = 6;
/// The most elements that JSON carries.
const CARRIED: usize = 64;

/// The first elements in one line: a number for a scalar, `[1.0, 2.0, …]` for others.
///
/// # Errors
/// A device that cannot be read.
pub(crate) fn line(array: &Array) -> Result<String, ArrayError> {
    let elements = first(array, SHOWN)?;
    let text: Vec<String> = elements.iter().map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_string)).collect();
    Ok(match array.shape().rank() {
        0 => text.join(""),
        _ if array.elements() > SHOWN => format!("[{}, …]", text.join(", ")),
        _ => format!("[{}]", text.join(", ")),
    })
}

/// All elements, row-major, of a tensor with few; numbers that JSON has not are strings: `"NaN"`, `"inf"`.
///
/// # Errors
/// A device that cannot be read.
pub(crate) fn values(array: &Array) -> Result<Option<Value>, ArrayError> {
    let few = array.elements() <= CARRIED;
    if few { first(array, CARRIED).map(|elements| Some(Value::Array(elements))) } else { Ok(None) }
}

fn first(array: &Array, count: usize) -> Result<Vec<Value>, ArrayError> {
    fn take<T: Element>(array: &Array, count: usize, to: impl Fn(T) -> Value) -> Result<Vec<Value>, ArrayError> {
        let bytes = array.bytes()?;
        let elements = bytes.chunks_exact(size_of::<T>()).take(count);
        Ok(elements.map(|b| T::read(b).map_or(Value::Null, &to)).collect())
    }
    // A float is written with the digits of its own type: 0.1, not 0.10000000149011612.
    let float = |x: f64, text: String| match x.is_finite() {
        true => text.parse::<f64>().map_or(Value::Null, Value::from),
        false => Value::from(text),
    };
    match array.dtype() {
        DType::Bool => take::<bool>(array, count, Value::from),
        DType::I8 => take::<i8>(array, count, Value::from),
        DType::U8 => take::<u8>(array, count, Value::from),
        DType::I32 => take::<i32>(array, count, Value::from),
        DType::U32 => take::<u32>(array, count, Value::from),
        DType::I64 => take::<i64>(array, count, Value::from),
        DType::F16 => take::<f16>(array, count, |x| float(x.into(), x.to_string())),
        DType::BF16 => take::<bf16>(array, count, |x| float(x.into(), x.to_string())),
        DType::F32 => take::<f32>(array, count, |x| float(x.into(), x.to_string())),
        DType::F64 => take::<f64>(array, count, |x| float(x, x.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_elements_are_shown_with_their_own_digits() {
        let x = Array::new([3], vec![0.1f32, f32::NAN, f32::NEG_INFINITY]).unwrap();
        assert_eq!(line(&x).unwrap(), "[0.1, NaN, -inf]");
        assert_eq!(values(&x).unwrap().unwrap().to_string(), r#"[0.1,"NaN","-inf"]"#);
        assert_eq!(line(&Array::scalar(7i64)).unwrap(), "7");
        assert_eq!(line(&Array::new([0], Vec::<f32>::new()).unwrap()).unwrap(), "[]");
        assert_eq!(line(&Array::new([7], vec![1u8; 7]).unwrap()).unwrap(), "[1, 1, 1, 1, 1, 1, …]");
        assert!(values(&Array::new([65], vec![true; 65]).unwrap()).unwrap().is_none());
    }
}
