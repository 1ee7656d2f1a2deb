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
    /// It is found, as this: the kind is that of the defect under every schedule. There are several only where the
    /// defect is several at once, and the schedule decides which is found.
    Found(Vec<Place>),
    /// It is not found, and the kernel computes something else.
    WrongValue,
    /// Nothing: another way to write the same.
    Right,
}

/// A finding.
pub(crate) struct Place {
    kind: FindingKind,
    at: At,
}

/// Where a finding is.
enum At {
    /// Patterns, each of which is in the finding's line or in one where a thread waits.
    Lines(&'static [&'static str]),
    /// Two accesses conflict, each in a line with its pattern. Which of them comes second, and is the one that the
    /// finding is about, depends on the schedule: the two may be either way round, but both must be there.
    Accesses([&'static str; 2]),
    /// The parameter and the element.
    Element(&'static str, i64),
}

impl Subject {
    /// With small random inputs, for a device of 132 multiprocessors.
    pub(crate) fn new(name: &'static str, body: Graph, tolerance: f64, mutants: Vec<Mutant>) -> Subject {
        let mut random = Random::new(name.len() as u64 + 5);
        let inputs = body.params().iter().map(|p| random.tensor(&p.spec)).collect();
        Subject { name, body, inputs, target: Target::default(), tolerance, mutants }
    }

    pub(crate) fn generate(&self) -> Generated {
        generate(&self.body, &self.target, &Options::default()).expect("a body of a test has code")
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

    /// Whether it must be found.
    pub(crate) fn is_found(&self) -> bool {
        matches!(self.expected, Expected::Found(_))
    }

    /// The text of the mutant of a kernel.
    ///
    /// # Errors
    /// What to replace is not in the text as often as it should.
    pub(crate) fn apply(&self, source: &str) -> Result<String, String> {
        let mut text = source.to_string();
        for Edit { from, to, count, which } in &self.edits {
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

/// In a line with these patterns, or in several.
pub(crate) fn found(kind: FindingKind, lines: &'static [&'static str]) -> Expected {
    Expected::Found(vec![Place { kind, at: At::Lines(lines) }])
}

/// Between an access in this line and one in that.
pub(crate) fn conflict(kind: FindingKind, one: &'static str, other: &'static str) -> Expected {
    Expected::Found(vec![Place { kind, at: At::Accesses([one, other]) }])
}

/// Between an access in this line and one in that.
pub(crate) fn race(one: &'static str, other: &'static str) -> Expected {
    conflict(FindingKind::Race, one, other)
}

/// Between two accesses in this line.
pub(crate) fn race_within(line: &'static str) -> Expected {
    race(line, line)
}

/// At this element of an output.
pub(crate) fn not_written(name: &'static str, element: i64) -> Expected {
    Expected::Found(vec![Place { kind: FindingKind::NotWritten, at: At::Element(name, element) }])
}

impl Expected {
    /// The defect is both, and the schedule decides which is found.
    pub(crate) fn or(self, other: Expected) -> Expected {
        match (self, other) {
            (Expected::Found(one), Expected::Found(other)) => Expected::Found(one.into_iter().chain(other).collect()),
            _ => panic!("only what is found has alternatives"),
        }
    }
}

impl Place {
    fn fits(&self, finding: &Finding) -> bool {
        self.kind == finding.kind && self.at.fits(finding)
    }
}

impl At {
    fn fits(&self, finding: &Finding) -> bool {
        let is_in = |pattern: &str, line: &KernelLine| !pattern::find(&line.text, pattern).is_empty();
        match self {
            At::Lines(patterns) => {
                let waits = finding.waits.iter().filter_map(|wait| wait.at.as_ref());
                let lines: Vec<&KernelLine> = finding.at.iter().chain(waits).collect();
                patterns.iter().all(|pattern| lines.iter().any(|line| is_in(pattern, line)))
            }
            At::Accesses([one, other]) => {
                let second = finding.other.as_ref().and_then(|other| other.at.as_ref());
                let (Some(found), Some(second)) = (&finding.at, second) else { return false };
                (is_in(one, found) && is_in(other, second)) || (is_in(other, found) && is_in(one, second))
            }
            At::Element(name, element) => {
                finding.memory.as_ref().is_some_and(|memory| memory.name == *name && memory.element == *element)
            }
        }
    }
}

/// Runs the kernels and all their mutants, of one program, and names all that are not found as they should.
pub(crate) fn check(name: &'static str, subjects: &[Subject]) {
    let Some(emulator) = emulator(name) else { return };
    let mut problems = Vec::new();
    let mut text = prelude().to_string();
    let mut runs = Vec::new();
    let itself = Mutant { name: "unmutated", edits: Vec::new(), expected: Expected::Right };
    let kernels: Vec<Generated> = subjects.iter().map(Subject::generate).collect();
    for (subject, generated) in subjects.iter().zip(&kernels) {
        for mutant in std::iter::once(&itself).chain(&subject.mutants) {
            match mutant.apply(&generated.source) {
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
