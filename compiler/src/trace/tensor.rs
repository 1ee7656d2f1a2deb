//! `Tensor`: a handle to a value of the running trace.

use super::tracer::{record, with};
use monograph_ir::{DType, Leaf, Op, Shape, Spec, Type};
use std::fmt;
use std::marker::PhantomData;

/// A tensor of the running trace: it has a dtype and a shape, and no data yet.
///
/// It is a small `Copy` handle that is valid on the thread and in the trace that made it. Operations on it never
/// fail and never panic: one that is wrong records a diagnostic with its place in the source and gives a poisoned
/// tensor, which swallows what follows. `trace` then returns all of these errors at once.
///
/// Shapes are static and row-major. Both sides of a binary operation have one dtype (a literal takes the tensor's),
/// and their shapes broadcast by NumPy's rule: aligned at the right, extents of 1 repeat.
#[derive(Clone, Copy)]
pub struct Tensor {
    trace: u32,
    index: u32,
    not_send: PhantomData<*const ()>,
}

impl Leaf for Tensor {}

impl Tensor {
    pub(super) const fn new(trace: u32, index: u32) -> Tensor {
        Tensor { trace, index, not_send: PhantomData }
    }

    /// What an operation outside of any trace gives; using it in a trace is an error there.
    pub(super) const fn nowhere() -> Tensor {
        Tensor::new(0, 0)
    }

    pub(super) const fn trace(self) -> u32 {
        self.trace
    }

    pub(super) const fn index(self) -> usize {
        self.index as usize
    }

    /// Dtype and static shape, where they are known: not of a tensor whose shape depends on data.
    pub(super) fn known(self) -> Option<Spec> {
        match with(|t| t.ty(self)).flatten() {
            Some(Type::Tensor(spec)) => Some(spec),
            Some(Type::Dynamic(_)) | None => None,
        }
    }

    /// The result of any operation over a tensor without a static shape: dynamic if the tensor is (the consumer is
    /// recorded, to be shown in the root's diagnostic), else poison.
    #[track_caller]
    pub(super) fn absorb(self) -> Tensor {
        record(Op::Reshape(Shape::scalar()), &[self])
    }

    /// Dtype and shape; `f32[]` for a poisoned tensor of which nothing is known, and for one whose shape depends on
    /// data.
    pub fn spec(&self) -> Spec {
        self.known().unwrap_or_else(|| Spec::new(self.dtype(), []))
    }

    /// Type of the elements; `f32` for a poisoned tensor of which nothing is known.
    pub fn dtype(&self) -> DType {
        with(|t| t.ty(*self)).flatten().map_or(DType::F32, |ty| ty.dtype())
    }

    /// The dtype of a tensor of static shape. A dynamic one gets a diagnostic already, and complaints about what is
    /// done with it would only bury that.
    pub(super) fn known_dtype(self) -> Option<DType> {
        self.known().map(|spec| spec.dtype)
    }

    /// Extents, outermost first; see [`Tensor::spec`].
    pub fn shape(&self) -> Shape {
        self.spec().shape
    }

    /// Number of dimensions; see [`Tensor::spec`].
    pub fn rank(&self) -> usize {
        self.shape().rank()
    }

    /// Extent of one dimension, negative axes counting from the end; 1 where there is no such dimension.
    pub fn dim(&self, axis: impl super::AxisIndex) -> usize {
        let shape = self.shape();
        axis.resolve(shape.rank()).map_or(1, |axis| shape[axis])
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match with(|t| t.ty(*self)).flatten() {
            Some(ty) => write!(f, "Tensor({ty})"),
            None => f.write_str("Tensor(unknown)"),
        }
    }
}
