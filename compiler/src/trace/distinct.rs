//! More about distinct and nonzero elements: how many there are, how often each occurs, and where.

use super::create::filled;
use super::normalize::INDEX;
use super::padded::compact;
use super::tracer::scope;
use super::{Operand, Tensor};
use monograph_ir::{Literal, Shape};

impl Tensor {
    /// How many distinct elements there are, an i64 scalar; all NaN count as one. It says how many of the elements of
    /// [`Tensor::unique_padded`] are no fill. Quadratic in the number of elements.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::{Element, interp};
    /// let program = trace(|x: Tensor| x.unique_count(), f32::spec([4]))?;
    /// let x = interp::Tensor::from_vec([4], vec![2.0f32, 1.0, 2.0, 0.0]).unwrap();
    /// assert_eq!(interp::evaluate(program.graph(), &[x]).unwrap()[0].to_f64_vec(), [3.0]);
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn unique_count(&self) -> Tensor {
        let _scope = scope("unique_count");
        let Some(spec) = self.known() else { return self.absorb() };
        if spec.shape.is_empty() {
            return super::zeros(INDEX, []);
        }
        self.flatten().sort(0).begins_run().count(0)
    }

    /// [`Tensor::unique_padded`], and how often each of these elements occurs (i64), 0 behind them.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.unique_counts_padded(5, -1), i32::spec([40]))?;
    /// assert_eq!(**program.output_form(), (i32::spec([5]), i64::spec([5])));
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn unique_counts_padded(&self, size: usize, fill: impl Operand) -> (Tensor, Tensor) {
        let fill = fill.tensor(self.known_dtype());
        let _scope = scope("unique_counts_padded");
        let Some(spec) = self.known() else { return (self.absorb(), self.absorb()) };
        let none = super::zeros(INDEX, [size]);
        if spec.shape.is_empty() {
            return (fill.broadcast_to([size]), none);
        }
        let sorted = self.flatten().sort(0);
        let first = sorted.begins_run();
        let counts = none.scatter_add(numbered(&first), super::ones(INDEX, [spec.shape.size()]), 0);
        (compact(&first, &sorted, size, fill), counts)
    }

    /// The place (i64) of each element among the distinct ones, ascending: with it, `unique_padded(…).take(places, 0)`
    /// is this tensor. All NaN count as one. Quadratic in the number of elements.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::{Element, interp};
    /// let program = trace(|x: Tensor| x.unique_inverse(), f32::spec([4]))?;
    /// let x = interp::Tensor::from_vec([4], vec![7.0f32, 1.0, 7.0, 3.0]).unwrap();
    /// assert_eq!(interp::evaluate(program.graph(), &[x]).unwrap()[0].to_f64_vec(), [2.0, 0.0, 2.0, 1.0]);
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn unique_inverse(&self) -> Tensor {
        let _scope = scope("unique_inverse");
        let Some(spec) = self.known() else { return self.absorb() };
        if spec.shape.is_empty() {
            return super::zeros(INDEX, spec.shape);
        }
        let order = self.flatten().argsort(0);
        let places = numbered(&self.flatten().take(order, 0).begins_run());
        super::zeros(INDEX, [spec.shape.size()]).scatter_set(order, places, 0).reshape(spec.shape)
    }

    /// The indices (i64) along every dimension of the first `size` elements that are not zero, row-major: `[size,
    /// rank]`, rows of `fill` behind them. NumPy's `argwhere` with a fixed size; [`Tensor::nonzero_padded`] has the
    /// elements' numbers.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.gt(0.5).argwhere_padded(10, -1), f32::spec([20, 30]))?;
    /// assert_eq!(program.output_form().to_string(), "i64[10, 2]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn argwhere_padded(&self, size: usize, fill: i64) -> Tensor {
        let _scope = scope("argwhere_padded");
        let Some(spec) = self.known() else { return self.absorb() };
        let (rank, elements) = (spec.shape.rank(), spec.shape.size());
        let fill = filled(Literal::from_i64(INDEX, fill), Shape::scalar());
        if rank == 0 {
            return super::zeros(INDEX, [size, 0]);
        }
        if elements == 0 {
            return fill.broadcast_to([size, rank]);
        }
        let chosen = self.truth(&spec).flatten();
        let mut columns = Vec::with_capacity(rank);
        for axis in 0..rank {
            let along = super::iota(INDEX, spec.shape.clone(), axis).flatten();
            columns.push(compact(&chosen, &along, size, fill));
        }
        super::stack(&columns, 1)
    }
}

/// The number of the run that each element is in, given where runs begin.
#[track_caller]
fn numbered(first: &Tensor) -> Tensor {
    first.cast(INDEX).cumsum(0) - filled(Literal::one(INDEX), Shape::scalar())
}
