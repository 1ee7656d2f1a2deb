//! Tensors made from nothing: constants and ranges.

use super::tracer::record;
use super::{AxisIndex, Tensor};
use monograph_ir::{DType, Literal, Op, Shape, Spec};

/// A tensor of zeros (`false`).
#[track_caller]
pub fn zeros(dtype: DType, shape: impl Into<Shape>) -> Tensor {
    filled(Literal::zero(dtype), shape.into())
}

/// A tensor of ones (`true`).
#[track_caller]
pub fn ones(dtype: DType, shape: impl Into<Shape>) -> Tensor {
    filled(Literal::one(dtype), shape.into())
}

/// A tensor whose elements are all `value`, as the nearest value of `dtype`.
#[track_caller]
pub fn full(dtype: DType, shape: impl Into<Shape>, value: f64) -> Tensor {
    filled(Literal::from_f64(dtype, value), shape.into())
}

/// 0, 1, 2, … along `axis`, the same at every other index. `dtype` is an integer or a float; counts beyond its range
/// wrap, and those beyond a float's precision are rounded.
#[track_caller]
pub fn iota(dtype: DType, shape: impl Into<Shape>, axis: impl AxisIndex) -> Tensor {
    let shape = shape.into();
    let nothing = Tensor::nowhere();
    let axis = match nothing.axis(&Spec::new(dtype, shape.clone()), axis) {
        Ok(axis) => axis,
        Err(poison) => return poison,
    };
    record(Op::Iota { dtype, shape, axis }, &[])
}

/// The vector 0, 1, …, `n - 1`. `dtype` is an integer or a float; counts beyond its range wrap, and those beyond a
/// float's precision are rounded.
#[track_caller]
pub fn arange(dtype: DType, n: usize) -> Tensor {
    record(Op::Iota { dtype, shape: Shape::from([n]), axis: 0 }, &[])
}

/// A literal stretched to a shape.
#[track_caller]
pub(super) fn filled(literal: Literal, shape: Shape) -> Tensor {
    let scalar = record(Op::Constant(literal), &[]);
    if shape.rank() == 0 { scalar } else { record(Op::Broadcast(shape), &[scalar]) }
}

impl Tensor {
    /// Zeros of this tensor's dtype and shape.
    #[track_caller]
    pub fn zeros_like(&self) -> Tensor {
        self.full_like(0.0)
    }

    /// Ones of this tensor's dtype and shape.
    #[track_caller]
    pub fn ones_like(&self) -> Tensor {
        self.full_like(1.0)
    }

    /// A tensor of this one's dtype and shape whose elements are all the nearest value to `value`.
    #[track_caller]
    pub fn full_like(&self, value: f64) -> Tensor {
        match self.known() {
            Some(spec) => full(spec.dtype, spec.shape, value),
            None => self.absorb(),
        }
    }

    /// A scalar of this tensor's dtype that belongs to the operation itself: not a frozen number of the user's.
    #[track_caller]
    pub(super) fn constant_like(&self, value: f64) -> Tensor {
        record(Op::Constant(Literal::from_f64(self.dtype(), value)), &[])
    }
}
