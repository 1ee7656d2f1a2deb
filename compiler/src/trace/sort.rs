//! Sorting along one axis, and what is read off a sorted axis.
//!
//! The order is total and stable: NaN is the greatest value, ±0 tie, and equal elements keep their order. Short rows
//! are sorted by one kernel, long ones in as many passes as an element has bytes.

use super::tracer::{record, reject, scope};
use super::{AxisIndex, Tensor};
use crate::diagnostics::codes;
use monograph_ir::{Op, Spec};

impl Tensor {
    /// The elements along `axis` ascending: stable, NaN last.
    #[track_caller]
    pub fn sort(&self, axis: impl AxisIndex) -> Tensor {
        self.sorted("sort", axis, false, true)
    }

    /// The elements along `axis` descending: stable, NaN first.
    #[track_caller]
    pub fn sort_descending(&self, axis: impl AxisIndex) -> Tensor {
        self.sorted("sort_descending", axis, true, true)
    }

    /// The indices (i64) that sort `axis` ascending: stable, NaN last.
    #[track_caller]
    pub fn argsort(&self, axis: impl AxisIndex) -> Tensor {
        self.sorted("argsort", axis, false, false)
    }

    /// The indices (i64) that sort `axis` descending: stable, NaN first.
    #[track_caller]
    pub fn argsort_descending(&self, axis: impl AxisIndex) -> Tensor {
        self.sorted("argsort_descending", axis, true, false)
    }

    /// The `k` greatest elements along `axis`, descending, and their indices (i64); NaN is the greatest, and the
    /// first of equal elements comes first. An error if there are fewer than `k`.
    #[track_caller]
    pub fn topk(&self, k: usize, axis: impl AxisIndex) -> (Tensor, Tensor) {
        let _scope = scope("topk");
        let (spec, axis) = match self.along(axis) {
            Ok(found) => found,
            Err(poison) => return (poison, poison),
        };
        if let Err(poison) = self.has_elements("topk", k, &spec, axis) {
            return (poison, poison);
        }
        let order = record(Op::Argsort { axis, descending: true }, &[*self]).slice(axis, ..k);
        (record(Op::TakeAlong { axis }, &[*self, order]), order)
    }

    /// The `k`-th smallest element along `axis`, which vanishes, counted from 1, and its index (i64); NaN is the
    /// greatest, and the first of equal elements comes first. An error if `k` is 0 or there are fewer than `k`.
    #[track_caller]
    pub fn kthvalue(&self, k: usize, axis: impl AxisIndex) -> (Tensor, Tensor) {
        let _scope = scope("kthvalue");
        let (spec, axis) = match self.along(axis) {
            Ok(found) => found,
            Err(poison) => return (poison, poison),
        };
        if k == 0 {
            let message = format!("`kthvalue`: element 0 of axis {axis} of {spec}");
            let poison = reject(codes::OPERANDS, message, "they are counted from 1", &[*self], &[]);
            return (poison, poison);
        }
        if let Err(poison) = self.has_elements("kthvalue", k, &spec, axis) {
            return (poison, poison);
        }
        let order = record(Op::Argsort { axis, descending: false }, &[*self]).slice(axis, k - 1..k);
        let value = record(Op::TakeAlong { axis }, &[*self, order]);
        (value.squeeze(axis), order.squeeze(axis))
    }

    /// The median of floats along `axis`, which vanishes: the mean of the two in the middle where their number is
    /// even; NaN if there is one. An error if the axis is empty.
    #[track_caller]
    pub fn median(&self, axis: impl AxisIndex) -> Tensor {
        self.quantile_of("median", 0.5, axis)
    }

    /// The value below which a part `q` (0 to 1) of the floats along `axis` lies; the axis vanishes. Between two
    /// elements it is interpolated, and it is NaN if there is one. An error if the axis is empty or `q` lies outside.
    #[track_caller]
    pub fn quantile(&self, q: f64, axis: impl AxisIndex) -> Tensor {
        self.quantile_of("quantile", q, axis)
    }

    #[track_caller]
    fn quantile_of(&self, name: &'static str, q: f64, axis: impl AxisIndex) -> Tensor {
        if let Err(poison) = self.require_float(name) {
            return poison;
        }
        let _scope = scope(name);
        let (spec, axis) = match self.along(axis) {
            Ok(found) => found,
            Err(poison) => return poison,
        };
        if !(0.0..=1.0).contains(&q) {
            let message = format!("`{name}`: a part of {q}");
            return reject(codes::OPERANDS, message, "it lies from 0 to 1", &[*self], &[]);
        }
        if let Err(poison) = self.has_elements(name, 1, &spec, axis) {
            return poison;
        }
        let n = spec.shape[axis];
        let sorted = self.sort(axis);
        let at = |i: usize| sorted.slice(axis, i..i + 1).squeeze(axis).widened();
        let place = q * (n - 1) as f64;
        let (below, part) = (place.floor() as usize, place.fract());
        let value = if part == 0.0 {
            at(below)
        } else {
            let (low, high) = (at(below), at(below + 1));
            // A product with each, as the difference of two great ones overflows.
            low * low.constant_like(1.0 - part) + high * high.constant_like(part)
        };
        // NaN is the last.
        let last = at(n - 1);
        last.is_nan().select(last, value).rounded_as(self)
    }

    /// The spec and the number of the axis, or poison.
    #[track_caller]
    fn along(&self, axis: impl AxisIndex) -> Result<(Spec, usize), Tensor> {
        let Some(spec) = self.known() else { return Err(self.absorb()) };
        let axis = self.axis(&spec, axis)?;
        Ok((spec, axis))
    }

    #[track_caller]
    fn has_elements(&self, name: &str, k: usize, spec: &Spec, axis: usize) -> Result<(), Tensor> {
        let n = spec.shape[axis];
        if k <= n {
            return Ok(());
        }
        let message = format!("`{name}`: {k} of the {n} elements of axis {axis} of {spec}");
        Err(reject(codes::OPERANDS, message, "there are fewer elements", &[*self], &[]))
    }

    /// The indices that sort an axis, or with `values` the elements.
    #[track_caller]
    fn sorted(&self, name: &'static str, axis: impl AxisIndex, descending: bool, values: bool) -> Tensor {
        let _scope = scope(name);
        let axis = match self.along(axis) {
            Ok((_, axis)) => axis,
            Err(poison) => return poison,
        };
        let order = record(Op::Argsort { axis, descending }, &[*self]);
        if values { record(Op::TakeAlong { axis }, &[*self, order]) } else { order }
    }
}
