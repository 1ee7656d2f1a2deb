//! Kernels with and without defects, each under several schedules: what is found is of the same kind under all of them,
//! and names a line that is at fault.

mod copies;
mod flags;
mod memory;
mod shared;
#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../kernels/tool.rs"]
mod tool;

use monograph_emulator::{EmulatorOptions, KernelRun, Parameter, Schedule};
use monograph_ir::{DType, Error, Finding, FindingKind, KernelLine};
use std::time::Duration;

/// How a kernel is launched, and what is found.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    symbol: &'static str,
    found: Option<FindingKind>,
    blocks: [u32; 3],
    threads: [u32; 3],
    /// Bytes of the parameter `y`.
    y: u64,
    /// Whether somebody has written `y` before.
    written: bool,
    /// Elements of the parameter `f`, zeros at first; the kernel has none if this is 0.
    f: usize,
    dynamic: u32,
    time_limit: Duration,
}

/// A kernel in which nothing is wrong.
pub(crate) const fn clean(symbol: &'static str) -> Case {
    let (blocks, threads, time_limit) = ([4, 1, 1], [256, 1, 1], Duration::from_secs(20));
    Case { symbol, found: None, blocks, threads, y: 4000, written: false, f: 0, dynamic: 0, time_limit }
}

/// A kernel in which something of this kind is wrong.
pub(crate) const fn defect(symbol: &'static str, kind: FindingKind) -> Case {
    Case { found: Some(kind), ..clean(symbol) }
}

impl Case {
    pub(crate) const fn launch(self, blocks: u32, threads: u32) -> Case {
        Case { blocks: [blocks, 1, 1], threads: [threads, 1, 1], ..self }
    }

    pub(crate) const fn launch_2d(self, blocks: u32, threads: u32) -> Case {
        Case { blocks: [blocks, blocks, 1], threads: [threads, threads, 1], ..self }
    }

    /// Bytes of `y`.
    pub(crate) const fn y(self, bytes: u64) -> Case {
        Case { y: bytes, ..self }
    }

    pub(crate) const fn written(self) -> Case {
        Case { written: true, ..self }
    }

    /// Elements of `f`.
    pub(crate) const fn f(self, elements: usize) -> Case {
        Case { f: elements, ..self }
    }

    pub(crate) const fn dynamic(self, bytes: u32) -> Case {
        Case { dynamic: bytes, ..self }
    }

    pub(crate) const fn time_limit(self, time_limit: Duration) -> Case {
        Case { time_limit, ..self }
    }
}

/// Runs all cases under all schedules, and tells all that are not as they should be at once.
pub(crate) fn check(source: &str, cases: &[Case]) {
    let Some(emulator) = tool::emulator() else { return };
    let symbols: Vec<&str> = cases.iter().map(|c| c.symbol).collect();
    let program = emulator.program(source, &symbols);
    let a = tool::f32s((0..1000).map(|i| (i % 9) as f32));
    let mut wrong = Vec::new();
    for case in cases {
        let zeros = vec![0; (case.y as usize).max(4 * case.f)];
        let y = if case.written {
            Parameter::ReadWrite(&zeros[..case.y as usize], DType::F32, "y")
        } else {
            Parameter::Write(case.y, DType::F32, "y")
        };
        let mut parameters = vec![y, Parameter::Read(&a, DType::F32, "a")];
        if case.f > 0 {
            parameters.push(Parameter::ReadWrite(&zeros[..4 * case.f], DType::U32, "f"));
        }
        let run =
            KernelRun { symbol: case.symbol, grid: case.blocks, block: case.threads, shared: case.dynamic, parameters };
        for schedule in [Schedule::InOrder, Schedule::Reverse, Schedule::Seeded(3)] {
            let options =
                EmulatorOptions { schedule, checked: true, time_limit: case.time_limit, ..EmulatorOptions::default() };
            let problem = match program.run_with(&run, &options) {
                Ok(_) if case.found.is_none() => continue,
                Ok(_) => "nothing is found".to_string(),
                Err(Error::Finding(finding)) => match problem(source, case, &finding) {
                    None => continue,
                    Some(problem) => format!("{problem}:\n{finding}"),
                },
                Err(error) => panic!("{}: {error}", case.symbol),
            };
            wrong.push(format!("{}, {schedule}: {problem}", case.symbol));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n\n"));
}

/// What is wrong with a finding, if anything.
fn problem(source: &str, case: &Case, finding: &Finding) -> Option<String> {
    if Some(finding.kind) != case.found {
        return Some(format!("found is {} and not {:?}", finding.kind.name(), case.found.map(FindingKind::name)));
    }
    let marked = marked(source, case.symbol);
    let known = |line: &KernelLine| {
        // A helper that is compiled into the kernel has the mark itself.
        let inner = line.inner.as_ref().is_some_and(|inner| inner.text.ends_with(FOUND));
        inner || marked.iter().any(|(number, text)| (line.line, line.text.as_str()) == (*number, text))
    };
    match &finding.at {
        None if marked.is_empty() => {}
        None => return Some("it has no line".into()),
        Some(at) if !known(at) => return Some(format!("it names line {} `{}`", at.line, at.text)),
        Some(_) => {}
    }
    let other = finding.other.as_ref()?;
    match &other.at {
        // The issue of a copy is named as it is, without a mark of its own.
        _ if finding.kind == FindingKind::PendingCopy => None,
        None => Some("the other access has no line".into()),
        Some(at) if !known(at) => Some(format!("the other access is in line {} `{}`", at.line, at.text)),
        Some(_) => None,
    }
}

/// The comment of lines that are at fault.
const FOUND: &str = "// found";

/// The lines of the kernel that have the comment: numbers and texts.
fn marked<'a>(source: &'a str, symbol: &str) -> Vec<(u32, &'a str)> {
    let names = |line: &str| line.contains(&format!("void {symbol}(")) || line.contains(&format!("({symbol},"));
    let start = source.lines().position(names).unwrap_or_else(|| panic!("no kernel {symbol}"));
    let length = source.lines().skip(start).position(|line| line.starts_with('}') || line.starts_with("SHIFTED"));
    let lines = source.lines().enumerate().skip(start).take(length.unwrap_or(0) + 1);
    lines.filter(|(_, line)| line.ends_with(FOUND)).map(|(i, line)| (i as u32 + 1, line.trim())).collect()
}

/// A seed gives the same finding, to the last thread.
#[test]
fn a_seed_repeats() {
    let Some(emulator) = tool::emulator() else { return };
    let program = emulator.program(flags::SOURCE, &["random_writers"]);
    let zeros = vec![0; 256];
    let a = tool::f32s([0.0]);
    let parameters = vec![
        Parameter::ReadWrite(&zeros, DType::F32, "y"),
        Parameter::Read(&a, DType::F32, "a"),
        Parameter::ReadWrite(&zeros, DType::U32, "f"),
    ];
    let run = KernelRun { symbol: "random_writers", grid: [3, 1, 1], block: [64, 1, 1], shared: 0, parameters };
    let find = |seed| {
        let options = EmulatorOptions { schedule: Schedule::Seeded(seed), ..EmulatorOptions::default() };
        program.run_with(&run, &options).unwrap_err().to_string()
    };
    let found: Vec<String> = (0..8).map(find).collect();
    assert_eq!(found, (0..8).map(find).collect::<Vec<_>>());
    assert!(found.iter().any(|f| *f != found[0]), "seeds make no difference: {}", found[0]);
}
