//! Matrix products.

use super::tracer::{record, reject, scope};
use super::{Operand, Tensor};
use crate::diagnostics::codes;
use monograph_ir::{Op, Shape};

impl Tensor {
    /// Matrix product of numbers by NumPy's rule: `[…, M, K] × […, K, N]` gives `[…, M, N]`, the leading dimensions
    /// broadcast, and a vector is a row on the left and a column on the right, whose extent of 1 vanishes.
    ///
    /// f32 is IEEE f32; f16 and bf16 accumulate in f32 and round once.
    #[track_caller]
    pub fn matmul(&self, rhs: impl Operand) -> Tensor {
        let rhs = rhs.tensor(self.known_dtype());
        let _scope = scope("matmul");
        let op = Op::Matmul { transpose_a: false, transpose_b: false };
        let (Some(a), Some(b)) = (self.known(), rhs.known()) else { return record(op, &[*self, rhs]) };
        let (rank_a, rank_b) = (a.shape.rank(), b.shape.rank());
        if rank_a == 0 || rank_b == 0 {
            let message = format!("`matmul`: {a} with {b}: a scalar is no matrix");
            let help = "multiply by a scalar with `*`".to_string();
            return reject(codes::MATMUL, message, "needs vectors or matrices", &[*self, rhs], &[help]);
        }
        let inner = (a.shape[rank_a - 1], b.shape[rank_b.saturating_sub(2)]);
        if inner.0 != inner.1 {
            let message = format!("`matmul`: {a} with {b}: the inner dimensions {} and {} differ", inner.0, inner.1);
            let transposed = rank_b >= 2 && b.shape[rank_b - 1] == inner.0;
            let help = transposed.then(|| "the right side looks transposed: `.t()` turns it".to_string());
            let help: Vec<String> = help.into_iter().collect();
            return reject(codes::MATMUL, message, "inner dimensions differ", &[*self, rhs], &help);
        }
        // Vectors become matrices; the extents of 1 leave with the last reshape.
        let matrix_a = if rank_a == 1 { self.reshape([1, a.shape[0]]) } else { *self };
        let matrix_b = if rank_b == 1 { rhs.reshape([b.shape[0], 1]) } else { rhs };
        let (shape_a, shape_b) = (matrix_a.shape(), matrix_b.shape());
        let (batch_a, last_a) = shape_a.split_at(shape_a.rank() - 2);
        let (batch_b, last_b) = shape_b.split_at(shape_b.rank() - 2);
        let Some(batch) = Shape::from(batch_a).broadcast_with(&Shape::from(batch_b)) else {
            let message = format!("`matmul`: {a} with {b}: the batch dimensions do not broadcast");
            return reject(codes::MATMUL, message, "batches do not fit", &[*self, rhs], &[]);
        };
        let stretch = |last: &[usize]| batch.iter().chain(last).copied().collect::<Shape>();
        let (full_a, full_b) = (stretch(last_a), stretch(last_b));
        let product = record(op, &[matrix_a.broadcast_to(full_a), matrix_b.broadcast_to(full_b)]);
        let mut dims = batch.to_vec();
        dims.extend((rank_a > 1).then_some(last_a[0]));
        dims.extend((rank_b > 1).then_some(last_b[1]));
        product.reshape(dims)
    }
}
