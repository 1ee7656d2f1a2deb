//! Each op on the GPU against the interpreter: dtypes, shapes, NaN, signed zeros, infinities.
//!
//! Without a CUDA device the tests say that they are skipped. What can be exact must be; transcendental functions and
//! sums of floats have a bound.

#[allow(dead_code, reason = "each test uses a part")]
mod common;

use common::cuda;
use monograph::ir::interp::{self, Tensor};
use monograph::ir::{
    Axes, Elementwise, Extreme, Graph, Literal, Op, Origin, OutputKind, ParamKind, Reduction, ScatterKind,
};
use monograph::{Array, Binding, DType, Options, Shape, Source, Spec};

/// How far a device may be from the interpreter.
#[derive(Clone, Copy)]
enum Bound {
    /// Equal bits, any NaN for any NaN.
    Exact,
    /// So many units in the last place of the dtype.
    Ulps(f64),
    /// Relative to the greatest magnitude of the result.
    OfGreatest(f64),
}

struct Gpu {
    device: monograph_runtime::Device,
}

fn gpu() -> Option<Gpu> {
    cuda()?;
    Some(Gpu { device: monograph_runtime::Device::cuda(0).expect("it was there a moment ago") })
}

/// A graph of one op over parameters of these specs.
fn single(op: Op, specs: &[Spec]) -> Graph {
    let mut graph = Graph::new("single");
    let parameter = |(i, spec): (usize, &Spec)| {
        graph.parameter(format!("p{i}"), spec.clone(), ParamKind::Input(Binding::Copied), Origin::Unknown)
    };
    let operands: Vec<_> = specs.iter().enumerate().map(parameter).collect();
    let value = graph.apply(op, &operands, Origin::Unknown).expect("the op takes these operands");
    graph.output("out", value, OutputKind::Result);
    graph
}

fn unit(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => f64::powi(2.0, -10),
        DType::BF16 => f64::powi(2.0, -7),
        DType::F32 => f64::powi(2.0, -23),
        _ => f64::powi(2.0, -52),
    }
}

impl Gpu {
    fn check(&self, op: Op, inputs: &[Tensor], bound: Bound) {
        let specs: Vec<Spec> = inputs.iter().map(|t| t.spec().clone()).collect();
        let what = format!("{} of {}", op.name(), specs.iter().map(Spec::to_string).collect::<Vec<_>>().join(", "));
        let graph = single(op, &specs);
        let expected = interp::evaluate(&graph, inputs).expect("the interpreter runs it").remove(0);
        let plan = monograph_compiler::compile(&graph, &self.device.target(), &Options::default());
        let plan = plan.unwrap_or_else(|e| panic!("{what}: {e}"));
        let mut exe = self.device.load(plan, &[], &[]).unwrap_or_else(|e| panic!("{what}: {e}"));
        exe.compare_with_plan().expect("the driver built what the plan says");
        let arrays: Vec<Array> =
            inputs.iter().map(|t| Array::from_bytes(t.spec().clone(), t.bytes()).expect("an array")).collect();
        let sources: Vec<_> = arrays.iter().map(Source::Array).collect();
        for replay in 0..3 {
            exe.replay(&sources).expect("a replay");
            let found = exe.output(0).to_array().expect("an array");
            let found = Tensor::from_bytes(found.spec().clone(), &found.bytes().expect("bytes")).expect("a tensor");
            compare(&format!("{what}, replay {replay}"), inputs, &expected, &found, bound);
        }
    }
}

fn compare(what: &str, inputs: &[Tensor], expected: &Tensor, found: &Tensor, bound: Bound) {
    assert_eq!(expected.spec(), found.spec(), "{what}");
    let dtype = expected.spec().dtype;
    let size = dtype.size();
    let greatest = (0..expected.spec().shape.size())
        .filter_map(|i| expected.get_f64(i))
        .filter(|v| v.is_finite())
        .fold(0.0f64, |a, b| a.max(b.abs()));
    for i in 0..expected.spec().shape.size() {
        let bytes = |t: &Tensor| t.bytes()[i * size..(i + 1) * size].to_vec();
        if bytes(expected) == bytes(found) {
            continue;
        }
        let (e, f) = (expected.get_f64(i).unwrap_or(f64::NAN), found.get_f64(i).unwrap_or(f64::NAN));
        let close = dtype.is_float()
            && ((e.is_nan() && f.is_nan())
                || match bound {
                    Bound::Exact => false,
                    Bound::Ulps(n) => (e - f).abs() <= n * unit(dtype) * e.abs().max(f64::MIN_POSITIVE * 2.0),
                    Bound::OfGreatest(n) => (e - f).abs() <= n.max(unit(dtype)) * greatest,
                });
        let operands: Vec<_> =
            inputs.iter().filter(|t| t.spec() == &inputs[0].spec().clone()).map(|t| t.get_f64(i)).collect();
        assert!(close, "{what}: element {i} of operands {operands:?} is {f:e}, not {e:e}");
    }
}

/// Numbers of both signs with the special ones of the dtype among them.
fn numbers(dtype: DType, shape: impl Into<Shape>, seed: u64) -> Tensor {
    let spec = Spec::new(dtype, shape);
    let special =
        [0.0, -0.0, 1.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.5, 1e-3, 127.0, -128.0, 2.5, 3.5];
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::new();
    for i in 0..spec.shape.size() {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let uniform = (state >> 40) as f64 / f64::powi(2.0, 23) - 1.0;
        let literal = match dtype {
            _ if dtype.is_float() && i % 7 == 3 => {
                Literal::from_f64(dtype, special[(state >> 33) as usize % special.len()])
            }
            _ if dtype.is_float() => Literal::from_f64(dtype, uniform * 4.0),
            _ if i % 5 == 2 => {
                Literal::from_bits(dtype, [0, 1, u64::MAX, 1 << 7, 1 << 31, 1 << 63][(state >> 33) as usize % 6])
            }
            _ => Literal::from_i64(dtype, (uniform * 40.0) as i64),
        };
        bytes.extend_from_slice(&literal.to_le_bytes()[..dtype.size()]);
    }
    Tensor::from_bytes(spec, &bytes).expect("as many bytes as the spec has")
}

/// Finite numbers of magnitude around one.
fn tame(dtype: DType, shape: impl Into<Shape>, seed: u64) -> Tensor {
    let spec = Spec::new(dtype, shape);
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::new();
    for _ in 0..spec.shape.size() {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let uniform = (state >> 40) as f64 / f64::powi(2.0, 23) - 1.0;
        let literal = match dtype.is_float() {
            true => Literal::from_f64(dtype, uniform),
            false => Literal::from_i64(dtype, (uniform * 5.0) as i64),
        };
        bytes.extend_from_slice(&literal.to_le_bytes()[..dtype.size()]);
    }
    Tensor::from_bytes(spec, &bytes).expect("as many bytes as the spec has")
}

fn indices(dtype: DType, shape: impl Into<Shape>, extent: i64) -> Tensor {
    let spec = Spec::new(dtype, shape);
    let bytes = (0..spec.shape.size() as i64)
        .flat_map(|i| Literal::from_i64(dtype, (i * 7 + 3) % (extent + 2) - 1).to_le_bytes()[..dtype.size()].to_vec())
        .collect::<Vec<_>>();
    Tensor::from_bytes(spec, &bytes).expect("as many bytes as the spec has")
}

#[test]
fn element_wise_ops() {
    use Elementwise as E;
    let Some(gpu) = gpu() else { return };
    for &op in Elementwise::ALL {
        for dtype in DType::ALL.into_iter().filter(|&d| op.domain().contains(d)) {
            let inputs: Vec<Tensor> = (0..op.arity()).map(|i| numbers(dtype, [3, 257], 11 + i as u64)).collect();
            let bound = match op {
                E::Exp | E::Expm1 | E::Log | E::Log1p | E::Sin | E::Cos | E::Tanh | E::Erf | E::Atan2 => {
                    Bound::Ulps(4.0)
                }
                E::Pow => Bound::Ulps(16.0),
                // The greatest error in CUDA's manual is 5, of `tan` and `erfc`, and the host has one more.
                op if op.is_approximate() => Bound::Ulps(6.0),
                _ => Bound::Exact,
            };
            gpu.check(op.into(), &inputs, bound);
        }
    }
}

#[test]
fn casts_selects_and_constants() {
    let Some(gpu) = gpu() else { return };
    for from in DType::ALL {
        for to in DType::ALL {
            gpu.check(Op::Cast(to), &[numbers(from, [517], 3)], Bound::Exact);
            if from.size() == to.size() && to != DType::Bool {
                gpu.check(Op::Bitcast(to), &[numbers(from, [33], 5)], Bound::Exact);
            }
        }
        let mask = numbers(DType::Bool, [5, 9], 1);
        gpu.check(Op::Select, &[mask, numbers(from, [5, 9], 2), numbers(from, [5, 9], 3)], Bound::Exact);
        if from != DType::Bool {
            gpu.check(Op::Iota { dtype: from, shape: [3, 300, 2].into(), axis: 1 }, &[], Bound::Exact);
        }
    }
}

#[test]
fn views_pads_and_concatenations() {
    let Some(gpu) = gpu() else { return };
    let axes = |a: &[usize]| Axes::from_slice(a);
    for dtype in [DType::Bool, DType::F16, DType::F32, DType::I64] {
        let x = numbers(dtype, [4, 6, 5], 1);
        let one = std::slice::from_ref(&x);
        gpu.check(Op::Permute(axes(&[2, 0, 1])), one, Bound::Exact);
        gpu.check(Op::Reshape([8, 15].into()), one, Bound::Exact);
        gpu.check(Op::Broadcast([2, 3, 5].into()), &[numbers(dtype, [3, 1], 1)], Bound::Exact);
        gpu.check(Op::Reverse(axes(&[0, 2])), one, Bound::Exact);
        let slice = Op::Slice { starts: axes(&[1, 0, 4]), limits: axes(&[4, 6, 5]), strides: axes(&[2, 3, 1]) };
        gpu.check(slice, one, Bound::Exact);
        let pad = Op::Pad { low: [1, -2, 0].into_iter().collect(), high: [0, 3, -1].into_iter().collect() };
        gpu.check(pad, &[x.clone(), numbers(dtype, [], 9)], Bound::Exact);
        gpu.check(Op::Concat { axis: 1 }, &[x.clone(), numbers(dtype, [4, 1, 5], 2), x.clone()], Bound::Exact);
    }
    // Views that no vector access fits, and sizes beside the multiples of a block.
    for n in [1, 2, 3, 31, 32, 33, 255, 256, 257, 1023, 65_537] {
        gpu.check(Elementwise::Neg.into(), &[numbers(DType::F32, [n], 1)], Bound::Exact);
        gpu.check(Elementwise::Neg.into(), &[numbers(DType::BF16, [n], 1)], Bound::Exact);
        gpu.check(Op::Reverse(axes(&[0])), &[numbers(DType::U8, [n], 1)], Bound::Exact);
    }
}

#[test]
fn reductions() {
    let Some(gpu) = gpu() else { return };
    for dtype in DType::ALL {
        for &kind in Reduction::ALL.iter().filter(|k| k.takes(dtype)) {
            for axes in [&[][..], &[0], &[1], &[2], &[0, 2], &[1, 2], &[0, 1, 2]] {
                let exact = !dtype.is_float() || matches!(kind, Reduction::Max | Reduction::Min);
                let x = if exact { numbers(dtype, [3, 4, 37], 5) } else { tame(dtype, [3, 4, 37], 5) };
                let bound = if exact { Bound::Exact } else { Bound::OfGreatest(2e-6) };
                gpu.check(Op::Reduce { kind, axes: Axes::from_slice(axes) }, &[x], bound);
            }
        }
        for &kind in Extreme::ALL {
            for axis in 0..3 {
                gpu.check(Op::ArgReduce { kind, axis }, &[numbers(dtype, [3, 4, 37], 6)], Bound::Exact);
            }
        }
        for &kind in Reduction::ALL.iter().filter(|k| k.takes(dtype)) {
            for axis in 0..2 {
                let exact = !dtype.is_float() || matches!(kind, Reduction::Max | Reduction::Min);
                let x = if exact { numbers(dtype, [5, 300], 5) } else { tame(dtype, [5, 300], 5) };
                gpu.check(Op::Scan { kind, axis }, &[x], if exact { Bound::Exact } else { Bound::OfGreatest(4e-6) });
            }
        }
    }
}

#[test]
fn rows_of_every_length() {
    let Some(gpu) = gpu() else { return };
    for n in [1, 2, 15, 16, 17, 31, 32, 33, 1000, 1024, 1025, 5000, 100_003] {
        let sum = Op::Reduce { kind: Reduction::Sum, axes: Axes::from_slice(&[1]) };
        gpu.check(sum.clone(), &[tame(DType::F32, [3, n], 5)], Bound::OfGreatest(4e-6));
        gpu.check(sum, &[tame(DType::F16, [2, n], 5)], Bound::OfGreatest(2e-3));
        let columns = Op::Reduce { kind: Reduction::Sum, axes: Axes::from_slice(&[0]) };
        gpu.check(columns, &[tame(DType::F32, [n, 3], 5)], Bound::OfGreatest(4e-6));
        let max = Op::Reduce { kind: Reduction::Max, axes: Axes::from_slice(&[1]) };
        gpu.check(max, &[numbers(DType::F32, [3, n], 5)], Bound::Exact);
        gpu.check(Op::ArgReduce { kind: Extreme::Max, axis: 1 }, &[numbers(DType::F32, [3, n], 5)], Bound::Exact);
        gpu.check(Op::Scan { kind: Reduction::Sum, axis: 1 }, &[tame(DType::I32, [3, n], 5)], Bound::Exact);
    }
    let many = Op::Reduce { kind: Reduction::Sum, axes: Axes::from_slice(&[1]) };
    gpu.check(many, &[tame(DType::I64, [70_001, 3], 5)], Bound::Exact);
}

#[test]
fn matrix_products() {
    let Some(gpu) = gpu() else { return };
    for dtype in [DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::I8] {
        for (m, k, n) in [(1, 1, 1), (1, 100, 65), (17, 33, 129), (64, 64, 64), (130, 70, 4), (3, 257, 300)] {
            for (transpose_a, transpose_b) in [(false, false), (false, true), (true, false), (true, true)] {
                let a = if transpose_a { [k, m] } else { [m, k] };
                let b = if transpose_b { [n, k] } else { [k, n] };
                let inputs = [tame(dtype, a, 1), tame(dtype, b, 2)];
                let bound = if dtype.is_float() { Bound::OfGreatest(4e-6) } else { Bound::Exact };
                gpu.check(Op::Matmul { transpose_a, transpose_b }, &inputs, bound);
            }
        }
        let inputs = [tame(dtype, [2, 3, 20, 30], 1), tame(dtype, [2, 3, 30, 10], 2)];
        let bound = if dtype.is_float() { Bound::OfGreatest(4e-6) } else { Bound::Exact };
        gpu.check(Op::Matmul { transpose_a: false, transpose_b: false }, &inputs, bound);
    }
    // More batches than a grid has blocks along z.
    let inputs = [tame(DType::F32, [70_000, 2, 3], 1), tame(DType::F32, [70_000, 3, 1], 2)];
    gpu.check(Op::Matmul { transpose_a: false, transpose_b: false }, &inputs, Bound::OfGreatest(4e-6));
}

#[test]
fn gathers_scatters_and_dynamic_slices() {
    let Some(gpu) = gpu() else { return };
    for dtype in [DType::F32, DType::BF16, DType::I64, DType::U8] {
        for index in [DType::I32, DType::I64] {
            let x = numbers(dtype, [6, 5, 4], 1);
            for (axis, extent) in [(0, 6), (1, 5), (2, 4)] {
                gpu.check(Op::Take { axis }, &[x.clone(), indices(index, [2, 3], extent)], Bound::Exact);
                let mut along = [6, 5, 4];
                along[axis] = 3;
                gpu.check(Op::TakeAlong { axis }, &[x.clone(), indices(index, along, extent)], Bound::Exact);
                let mut updates = [6, 5, 4];
                updates[axis] = 9;
                for &kind in ScatterKind::ALL {
                    let inputs = [tame(dtype, [6, 5, 4], 1), indices(index, [9], extent), tame(dtype, updates, 3)];
                    gpu.check(Op::Scatter { axis, kind }, &inputs, Bound::Exact);
                }
            }
            for start in [-3, 0, 2, 100] {
                let scalar =
                    |v: i64| Tensor::full(Spec::new(index, []), Literal::from_i64(index, v)).expect("a scalar");
                let corner = [scalar(start), scalar(1), scalar(start)];
                let slice = [&[x.clone()][..], &corner].concat();
                gpu.check(Op::DynamicSlice { sizes: [2, 3, 4].into() }, &slice, Bound::Exact);
                let update = [&[x.clone(), numbers(dtype, [2, 3, 4], 8)][..], &corner].concat();
                gpu.check(Op::DynamicUpdateSlice, &update, Bound::Exact);
            }
        }
    }
}
