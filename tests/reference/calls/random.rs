//! Random numbers of a generator whose state is an operand.

use super::{Call, calls};
use monograph::{DType, Rng, Tensor, map};

/// The generator of a state.
fn rng(state: Tensor) -> Rng<Tensor> {
    map(&Rng::seed(0), |_, _| state)
}

pub(super) const CALLS: &[Call] = calls! {
    |s| rng(s).uniform(DType::F16, [33]);
    |s| rng(s).uniform(DType::BF16, [33]);
    |s| rng(s).uniform(DType::F32, [33]);
    |s| rng(s).uniform(DType::F64, [20]);
    |s| rng(s).randint(DType::I32, [30], -7..12);
    |s| rng(s).randint(DType::U8, [30], 0..256);
    |s| rng(s).randint(DType::I64, [30], -4611686018427387904..4611686018427387909);
    |s| rng(s).randint(DType::U32, [30], 0..4294967296);
    |s| rng(s).bernoulli([40], 0.375);
    |s| rng(s).permutation(32);
    |s| rng(s).fork().bits([9]);
    |s| rng(s).fold_in(-3).bits([9]);
};
