//! How axes are written: `0`, `-1`, `[0, 2]`, `..`.

use super::Tensor;
use super::tracer::{reject, scope_or};
use crate::diagnostics::codes;
use monograph_ir::{Axes, Spec};
use std::ops::RangeFull;

/// One axis of a tensor; a negative one counts from the end, `-1` being the last.
pub trait AxisIndex: Copy {
    /// The axis of a tensor with `rank` dimensions, if there is one.
    ///
    /// # Errors
    /// The axis as it was written, if it is out of range.
    fn resolve(self, rank: usize) -> Result<usize, i64>;
}

/// A list of axes: one, an array or slice of them, or `..` for all.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name axes",
    label = "not an axis, an array of axes, or `..`",
    note = "an axis is an integer, negative ones count from the end; `..` is all of them",
    note = "the greater or smaller of two tensors, element by element, is `x.maximum(y)` or `x.minimum(y)`"
)]
pub trait AxisList {
    /// The axes of a tensor with `rank` dimensions, in the order given.
    ///
    /// # Errors
    /// The first axis that is out of range, as it was written.
    fn resolve_all(self, rank: usize) -> Result<Axes, i64>;
}

impl AxisList for RangeFull {
    fn resolve_all(self, rank: usize) -> Result<Axes, i64> {
        Ok((0..rank).collect())
    }
}

macro_rules! axes {
    ($($t:ty)*) => {$(
        impl AxisIndex for $t {
            fn resolve(self, rank: usize) -> Result<usize, i64> {
                let axis = i64::try_from(self).unwrap_or(i64::MAX);
                let from_start = if axis < 0 { axis + rank as i64 } else { axis };
                usize::try_from(from_start).ok().filter(|&a| a < rank).ok_or(axis)
            }
        }

        impl AxisList for $t {
            fn resolve_all(self, rank: usize) -> Result<Axes, i64> {
                self.resolve(rank).map(|axis| Axes::from_slice(&[axis]))
            }
        }

        impl<const N: usize> AxisList for [$t; N] {
            fn resolve_all(self, rank: usize) -> Result<Axes, i64> {
                self.iter().map(|axis| axis.resolve(rank)).collect()
            }
        }

        impl AxisList for &[$t] {
            fn resolve_all(self, rank: usize) -> Result<Axes, i64> {
                self.iter().map(|axis| axis.resolve(rank)).collect()
            }
        }
    )*};
}

axes!(i32 i64 isize usize);

impl Tensor {
    /// The axis of this tensor, of that spec, or the poison of a diagnostic.
    #[track_caller]
    pub(super) fn axis(self, spec: &Spec, axis: impl AxisIndex) -> Result<usize, Tensor> {
        match axis.resolve(spec.shape.rank()) {
            Ok(axis) => Ok(axis),
            Err(axis) => Err(self.no_axis(spec, axis)),
        }
    }

    /// The axes of this tensor as given, or the poison of a diagnostic.
    #[track_caller]
    pub(super) fn ordered_axes(self, spec: &Spec, axes: impl AxisList) -> Result<Axes, Tensor> {
        match axes.resolve_all(spec.shape.rank()) {
            Ok(axes) => Ok(axes),
            Err(axis) => Err(self.no_axis(spec, axis)),
        }
    }

    /// The axes of this tensor, ascending, or the poison of a diagnostic.
    #[track_caller]
    pub(super) fn sorted_axes(self, spec: &Spec, axes: impl AxisList) -> Result<Axes, Tensor> {
        let mut axes = self.ordered_axes(spec, axes)?;
        axes.sort_unstable();
        Ok(axes)
    }

    #[track_caller]
    fn no_axis(self, spec: &Spec, axis: i64) -> Tensor {
        let rank = spec.shape.rank();
        let message = format!("`{}`: {spec} has no axis {axis}", scope_or("axis"));
        let help = match rank {
            0 => "a scalar has no axes".to_string(),
            1 => "the only axis is 0, or -1 from the end".to_string(),
            _ => format!("the axes are 0 to {}, or -{rank} to -1 from the end", rank - 1),
        };
        reject(codes::AXIS, message, "no such axis", &[self], &[help])
    }
}
