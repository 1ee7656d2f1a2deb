//! Gathers, scatters and slices at indices that the device computes.

use super::operators::align;
use super::tracer::{record, reject, scope};
use super::{AxisIndex, Operand, Tensor};
use crate::diagnostics::codes;
use monograph_ir::{DType, Op, ScatterKind, Shape};

impl Tensor {
    /// The slices at `indices` (i32 or i64, of any shape) along `axis`, which the dimensions of `indices` replace.
    /// An index outside `0..extent` reads zeros.
    #[track_caller]
    pub fn take(&self, indices: impl Operand, axis: impl AxisIndex) -> Tensor {
        let indices = indices.tensor(Some(DType::I64));
        let _scope = scope("take");
        let Some(spec) = self.known() else { return record(Op::Take { axis: 0 }, &[*self, indices]) };
        match self.axis(&spec, axis) {
            Ok(axis) => record(Op::Take { axis }, &[*self, indices]),
            Err(poison) => poison,
        }
    }

    /// [`Tensor::take`] with the arguments in the order of other libraries.
    #[track_caller]
    pub fn index_select(&self, axis: impl AxisIndex, indices: impl Operand) -> Tensor {
        self.take(indices, axis)
    }

    /// Each element `x[…, indices[…, j, …], …]`: `indices` (i32 or i64) has this tensor's shape except along `axis`.
    /// An index outside reads zero.
    #[track_caller]
    pub fn take_along(&self, indices: impl Operand, axis: impl AxisIndex) -> Tensor {
        let indices = indices.tensor(Some(DType::I64));
        let _scope = scope("take_along");
        let Some(spec) = self.known() else { return record(Op::TakeAlong { axis: 0 }, &[*self, indices]) };
        match self.axis(&spec, axis) {
            Ok(axis) => record(Op::TakeAlong { axis }, &[*self, indices]),
            Err(poison) => poison,
        }
    }

    /// This tensor with the slices of `updates` added at `indices` (a vector of i32 or i64) along `axis`, in the
    /// order of the indices. An index outside is dropped.
    #[track_caller]
    pub fn scatter_add(&self, indices: impl Operand, updates: impl Operand, axis: impl AxisIndex) -> Tensor {
        let indices = indices.tensor(Some(DType::I64));
        let updates = updates.tensor(self.known_dtype());
        let _scope = scope("scatter_add");
        self.scatter(ScatterKind::Add, indices, updates, axis)
    }

    /// This tensor with the slices of `updates` written at `indices` (a vector of i32 or i64) along `axis`; the last
    /// update of an index wins. An index outside is dropped.
    #[track_caller]
    pub fn scatter_set(&self, indices: impl Operand, updates: impl Operand, axis: impl AxisIndex) -> Tensor {
        let indices = indices.tensor(Some(DType::I64));
        let updates = updates.tensor(self.known_dtype());
        let _scope = scope("scatter_set");
        self.scatter(ScatterKind::Set, indices, updates, axis)
    }

    /// This tensor with each element raised to the greatest of the updates at `indices` (a vector of i32 or i64) along
    /// `axis`, if one is greater: NaN where one of them is, and +0 is greater than -0. An index outside is dropped.
    #[track_caller]
    pub fn scatter_max(&self, indices: impl Operand, updates: impl Operand, axis: impl AxisIndex) -> Tensor {
        let indices = indices.tensor(Some(DType::I64));
        let updates = updates.tensor(self.known_dtype());
        let _scope = scope("scatter_max");
        self.scatter(ScatterKind::Max, indices, updates, axis)
    }

    /// This tensor with each element lowered to the smallest of the updates at `indices` (a vector of i32 or i64)
    /// along `axis`, if one is smaller: NaN where one of them is, and -0 is smaller than +0. An index outside is
    /// dropped.
    #[track_caller]
    pub fn scatter_min(&self, indices: impl Operand, updates: impl Operand, axis: impl AxisIndex) -> Tensor {
        let indices = indices.tensor(Some(DType::I64));
        let updates = updates.tensor(self.known_dtype());
        let _scope = scope("scatter_min");
        self.scatter(ScatterKind::Min, indices, updates, axis)
    }

    #[track_caller]
    fn scatter(&self, kind: ScatterKind, indices: Tensor, updates: Tensor, axis: impl AxisIndex) -> Tensor {
        let operands = [*self, indices, updates];
        let Some(spec) = self.known() else { return record(Op::Scatter { axis: 0, kind }, &operands) };
        match self.axis(&spec, axis) {
            Ok(axis) => record(Op::Scatter { axis, kind }, &operands),
            Err(poison) => poison,
        }
    }

    /// The rows of this table (`[rows, …]`) at `ids` (i32 or i64, of any shape); an id outside reads zeros.
    #[track_caller]
    pub fn embedding(&self, ids: impl Operand) -> Tensor {
        let ids = ids.tensor(Some(DType::I64));
        let _scope = scope("embedding");
        self.take(ids, 0)
    }

    /// A last dimension of `classes` elements of `dtype`: 1 (`true`) at the index that this integer tensor holds,
    /// else 0. An index outside gives zeros.
    #[track_caller]
    pub fn one_hot(&self, classes: usize, dtype: DType) -> Tensor {
        let _scope = scope("one_hot");
        let Some(spec) = self.known() else { return self.absorb() };
        if !spec.dtype.is_integer() {
            let message = format!("`one_hot` takes an integer dtype, not {}", spec.dtype);
            let help = "convert it first: `.cast(DType::I64)`".to_string();
            return reject(codes::OPERANDS, message, "needs integers", &[*self], &[help]);
        }
        let mut dims = spec.shape.to_vec();
        dims.push(classes);
        // Counted in i64: a narrow dtype would wrap and find an index twice.
        let classes = super::iota(DType::I64, dims, -1);
        self.cast(DType::I64).unsqueeze(-1).eq(classes).cast(dtype)
    }

    /// The block of extents `sizes` whose corner is at `starts` (i32 or i64 scalars, one a dimension), moved inside
    /// where it would stick out.
    #[track_caller]
    pub fn dynamic_slice(&self, starts: &[Tensor], sizes: impl Into<Shape>) -> Tensor {
        let mut operands = vec![*self];
        operands.extend_from_slice(starts);
        record(Op::DynamicSlice { sizes: sizes.into() }, &operands)
    }

    /// This tensor with `block` written at the corner `starts` (i32 or i64 scalars, one a dimension), moved inside
    /// where it would stick out.
    #[track_caller]
    pub fn dynamic_update_slice(&self, block: impl Operand, starts: &[Tensor]) -> Tensor {
        let block = block.tensor(self.known_dtype());
        let mut operands = vec![*self, block];
        operands.extend_from_slice(starts);
        record(Op::DynamicUpdateSlice, &operands)
    }

    /// This tensor where `mask` is false, `value` where it is true; mask and value broadcast.
    #[track_caller]
    pub fn masked_fill(&self, mask: &Tensor, value: impl Operand) -> Tensor {
        let value = value.tensor(self.known_dtype());
        let _scope = scope("masked_fill");
        match align("masked_fill", [*mask, value, *self]) {
            Ok(operands) => record(Op::Select, &operands),
            Err(poison) => poison,
        }
    }
}
