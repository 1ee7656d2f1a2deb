//! Softmax, normalizations and losses: composites of the ops, computed in f32 for f16 and bf16 and rounded once.

use super::tracer::{reject, scope};
use super::{AxisIndex, Operand, Tensor};
use crate::diagnostics::codes;
use monograph_ir::DType;

impl Tensor {
    /// `e^x / sum(e^x)` of floats along `axis`, without overflow. A row that is -inf throughout gives NaN.
    #[track_caller]
    pub fn softmax(&self, axis: impl AxisIndex) -> Tensor {
        if let Err(poison) = self.require_float("softmax") {
            return poison;
        }
        let _scope = scope("softmax");
        let Some(axis) = self.axis_list(axis) else { return self.no_list(axis) };
        let x = self.widened();
        let exponentials = (x - x.max_keep(axis)).exp();
        (exponentials / exponentials.sum_keep(axis)).rounded_as(self)
    }

    /// The logarithm of [`Tensor::softmax`], accurate where that is near 0.
    #[track_caller]
    pub fn log_softmax(&self, axis: impl AxisIndex) -> Tensor {
        if let Err(poison) = self.require_float("log_softmax") {
            return poison;
        }
        let _scope = scope("log_softmax");
        let Some(axis) = self.axis_list(axis) else { return self.no_list(axis) };
        let x = self.widened();
        let shifted = x - x.max_keep(axis);
        (shifted - shifted.exp().sum_keep(axis).log()).rounded_as(self)
    }

    /// The axis as an axis list, if this tensor has it.
    fn axis_list(&self, axis: impl AxisIndex) -> Option<[usize; 1]> {
        let spec = self.known()?;
        axis.resolve(spec.shape.rank()).ok().map(|axis| [axis])
    }

    /// Poison, or the diagnostic for an axis that this tensor does not have.
    #[track_caller]
    fn no_list(&self, axis: impl AxisIndex) -> Tensor {
        match self.known() {
            None => self.absorb(),
            Some(spec) => self.axis(&spec, axis).map_or_else(|poison| poison, |_| *self),
        }
    }

    /// Each row of the last dimension with mean 0 and variance 1 (`eps` added to the variance), times `weight` plus
    /// `bias`, which are of the row's shape.
    #[track_caller]
    pub fn layer_norm(&self, weight: impl Operand, bias: impl Operand, eps: f64) -> Tensor {
        let weight = weight.tensor(self.known_dtype());
        let bias = bias.tensor(self.known_dtype());
        if let Err(poison) = self.require_float("layer_norm") {
            return poison;
        }
        let _scope = scope("layer_norm");
        let x = self.widened();
        let centred = x - x.mean_keep(-1);
        let variance = (centred * centred).mean_keep(-1);
        let normal = centred / (variance + x.constant_like(eps)).sqrt();
        (normal * weight.widened() + bias.widened()).rounded_as(self)
    }

    /// Each row of the last dimension divided by the root of its mean square (plus `eps`), times `weight` of the
    /// row's shape.
    #[track_caller]
    pub fn rms_norm(&self, weight: impl Operand, eps: f64) -> Tensor {
        let weight = weight.tensor(self.known_dtype());
        if let Err(poison) = self.require_float("rms_norm") {
            return poison;
        }
        let _scope = scope("rms_norm");
        let x = self.widened();
        let mean_square = (x * x).mean_keep(-1);
        (x / (mean_square + x.constant_like(eps)).sqrt() * weight.widened()).rounded_as(self)
    }
}

/// The mean over all rows of `-log_softmax(logits)[target]`: `logits` are floats of shape `[…, classes]`, `targets`
/// are i32 or i64 of shape `[…]` with values in `0..classes`. A scalar of the logits' dtype.
#[track_caller]
pub fn cross_entropy(logits: &Tensor, targets: &Tensor) -> Tensor {
    if let Err(poison) = logits.require_float("cross_entropy") {
        return poison;
    }
    let _scope = scope("cross_entropy");
    let (Some(of_logits), Some(of_targets)) = (logits.known(), targets.known()) else {
        return super::tracer::record(monograph_ir::Op::TakeAlong { axis: 0 }, &[*logits, *targets]);
    };
    let rank = of_logits.shape.rank();
    if rank == 0 || of_logits.shape[..rank - 1] != of_targets.shape[..] {
        let message = format!(
            "`cross_entropy`: logits {of_logits} need targets of their shape without the last axis, not {of_targets}"
        );
        return reject(codes::OPERANDS, message, "shapes do not fit", &[*logits, *targets], &[]);
    }
    let x = logits.widened();
    let picked = x.take_along(targets.unsqueeze(-1), -1).squeeze(-1);
    (x.logsumexp(-1) - picked).mean(..).rounded_as(logits)
}

/// The mean of the squared differences of two float tensors, a scalar.
#[track_caller]
pub fn mse_loss(prediction: &Tensor, target: impl Operand) -> Tensor {
    let target = target.tensor(prediction.known_dtype());
    let _scope = scope("mse_loss");
    let difference = prediction - target;
    let squared = difference.widened() * difference.widened();
    squared.mean(..).rounded_as(prediction)
}

/// The dtype of indices that operations return.
pub(super) const INDEX: DType = DType::I64;
