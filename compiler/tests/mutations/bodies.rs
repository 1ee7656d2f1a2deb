//! Bodies of the kernels that are mutated.

use crate::build::Body;
use monograph_ir::{DType, Elementwise, Extreme, Graph, Op, Reduction, ScatterKind};

/// `relu(x + b)` for a row vector `b`.
pub(crate) fn bias_relu(dtype: DType, rows: usize, columns: usize) -> Graph {
    let mut body = Body::new();
    let x = body.input(dtype, &[rows, columns]);
    let b = body.input(dtype, &[columns]);
    let b = body.broadcast(b, &[rows, columns]);
    let sum = body.binary(Elementwise::Add, x, b);
    let zero = body.full(dtype, 0.0, &[rows, columns]);
    let y = body.binary(Elementwise::Maximum, sum, zero);
    body.done(&[y])
}

/// Rows of a table, by indices that may lie outside.
pub(crate) fn embedding(rows: usize, columns: usize, count: usize) -> Graph {
    let mut body = Body::new();
    let table = body.input(DType::F32, &[rows, columns]);
    let ids = body.input(DType::I32, &[count]);
    let y = body.op(Op::Take { axis: 0 }, &[table, ids]);
    body.done(&[y])
}

pub(crate) fn sum(shape: &[usize], axes: &[usize]) -> Graph {
    let mut body = Body::new();
    let x = body.input(DType::F32, shape);
    let y = body.reduce(Reduction::Sum, x, axes);
    body.done(&[y])
}

/// Along the last of two axes.
pub(crate) fn softmax(shape: &[usize; 2]) -> Graph {
    let mut body = Body::new();
    let x = body.input(DType::F32, shape);
    let max = body.reduce(Reduction::Max, x, &[1]);
    let max = body.spread(max, shape, &[1]);
    let shifted = body.binary(Elementwise::Sub, x, max);
    let exp = body.unary(Elementwise::Exp, shifted);
    let sum = body.reduce(Reduction::Sum, exp, &[1]);
    let sum = body.spread(sum, shape, &[1]);
    let y = body.binary(Elementwise::Div, exp, sum);
    body.done(&[y])
}

/// Without an affine map; the mean is an output too.
pub(crate) fn layer_norm(rows: usize, columns: usize) -> Graph {
    let shape = [rows, columns];
    let mut body = Body::new();
    let x = body.input(DType::F32, &shape);
    let n = body.full(DType::F32, columns as f64, &[rows]);
    let sum = body.reduce(Reduction::Sum, x, &[1]);
    let mean = body.binary(Elementwise::Div, sum, n);
    let spread = body.spread(mean, &shape, &[1]);
    let centered = body.binary(Elementwise::Sub, x, spread);
    let square = body.binary(Elementwise::Mul, centered, centered);
    let sum = body.reduce(Reduction::Sum, square, &[1]);
    let variance = body.binary(Elementwise::Div, sum, n);
    let epsilon = body.full(DType::F32, 1e-3, &[rows]);
    let variance = body.binary(Elementwise::Add, variance, epsilon);
    let inverse = body.unary(Elementwise::Rsqrt, variance);
    let spread = body.spread(inverse, &shape, &[1]);
    let y = body.binary(Elementwise::Mul, centered, spread);
    body.done(&[y, mean])
}

/// Along the last axis.
pub(crate) fn argmax(kind: Extreme, shape: &[usize]) -> Graph {
    let mut body = Body::new();
    let x = body.input(DType::F32, shape);
    let i = body.op(Op::ArgReduce { kind, axis: shape.len() - 1 }, &[x]);
    body.done(&[i])
}

pub(crate) fn product(dtype: DType, [m, n, k]: [usize; 3], [ta, tb]: [bool; 2]) -> Graph {
    let shape = |a, b, t: bool| if t { [b, a] } else { [a, b] };
    let mut body = Body::new();
    let (a, b) = (body.input(dtype, &shape(m, k, ta)), body.input(dtype, &shape(k, n, tb)));
    let y = body.op(Op::Matmul { transpose_a: ta, transpose_b: tb }, &[a, b]);
    body.done(&[y])
}

pub(crate) fn scatter(shape: &[usize], axis: usize, count: usize, kind: ScatterKind) -> Graph {
    let mut body = Body::new();
    let base = body.input(DType::F32, shape);
    let indices = body.input(DType::I32, &[count]);
    let updates: Vec<usize> = shape.iter().enumerate().map(|(d, &e)| if d == axis { count } else { e }).collect();
    let updates = body.input(DType::F32, &updates);
    let y = body.op(Op::Scatter { axis, kind }, &[base, indices, updates]);
    body.done(&[y])
}

/// Along the last axis.
pub(crate) fn scan(kind: Reduction, shape: &[usize]) -> Graph {
    let mut body = Body::new();
    let x = body.input(DType::F32, shape);
    let y = body.op(Op::Scan { kind, axis: shape.len() - 1 }, &[x]);
    body.done(&[y])
}
