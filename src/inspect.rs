//! Looking into a compilation: graphs as text, plans, their launches as a drawing.
//!
//! ```
//! use monograph::prelude::*;
//! use monograph::{Options, Target, inspect};
//!
//! # fn main() -> monograph::Result<()> {
//! let program = trace(|x: Tensor| x.exp(), f32::spec([3]))?;
//! assert!(inspect::ir(program.graph()).contains("exp"));
//! let plan = inspect::plan(program.graph(), &Target::of_arch("sm_80"), &Options::default())?;
//! assert_eq!(plan.launches.len(), 1);
//! # Ok(())
//! # }
//! ```

use crate::ir::plan::Plan;
use crate::ir::{Graph, text};
use crate::{Error, Options, Target};

pub use monograph_compiler::schedule::plan_dot as dot;
pub use monograph_compiler::{max_live, summary};

/// The textual form of a graph, which the tool `monograph` reads.
pub fn ir(graph: &Graph) -> String {
    text::print(graph)
}

/// What a graph compiles to for a target, without a device: the plan that [`Device::compile`](crate::Device::compile)
/// would load, its kernels as source.
///
/// # Errors
/// As [`Device::compile`](crate::Device::compile), but for the device's own.
pub fn plan(graph: &Graph, target: &Target, options: &Options) -> Result<Plan, Error> {
    monograph_compiler::compile(graph, target, options)
}
