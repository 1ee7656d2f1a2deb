//! Evenly spaced numbers: `linspace` and `arange_step`.

use super::Tensor;
use super::create::filled;
use super::tracer::{reject, scope};
use crate::diagnostics::codes;
use monograph_ir::{DType, Literal, Shape};

/// `count` numbers from `start` to `stop`, both included; `start` alone if `count` is 1.
///
/// Computed in f64 as `start + i * step`, the last being `stop` itself, and then rounded to `dtype`; an integer dtype
/// takes the greatest integer not above. That is NumPy's `linspace`.
///
/// ```
/// # use monograph_compiler::trace::{linspace, trace};
/// # use monograph_ir::{DType, interp};
/// let program = trace(|()| linspace(DType::F32, 0.0, 1.0, 5), ())?;
/// let numbers = interp::evaluate(program.graph(), &[]).unwrap();
/// assert_eq!(numbers[0].to_f64_vec(), [0.0, 0.25, 0.5, 0.75, 1.0]);
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn linspace(dtype: DType, start: f64, stop: f64, count: usize) -> Tensor {
    let _scope = scope("linspace");
    if let Err(poison) = finite_numbers("linspace", dtype, &[start, stop]) {
        return poison;
    }
    let gaps = count.saturating_sub(1).max(1);
    let numbers = spaced(start, (stop - start) / gaps as f64, count);
    if count <= 1 {
        return converted(numbers, dtype);
    }
    let is_last = super::arange(DType::F64, count).eq(double(gaps as f64));
    converted(is_last.select(double(stop), numbers), dtype)
}

/// The numbers `start`, `start + step`, … before `stop`: `ceil((stop - start) / step)` of them, none if `stop` lies on
/// the other side. `step` is not 0 and may be negative.
///
/// Computed in f64 as `start + i * step` and then rounded to `dtype`; an integer dtype takes the greatest integer not
/// above. Whether a number just before `stop` is among them depends on a rounding where `step` is a fraction:
/// [`linspace`] has a count.
///
/// ```
/// # use monograph_compiler::trace::{arange_step, trace};
/// # use monograph_ir::{DType, interp};
/// let program = trace(|()| arange_step(DType::I32, 10.0, 0.0, -3.0), ())?;
/// let numbers = interp::evaluate(program.graph(), &[]).unwrap();
/// assert_eq!(numbers[0].to_f64_vec(), [10.0, 7.0, 4.0, 1.0]);
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn arange_step(dtype: DType, start: f64, stop: f64, step: f64) -> Tensor {
    let _scope = scope("arange_step");
    if let Err(poison) = finite_numbers("arange_step", dtype, &[start, stop, step]) {
        return poison;
    }
    let count = ((stop - start) / step).ceil().max(0.0);
    if step == 0.0 || !count.is_finite() || count > i64::MAX as f64 {
        let message = format!("`arange_step`: steps of {step} do not lead from {start} to {stop}");
        return reject(codes::OPERANDS, message, "endless", &[], &[]);
    }
    converted(spaced(start, step, count as usize), dtype)
}

/// `start + i * step` in f64.
#[track_caller]
fn spaced(start: f64, step: f64, count: usize) -> Tensor {
    super::arange(DType::F64, count) * double(step) + double(start)
}

#[track_caller]
fn converted(numbers: Tensor, dtype: DType) -> Tensor {
    if dtype.is_float() { numbers.cast(dtype) } else { numbers.floor().cast(dtype) }
}

#[track_caller]
fn double(value: f64) -> Tensor {
    filled(Literal::from_f64(DType::F64, value), Shape::scalar())
}

#[track_caller]
fn finite_numbers(name: &str, dtype: DType, numbers: &[f64]) -> Result<(), Tensor> {
    if dtype == DType::Bool {
        let message = format!("`{name}` makes integers or floats, not bool");
        return Err(reject(codes::OPERANDS, message, "needs numbers", &[], &[]));
    }
    match numbers.iter().find(|number| !number.is_finite()) {
        None => Ok(()),
        Some(number) => {
            let message = format!("`{name}`: {number} is no end of a range");
            Err(reject(codes::OPERANDS, message, "must be finite", &[], &[]))
        }
    }
}
