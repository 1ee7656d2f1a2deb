//! Kernels with one defect each: what is found, in which line, by which threads, in which element.

use crate::tool::{emulator, f32s, u32s};
use monograph_emulator::{EmulatedProgram, EmulatorOptions, KernelRun, Parameter, Schedule};
use monograph_ir::{AccessKind, DType, Error, Finding, FindingKind, MemoryKind};
use std::sync::OnceLock;
use std::time::Duration;

const SOURCE: &str = include_str!("defects.cu");
const SYMBOLS: [&str; 22] = [
    "race_in_shared_memory",
    "race_of_writes",
    "unordered_flag",
    "out_of_bounds",
    "out_of_bounds_in_a_function",
    "in_front_of_the_start",
    "wild",
    "uninitialised",
    "uninitialised_shared",
    "read_only",
    "misaligned",
    "not_written",
    "divergent_barrier",
    "invalid_mask",
    "hang",
    "endless",
    "far_outside",
    "trap",
    "pending_copy",
    "misuse",
    "overflow",
    "many_wait",
];

fn program() -> Option<&'static EmulatedProgram> {
    static PROGRAM: OnceLock<Option<EmulatedProgram>> = OnceLock::new();
    PROGRAM.get_or_init(|| Some(emulator()?.program(SOURCE, &SYMBOLS))).as_ref()
}

/// What is found in a kernel.
fn find_with(run: &KernelRun<'_>, options: &EmulatorOptions) -> Option<Finding> {
    match program()?.run_with(run, options) {
        Err(Error::Finding(finding)) => Some(*finding),
        Err(error) => panic!("{} gave no finding but the error {error}", run.symbol),
        Ok(_) => panic!("{} gave no finding", run.symbol),
    }
}

fn launch<'a>(symbol: &'a str, grid: u32, block: u32, parameters: Vec<Parameter<'a>>) -> KernelRun<'a> {
    KernelRun { symbol, grid: [grid, 1, 1], block: [block, 1, 1], shared: 0, parameters }
}

fn find(symbol: &str, grid: u32, block: u32, parameters: Vec<Parameter<'_>>) -> Option<Finding> {
    find_with(&launch(symbol, grid, block, parameters), &EmulatorOptions::default())
}

fn unchecked() -> EmulatorOptions {
    EmulatorOptions { checked: false, ..EmulatorOptions::default() }
}

/// The line of the kernel that has this comment, and its text.
fn marked(symbol: &str, comment: &str) -> (u32, String) {
    let start = SOURCE.find(&format!("void {symbol}(")).unwrap();
    let end = start + SOURCE[start..].find(comment).unwrap();
    let line = SOURCE[..end].lines().count();
    (line as u32, SOURCE.lines().nth(line - 1).unwrap().trim().into())
}

/// The finding is of that kind, and names the line that is marked.
#[track_caller]
fn is(finding: &Finding, kind: FindingKind, symbol: &str) {
    assert_eq!((finding.kind, finding.kernel.as_str()), (kind, symbol), "{finding}");
    let at = finding.at.as_ref().unwrap_or_else(|| panic!("no line: {finding}"));
    assert_eq!((at.line, at.text.clone()), marked(symbol, "// found"), "{finding}");
}

#[track_caller]
fn thread(finding: &Finding, block: u32, thread: u32) {
    let found = finding.thread.unwrap_or_else(|| panic!("no thread: {finding}"));
    assert_eq!((found.block, found.thread), ([block, 0, 0], [thread, 0, 0]), "{finding}");
}

#[track_caller]
fn memory(finding: &Finding, what: MemoryKind, name: &str, element: i64) {
    let found = finding.memory.as_ref().unwrap_or_else(|| panic!("no memory: {finding}"));
    assert_eq!((found.what, found.name.as_str(), found.element), (what, name, element), "{finding}");
}

#[track_caller]
fn access(finding: &Finding, kind: AccessKind, bytes: u32) {
    assert_eq!(finding.access.map(|a| (a.kind, a.bytes)), Some((kind, bytes)), "{finding}");
}

fn ones(count: usize) -> Vec<u8> {
    f32s(vec![1.0; count])
}

fn y(count: u64) -> Parameter<'static> {
    Parameter::Write(4 * count, DType::F32, "y")
}

#[test]
fn a_race_in_shared_memory() {
    let x = ones(32);
    let Some(finding) = find("race_in_shared_memory", 1, 32, vec![Parameter::Read(&x, DType::F32, "x"), y(32)]) else {
        return;
    };
    is(&finding, FindingKind::Race, "race_in_shared_memory");
    thread(&finding, 0, 1);
    access(&finding, AccessKind::Read, 4);
    memory(&finding, MemoryKind::Shared, "tile", 0);
    let other = finding.other.unwrap();
    assert_eq!(other.thread.unwrap().thread, [0, 0, 0]);
    assert_eq!(other.access.unwrap().kind, AccessKind::Write);
    assert_eq!(other.at.unwrap().text, marked("race_in_shared_memory", "// earlier").1);
}

#[test]
fn a_race_between_blocks() {
    let Some(finding) = find("race_of_writes", 4, 1, vec![y(2)]) else { return };
    is(&finding, FindingKind::Race, "race_of_writes");
    thread(&finding, 1, 0);
    memory(&finding, MemoryKind::Parameter, "y", 0);
    let other = finding.other.unwrap();
    assert_eq!((other.thread.unwrap().block, other.access.unwrap().kind), ([0, 0, 0], AccessKind::Write));
    // In the other order the other blocks are found.
    let options = EmulatorOptions { schedule: Schedule::Reverse, ..EmulatorOptions::default() };
    let finding = find_with(&launch("race_of_writes", 4, 1, vec![y(2)]), &options).unwrap();
    is(&finding, FindingKind::Race, "race_of_writes");
    thread(&finding, 2, 0);
    memory(&finding, MemoryKind::Parameter, "y", 1);
}

#[test]
fn a_flag_that_orders_nothing() {
    let (data, flag) = (ones(1), u32s([0]));
    let parameters =
        vec![Parameter::ReadWrite(&data, DType::F32, "data"), Parameter::ReadWrite(&flag, DType::U32, "flag"), y(1)];
    let Some(finding) = find("unordered_flag", 2, 1, parameters) else { return };
    is(&finding, FindingKind::UnorderedFlag, "unordered_flag");
    thread(&finding, 1, 0);
    memory(&finding, MemoryKind::Parameter, "data", 0);
    assert_eq!(finding.other.unwrap().at.unwrap().text, marked("unordered_flag", "// earlier").1);
}

#[test]
fn accesses_outside() {
    let x = ones(64);
    let parameters = || vec![Parameter::Read(&x, DType::F32, "x"), y(64)];
    let Some(finding) = find("out_of_bounds", 1, 64, parameters()) else { return };
    is(&finding, FindingKind::OutOfBounds, "out_of_bounds");
    thread(&finding, 0, 63);
    access(&finding, AccessKind::Read, 4);
    memory(&finding, MemoryKind::Parameter, "x", 64);

    let finding = find("in_front_of_the_start", 1, 64, parameters()).unwrap();
    is(&finding, FindingKind::OutOfBounds, "in_front_of_the_start");
    thread(&finding, 0, 0);
    memory(&finding, MemoryKind::Parameter, "x", -2);

    let finding = find("wild", 1, 64, parameters()).unwrap();
    is(&finding, FindingKind::OutOfBounds, "wild");
    assert_eq!(finding.memory.unwrap().what, MemoryKind::Wild);
}

#[test]
fn an_access_outside_in_a_function() {
    let x = ones(64);
    let parameters = vec![Parameter::Read(&x, DType::F32, "x"), y(64)];
    let Some(finding) = find("out_of_bounds_in_a_function", 1, 64, parameters) else { return };
    is(&finding, FindingKind::OutOfBounds, "out_of_bounds_in_a_function");
    let inner = finding.at.unwrap().inner.unwrap();
    assert_eq!((inner.function.as_str(), inner.text.as_str()), ("load", "return from[i];  // inside"));
}

#[test]
fn bytes_that_nobody_wrote() {
    let Some(finding) = find("uninitialised", 1, 8, vec![Parameter::Write(32, DType::F32, "scratch"), y(8)]) else {
        return;
    };
    is(&finding, FindingKind::Uninitialised, "uninitialised");
    thread(&finding, 0, 0);
    memory(&finding, MemoryKind::Parameter, "scratch", 0);

    let finding = find("uninitialised_shared", 1, 32, vec![y(32)]).unwrap();
    is(&finding, FindingKind::Uninitialised, "uninitialised_shared");
    thread(&finding, 0, 3);
    memory(&finding, MemoryKind::Shared, "tile", 12);
}

#[test]
fn a_write_to_what_is_read_only() {
    let x = ones(8);
    let Some(finding) = find("read_only", 1, 8, vec![Parameter::Read(&x, DType::F32, "x"), y(8)]) else { return };
    is(&finding, FindingKind::ReadOnly, "read_only");
    access(&finding, AccessKind::Write, 4);
    memory(&finding, MemoryKind::Parameter, "x", 0);
}

#[test]
fn an_address_that_is_not_aligned() {
    let x = ones(4);
    let parameters = vec![Parameter::Read(&x, DType::F32, "x"), Parameter::Write(8, DType::I64, "y")];
    let Some(finding) = find("misaligned", 1, 1, parameters) else { return };
    is(&finding, FindingKind::Misaligned, "misaligned");
    access(&finding, AccessKind::Read, 8);
    memory(&finding, MemoryKind::Parameter, "x", 1);
}

#[test]
fn an_element_that_is_not_written() {
    let Some(finding) = find("not_written", 1, 8, vec![y(8)]) else { return };
    assert_eq!((finding.kind, finding.kernel.as_str()), (FindingKind::NotWritten, "not_written"));
    memory(&finding, MemoryKind::Parameter, "y", 5);
}

#[test]
fn barriers_and_masks() {
    for options in [EmulatorOptions::default(), unchecked()] {
        let Some(finding) = find_with(&launch("divergent_barrier", 1, 32, vec![y(32)]), &options) else { return };
        is(&finding, FindingKind::DivergentBarrier, "divergent_barrier");
        let x = ones(32);
        let parameters = vec![Parameter::Read(&x, DType::F32, "x"), y(32)];
        let finding = find_with(&launch("invalid_mask", 1, 32, parameters), &options).unwrap();
        is(&finding, FindingKind::InvalidMask, "invalid_mask");
        thread(&finding, 0, 16);
    }
}

#[test]
fn nobody_can_go_on() {
    let flag = u32s([0]);
    let parameters =
        || vec![Parameter::ReadWrite(&flag, DType::U32, "flag"), Parameter::ReadWrite(&flag, DType::U32, "y")];
    for options in [EmulatorOptions::default(), unchecked()] {
        let Some(finding) = find_with(&launch("hang", 1, 2, parameters()), &options) else { return };
        assert_eq!((finding.kind, finding.kernel.as_str()), (FindingKind::Hang, "hang"), "{finding}");
        let lines: Vec<String> = finding.waits.iter().filter_map(|w| Some(w.at.as_ref()?.text.clone())).collect();
        assert!(lines.contains(&marked("hang", "// found").1), "{finding}");
    }
}

#[test]
fn threads_that_wait_at_one_place_are_told_together() {
    for options in [EmulatorOptions::default(), unchecked()] {
        let parameters = vec![Parameter::Write(4 * 130, DType::I32, "y")];
        let Some(finding) = find_with(&launch("many_wait", 1, 130, parameters), &options) else { return };
        is(&finding, FindingKind::Hang, "many_wait");
        let waits: Vec<_> = finding.waits.iter().map(|w| (w.at.as_ref().unwrap().line, w.text.as_str())).collect();
        let (even, odd) = (marked("many_wait", "// found").0, marked("many_wait", "// others").0);
        let expected = [
            (even, "threads 0, 2, 4, 6, 8, 10, 12, 14, … (65 in all) of block 0 0 0 at bar.sync"),
            (odd, "threads 1, 3, 5, 7, 9, 11, 13, 15, … (65 in all) of block 0 0 0 at bar.sync"),
        ];
        assert_eq!(waits, expected, "{finding}");
    }
}

#[test]
fn a_launch_that_takes_too_long() {
    let time_limit = Duration::from_millis(300);
    for options in
        [EmulatorOptions { time_limit, ..EmulatorOptions::default() }, EmulatorOptions { time_limit, ..unchecked() }]
    {
        let parameters = vec![Parameter::Write(4, DType::U32, "y")];
        let Some(finding) = find_with(&launch("endless", 1, 1, parameters), &options) else { return };
        is(&finding, FindingKind::Timeout, "endless");
    }
}

#[test]
fn crashes_and_traps() {
    // Without checks the page behind the buffer catches the access.
    let Some(finding) = find_with(&launch("far_outside", 1, 4, vec![y(4)]), &unchecked()) else { return };
    is(&finding, FindingKind::Crash, "far_outside");
    let finding = find_with(&launch("trap", 1, 4, vec![y(4)]), &unchecked()).unwrap();
    is(&finding, FindingKind::Trap, "trap");
    thread(&finding, 0, 2);
    let finding = find("overflow", 1, 1, vec![y(1)]).unwrap();
    assert_eq!((finding.kind, finding.kernel.as_str()), (FindingKind::Crash, "overflow"), "{finding}");
    let at = finding.at.as_ref().unwrap_or_else(|| panic!("no line: {finding}"));
    assert!(at.text.contains("here"), "no line of `deeper`: {finding}");
}

#[test]
fn a_copy_that_was_not_waited_for() {
    let x = ones(4);
    let Some(finding) = find("pending_copy", 1, 1, vec![Parameter::Read(&x, DType::F32, "x"), y(1)]) else { return };
    is(&finding, FindingKind::PendingCopy, "pending_copy");
    memory(&finding, MemoryKind::Shared, "tile", 0);
}

#[test]
fn a_barrier_that_was_not_initialised() {
    let Some(finding) = find_with(&launch("misuse", 1, 1, vec![y(1)]), &unchecked()) else { return };
    is(&finding, FindingKind::Misuse, "misuse");
    // With checks the first thing that is wrong is that its bytes are read.
    let finding = find("misuse", 1, 1, vec![y(1)]).unwrap();
    is(&finding, FindingKind::Uninitialised, "misuse");
    memory(&finding, MemoryKind::Shared, "barrier", 0);
}
