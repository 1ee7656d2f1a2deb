//! `compile`: the whole pipeline, in order.

use crate::Options;
use monograph_ir::plan::Plan;
use monograph_ir::{Error, Graph, Target};

/// Compiles an accepted graph for a target.
///
/// # Errors
/// What the passes reject, and defects of this crate that the verifiers find.
pub fn compile(_graph: &Graph, _target: &Target, _options: &Options) -> Result<Plan, Error> {
    Err(Error::Internal("the pipeline is not assembled".into()))
}
