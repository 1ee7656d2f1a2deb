//! Mutants of generated kernels: what is changed, and what must be found.

use crate::build::Random;
use crate::emulate::{compare, emulator, launch};
use crate::pattern;
use monograph_compiler::Options;
use monograph_compiler::codegen::{Generated, generate, prelude};
use monograph_emulator::{EmulatedProgram, EmulatorOptions, Schedule};
use monograph_ir::interp::{Tensor, evaluate};
use monograph_ir::{Error, Finding, FindingKind, Graph, KernelLine, Target};
use std::time::Duration;

/// All defects are found under each of these.
const SCHEDULES: [Schedule; 3] = [Schedule::InOrder, Schedule::Reverse, Schedule::Seeded(7)];

/// How long a mutant that never ends may take.
const ENDLESS: Duration = Duration::from_millis(500);

/// A generated kernel and its mutants.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    pub(crate) body: Graph,
    pub(crate) inputs: Vec<Tensor>,
    pub(crate) target: Target,
    /// Greatest difference of the kernel itself, relative to the greatest magnitude of the output.
    pub(crate) tolerance: f64,
    pub(crate) mutants: Vec<Mutant>,
}

/// One defect.
pub(crate) struct Mutant {
    name: &'static str,
    edits: Vec<Edit>,
    expected: Expected,
}

/// A replacement in the kernel's text. Patterns are those of [`pattern`].
#[derive(Clone, Copy)]
pub(crate) struct Edit {
    from: &'static str,
    to: &'static str,
    /// How often `from` is in the text, and which of those is replaced; all if none.
    count: usize,
    which: Option<usize>,
}

/// What a mutant does.
pub(crate) enum Expected {
    /// It is found, as one of these.
    Found(Vec<Place>),
    /// It is not found, and the kernel computes something else.
    WrongValue,
    /// Nothing: another way to write the same.
    Right,
}

/// A finding.
pub(crate) struct Place {
    kind: FindingKind,
    /// Patterns, each of which is in one of the lines that the finding names.
    lines: &'static [&'static str],
    /// The array or parameter and the element, where that is certain.
    element: Option<(&'static str, i64)>,
}

impl Subject {
    /// With small random inputs, for a device of 132 multiprocessors.
    pub(crate) fn new(name: &'static str, body: Graph, tolerance: f64, mutants: Vec<Mutant>) -> Subject {
        let mut random = Random::new(name.len() as u64 + 5);
        let inputs = body.params().iter().map(|p| random.tensor(&p.spec)).collect();
        Subject { name, body, inputs, target: Target::default(), tolerance, mutants }
    }
}

pub(crate) fn mutant(name: &'static str, edit: Edit, expected: Expected) -> Mutant {
    Mutant { name, edits: vec![edit], expected }
}

impl Mutant {
    /// With another replacement, in the text that the ones before have left.
    pub(crate) fn and(mut self, edit: Edit) -> Mutant {
        self.edits.push(edit);
        self
    }
}

/// Replaces what is in the text once.
pub(crate) const fn once(from: &'static str, to: &'static str) -> Edit {
    Edit { from, to, count: 1, which: None }
}

/// Replaces all of what is in the text so many times.
pub(crate) const fn each(count: usize, from: &'static str, to: &'static str) -> Edit {
    Edit { from, to, count, which: None }
}

/// Replaces one of what is in the text so many times, counted from 0.
pub(crate) const fn nth(which: usize, count: usize, from: &'static str, to: &'static str) -> Edit {
    Edit { from, to, count, which: Some(which) }
}

pub(crate) fn found(kind: FindingKind, lines: &'static [&'static str]) -> Expected {
    Expected::Found(vec![Place { kind, lines, element: None }])
}

/// At this element of an output.
pub(crate) fn not_written(name: &'static str, element: i64) -> Expected {
    let kind = FindingKind::NotWritten;
    Expected::Found(vec![Place { kind, lines: &[], element: Some((name, element)) }])
}

impl Expected {
    /// Which of them comes first depends on the schedule.
    pub(crate) fn or(self, kind: FindingKind, lines: &'static [&'static str]) -> Expected {
        match self {
            Expected::Found(mut places) => {
                places.push(Place { kind, lines, element: None });
                Expected::Found(places)
            }
            other => other,
        }
    }
}

impl Place {
    fn fits(&self, finding: &Finding) -> bool {
        let named = |at: &Option<KernelLine>| at.as_ref().map(|line| line.text.clone());
        let others = finding.other.iter().filter_map(|other| named(&other.at));
        let waits = finding.waits.iter().filter_map(|wait| named(&wait.at));
        let lines: Vec<String> = named(&finding.at).into_iter().chain(others).chain(waits).collect();
        let memory = finding.memory.as_ref().map(|m| (m.name.as_str(), m.element));
        self.kind == finding.kind
            && self.lines.iter().all(|pattern| lines.iter().any(|line| !pattern::find(line, pattern).is_empty()))
            && (self.element.is_none() || self.element == memory)
    }
}

/// Applies the edits of a mutant.
fn mutate(mutant: &Mutant, source: &str) -> Result<String, String> {
    let mut text = source.to_string();
    for Edit { from, to, count, which } in &mutant.edits {
        let matches = pattern::find(&text, from);
        if matches.len() != *count {
            return Err(format!("`{from}` is {} times in its text, not {count} times", matches.len()));
        }
        for (number, found) in matches.iter().enumerate().rev() {
            if which.is_none_or(|w| w == number) {
                text.replace_range(found.range.clone(), &found.fill(to));
            }
        }
    }
    Ok(text)
}

/// Runs the kernels and all their mutants, of one program, and names all that are not found as they should.
pub(crate) fn check(name: &'static str, subjects: &[Subject]) {
    let Some(emulator) = emulator(name) else { return };
    let mut problems = Vec::new();
    let mut text = prelude().to_string();
    let mut runs = Vec::new();
    let itself = Mutant { name: "unmutated", edits: Vec::new(), expected: Expected::Right };
    let generate = |s: &Subject| generate(&s.body, &s.target, &Options::default()).expect("a body of a test has code");
    let kernels: Vec<Generated> = subjects.iter().map(generate).collect();
    for (subject, generated) in subjects.iter().zip(&kernels) {
        for mutant in std::iter::once(&itself).chain(&subject.mutants) {
            match mutate(mutant, &generated.source) {
                Ok(source) => {
                    let symbol = format!("{}_{}", generated.name, runs.len());
                    let source = source.replacen(&generated.name, &symbol, 1);
                    text += &source;
                    runs.push(Run { subject, mutant, symbol, source, generated });
                }
                Err(why) => problems.push(format!("{}: {}: {why}\n{}", subject.name, mutant.name, generated.source)),
            }
        }
    }
    let symbols: Vec<&str> = runs.iter().map(|r| r.symbol.as_str()).collect();
    let program = emulator.program(&text, &symbols);
    for run in &runs {
        let expected = evaluate(&run.subject.body, &run.subject.inputs).expect("the body can be evaluated");
        for schedule in SCHEDULES {
            if let Err(why) = run.check(&program, schedule, &expected) {
                let (subject, mutant, source) = (run.subject.name, run.mutant.name, &run.source);
                problems.push(format!("{subject}: {mutant}: under {schedule}: {why}\n{source}"));
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n\n{}", problems.len(), problems.join("\n\n"));
}

/// A mutant in the program.
struct Run<'a> {
    subject: &'a Subject,
    mutant: &'a Mutant,
    symbol: String,
    source: String,
    generated: &'a Generated,
}

impl Run<'_> {
    fn check(&self, program: &EmulatedProgram, schedule: Schedule, expected: &[Tensor]) -> Result<(), String> {
        let mut options = EmulatorOptions { schedule, checked: true, ..EmulatorOptions::default() };
        if matches!(&self.mutant.expected, Expected::Found(p) if p.iter().any(|p| p.kind == FindingKind::Timeout)) {
            options.time_limit = ENDLESS;
        }
        let result = launch(program, &self.symbol, self.generated, &self.subject.inputs, &options, 0xff);
        match (&self.mutant.expected, result) {
            (Expected::Found(places), Err(Error::Finding(finding))) => match places.iter().any(|p| p.fits(&finding)) {
                true => Ok(()),
                false => Err(format!("found otherwise or elsewhere than expected: {finding}")),
            },
            (Expected::Found(_), Ok(_)) => Err("not found".into()),
            (Expected::WrongValue | Expected::Right, Ok(outputs)) => {
                let mut pairs = outputs.iter().zip(expected);
                let same = pairs.try_for_each(|(found, expected)| compare(found, expected, self.subject.tolerance));
                match (&self.mutant.expected, same) {
                    (Expected::WrongValue, Ok(())) => Err("the value is right".into()),
                    (Expected::Right, Err(why)) => Err(format!("an output {why}")),
                    _ => Ok(()),
                }
            }
            (_, Err(Error::Finding(finding))) => Err(finding.to_string()),
            (_, Err(error)) => panic!("{} cannot be run: {error}", self.symbol),
        }
    }
}
