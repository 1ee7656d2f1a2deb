//! Sorts, scatters of many indices and long scans as whole programs: on the emulator where there is a C++ compiler, and
//! on a GPU where there is one, to the bit as the interpreter. What is missing is said.

#[allow(dead_code, reason = "each test uses a part")]
mod common;

use common::cuda;
use monograph::ir::interp::{self, Tensor as Values};
use monograph::ir::testing::Random;
use monograph::ir::{Graph, Literal, OutputKind, ParamKind, Reduction, ScatterKind};
use monograph::ir::{Op, Origin};
use monograph::{Array, Binding, DType, EmulatorOptions, Error, Options, Source, Spec};
use monograph_runtime::Device;

/// The emulator, with checks or without, and the GPU.
fn devices(checked: bool) -> Vec<Device> {
    let options = EmulatorOptions { checked, ..EmulatorOptions::default() };
    let emulated = match Device::emulated_with(options) {
        Ok(device) => Some(device),
        Err(error @ Error::Toolchain { .. }) => {
            let required = std::env::var("MONOGRAPH_REQUIRE_EMULATOR").as_deref() == Ok("1");
            assert!(!required, "the emulator is required: {error}");
            println!("skipped, without the emulator: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    };
    emulated.into_iter().chain(gpu()).collect()
}

fn gpu() -> Option<Device> {
    cuda()?;
    Some(Device::cuda(0).expect("it was there a moment ago"))
}

fn graph(op: &Op, inputs: &[Values]) -> Graph {
    let mut graph = Graph::new("test");
    let parameter = |(i, x): (usize, &Values)| {
        graph.parameter(format!("p{i}"), x.spec().clone(), ParamKind::Input(Binding::Copied), Origin::Unknown)
    };
    let operands: Vec<_> = inputs.iter().enumerate().map(parameter).collect();
    let value = graph.apply(op.clone(), &operands, Origin::Unknown).expect("the op takes these operands");
    graph.output("out", value, OutputKind::Result);
    graph
}

fn check(devices: &[Device], op: &Op, inputs: &[Values]) {
    let graph = graph(op, inputs);
    let expected = interp::evaluate(&graph, inputs).expect("the interpreter runs it").remove(0);
    let arrays: Vec<Array> =
        inputs.iter().map(|t| Array::from_bytes(t.spec().clone(), t.bytes()).expect("an array")).collect();
    let sources: Vec<_> = arrays.iter().map(Source::Array).collect();
    for device in devices {
        let what = format!("{op:?} of {} on {}", inputs[0].spec(), device.place());
        let plan = monograph_compiler::compile(&graph, &device.target(), &Options::default());
        let plan = plan.unwrap_or_else(|e| panic!("{what}: {e}"));
        let mut exe = device.load(plan, &[], &[]).unwrap_or_else(|e| panic!("{what}: {e}"));
        for _ in 0..2 {
            exe.replay(&sources).unwrap_or_else(|e| panic!("{what}: {e}"));
            let found = exe.output(0).to_array().expect("an array");
            assert!(found.bytes().expect("bytes") == expected.bytes(), "{what}");
        }
    }
}

/// Elements of which many are equal, and some are special.
fn elements(seed: u64, spec: &Spec) -> Values {
    let mut random = Random::new(seed);
    let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1e-40, -6e-8, 65504.0];
    let mut bytes = Vec::new();
    for _ in 0..spec.shape.size() {
        let literal = match (random.below(3), spec.dtype) {
            (_, DType::Bool) => Literal::from_bits(DType::Bool, random.bits() & 1),
            (0, d) if d.is_float() => Literal::from_f64(d, special[random.below(special.len())]),
            (0 | 1, d) => Literal::from_bits(d, random.bits() & (u64::MAX >> (64 - 8 * d.size()))),
            (_, d) => Literal::from_i64(d, random.below(9) as i64 - 4),
        };
        bytes.extend_from_slice(&literal.to_le_bytes()[..spec.dtype.size()]);
    }
    Values::from_bytes(spec.clone(), &bytes).expect("as many bytes as the spec has")
}

fn indices(seed: u64, count: usize, places: usize) -> Values {
    let mut random = Random::new(seed);
    let cells: Vec<i64> = (0..count).map(|_| random.below(places + 2) as i64 - 1).collect();
    Values::from_vec([count], cells).expect("as many as the shape has")
}

/// Whole numbers, which a sum in any order holds.
fn whole(seed: u64, dtype: DType, shape: &[usize]) -> Values {
    let mut random = Random::new(seed);
    let spec = Spec::new(dtype, shape);
    let bytes: Vec<u8> = (0..spec.shape.size())
        .flat_map(|_| Literal::from_i64(dtype, random.below(7) as i64).to_le_bytes()[..dtype.size()].to_vec())
        .collect();
    Values::from_bytes(spec, &bytes).expect("as many bytes as the spec has")
}

#[test]
fn sorts_of_every_dtype() {
    let devices = devices(false);
    for dtype in DType::ALL {
        for (shape, axis) in [(&[33, 5][..], 0), (&[2, 4500], 1)] {
            let x = elements(7, &Spec::new(dtype, shape));
            check(&devices, &Op::Argsort { axis, descending: dtype.size() == 4 }, &[x]);
        }
    }
}

#[test]
fn sorts_and_scatters_break_no_rule_of_memory() {
    let devices = devices(true);
    for shape in [&[3, 70][..], &[1, 4200]] {
        let x = elements(3, &Spec::new(DType::F16, shape));
        check(&devices, &Op::Argsort { axis: 1, descending: false }, &[x]);
    }
    let inputs = [whole(1, DType::F32, &[40_000]), indices(2, 200, 40_000), whole(3, DType::F32, &[200])];
    check(&devices, &Op::Scatter { axis: 0, kind: ScatterKind::Add }, &inputs);
}

#[test]
fn scatters_of_many_indices() {
    let devices = devices(false);
    for kind in [ScatterKind::Add, ScatterKind::Set] {
        let inputs = [whole(1, DType::F16, &[2, 20_000]), indices(2, 5000, 20_000), whole(3, DType::F16, &[2, 5000])];
        check(&devices, &Op::Scatter { axis: 1, kind }, &inputs);
    }
}

#[test]
fn long_scans() {
    let devices = devices(false);
    for dtype in [DType::I32, DType::F32] {
        let x = whole(4, dtype, &[2, 20_000]);
        check(&devices, &Op::Scan { kind: Reduction::Sum, axis: 1 }, &[x]);
    }
}

#[test]
fn great_sorts_on_a_gpu() {
    let Some(gpu) = gpu() else { return };
    let devices = [gpu];
    for dtype in DType::ALL {
        for (rows, n) in [(1, 1_000_003), (3, 300_000), (700, 4096), (50, 5000), (100_000, 9)] {
            let x = elements(n as u64, &Spec::new(dtype, [rows, n]));
            check(&devices, &Op::Argsort { axis: 1, descending: n % 2 == 0 }, &[x]);
        }
    }
    for (places, count, width) in [(50_257, 2048, 768), (1000, 100_000, 4), (3_000_000, 300_000, 1)] {
        for kind in [ScatterKind::Add, ScatterKind::Set] {
            let base = elements(1, &Spec::new(DType::F32, [places, width]));
            let updates = elements(2, &Spec::new(DType::F32, [count, width]));
            let finite = |x: Values| {
                let cells = x.to_f64_vec().iter().map(|v| if v.abs() < 1e9 { *v as f32 } else { 1.0 }).collect();
                Values::from_vec(x.shape().to_vec(), cells).expect("as many as before")
            };
            let inputs = [finite(base), indices(3, count, places), finite(updates)];
            check(&devices, &Op::Scatter { axis: 0, kind }, &inputs);
        }
    }
}
