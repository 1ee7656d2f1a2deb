//! See `ARCHITECTURE.md`.
#![forbid(unsafe_code)]

mod array;
mod dtype;
mod element;
mod shape;
mod tree;

pub use array::{AlignedBytes, Array, ArrayError, Storage, StorageId};
pub use dtype::{DType, UnknownDType};
pub use element::Element;
pub use shape::{Shape, Spec};
pub use tree::{
    Bind, Binding, ConversionError, Data, Difference, Entry, Form, HasSpec, InputSpec, Key, KeyPart, Leaf, Outputs,
    Path, Scalar, Segment, Signature, Source, Tree, leaves, map, paths, try_map,
};
