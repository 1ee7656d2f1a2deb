//! Statistics of fixed seeds: each bound holds for all but one in thousands of sequences of fair numbers.

use crate::{drawn, numbers, one};
use monograph_compiler::trace::Rng;
use monograph_ir::interp::{Tensor, evaluate_op};
use monograph_ir::{DType, Elementwise};

const N: usize = 1 << 15;

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn variance(x: &[f64]) -> f64 {
    let mean = mean(x);
    x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64
}

/// Mean and variance within four standard errors; `kurtosis` is the fourth central moment over the squared variance.
#[track_caller]
fn moments(x: &[f64], expected: f64, spread: f64, kurtosis: f64) {
    let n = x.len() as f64;
    let (found_mean, found_variance) = (mean(x), variance(x));
    assert!((found_mean - expected).abs() < 4.0 * (spread / n).sqrt(), "mean {found_mean}, not {expected}");
    let error = spread * ((kurtosis - 1.0) / n).sqrt();
    assert!((found_variance - spread).abs() < 4.0 * error, "variance {found_variance}, not {spread}");
}

/// Pearson's statistic of equally probable classes, within four standard deviations of its mean.
#[track_caller]
fn equally_often(counts: &[usize]) {
    let expected = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    let statistic: f64 = counts.iter().map(|&c| (c as f64 - expected).powi(2) / expected).sum();
    let freedom = (counts.len() - 1) as f64;
    assert!(
        (statistic - freedom).abs() < 4.0 * (2.0 * freedom).sqrt(),
        "{statistic} with {freedom} degrees of freedom"
    );
}

/// The greatest distance of the empirical distribution from `cumulative`, by Kolmogorov and Smirnov: scaled by the root
/// of the count, it is above 1.95 once in a thousand times.
#[track_caller]
fn distributed(mut x: Vec<f64>, cumulative: impl Fn(&[f64]) -> Vec<f64>) {
    x.sort_by(f64::total_cmp);
    let n = x.len() as f64;
    let distance = cumulative(&x)
        .iter()
        .enumerate()
        .map(|(i, p)| (p - i as f64 / n).abs().max((p - (i + 1) as f64 / n).abs()))
        .fold(0.0, f64::max);
    assert!(distance * n.sqrt() < 1.95, "distance {}", distance * n.sqrt());
}

#[track_caller]
fn uncorrelated(a: &[f64], b: &[f64]) {
    let (mean_a, mean_b) = (mean(a), mean(b));
    let covariance = a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum::<f64>() / a.len() as f64;
    let correlation = covariance / (variance(a) * variance(b)).sqrt();
    assert!(correlation.abs() < 4.0 / (a.len() as f64).sqrt(), "correlation {correlation}");
}

#[test]
fn uniform_numbers() {
    for dtype in [DType::F32, DType::F64] {
        let x = numbers(1, |rng| rng.uniform(dtype, [N]));
        assert!(x.iter().all(|x| (0.0..1.0).contains(x)));
        moments(&x, 0.5, 1.0 / 12.0, 1.8);
        uncorrelated(&x[1..], &x[..N - 1]);
        uncorrelated(&x[4..], &x[..N - 4]);
        distributed(x, <[f64]>::to_vec);
    }
    // On a coarse grid, whose mean lies half a step below.
    for (dtype, step) in [(DType::F16, 1.0 / 2048.0), (DType::BF16, 1.0 / 256.0)] {
        let x = numbers(1, |rng| rng.uniform(dtype, [N]));
        assert!(x.iter().all(|x| (0.0..1.0).contains(x)));
        moments(&x, 0.5 - step / 2.0, (1.0 - step * step) / 12.0, 1.8);
        let mut counts = vec![0; (1.0 / step) as usize];
        x.iter().for_each(|x| counts[(x / step) as usize] += 1);
        equally_often(&counts);
    }
}

#[test]
fn bytes_of_words() {
    let words = one(2, |rng| rng.bits([N]));
    let words = words.elements::<u32>().unwrap();
    for byte in 0..4 {
        let mut counts = vec![0; 256];
        words.iter().for_each(|w| counts[(w >> (8 * byte)) as usize & 255] += 1);
        equally_often(&counts);
    }
    for bit in 0..32 {
        let ones = words.iter().filter(|w| *w >> bit & 1 == 1).count();
        equally_often(&[ones, N - ones]);
    }
}

#[test]
fn integers() {
    let x = numbers(3, |rng| rng.randint(DType::I32, [N], -50..51));
    let mut counts = vec![0; 101];
    x.iter().for_each(|x| counts[(x + 50.0) as usize] += 1);
    equally_often(&counts);
    uncorrelated(&x[1..], &x[..N - 1]);
    // A range for which 32 bits would show: three quarters of all numbers of 32 bits, in three parts.
    let x = numbers(3, |rng| rng.randint(DType::I64, [N], 0..3 << 30));
    let mut counts = vec![0; 3];
    x.iter().for_each(|x| counts[*x as usize >> 30] += 1);
    equally_often(&counts);
}

#[test]
fn normal_numbers() {
    let cumulative = |x: &[f64]| {
        let scaled = x.iter().map(|x| x * std::f64::consts::FRAC_1_SQRT_2).collect();
        let scaled = Tensor::from_vec([x.len()], scaled).unwrap();
        let erf = evaluate_op(&Elementwise::Erf.into(), &[scaled]).unwrap().remove(0);
        erf.to_f64_vec().iter().map(|erf| 0.5 + 0.5 * erf).collect()
    };
    for dtype in [DType::F32, DType::F64] {
        let x = numbers(4, |rng| rng.normal(dtype, [N]));
        moments(&x, 0.0, 1.0, 3.0);
        uncorrelated(&x[1..], &x[..N - 1]);
        let squares: Vec<f64> = x.iter().map(|x| x * x).collect();
        uncorrelated(&squares[1..], &squares[..N - 1]);
        distributed(x, cumulative);
    }
    for dtype in [DType::F16, DType::BF16] {
        moments(&numbers(4, |rng| rng.normal(dtype, [N])), 0.0, 1.0, 3.0);
    }
    moments(&numbers(4, |rng| rng.normal_with(DType::F32, [N], -3.0, 0.5)), -3.0, 0.25, 3.0);
}

#[test]
fn exponential_and_gumbel_numbers() {
    let x = numbers(5, |rng| rng.exponential(DType::F32, [N], 2.0));
    moments(&x, 0.5, 0.25, 9.0);
    distributed(x, |x| x.iter().map(|x| 1.0 - (-2.0 * x).exp()).collect());
    let x = numbers(5, |rng| rng.gumbel(DType::F32, [N]));
    moments(&x, 0.577_215_664_901_532_9, std::f64::consts::PI.powi(2) / 6.0, 5.4);
    distributed(x, |x| x.iter().map(|x| (-(-x).exp()).exp()).collect());
}

#[test]
fn rates() {
    for p in [0.01, 0.25, 0.5, 0.9] {
        let x = numbers(6, |rng| rng.bernoulli([N], p));
        let error = (p * (1.0 - p) / N as f64).sqrt();
        assert!((mean(&x) - p).abs() < 4.0 * error, "{p}: {}", mean(&x));
    }
}

#[test]
fn forked_streams_and_neighbouring_seeds_have_nothing_in_common() {
    let (x, _) = drawn(&Rng::seed(7), |rng| {
        let mut streams = rng.split(2);
        streams.push(rng.fold_in(0));
        streams.push(streams[0].clone().fork());
        let mut all: Vec<_> = streams.iter_mut().map(|rng| rng.uniform(DType::F32, [N])).collect();
        all.push(rng.uniform(DType::F32, [N]));
        all
    });
    let mut x: Vec<Vec<f64>> = x.iter().map(Tensor::to_f64_vec).collect();
    x.push(numbers(8, |rng| rng.uniform(DType::F32, [N])));
    for (i, a) in x.iter().enumerate() {
        for b in &x[..i] {
            uncorrelated(a, b);
        }
    }
}

#[test]
fn every_element_comes_to_every_place() {
    const SIZE: usize = 5;
    let mut counts = [0; SIZE * SIZE];
    let (permutations, _) = drawn(&Rng::seed(9), |rng| (0..1000).map(|_| rng.permutation(SIZE)).collect());
    for permutation in &permutations {
        for (place, &element) in permutation.elements::<i64>().unwrap().iter().enumerate() {
            counts[place * SIZE + element as usize] += 1;
        }
    }
    for row in counts.chunks(SIZE) {
        equally_often(row);
    }
}
