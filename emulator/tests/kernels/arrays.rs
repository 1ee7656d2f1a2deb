//! Shared arrays that lie side by side, those of no kernel, and functions of C that touch memory.

use crate::tool::{emulator, f32s, to_f32s};
use monograph_emulator::{EmulatedProgram, EmulatorOptions, KernelRun, Parameter};
use monograph_ir::{DType, Error, Finding, FindingKind, MemoryKind};
use std::sync::OnceLock;

const SYMBOLS: [&str; 9] = [
    "neighbours",
    "far",
    "outside",
    "outside_too",
    "copies",
    "copy_too_much",
    "fill_too_much",
    "copy_unwritten",
    "copy_races",
];

/// Runs a kernel of one block and one warp on `a`, 0 to 32, and the 32 elements of `y`.
fn run(symbol: &str, options: &EmulatorOptions) -> Option<Result<Vec<f32>, Finding>> {
    static PROGRAM: OnceLock<Option<EmulatedProgram>> = OnceLock::new();
    let program = PROGRAM.get_or_init(|| Some(emulator()?.program(include_str!("arrays.cu"), &SYMBOLS)));
    let a = f32s((0..33).map(|i| i as f32));
    let parameters = vec![Parameter::Write(128, DType::F32, "y"), Parameter::Read(&a, DType::F32, "a")];
    let run = KernelRun { symbol, grid: [1; 3], block: [32, 1, 1], shared: 0, parameters };
    Some(match program.as_ref()?.run_with(&run, options) {
        Ok(results) => Ok(to_f32s(&results[0])),
        Err(Error::Finding(finding)) => Err(*finding),
        Err(error) => panic!("{symbol}: {error}"),
    })
}

fn results(symbol: &str) -> Option<Vec<f32>> {
    let unchecked = EmulatorOptions { checked: false, ..EmulatorOptions::default() };
    let results = run(symbol, &EmulatorOptions::default())?.unwrap_or_else(|finding| panic!("{symbol}: {finding}"));
    assert_eq!(run(symbol, &unchecked)?.ok().as_ref(), Some(&results), "{symbol}: unchecked");
    Some(results)
}

fn finding(symbol: &str) -> Option<Finding> {
    match run(symbol, &EmulatorOptions::default())? {
        Err(finding) => Some(finding),
        Ok(_) => panic!("{symbol}: nothing is found"),
    }
}

/// A finding of this kind, and what it says of the memory: what it is, its name, and the byte or the element.
fn check(symbol: &str, kind: FindingKind, expected: (MemoryKind, &[&str], i64)) {
    let Some(finding) = finding(symbol) else { return };
    let memory = finding.memory.as_ref().unwrap_or_else(|| panic!("{symbol}: no memory: {finding}"));
    let (what, names, element) = expected;
    assert_eq!((finding.kind, memory.what, memory.element), (kind, what, element), "{symbol}: {finding}");
    assert!(names.contains(&memory.name.as_str()), "{symbol}: {finding}");
    assert!(finding.at.is_some(), "{symbol}: {finding}");
}

#[test]
fn the_end_of_a_shared_array_is_not_the_start_of_the_next() {
    // Which of the two is in front is the compiler's choice.
    check("neighbours", FindingKind::OutOfBounds, (MemoryKind::Shared, &["s", "t"], 128));
    check("far", FindingKind::OutOfBounds, (MemoryKind::Shared, &["s", "t"], 4096));
    check("outside_too", FindingKind::OutOfBounds, (MemoryKind::Shared, &["of_all"], 128));
}

#[test]
fn shared_arrays_of_no_kernel_belong_to_all() {
    let Some(results) = results("outside") else { return };
    assert_eq!(results, (0..32).map(|i| (31 - i) as f32 + 6.0).collect::<Vec<_>>());
}

#[test]
fn what_is_copied_is_checked() {
    let Some(results) = results("copies") else { return };
    assert_eq!(results, (0..32).map(|i| i as f32).collect::<Vec<_>>());
    check("copy_too_much", FindingKind::OutOfBounds, (MemoryKind::Parameter, &["a"], 33));
    check("fill_too_much", FindingKind::OutOfBounds, (MemoryKind::Parameter, &["y"], 32));
    check("copy_unwritten", FindingKind::Uninitialised, (MemoryKind::Shared, &["s"], 20));
    let Some(race) = finding("copy_races") else { return };
    assert!(race.kind == FindingKind::Race && race.at.is_some() && race.other.is_some(), "{race}");
}
