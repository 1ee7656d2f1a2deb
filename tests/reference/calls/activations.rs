//! Activations and clamps.

use super::{Call, calls};

pub(super) const CALLS: &[Call] = calls! {
    |x| x.sigmoid();
    |x| x.silu();
    |x| x.gelu();
    |x| x.gelu_tanh();
    |x| x.softplus();
    |x| x.square();
    |x| x.reciprocal();
    |x| x.relu();
    |x| x.clamp(3, 5);
    |x| x.clamp(5, 3);
    |x, low, high| x.clamp(low, high);
};
