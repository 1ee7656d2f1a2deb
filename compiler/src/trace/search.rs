//! Places in sorted rows: `searchsorted` and `bucketize`.

use super::operators::binary;
use super::tracer::{reject, scope};
use super::{Operand, Tensor};
use crate::diagnostics::codes;
use monograph_ir::Elementwise;

/// On which side of equal elements a place is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Side {
    /// Before them: the number of smaller elements.
    #[default]
    Left,
    /// Behind them: the number of elements that are not greater.
    Right,
}

impl Tensor {
    /// The places (i64) at which `values` belong in this tensor, whose last dimension is sorted ascending: a vector
    /// `[n]` for values of any shape, or rows `[…, n]` for rows of values `[…, m]` with equal leading dimensions.
    /// NaN is the greatest value.
    ///
    /// The elements before each value are counted: the work is `n` for each, in one fused reduction.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Side, Tensor, trace};
    /// # use monograph_ir::{Element, interp};
    /// let search = |(sorted, x): (Tensor, Tensor)| sorted.searchsorted(x, Side::Left);
    /// let program = trace(search, (f32::spec([3]), f32::spec([4])))?;
    /// let sorted = interp::Tensor::from_vec([3], vec![1.0f32, 2.0, 3.0]).unwrap();
    /// let x = interp::Tensor::from_vec([4], vec![0.0f32, 2.0, 2.5, 9.0]).unwrap();
    /// assert_eq!(interp::evaluate(program.graph(), &[sorted, x]).unwrap()[0].to_f64_vec(), [0.0, 1.0, 2.0, 3.0]);
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn searchsorted(&self, values: impl Operand, side: Side) -> Tensor {
        let values = values.tensor(self.known_dtype());
        let _scope = scope("searchsorted");
        let (Some(of_rows), Some(of_values)) = (self.known(), values.known()) else { return self.beside(&values) };
        let rank = of_rows.shape.rank();
        let leading = rank.saturating_sub(1);
        let rows_pair =
            rank > 1 && of_values.shape.rank() == rank && of_values.shape[..leading] == of_rows.shape[..leading];
        if rank == 0 || rank > 1 && !rows_pair {
            let message = format!("`searchsorted`: {of_rows} with values {of_values}");
            let help = "a sorted vector takes any values; sorted rows need a row of values each".to_string();
            return reject(codes::OPERANDS, message, "rows do not pair", &[*self, values], &[help]);
        }
        if of_rows.dtype != of_values.dtype {
            return binary(Elementwise::Lt, *self, values);
        }
        // `[…, 1, n]` against `[…, m, 1]`: elements of the row along the last axis.
        let rows = self.unsqueeze(rank - 1);
        let sought = values.unsqueeze(-1);
        let mut before = match side {
            Side::Left => rows.lt(sought),
            Side::Right => rows.le(sought),
        };
        if of_rows.dtype.is_float() {
            before |= match side {
                Side::Left => sought.is_nan() & !rows.is_nan(),
                Side::Right => sought.is_nan(),
            };
        }
        before.count(-1)
    }

    /// The number (i64) of the interval between `boundaries`, a vector sorted ascending, in which each element lies:
    /// [`Tensor::searchsorted`] with the arguments in PyTorch's order. [`Side::Left`] counts an element on a boundary
    /// to the interval below it, [`Side::Right`] above.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Side, Tensor, trace};
    /// # use monograph_ir::Element;
    /// let ages = |(age, limits): (Tensor, Tensor)| age.bucketize(limits, Side::Right);
    /// let program = trace(ages, (i32::spec([8, 5]), i32::spec([3])))?;
    /// assert_eq!(program.output_form().to_string(), "i64[8, 5]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn bucketize(&self, boundaries: impl Operand, side: Side) -> Tensor {
        let boundaries = boundaries.tensor(self.known_dtype());
        let _scope = scope("bucketize");
        match boundaries.known() {
            Some(spec) if spec.shape.rank() != 1 => {
                let message = format!("`bucketize`: the boundaries are {spec}, no vector");
                reject(codes::OPERANDS, message, "needs a vector", &[*self, boundaries], &[])
            }
            _ => boundaries.searchsorted(self, side),
        }
    }
}
