//! The reference interpreter: what every op computes, on the host, in plain loops.
//!
//! It is the oracle of the tests and the body executor of the host device, so it is written to be right first:
//! elements are combined in row-major order on one thread, and the result of [`evaluate`] is the same to the bit on
//! every run. Loops are typed (no dispatch inside) and values share their data, so that it is not slow either.
//!
//! # Numerics beyond the ops' documentation
//!
//! - `f16` and `bf16` are computed in `f32`, each op rounding once; conversions from `f64` and `i64` round once too.
//! - Sums and products (reductions, scans, matrix products) run in ascending row-major order from the identity: in
//!   `f32` for `f16` and `bf16`, in `f64` for `f32` and `f64`, wrapping for integers. They round once, a scan at each
//!   prefix that it stores. So a sum of -0 is +0.
//! - A scatter that adds does so in the dtype of `f32` and `f64`, one update after the other, as kernels do, so that
//!   results agree to the bit; `f16` and `bf16` in `f32`, rounded once at the end.
//! - `div_floor` and `mod_floor` of floats are Python's and NumPy's: from the exact remainder (`1 // 0.1` is 9),
//!   `-1 // inf` is -1, `-1 % inf` is inf, a remainder of zero has the sign of the divisor.
//! - Transcendental functions are the platform's and `libm`'s, within an ulp or so; `erfinv`, `lgamma` and `digamma` are
//!   written out here and in the kernels alike, and give equal bits everywhere.
//! - Moving a NaN keeps its bits, computing with it may not.

mod convert;
mod cost;
mod elementwise;
mod error;
mod index;
mod matmul;
mod movement;
mod number;
mod program;
mod random;
mod reduce;
mod sort;
mod special;
mod tensor;
mod windows;

pub use cost::cost;
pub use error::EvalError;
pub use program::{Limits, evaluate, evaluate_with};
pub use tensor::{Cell, Data, Tensor};

use crate::{DType, Op, Origin, Spec, Type, infer};
use movement::Layout;
use program::{cond, fori_loop, while_loop};

/// The results of one op over operands.
///
/// # Errors
/// [`EvalError::Infer`] where the op does not take them, [`EvalError::Rejected`] for what no graph can hold,
/// [`EvalError::Invalid`] for a parameter, which has no value of its own, and what running out of memory gives.
pub fn evaluate_op(op: &Op, operands: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    let types: Vec<Type> = operands.iter().map(|x| Type::Tensor(x.spec().clone())).collect();
    let results = infer(op, &types.iter().collect::<Vec<_>>())?;
    apply(op, operands.to_vec(), &results, &Limits::default())
}

/// [`evaluate_op`] for operands that inference accepted with these results. Takes the operands, so that an update of
/// data that nothing else shares can work in place.
fn apply(op: &Op, mut x: Vec<Tensor>, results: &[Type], limits: &Limits) -> Result<Vec<Tensor>, EvalError> {
    // The ops that hold graphs have any number of results, and check their types themselves.
    let scalar = Spec::new(DType::Bool, []);
    let spec = results.first().and_then(Type::spec).unwrap_or(&scalar);
    let shape = &spec.shape;
    let data = match op {
        Op::Parameter(number) => return Err(EvalError::Invalid(format!("parameter {number} is not declared"))),
        Op::Constant(literal) => return Tensor::full(spec.clone(), *literal).map(|x| vec![x]),
        Op::Iota { dtype, shape, axis } => convert::iota(*dtype, shape, *axis)?,
        Op::RandomBits { shape } => random::random_bits(&x[0], shape.size())?,
        Op::Elementwise(op) => elementwise::elementwise(*op, &x)?,
        Op::Select => elementwise::select(&x)?,
        Op::Cast(dtype) => convert::cast(&x[0], *dtype)?,
        Op::Bitcast(dtype) => convert::bitcast(&x[0], *dtype)?,
        Op::Reshape(_) => x.swap_remove(0).into_data(),
        Op::Permute(axes) => movement::view(&x[0], shape, &Layout::permute(x[0].shape(), axes))?,
        Op::Broadcast(to) => movement::view(&x[0], shape, &Layout::broadcast(x[0].shape(), to))?,
        Op::Slice { starts, strides, limits: _ } => {
            movement::view(&x[0], shape, &Layout::slice(x[0].shape(), starts, strides))?
        }
        Op::Pad { low, high: _ } => movement::pad(&x[0], &x[1], low, shape)?,
        Op::Concat { axis } => movement::concat(&x, *axis, shape)?,
        Op::Reverse(axes) => movement::view(&x[0], shape, &Layout::reverse(x[0].shape(), axes))?,
        Op::Reduce { kind, axes } => reduce::reduce(&x[0], *kind, axes)?,
        Op::ArgReduce { kind, axis } => reduce::arg_reduce(&x[0], *kind, *axis)?,
        Op::Scan { kind, axis } => reduce::scan(&x[0], *kind, *axis)?,
        Op::Argsort { axis, descending } => sort::argsort(&x[0], *axis, *descending)?,
        Op::SortPacked => sort::sort_packed(x.swap_remove(0))?,
        Op::DigitCounts { shift, tile } => sort::digit_counts(&x[0], *shift, *tile)?,
        Op::PlaceByDigit { shift, tile } => sort::place_by_digit(&x[0], &x[1], *shift, *tile)?,
        Op::ScatterSorted { axis, kind } => {
            let base = x.remove(0);
            sort::scatter_sorted(base, &x[0], &x[1], *axis, *kind)?
        }
        Op::Matmul { transpose_a, transpose_b } => matmul::matmul(&x[0], &x[1], *transpose_a, *transpose_b)?,
        Op::Convolution { windows, groups } => windows::convolution(&x[0], &x[1], windows, *groups, shape)?,
        Op::WindowReduce { kind, sizes, windows } => windows::reduce(&x[0], *kind, sizes, windows, shape)?,
        Op::WindowArg { kind, sizes, windows } => windows::arg(&x[0], *kind, sizes, windows, shape)?,
        Op::WindowScatter { extents: _, sizes, windows } => windows::scatter(&x[0], &x[1], sizes, windows, shape)?,
        Op::Take { axis } => index::take(&x[0], &x[1], *axis, shape.size())?,
        Op::TakeAlong { axis } => index::take_along(&x[0], &x[1], *axis)?,
        Op::Scatter { axis, kind } => {
            let base = x.remove(0);
            index::scatter(base, &x[0], &x[1], *axis, *kind)?
        }
        Op::DynamicSlice { sizes } => movement::dynamic_slice(&x[0], &x[1..], sizes)?,
        Op::DynamicUpdateSlice => {
            let base = x.remove(0);
            movement::dynamic_update_slice(base, &x[0], &x[1..])?
        }
        Op::Cond { then, otherwise } => return cond(&then.0, &otherwise.0, x, limits),
        Op::While { condition, body } => return while_loop(&condition.0, &body.0, x, limits),
        Op::For { count, body } => return fori_loop(*count, &body.0, x, limits),
        Op::Dynamic(_) | Op::Host(_) => return Err(EvalError::Rejected { op: op.name(), origin: Origin::Unknown }),
    };
    Tensor::new(spec.clone(), data).map(|x| vec![x])
}
