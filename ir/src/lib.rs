//! The IR of Monograph, and every type that its other crates share.
//!
//! # The specification
//!
//! A [`Graph`] is a function over tensors in static single assignment form. Its nodes apply an [`Op`] to values; a
//! node has none, one or several results, and a value ([`ValueId`]) is one result of one node. Operands come before
//! users, so index order is a topological order. Every value has a [`Type`]: a dtype and a static shape, or, in
//! programs that will be rejected, a dtype and a shape that depends on data.
//!
//! - **Dtypes** ([`DType`]): no op promotes; both sides of a binary op have one dtype.
//! - **Shapes** ([`Shape`]) are row-major; element-wise ops take equal shapes, and broadcasting is an op.
//! - **Purity**: the same operands give the same results. State is a parameter and an output of one call: the old
//!   value comes in, the new one goes out, and what lies in between is pure.
//! - **Rounding**: each f16 or bf16 value is rounded when it is made; sums and products of them accumulate in f32.
//! - **Edges of the numbers**: each op's documentation says what NaN, signed zeros, overflow, division by zero,
//!   indices outside and empty extents give. [`interp`] is the reference.
//! - **Regions**: `cond`, `while_loop` and `fori_loop` hold graphs of their own; nothing is captured, what a body
//!   needs is an operand.
//!
//! [`infer`] is the one place that types an op; [`verify`] checks a whole graph; [`text`] prints and parses it;
//! [`plan`] is what a graph is compiled to. This crate does no I/O, knows no GPU, and has no `unsafe`.

#![forbid(unsafe_code)]

pub mod array;
pub mod diagnostic;
mod dtype;
mod element;
mod elementwise;
mod error;
mod finding;
mod graph;
mod infer;
pub mod interp;
mod literal;
mod op;
mod origin;
pub mod philox;
pub mod plan;
pub mod rounding;
mod shape;
mod target;
#[doc(hidden)]
pub mod testing;
pub mod text;
mod toolchain;
pub mod tree;
mod verify;
mod windows;

pub use array::{AlignedBytes, Array, ArrayError, Storage, StorageId};
pub use diagnostic::{Code, Diagnostic, Note};
pub use dtype::{DType, UnknownDType};
pub use element::Element;
pub use elementwise::{Domain, Elementwise};
pub use error::{DeviceError, DeviceErrorKind, Error};
pub use finding::{
    AccessKind, Finding, FindingKind, InnerLine, KernelLine, KernelThread, MemoryKind, MemoryPlace, OtherAccess, Touch,
    Wait,
};
pub use graph::{Binding, Graph, Node, NodeId, Output, OutputKind, Param, ParamKind, Type, ValueId, ValueMap};
pub use infer::{InferError, Types, infer};
pub use literal::Literal;
pub use op::{Amounts, Axes, DynamicOp, Extreme, HostOp, Op, Reduction, Region, ScatterKind};
pub use origin::Origin;
pub use shape::{Shape, Spec};
pub use target::Target;
pub use toolchain::{Binary, Measure, Resources, Toolchain};
pub use tree::{
    Bind, ConversionError, Data, Difference, Entry, Form, HasSpec, InputSpec, Key, KeyPart, Leaf, Outputs, Path,
    Returned, Scalar, Segment, Signature, Source, Tree, leaves, map, paths, try_map,
};
pub use verify::{VerifyError, verify};
pub use windows::{Windows, dilated};
