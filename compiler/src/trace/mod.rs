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

mod activations;
mod axes;
mod class_losses;
mod control;
mod convolution;
mod create;
mod cumulate;
mod diagonal;
mod distinct;
mod einsum;
mod elementwise;
mod frozen;
mod functions;
mod host;
mod index;
mod layout;
mod linalg;
mod losses;
mod meshgrid;
mod normalize;
mod norms;
mod operand;
mod operators;
mod pad_modes;
mod padded;
mod points;
mod pooling;
mod products;
mod program;
mod random;
mod ranges;
mod reduce;
mod repeat;
mod resample;
mod search;
mod segments;
mod shaping;
mod sort;
mod split;
mod tensor;
mod tracer;
mod windows;

pub use axes::{AxisIndex, AxisList};
pub use class_losses::{ClassLoss, cross_entropy_soft, cross_entropy_with, nll_loss};
pub use control::{cond, fori_loop, while_loop};
pub use create::{arange, full, iota, ones, zeros};
pub use cumulate::ScanForm;
pub use diagonal::eye;
pub use einsum::einsum;
pub use elementwise::where_;
pub use frozen::Frozen;
pub use host::{dynamic_range, probe};
pub use losses::{LossReduction, bce_loss, bce_with_logits, huber_loss, kl_div, l1_loss, smooth_l1_loss};
pub use meshgrid::{GridOrder, meshgrid};
pub use normalize::{cross_entropy, mse_loss};
pub use norms::Norm;
pub use operand::Operand;
pub use operators::{Compared, HostTruth};
pub use pad_modes::PadMode;
pub use points::Put;
pub use program::{
    InputForm, OutputForm, Program, StateForm, Stepped, Structure, Traced, constant, trace, trace_last, trace_step,
    trace_with,
};
pub use random::Rng;
pub use ranges::{arange_step, linspace};
pub use resample::Interpolation;
pub use search::Side;
pub use segments::{segment_max, segment_mean, segment_min, segment_sum};
pub use shaping::{concat, stack};
pub use tensor::Tensor;
pub use windows::{Conv, PerDimension, Pool};
