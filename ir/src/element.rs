//! `Element`: the Rust types that are elements of tensors, one for each dtype.

use crate::{DType, Shape, Spec};
use bytemuck::{CheckedBitPattern, NoUninit};
use half::{bf16, f16};
use std::fmt::{Debug, Display};

mod sealed {
    /// Keeps `Element` to the ten types that have a dtype.
    pub trait Sealed {}
}

/// A Rust type whose values are elements of tensors.
///
/// It is implemented for `bool`, `i8`, `u8`, `i32`, `u32`, `i64`, [`half::f16`], [`half::bf16`], `f32` and `f64`, and
/// cannot be implemented elsewhere. With the trait in scope a spec is written `f32::spec([64, 784])`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type of tensors",
    label = "has no dtype",
    note = "the element types are bool, i8, u8, i32, u32, i64, half::f16, half::bf16, f32 and f64"
)]
pub trait Element:
    sealed::Sealed
    + Copy
    + Default
    + PartialEq
    + PartialOrd
    + Debug
    + Display
    + NoUninit
    + CheckedBitPattern
    + Send
    + Sync
    + 'static
{
    /// The dtype of tensors of this element.
    const DTYPE: DType;

    /// The spec of a tensor of this element: `f32::spec([64, 784])`, or `f32::spec([])` for a scalar.
    fn spec(shape: impl Into<Shape>) -> Spec {
        Spec::new(Self::DTYPE, shape)
    }

    /// The bytes of some elements in native byte order; a `bool` is a byte 0 or 1.
    fn as_bytes(values: &[Self]) -> &[u8] {
        bytemuck::cast_slice(values)
    }

    /// The elements whose bytes these are, without a copy; `None` where the address is not aligned for the type,
    /// where a part of an element remains, or where a byte of a `bool` is neither 0 nor 1.
    fn from_bytes(bytes: &[u8]) -> Option<&[Self]> {
        bytemuck::checked::try_cast_slice(bytes).ok()
    }

    /// The one element whose bytes these are, at any address; `None` where the number of bytes is not the size of
    /// the type, or where the byte of a `bool` is neither 0 nor 1.
    fn read(bytes: &[u8]) -> Option<Self> {
        bytemuck::checked::try_pod_read_unaligned(bytes).ok()
    }
}

macro_rules! elements {
    ($($element:ty => $dtype:ident),* $(,)?) => {$(
        impl sealed::Sealed for $element {}
        impl Element for $element {
            const DTYPE: DType = DType::$dtype;
        }
    )*};
}

elements! {
    bool => Bool,
    i8 => I8,
    u8 => U8,
    i32 => I32,
    u32 => U32,
    i64 => I64,
    f16 => F16,
    bf16 => BF16,
    f32 => F32,
    f64 => F64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_written_with_the_element() {
        assert_eq!(f32::spec([64, 784]).to_string(), "f32[64, 784]");
        assert_eq!(bf16::spec([]).to_string(), "bf16[]");
        assert_eq!(bool::spec(vec![2, 0]).to_string(), "bool[2, 0]");
    }

    #[test]
    fn dtype_and_type_agree_in_size() {
        fn check<T: Element>(name: &str) {
            assert_eq!(T::DTYPE.name(), name);
            assert_eq!(T::DTYPE.size(), size_of::<T>());
        }
        check::<bool>("bool");
        check::<i8>("i8");
        check::<u8>("u8");
        check::<i32>("i32");
        check::<u32>("u32");
        check::<i64>("i64");
        check::<f16>("f16");
        check::<bf16>("bf16");
        check::<f32>("f32");
        check::<f64>("f64");
    }

    #[test]
    fn bytes_of_bools_are_checked() {
        assert_eq!(bool::as_bytes(&[true, false]), [1, 0]);
        assert_eq!(bool::from_bytes(&[1, 0]), Some(&[true, false][..]));
        assert_eq!(bool::from_bytes(&[2]), None);
        assert_eq!(bool::read(&[3]), None);
        assert_eq!(i32::read(&[1, 0, 0]), None);
        assert_eq!(i32::read(&(-5i32).to_ne_bytes()), Some(-5));
    }
}
