//! Kernels run in the emulator: each case without checks under three schedules, small ones with checks.

use crate::suite::{Case, Suite};
use monograph_compiler::codegen::Generated;
use monograph_emulator::{EmulatedProgram, Emulator, EmulatorOptions, KernelRun, Parameter, Schedule};
use monograph_ir::interp::{Tensor, evaluate};
use monograph_ir::{DType, Error, Graph, Node, NodeId, Op};
use std::path::PathBuf;

/// The most threads of a launch that is run with checks.
const CHECKED_THREADS: u64 = 16 << 10;

/// The most work, as [`work`] counts it, of a launch that is run with checks.
const CHECKED_WORK: usize = 1 << 20;

/// The emulator; none where there is no C++ compiler, which is said, or is an error if `MONOGRAPH_REQUIRE_EMULATOR` is 1.
pub(crate) fn emulator(what: &str) -> Option<Emulator> {
    let required = std::env::var_os("MONOGRAPH_REQUIRE_EMULATOR").is_some_and(|v| v == "1");
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("emulator");
    match Emulator::find(EmulatorOptions::default(), Some(cache)) {
        Ok(emulator) => Some(emulator),
        Err(why @ (Error::Toolchain { .. } | Error::Device(_))) if !required => {
            eprintln!("skipped: the kernels of `{what}` are not run: {why}");
            None
        }
        Err(why) => panic!("the kernels of `{what}` cannot be run: {why}"),
    }
}

/// The outputs of a kernel, one behind the other. Without checks, outputs are filled with `fill` before.
pub(crate) fn launch(
    program: &EmulatedProgram,
    symbol: &str,
    generated: &Generated,
    inputs: &[Tensor],
    options: &EmulatorOptions,
    fill: u8,
) -> Result<Vec<Vec<u8>>, Error> {
    let names: Vec<String> = (0..inputs.len()).map(|i| format!("x{i}")).collect();
    let reads = inputs.iter().zip(&names).map(|(t, name)| Parameter::Read(t.bytes(), t.dtype(), name));
    let sizes: Vec<u64> = generated.writes.iter().map(|w| w.spec.bytes().expect("small")).collect();
    let filled: Vec<Vec<u8>> = sizes.iter().map(|&bytes| vec![fill; bytes as usize]).collect();
    let names: Vec<String> = (0..sizes.len()).map(|i| format!("y{i}")).collect();
    let writes = generated.writes.iter().enumerate().map(|(i, write)| match options.checked {
        true => Parameter::Write(sizes[i], write.spec.dtype, &names[i]),
        false => Parameter::ReadWrite(&filled[i], write.spec.dtype, &names[i]),
    });
    let run = KernelRun {
        symbol,
        grid: generated.grid,
        block: generated.block,
        shared: generated.shared,
        parameters: reads.chain(writes).collect(),
    };
    program.run_with(&run, options)
}

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

/// Compares an output with what is expected, to a tolerance as that of a [`Case`]. A NaN equals a NaN, and nothing else.
///
/// # Errors
/// Where they differ first.
pub(crate) fn compare(found: &[u8], expected: &Tensor, tolerance: f64) -> Result<(), String> {
    let dtype = expected.dtype();
    let bytes = found.chunks(dtype.size()).zip(expected.bytes().chunks(dtype.size()));
    let found = Tensor::from_bytes(expected.spec().clone(), found).map_err(|e| e.to_string())?;
    let (a, b) = (found.to_f64_vec(), expected.to_f64_vec());
    let scale = b.iter().filter(|x| x.is_finite()).fold(0.0, |m: f64, x| m.max(x.abs()));
    let step = match dtype {
        DType::F16 => 2.0f64.powi(-10),
        DType::BF16 => 2.0f64.powi(-7),
        _ => 0.0,
    };
    for (at, ((&a, &b), (a_bytes, b_bytes))) in a.iter().zip(&b).zip(bytes).enumerate() {
        // Where nothing is tolerated, every bit counts but those of a NaN.
        let close = match tolerance {
            0.0 => a_bytes == b_bytes,
            t => a == b || (a - b).abs() <= t * scale + (step * b.abs()).min(1e30),
        };
        if !close && !(a.is_nan() && b.is_nan()) {
            return Err(format!("({}) at {at} is {a}, not {b} (scale {scale})", expected.spec()));
        }
    }
    Ok(())
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
