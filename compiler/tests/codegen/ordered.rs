//! Kernels whose results depend on an order: scatters and scans.

use crate::build::{Body, Random};
use crate::suite::Suite;
use monograph_compiler::codegen::supported;
use monograph_ir::interp::Tensor;
use monograph_ir::{DType, Elementwise, Graph, Literal, Op, Reduction, ScatterKind, Spec};

fn scatter(dtype: DType, shape: &[usize], axis: usize, count: usize, kind: ScatterKind) -> Graph {
    let mut body = Body::new();
    let base = body.input(dtype, shape);
    let indices = body.input(DType::I32, &[count]);
    let updates: Vec<usize> = shape.iter().enumerate().map(|(d, &e)| if d == axis { count } else { e }).collect();
    let updates = body.input(dtype, &updates);
    let y = body.op(Op::Scatter { axis, kind }, &[base, indices, updates]);
    body.done(&[y])
}

/// Random data; indices from -1 to one past the end, many of them twice.
fn inputs(body: &Graph, extent: usize) -> Vec<Tensor> {
    let mut random = Random::new(extent as u64);
    let index = |r: &mut Random| Literal::from_i64(DType::I32, (r.next() % (extent as u64 + 2)) as i64 - 1);
    let tensor = |(i, p): (usize, &monograph_ir::Param)| match i {
        1 => random.with(&p.spec, index),
        _ => random.tensor(&p.spec),
    };
    body.params().iter().enumerate().map(tensor).collect()
}

#[test]
fn scatters_follow_the_order_of_the_indices() {
    let mut suite = Suite::new("scatters");
    for &kind in ScatterKind::ALL {
        for dtype in [DType::F32, DType::F16, DType::BF16, DType::F64, DType::I8, DType::I64] {
            for (shape, axis, count) in [
                (&[9, 8][..], 0, 20),
                (&[5, 7, 3], 1, 70),
                (&[10], 0, 300),
                (&[4, 6], 1, 3),
                (&[3, 1500], 0, 5),
                (&[2], 0, 2100),
            ] {
                let body = scatter(dtype, shape, axis, count, kind);
                let data = inputs(&body, shape[axis]);
                suite.with(format!("{kind} of {dtype}{shape:?} on {axis} by {count}"), body, data, 0.0);
            }
        }
    }
    // Embedding backward: zeros as the base, a prologue and an epilogue.
    let mut body = Body::new();
    let zeros = body.full(DType::F32, 0.0, &[3, 1]);
    let ids = body.input(DType::I64, &[3]);
    let ones = body.full(DType::F32, 1.0, &[3, 1]);
    let y = body.op(Op::Scatter { axis: 0, kind: ScatterKind::Add }, &[zeros, ids, ones]);
    let z = body.unary(Elementwise::Neg, y);
    let ids = Tensor::from_vec([3], vec![0i64, 0, 2]).unwrap();
    suite.with("embedding backward", body.done(&[y, z]), vec![ids], 0.0);
    suite.run();
}

fn scan(kind: Reduction, dtype: DType, shape: &[usize], axis: usize) -> Graph {
    let mut body = Body::new();
    let x = body.input(dtype, shape);
    let y = body.op(Op::Scan { kind, axis }, &[x]);
    body.done(&[y])
}

#[test]
fn scans_of_every_kind_and_length() {
    let mut suite = Suite::new("scans");
    for length in [1, 30, 33, 100, 128, 1024, 1025, 5000] {
        for dtype in [DType::F32, DType::F16, DType::F64, DType::I32, DType::U8] {
            let tolerance = match dtype {
                DType::F64 => 1e-13,
                d if d.is_float() => 2e-6,
                _ => 0.0,
            };
            let body = scan(Reduction::Sum, dtype, &[2, length], 1);
            let data =
                Random::new(3).with(&Spec::new(dtype, [2, length]), |r| Literal::from_f64(dtype, r.float() + 2.0));
            suite.with(format!("sums of {length} {dtype}"), body, vec![data], tolerance);
        }
        let wild = Random::new(length as u64).wild(&Spec::new(DType::F32, [2, length]));
        for kind in [Reduction::Max, Reduction::Min] {
            suite.with(format!("{kind} of {length}"), scan(kind, DType::F32, &[2, length], 1), vec![wild.clone()], 0.0);
        }
    }
    suite.case("any", scan(Reduction::Any, DType::Bool, &[3, 100], 1), 0.0);
    suite.case("all", scan(Reduction::All, DType::Bool, &[3, 100], 1), 0.0);
    suite.case("along the first axis", scan(Reduction::Sum, DType::F32, &[40, 5, 3], 0), 2e-6);
    suite.case("along a middle axis", scan(Reduction::Prod, DType::I32, &[4, 50, 3], 1), 0.0);

    let mut body = Body::new();
    let x = body.input(DType::F32, &[3, 200]);
    let square = body.binary(Elementwise::Mul, x, x);
    let sum = body.op(Op::Scan { kind: Reduction::Sum, axis: 1 }, &[square]);
    let root = body.unary(Elementwise::Sqrt, sum);
    let y = body.binary(Elementwise::Sub, root, x);
    let flat = body.reshape(y, &[600]);
    suite.case("prologue and epilogue", body.done(&[flat, sum]), 2e-6);
    suite.run();

    let mut body = Body::new();
    let x = body.input(DType::F32, &[3, 200]);
    let y = body.op(Op::Scan { kind: Reduction::Sum, axis: 1 }, &[x]);
    let z = body.op(Op::Scan { kind: Reduction::Sum, axis: 1 }, &[y]);
    assert_eq!(supported(&body.done(&[z])).unwrap_err(), "not exactly one scan");
}
