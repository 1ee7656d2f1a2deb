//! Losses beside [`cross_entropy`](super::cross_entropy) and [`mse_loss`](super::mse_loss). All compute in f32 for f16
//! and bf16, and round once at their end.

use super::create::filled;
use super::normalize::INDEX;
use super::tracer::{reject, scope};
use super::{AxisIndex, Operand, Tensor};
use crate::diagnostics::codes;
use monograph_ir::{DType, Literal, Shape};

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

/// How a loss over classes treats its targets.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct ClassLoss {
    /// The share of each target, in `0..=1`, that is spread evenly over all classes. [`nll_loss`] takes none.
    pub label_smoothing: f64,
    /// Rows with this target have loss 0 and do not count in the mean, which is NaN if all are left out.
    pub ignore_index: Option<i64>,
    /// What becomes of the losses of the rows.
    pub reduction: LossReduction,
}

impl Tensor {
    /// The softmax of the negated elements along `axis`: the smallest gets the greatest share.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.softmin(-1), f32::spec([2, 3]))?;
    /// assert_eq!(program.output_form().to_string(), "f32[2, 3]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn softmin(&self, axis: impl AxisIndex) -> Tensor {
        if let Err(poison) = self.require_float("softmin") {
            return poison;
        }
        let _scope = scope("softmin");
        (-self).softmax(axis)
    }

    /// The losses in the accumulator's dtype, reduced and rounded to the dtype of `original`.
    #[track_caller]
    fn reduced(&self, reduction: LossReduction, original: &Tensor) -> Tensor {
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

/// The negative logarithm of the target's probability, of each row: `log_probabilities` are floats `[…, classes]`,
/// `targets` are i32 or i64 `[…]` in `0..classes`. A target outside that is not ignored has loss 0.
///
/// ```
/// # use monograph_compiler::trace::{ClassLoss, Tensor, nll_loss, trace};
/// # use monograph_ir::Element;
/// let how = ClassLoss { ignore_index: Some(-100), ..ClassLoss::default() };
/// let loss = |(x, targets): (Tensor, Tensor)| nll_loss(&x.log_softmax(-1), &targets, how);
/// assert_eq!(trace(loss, (f32::spec([4, 3]), i64::spec([4])))?.output_form().to_string(), "f32[]");
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn nll_loss(log_probabilities: &Tensor, targets: &Tensor, how: ClassLoss) -> Tensor {
    let _scope = scope("nll_loss");
    if how.label_smoothing != 0.0 {
        let message = "`nll_loss` does not smooth labels".to_string();
        let help = "smooth them from logits: `cross_entropy_with(&logits, &targets, how)`".to_string();
        return reject(codes::OPERANDS, message, "cannot smooth", &[*log_probabilities], &[help]);
    }
    if let Err(poison) = rows_with_targets("nll_loss", log_probabilities, targets) {
        return poison;
    }
    let losses = -picked(&log_probabilities.widened(), targets);
    over_rows(&losses, targets, how).rounded_as(log_probabilities)
}

/// [`cross_entropy`](super::cross_entropy) with smoothed labels, ignored targets and a choice of reduction: of each row
/// `-log_softmax(logits)[target]`, of which `label_smoothing` is spread over all classes. `logits` are floats
/// `[…, classes]`, `targets` are i32 or i64 `[…]` in `0..classes`.
///
/// ```
/// # use monograph_compiler::trace::{ClassLoss, cross_entropy_with, trace};
/// # use monograph_ir::Element;
/// let how = ClassLoss { label_smoothing: 0.1, ignore_index: Some(0), ..ClassLoss::default() };
/// let loss = |(x, targets)| cross_entropy_with(&x, &targets, how);
/// assert_eq!(trace(loss, (f32::spec([4, 3]), i64::spec([4])))?.output_form().to_string(), "f32[]");
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn cross_entropy_with(logits: &Tensor, targets: &Tensor, how: ClassLoss) -> Tensor {
    let _scope = scope("cross_entropy_with");
    if !(0.0..=1.0).contains(&how.label_smoothing) {
        let message = format!("`cross_entropy_with`: a label smoothing of {} is no share", how.label_smoothing);
        return reject(codes::OPERANDS, message, "must be in 0..=1", &[*logits], &[]);
    }
    if let Err(poison) = rows_with_targets("cross_entropy_with", logits, targets) {
        return poison;
    }
    let x = logits.widened();
    let total = x.logsumexp(-1);
    let mut losses = total - picked(&x, targets);
    if how.label_smoothing > 0.0 {
        let spread = total - x.mean(-1);
        let (kept, smoothed) = (1.0 - how.label_smoothing, how.label_smoothing);
        losses = losses * x.constant_like(kept) + spread * x.constant_like(smoothed);
    }
    over_rows(&losses, targets, how).rounded_as(logits)
}

/// The cross entropy of each row with a distribution over the classes: `-sum(targets * log_softmax(logits))`, both
/// floats of shape `[…, classes]`.
///
/// ```
/// # use monograph_compiler::trace::{LossReduction, cross_entropy_soft, trace};
/// # use monograph_ir::Element;
/// let loss = |(x, targets)| cross_entropy_soft(&x, targets, LossReduction::Mean);
/// assert_eq!(trace(loss, (f32::spec([4, 3]), f32::spec([4, 3])))?.output_form().to_string(), "f32[]");
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn cross_entropy_soft(logits: &Tensor, targets: impl Operand, reduction: LossReduction) -> Tensor {
    let targets = targets.tensor(logits.known_dtype());
    let _scope = scope("cross_entropy_soft");
    let (x, y) = match logits.float_pair("cross_entropy_soft", &targets) {
        Ok(pair) => pair,
        Err(poison) => return poison,
    };
    (-(y * x.log_softmax(-1)).sum(-1)).reduced(reduction, logits)
}

/// Whether these are rows of floats with a target each.
#[track_caller]
fn rows_with_targets(name: &str, rows: &Tensor, targets: &Tensor) -> Result<(), Tensor> {
    rows.require_float(name)?;
    let (Some(of_rows), Some(of_targets)) = (rows.known(), targets.known()) else { return Err(rows.beside(targets)) };
    let rank = of_rows.shape.rank();
    if rank == 0 || of_rows.shape[..rank - 1] != of_targets.shape[..] {
        let message = format!("`{name}`: {of_rows} needs targets of its shape without the last axis, not {of_targets}");
        return Err(reject(codes::OPERANDS, message, "shapes do not fit", &[*rows, *targets], &[]));
    }
    if !matches!(of_targets.dtype, DType::I32 | DType::I64) {
        let message = format!("`{name}`: the targets are {of_targets}, not i32 or i64");
        let help = "a distribution over the classes goes to `cross_entropy_soft`".to_string();
        return Err(reject(codes::OPERANDS, message, "cannot index", &[*targets], &[help]));
    }
    Ok(())
}

/// The element of each row that its target names.
#[track_caller]
fn picked(rows: &Tensor, targets: &Tensor) -> Tensor {
    rows.take_along(targets.unsqueeze(-1), -1).squeeze(-1)
}

/// The losses of the rows, in the accumulator's dtype, reduced over those that count.
#[track_caller]
fn over_rows(losses: &Tensor, targets: &Tensor, how: ClassLoss) -> Tensor {
    let Some(ignored) = how.ignore_index else { return losses.reduced(how.reduction, losses) };
    // Compared in i64: in i32 the number might wrap into a class.
    let counts = targets.cast(INDEX).ne(filled(Literal::from_i64(INDEX, ignored), Shape::scalar()));
    let losses = counts.select(losses, losses.constant_like(0.0));
    match how.reduction {
        LossReduction::Mean => losses.sum(..) / counts.count(..).cast(losses.dtype()),
        LossReduction::Sum | LossReduction::None => losses.reduced(how.reduction, &losses),
    }
}
