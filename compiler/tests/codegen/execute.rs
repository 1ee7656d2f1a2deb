//! Kernels run in the emulator: each case without checks under three schedules, small ones with checks.

use crate::emulate::{compare, launch};
use crate::suite::{Case, Suite};
use monograph_emulator::{EmulatedProgram, Emulator, EmulatorOptions, Schedule};
use monograph_ir::interp::evaluate;
use monograph_ir::{Graph, Node, NodeId, Op};

/// The most threads of a launch that is run with checks.
const CHECKED_THREADS: u64 = 16 << 10;

/// The most work, as [`work`] counts it, of a launch that is run with checks.
const CHECKED_WORK: usize = 2 << 20;

/// Runs all cases and compares what they compute with the interpreter.
pub(crate) fn execute(emulator: &Emulator, suite: &Suite, program: &str) {
    let mut symbols: Vec<&str> = suite.cases.iter().map(|c| c.generated.name.as_str()).collect();
    symbols.sort_unstable();
    symbols.dedup();
    let program = emulator.program(program, &symbols);
    for (number, case) in suite.cases.iter().enumerate() {
        let schedules = [Schedule::InOrder, Schedule::Reverse, Schedule::Seeded(number as u64)];
        // What a kernel leaves unwritten differs with the filling.
        let results: Vec<_> =
            schedules.iter().zip([0xff, 0xa5, 0x5a]).map(|(&s, fill)| case.launch(&program, s, false, fill)).collect();
        for (result, schedule) in results.iter().zip(&schedules) {
            assert!(*result == results[0], "{} differs under {schedule}\n{}", case.name, case.generated.source);
        }
        case.compare(&results[0]);
        if case.is_checked() {
            let schedule = schedules[number % schedules.len()];
            let checked = case.launch(&program, schedule, true, 0xff);
            assert!(checked == results[0], "{} differs with checks\n{}", case.name, case.generated.source);
        }
    }
}

impl Case {
    /// Whether the case is small enough to be run with checks.
    pub(crate) fn is_checked(&self) -> bool {
        let threads = self.generated.grid.iter().chain(&self.generated.block).map(|&n| u64::from(n)).product::<u64>();
        threads <= CHECKED_THREADS && work(&self.body) <= CHECKED_WORK
    }

    fn launch(&self, program: &EmulatedProgram, schedule: Schedule, checked: bool, fill: u8) -> Vec<Vec<u8>> {
        let options = EmulatorOptions { schedule, checked, ..EmulatorOptions::default() };
        launch(program, &self.generated.name, &self.generated, &self.inputs, &options, fill)
            .unwrap_or_else(|e| panic!("{} under {schedule}: {e}\n{}", self.name, self.generated.source))
    }

    fn compare(&self, found: &[Vec<u8>]) {
        let expected = evaluate(&self.body, &self.inputs).unwrap_or_else(|e| panic!("{}: {e}", self.name));
        assert_eq!(found.len(), expected.len(), "{}", self.name);
        for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
            if let Err(why) = compare(found, expected, self.tolerance) {
                panic!("{}: output {number} {why}\n{}", self.name, self.generated.source);
            }
        }
    }
}

/// Elements that are computed for a body: those of each node, times the length of what is looked through for each.
fn work(body: &Graph) -> usize {
    let of = |(id, node): (NodeId, &Node)| {
        let operand = |i: usize| &body.spec(node.operands[i]).shape;
        let results = body.spec(id.value()).shape.size();
        match node.op {
            Op::Matmul { transpose_a, .. } => {
                let a = operand(0);
                results * a[a.rank() - if transpose_a { 2 } else { 1 }]
            }
            Op::Scatter { .. } => results * operand(1).size(),
            Op::Reduce { .. } | Op::ArgReduce { .. } => operand(0).size(),
            _ => results,
        }
    };
    body.iter().map(of).sum()
}
