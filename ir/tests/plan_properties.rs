//! The plan verifier against a slow and obvious one, and on plans with random edits.

use monograph_ir::plan::*;
use monograph_ir::testing::Random;
use monograph_ir::{Binding, DType, Spec, Target};
use serde_json::Value as Json;

/// Bytes of the arena of the random plans.
const ARENA: usize = 48;

/// The absolute bytes of a slot.
fn range(plan: &Plan, slot: Slot, bytes: u64) -> std::ops::Range<usize> {
    let start = (plan.buffers[slot.buffer.index()].offset + slot.offset) as usize;
    start..start + bytes as usize
}

fn copy(launch: &Launch) -> (Slot, Slot, u64) {
    match &launch.work {
        Work::Copy { source, target, bytes } => (*source, *target, *bytes),
        _ => unreachable!("the random plans have copies only"),
    }
}

/// Copies among an input and overlapping buffers of the arena; mostly such as read what was written, with the edges
/// that conflicts ask for and some dropped.
fn random_plan(random: &mut Random) -> Plan {
    let spec = Spec::new(DType::U8, [ARENA]);
    let buffer = |region, offset: usize, size: usize| Buffer {
        device: DeviceId(0),
        region,
        offset: offset as u64,
        size: size as u64,
        alignment: 4,
    };
    let mut buffers = vec![buffer(Region::Inputs, 0, ARENA)];
    for _ in 0..1 + random.below(4) {
        let offset = 4 * random.below(ARENA / 4 - 1);
        buffers.push(buffer(Region::Arena, offset, 4 + random.below(ARENA - offset - 3)));
    }
    let mut plan = Plan {
        version: PLAN_VERSION,
        name: "random".into(),
        target: Target::default(),
        buffers,
        programs: Vec::new(),
        kernels: Vec::new(),
        launches: Vec::new(),
        edges: Vec::new(),
        inputs: vec![Input { name: "x".into(), spec, binding: Binding::Copied, buffer: BufferId(0) }],
        outputs: Vec::new(),
        states: Vec::new(),
        constants: Vec::new(),
        probes: Vec::new(),
    };
    let mut owner: Vec<Option<u32>> = vec![None; ARENA];
    for i in 0..2 + random.below(8) {
        // A few attempts to find a source that holds something; then the input.
        let mut chosen = None;
        for _ in 0..12 {
            let [source, target] = [random.below(plan.buffers.len()), 1 + random.below(plan.buffers.len() - 1)];
            let slot = |b: usize, random: &mut Random| {
                let offset = random.below(plan.buffers[b].size as usize) as u64;
                Slot { buffer: BufferId(b as u32), offset }
            };
            let (from, to) = (slot(source, random), slot(target, random));
            let room = |s: Slot| plan.buffers[s.buffer.index()].size - s.offset;
            let bytes = 1 + random.below(room(from).min(room(to)) as usize) as u64;
            let (a, b) = (range(&plan, from, bytes), range(&plan, to, bytes));
            let apart = source == 0 || a.end <= b.start || b.end <= a.start;
            let holds = source == 0 || owner[a].iter().all(|o| *o == Some(from.buffer.0));
            if apart && (holds || random.one_in(40)) {
                chosen = Some((from, to, bytes));
                break;
            }
        }
        let Some((source, target, bytes)) = chosen else { continue };
        owner[range(&plan, target, bytes)].fill(Some(target.buffer.0));
        let work = Work::Copy { source, target, bytes };
        plan.launches.push(Launch { name: format!("l{i}"), device: DeviceId(0), work, origins: Vec::new() });
    }
    let careless = random.one_in(2);
    for to in 0..plan.launches.len() {
        for from in 0..to {
            let wanted = conflict(&plan, from, to) && !(careless && random.one_in(6));
            if wanted || random.one_in(8) {
                plan.edges.push(Edge { from: LaunchId(from as u32), to: LaunchId(to as u32), kind: EdgeKind::Full });
            }
        }
    }
    plan
}

fn conflict(plan: &Plan, a: usize, b: usize) -> bool {
    let touched = |launch: usize| {
        let (source, target, bytes) = copy(&plan.launches[launch]);
        let source = if source.buffer.0 == 0 { 0..0 } else { range(plan, source, bytes) };
        (source, range(plan, target, bytes))
    };
    let meet = |a: &std::ops::Range<usize>, b: &std::ops::Range<usize>| a.clone().any(|i| b.contains(&i));
    let ((a_read, a_write), (b_read, b_write)) = (touched(a), touched(b));
    meet(&a_write, &b_write) || meet(&a_write, &b_read) || meet(&a_read, &b_write)
}

/// Every conflicting pair has a path, and every byte that is read was last written through the same buffer.
fn obviously_sound(plan: &Plan) -> bool {
    let n = plan.launches.len();
    let mut path = vec![vec![false; n]; n];
    for edge in &plan.edges {
        path[edge.from.index()][edge.to.index()] = true;
    }
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                path[i][j] |= path[i][k] && path[k][j];
            }
        }
    }
    let ordered = (0..n).all(|b| (0..b).all(|a| path[a][b] || !conflict(plan, a, b)));
    let mut owner: Vec<Option<u32>> = vec![None; ARENA];
    let mut held = true;
    for launch in &plan.launches {
        let (source, target, bytes) = copy(launch);
        held &= source.buffer.0 == 0 || owner[range(plan, source, bytes)].iter().all(|o| *o == Some(source.buffer.0));
        owner[range(plan, target, bytes)].fill(Some(target.buffer.0));
    }
    ordered && held
}

#[test]
fn the_verifier_agrees_with_the_obvious_one() {
    let mut random = Random::new(20);
    let (mut accepted, mut refused) = (0, 0);
    for case in 0..6000 {
        let plan = random_plan(&mut random);
        let found = verify_plan(&plan);
        let expected = obviously_sound(&plan);
        assert_eq!(found.is_ok(), expected, "case {case}: {found:?}\n{plan:#?}");
        *(if expected { &mut accepted } else { &mut refused }) += 1;
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} accepted, {refused} refused");
}

/// Collects the paths of a JSON value.
fn paths(json: &Json, at: &mut Vec<String>, found: &mut Vec<String>) {
    found.push(at.iter().map(|s| format!("/{s}")).collect());
    let children: Vec<(String, &Json)> = match json {
        Json::Array(items) => items.iter().enumerate().map(|(i, v)| (i.to_string(), v)).collect(),
        Json::Object(items) => items.iter().map(|(k, v)| (k.clone(), v)).collect(),
        _ => Vec::new(),
    };
    for (name, child) in children {
        at.push(name);
        paths(child, at, found);
        at.pop();
    }
}

#[test]
fn edited_plans_never_panic() {
    let mut random = Random::new(7);
    let numbers: Vec<Json> =
        [0u64, 1, 2, 3, 255, 256, u64::from(u32::MAX), i64::MAX as u64, u64::MAX - 3, u64::MAX].map(Json::from).into();
    let mut checked = 0;
    for case in 0..4000 {
        let plan = if case % 2 == 0 { with_kernel() } else { random_plan(&mut random) };
        let mut json = serde_json::to_value(&plan).unwrap();
        for _ in 0..1 + random.below(3) {
            let mut all = Vec::new();
            paths(&json, &mut Vec::new(), &mut all);
            let path = random.pick(&all).unwrap();
            let Some(target) = json.pointer_mut(path) else { continue };
            match target {
                Json::Number(_) => *target = random.pick(&numbers).unwrap().clone(),
                Json::Array(items) if !items.is_empty() => {
                    let i = random.below(items.len());
                    if random.one_in(2) {
                        items.remove(i);
                    } else {
                        items.push(items[i].clone());
                    }
                }
                _ => {}
            }
        }
        if let Ok(plan) = serde_json::from_value::<Plan>(json) {
            checked += 1;
            if let Err(e) = verify_plan(&plan) {
                assert!(!e.message.is_empty());
            }
        }
    }
    assert!(checked > 1000, "only {checked} edited plans could be read");
}

/// A plan of one kernel, for edits of what copies do not have.
fn with_kernel() -> Plan {
    let text = "graph @body(%x: f32[2, 3]) { %y = neg %x return %y }";
    let body = monograph_ir::text::parse(text, "").unwrap();
    let spec = Spec::new(DType::F32, [2, 3]);
    let access = Access { spec: spec.clone(), map: IndexMap::Affine { offset: 0, strides: vec![3, 1] } };
    let mut plan = random_plan(&mut Random::new(1));
    plan.launches.clear();
    plan.edges.clear();
    plan.programs.push(Program { name: "p".into(), source: String::new(), options: Vec::new(), cubin: None });
    let variant = Variant { program: ProgramId(0), symbol: "s".into(), grid: [1, 2, 3], block: [32, 2, 1], shared: 16 };
    plan.kernels.push(Kernel {
        name: "k".into(),
        body,
        domain: [2, 3].into(),
        reads: vec![access.clone()],
        writes: vec![access],
        variants: vec![variant],
    });
    plan.buffers.truncate(1);
    plan.buffers.push(Buffer { device: DeviceId(0), region: Region::Arena, offset: 0, size: 24, alignment: 256 });
    let at = |id| vec![Slot { buffer: BufferId(id), offset: 0 }];
    for reads in [at(0), at(1)] {
        let work = Work::Kernel { kernel: KernelId(0), reads, writes: at(1) };
        plan.launches.push(Launch { name: "l".into(), device: DeviceId(0), work, origins: Vec::new() });
    }
    plan.edges.push(Edge { from: LaunchId(0), to: LaunchId(1), kind: EdgeKind::Full });
    plan.outputs.push(Value { name: "y".into(), spec, slot: at(1)[0] });
    assert_eq!(verify_plan(&plan), Ok(()));
    plan
}
