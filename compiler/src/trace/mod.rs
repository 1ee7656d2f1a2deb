//! The tracer: runs a Rust function over tensors once and records what it does as a graph.
//!
//! [`trace`], [`trace_with`] and [`trace_step`] hand the function [`Tensor`]s, handles without data, and give a
//! [`Program`]. Every operation takes its place in the source from `#[track_caller]`; what is wrong is collected,
//! and all root errors come back at once. After recording, the passes of [`reject`](crate::reject) refuse what a
//! CUDA graph cannot hold.
//!
//! ```
//! use monograph_compiler::trace::{Tensor, trace, trace_step};
//! use monograph_ir::{Array, Element};
//!
//! let program = trace(|(x, y)| (x * 2.0 + y).relu(), (f32::spec([64, 8]), f32::spec([8])))?;
//! assert_eq!(program.output_form().to_string(), "f32[64, 8]");
//!
//! let total = Array::scalar(0.0f32);
//! let program = trace_step(&total, f32::spec([8]), |total, x: Tensor| (total + x.sum(..), x.mean(..)))?;
//! assert_eq!(program.graph().outputs().len(), 2);
//!
//! let rejected = trace(|x: Tensor| x.nonzero(), f32::spec([8])).unwrap_err();
//! assert!(rejected.to_string().contains("nonzero_padded(size, fill)"));
//! # Ok::<(), monograph_ir::Error>(())
//! ```
//!
//! Operations are methods of [`Tensor`], one file a family; composites (softmax, sort, losses) are written with the
//! public methods, and messages name the composite, not what it is made of.

mod axes;
mod control;
mod convolution;
mod create;
mod elementwise;
mod frozen;
mod host;
mod index;
mod linalg;
mod normalize;
mod operand;
mod operators;
mod padded;
mod pooling;
mod program;
mod reduce;
mod shaping;
mod sort;
mod tensor;
mod tracer;
mod windows;

pub use axes::{AxisIndex, AxisList};
pub use control::{cond, fori_loop, while_loop};
pub use create::{arange, full, iota, ones, zeros};
pub use elementwise::where_;
pub use frozen::Frozen;
pub use host::{dynamic_range, probe};
pub use normalize::{cross_entropy, mse_loss};
pub use operand::Operand;
pub use operators::{Compared, HostTruth};
pub use program::{
    InputForm, OutputForm, Program, StateForm, Stepped, Structure, Traced, constant, trace, trace_last, trace_step,
    trace_with,
};
pub use shaping::{concat, stack};
pub use tensor::Tensor;
pub use windows::{Conv, PerDimension, Pool};
