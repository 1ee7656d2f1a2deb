//! Softmax, normalizations and losses.

use super::{Call, calls};
use monograph::{cross_entropy, mse_loss};

pub(super) const CALLS: &[Call] = calls! {
    |x| x.softmax(0);
    |x| x.softmax(-1);
    |x| x.softmax(-2);
    |x| x.softmax(-3);
    |x| x.log_softmax(0);
    |x| x.log_softmax(-1);
    |x| x.log_softmax(-2);
    |x| x.log_softmax(-3);
    |x, weight, bias| x.layer_norm(weight, bias, 1e-5);
    |x, weight| x.rms_norm(weight, 1e-5);
    |logits, targets| cross_entropy(&logits, &targets);
    |x, y| mse_loss(&x, y);
};
