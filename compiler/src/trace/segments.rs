//! Sums and extremes by group, and counts: `segment_sum`, `segment_mean`, `segment_max`, `segment_min`, `bincount`,
//! `histogram`.

use super::create::filled;
use super::normalize::INDEX;
use super::tracer::{reject, scope};
use super::{Operand, Tensor, linspace};
use crate::diagnostics::codes;
use monograph_ir::{DType, Literal, Shape, Spec};

/// The sums of the slices of `values` (`[n, …]`, numbers) that have the same id: row `i` of the result
/// (`[segments, …]`) is the sum of the slices whose id (`[n]`, i32 or i64) is `i`, in their order; 0 where there is
/// none. An id outside `0..segments` is dropped. Ids need not be sorted. f16 and bf16 are summed in f32.
///
/// ```
/// # use monograph_compiler::trace::{segment_sum, trace};
/// # use monograph_ir::Element;
/// let program = trace(|(x, ids)| segment_sum(&x, &ids, 4), (f32::spec([10, 3]), i64::spec([10])))?;
/// assert_eq!(program.output_form().to_string(), "f32[4, 3]");
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn segment_sum(values: &Tensor, ids: &Tensor, segments: usize) -> Tensor {
    let _scope = scope("segment_sum");
    match slices_with_ids("segment_sum", values, ids) {
        Ok(spec) => sums(values, ids, segments, &spec).rounded_as(values),
        Err(poison) => poison,
    }
}

/// [`segment_sum`] divided by the number of slices: the mean of each group of floats, NaN where there is none.
///
/// ```
/// # use monograph_compiler::trace::{segment_mean, trace};
/// # use monograph_ir::Element;
/// let program = trace(|(x, ids)| segment_mean(&x, &ids, 4), (f32::spec([10, 3]), i64::spec([10])))?;
/// assert_eq!(program.output_form().to_string(), "f32[4, 3]");
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn segment_mean(values: &Tensor, ids: &Tensor, segments: usize) -> Tensor {
    let _scope = scope("segment_mean");
    if let Err(poison) = values.require_float("segment_mean") {
        return poison;
    }
    let spec = match slices_with_ids("segment_mean", values, ids) {
        Ok(spec) => spec,
        Err(poison) => return poison,
    };
    let sums = sums(values, ids, segments, &spec);
    let mut per_row = vec![1; spec.shape.rank()];
    per_row[0] = segments;
    let counts = counted(ids, segments).reshape(per_row).cast(sums.dtype());
    (sums / counts).rounded_as(values)
}

/// The greatest of each group of slices, as [`segment_sum`] groups them; NaN where the group has one. Where there is
/// none, the lowest value of the dtype: -inf, the smallest integer, `false`.
///
/// ```
/// # use monograph_compiler::trace::{segment_max, trace};
/// # use monograph_ir::{Element, interp};
/// let program = trace(|(x, ids)| segment_max(&x, &ids, 3), (f32::spec([4]), i64::spec([4])))?;
/// let x = interp::Tensor::from_vec([4], vec![1.0f32, 5.0, f32::NAN, 2.0]).unwrap();
/// let ids = interp::Tensor::from_vec([4], vec![0i64, 0, 2, 2]).unwrap();
/// let most = interp::evaluate(program.graph(), &[x, ids]).unwrap()[0].to_f64_vec();
/// assert!(most[..2] == [5.0, f64::NEG_INFINITY] && most[2].is_nan());
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn segment_max(values: &Tensor, ids: &Tensor, segments: usize) -> Tensor {
    let _scope = scope("segment_max");
    match extremes_of("segment_max", values, ids, segments, f64::NEG_INFINITY) {
        Ok(lowest) => lowest.scatter_max(ids, values, 0),
        Err(poison) => poison,
    }
}

/// The smallest of each group of slices, as [`segment_sum`] groups them; NaN where the group has one. Where there is
/// none, the greatest value of the dtype: inf, the greatest integer, `true`.
///
/// ```
/// # use monograph_compiler::trace::{segment_min, trace};
/// # use monograph_ir::{Element, interp};
/// let program = trace(|(x, ids)| segment_min(&x, &ids, 3), (u8::spec([4]), i64::spec([4])))?;
/// let x = interp::Tensor::from_vec([4], vec![1u8, 5, 3, 2]).unwrap();
/// let ids = interp::Tensor::from_vec([4], vec![0i64, 0, 2, 2]).unwrap();
/// assert_eq!(interp::evaluate(program.graph(), &[x, ids]).unwrap()[0].to_f64_vec(), [1.0, 255.0, 2.0]);
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn segment_min(values: &Tensor, ids: &Tensor, segments: usize) -> Tensor {
    let _scope = scope("segment_min");
    match extremes_of("segment_min", values, ids, segments, f64::INFINITY) {
        Ok(greatest) => greatest.scatter_min(ids, values, 0),
        Err(poison) => poison,
    }
}

/// What an extreme of each group starts with: the end of the dtype on the side of `end`.
#[track_caller]
fn extremes_of(name: &str, values: &Tensor, ids: &Tensor, segments: usize, end: f64) -> Result<Tensor, Tensor> {
    let spec = slices_with_ids(name, values, ids)?;
    let mut shape = spec.shape.to_vec();
    shape[0] = segments;
    // Integers saturate, so infinity is their end; of truth values, `true` is the greatest.
    let end = match spec.dtype {
        DType::Bool if end < 0.0 => Literal::zero(DType::Bool),
        dtype => Literal::from_f64(dtype, end),
    };
    Ok(filled(end, shape.into()))
}

/// Spec of the values, if they are slices with an id each.
#[track_caller]
fn slices_with_ids(name: &str, values: &Tensor, ids: &Tensor) -> Result<Spec, Tensor> {
    let (Some(of_values), Some(of_ids)) = (values.known(), ids.known()) else { return Err(values.beside(ids)) };
    if of_values.shape.rank() == 0 || of_ids.shape[..] != of_values.shape[..1] {
        let message = format!("`{name}`: {of_values} with ids {of_ids}: each slice along axis 0 needs an id");
        return Err(reject(codes::OPERANDS, message, "shapes do not fit", &[*values, *ids], &[]));
    }
    Ok(of_values)
}

/// The sums in the accumulator's dtype.
#[track_caller]
fn sums(values: &Tensor, ids: &Tensor, segments: usize, spec: &Spec) -> Tensor {
    let wide = values.widened();
    let mut shape = spec.shape.to_vec();
    shape[0] = segments;
    super::zeros(wide.dtype(), shape).scatter_add(ids, wide, 0)
}

/// How many ids (a vector) are `0`, `1`, …, as i64.
#[track_caller]
fn counted(ids: &Tensor, bins: usize) -> Tensor {
    let bin = super::arange(INDEX, bins).unsqueeze(1);
    bin.eq(ids.cast(INDEX).unsqueeze(0)).count(1)
}

impl Tensor {
    /// How often each of `0..bins` occurs among these integers, as i64 (`[bins]`). A value outside is dropped, where
    /// NumPy would refuse it or make more bins. The work is `bins` times the number of elements.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.bincount(10), i32::spec([1000]))?;
    /// assert_eq!(program.output_form().to_string(), "i64[10]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn bincount(&self, bins: usize) -> Tensor {
        let _scope = scope("bincount");
        match self.integers("bincount") {
            Ok(()) => counted(&self.flatten(), bins),
            Err(poison) => poison,
        }
    }

    /// The sums of `weights`, one of each of these integers, by `0..bins` (`[bins]`, of the weights' dtype). A value
    /// outside is dropped.
    ///
    /// ```
    /// # use monograph_compiler::trace::trace;
    /// # use monograph_ir::Element;
    /// let program = trace(|(x, w)| x.bincount_weighted(w, 10), (i64::spec([9]), f32::spec([9])))?;
    /// assert_eq!(program.output_form().to_string(), "f32[10]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn bincount_weighted(&self, weights: impl Operand, bins: usize) -> Tensor {
        let weights = weights.tensor(None);
        let _scope = scope("bincount_weighted");
        if let Err(poison) = self.integers("bincount_weighted") {
            return poison;
        }
        let (Some(of_values), Some(of_weights)) = (self.known(), weights.known()) else { return self.beside(&weights) };
        if of_values.shape != of_weights.shape {
            let message = format!("`bincount_weighted`: {of_values} with weights {of_weights}: the shapes differ");
            return reject(codes::OPERANDS, message, "shapes do not fit", &[*self, weights], &[]);
        }
        segment_sum(&weights.flatten(), &self.flatten().cast(INDEX), bins)
    }

    /// How many elements lie in each of `bins` intervals of one width between `low` and `high`, as i64 (`[bins]`):
    /// NumPy's `histogram`. An interval holds its lower end and not its upper one, but the last holds both. NaN and
    /// what lies outside is dropped. The work is `bins` times the number of elements.
    ///
    /// The ends of the intervals are [`linspace`]`(DType::F64, low, high, bins + 1)`; elements are compared with them
    /// in f64, i64 among them, so integers beyond 2^53 are rounded.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::{Element, interp};
    /// let program = trace(|x: Tensor| x.histogram(2, 0.0, 4.0), f32::spec([5]))?;
    /// let x = interp::Tensor::from_vec([5], vec![0.0f32, 1.9, 2.0, 4.0, 4.1]).unwrap();
    /// assert_eq!(interp::evaluate(program.graph(), &[x]).unwrap()[0].to_f64_vec(), [2.0, 2.0]);
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn histogram(&self, bins: usize, low: f64, high: f64) -> Tensor {
        let _scope = scope("histogram");
        let Some(_) = self.known() else { return self.absorb() };
        if bins == 0 || low >= high || !low.is_finite() || !high.is_finite() {
            let message = format!("`histogram`: there are no {bins} intervals between {low} and {high}");
            let help = "at least one interval, and finite ends of which the first is less".to_string();
            return reject(codes::OPERANDS, message, "no intervals", &[*self], &[help]);
        }
        let ends = linspace(DType::F64, low, high, bins + 1);
        let x = self.flatten().cast(DType::F64).unsqueeze(0);
        let (from, to) = (ends.slice(0, ..bins).unsqueeze(1), ends.slice(0, 1..).unsqueeze(1));
        let top = filled(Literal::from_f64(DType::F64, high), Shape::scalar());
        let is_last = to.eq(top);
        (x.ge(from) & (x.lt(to) | (x.eq(to) & is_last))).count(1)
    }

    /// Whether this tensor is of integers (or nothing is known of it); else the poison of a diagnostic.
    #[track_caller]
    fn integers(&self, name: &str) -> Result<(), Tensor> {
        match self.known_dtype() {
            Some(dtype) if !dtype.is_integer() => {
                let message = format!("`{name}` counts integers, not {dtype}");
                let help = "convert it first: `.cast(DType::I64)`; floats are counted by `histogram`".to_string();
                Err(reject(codes::OPERANDS, message, "needs integers", &[*self], &[help]))
            }
            Some(_) => Ok(()),
            None => Err(self.absorb()),
        }
    }
}
