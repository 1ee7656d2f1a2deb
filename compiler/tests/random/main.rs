//! Random numbers: values worked out from published words, statistics, and what is refused.

mod distributions;
mod extremes;
mod generators;
mod refused;
mod sampling;
mod statistics;

use monograph_compiler::trace::{Rng, Tensor, trace};
use monograph_ir::{Array, interp};

/// The first words of key 0, stream 0, which the authors of Philox published.
const WORDS: [u32; 4] = [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8];

/// What `f` draws from a generator, and where the generator is afterwards.
fn drawn(rng: &Rng<Array>, f: impl FnOnce(&mut Rng<Tensor>) -> Vec<Tensor>) -> (Vec<interp::Tensor>, [i64; 3]) {
    let program = trace(
        |mut rng: Rng<Tensor>| {
            let drawn = f(&mut rng);
            (drawn, rng)
        },
        rng,
    )
    .unwrap_or_else(|e| panic!("{e}"));
    let state = interp::Tensor::from_vec([3], rng.state().to_vec::<i64>().unwrap()).unwrap();
    let mut outputs = interp::evaluate(program.graph(), &[state]).unwrap();
    let after = outputs.pop().expect("the generator is the last output");
    (outputs, after.elements::<i64>().unwrap().try_into().unwrap())
}

/// The one tensor that `f` draws.
fn one(seed: u64, f: impl FnOnce(&mut Rng<Tensor>) -> Tensor) -> interp::Tensor {
    drawn(&Rng::seed(seed), |rng| vec![f(rng)]).0.remove(0)
}

/// Its elements.
fn numbers(seed: u64, f: impl FnOnce(&mut Rng<Tensor>) -> Tensor) -> Vec<f64> {
    one(seed, f).to_f64_vec()
}
