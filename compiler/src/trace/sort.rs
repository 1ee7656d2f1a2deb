//! Sorting along one axis by counting ranks.
//!
//! The rank of an element is the number of elements that come before it: `n²` comparisons that fuse into one
//! reduction, without a data-dependent step. The order is total and stable: NaN is the greatest value, ±0 tie, and
//! equal elements keep their order. The work is quadratic in the extent of the axis; for some thousands of elements
//! that is less than a launch costs, for millions it is too much.

use super::create::filled;
use super::normalize::INDEX;
use super::tracer::{reject, scope};
use super::{AxisIndex, Tensor};
use crate::diagnostics::codes;
use monograph_ir::{Literal, Shape};

/// Which element comes first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Ascending,
    Descending,
}

/// The rows of a tensor whose sorted axis was moved to the end: `[batch, n]`, and the place of each element in its
/// sorted row.
struct Ranked {
    rows: Tensor,
    ranks: Tensor,
    batch: usize,
    n: usize,
    /// The shape before flattening, sorted axis last.
    shape: Shape,
    axis: usize,
}

impl Tensor {
    /// The elements along `axis` ascending: stable, NaN last. Quadratic in the extent of the axis.
    #[track_caller]
    pub fn sort(&self, axis: impl AxisIndex) -> Tensor {
        self.sorted("sort", axis, Order::Ascending, false)
    }

    /// The elements along `axis` descending: stable, NaN first. Quadratic in the extent of the axis.
    #[track_caller]
    pub fn sort_descending(&self, axis: impl AxisIndex) -> Tensor {
        self.sorted("sort_descending", axis, Order::Descending, false)
    }

    /// The indices (i64) that sort `axis` ascending: stable, NaN last. Quadratic in the extent of the axis.
    #[track_caller]
    pub fn argsort(&self, axis: impl AxisIndex) -> Tensor {
        self.sorted("argsort", axis, Order::Ascending, true)
    }

    /// The indices (i64) that sort `axis` descending: stable, NaN first. Quadratic in the extent of the axis.
    #[track_caller]
    pub fn argsort_descending(&self, axis: impl AxisIndex) -> Tensor {
        self.sorted("argsort_descending", axis, Order::Descending, true)
    }

    /// The `k` greatest elements along `axis`, descending, and their indices (i64); NaN is the greatest, and the
    /// first of equal elements comes first. Quadratic in the extent of the axis.
    #[track_caller]
    pub fn topk(&self, k: usize, axis: impl AxisIndex) -> (Tensor, Tensor) {
        let _scope = scope("topk");
        let ranked = match self.ranked(axis, Order::Descending) {
            Ok(ranked) => ranked,
            Err(poison) => return (poison, poison),
        };
        if k > ranked.n {
            let message =
                format!("`topk`: {k} of the {} elements of axis {} of {}", ranked.n, ranked.axis, self.spec());
            let poison = reject(codes::OPERANDS, message, "there are fewer elements", &[*self], &[]);
            return (poison, poison);
        }
        let indices = ranked.scattered(&super::iota(INDEX, [ranked.batch, ranked.n], 1), k);
        (ranked.scattered(&ranked.rows, k), indices)
    }

    #[track_caller]
    fn sorted(&self, name: &'static str, axis: impl AxisIndex, order: Order, indices: bool) -> Tensor {
        let _scope = scope(name);
        match self.ranked(axis, order) {
            Ok(ranked) if indices => ranked.scattered(&super::iota(INDEX, [ranked.batch, ranked.n], 1), ranked.n),
            Ok(ranked) => ranked.scattered(&ranked.rows, ranked.n),
            Err(poison) => poison,
        }
    }

    #[track_caller]
    fn ranked(&self, axis: impl AxisIndex, order: Order) -> Result<Ranked, Tensor> {
        let Some(spec) = self.known() else { return Err(self.absorb()) };
        let axis = self.axis(&spec, axis)?;
        let last = self.transpose(axis, -1);
        let shape = last.shape();
        let n = spec.shape[axis];
        let batch = shape[..shape.rank() - 1].iter().product();
        let rows = last.reshape([batch, n]);
        // `i` is the element that is ranked, along axis 1; `j` runs over its row, along axis 2.
        let square = [batch, n, n];
        let at_i = rows.reshape([batch, n, 1]).broadcast_to(square);
        let at_j = rows.reshape([batch, 1, n]).broadcast_to(square);
        let (first, second) = match order {
            Order::Ascending => (at_j, at_i),
            Order::Descending => (at_i, at_j),
        };
        let (mut before, mut tie) = (first.lt(second), first.eq(second));
        if spec.dtype.is_float() {
            let (first_nan, second_nan) = (first.is_nan(), second.is_nan());
            before |= second_nan & !first_nan;
            tie |= first_nan & second_nan;
        }
        let earlier = super::iota(INDEX, square, 2).lt(super::iota(INDEX, square, 1));
        let ranks = (before | (tie & earlier)).cast(INDEX).sum(2);
        Ok(Ranked { rows, ranks, batch, n, shape, axis })
    }
}

impl Ranked {
    /// `values` (`[batch, n]`) at their ranks, the first `k` of each row, in the shape and order of the operand.
    #[track_caller]
    fn scattered(&self, values: &Tensor, k: usize) -> Tensor {
        let Ranked { batch, n, .. } = *self;
        let index = |value: usize| Literal::from_i64(INDEX, value as i64);
        let width = filled(index(k), Shape::scalar());
        let row = super::iota(INDEX, [batch, n], 0);
        let mut place = row * width + self.ranks;
        if k < n {
            // Ranks beyond `k` would run into the next row; they go outside, where they are dropped.
            let outside = filled(index(batch * k), Shape::scalar());
            place = self.ranks.lt(width).select(place, outside);
        }
        let base = super::zeros(values.dtype(), [batch * k]);
        let flat = base.scatter_set(place.flatten(), values.flatten(), 0);
        let mut dims = self.shape.to_vec();
        if let Some(last) = dims.last_mut() {
            *last = k;
        }
        flat.reshape(dims).transpose(self.axis, -1)
    }
}
