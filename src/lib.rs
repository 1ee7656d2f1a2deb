//! Monograph turns a Rust function over tensors into one CUDA graph and replays it in one launch.
//!
//! A function over [`Tensor`]s is traced once, checked, and compiled into kernels and an explicitly built CUDA graph
//! (no stream capture). Replaying it with new inputs costs one launch. Where there is no GPU, the host runs the same
//! plan through the reference interpreter.
//!
//! ```
//! use monograph::prelude::*;
//!
//! # fn main() -> monograph::Result<()> {
//! let program = trace(|(x, y)| (x * 2.0 + y).relu(), (f32::spec([3]), f32::spec([3])))?;
//! let mut exe = Device::host().compile(&program)?;
//! let x = Array::from_slice([3], &[1.0f32, -2.0, 3.0])?;
//! let y = Array::from_slice([3], &[0.5f32, 0.5, 0.5])?;
//! let out = exe.replay((&x, &y))?;
//! assert_eq!(out.to_vec::<f32>()?, [2.5, 0.0, 6.5]);
//! # Ok(())
//! # }
//! ```
//!
//! What changes at each replay is an input; what stays is captured or passed to [`trace_with`]; what a step updates
//! is state ([`trace_step`]) and stays on the device. Shapes are static. What a CUDA graph cannot hold, such as a
//! shape that depends on data, is an error that points at the line and names an alternative.

#![forbid(unsafe_code)]

// So that `#[derive(Tree)]` works inside this crate too.
extern crate self as monograph;

mod device;
mod executable;
pub mod inspect;
pub mod prelude;
mod tree_ext;

pub use device::Device;
pub use executable::Executable;
pub use monograph_compiler::Options;
pub use monograph_compiler::diagnostics;
pub use monograph_compiler::trace::*;
pub use monograph_derive::Tree;
pub use monograph_ir::{
    AccessKind, Finding, FindingKind, InnerLine, KernelLine, KernelThread, MemoryKind, MemoryPlace, OtherAccess, Touch,
    Wait,
};
pub use monograph_ir::{
    Array, ArrayError, Bind, Binding, Code, DType, Data, Diagnostic, Entry, Error, Form, HasSpec, InputSpec, Leaf,
    Origin, Outputs, Path, Scalar, Shape, Signature, Source, Spec, Target, Tree, leaves, map, paths, try_map,
};
pub use monograph_ir::{Element, Storage};
pub use monograph_runtime::{EmulatorOptions, HostOptions, Output, ReplayCost, Schedule, UnknownSchedule};
pub use tree_ext::TreeExt;

/// The 16-bit floats, as Rust types: `monograph::f16::spec([3])`.
pub use half::{bf16, f16};
/// The IR, for who works on graphs rather than with tensors.
pub use monograph_ir as ir;

/// A result with Monograph's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

// The blocks of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
