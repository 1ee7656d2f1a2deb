//! Diagonals: taking them out of matrices, making matrices of them, and the identity.

use super::create::filled;
use super::normalize::INDEX;
use super::tracer::{record, reject, scope, scope_or};
use super::{AxisIndex, Tensor};
use crate::diagnostics::codes;
use monograph_ir::{Axes, DType, Literal, Op, Shape, Spec};

/// A matrix with ones (`true`) on diagonal `k` (0 is the main one, 1 the next above), else zeros.
///
/// ```
/// # use monograph_compiler::trace::{Tensor, eye, trace};
/// # use monograph_ir::{DType, Element};
/// let program = trace(|x: Tensor| x + eye(DType::F32, 3, 3, 0) * 0.1, f32::spec([3, 3]))?;
/// assert_eq!(program.output_form().to_string(), "f32[3, 3]");
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn eye(dtype: DType, rows: usize, columns: usize, k: i64) -> Tensor {
    let _scope = scope("eye");
    on_diagonal(rows, columns, k).cast(dtype)
}

/// Whether each place of a matrix is on diagonal `k`.
#[track_caller]
fn on_diagonal(rows: usize, columns: usize, k: i64) -> Tensor {
    let row = super::iota(INDEX, [rows, columns], 0);
    let column = super::iota(INDEX, [rows, columns], 1);
    (column - row).eq(filled(Literal::from_i64(INDEX, k), Shape::scalar()))
}

impl Tensor {
    /// Diagonal `k` of the matrices that dimensions `rows` and `columns` hold, as a last dimension: the elements
    /// whose column is their row plus `k`. The two dimensions leave; a diagonal beyond the matrix is empty.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.diagonal(1, 0, 1), f32::spec([3, 4, 5]))?;
    /// assert_eq!(program.output_form().to_string(), "f32[5, 3]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn diagonal(&self, k: i64, rows: impl AxisIndex, columns: impl AxisIndex) -> Tensor {
        let _scope = scope("diagonal");
        let Some(spec) = self.known() else { return self.absorb() };
        let (rows, columns) = match (self.axis(&spec, rows), self.axis(&spec, columns)) {
            (Ok(rows), Ok(columns)) => (rows, columns),
            (Err(poison), _) | (_, Err(poison)) => return poison,
        };
        if rows == columns {
            let message = format!("`diagonal`: axis {rows} of {spec} is given as rows and as columns");
            return reject(codes::AXIS, message, "a diagonal has two axes", &[*self], &[]);
        }
        let rank = spec.shape.rank();
        let order: Axes = (0..rank).filter(|axis| ![rows, columns].contains(axis)).chain([rows, columns]).collect();
        let is_last = order.iter().enumerate().all(|(i, &axis)| i == axis);
        let matrices = if is_last { *self } else { record(Op::Permute(order.clone()), &[*self]) };
        let (height, width) = (spec.shape[rows], spec.shape[columns]);
        // The square whose main diagonal it is.
        let (down, right) = (start(k.saturating_neg()).min(height), start(k).min(width));
        let length = (height - down).min(width - right);
        let square = matrices.slice(-2, down..down + length).slice(-1, right..right + length);
        let mut dims: Vec<usize> = order[..rank - 2].iter().map(|&axis| spec.shape[axis]).collect();
        dims.push(length * length);
        square.reshape(dims).slice_step(-1, .., length + 1)
    }

    /// The sum of diagonal `k` of the last two dimensions, in linear algebra called the trace.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.diagonal_sum(0), f32::spec([7, 3, 3]))?;
    /// assert_eq!(program.output_form().to_string(), "f32[7]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn diagonal_sum(&self, k: i64) -> Tensor {
        let _scope = scope("diagonal_sum");
        self.diagonal(k, -2, -1).sum(-1)
    }

    /// The matrices with the rows of the last dimension on their diagonal `k`, else zeros: `[…, n]` becomes
    /// `[…, n + |k|, n + |k|]`.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.diag_embed(-1), f32::spec([2, 3]))?;
    /// assert_eq!(program.output_form().to_string(), "f32[2, 4, 4]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn diag_embed(&self, k: i64) -> Tensor {
        let _scope = scope("diag_embed");
        let Some(spec) = self.known() else { return self.absorb() };
        let rank = spec.shape.rank();
        if let Err(poison) = self.axis(&spec, -1) {
            return poison;
        }
        let n = spec.shape[rank - 1].saturating_add(start(k)).saturating_add(start(k.saturating_neg()));
        let mut square = spec.shape.to_vec();
        square[rank - 1] = n;
        square.push(n);
        if Spec::new(INDEX, square.as_slice()).bytes().is_none() {
            let message = format!(
                "`{}`: a matrix with {spec} on diagonal {k} is more than can be addressed",
                scope_or("diag_embed")
            );
            return reject(codes::TOO_LARGE, message, "too large", &[*self], &[]);
        }
        // Row `i` holds element `i` (behind the rows above a lower diagonal), at one column.
        let mut low = vec![0; rank];
        let mut high = vec![0; rank];
        (low[rank - 1], high[rank - 1]) = (start(k.saturating_neg()) as i64, start(k) as i64);
        let zero = self.constant_like(0.0);
        let by_row = self.pad(&low, &high, zero).unsqueeze(-1);
        on_diagonal(n, n, k).select(by_row.broadcast_to(square), zero)
    }

    /// NumPy's `diag`: of a vector the matrix with it on diagonal `k`, of a matrix its diagonal `k`.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| (x.diag(0), x.diag(0).diag(0)), f32::spec([3]))?;
    /// assert_eq!(**program.output_form(), (f32::spec([3, 3]), f32::spec([3])));
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn diag(&self, k: i64) -> Tensor {
        let _scope = scope("diag");
        let Some(spec) = self.known() else { return self.absorb() };
        match spec.shape.rank() {
            1 => self.diag_embed(k),
            2 => self.diagonal(k, 0, 1),
            _ => {
                let message = format!("`diag` takes a vector or a matrix, not {spec}");
                let help = "of a batch: `.diag_embed(k)` makes matrices, `.diagonal(k, -2, -1)` takes diagonals";
                reject(codes::OPERANDS, message, "neither vector nor matrix", &[*self], &[help.to_string()])
            }
        }
    }
}

/// A positive offset; 0 for a negative one.
fn start(k: i64) -> usize {
    usize::try_from(k).unwrap_or(0)
}
