//! Random numbers through the facade: the same on the host, in the emulator and on a GPU, and new at every replay.

#[allow(dead_code, reason = "each test uses a part")]
mod common;

use common::{devices, emulated};
use monograph::prelude::*;

/// What is the same to the bit everywhere.
fn exact(rng: &mut Rng<Tensor>) -> Vec<Tensor> {
    let weights = arange(DType::F32, 5);
    vec![
        rng.bits([3, 7]),
        rng.bits([1024]),
        rng.uniform(DType::F32, [1001]),
        rng.uniform(DType::F64, [64, 3]),
        rng.uniform(DType::F16, [2, 24]),
        rng.uniform(DType::BF16, [17]),
        rng.uniform_between(DType::F32, [4, 5], -weights, weights + 1.0),
        rng.bernoulli([100], 0.3),
        rng.bernoulli([6, 5], weights / 4.0),
        rng.randint(DType::I32, [200], -7..9),
        rng.randint(DType::I64, [100], i64::MIN..i64::MAX),
        rng.randint(DType::U8, [33], 0..256),
        rng.permutation(37),
        rng.dropout(&arange(DType::F32, 300), 0.4),
        rng.fork().bits([6]),
        rng.fold_in(-3).bits([5]),
    ]
}

/// What goes through logarithms and cosines.
fn close(rng: &mut Rng<Tensor>) -> Vec<Tensor> {
    vec![
        rng.normal(DType::F32, [999]),
        rng.normal(DType::F64, [128]),
        rng.normal(DType::F16, [64]),
        rng.exponential(DType::F32, [256], 2.0),
        rng.gumbel(DType::F64, [64]),
    ]
}

/// Three replays on a device: the arrays of each, the exact ones first, and the generator's state at the end.
fn replays(device: &Device) -> (Vec<Vec<Array>>, Vec<i64>) {
    let program = trace_step(&Rng::seed(0x1234_5678_9abc_def0), (), |mut rng, ()| {
        let drawn = [exact(&mut rng), close(&mut rng)].concat();
        (rng, drawn)
    })
    .unwrap_or_else(|e| panic!("{e}"));
    let mut exe = device.compile(&program).unwrap_or_else(|e| panic!("{e}"));
    let mut all = Vec::new();
    for _ in 0..3 {
        all.push(exe.replay(()).unwrap_or_else(|e| panic!("{e}")).to_arrays().unwrap());
    }
    (all, exe.state().unwrap().state().to_vec().unwrap())
}

#[test]
fn every_device_draws_the_same_numbers_and_each_replay_new_ones() {
    let (expected, state) = replays(&Device::host());
    for pair in expected.windows(2) {
        for (first, second) in pair[0].iter().zip(&pair[1]) {
            assert!(!first.bitwise_eq(second).unwrap(), "{} repeats", first.spec());
        }
    }
    let exact_ones = expected[0].len() - 5;
    for device in devices().into_iter().chain(emulated()) {
        let (found, after) = replays(&device);
        assert_eq!(after, state, "{}", device.describe());
        for (found, expected) in found.iter().zip(&expected) {
            for (number, (a, b)) in found.iter().zip(expected).enumerate() {
                if number < exact_ones {
                    assert!(a.bitwise_eq(b).unwrap(), "draw {number}, {}, on {}", a.spec(), device.describe());
                } else {
                    near(a, b, &device);
                }
            }
        }
    }
}

/// Within a few units in the last place of the logarithm and the cosine.
fn near(found: &Array, expected: &Array, device: &Device) {
    let numbers = |a: &Array| -> Vec<f64> {
        match a.dtype() {
            DType::F64 => a.to_vec::<f64>().unwrap(),
            DType::F16 => a.to_vec::<monograph::f16>().unwrap().iter().map(|x| x.to_f64()).collect(),
            _ => a.to_vec::<f32>().unwrap().iter().map(|&x| f64::from(x)).collect(),
        }
    };
    let bound = match found.dtype() {
        DType::F64 => 16.0 * f64::EPSILON,
        DType::F16 => 1.0 / 1024.0,
        _ => 16.0 * f64::from(f32::EPSILON),
    };
    for (a, b) in numbers(found).iter().zip(numbers(expected)) {
        assert!((a - b).abs() <= bound * b.abs().max(1.0), "{a} is not {b} on {}", device.describe());
    }
}

#[test]
fn setting_the_state_repeats_the_numbers() {
    for device in devices() {
        let program = trace_step(&Rng::seed(5), f32::spec([100]), |mut rng, x| {
            let y = rng.dropout(&x, 0.5);
            (rng, y)
        })
        .unwrap();
        let mut exe = device.compile(&program).unwrap();
        let ones = [1.0f32; 100];
        let run = |exe: &mut Executable<Rng<Spec>, Spec, Spec>| exe.replay(&ones[..]).unwrap().to_vec::<f32>().unwrap();
        let masks = [run(&mut exe), run(&mut exe), run(&mut exe)];
        assert!(masks[0] != masks[1] && masks[1] != masks[2] && masks[0] != masks[2]);
        exe.set_state(&Rng::seed(5)).unwrap();
        assert_eq!([run(&mut exe), run(&mut exe), run(&mut exe)], masks);
        exe.set_state(&Rng::seed(6)).unwrap();
        assert_ne!(run(&mut exe), masks[0]);
    }
}

#[test]
fn drawing_fuses_with_what_uses_it() {
    let program = trace_step(&Rng::seed(5), f32::spec([4096]), |mut rng, x| {
        let y = rng.dropout(&x, 0.5) * 2.0 + 1.0;
        (rng, y)
    })
    .unwrap();
    let plan = monograph::inspect::plan(program.graph(), &Default::default(), &Default::default()).unwrap();
    // One kernel draws and applies the mask, one moves the generator.
    assert_eq!(plan.launches.len(), 2, "{}", monograph::inspect::dot(&plan));
}
