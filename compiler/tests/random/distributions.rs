//! Distributions, against their formulas over published words.

use crate::{WORDS, numbers, one};
use half::{bf16, f16};
use monograph_compiler::trace::{arange, full};
use monograph_ir::DType;
use std::f64::consts::TAU;

fn power(exponent: i32) -> f64 {
    2.0f64.powi(exponent)
}

/// The 53 upper bits of two words.
fn fraction(high: u32, low: u32) -> f64 {
    ((u64::from(high) << 32 | u64::from(low)) >> 11) as f64 * power(-53)
}

/// (0, 1] of 32 bits.
fn open(word: u32) -> f64 {
    (f64::from(word) + 0.5) * power(-32)
}

#[track_caller]
fn close(found: &[f64], expected: &[f64], relative: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= relative * b.abs(), "{found:?} is not {expected:?}");
    }
}

#[test]
fn uniform_numbers_are_the_upper_bits() {
    let of = |dtype| numbers(0, |rng| rng.uniform(dtype, [4]));
    assert_eq!(of(DType::F32), [0x66_27e8, 0xe1_69c5, 0xbc_57ac, 0x9b_00db].map(|n| f64::from(n) * power(-24)));
    assert_eq!(of(DType::F16), [0x331, 0x70b, 0x5e2, 0x4d8].map(|n| f64::from(n) * power(-11)));
    assert_eq!(of(DType::BF16), [0x66, 0xe1, 0xbc, 0x9b].map(|n| f64::from(n) * power(-8)));
    let [a, b, c, d] = WORDS;
    assert_eq!(of(DType::F64)[..2], [fraction(a, b), fraction(c, d)]);
    assert_eq!(of(DType::F64)[0], 0.3990464708489645);
}

#[test]
fn uniform_numbers_between_bounds_stay_below_the_upper_one() {
    let u = numbers(0, |rng| rng.uniform(DType::F32, [4]));
    let x = numbers(0, |rng| rng.uniform_between(DType::F32, [4], -2.0, 6.0));
    let scaled: Vec<f64> = u.iter().map(|u| f64::from((*u as f32) * 8.0 + -2.0)).collect();
    assert_eq!(x, scaled);
    // Between two neighbours there is only the lower one.
    for dtype in [DType::F16, DType::BF16] {
        let (low, high) = match dtype {
            DType::F16 => (1.0, f16::from_bits(f16::ONE.to_bits() + 1).to_f64()),
            _ => (1.0, bf16::from_bits(bf16::ONE.to_bits() + 1).to_f64()),
        };
        let x = numbers(5, |rng| rng.uniform_between(dtype, [500], low, high));
        assert!(x.iter().all(|&x| x == low), "{dtype}");
    }
    let empty = numbers(5, |rng| rng.uniform_between(DType::F32, [50], 3.0, 3.0));
    assert!(empty.iter().all(|&x| x == 3.0));
    // Bounds broadcast: each row has its own.
    let rows = numbers(6, |rng| {
        let low = arange(DType::F32, 3).unsqueeze(1);
        rng.uniform_between(DType::F32, [3, 100], low, low + 0.5)
    });
    for (row, x) in rows.chunks(100).zip(0..) {
        assert!(row.iter().all(|v| (f64::from(x)..f64::from(x) + 0.5).contains(v)));
    }
}

#[test]
fn normal_numbers_are_those_of_box_and_muller() {
    let of = |u: f64, v: f64| (-2.0 * u.ln()).sqrt() * (TAU * v).cos();
    let [a, b, c, d] = WORDS;
    let angle = |word: u32| f64::from(word >> 8) * power(-24);
    let expected = [of(open(a), angle(b)), of(open(c), angle(d))];
    close(&numbers(0, |rng| rng.normal(DType::F32, [2])), &expected, 2e-6);
    close(&numbers(0, |rng| rng.normal(DType::F16, [2])), &expected, power(-11) + 2e-6);
    close(&numbers(0, |rng| rng.normal(DType::BF16, [2])), &expected, power(-8) + 2e-6);
    let half = power(-54);
    close(&numbers(0, |rng| rng.normal(DType::F64, [1])), &[of(fraction(a, b) + half, fraction(c, d))], 1e-14);
    let shifted: Vec<f64> = expected.iter().map(|x| x * 2.0 + 10.0).collect();
    close(&numbers(0, |rng| rng.normal_with(DType::F32, [2], 10.0, 2.0)), &shifted, 1e-6);
}

#[test]
fn exponential_and_gumbel_numbers_are_logarithms() {
    let expected = WORDS.map(|w| -open(w).ln());
    close(&numbers(0, |rng| rng.exponential(DType::F32, [4], 1.0)), &expected, 1e-6);
    close(&numbers(0, |rng| rng.exponential(DType::F32, [4], 4.0)), &expected.map(|x| x / 4.0), 1e-6);
    let expected = WORDS.map(|w| -(-(1.0 - open(w)).ln()).ln());
    close(&numbers(0, |rng| rng.gumbel(DType::F32, [4])), &expected, 3e-6);
}

#[test]
fn bernoulli_compares_with_the_uniform_number() {
    let u = numbers(0, |rng| rng.uniform(DType::F32, [4]));
    // The number itself is not below itself.
    let found = numbers(0, |rng| rng.bernoulli([4], u[1]));
    assert_eq!(found, [1.0, 0.0, 1.0, 1.0]);
    for (p, expected) in [(0.0, 0.0), (-1.0, 0.0), (1.0, 1.0), (2.0, 1.0), (f64::NAN, 0.0)] {
        assert!(numbers(2, |rng| rng.bernoulli([300], p)).iter().all(|&x| x == expected), "{p}");
    }
    let rates = numbers(3, |rng| {
        let p = arange(DType::F64, 3).unsqueeze(1) / 2.0;
        rng.bernoulli([3, 1000], p).cast(DType::F32).mean(1)
    });
    assert!(rates[0] == 0.0 && rates[2] == 1.0 && (rates[1] - 0.5).abs() < 0.05, "{rates:?}");
}

#[test]
fn dropout_scales_what_it_keeps() {
    let x = numbers(4, |rng| {
        let x = full(DType::F32, [1000], 3.0);
        rng.dropout(&x, 0.25)
    });
    let kept = x.iter().filter(|&&x| x != 0.0).count();
    assert!(x.iter().all(|&x| x == 0.0 || x == 4.0), "3 / 0.75");
    assert!((700..800).contains(&kept), "{kept}");
    // The kept elements are those of uniform numbers from 0.25 on.
    let u = numbers(4, |rng| rng.uniform(DType::F32, [1000]));
    assert!(x.iter().zip(&u).all(|(x, u)| (*x != 0.0) == (*u >= 0.25)));
    let of = |p| numbers(4, |rng| rng.dropout(&full(DType::F16, [100], 1.5), p));
    assert!(of(0.0).iter().all(|&x| x == 1.5));
    assert!(of(1.0).iter().all(|&x| x == 0.0));
    // Infinities that are dropped are gone.
    let infinite = numbers(4, |rng| rng.dropout(&full(DType::F32, [100], f64::INFINITY), 1.0));
    assert!(infinite.iter().all(|&x| x == 0.0));
    assert_eq!(one(4, |rng| rng.dropout(&full(DType::BF16, [2, 3], 1.0), 0.5)).spec().to_string(), "bf16[2, 3]");
}
