//! A hand-made plan: memory, order, state, findings in the words of the program, and a process that dies.

use crate::tool::{emulator, f32s, to_f32s};
use monograph_emulator::{EmulatedPlan, EmulatorOptions, Schedule};
use monograph_ir::plan::*;
use monograph_ir::{
    Binding, DType, Elementwise, Error, Finding, FindingKind, Graph, MemoryKind, Origin, OutputKind, ParamKind, Spec,
    Target,
};
use std::process::Command;
use std::sync::Arc;

const SOURCE: &str = "\
extern \"C\" __global__ void add(const float* a, const float* b, float* y) {
    if (threadIdx.x < 4) y[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}
extern \"C\" __global__ void neg(const float* a, float* y) {
    if (threadIdx.x < 4) y[threadIdx.x] = -a[threadIdx.x];
}
";

fn four() -> Spec {
    Spec::new(DType::F32, [4])
}

fn slot(buffer: u32, offset: u64) -> Slot {
    Slot { buffer: BufferId(buffer), offset }
}

fn kernel(op: Elementwise) -> Kernel {
    let access = Access { spec: four(), map: IndexMap::Affine { offset: 0, strides: vec![1] } };
    let mut body = Graph::new("body");
    let kind = ParamKind::Input(Binding::Copied);
    let params: Vec<_> =
        (0..op.arity()).map(|i| body.parameter(format!("p{i}"), four(), kind, Origin::Unknown)).collect();
    let value = body.apply(op, &params, Origin::Unknown).unwrap();
    body.output("y", value, OutputKind::Result);
    Kernel {
        name: op.name().into(),
        body,
        domain: [4].into(),
        reads: vec![access.clone(); op.arity()],
        writes: vec![access],
        variants: vec![Variant {
            program: ProgramId(0),
            symbol: op.name().into(),
            grid: [1, 1, 1],
            block: [32, 1, 1],
            shared: 0,
        }],
    }
}

fn call(name: &str, kernel: u32, reads: &[Slot], writes: &[Slot]) -> Launch {
    let work = Work::Kernel { kernel: KernelId(kernel), reads: reads.to_vec(), writes: writes.to_vec() };
    Launch { name: name.into(), device: DeviceId(0), work, origins: Vec::new() }
}

/// `a = x + c; b = a + y; o = -b; return -s, o; s = s + o`, with `o` where `a` was and `s` in place.
fn plan(source: &str) -> Plan {
    let buffer = |region, offset, size| Buffer { device: DeviceId(0), region, offset, size, alignment: 256 };
    let value = |name: &str, slot| Value { name: name.into(), spec: four(), slot };
    let input = |name: &str, binding, id| Input { name: name.into(), spec: four(), binding, buffer: BufferId(id) };
    let edge = |from, to| Edge { from: LaunchId(from), to: LaunchId(to), kind: EdgeKind::Full };
    let (x, y, c, s, a, b, o) = (slot(0, 0), slot(1, 0), slot(2, 0), slot(3, 0), slot(4, 0), slot(5, 0), slot(6, 0));
    let copy = Work::Copy { source: o, target: slot(7, 16), bytes: 16 };
    let origin = Origin::Text { file: "made.mg".into(), line: 7, column: 3 };
    Plan {
        version: PLAN_VERSION,
        name: "made".into(),
        target: Target::default(),
        buffers: vec![
            buffer(Region::Inputs, 0, 16),
            buffer(Region::Bound, 0, 16),
            buffer(Region::Constants, 0, 16),
            buffer(Region::States, 0, 16),
            buffer(Region::Arena, 0, 16),
            buffer(Region::Arena, 256, 16),
            buffer(Region::Arena, 0, 16),
            buffer(Region::Arena, 512, 32),
        ],
        programs: vec![Program { name: "p".into(), source: source.into(), options: Vec::new(), cubin: None }],
        kernels: vec![kernel(Elementwise::Add), kernel(Elementwise::Neg)],
        launches: vec![
            call("a", 0, &[x, c], &[a]),
            Launch { origins: vec![origin], ..call("b", 0, &[a, y], &[b]) },
            call("o", 1, &[b], &[o]),
            call("old s", 1, &[s], &[slot(7, 0)]),
            call("new s", 0, &[s, o], &[s]),
            Launch { name: "copy o".into(), device: DeviceId(0), work: copy, origins: Vec::new() },
        ],
        edges: vec![edge(0, 1), edge(1, 2), edge(2, 4), edge(3, 4), edge(2, 5)],
        inputs: vec![input("x", Binding::Copied, 0), input("y", Binding::Bound, 1)],
        outputs: vec![value("old", slot(7, 0)), value("o", slot(7, 16))],
        states: vec![State { name: "s".into(), spec: four(), buffer: BufferId(3) }],
        constants: vec![Constant { name: "c".into(), spec: four(), buffer: BufferId(2), hash: None }],
        probes: vec![value("b", b)],
    }
}

/// The plan with its inputs 1, 2, 3, 4 and 1, 1, 1, 1, the constant 10, and the state 100.
fn loaded(source: &str, options: EmulatorOptions) -> Option<EmulatedPlan> {
    let mut emulated = emulator()?.with_options(options).load(Arc::new(plan(source))).unwrap();
    emulated.write(slot(0, 0), &f32s([1.0, 2.0, 3.0, 4.0])).unwrap();
    emulated.write(slot(1, 0), &f32s([1.0; 4])).unwrap();
    emulated.write(slot(2, 0), &f32s([10.0; 4])).unwrap();
    emulated.write(slot(3, 0), &f32s([100.0; 4])).unwrap();
    Some(emulated)
}

fn read(emulated: &EmulatedPlan, slot: Slot) -> Vec<f32> {
    let mut bytes = [0; 16];
    emulated.read(slot, &mut bytes).unwrap();
    to_f32s(&bytes)
}

fn finding(result: Result<(), Error>) -> Finding {
    match result {
        Err(Error::Finding(finding)) => *finding,
        other => panic!("no finding but {other:?}"),
    }
}

#[test]
fn replays_carry_state_in_any_order_of_launches() {
    for schedule in [Schedule::InOrder, Schedule::Reverse, Schedule::Seeded(1), Schedule::Seeded(2)] {
        for checked in [true, false] {
            let options = EmulatorOptions { schedule, checked, ..EmulatorOptions::default() };
            let Some(mut emulated) = loaded(SOURCE, options) else { return };
            for replay in 0..5 {
                emulated.replay().unwrap_or_else(|e| panic!("{options:?}: {e}"));
                let gone = replay as f32;
                let old = [12.0, 13.0, 14.0, 15.0].map(|o| -(100.0 - gone * o));
                assert_eq!(read(&emulated, slot(7, 0)), old, "{options:?}");
                assert_eq!(read(&emulated, slot(7, 16)), [-12.0, -13.0, -14.0, -15.0]);
                assert_eq!(read(&emulated, slot(5, 0)), [12.0, 13.0, 14.0, 15.0]);
            }
            emulated.write(slot(0, 0), &f32s([0.0; 4])).unwrap();
            emulated.write(slot(3, 0), &f32s([1.0; 4])).unwrap();
            emulated.replay().unwrap();
            assert_eq!(read(&emulated, slot(3, 0)), [-10.0; 4]);
        }
    }
}

#[test]
fn findings_name_the_users_place_and_the_programs_values() {
    let outside = SOURCE.replace("y[threadIdx.x] = a[threadIdx.x]", "y[threadIdx.x] = a[threadIdx.x + 1]");
    let Some(mut emulated) = loaded(&outside, EmulatorOptions::default()) else { return };
    let found = finding(emulated.replay());
    assert_eq!((found.kind, found.launch.as_deref()), (FindingKind::OutOfBounds, Some("a")), "{found}");
    let memory = found.memory.unwrap();
    assert_eq!((memory.what, memory.name.as_str(), memory.element), (MemoryKind::Input, "x", 4));
    assert_eq!(memory.dtype, Some(DType::F32));
    assert!(emulated.process().is_none());

    // In launch `b` alone, threads read what they are about to write.
    let late = "y[threadIdx.x] = a[0] == 11.0f ? y[threadIdx.x] : a[threadIdx.x]";
    let late = SOURCE.replace("y[threadIdx.x] = a[threadIdx.x]", late);
    let mut emulated = loaded(&late, EmulatorOptions::default()).unwrap();
    let found = finding(emulated.replay());
    assert_eq!((found.kind, found.launch.as_deref()), (FindingKind::Uninitialised, Some("b")), "{found}");
    assert_eq!(found.origins, [Origin::Text { file: "made.mg".into(), line: 7, column: 3 }]);
    let memory = found.memory.clone().unwrap();
    assert_eq!((memory.what, memory.name.as_str(), memory.element), (MemoryKind::Output, "b", 0));
    assert!(found.to_string().contains("made.mg:7:3"), "{found}");
}

/// What is found when `add` or `neg` has another body.
fn found_with(from: &str, to: &str) -> Option<Finding> {
    let source = SOURCE.replace(from, to);
    assert_ne!(source, SOURCE);
    Some(finding(loaded(&source, EmulatorOptions::default())?.replay()))
}

const SUM: &str = "y[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];";

#[test]
fn a_pointer_does_not_reach_into_another_range_of_its_launch() {
    // In launch `b` alone, the result is 256 bytes behind the first input.
    let far = "{ const float x = a[threadIdx.x]; y[threadIdx.x] = x + b[threadIdx.x]; \
               if (x == 11.0f) y[threadIdx.x] = a[threadIdx.x + 64]; }";
    let Some(found) = found_with(SUM, far) else { return };
    assert_eq!((found.kind, found.launch.as_deref()), (FindingKind::OutOfBounds, Some("b")), "{found}");
    let memory = found.memory.clone().unwrap();
    assert_eq!((memory.what, memory.element), (MemoryKind::Arena, 64), "{found}");
    // It is the first input also where an output is nearer.
    let near = far.replace("+ 64", "+ 63");
    let found = found_with(SUM, &near).unwrap();
    assert_eq!((found.kind, found.memory.unwrap().what), (FindingKind::OutOfBounds, MemoryKind::Arena));
}

#[test]
fn two_parameters_with_the_same_bytes_meet_there() {
    // Launch `new s` alone reads the state and `-12`, and writes the state.
    let neighbour = "y[threadIdx.x] = (b[0] == -12.0f ? a[threadIdx.x ^ 1] : a[threadIdx.x]) + b[threadIdx.x];";
    let Some(found) = found_with(SUM, neighbour) else { return };
    assert_eq!((found.kind, found.launch.as_deref()), (FindingKind::Race, Some("new s")), "{found}");
    assert_eq!(found.memory.unwrap().name, "s");
    let input = "{ float s = a[threadIdx.x] + b[threadIdx.x]; if (b[0] == -12.0f) ((float*)a)[threadIdx.x] = s; \
                 y[threadIdx.x] = s; }";
    let found = found_with(SUM, input).unwrap();
    assert_eq!((found.kind, found.launch.as_deref()), (FindingKind::ReadOnly, Some("new s")), "{found}");
}

#[test]
fn what_an_earlier_launch_left_in_an_output_is_not_written() {
    // Launch `o` alone reads 12, and its result lies where `a` was.
    let left = "y[threadIdx.x] = a[0] == 12.0f ? y[threadIdx.x] : -a[threadIdx.x];";
    let Some(found) = found_with("y[threadIdx.x] = -a[threadIdx.x];", left) else { return };
    assert_eq!((found.kind, found.launch.as_deref()), (FindingKind::Uninitialised, Some("o")), "{found}");
    assert_eq!(found.memory.unwrap().what, MemoryKind::Arena);
}

#[test]
fn the_states_are_what_they_were_before_a_replay_that_failed() {
    // The launch that updates the state in place does so, and then gives up where the state was what a replay left.
    let late = SOURCE.replacen("y[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];", "GIVE_UP", 1);
    let late = late.replace(
        "GIVE_UP",
        "{ float s = a[threadIdx.x]; y[threadIdx.x] = s + b[threadIdx.x]; __syncwarp(15); if (s == 88.0f) __trap(); }",
    );
    let Some(mut emulated) = loaded(&late, EmulatorOptions::default()) else { return };
    emulated.replay().unwrap();
    assert_eq!(read(&emulated, slot(3, 0)), [88.0, 87.0, 86.0, 85.0]);
    let found = finding(emulated.replay());
    assert_eq!((found.kind, found.launch.as_deref()), (FindingKind::Trap, Some("new s")), "{found}");
    assert_eq!(read(&emulated, slot(3, 0)), [88.0, 87.0, 86.0, 85.0]);
}

#[test]
fn a_process_that_is_killed_is_no_finding_and_the_next_replay_starts_another() {
    let Some(mut emulated) = loaded(SOURCE, EmulatorOptions::default()) else { return };
    assert!(emulated.process().is_none());
    emulated.replay().unwrap();
    let process = emulated.process().unwrap().to_string();
    assert!(Command::new("kill").args(["-9", &process]).status().unwrap().success());
    match emulated.replay() {
        Err(Error::Io { message, .. }) => {
            assert!(message.contains("from outside") && message.contains("signal 9"), "{message}");
        }
        other => panic!("{other:?}"),
    }
    // The state is what the first replay left.
    emulated.replay().unwrap();
    assert_eq!(read(&emulated, slot(3, 0)), [76.0, 74.0, 72.0, 70.0]);
    assert_ne!(emulated.process().unwrap().to_string(), process);
}

#[test]
fn plans_without_code_or_sense_are_refused() {
    let Some(emulator) = emulator() else { return };
    let mut without = plan(SOURCE);
    without.kernels[0].variants.clear();
    let error = emulator.load(Arc::new(without)).unwrap_err();
    assert!(matches!(&error, Error::Plan(e) if e.message.contains("kernel add")), "{error}");
    let mut unsound = plan(SOURCE);
    unsound.edges.pop();
    assert!(matches!(emulator.load(Arc::new(unsound)), Err(Error::Plan(_))));
}
