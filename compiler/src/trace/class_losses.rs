//! Losses over classes beside [`cross_entropy`](super::cross_entropy): smoothed labels, ignored targets, distributions as
//! targets. All compute in f32 for f16 and bf16, and round once at their end.

use super::create::filled;
use super::normalize::INDEX;
use super::tracer::{reject, scope};
use super::{AxisIndex, LossReduction, Operand, Tensor};
use crate::diagnostics::codes;
use monograph_ir::{DType, Literal, Shape};

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
