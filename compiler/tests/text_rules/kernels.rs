//! Kernels of all families, dtypes and schedules.

use crate::build::Body;
use monograph_compiler::codegen::{generate, supported};
use monograph_compiler::{Options, compile};
use monograph_ir::testing::{self, random_graph};
use monograph_ir::{Axes, DType, Elementwise, Extreme, Graph, Literal, Op, Reduction, ScatterKind, Target, Windows};

/// Names and texts.
pub(crate) fn all() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for multiprocessors in [1, 4, 132] {
        let target = Target { multiprocessors, ..Target::default() };
        for body in bodies() {
            supported(&body).expect("a body of a test has code");
            let generated = generate(&body, &target, &Options::default()).expect("a body of a test has code");
            all.push((format!("{} for {multiprocessors}", generated.name), generated.source));
        }
    }
    for seed in 0..60 {
        let graph = random_graph(seed, &testing::Options { nodes: 40, ..testing::Options::default() });
        let plan = compile(&graph, &Target::default(), &Options::default()).expect("a random graph compiles");
        for program in &plan.programs {
            let source = program.source.strip_prefix(monograph_compiler::codegen::prelude());
            all.push((format!("seed {seed}"), source.expect("the prelude is first").to_string()));
        }
    }
    all
}

fn unary(op: impl Into<Op>, dtype: DType, shape: &[usize]) -> Graph {
    let mut body = Body::new();
    let x = body.input(dtype, shape);
    let y = body.op(op, &[x]);
    body.done(&[y])
}

fn bodies() -> Vec<Graph> {
    let mut all = Vec::new();
    for dtype in DType::ALL {
        for &op in Elementwise::ALL.iter().filter(|op| op.domain().contains(dtype)) {
            let mut body = Body::new();
            let operands = [0, 1, 2].map(|_| body.input(dtype, &[96]));
            let y = body.op(op, &operands[..op.arity()]);
            all.push(body.done(&[y]));
        }
        for to in DType::ALL {
            all.push(unary(Op::Cast(to), dtype, &[33]));
        }
        for shape in [&[5, 3][..], &[4, 17], &[700, 100], &[2, 1000], &[2, 1025], &[1, 20000], &[3, 37, 33]] {
            for kind in [Extreme::Max, Extreme::Min] {
                all.push(unary(Op::ArgReduce { kind, axis: 1 }, dtype, shape));
            }
            for &kind in Reduction::ALL.iter().filter(|k| k.takes(dtype)) {
                all.push(unary(Op::Reduce { kind, axes: [1].into_iter().collect() }, dtype, shape));
                all.push(unary(Op::Scan { kind, axis: 1 }, dtype, shape));
            }
        }
        if dtype != DType::Bool {
            all.extend(products(dtype));
        }
        for (shape, count) in [(&[9, 8][..], 20), (&[10, 1], 300), (&[2, 3], 2100)] {
            let mut body = Body::new();
            let base = body.input(dtype, shape);
            let indices = body.input(DType::I32, &[count]);
            let updates = body.input(dtype, &[count, shape[1]]);
            let y = body.op(Op::Scatter { axis: 0, kind: ScatterKind::Set }, &[base, indices, updates]);
            all.push(body.done(&[y]));
        }
    }
    for (rows, n) in [(300, 5), (3, 700), (2, 4096)] {
        all.push(unary(Op::SortPacked, DType::I64, &[rows, n]));
        for (shift, tile) in [(32, 256), (40, 4096)] {
            all.push(unary(Op::DigitCounts { shift, tile }, DType::I64, &[rows, n]));
            let mut body = Body::new();
            let x = body.input(DType::I64, &[rows, n]);
            let ends = body.input(DType::I32, &[rows, 256, n.div_ceil(tile)]);
            let y = body.op(Op::PlaceByDigit { shift, tile }, &[x, ends]);
            all.push(body.done(&[y]));
        }
        let mut body = Body::new();
        let base = body.input(DType::F16, &[rows, n]);
        let entries = body.input(DType::I64, &[70]);
        let updates = body.input(DType::F16, &[70, n]);
        let y = body.op(Op::ScatterSorted { axis: 0, kind: ScatterKind::Add }, &[base, entries, updates]);
        all.push(body.done(&[y]));
    }
    all.extend(DType::ALL.into_iter().flat_map(over_windows));
    // Many reductions together, over columns and by blocks.
    for (axis, shape) in [(0, [300, 40]), (1, [40, 3000])] {
        let mut body = Body::new();
        let results: Vec<_> = (0..24)
            .map(|_| {
                let x = body.input(DType::F64, &shape);
                body.op(Op::ArgReduce { kind: Extreme::Max, axis }, &[x])
            })
            .collect();
        all.push(body.done(&results));
    }
    all.extend([0.1, 1e-40, -2.5, 65504.0, 1.0 / 3.0, f64::INFINITY, f64::NAN].into_iter().flat_map(|value| {
        DType::ALL.into_iter().filter(|d| d.is_float()).map(move |dtype| {
            let mut body = Body::new();
            let x = body.input(dtype, &[8]);
            let scalar = body.op(Op::Constant(Literal::from_f64(dtype, value)), &[]);
            let constant = body.broadcast(scalar, &[8]);
            let y = body.binary(Elementwise::Mul, x, constant);
            body.done(&[y])
        })
    }));
    all
}

/// Convolutions of both schedules, and every op over windows.
fn over_windows(dtype: DType) -> Vec<Graph> {
    let windows = || {
        let mut windows = Windows::dense(2);
        windows.strides[1] = 2;
        windows.low[0] = 1;
        windows.high[1] = 3;
        windows.input_dilation[1] = 2;
        windows.dilation[0] = 2;
        Box::new(windows)
    };
    let sizes = Axes::from_slice(&[2, 3]);
    let mut all: Vec<Graph> = (Extreme::ALL.iter())
        .map(|&kind| {
            let op = Op::WindowArg { kind, sizes: sizes.clone(), windows: windows() };
            unary(op, dtype, &[3, 6, 7])
        })
        .collect();
    for &kind in Reduction::ALL.iter().filter(|k| k.takes(dtype)) {
        let op = Op::WindowReduce { kind, sizes: sizes.clone(), windows: windows() };
        all.push(unary(op, dtype, &[3, 6, 7]));
    }
    if dtype == DType::Bool {
        return all;
    }
    let counts = [0, 1].map(|d| windows().count(d, [6, 7][d], sizes[d]).expect("a window fits"));
    let mut body = Body::new();
    let updates = body.input(dtype, &[3, counts[0], counts[1]]);
    let indices = body.input(DType::I64, &[3, counts[0], counts[1]]);
    let op = Op::WindowScatter { extents: Axes::from_slice(&[6, 7]), sizes, windows: windows() };
    let y = body.op(op, &[updates, indices]);
    all.push(body.done(&[y]));
    for (outputs, groups) in [(3, 1), (8, 2), (40, 1), (140, 2)] {
        let mut body = Body::new();
        let x = body.input(dtype, &[4, 6, 11, 13]);
        let kernel = body.input(dtype, &[outputs * groups, 6 / groups, 2, 3]);
        let y = body.op(Op::Convolution { windows: windows(), groups }, &[x, kernel]);
        all.push(body.done(&[y]));
    }
    all
}

fn products(dtype: DType) -> Vec<Graph> {
    let mut all = Vec::new();
    for [m, n, k] in [[136, 144, 104], [130, 129, 33], [40, 36, 4], [1, 40, 100], [100, 5, 33]] {
        for (ta, tb) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut body = Body::new();
            let (a, b) = (
                body.input(dtype, &if ta { [k, m] } else { [m, k] }),
                body.input(dtype, &if tb { [n, k] } else { [k, n] }),
            );
            let y = body.op(Op::Matmul { transpose_a: ta, transpose_b: tb }, &[a, b]);
            all.push(body.done(&[y]));
        }
    }
    all
}
