//! Kernels with reductions.

use crate::build::{Body, Random};
use crate::suite::Suite;
use monograph_compiler::codegen::{Family, supported};
use monograph_ir::interp::Tensor;
use monograph_ir::{Axes, DType, Elementwise, Extreme, Graph, Literal, Op, Reduction, Spec};

fn reduction(kind: Reduction, dtype: DType, shape: &[usize], axes: &[usize]) -> Graph {
    let mut body = Body::new();
    let x = body.input(dtype, shape);
    let y = body.reduce(kind, x, axes);
    body.done(&[y])
}

fn softmax(dtype: DType, shape: &[usize], axis: usize) -> Graph {
    let mut body = Body::new();
    let x = body.input(dtype, shape);
    let max = body.reduce(Reduction::Max, x, &[axis]);
    let max = body.spread(max, shape, &[axis]);
    let shifted = body.binary(Elementwise::Sub, x, max);
    let exp = body.unary(Elementwise::Exp, shifted);
    let sum = body.reduce(Reduction::Sum, exp, &[axis]);
    let sum = body.spread(sum, shape, &[axis]);
    let y = body.binary(Elementwise::Div, exp, sum);
    body.done(&[y])
}

/// Layer norm with an affine map; mean and reciprocal deviation are outputs too.
fn layer_norm(dtype: DType, rows: usize, columns: usize) -> Graph {
    let shape = [rows, columns];
    let mut body = Body::new();
    let x = body.input(dtype, &shape);
    let (scale, bias) = (body.input(dtype, &[columns]), body.input(dtype, &[columns]));
    let sum = body.reduce(Reduction::Sum, x, &[1]);
    let n = body.full(dtype, columns as f64, &[rows]);
    let mean = body.binary(Elementwise::Div, sum, n);
    let spread = body.spread(mean, &shape, &[1]);
    let centered = body.binary(Elementwise::Sub, x, spread);
    let square = body.binary(Elementwise::Mul, centered, centered);
    let sum = body.reduce(Reduction::Sum, square, &[1]);
    let variance = body.binary(Elementwise::Div, sum, n);
    let epsilon = body.full(dtype, 1e-3, &[rows]);
    let variance = body.binary(Elementwise::Add, variance, epsilon);
    let inverse = body.unary(Elementwise::Rsqrt, variance);
    let spread = body.spread(inverse, &shape, &[1]);
    let normal = body.binary(Elementwise::Mul, centered, spread);
    let (scale, bias) = (body.broadcast(scale, &shape), body.broadcast(bias, &shape));
    let scaled = body.binary(Elementwise::Mul, normal, scale);
    let y = body.binary(Elementwise::Add, scaled, bias);
    body.done(&[y, mean, inverse])
}

#[test]
fn every_schedule_and_shape() {
    let mut suite = Suite::new("reductions");
    // Threads, warps, blocks of every size, columns; whole and broken units.
    let shapes: [(&[usize], &[usize]); 18] = [
        (&[5, 3], &[1]),
        (&[300, 16], &[1]),
        (&[4, 17], &[1]),
        (&[3, 768], &[1]),
        (&[700, 100], &[1]),
        (&[2, 1000], &[1]),
        (&[2, 1025], &[1]),
        (&[3, 4096], &[1]),
        (&[1, 20000], &[1]),
        (&[50, 40], &[0]),
        (&[1000, 8], &[0]),
        (&[3, 37, 33], &[1]),
        (&[4, 5, 6, 7], &[1, 3]),
        (&[6, 50, 2], &[1]),
        (&[4, 40, 12], &[0, 1]),
        (&[2, 3, 4], &[0, 1, 2]),
        (&[65, 33, 3], &[0]),
        (&[40, 1], &[0]),
    ];
    for (shape, axes) in shapes {
        for dtype in [DType::F32, DType::F16] {
            // Positive, so that the error relative to the sum says something.
            let data = Random::new(9).with(&Spec::new(dtype, shape), |r| Literal::from_f64(dtype, r.float() + 2.0));
            let body = reduction(Reduction::Sum, dtype, shape, axes);
            suite.with(format!("sum of {dtype}{shape:?} over {axes:?}"), body, vec![data], 1e-6);
            suite.case(
                format!("max of {dtype}{shape:?} over {axes:?}"),
                reduction(Reduction::Max, dtype, shape, axes),
                0.0,
            );
        }
    }
    suite.run();
}

#[test]
fn every_kind_and_dtype() {
    let mut suite = Suite::new("kinds");
    for dtype in DType::ALL {
        for &kind in Reduction::ALL.iter().filter(|k| k.takes(dtype)) {
            for (shape, axes) in [(&[9, 70][..], &[1][..]), (&[40, 9], &[0])] {
                let body = reduction(kind, dtype, shape, axes);
                let data = Random::new(5).with(&Spec::new(dtype, shape), |r| match kind {
                    Reduction::Prod if dtype.is_float() => Literal::from_f64(dtype, 1.0 + r.float() / 64.0),
                    _ if dtype.is_float() => Literal::from_f64(dtype, r.float()),
                    _ => Literal::from_bits(dtype, r.next() & if dtype == DType::Bool { 1 } else { u64::MAX }),
                });
                let tolerance =
                    if matches!(kind, Reduction::Sum | Reduction::Prod) && dtype.is_float() { 1e-6 } else { 0.0 };
                suite.with(format!("{kind} of {dtype}{shape:?}"), body, vec![data], tolerance);
            }
        }
    }
    suite.run();
}

#[test]
fn nan_wins_and_the_first_extreme_counts() {
    let mut suite = Suite::new("extremes");
    for dtype in DType::ALL {
        for length in [5, 40, 300, 1100] {
            for kind in [Extreme::Max, Extreme::Min] {
                let mut body = Body::new();
                let x = body.input(dtype, &[7, length]);
                let i = body.op(Op::ArgReduce { kind, axis: 1 }, &[x]);
                let m = body.reduce(if kind == Extreme::Max { Reduction::Max } else { Reduction::Min }, x, &[1]);
                let mut rows = Random::new(length as u64);
                let mut at = 0;
                // Rows without NaN, with many ties, with one NaN at the end, and wild ones.
                let data = rows.with(&Spec::new(dtype, [7, length]), |r| {
                    let (row, column) = (at / length, at % length);
                    at += 1;
                    match row {
                        0 => Literal::one(dtype),
                        1 => Literal::from_i64(dtype, (r.next() % 2) as i64),
                        2 if column + 1 == length && dtype.is_float() => Literal::from_f64(dtype, f64::NAN),
                        3 => Literal::from_f64(dtype, if column % 2 == 0 { 0.0 } else { -0.0 }),
                        4 => Literal::from_f64(dtype, f64::NEG_INFINITY),
                        5 if r.next() % 3 == 0 && dtype.is_float() => Literal::from_f64(dtype, f64::NAN),
                        _ => Literal::from_f64(dtype, (r.float() * 3.0).round()),
                    }
                });
                suite.with(format!("{kind} of {length} {dtype}"), body.done(&[i, m]), vec![data], 0.0);
            }
        }
    }
    suite.run();
}

#[test]
fn composites_are_one_kernel() {
    let mut suite = Suite::new("composites");
    for (rows, columns) in [(5, 10), (3, 100), (300, 64), (2, 768), (3, 1000), (2, 1025), (2, 4100), (1, 70000)] {
        suite.case(format!("softmax {rows} by {columns}"), softmax(DType::F32, &[rows, columns], 1), 2e-6);
        suite.case(format!("softmax of f16 {rows} by {columns}"), softmax(DType::F16, &[rows, columns], 1), 1e-3);
        suite.case(format!("norm {rows} by {columns}"), layer_norm(DType::F32, rows, columns), 3e-6);
        suite.case(format!("norm of bf16 {rows} by {columns}"), layer_norm(DType::BF16, rows, columns), 2e-2);
    }
    suite.case("softmax over columns", softmax(DType::F32, &[3, 40, 20], 1), 2e-6);
    suite.case("softmax over the first of three", softmax(DType::F64, &[33, 5, 3], 0), 1e-15);

    // Cross entropy of rows: log-sum-exp minus the logit of the label, picked by a comparison with iota.
    let (rows, classes) = (6, 50);
    let shape = [rows, classes];
    let mut body = Body::new();
    let x = body.input(DType::F32, &shape);
    let labels = body.input(DType::I32, &[rows]);
    let max = body.reduce(Reduction::Max, x, &[1]);
    let spread = body.spread(max, &shape, &[1]);
    let shifted = body.binary(Elementwise::Sub, x, spread);
    let exp = body.unary(Elementwise::Exp, shifted);
    let sum = body.reduce(Reduction::Sum, exp, &[1]);
    let log = body.unary(Elementwise::Log, sum);
    let labels = body.spread(labels, &shape, &[1]);
    let iota = body.op(Op::Iota { dtype: DType::I32, shape: shape.into(), axis: 1 }, &[]);
    let hit = body.binary(Elementwise::Eq, labels, iota);
    let zero = body.full(DType::F32, 0.0, &shape);
    let picked = body.op(Op::Select, &[hit, shifted, zero]);
    let picked = body.reduce(Reduction::Sum, picked, &[1]);
    let loss = body.binary(Elementwise::Sub, log, picked);
    let spread = body.spread(sum, &shape, &[1]);
    let probability = body.binary(Elementwise::Div, exp, spread);
    let one = body.full(DType::F32, 1.0, &shape);
    let target = body.op(Op::Select, &[hit, one, zero]);
    let gradient = body.binary(Elementwise::Sub, probability, target);
    let flat = body.reshape(gradient, &[rows * classes]);
    suite.case("cross entropy", body.done(&[loss, flat]), 2e-6);

    // A prologue of views: heads are permuted before the sum.
    let mut body = Body::new();
    let x = body.input(DType::F32, &[4, 30, 6]);
    let p = body.op(Op::Permute(Axes::from_slice(&[2, 0, 1])), &[x]);
    let p = body.reshape(p, &[24, 30]);
    let y = body.reduce(Reduction::Sum, p, &[1]);
    let y = body.reshape(y, &[6, 4]);
    suite.case("permuted rows", body.done(&[y]), 1e-6);
    suite.run();
}

#[test]
fn a_million_elements_sum_up_accurately() {
    let mut suite = Suite::new("million");
    let spec = Spec::new(DType::F32, [1, 1 << 20]);
    let data = Random::new(3).with(&spec, |r| Literal::from_f64(DType::F32, r.float() + 2.0));
    suite.with("sum of a row", reduction(Reduction::Sum, DType::F32, &[1, 1 << 20], &[1]), vec![data.clone()], 1e-6);
    let data = data.reshape([1 << 17, 8]).unwrap();
    suite.with("sums of columns", reduction(Reduction::Sum, DType::F32, &[1 << 17, 8], &[0]), vec![data], 1e-6);
    let ones = Tensor::full(Spec::new(DType::F16, [4096]), Literal::one(DType::F16)).unwrap();
    suite.with("4096 ones of f16", reduction(Reduction::Sum, DType::F16, &[4096], &[0]), vec![ones], 0.0);
    suite.run();
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let mut body = Body::new();
    let x = body.input(DType::F32, &[4, 4]);
    let sum = body.reduce(Reduction::Sum, x, &[1]);
    let across = body.broadcast(sum, &[4, 4]);
    let y = body.binary(Elementwise::Sub, x, across);
    let error = supported(&body.done(&[y])).unwrap_err();
    assert_eq!(error, "`reduce_sum` is needed at another index than its own");

    let mut body = Body::new();
    let x = body.input(DType::F32, &[4, 4]);
    let (a, b) = (body.reduce(Reduction::Sum, x, &[1]), body.reduce(Reduction::Sum, x, &[0]));
    assert_eq!(supported(&body.done(&[a, b])).unwrap_err(), "reductions over different rows");
    assert_eq!(supported(&softmax(DType::F32, &[4, 4], 1)), Ok(Family::Rows));
}
