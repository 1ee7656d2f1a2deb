//! How exact element-wise functions are on each device, against the same functions of f64.

#[allow(dead_code, reason = "each test uses a part")]
mod common;

use half::{bf16, f16};
use monograph::ir::interp::{self, Tensor};
use monograph::ir::{Elementwise, Graph, Op, Origin, OutputKind, ParamKind};
use monograph::{Array, Binding, DType, Options, Source, Spec};
use monograph_runtime::Device;

use Elementwise as E;

/// Functions that IEEE 754 defines to the bit: f64 rounded to f32 is their value, as f64 has more than twice the
/// digits of f32 (S. Figueroa, "When is double rounding innocuous?", 1995).
const ROUNDED: [Elementwise; 5] = [E::Add, E::Sub, E::Mul, E::Div, E::Sqrt];

/// The greatest errors of f32 functions, in units in the last place, that the CUDA programming guide gives in its tables
/// of mathematical functions; for those that it does not have or that are written out of f64 arithmetic, one unit.
const DOCUMENTED: [(Elementwise, f64); 31] = [
    (E::Exp, 2.0),
    (E::Exp2, 2.0),
    (E::Expm1, 1.0),
    (E::Log, 1.0),
    (E::Log2, 1.0),
    (E::Log10, 2.0),
    (E::Log1p, 1.0),
    (E::Rsqrt, 2.0),
    (E::Cbrt, 1.0),
    (E::Sin, 2.0),
    (E::Cos, 2.0),
    (E::Tan, 4.0),
    (E::Asin, 2.0),
    (E::Acos, 2.0),
    (E::Atan, 2.0),
    (E::Sinh, 3.0),
    (E::Cosh, 2.0),
    (E::Tanh, 2.0),
    (E::Asinh, 3.0),
    (E::Acosh, 4.0),
    (E::Atanh, 3.0),
    (E::Erf, 2.0),
    (E::Erfc, 4.0),
    (E::Erfinv, 1.0),
    (E::Lgamma, 1.0),
    (E::Digamma, 1.0),
    (E::Pow, 4.0),
    (E::Atan2, 3.0),
    (E::Hypot, 3.0),
    (E::Rem, 0.0),
    (E::ModFloor, 1.0),
];

/// All devices, untyped: the host, the emulator and the first CUDA device.
fn devices() -> Vec<Device> {
    let cuda = common::cuda().map(|_| Device::cuda(0).expect("it was there a moment ago"));
    let emulated = common::emulated().map(|_| Device::emulated().expect("it was there a moment ago"));
    [Device::host()].into_iter().chain(emulated).chain(cuda).collect()
}

/// A graph that applies each function to parameters of this dtype and size.
fn graph(functions: &[Elementwise], dtype: DType, size: usize) -> Graph {
    let mut graph = Graph::new("functions");
    let mut operands = Vec::new();
    for i in 0..functions.iter().map(|f| f.arity()).max().unwrap_or(0) {
        let kind = ParamKind::Input(Binding::Copied);
        operands.push(graph.parameter(format!("x{i}"), Spec::new(dtype, [size]), kind, Origin::Unknown));
    }
    for &function in functions {
        let value = graph.apply(Op::from(function), &operands[..function.arity()], Origin::Unknown);
        graph.output(function.name(), value.expect("the function takes floats"), OutputKind::Result);
    }
    graph
}

/// What the device gives for each function.
fn run(device: &Device, functions: &[Elementwise], inputs: &[Tensor]) -> Vec<Tensor> {
    let graph = graph(functions, inputs[0].spec().dtype, inputs[0].spec().shape.size());
    let inputs = &inputs[..graph.params().len()];
    let plan = monograph_compiler::compile(&graph, &device.target(), &Options::default()).expect("a plan");
    let mut exe = device.load(plan, &[], &[]).expect("it loads");
    let arrays = inputs.iter().map(|t| Array::from_bytes(t.spec().clone(), t.bytes()).expect("an array"));
    let arrays: Vec<Array> = arrays.collect();
    exe.replay(&arrays.iter().map(Source::Array).collect::<Vec<_>>()).expect("a replay");
    let output = |i| {
        let array: Array = exe.output(i).to_array().expect("an array");
        Tensor::from_bytes(array.spec().clone(), &array.bytes().expect("bytes")).expect("a tensor")
    };
    (0..functions.len()).map(output).collect()
}

fn tensor(dtype: DType, values: &[f64]) -> Tensor {
    let bytes: Vec<u8> = match dtype {
        DType::F64 => values.iter().flat_map(|x| x.to_le_bytes()).collect(),
        _ => values.iter().flat_map(|&x| (x as f32).to_le_bytes()).collect(),
    };
    Tensor::from_bytes(Spec::new(dtype, [values.len()]), &bytes).expect("as many bytes")
}

/// Numbers of f32: of every magnitude, around 0 and 1 more of them, the special ones, and small whole ones.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let special =
        [0.0, -0.0, 1.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE, 1e-45];
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 32) as u32
    };
    let mut number = |i: usize| match i % 5 {
        0 => f32::from_bits(next()),
        1 => (next() as f32 / u32::MAX as f32 - 0.5) * 8.0,
        2 => 1.0 + (next() as f32 / u32::MAX as f32 - 0.5) / 4.0,
        3 => (next() as f32 / u32::MAX as f32 - 0.5) * 200.0,
        _ => special.get(next() as usize % 40).copied().unwrap_or((next() % 64) as f32 - 32.0),
    };
    (0..count).map(|i| f64::from(number(i))).collect()
}

/// The error of an f32 in units in the last place, as the CUDA programming guide counts it: from the exact value rounded
/// to f32. None where both are the same infinity or NaN.
fn ulps(found: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if (found.is_nan() && exact.is_nan()) || found == rounded {
        return 0.0;
    }
    let exponent = exact.abs().max(f64::from(f32::MIN_POSITIVE)).log2().floor().min(127.0) as i32;
    // Where the exact value rounds to an infinity, the greatest number is still near.
    let finite = |x: f32| f64::from(x.clamp(-f32::MAX, f32::MAX));
    (finite(found) - finite(rounded)).abs() / f64::powi(2.0, exponent - 23)
}

fn f32s(tensor: &Tensor) -> Vec<f32> {
    (0..tensor.spec().shape.size()).map(|i| tensor.get_f64(i).unwrap_or(f64::NAN) as f32).collect()
}

#[test]
fn f32_arithmetic_is_rounded_exactly() {
    let inputs = [numbers(20_000, 1), numbers(20_000, 2)];
    let exact =
        interp::evaluate(&graph(&ROUNDED, DType::F64, 20_000), &inputs.each_ref().map(|x| tensor(DType::F64, x)))
            .expect("the interpreter runs it");
    for device in devices() {
        let found = run(&device, &ROUNDED, &inputs.each_ref().map(|x| tensor(DType::F32, x)));
        for ((function, found), exact) in ROUNDED.iter().zip(&found).zip(&exact) {
            for (i, found) in f32s(found).into_iter().enumerate() {
                let exact = exact.get_f64(i).expect("a float") as f32;
                assert!(
                    found.to_bits() == exact.to_bits() || (found.is_nan() && exact.is_nan()),
                    "{} of {}, {} on {} is {found:e}, not {exact:e}",
                    function.name(),
                    inputs[0][i],
                    inputs[1][i],
                    device.place()
                );
            }
        }
    }
}

#[test]
fn f32_functions_are_within_the_documented_bounds() {
    let functions = DOCUMENTED.map(|(function, _)| function);
    let inputs = [numbers(20_000, 3), numbers(20_000, 4)];
    let exact =
        interp::evaluate(&graph(&functions, DType::F64, 20_000), &inputs.each_ref().map(|x| tensor(DType::F64, x)))
            .expect("the interpreter runs it");
    let mut beyond = Vec::new();
    for device in devices() {
        let found = run(&device, &functions, &inputs.each_ref().map(|x| tensor(DType::F32, x)));
        for (((function, bound), found), exact) in DOCUMENTED.iter().zip(&found).zip(&exact) {
            let errors = f32s(found).into_iter().enumerate().map(|(i, found)| {
                let error = ulps(found, exact.get_f64(i).expect("a float"));
                (if error.is_nan() { f64::INFINITY } else { error }, i, found)
            });
            let (error, i, found) = errors.max_by(|a, b| a.0.total_cmp(&b.0)).expect("there are numbers");
            println!("{:>10} on {}: {error:.3} ulps, at most {bound}", function.name(), device.place());
            if error > *bound {
                let operands = inputs.each_ref().map(|x| x[i]);
                let exact = exact.get_f64(i);
                beyond.push(format!(
                    "{} of {operands:?} on {} is {found:e}, not {exact:?}: {error:.2} ulps, more than {bound}",
                    function.name(),
                    device.place()
                ));
            }
        }
    }
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
}

/// Each function of all numbers of 16 bits, and of as many pairs, is that of f32 rounded once.
#[test]
fn halves_are_functions_of_f32_rounded_once() {
    let functions: Vec<Elementwise> = DOCUMENTED.iter().map(|f| f.0).chain(ROUNDED).collect();
    let places = |seed: u32| (0..=u16::MAX).map(move |i| (u32::from(i).wrapping_mul(seed) >> 3) as u16);
    let bits: [Vec<u16>; 2] = [(0..=u16::MAX).collect(), places(40_503).collect()];
    for dtype in [DType::F16, DType::BF16] {
        let widen = |b: u16| if dtype == DType::F16 { f16::from_bits(b).to_f64() } else { bf16::from_bits(b).to_f64() };
        let round = |x: f32| if dtype == DType::F16 { f16::from_f32(x).to_bits() } else { bf16::from_f32(x).to_bits() };
        let short = bits.each_ref().map(|bits| {
            let bytes: Vec<u8> = bits.iter().flat_map(|b| b.to_le_bytes()).collect();
            Tensor::from_bytes(Spec::new(dtype, [bits.len()]), &bytes).expect("as many bytes")
        });
        let single =
            bits.each_ref().map(|bits| tensor(DType::F32, &bits.iter().map(|&b| widen(b)).collect::<Vec<_>>()));
        for device in devices() {
            let found = run(&device, &functions, &short);
            let expected = run(&device, &functions, &single);
            for ((function, found), expected) in functions.iter().zip(&found).zip(&expected) {
                for (i, (found, expected)) in found.bytes().chunks(2).zip(f32s(expected)).enumerate() {
                    let found = u16::from_le_bytes([found[0], found[1]]);
                    assert!(
                        found == round(expected) || (widen(found).is_nan() && expected.is_nan()),
                        "{} of {dtype} {:?} on {} is {}, not {expected} rounded",
                        function.name(),
                        bits.each_ref().map(|b| widen(b[i])),
                        device.place(),
                        widen(found)
                    );
                }
            }
        }
    }
}
