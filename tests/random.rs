//! Random programs: the host device, the emulator and the GPU agree with the interpreter.

#[allow(dead_code, reason = "each test uses a part")]
mod common;

use common::{cuda, emulated};
use monograph::ir::interp::{self, Tensor};
use monograph::ir::testing::{self, Random, random_graph};
use monograph::ir::{Elementwise, Graph, Literal, Op, ParamKind};
use monograph::{Array, DType, EmulatorOptions, HostOptions, Options, Schedule, Spec};

/// Values for a parameter: small numbers of both signs, so that products neither overflow nor lose everything.
fn values(spec: &Spec, random: &mut Random) -> Tensor {
    let mut bytes = Vec::new();
    for _ in 0..spec.shape.size() {
        let number = random.below(17) as f64 / 4.0 - 2.0;
        let number = if spec.dtype.is_float() { number } else { number.trunc() };
        let literal = Literal::from_f64(
            spec.dtype,
            if spec.dtype == DType::U8 || spec.dtype == DType::U32 { number.abs() } else { number },
        );
        bytes.extend_from_slice(&literal.to_le_bytes()[..spec.dtype.size()]);
    }
    Tensor::from_bytes(spec.clone(), &bytes).expect("as many bytes as the spec has")
}

fn array(tensor: &Tensor) -> Array {
    Array::from_bytes(tensor.spec().clone(), tensor.bytes()).expect("as many bytes as the spec has")
}

/// Compiles the graph, runs it on the device, and returns its outputs in the order of the graph's.
fn run(graph: &Graph, inputs: &[Tensor], device: &monograph_runtime::Device, options: &Options) -> Vec<Array> {
    let plan = monograph_compiler::compile(graph, &device.target(), options).expect("the graph compiles");
    let of = |kind: fn(&ParamKind) -> bool| -> Vec<Array> {
        graph.params().iter().zip(inputs).filter(|(p, _)| kind(&p.kind)).map(|(_, t)| array(t)).collect()
    };
    let constants = of(|k| matches!(k, ParamKind::Constant));
    let states = of(|k| matches!(k, ParamKind::State));
    let given = of(|k| matches!(k, ParamKind::Input(_)));
    let given: Vec<Array> = given.iter().map(|a| device.upload(a).expect("an upload")).collect();
    let mut exe = device.load(plan, &constants, &states).expect("the plan loads");
    exe.compare_with_plan().expect("the driver built what the plan says");
    let sources: Vec<_> = given.iter().map(monograph::Source::Array).collect();
    exe.replay(&sources).expect("a replay");
    let states = exe.states().expect("states");
    let (mut results, mut probes) = (0..exe.plan().outputs.len(), 0..exe.plan().probes.len());
    graph
        .outputs()
        .iter()
        .map(|o| match o.kind {
            monograph::ir::OutputKind::Result => {
                exe.output(results.next().expect("an output")).to_array().expect("an array")
            }
            monograph::ir::OutputKind::State(parameter) => {
                let name = &graph.params()[parameter as usize].name;
                let number = exe.plan().states.iter().position(|s| s.name == *name).expect("a state");
                states[number].clone()
            }
            monograph::ir::OutputKind::Probe => {
                let name = exe.plan().probes[probes.next().expect("a probe")].name.clone();
                exe.probe(&name).expect("a probe").to_array().expect("an array")
            }
        })
        .collect()
}

/// Whether the graph's values follow exactly from its operands on every device: no transcendental function, and no
/// sum of floats, whose order differs.
fn is_exact(graph: &Graph) -> bool {
    graph.iter().all(|(id, node)| match &node.op {
        Op::Elementwise(e) => !e.is_approximate() && *e != Elementwise::Rsqrt,
        Op::Reduce { .. }
        | Op::Scan { .. }
        | Op::Matmul { .. }
        | Op::Convolution { .. }
        | Op::WindowReduce { .. }
        | Op::WindowScatter { .. } => !graph.spec(id.value()).dtype.is_float(),
        op => op.regions().iter().all(|region| is_exact(&region.0)),
    })
}

/// Equal bits, any NaN for any NaN.
fn same(expected: &Tensor, found: &Array) -> bool {
    let found = Tensor::from_bytes(found.spec().clone(), &found.bytes().expect("bytes")).expect("a tensor");
    let size = expected.spec().dtype.size();
    let is_nan = |t: &Tensor, i: usize| t.spec().dtype.is_float() && t.get_f64(i).is_some_and(f64::is_nan);
    expected.spec() == found.spec()
        && expected
            .bytes()
            .chunks(size)
            .zip(found.bytes().chunks(size))
            .enumerate()
            .all(|(i, (a, b))| a == b || (is_nan(expected, i) && is_nan(&found, i)))
}

fn programs(count: u64, first: u64) -> impl Iterator<Item = (u64, Graph, Vec<Tensor>)> {
    (first..first + count).map(|seed| {
        let graph = random_graph(seed, &testing::Options { nodes: 24, ..testing::Options::default() });
        let mut random = Random::new(seed ^ 0x5eed);
        let inputs = graph.params().iter().map(|p| values(&p.spec, &mut random)).collect();
        (seed, graph, inputs)
    })
}

fn check(seed: u64, graph: &Graph, inputs: &[Tensor], device: &monograph_runtime::Device, options: &Options) {
    let expected = interp::evaluate(graph, inputs).expect("the interpreter runs it");
    let found = run(graph, inputs, device, options);
    for ((output, expected), found) in graph.outputs().iter().zip(&expected).zip(&found) {
        assert!(
            same(expected, found),
            "seed {seed}, output {} on {}:\n{graph}\nexpected {expected:?}\nfound {found:?}",
            output.name,
            device.place()
        );
    }
}

#[test]
fn the_host_runs_random_programs_as_the_interpreter_does() {
    let strict = monograph_runtime::Device::host_with(HostOptions { shuffle: Some(3), poison: true });
    let mut unfused = Options::default();
    unfused.fuse = false;
    for (seed, graph, inputs) in programs(60, 0) {
        check(seed, &graph, &inputs, &strict, &Options::default());
        check(seed, &graph, &inputs, &strict, &unfused);
    }
}

#[test]
fn the_emulator_runs_exact_random_programs_to_the_bit() {
    if emulated().is_none() {
        return;
    }
    let exact: Vec<_> = programs(200, 5000).filter(|(_, g, _)| is_exact(g)).take(24).collect();
    assert_eq!(exact.len(), 24, "too few of the programs are exact");
    for (number, (seed, graph, inputs)) in exact.into_iter().enumerate() {
        let schedule = [Schedule::InOrder, Schedule::Reverse, Schedule::Seeded(seed)][number % 3];
        let options = EmulatorOptions { schedule, ..EmulatorOptions::default() };
        let device = monograph_runtime::Device::emulated_with(options).expect("it was there a moment ago");
        check(seed, &graph, &inputs, &device, &Options::default());
    }
}

#[test]
fn the_gpu_runs_exact_random_programs_to_the_bit() {
    if cuda().is_none() {
        return;
    }
    let device = monograph_runtime::Device::cuda(0).expect("it was there a moment ago");
    let count = std::env::var("MONOGRAPH_RANDOM_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let mut ran = 0;
    for (seed, graph, inputs) in programs(10 * count, 1000).filter(|(_, g, _)| is_exact(g)).take(count as usize) {
        check(seed, &graph, &inputs, &device, &Options::default());
        ran += 1;
    }
    assert!(ran * 2 >= count, "only {ran} of the programs are exact");
}
