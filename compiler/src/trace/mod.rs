//! The tracer: runs a Rust function over tensors once and records what it does as a graph.
//!
//! [`trace`], [`trace_with`] and [`trace_step`] hand the function [`Tensor`]s, handles without data, and give a
//! [`Program`]. Every operation takes its place in the source from `#[track_caller]`; what is wrong is collected,
//! and all root errors come back at once. After recording, the passes of [`reject`](crate::reject) refuse what a
//! CUDA graph cannot hold.
//!
//! Operations are methods of [`Tensor`], one file a family; composites (softmax, sort, losses) are written with the
//! public methods, and messages name the composite, not what it is made of.

mod axes;
mod control;
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
mod program;
mod reduce;
mod shaping;
mod sort;
mod tensor;
mod tracer;

pub use axes::{AxisIndex, AxisList};
pub use control::{cond, fori_loop, while_loop};
pub use create::{arange, full, iota, ones, zeros};
pub use elementwise::where_;
pub use frozen::Frozen;
pub use host::{arange_to, probe};
pub use normalize::{cross_entropy, mse_loss};
pub use operand::Operand;
pub use operators::{Compared, HostTruth};
pub use program::{Program, Stepped, constant, trace, trace_last, trace_step, trace_with};
pub use shaping::{concat, stack};
pub use tensor::Tensor;
