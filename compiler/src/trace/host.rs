//! What a graph cannot hold, recorded so that it is rejected with a remedy: reads on the host and results whose
//! shape depends on data. And `probe`, the way to look at a value.

use super::tracer::{record, record_all, with};
use super::{Operand, Tensor};
use crate::diagnostics::codes;
use monograph_ir::{DType, DynamicOp, Element, Error, HostOp, Op, OutputKind};
use std::panic::Location;

impl Tensor {
    /// Rejected: the only element, as a Rust value. Inside a trace there is none yet.
    ///
    /// # Errors
    /// Always [`Error::HostRead`], so that `?` ends the trace, whose own diagnostic says where and what to do.
    #[track_caller]
    pub fn item<T: Element>(&self) -> Result<T, Error> {
        record_all(Op::Host(HostOp::Item), &[*self]);
        Err(Error::HostRead("item"))
    }

    /// Rejected: all elements, as Rust values. Inside a trace there are none yet.
    ///
    /// # Errors
    /// Always [`Error::HostRead`], as [`Tensor::item`].
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, Error> {
        record_all(Op::Host(HostOp::ToVec), &[*self]);
        Err(Error::HostRead("to_vec"))
    }

    /// Rejected: prints the elements. Use [`probe`].
    #[track_caller]
    pub fn print(&self) {
        record_all(Op::Host(HostOp::Print), &[*self]);
    }

    /// Rejected: panics where an element of this bool tensor is false. Use [`probe`].
    #[track_caller]
    pub fn assert(&self) {
        record_all(Op::Host(HostOp::Assert), &[*self]);
    }

    /// Rejected: the row-major indices of the elements that are not zero. Use [`Tensor::nonzero_padded`].
    #[track_caller]
    pub fn nonzero(&self) -> Tensor {
        record(Op::Dynamic(DynamicOp::Nonzero), &[*self])
    }

    /// Rejected: the elements where `mask` is true. Use [`Tensor::masked_select_padded`].
    #[track_caller]
    pub fn masked_select(&self, mask: &Tensor) -> Tensor {
        record(Op::Dynamic(DynamicOp::MaskedSelect), &[*self, *mask])
    }

    /// Rejected: the distinct elements. Use [`Tensor::unique_padded`].
    #[track_caller]
    pub fn unique(&self) -> Tensor {
        record(Op::Dynamic(DynamicOp::Unique), &[*self])
    }

    /// Rejected: each element as often as `counts` says. Use [`Tensor::take`] with indices of a fixed size;
    /// [`Tensor::repeat`] takes one count for all.
    #[track_caller]
    pub fn repeat_interleave(&self, counts: impl Operand) -> Tensor {
        let counts = counts.tensor(Some(DType::I64));
        record(Op::Dynamic(DynamicOp::RepeatInterleave), &[*self, counts])
    }
}

/// Rejected: 0, 1, … up to a traced value. Use `arange(dtype, bound).lt(&end)`, a mask of a fixed size.
#[track_caller]
pub fn dynamic_range(end: &Tensor) -> Tensor {
    record(Op::Dynamic(DynamicOp::DynamicRange), &[*end])
}

/// Makes a value readable after each replay under that name, with `exe.probe(name)`; returns it.
///
/// Names are unique, and a probe stands outside of the bodies of `cond` and loops.
#[track_caller]
pub fn probe(name: &str, value: &Tensor) -> Tensor {
    let location = Location::caller();
    with(|t| {
        let origin = t.origin(location);
        if t.depth() > 0 {
            let message = format!("probe `{name}` stands in the body of a `cond` or loop");
            let help = "return the value from the body, and probe the result outside of it".to_string();
            t.report(codes::PROBE_IN_BODY, message, "cannot leave the body", origin, &[], &[help]);
        } else if name.is_empty() || t.has_output(name, OutputKind::Probe) {
            let message = format!("the probe name `{name}` is empty or taken");
            let help = "give each probe a name of its own, such as `layer0.activation`".to_string();
            t.report(codes::NAME, message, "named here", origin, &[], &[help]);
        } else {
            t.output(name, *value, OutputKind::Probe, &origin);
        }
    });
    *value
}
