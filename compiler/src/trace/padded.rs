//! Static alternatives to operations whose result's shape depends on data: the size is given, what is missing is
//! filled, and what does not fit is dropped.

use super::create::filled;
use super::normalize::INDEX;
use super::tracer::{record, scope};
use super::{Operand, Tensor};
use monograph_ir::{DType, Literal, Op, Shape, Spec};

impl Tensor {
    /// The row-major indices (i64) of the first `size` elements that are not zero, ascending, then `fill`.
    ///
    /// The fixed-size form of [`Tensor::nonzero`]; how many indices there are is `x.ne(0).count(..)`.
    #[track_caller]
    pub fn nonzero_padded(&self, size: usize, fill: i64) -> Tensor {
        let _scope = scope("nonzero_padded");
        let Some(spec) = self.known() else { return self.absorb() };
        let fill = record(Op::Constant(Literal::from_i64(INDEX, fill)), &[]);
        let indices = super::arange(INDEX, spec.shape.size());
        compact(&self.truth(&spec).flatten(), &indices, size, fill)
    }

    /// The first `size` elements where `mask` (which broadcasts to this tensor's shape) is true, row-major, then
    /// `fill`. The fixed-size form of [`Tensor::masked_select`].
    #[track_caller]
    pub fn masked_select_padded(&self, mask: &Tensor, size: usize, fill: impl Operand) -> Tensor {
        let fill = fill.tensor(self.known_dtype());
        let _scope = scope("masked_select_padded");
        let (Some(spec), Some(_)) = (self.known(), mask.known()) else {
            return record(Op::Select, &[*mask, *self, *self]);
        };
        compact(&mask.broadcast_to(spec.shape).flatten(), &self.flatten(), size, fill)
    }

    /// The first `size` distinct elements, ascending, then `fill`; all NaN count as one, the greatest. The
    /// fixed-size form of [`Tensor::unique`].
    #[track_caller]
    pub fn unique_padded(&self, size: usize, fill: impl Operand) -> Tensor {
        let fill = fill.tensor(self.known_dtype());
        let _scope = scope("unique_padded");
        let Some(spec) = self.known() else { return self.absorb() };
        let n = spec.shape.size();
        if n == 0 {
            return fill.broadcast_to([size]);
        }
        let sorted = self.flatten().sort(0);
        compact(&sorted.begins_run(), &sorted, size, fill)
    }

    /// Whether each element of this sorted vector, which has one, differs from the one before; all NaN count as one.
    #[track_caller]
    pub(super) fn begins_run(&self) -> Tensor {
        let n = self.dim(0);
        let (later, earlier) = (self.slice(0, 1..), self.slice(0, ..n - 1));
        let mut changes = later.ne(earlier);
        if self.dtype().is_float() {
            changes &= !(later.is_nan() & earlier.is_nan());
        }
        super::concat(&[super::ones(DType::Bool, [1]), changes], 0)
    }

    /// Whether each element is not zero.
    #[track_caller]
    pub(super) fn truth(&self, spec: &Spec) -> Tensor {
        if spec.dtype == DType::Bool { *self } else { self.ne(record(Op::Constant(Literal::zero(spec.dtype)), &[])) }
    }
}

/// The first `size` of `values` where `mask` is true, then `fill`; both are vectors of one length.
#[track_caller]
pub(super) fn compact(mask: &Tensor, values: &Tensor, size: usize, fill: Tensor) -> Tensor {
    let n = values.shape().size();
    let fill = fill.broadcast_to([size]);
    if n == 0 || size == 0 {
        return fill;
    }
    // Element `j` of the result is the first up to which `j + 1` are chosen.
    let counts = mask.cast(INDEX).cumsum(0);
    let wanted = super::arange(INDEX, size) + index(1, &[size]);
    let place = first_at_least(&counts, &wanted, n);
    place.lt(index(n, &[size])).select(values.take(place, 0), fill)
}

/// For each of `wanted` (a vector) the first place of the ascending numbers `sorted` (a vector of `n`) that is not
/// below it, `n` where all are: found by halving, the same steps for all.
#[track_caller]
fn first_at_least(sorted: &Tensor, wanted: &Tensor, n: usize) -> Tensor {
    let shape = wanted.shape();
    let mut below = index(0, &shape);
    let mut step = n.next_power_of_two();
    while step > 0 {
        if step <= n {
            // Whether the first `next` are all below what is wanted.
            let next = below + index(step, &shape);
            let last = sorted.take(next - index(1, &shape), 0);
            below = (next.le(index(n, &shape)) & last.lt(wanted)).select(next, below);
        }
        step /= 2;
    }
    below
}

/// A number in a shape.
#[track_caller]
fn index(value: usize, shape: &[usize]) -> Tensor {
    filled(Literal::from_i64(INDEX, value as i64), Shape::from(shape))
}
