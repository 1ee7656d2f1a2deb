//! Where generators are after a draw, and that forks differ.

use crate::{WORDS, drawn, one};
use monograph_compiler::trace::{Rng, Tensor, fori_loop, trace_step};
use monograph_ir::{Array, DType, interp};
use std::collections::BTreeSet;

fn state(rng: &Rng<Array>) -> [i64; 3] {
    rng.state().to_vec::<i64>().unwrap().try_into().unwrap()
}

#[test]
fn words_are_those_of_philox_and_draws_follow_each_other() {
    let (words, after) = drawn(&Rng::seed(0), |rng| vec![rng.bits([3]), rng.bits([2, 2]), rng.bits([]), rng.bits([0])]);
    assert_eq!(words[0].elements::<u32>().unwrap(), &WORDS[..3]);
    // A draw begins with a block, and moves on by whole ones.
    let all = one(0, |rng| rng.bits([12]));
    let all = all.elements::<u32>().unwrap();
    assert_eq!(words[1].elements::<u32>().unwrap(), &all[4..8]);
    assert_eq!(words[2].elements::<u32>().unwrap(), &all[8..9]);
    assert_eq!(after, [0, 0, 3]);
}

#[test]
fn a_seed_is_the_key_and_a_place_can_be_named() {
    assert_eq!(state(&Rng::seed(u64::MAX)), [-1, 0, 0]);
    let far = Rng::at(7, 1 << 63, u64::MAX);
    assert_eq!(state(&far), [7, i64::MIN, -1]);
    let (words, after) = drawn(&far, |rng| vec![rng.bits([8])]);
    assert_eq!(after, [7, i64::MIN, 1]);
    let next = monograph_ir::philox::block([7, i64::MIN + 1, 0], 0);
    assert_eq!(words[0].elements::<u32>().unwrap()[4..], next);
}

#[test]
fn forks_are_the_same_on_the_host_and_in_a_trace() {
    let word = |low: u32, high: u32| (u64::from(low) | u64::from(high) << 32) as i64;
    let mut host = Rng::seed(0);
    let fork = host.fork().unwrap();
    assert_eq!(state(&fork), [word(WORDS[0], WORDS[1]), word(WORDS[2], WORDS[3]), 0]);
    let split = host.split(3).unwrap();
    let folded: Vec<_> = [5i64, -1].map(|data| host.clone().fold_in(data).unwrap()).into_iter().collect();

    let (states, after) = drawn(&Rng::seed(0), |rng| {
        let mut all = vec![*rng.fork().state()];
        all.extend(rng.split(3).iter().map(|r| *r.state()));
        all.push(*rng.clone().fold_in(5).state());
        all.push(*rng.fold_in(-1).state());
        all
    });
    let expected: Vec<_> = [fork].iter().chain(&split).chain(&folded).map(state).collect();
    let found: Vec<[i64; 3]> = states.iter().map(|t| t.elements::<i64>().unwrap().try_into().unwrap()).collect();
    assert_eq!(found, expected);
    assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), found.len(), "all differ");
    assert_eq!(after, [0, 0, 5]);
    host.fold_in(0).unwrap();
    assert_eq!(state(&host), [0, 0, 5]);
}

#[test]
fn each_replay_of_a_step_draws_new_numbers_and_a_seed_repeats_them() {
    let program = trace_step(&Rng::seed(3), (), |mut rng, ()| {
        let mask = rng.bernoulli([64], 0.5);
        (rng, mask)
    })
    .unwrap();
    let run = || {
        let mut state = interp::Tensor::from_vec([3], vec![3i64, 0, 0]).unwrap();
        let mut masks = Vec::new();
        for _ in 0..3 {
            let mut outputs = interp::evaluate(program.graph(), &[state]).unwrap();
            masks.push(outputs.pop().unwrap());
            state = outputs.remove(0);
        }
        masks
    };
    let masks = run();
    assert!(masks[0] != masks[1] && masks[1] != masks[2] && masks[0] != masks[2]);
    assert_eq!(masks, run());
}

#[test]
fn a_generator_is_the_state_of_a_loop() {
    let (outputs, after) = drawn(&Rng::seed(1), |rng| {
        let start = monograph_compiler::trace::zeros(DType::F32, [4]);
        let (sum, moved) = fori_loop(3, (start, rng.clone()), |_, (sum, mut rng): (Tensor, Rng<Tensor>)| {
            let sum = sum + rng.uniform(DType::F32, [4]);
            (sum, rng)
        });
        *rng = moved;
        vec![sum]
    });
    let rounds = one(1, |rng| rng.uniform(DType::F32, [3, 4])).to_f64_vec();
    let sums: Vec<f64> = (0..4).map(|i| rounds[i] + rounds[4 + i] + rounds[8 + i]).collect();
    for (found, expected) in outputs[0].to_f64_vec().iter().zip(&sums) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    assert_eq!(after, [1, 0, 3]);
}
