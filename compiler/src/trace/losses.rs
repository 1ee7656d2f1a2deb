//! Losses of elements beside [`mse_loss`](super::mse_loss). All compute in f32 for f16 and bf16, and round once at their
//! end.

use super::tracer::{reject, scope};
use super::{Operand, Tensor};
use crate::diagnostics::codes;

/// What becomes of the losses of single elements or rows.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum LossReduction {
    /// Their mean, a scalar.
    #[default]
    Mean,
    /// Their sum, a scalar.
    Sum,
    /// They stay as they are.
    None,
}

impl Tensor {
    /// The losses in the accumulator's dtype, reduced and rounded to the dtype of `original`.
    #[track_caller]
    pub(super) fn reduced(&self, reduction: LossReduction, original: &Tensor) -> Tensor {
        match reduction {
            LossReduction::Mean => self.mean(..).rounded_as(original),
            LossReduction::Sum => self.sum(..).rounded_as(original),
            LossReduction::None => self.rounded_as(original),
        }
    }
}

/// The absolute differences of two float tensors, which broadcast.
///
/// ```
/// # use monograph_compiler::trace::{LossReduction, l1_loss, trace};
/// # use monograph_ir::Element;
/// let loss = |(x, y)| l1_loss(&x, y, LossReduction::Mean);
/// assert_eq!(trace(loss, (f32::spec([4, 3]), f32::spec([3])))?.output_form().to_string(), "f32[]");
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn l1_loss(prediction: &Tensor, target: impl Operand, reduction: LossReduction) -> Tensor {
    let target = target.tensor(prediction.known_dtype());
    let _scope = scope("l1_loss");
    match prediction.float_pair("l1_loss", &target) {
        Ok((x, y)) => (x - y).abs().reduced(reduction, prediction),
        Err(poison) => poison,
    }
}

/// Huber's loss of two float tensors, which broadcast: half the square of a difference of at most `delta`, and beyond
/// it `delta * (|difference| - delta / 2)`. `delta` is above 0.
///
/// ```
/// # use monograph_compiler::trace::{LossReduction, huber_loss, trace};
/// # use monograph_ir::Element;
/// let loss = |(x, y)| huber_loss(&x, y, 1.0, LossReduction::None);
/// assert_eq!(trace(loss, (f32::spec([4]), f32::spec([4])))?.output_form().to_string(), "f32[4]");
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn huber_loss(prediction: &Tensor, target: impl Operand, delta: f64, reduction: LossReduction) -> Tensor {
    let target = target.tensor(prediction.known_dtype());
    let _scope = scope("huber_loss");
    match huber("huber_loss", prediction, &target, delta) {
        Ok(losses) => losses.reduced(reduction, prediction),
        Err(poison) => poison,
    }
}

/// [`huber_loss`] divided by its threshold, here called `beta`: beyond it the loss has slope 1.
///
/// ```
/// # use monograph_compiler::trace::{LossReduction, smooth_l1_loss, trace};
/// # use monograph_ir::Element;
/// let loss = |(x, y)| smooth_l1_loss(&x, y, 0.5, LossReduction::Sum);
/// assert_eq!(trace(loss, (f32::spec([4]), f32::spec([4])))?.output_form().to_string(), "f32[]");
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn smooth_l1_loss(prediction: &Tensor, target: impl Operand, beta: f64, reduction: LossReduction) -> Tensor {
    let target = target.tensor(prediction.known_dtype());
    let _scope = scope("smooth_l1_loss");
    match huber("smooth_l1_loss", prediction, &target, beta) {
        Ok(losses) => (losses / losses.constant_like(beta)).reduced(reduction, prediction),
        Err(poison) => poison,
    }
}

#[track_caller]
fn huber(name: &str, prediction: &Tensor, target: &Tensor, delta: f64) -> Result<Tensor, Tensor> {
    if !(delta > 0.0 && delta.is_finite()) {
        let message = format!("`{name}`: the threshold {delta} is not a finite number above 0");
        return Err(reject(codes::OPERANDS, message, "no threshold", &[*prediction], &[]));
    }
    let (x, y) = prediction.float_pair(name, target)?;
    let (half, threshold) = (x.constant_like(0.5), x.constant_like(delta));
    let distance = (x - y).abs();
    Ok(distance.le(threshold).select(half * distance * distance, threshold * (distance - half * threshold)))
}

/// The binary cross entropy of `sigmoid(logits)` and `targets`, which are floats in `0..=1` and broadcast, without
/// overflow: `max(x, 0) - x * y + ln(1 + e^-|x|)`.
///
/// ```
/// # use monograph_compiler::trace::{LossReduction, bce_with_logits, trace};
/// # use monograph_ir::Element;
/// let loss = |(x, y)| bce_with_logits(&x, y, LossReduction::Mean);
/// assert_eq!(trace(loss, (f32::spec([4]), f32::spec([4])))?.output_form().to_string(), "f32[]");
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn bce_with_logits(logits: &Tensor, targets: impl Operand, reduction: LossReduction) -> Tensor {
    let targets = targets.tensor(logits.known_dtype());
    let _scope = scope("bce_with_logits");
    let (x, y) = match logits.float_pair("bce_with_logits", &targets) {
        Ok(pair) => pair,
        Err(poison) => return poison,
    };
    (x.relu() - x * y + (-x.abs()).exp().log1p()).reduced(reduction, logits)
}

/// The binary cross entropy of probabilities and `targets`, floats in `0..=1` that broadcast. Logarithms are at least
/// -100, as in PyTorch, so that a wrong certainty costs much and not everything. [`bce_with_logits`] is more accurate.
///
/// ```
/// # use monograph_compiler::trace::{LossReduction, bce_loss, trace};
/// # use monograph_ir::Element;
/// let loss = |(p, y)| bce_loss(&p, y, LossReduction::Mean);
/// assert_eq!(trace(loss, (f32::spec([4]), f32::spec([4])))?.output_form().to_string(), "f32[]");
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn bce_loss(probabilities: &Tensor, targets: impl Operand, reduction: LossReduction) -> Tensor {
    let targets = targets.tensor(probabilities.known_dtype());
    let _scope = scope("bce_loss");
    let (p, y) = match probabilities.float_pair("bce_loss", &targets) {
        Ok(pair) => pair,
        Err(poison) => return poison,
    };
    let (one, least) = (p.constant_like(1.0), p.constant_like(-100.0));
    let (yes, no) = (p.log().maximum(least), (-p).log1p().maximum(least));
    (-(y * yes + (one - y) * no)).reduced(reduction, probabilities)
}

/// The divergence of a distribution whose logarithms are `log_prediction` from `target`, element by element:
/// `target * (ln(target) - log_prediction)`, 0 where the target is 0. They broadcast.
///
/// [`LossReduction::Mean`] divides by the number of elements; the divergence of whole distributions, by batch, is the
/// sum divided by the number of rows.
///
/// ```
/// # use monograph_compiler::trace::{LossReduction, kl_div, trace};
/// # use monograph_ir::Element;
/// let loss = |(log_q, p)| kl_div(&log_q, p, LossReduction::Sum);
/// assert_eq!(trace(loss, (f32::spec([4, 3]), f32::spec([4, 3])))?.output_form().to_string(), "f32[]");
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn kl_div(log_prediction: &Tensor, target: impl Operand, reduction: LossReduction) -> Tensor {
    let target = target.tensor(log_prediction.known_dtype());
    let _scope = scope("kl_div");
    let (x, y) = match log_prediction.float_pair("kl_div", &target) {
        Ok(pair) => pair,
        Err(poison) => return poison,
    };
    let zero = y.constant_like(0.0);
    y.eq(zero).select(zero, y * (y.log() - x)).reduced(reduction, log_prediction)
}
