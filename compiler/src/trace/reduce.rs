//! Reductions, arg-reductions and scans.

use super::tracer::{record, scope};
use super::{AxisIndex, AxisList, Tensor};
use monograph_ir::{Axes, DType, Extreme, Literal, Op, Reduction, Shape, Spec};

macro_rules! reductions {
    ($($(#[doc = $doc:literal])+ $method:ident $keep:ident $kind:ident;)*) => {
        impl Tensor {
            $(
                $(#[doc = $doc])+
                #[track_caller]
                pub fn $method(&self, axes: impl AxisList) -> Tensor {
                    let _scope = scope(stringify!($method));
                    self.reduce(Reduction::$kind, axes, false)
                }

                #[doc = concat!("[`Tensor::", stringify!($method), "`], the axes staying with extent 1.")]
                #[track_caller]
                pub fn $keep(&self, axes: impl AxisList) -> Tensor {
                    let _scope = scope(stringify!($keep));
                    self.reduce(Reduction::$kind, axes, true)
                }
            )*
        }
    };
}

reductions! {
    /// Sum of numbers over axes (`..` for all), 0 over none; f16 and bf16 accumulate in f32, integers wrap.
    sum sum_keep Sum;
    /// Product of numbers over axes (`..` for all), 1 over none.
    prod prod_keep Prod;
    /// Greatest element over axes (`..` for all); NaN wins; an empty axis is an error.
    max max_keep Max;
    /// Smallest element over axes (`..` for all); NaN wins; an empty axis is an error.
    min min_keep Min;
    /// Whether any bool over axes (`..` for all) is true.
    any any_keep Any;
    /// Whether all bools over axes (`..` for all) are true.
    all all_keep All;
}

macro_rules! scans {
    ($($(#[doc = $doc:literal])+ $method:ident $kind:ident;)*) => {
        impl Tensor {
            $(
                $(#[doc = $doc])+
                #[track_caller]
                pub fn $method(&self, axis: impl AxisIndex) -> Tensor {
                    let _scope = scope(stringify!($method));
                    let Some(spec) = self.known() else { return self.absorb() };
                    match self.axis(&spec, axis) {
                        Ok(axis) => record(Op::Scan { kind: Reduction::$kind, axis }, &[*self]),
                        Err(poison) => poison,
                    }
                }
            )*
        }
    };
}

scans! {
    /// Inclusive prefix sums of numbers along `axis`.
    cumsum Sum;
    /// Inclusive prefix products of numbers along `axis`.
    cumprod Prod;
    /// The greatest element so far along `axis`; NaN stays.
    cummax Max;
    /// The smallest element so far along `axis`; NaN stays.
    cummin Min;
}

impl Tensor {
    #[track_caller]
    fn reduce(&self, kind: Reduction, axes: impl AxisList, keep: bool) -> Tensor {
        let Some(spec) = self.known() else { return self.absorb() };
        match self.sorted_axes(&spec, axes) {
            Ok(axes) => self.reduce_sorted(kind, &spec, axes, keep),
            Err(poison) => poison,
        }
    }

    #[track_caller]
    fn reduce_sorted(&self, kind: Reduction, spec: &Spec, axes: Axes, keep: bool) -> Tensor {
        let kept: Shape = spec.shape.iter().enumerate().map(|(i, &d)| if axes.contains(&i) { 1 } else { d }).collect();
        let reduced = record(Op::Reduce { kind, axes }, &[*self]);
        if keep { reduced.reshape(kept) } else { reduced }
    }

    /// The index (i64) of the greatest element along `axis`: the first NaN, else the first of the greatest.
    #[track_caller]
    pub fn argmax(&self, axis: impl AxisIndex) -> Tensor {
        let _scope = scope("argmax");
        self.arg_reduce(Extreme::Max, axis)
    }

    /// The index (i64) of the smallest element along `axis`: the first NaN, else the first of the smallest.
    #[track_caller]
    pub fn argmin(&self, axis: impl AxisIndex) -> Tensor {
        let _scope = scope("argmin");
        self.arg_reduce(Extreme::Min, axis)
    }

    #[track_caller]
    fn arg_reduce(&self, kind: Extreme, axis: impl AxisIndex) -> Tensor {
        let Some(spec) = self.known() else { return self.absorb() };
        match self.axis(&spec, axis) {
            Ok(axis) => record(Op::ArgReduce { kind, axis }, &[*self]),
            Err(poison) => poison,
        }
    }

    /// Mean of floats over axes (`..` for all), NaN over none.
    ///
    /// It does not overflow where the mean itself does not: f16 and bf16 are summed in f32, and f32 and f64 are
    /// scaled by a power of two first, which is exact except in the subnormal range.
    #[track_caller]
    pub fn mean(&self, axes: impl AxisList) -> Tensor {
        self.mean_of("mean", axes, false)
    }

    /// [`Tensor::mean`], the axes staying with extent 1.
    #[track_caller]
    pub fn mean_keep(&self, axes: impl AxisList) -> Tensor {
        self.mean_of("mean_keep", axes, true)
    }

    /// Variance of floats over axes (`..` for all): the mean of the squared distances from the mean, dividing by
    /// their number. Computed in two passes, so that it is never negative; f16 and bf16 in f32.
    #[track_caller]
    pub fn var(&self, axes: impl AxisList) -> Tensor {
        self.variance("var", axes, false).rounded_as(self)
    }

    /// [`Tensor::var`], the axes staying with extent 1.
    #[track_caller]
    pub fn var_keep(&self, axes: impl AxisList) -> Tensor {
        self.variance("var_keep", axes, true).rounded_as(self)
    }

    /// Standard deviation of floats over axes (`..` for all): the root of [`Tensor::var`].
    #[track_caller]
    pub fn std(&self, axes: impl AxisList) -> Tensor {
        self.variance("std", axes, false).sqrt().rounded_as(self)
    }

    /// [`Tensor::std`], the axes staying with extent 1.
    #[track_caller]
    pub fn std_keep(&self, axes: impl AxisList) -> Tensor {
        self.variance("std_keep", axes, true).sqrt().rounded_as(self)
    }

    #[track_caller]
    fn mean_of(&self, name: &'static str, axes: impl AxisList, keep: bool) -> Tensor {
        if let Err(poison) = self.require_float(name) {
            return poison;
        }
        let _scope = scope(name);
        let Some(spec) = self.known() else { return self.absorb() };
        match self.sorted_axes(&spec, axes) {
            Ok(axes) => self.widened().scaled_mean(axes, keep, sums_fit(spec.dtype)).rounded_as(self),
            Err(poison) => poison,
        }
    }

    /// The mean over sorted axes in this dtype. `fits`: no sum of the elements can overflow.
    #[track_caller]
    fn scaled_mean(&self, axes: Axes, keep: bool, fits: bool) -> Tensor {
        let Some(spec) = self.known() else { return self.absorb() };
        let count = axes.iter().map(|&axis| spec.shape[axis]).product::<usize>();
        // With 2^-k <= 1/count before the sum, no partial sum exceeds the greatest element; count * 2^-k is exact.
        let k = if fits { 0 } else { count.max(1).next_power_of_two().trailing_zeros() };
        let scale = 0.5f64.powi(k as i32);
        let scaled = if k == 0 { *self } else { *self * self.constant_like(scale) };
        let sum = scaled.reduce_sorted(Reduction::Sum, &spec, axes, keep);
        let divisor = count as f64 * scale;
        if divisor == 1.0 { sum } else { sum / self.constant_like(divisor) }
    }

    /// The variance, still in the accumulator's dtype.
    #[track_caller]
    fn variance(&self, name: &'static str, axes: impl AxisList, keep: bool) -> Tensor {
        if let Err(poison) = self.require_float(name) {
            return poison;
        }
        let _scope = scope(name);
        let Some(spec) = self.known() else { return self.absorb() };
        let axes = match self.sorted_axes(&spec, axes) {
            Ok(axes) => axes,
            Err(poison) => return poison,
        };
        let x = self.widened();
        let distance = x - x.scaled_mean(axes.clone(), true, sums_fit(spec.dtype));
        (distance * distance).scaled_mean(axes, keep, false)
    }

    /// `ln(sum(e^x))` of floats over axes (`..` for all), without overflow; -inf over none but -inf.
    #[track_caller]
    pub fn logsumexp(&self, axes: impl AxisList) -> Tensor {
        if let Err(poison) = self.require_float("logsumexp") {
            return poison;
        }
        let _scope = scope("logsumexp");
        let Some(spec) = self.known() else { return self.absorb() };
        let axes = match self.sorted_axes(&spec, axes) {
            Ok(axes) => axes,
            Err(poison) => return poison,
        };
        let x = self.widened();
        let peak = x.reduce_sorted(Reduction::Max, &spec, axes.clone(), true);
        // An infinite peak would give inf - inf; the exponentials of infinities are right without a shift.
        let shift = peak.is_finite().select(peak, peak.zeros_like());
        let exponentials = (x - shift).exp();
        let sum = exponentials.reduce_sorted(Reduction::Sum, &spec, axes, false);
        let shape = sum.shape();
        (sum.log() + shift.reshape(shape)).rounded_as(self)
    }

    /// Sum over axes (`..` for all) in another dtype, to which each element is converted first: a wider one, so that
    /// integers do not wrap.
    #[track_caller]
    pub fn sum_as(&self, dtype: DType, axes: impl AxisList) -> Tensor {
        let _scope = scope("sum_as");
        self.cast(dtype).reduce(Reduction::Sum, axes, false)
    }

    /// How many bools over axes (`..` for all) are true, as i64.
    #[track_caller]
    pub fn count(&self, axes: impl AxisList) -> Tensor {
        let _scope = scope("count");
        let mask = match self.known_dtype() {
            Some(DType::Bool) | None => *self,
            Some(dtype) => {
                let zero = record(Op::Constant(Literal::zero(dtype)), &[]);
                self.ne(zero)
            }
        };
        mask.cast(DType::I64).reduce(Reduction::Sum, axes, false)
    }
}

/// Whether no sum of elements of a dtype overflows its accumulator: f16 ends at 65504, bf16 where f32 ends.
fn sums_fit(dtype: DType) -> bool {
    matches!(dtype, DType::F16)
}
