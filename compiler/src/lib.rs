//! The compiler of Monograph: from a Rust function over tensors to a [`Plan`](monograph_ir::plan::Plan).
//!
//! The way of the data, one module a stage: [`trace`] records a graph; [`reject`] refuses what a CUDA graph cannot
//! hold, in the words of [`diagnostics`]; [`passes`] and [`rewrite`] simplify; [`fuse`] groups nodes into kernels,
//! using the symbolic maps of [`index`]; [`schedule`] orders launches and derives their edges; [`memory`] gives every
//! buffer its bytes; [`codegen`] writes the CUDA C++ text. The order of it all is [`compile`](fn@compile).

#![forbid(unsafe_code)]

pub mod codegen;
mod compile;
pub mod diagnostics;
pub mod fuse;
pub mod index;
pub mod memory;
mod options;
pub mod passes;
pub mod reject;
pub mod rewrite;
pub mod schedule;
pub mod trace;

pub use compile::{Stage, Stages, compile, compile_timed, compile_with, max_live, summary};
pub use options::Options;
