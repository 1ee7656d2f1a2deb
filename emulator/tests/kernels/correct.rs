//! Kernels that are right give the right numbers under every schedule, checked and unchecked.

use crate::tool::{emulator, f32s, to_f32s, u32s};
use monograph_emulator::{EmulatedProgram, EmulatorOptions, KernelRun, Parameter, Schedule};
use monograph_ir::DType;
use std::sync::OnceLock;

const SOURCE: &str = include_str!("correct.cu");
const SYMBOLS: [&str; 7] = ["scale_add", "double_in_place", "block_sum", "softmax", "matmul", "scan", "reverse"];

fn program() -> Option<&'static EmulatedProgram> {
    static PROGRAM: OnceLock<Option<EmulatedProgram>> = OnceLock::new();
    PROGRAM.get_or_init(|| Some(emulator()?.program(SOURCE, &SYMBOLS))).as_ref()
}

/// What a kernel writes, which is the same under all schedules, with checks and without.
fn run(run: &KernelRun<'_>) -> Option<Vec<Vec<u8>>> {
    let program = program()?;
    let expected = program.run(run).unwrap();
    let schedules =
        [Schedule::InOrder, Schedule::Reverse, Schedule::Seeded(1), Schedule::Seeded(2), Schedule::Seeded(3)];
    for schedule in schedules {
        for checked in [true, false] {
            let options = EmulatorOptions { schedule, checked, ..EmulatorOptions::default() };
            let found = program.run_with(run, &options).unwrap_or_else(|e| panic!("{options:?}: {e}"));
            assert!(found == expected, "{} under {options:?}", run.symbol);
        }
    }
    Some(expected)
}

fn kernel<'a>(symbol: &'a str, grid: u32, block: u32, parameters: Vec<Parameter<'a>>) -> KernelRun<'a> {
    KernelRun { symbol, grid: [grid, 1, 1], block: [block, 1, 1], shared: 0, parameters }
}

/// Small whole numbers, whose sums and products are exact.
fn numbers(count: usize) -> Vec<f32> {
    (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 28) as f32 - 7.0).collect()
}

#[test]
fn pointwise_with_a_tail() {
    let (x, y) = (numbers(1000), numbers(1003));
    let (xs, ys) = (f32s(x.iter().copied()), f32s(y[3..].iter().copied()));
    let parameters = vec![
        Parameter::Read(&xs, DType::F32, "x"),
        Parameter::Read(&ys, DType::F32, "y"),
        Parameter::Write(4000, DType::F32, "z"),
    ];
    let Some(found) = run(&kernel("scale_add", 4, 256, parameters)) else { return };
    let expected: Vec<f32> = x.iter().zip(&y[3..]).map(|(x, y)| 2.0 * x + y).collect();
    assert_eq!(to_f32s(&found[0]), expected);
}

#[test]
fn in_place() {
    let x = numbers(100);
    let xs = f32s(x.iter().copied());
    let parameters = vec![Parameter::ReadWrite(&xs, DType::F32, "x")];
    let Some(found) = run(&kernel("double_in_place", 2, 64, parameters)) else { return };
    assert_eq!(to_f32s(&found[0]), x.iter().map(|x| 2.0 * x).collect::<Vec<_>>());
}

#[test]
fn a_sum_over_a_block() {
    let x = numbers(1000);
    let xs = f32s(x.iter().copied());
    let parameters = vec![Parameter::Read(&xs, DType::F32, "x"), Parameter::Write(4, DType::F32, "sum")];
    let Some(found) = run(&kernel("block_sum", 1, 256, parameters)) else { return };
    assert_eq!(to_f32s(&found[0]), [x.iter().sum::<f32>()]);
}

#[test]
fn softmax_with_shuffles() {
    let x = numbers(240);
    let xs = f32s(x.iter().copied());
    let parameters = vec![Parameter::Read(&xs, DType::F32, "x"), Parameter::Write(960, DType::F32, "y")];
    let Some(found) = run(&kernel("softmax", 2, 128, parameters)) else { return };
    for (row, found) in x.chunks(40).zip(to_f32s(&found[0]).chunks(40)) {
        let sum: f64 = row.iter().map(|&v| f64::from(v).exp()).sum();
        for (x, y) in row.iter().zip(found) {
            assert!((f64::from(*x).exp() / sum - f64::from(*y)).abs() < 1e-6, "{x} {y}");
        }
    }
}

#[test]
fn a_tiled_product() {
    let (a, b) = (numbers(33 * 20), numbers(20 * 17));
    let (left, right) = (f32s(a.iter().copied()), f32s(b.iter().copied()));
    let parameters = vec![
        Parameter::Read(&left, DType::F32, "a"),
        Parameter::Read(&right, DType::F32, "b"),
        Parameter::Write(4 * 33 * 17, DType::F32, "c"),
    ];
    let shape = KernelRun { symbol: "matmul", grid: [2, 3, 1], block: [16, 16, 1], shared: 0, parameters };
    let Some(found) = run(&shape) else { return };
    let dot = |row: usize, column: usize| (0..20).map(|k| a[row * 20 + k] * b[k * 17 + column]).sum::<f32>();
    let expected: Vec<f32> = (0..33 * 17).map(|i| dot(i / 17, i % 17)).collect();
    assert_eq!(to_f32s(&found[0]), expected);
}

#[test]
fn a_scan_whose_blocks_wait_for_each_other() {
    let x: Vec<u32> = (0..512).map(|i| i * 7 % 13).collect();
    let (xs, zeros, zero) = (u32s(x.iter().copied()), u32s([0; 8]), u32s([0]));
    let parameters = vec![
        Parameter::Read(&xs, DType::U32, "x"),
        Parameter::Write(2048, DType::U32, "y"),
        Parameter::Write(32, DType::U32, "sums"),
        Parameter::ReadWrite(&zeros, DType::U32, "ready"),
        Parameter::ReadWrite(&zero, DType::U32, "next"),
    ];
    let Some(found) = run(&kernel("scan", 8, 64, parameters)) else { return };
    let sums = x.iter().scan(0, |sum, x| {
        *sum += x;
        Some(*sum)
    });
    assert_eq!(found[0], u32s(sums));
    assert_eq!(found[3], u32s([8]));
}

#[test]
fn dynamic_shared_memory() {
    let x = u32s(0..100);
    let parameters = vec![Parameter::Read(&x, DType::I32, "x"), Parameter::Write(400, DType::I32, "y")];
    let shape = KernelRun { shared: 400, ..kernel("reverse", 1, 100, parameters) };
    let Some(found) = run(&shape) else { return };
    assert_eq!(found[0], u32s((0..100).rev()));
}
