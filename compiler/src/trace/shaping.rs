//! Methods that rearrange elements: reshape, permute, broadcast, slice, pad, concat.

use super::tracer::{record, reject, scope};
use super::{AxisIndex, AxisList, Operand, Tensor};
use crate::diagnostics::codes;
use monograph_ir::{Amounts, Axes, Op, Shape, Spec};
use std::ops::{Bound, RangeBounds};

impl Tensor {
    /// The same elements in row-major order under another shape of the same size.
    #[track_caller]
    pub fn reshape(&self, shape: impl Into<Shape>) -> Tensor {
        let shape = shape.into();
        match self.known() {
            Some(spec) if spec.shape == shape => *self,
            _ => record(Op::Reshape(shape), &[*self]),
        }
    }

    /// The elements as a vector.
    #[track_caller]
    pub fn flatten(&self) -> Tensor {
        let _scope = scope("flatten");
        match self.known() {
            Some(spec) => self.reshape([spec.shape.size()]),
            None => self.absorb(),
        }
    }

    /// Dimension `i` of the result is dimension `axes[i]` of this tensor; every axis is given once.
    #[track_caller]
    pub fn permute(&self, axes: impl AxisList) -> Tensor {
        let _scope = scope("permute");
        let Some(spec) = self.known() else { return self.absorb() };
        match self.ordered_axes(&spec, axes) {
            Ok(axes) => record(Op::Permute(axes), &[*self]),
            Err(poison) => poison,
        }
    }

    /// The tensor with two dimensions exchanged.
    #[track_caller]
    pub fn transpose(&self, a: impl AxisIndex, b: impl AxisIndex) -> Tensor {
        let _scope = scope("transpose");
        let Some(spec) = self.known() else { return self.absorb() };
        let (a, b) = match (self.axis(&spec, a), self.axis(&spec, b)) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(poison), _) | (_, Err(poison)) => return poison,
        };
        let mut axes: Axes = (0..spec.shape.rank()).collect();
        axes.swap(a, b);
        if a == b { *self } else { record(Op::Permute(axes), &[*self]) }
    }

    /// The last two dimensions exchanged: the matrix transpose, of each matrix of a batch.
    #[track_caller]
    pub fn t(&self) -> Tensor {
        let _scope = scope("t");
        self.transpose(-2, -1)
    }

    /// Stretches to that shape by NumPy's rule: aligned at the right, extents of 1 repeat.
    #[track_caller]
    pub fn broadcast_to(&self, shape: impl Into<Shape>) -> Tensor {
        let shape = shape.into();
        let _scope = scope("broadcast_to");
        match self.known() {
            Some(spec) if spec.shape == shape => *self,
            _ => record(Op::Broadcast(shape), &[*self]),
        }
    }

    /// A dimension of extent 1 before dimension `axis` of the result; `-1` adds it at the end.
    #[track_caller]
    pub fn unsqueeze(&self, axis: impl AxisIndex) -> Tensor {
        let _scope = scope("unsqueeze");
        let Some(spec) = self.known() else { return self.absorb() };
        let mut dims = spec.shape.to_vec();
        dims.push(1);
        let larger = Spec::new(spec.dtype, dims.clone());
        let axis = match self.axis(&larger, axis) {
            Ok(axis) => axis,
            Err(poison) => return poison,
        };
        dims.pop();
        dims.insert(axis, 1);
        self.reshape(dims)
    }

    /// The tensor without these dimensions, whose extents are 1.
    #[track_caller]
    pub fn squeeze(&self, axes: impl AxisList) -> Tensor {
        let _scope = scope("squeeze");
        let Some(spec) = self.known() else { return self.absorb() };
        let axes = match self.sorted_axes(&spec, axes) {
            Ok(axes) => axes,
            Err(poison) => return poison,
        };
        if let Some(&axis) = axes.iter().find(|&&axis| spec.shape[axis] != 1) {
            let message = format!("`squeeze`: axis {axis} of {spec} has extent {}, not 1", spec.shape[axis]);
            return reject(codes::OPERANDS, message, "cannot be squeezed", &[*self], &[]);
        }
        let dims = spec.shape.iter().enumerate().filter(|(i, _)| !axes.contains(i)).map(|(_, &d)| d);
        self.reshape(dims.collect::<Shape>())
    }

    /// The indices `range` of dimension `axis`: `x.slice(0, 1..3)`.
    #[track_caller]
    pub fn slice(&self, axis: impl AxisIndex, range: impl RangeBounds<usize>) -> Tensor {
        self.slice_step(axis, range, 1)
    }

    /// Every `step`-th of the indices `range` of dimension `axis`, `step` being at least 1.
    #[track_caller]
    pub fn slice_step(&self, axis: impl AxisIndex, range: impl RangeBounds<usize>, step: usize) -> Tensor {
        let _scope = scope("slice");
        let Some(spec) = self.known() else { return self.absorb() };
        let axis = match self.axis(&spec, axis) {
            Ok(axis) => axis,
            Err(poison) => return poison,
        };
        let rank = spec.shape.rank();
        let mut starts = Axes::from_elem(0, rank);
        let mut limits: Axes = spec.shape.iter().copied().collect();
        let mut strides = Axes::from_elem(1, rank);
        starts[axis] = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        limits[axis] = match range.end_bound() {
            Bound::Included(&last) => last.saturating_add(1),
            Bound::Excluded(&limit) => limit,
            Bound::Unbounded => spec.shape[axis],
        };
        strides[axis] = step;
        record(Op::Slice { starts, limits, strides }, &[*self])
    }

    /// `low[i]` elements of `value` before dimension `i` and `high[i]` after it; negative amounts cut off.
    #[track_caller]
    pub fn pad(&self, low: &[i64], high: &[i64], value: impl Operand) -> Tensor {
        let value = value.tensor(self.known_dtype());
        record(Op::Pad { low: Amounts::from_slice(low), high: Amounts::from_slice(high) }, &[*self, value])
    }

    /// The order of these axes turned around.
    #[track_caller]
    pub fn flip(&self, axes: impl AxisList) -> Tensor {
        let _scope = scope("flip");
        let Some(spec) = self.known() else { return self.absorb() };
        match self.sorted_axes(&spec, axes) {
            Ok(axes) => record(Op::Reverse(axes), &[*self]),
            Err(poison) => poison,
        }
    }

    /// The lower triangle of the last two dimensions, zero above diagonal `k` (0 is the main one, 1 the next above).
    #[track_caller]
    pub fn tril(&self, k: i64) -> Tensor {
        let _scope = scope("tril");
        self.triangle(k, false)
    }

    /// The upper triangle of the last two dimensions, zero below diagonal `k` (0 is the main one, 1 the next above).
    #[track_caller]
    pub fn triu(&self, k: i64) -> Tensor {
        let _scope = scope("triu");
        self.triangle(k, true)
    }

    #[track_caller]
    fn triangle(&self, k: i64, upper: bool) -> Tensor {
        let Some(spec) = self.known() else { return self.absorb() };
        let (rows, columns) = match (self.axis(&spec, -2), self.axis(&spec, -1)) {
            (Ok(rows), Ok(columns)) => (spec.shape[rows], spec.shape[columns]),
            (Err(poison), _) | (_, Err(poison)) => return poison,
        };
        let dtype = monograph_ir::DType::I64;
        let row = super::iota(dtype, [rows, columns], 0);
        let column = super::iota(dtype, [rows, columns], 1);
        let diagonal = record(Op::Constant(monograph_ir::Literal::from_i64(dtype, k)), &[]);
        let offset = column - row;
        let keep = if upper { offset.ge(diagonal) } else { offset.le(diagonal) };
        keep.select(self, self.zeros_like())
    }
}

/// Tensors one after the other along `axis`, on which alone their extents may differ.
#[track_caller]
pub fn concat(tensors: &[Tensor], axis: impl AxisIndex) -> Tensor {
    let _scope = scope("concat");
    let Some(first) = tensors.first() else { return nothing("concat") };
    let Some(spec) = first.known() else { return record(Op::Concat { axis: 0 }, tensors) };
    match first.axis(&spec, axis) {
        Ok(axis) => record(Op::Concat { axis }, tensors),
        Err(poison) => poison,
    }
}

/// Tensors of one shape along a new dimension `axis` of the result.
#[track_caller]
pub fn stack(tensors: &[Tensor], axis: impl AxisIndex) -> Tensor {
    let _scope = scope("stack");
    let Some(first) = tensors.first() else { return nothing("stack") };
    let Some(spec) = first.known() else { return record(Op::Concat { axis: 0 }, tensors) };
    let mut parts = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        let part = tensor.unsqueeze(axis);
        parts.push(part);
    }
    let larger = Spec::new(spec.dtype, vec![1; spec.shape.rank() + 1]);
    match first.axis(&larger, axis) {
        Ok(axis) => record(Op::Concat { axis }, &parts),
        Err(poison) => poison,
    }
}

#[track_caller]
fn nothing(name: &str) -> Tensor {
    let message = format!("`{name}` of no tensors has no shape");
    reject(codes::OPERANDS, message, "needs at least one tensor", &[], &[])
}
