//! Choices, against arithmetic of 128 bits and against what a choice must be.

use crate::{numbers, one};
use monograph_compiler::trace::{arange, iota};
use monograph_ir::DType;
use std::ops::Range;

/// Pairs of words as numbers of 64 bits, the first the upper half.
fn pairs(seed: u64, count: usize) -> Vec<u64> {
    let words = one(seed, |rng| rng.bits([count, 2]));
    words.elements::<u32>().unwrap().chunks(2).map(|w| u64::from(w[0]) << 32 | u64::from(w[1])).collect()
}

/// The upper 64 bits of the product with the size of the range.
fn expected(seed: u64, range: &Range<i64>, count: usize) -> Vec<i64> {
    let size = (i128::from(range.end) - i128::from(range.start)) as u128;
    let of = |bits: u64| (i128::from(range.start) + ((u128::from(bits) * size) >> 64) as i128) as i64;
    pairs(seed, count).into_iter().map(of).collect()
}

#[test]
fn integers_are_the_upper_half_of_a_product() {
    for (dtype, range) in [
        (DType::I32, 0..10),
        (DType::I32, -5..6),
        (DType::I32, i64::from(i32::MIN)..1 << 31),
        (DType::U32, 0..1 << 32),
        (DType::U8, 0..256),
        (DType::I8, -128..128),
        (DType::I64, 7..8),
        (DType::I64, -3..1 << 32),
        (DType::I64, 0..1 << 33),
        (DType::I64, -(1 << 62)..(1 << 62) + 12345),
        (DType::I64, i64::MIN..i64::MAX),
    ] {
        let found = one(9, |rng| rng.randint(DType::I64, [257], range.clone()));
        assert_eq!(found.elements::<i64>().unwrap(), expected(9, &range, 257), "{range:?}");
        let found = one(9, |rng| rng.randint(dtype, [257], range.clone()));
        assert_eq!(found.dtype(), dtype);
        let wide: Vec<f64> = expected(9, &range, 257).iter().map(|&x| x as f64).collect();
        assert_eq!(found.to_f64_vec(), wide, "{dtype} {range:?}");
        // Bounds that are tensors.
        if range.end - 1 < i64::MAX && dtype == DType::I64 {
            let found = one(9, |rng| {
                let bound = |x: i64| arange(DType::I64, 1) + x;
                rng.randint_between([257], &bound(range.start), &bound(range.end))
            });
            assert_eq!(found.elements::<i64>().unwrap(), expected(9, &range, 257), "{range:?}");
        }
    }
    let rows = numbers(2, |rng| {
        let high = arange(DType::U8, 3).unsqueeze(1) * 100;
        rng.randint_between([3, 50], &(high.zeros_like() + 5), &high)
    });
    assert!(rows[..50].iter().all(|&x| x == 5.0), "an empty range gives its start");
    assert!(rows[50..100].iter().all(|x| (5.0..100.0).contains(x)));
    assert!(rows[100..].iter().any(|&x| x > 100.0));
}

#[test]
fn permutations_sort_the_words() {
    for n in [0, 1, 2, 7, 200] {
        let found = one(11, |rng| rng.permutation(n));
        let found = found.elements::<i64>().unwrap();
        let keys = pairs(11, n);
        let mut order: Vec<i64> = (0..n as i64).collect();
        order.sort_by_key(|&i| keys[i as usize] as i64);
        assert_eq!(found, order);
    }
}

#[test]
fn shuffles_move_whole_slices() {
    let rows = numbers(12, |rng| rng.shuffle(&iota(DType::I32, [30, 3], 0), 0));
    let mut seen: Vec<f64> = rows.chunks(3).map(|row| row[0]).collect();
    assert!(rows.chunks(3).all(|row| row[0] == row[1] && row[1] == row[2]));
    assert_ne!(seen, (0..30).map(f64::from).collect::<Vec<_>>());
    seen.sort_by(f64::total_cmp);
    assert_eq!(seen, (0..30).map(f64::from).collect::<Vec<_>>());
    let columns = one(12, |rng| rng.shuffle(&iota(DType::I32, [2, 5], 1), -1));
    let cells = columns.to_f64_vec();
    assert_eq!(cells[..5], cells[5..]);
}

#[test]
fn classes_come_up_as_often_as_softmax_says() {
    // Weights 1, 2, 5, 0.
    const DRAWS: usize = 8000;
    let logits = || (arange(DType::F32, 3) * arange(DType::F32, 3) + 1.0).log().pad(&[0], &[1], f64::NEG_INFINITY);
    let count = |found: &[f64]| [0.0, 1.0, 2.0, 3.0].map(|class| found.iter().filter(|&&x| x == class).count());
    let found = numbers(13, |rng| rng.multinomial(&logits(), DRAWS));
    let counts = count(&found);
    assert_eq!(counts[3], 0);
    for (class, weight) in [1.0, 2.0, 5.0].into_iter().enumerate() {
        let p: f64 = weight / 8.0;
        let deviation = (DRAWS as f64 * p * (1.0 - p)).sqrt();
        let off = (counts[class] as f64 - DRAWS as f64 * p).abs();
        assert!(off < 4.0 * deviation, "{counts:?}");
    }
    // Each row is drawn by itself.
    let rows = one(13, |rng| rng.categorical(&logits().broadcast_to([2, 500, 4])));
    assert_eq!(rows.spec().to_string(), "i64[2, 500]");
    assert!(count(&rows.to_f64_vec())[..3].iter().all(|&n| n > 50));
}

#[test]
fn draws_without_replacement_are_different_and_weighted() {
    const ROWS: usize = 2000;
    let found = one(14, |rng| {
        let logits = (arange(DType::F32, 4) + 1.0).log().broadcast_to([ROWS, 4]);
        rng.multinomial_distinct(&logits, 2)
    });
    assert_eq!(found.spec().to_string(), format!("i64[{ROWS}, 2]"));
    let found = found.to_f64_vec();
    assert!(found.chunks(2).all(|row| row[0] != row[1]));
    // The first is class 3 with probability 4/10; the second then class 2 with 3/6.
    let first = found.chunks(2).filter(|row| row[0] == 3.0).count() as f64;
    let both = found.chunks(2).filter(|row| row[..] == [3.0, 2.0]).count() as f64;
    let rows = ROWS as f64;
    assert!((first / rows - 0.4).abs() < 4.0 * (0.24 / rows).sqrt(), "{first}");
    assert!((both / first - 0.5).abs() < 4.0 * (0.25 / first).sqrt(), "{both} of {first}");
    // Impossible classes come last.
    let all = numbers(15, |rng| {
        let logits = arange(DType::F32, 3).log();
        rng.multinomial_distinct(&logits, 3)
    });
    assert_eq!(all[2], 0.0);
}
