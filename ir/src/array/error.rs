//! What can be wrong with an array.

use crate::{DType, Spec};
use std::error::Error;
use std::sync::Arc;

/// Why an array could not be made or read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ArrayError {
    /// Another number of elements than the shape has.
    #[error("{spec} has {want} elements, but {have} were given")]
    Length {
        /// What was to be made.
        spec: Spec,
        /// Its number of elements.
        want: usize,
        /// The number of elements given.
        have: usize,
    },
    /// Another number of bytes than the spec has.
    #[error("{spec} has {want} bytes, but {have} were given")]
    ByteLength {
        /// What was to be made or read.
        spec: Spec,
        /// Its number of bytes.
        want: usize,
        /// The number of bytes given.
        have: usize,
    },
    /// The elements were asked for as another type than theirs.
    #[error("the array is {have}, but its elements were asked for as {want}; ask for {}", have.dtype)]
    Dtype {
        /// What the array is.
        have: Spec,
        /// The type asked for.
        want: DType,
    },
    /// The size in bytes does not fit in an `i64`.
    #[error("{spec} is too large: its size in bytes does not fit in an i64")]
    TooLarge {
        /// What was to be made.
        spec: Spec,
    },
    /// The host has not that much memory.
    #[error("the host could not allocate {bytes} bytes")]
    OutOfMemory {
        /// The bytes asked for.
        bytes: usize,
    },
    /// A single element was asked for, and there are none or several.
    #[error("the array is {spec}, which has not exactly one element; read it with `to_vec`")]
    NotScalar {
        /// What the array is.
        spec: Spec,
    },
    /// A `bool` that is neither 0 nor 1.
    #[error("element {index} is no bool: its byte is {byte}, and a bool is 0 or 1")]
    InvalidBool {
        /// Row-major index of the element.
        index: usize,
        /// Its byte.
        byte: u8,
    },
    /// The elements of an array on a device were asked for by reference.
    #[error("the array lies on {place}, so its elements cannot be borrowed; copy it with `host` or `to_vec`")]
    NotOnHost {
        /// Where the array lies.
        place: String,
    },
    /// The elements of a foreign storage are not aligned for their type.
    #[error("the storage of the array, {spec}, is not aligned for its elements; copy them with `to_vec`")]
    Misaligned {
        /// What the array is.
        spec: Spec,
    },
    /// The device that holds the array failed.
    #[error("the array could not be read from {place}")]
    Device {
        /// Where the array lies.
        place: String,
        /// What the device said.
        source: Arc<dyn Error + Send + Sync>,
    },
}
