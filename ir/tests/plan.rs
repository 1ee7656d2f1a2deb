//! The plan verifier: a correct plan, and the same plan broken in each of the ways that the rules name.

use monograph_ir::plan::*;
use monograph_ir::{
    Binding, DType, Elementwise, Graph, Op, Origin, OutputKind, ParamKind, Region as Inner, Spec, Target,
};
use std::sync::Arc;

fn four() -> Spec {
    Spec::new(DType::F32, [4])
}

fn buffer(region: Region, offset: u64, size: u64) -> Buffer {
    Buffer { device: DeviceId(0), region, offset, size, alignment: 256 }
}

fn slot(buffer: u32, offset: u64) -> Slot {
    Slot { buffer: BufferId(buffer), offset }
}

fn edge(from: u32, to: u32) -> Edge {
    Edge { from: LaunchId(from), to: LaunchId(to), kind: EdgeKind::Full }
}

fn body(op: impl Into<Op>, params: &[Spec]) -> Graph {
    let mut graph = Graph::new("body");
    let kind = ParamKind::Input(Binding::Copied);
    let values: Vec<_> = (params.iter().enumerate())
        .map(|(i, spec)| graph.parameter(format!("p{i}"), spec.clone(), kind, Origin::Unknown))
        .collect();
    let value = graph.apply(op, &values, Origin::Unknown).unwrap();
    graph.output("y", value, OutputKind::Result);
    graph
}

/// A kernel over `f32[4]` in which point `i` touches element `i` of everything.
fn kernel(op: Elementwise) -> Kernel {
    let access = Access { spec: four(), map: IndexMap::Affine { offset: 0, strides: vec![1] } };
    Kernel {
        name: op.name().into(),
        body: body(op, &vec![four(); op.arity()]),
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

fn launch(name: &str, work: Work) -> Launch {
    Launch { name: name.into(), device: DeviceId(0), work, origins: Vec::new() }
}

fn call(name: &str, kernel: u32, reads: &[Slot], writes: &[Slot]) -> Launch {
    launch(name, Work::Kernel { kernel: KernelId(kernel), reads: reads.to_vec(), writes: writes.to_vec() })
}

/// `a = x + c; b = a + y; o = -b; return -s, o; s = s + o`, with `o` where `a` was and `s` in place.
fn plan() -> Plan {
    let value = |name: &str, slot| Value { name: name.into(), spec: four(), slot };
    let input = |name: &str, binding, id| Input { name: name.into(), spec: four(), binding, buffer: BufferId(id) };
    let (x, y, c, s, a, b, o) = (slot(0, 0), slot(1, 0), slot(2, 0), slot(3, 0), slot(4, 0), slot(5, 0), slot(6, 0));
    Plan {
        version: PLAN_VERSION,
        name: "hand-made".into(),
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
        programs: vec![Program { name: "p".into(), source: String::new(), options: Vec::new(), cubin: None }],
        kernels: vec![kernel(Elementwise::Add), kernel(Elementwise::Neg)],
        launches: vec![
            call("a", 0, &[x, c], &[a]),
            call("b", 0, &[a, y], &[b]),
            call("o", 1, &[b], &[o]),
            call("old s", 1, &[s], &[slot(7, 0)]),
            call("new s", 0, &[s, o], &[s]),
            launch("copy o", Work::Copy { source: o, target: slot(7, 16), bytes: 16 }),
        ],
        edges: vec![edge(0, 1), edge(1, 2), edge(2, 4), edge(3, 4), edge(2, 5)],
        inputs: vec![input("x", Binding::Copied, 0), input("y", Binding::Bound, 1)],
        outputs: vec![value("old", slot(7, 0)), value("o", slot(7, 16))],
        states: vec![State { name: "s".into(), spec: four(), buffer: BufferId(3) }],
        constants: vec![Constant { name: "c".into(), spec: four(), buffer: BufferId(2), hash: None }],
        probes: vec![value("b", b)],
    }
}

#[test]
fn the_plan_is_sound() {
    assert_eq!(verify_plan(&plan()), Ok(()));
    let json = serde_json::to_string(&plan()).unwrap();
    assert_eq!(verify_plan(&serde_json::from_str(&json).unwrap()), Ok(()));
}

/// The edit breaks a rule whose message holds `expected`.
#[track_caller]
fn broken(expected: &str, edit: impl FnOnce(&mut Plan)) -> PlanError {
    let mut plan = plan();
    edit(&mut plan);
    let error = verify_plan(&plan).expect_err(expected);
    assert!(error.message.contains(expected), "expected `{expected}`, found `{error}`");
    error
}

/// The edit keeps the plan sound.
#[track_caller]
fn sound(edit: impl FnOnce(&mut Plan)) {
    let mut plan = plan();
    edit(&mut plan);
    assert_eq!(verify_plan(&plan), Ok(()));
}

fn variant(plan: &mut Plan) -> &mut Variant {
    &mut plan.kernels[0].variants[0]
}

fn set_read(plan: &mut Plan, launch: usize, number: usize, to: Slot) {
    if let Work::Kernel { reads, .. } = &mut plan.launches[launch].work {
        reads[number] = to;
    }
}

fn set_write(plan: &mut Plan, launch: usize, number: usize, to: Slot) {
    if let Work::Kernel { writes, .. } = &mut plan.launches[launch].work {
        writes[number] = to;
    }
}

#[test]
fn rule_1_version_and_size() {
    broken("version 2", |p| p.version = 2);
    broken("65537 launches", |p| p.launches = vec![p.launches[0].clone(); MAX_LAUNCHES + 1]);
}

#[test]
fn rule_2_buffers() {
    broken("device 1", |p| p.buffers[4].device = DeviceId(1));
    broken("not at a multiple of its alignment", |p| p.buffers[5].offset = 128);
    broken("no power of two", |p| p.buffers[5].alignment = 0);
    broken("no power of two", |p| p.buffers[4].alignment = 3);
    broken("beyond 2^63", |p| p.buffers[4].size = u64::MAX);
    broken("beyond 2^63", |p| p.buffers[5].offset = 1 << 63);
    broken("bound and lies at 256", |p| p.buffers[1].offset = 256);
    broken("buffers 0 and 8 of the region Inputs overlap", |p| {
        p.buffers[0].size = 257;
        p.buffers.push(buffer(Region::Inputs, 256, 16));
    });
    sound(|p| p.buffers.push(buffer(Region::Inputs, 256, 16)));
    sound(|p| p.buffers.push(buffer(Region::Inputs, 0, 0)));
}

#[test]
fn rule_3_inputs_states_and_constants() {
    broken("has buffer 99", |p| p.inputs[0].buffer = BufferId(99));
    broken("input `x` lies in the region Arena, not Inputs", |p| p.inputs[0].buffer = BufferId(4));
    broken("input `x` lies in the region Inputs, not Bound", |p| p.inputs[0].binding = Binding::Bound);
    broken("input `y` lies in the region Bound, not Inputs", |p| p.inputs[1].binding = Binding::Copied);
    broken("state `s` lies in the region Inputs, not States", |p| p.states[0].buffer = BufferId(0));
    broken("constant `c` lies in the region States, not Constants", |p| p.constants[0].buffer = BufferId(3));
    broken("takes 20 bytes", |p| p.inputs[0].spec = Spec::new(DType::F32, [5]));
    broken("more bytes than 2^63", |p| p.inputs[0].spec = Spec::new(DType::F32, [1 << 62]));
    broken("not aligned to its elements", |p| p.buffers[0].alignment = 2);
    broken("name `x`", |p| p.inputs[1].name = "x".into());
    broken("name ``", |p| p.states[0].name.clear());
    broken("that of another value", |p| p.inputs.push(Input { name: "z".into(), ..p.inputs[0].clone() }));
}

#[test]
fn rule_4_outputs_and_probes() {
    broken("output `o`, f32[4], takes 16 bytes at 20", |p| p.outputs[1].slot.offset = 20);
    broken("takes 16 bytes at 18446744073709551612", |p| p.outputs[1].slot.offset = u64::MAX - 3);
    broken("output `old`, f32[4], is not aligned", |p| p.outputs[0].slot.offset = 2);
    broken("name `o`", |p| p.outputs[0].name = "o".into());
    broken("name ``", |p| p.probes[0].name.clear());
    broken("probe `b` has buffer 8", |p| p.probes[0].slot.buffer = BufferId(8));
}

#[test]
fn rule_5_edges() {
    broken("from launch 2 to 1", |p| p.edges.push(edge(2, 1)));
    broken("from launch 2 to 2", |p| p.edges.push(edge(2, 2)));
    broken("from launch 2 to 6", |p| p.edges.push(edge(2, 6)));
    broken("programmatic edge from launch 2 to 5 does not join", |p| p.edges[4].kind = EdgeKind::Programmatic);
    broken("from launch 0 to 1 is there twice", |p| {
        p.edges.push(Edge { kind: EdgeKind::Programmatic, ..p.edges[0] });
    });
}

#[test]
fn rule_6_bodies() {
    broken("1 reads for 2 values", |p| drop(p.kernels[0].reads.pop()));
    broken("0 writes for 1 values", |p| drop(p.kernels[0].writes.pop()));
    broken("read 1 is f32[2, 2], and f32[4] in the body", |p| {
        p.kernels[0].reads[1] = Access { spec: Spec::new(DType::F32, [2, 2]), map: IndexMap::Any };
    });
    broken("write 0 is i32[4]", |p| p.kernels[0].writes[0].spec = Spec::new(DType::I32, [4]));
    broken("the body is not valid", |p| {
        p.kernels[0].body.output("", monograph_ir::NodeId(0).value(), OutputKind::Result)
    });
    broken("holds `unique`, which cannot run", |p| {
        p.kernels[1].body = body(Op::Dynamic(monograph_ir::DynamicOp::Unique), &[four()]);
    });
    broken("holds `unique`, which cannot run", |p| {
        // Inside a region, and unused, so that every type is static.
        let mut inner = body(Elementwise::Neg, &[four()]);
        let x = inner.param_value(0);
        inner.apply(Op::Dynamic(monograph_ir::DynamicOp::Unique), &[x], Origin::Unknown).unwrap();
        let region = Inner(Arc::new(inner));
        let mut outer = Graph::new("outer");
        let kind = ParamKind::Input(Binding::Copied);
        let x = outer.parameter("x", four(), kind, Origin::Unknown);
        let truth = monograph_ir::Literal::one(DType::Bool);
        let truth = outer.apply(Op::Constant(truth), &[], Origin::Unknown).unwrap();
        let op = Op::Cond { then: region.clone(), otherwise: region };
        let y = outer.apply(op, &[truth, x], Origin::Unknown).unwrap();
        outer.output("y", y, OutputKind::Result);
        p.kernels[1].body = outer;
    });
}

#[test]
fn rule_7_index_maps() {
    let map = |offset, strides: &[i64]| IndexMap::Affine { offset, strides: strides.to_vec() };
    broken("2 strides for a domain of 1", |p| p.kernels[0].reads[0].map = map(0, &[1, 1]));
    broken("from 1 to 4", |p| p.kernels[0].reads[0].map = map(1, &[1]));
    broken("from -1 to 2", |p| p.kernels[0].writes[0].map = map(2, &[-1]));
    broken("from 0 to 27670116110564327421", |p| p.kernels[0].reads[0].map = map(0, &[i64::MAX]));
    broken("more points than 2^63", |p| p.kernels[0].domain = [usize::MAX].into());
    broken("the 3 points of the domain cannot write the 4 elements", |p| p.kernels[0].domain = [3].into());
    broken("the 0 points of the domain", |p| p.kernels[0].domain = [0].into());
    sound(|p| p.kernels[0].reads[1].map = map(3, &[-1]));
    sound(|p| p.kernels[1].reads[0].map = map(2, &[0]));
}

#[test]
fn rule_8_variants() {
    broken("program 1 of 1", |p| variant(p).program = ProgramId(1));
    broken("no symbol", |p| variant(p).symbol.clear());
    broken("a grid of [0, 1, 1]", |p| variant(p).grid[0] = 0);
    broken("a grid of [2147483648, 1, 1]", |p| variant(p).grid[0] = 1 << 31);
    broken("a grid of [1, 65536, 1]", |p| variant(p).grid[1] = 65_536);
    broken("a grid of [1, 1, 65536]", |p| variant(p).grid[2] = 65_536);
    broken("a block of [32, 0, 1]", |p| variant(p).block[1] = 0);
    broken("a block of [1025, 1, 1]", |p| variant(p).block[0] = 1025);
    broken("a block of [1, 1, 65]", |p| variant(p).block = [1, 1, 65]);
    broken("a block of 2048 threads", |p| variant(p).block = [32, 32, 2]);
    broken("bytes of shared memory", |p| variant(p).shared = 1 << 20);
    sound(|p| variant(p).grid = [i32::MAX as u32, 65_535, 65_535]);
    sound(|p| p.kernels.iter_mut().for_each(|k| k.variants.clear()));
}

#[test]
fn rule_9_launches() {
    let error = broken("launch 1 `b`: it runs on device 2", |p| p.launches[1].device = DeviceId(2));
    assert_eq!(error.launches, [LaunchId(1)]);
    broken("calls kernel 2, and there are 2", |p| p.launches[0] = call("a", 2, &[], &[]));
    broken("1 slots for the 2 reads", |p| p.launches[0] = call("a", 0, &[slot(0, 0)], &[slot(4, 0)]));
    broken("0 slots for the 1 writes", |p| p.launches[0] = call("a", 0, &[slot(0, 0), slot(2, 0)], &[]));
    broken("lies in buffer 8", |p| set_read(p, 0, 0, slot(8, 0)));
    broken("conditional launches are not supported", |p| {
        let (launches, edges) = (Vec::new(), Vec::new());
        p.launches[0].work = Work::Conditional { condition: slot(0, 0), repeat: false, launches, edges };
    });
    broken("collective launches (`sum`) are not supported", |p| {
        p.launches[0].work = Work::Collective { name: "sum".into(), slots: Vec::new() };
    });
}

#[test]
fn rule_10_slots() {
    broken("read 0, f32[4], takes 16 bytes at 4 of buffer 0", |p| set_read(p, 0, 0, slot(0, 4)));
    broken("takes 16 bytes at 18446744073709551600", |p| set_write(p, 0, 0, slot(4, u64::MAX - 15)));
    broken("write 0, f32[4], is not aligned", |p| set_write(p, 3, 0, slot(7, 6)));
    broken("not aligned", |p| p.buffers[4].alignment = 1);
    broken("the target takes 17 bytes", |p| {
        p.launches[5].work = Work::Copy { source: slot(6, 0), target: slot(7, 16), bytes: 17 };
        p.buffers[6].size = 32;
    });
    broken("the source takes 17 bytes", |p| {
        p.launches[5].work = Work::Copy { source: slot(6, 0), target: slot(7, 0), bytes: 17 };
    });
}

#[test]
fn rule_11_what_is_only_read() {
    broken("write 0 goes to buffer 0 of the region Inputs", |p| set_write(p, 0, 0, slot(0, 0)));
    broken("write 0 goes to buffer 1 of the region Bound", |p| set_write(p, 0, 0, slot(1, 0)));
    broken("write 0 goes to buffer 2 of the region Constants", |p| set_write(p, 0, 0, slot(2, 0)));
    broken("the target goes to buffer 0", |p| {
        p.launches[5].work = Work::Copy { source: slot(6, 0), target: slot(0, 0), bytes: 16 };
    });
}

#[test]
fn rule_12_overlaps_in_a_launch() {
    let in_place = "not each element in its place";
    let affine = |offset, strides: &[i64]| IndexMap::Affine { offset, strides: strides.to_vec() };
    // Launch 4 reads the state and writes it.
    broken(in_place, |p| p.kernels[0].reads[0].map = IndexMap::Any);
    broken(in_place, |p| p.kernels[0].writes[0].map = IndexMap::Any);
    broken(in_place, |p| p.kernels[0].reads[0].map = affine(3, &[-1]));
    broken(in_place, |p| {
        // Every thread reads and writes the first element.
        p.kernels[0].reads[0].map = affine(0, &[0]);
        p.kernels[0].writes[0].map = affine(0, &[0]);
    });
    sound(|p| {
        p.kernels[0].reads[0].map = affine(3, &[-1]);
        p.kernels[0].writes[0].map = affine(3, &[-1]);
    });
    // The same buffer, a part of it later.
    broken(in_place, |p| {
        p.buffers[3].size = 20;
        p.states[0].spec = Spec::new(DType::F32, [5]);
        set_write(p, 4, 0, slot(3, 4));
    });
    // Elements of two sizes.
    broken(in_place, |p| {
        let halves = Spec::new(DType::F16, [8]);
        p.kernels[0].reads[0].spec = halves.clone();
        p.kernels[0].reads[0].map = affine(0, &[1]);
        p.kernels[0].body = {
            let mut graph = Graph::new("body");
            let kind = ParamKind::Input(Binding::Copied);
            let x = graph.parameter("x", halves, kind, Origin::Unknown);
            let y = graph.parameter("y", four(), kind, Origin::Unknown);
            let (starts, limits, strides) = ([0][..].into(), [4][..].into(), [1][..].into());
            let x = graph.apply(Op::Slice { starts, limits, strides }, &[x], Origin::Unknown).unwrap();
            let x = graph.apply(Op::Cast(DType::F32), &[x], Origin::Unknown).unwrap();
            let z = graph.apply(Elementwise::Add, &[x, y], Origin::Unknown).unwrap();
            graph.output("z", z, OutputKind::Result);
            graph
        };
    });
    broken("two writes overlap, in buffers 7 and 7", |p| {
        let kernel = &mut p.kernels[1];
        let x = kernel.body.param_value(0);
        kernel.body.output("x", x, OutputKind::Result);
        kernel.writes.push(kernel.writes[0].clone());
        p.launches[2] = call("o", 1, &[slot(5, 0)], &[slot(6, 0), slot(5, 0)]);
        p.launches[3] = call("old s", 1, &[slot(3, 0)], &[slot(7, 0), slot(7, 4)]);
    });
    broken("source and target overlap", |p| {
        p.launches[5].work = Work::Copy { source: slot(7, 0), target: slot(7, 12), bytes: 16 };
    });
    sound(|p| {
        // An arena buffer over another one, element by element.
        p.buffers[6].offset = 256;
        p.probes.clear();
    });
}

#[test]
fn rule_13_reads_of_nothing() {
    let error = broken("launch 1 `b`: nothing has written byte 512 of the region, in buffer 7", |p| {
        set_read(p, 1, 0, slot(7, 0));
    });
    assert_eq!(error.launches, [LaunchId(1)]);
    broken("nothing has written byte 0", |p| p.launches[0] = call("a", 0, &[slot(0, 0), slot(2, 0)], &[slot(5, 0)]));
    broken("nothing is given", |p| drop(p.inputs.remove(0)));
    broken("nothing is given", |p| drop(p.inputs.remove(1)));
    broken("nothing is given", |p| drop(p.constants.remove(0)));
    broken("nothing has written byte 0 of the region, in buffer 3", |p| p.states.clear());
    broken("nothing is given for byte 12", |p| p.inputs[0].spec = Spec::new(DType::F32, [3]));
    // The first half only.
    broken("nothing has written byte 8", |p| {
        p.launches[0].work = Work::Copy { source: slot(0, 0), target: slot(4, 0), bytes: 8 };
    });
}

#[test]
fn rule_14_order() {
    let check = |from: u32, to: u32, expected: &str, pair: [u32; 2]| {
        let error = broken(expected, |p| p.edges.retain(|e| *e != edge(from, to)));
        assert_eq!(error.launches, pair.map(LaunchId));
    };
    check(0, 1, "launch 0 `a` writes bytes of buffer 4 that launch 1 `b` reads", [0, 1]);
    check(2, 4, "launch 2 `o` writes bytes of buffer 6 that launch 4 `new s` reads", [2, 4]);
    check(3, 4, "launch 3 `old s` reads bytes of buffer 3 that launch 4 `new s` writes", [3, 4]);
    check(2, 5, "launch 2 `o` writes bytes of buffer 6 that launch 5 `copy o` reads", [2, 5]);
    // Launch 2 no longer reads what 1 wrote, but still overwrites what 1 reads and what 0 wrote.
    broken("launch 0 `a` writes bytes of buffer 4 that launch 2 `o` writes", |p| {
        set_read(p, 2, 0, slot(0, 0));
        p.edges.retain(|e| *e != edge(1, 2));
    });
    broken("launch 1 `b` reads bytes of buffer 4 that launch 2 `o` writes", |p| {
        set_read(p, 2, 0, slot(0, 0));
        p.edges.retain(|e| *e != edge(1, 2));
        p.edges.push(edge(0, 2));
    });
    sound(|p| p.edges[0].kind = EdgeKind::Programmatic);
    sound(|p| p.edges.reverse());
}

#[test]
fn rule_15_memory_that_was_given_away() {
    let error = broken("byte 0 of buffer 4 was overwritten by launch 2 `o` as buffer 6", |p| {
        // `a` is read again after `o` took its bytes, in perfect order.
        set_read(p, 4, 1, slot(4, 0));
    });
    assert_eq!(error.launches, [LaunchId(2), LaunchId(4)]);
    broken("byte 264 of buffer 5 was overwritten by launch 3 `old s` as buffer 7", |p| {
        // The output's buffer reaches into that of `b`, and everything is ordered.
        p.buffers[7].alignment = 8;
        p.buffers[7].offset = 264;
        p.edges.push(edge(2, 3));
        p.launches[4] = call("new s", 0, &[slot(3, 0), slot(5, 0)], &[slot(3, 0)]);
    });
}

#[test]
fn rule_16_outputs() {
    broken("output `o`: nothing has written byte 528", |p| {
        p.launches.pop();
        p.edges.pop();
    });
    let error = broken("probe `b`: byte 0 of buffer 4 was overwritten by launch 2 `o` as buffer 6", |p| {
        p.probes[0].slot = slot(4, 0);
    });
    assert_eq!(error.launches, [LaunchId(2)]);
    broken("output `old`: nothing is given for byte 256 of the region of buffer 8", |p| {
        p.buffers.push(buffer(Region::Constants, 256, 16));
        p.outputs[0].slot = slot(8, 0);
    });
    sound(|p| p.outputs[0].slot = slot(0, 0));
    sound(|p| p.outputs[0].slot = slot(3, 0));
    sound(|p| p.outputs[0].slot = slot(6, 0));
}

#[test]
fn accesses_of_no_bytes_are_none() {
    sound(|p| {
        let empty = Spec::new(DType::F32, [0]);
        let access = Access { spec: empty.clone(), map: IndexMap::Affine { offset: 7, strides: vec![1] } };
        p.kernels.push(Kernel {
            name: "empty".into(),
            body: body(Elementwise::Neg, &[empty]),
            domain: [0].into(),
            reads: vec![access.clone()],
            writes: vec![access],
            variants: Vec::new(),
        });
        // Reads what nobody wrote and writes to an input, of which it does nothing.
        p.launches.push(call("empty", 2, &[slot(7, 1)], &[slot(7, 3)]));
        p.launches.push(launch("nothing", Work::Copy { source: slot(7, 0), target: slot(7, 0), bytes: 0 }));
    });
}

/// `width` chains of `depth` copies to and fro, whose ends one launch per chain joins in pairs.
fn chains(width: u32, depth: u32) -> Plan {
    let mut p = plan();
    p.launches.clear();
    p.edges.clear();
    p.outputs.clear();
    p.probes.clear();
    let first = p.buffers.len() as u32;
    for i in 0..2 * width {
        p.buffers.push(buffer(Region::Arena, 1024 + 256 * u64::from(i), 16));
    }
    for step in 0..depth {
        for chain in 0..width {
            let source = if step == 0 { slot(0, 0) } else { slot(first + 2 * chain + (step - 1) % 2, 0) };
            let target = slot(first + 2 * chain + step % 2, 0);
            let id = p.launches.len() as u32;
            p.launches.push(launch("step", Work::Copy { source, target, bytes: 16 }));
            if step > 0 {
                p.edges.push(edge(id - width, id));
            }
        }
    }
    p
}

#[test]
fn large_plans_are_checked() {
    for (width, depth) in [(1, 20_000), (32, 625), (10_000, 2), (64, 1024)] {
        let mut p = chains(width, depth);
        assert_eq!(verify_plan(&p), Ok(()), "{width} chains of {depth}");
        // One missing edge among thousands is found.
        let missing = p.edges.remove(p.edges.len() / 2);
        let error = verify_plan(&p).expect_err("an edge is missing");
        assert_eq!(error.launches, [missing.from, missing.to]);
    }
}
