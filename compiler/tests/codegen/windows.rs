//! Kernels over windows.

use crate::build::Body;
use crate::suite::Suite;
use monograph_compiler::codegen::{Family, supported};
use monograph_ir::interp::Tensor;
use monograph_ir::{Amounts, Axes, DType, Elementwise, Extreme, Graph, Literal, Op, Reduction, Spec, Windows};

/// Strides, padding before and behind, input dilation and dilation, the same along every dimension.
fn windows(rank: usize, stride: usize, [low, high]: [i64; 2], [input_dilation, dilation]: [usize; 2]) -> Box<Windows> {
    let (axes, amounts) = (|n| Axes::from_elem(n, rank), |n| Amounts::from_elem(n, rank));
    Box::new(Windows {
        strides: axes(stride),
        low: amounts(low),
        high: amounts(high),
        input_dilation: axes(input_dilation),
        dilation: axes(dilation),
    })
}

pub(crate) fn over(op: Op, dtype: DType, shape: &[usize]) -> Graph {
    let mut body = Body::new();
    let x = body.input(dtype, shape);
    let y = body.op(op, &[x]);
    body.done(&[y])
}

/// Strides, padding and dilations under which windows of 3 by 2 over 5 by 6 elements fit.
const CASES: [(usize, [i64; 2], [usize; 2]); 8] = [
    (1, [0, 0], [1, 1]),
    (2, [1, 1], [1, 1]),
    (3, [2, 0], [1, 1]),
    (1, [1, 1], [1, 2]),
    (2, [0, 5], [1, 2]),
    (1, [-1, 0], [1, 1]),
    (2, [1, 2], [2, 1]),
    (1, [6, 6], [3, 2]),
];

#[test]
fn every_reduction_and_attribute() {
    let mut suite = Suite::new("windows");
    let sizes = Axes::from_slice(&[3, 2]);
    for (number, (stride, padding, dilations)) in CASES.into_iter().enumerate() {
        let windows = windows(2, stride, padding, dilations);
        // Each dtype once, and one of each kind with every attribute.
        let some = [DType::F32, DType::F16, DType::I32, DType::Bool];
        let dtypes = if number == 4 { DType::ALL.to_vec() } else { some.to_vec() };
        for &kind in Reduction::ALL {
            for &dtype in dtypes.iter().filter(|&&d| kind.takes(d)) {
                let op = Op::WindowReduce { kind, sizes: sizes.clone(), windows: windows.clone() };
                let body = over(op, dtype, &[2, 3, 5, 6]);
                let name = format!("{kind} of {dtype}, {stride} {padding:?} {dilations:?}");
                let is_exact = matches!(kind, Reduction::Max | Reduction::Min) || !dtype.is_float();
                let wild = vec![suite.random.wild(&body.params()[0].spec)];
                match (is_exact, dtype) {
                    (true, _) => suite.with(name, body, wild, 0.0),
                    (false, DType::F64) => suite.case(name, body, 1e-14),
                    (false, _) => suite.case(name, body, 2e-6),
                };
            }
        }
    }
    suite.run();
}

#[test]
fn the_first_extreme_of_each_window() {
    let mut suite = Suite::new("window_extremes");
    let sizes = Axes::from_slice(&[3, 2]);
    for (stride, padding, dilations) in CASES {
        let windows = windows(2, stride, padding, dilations);
        for &kind in Extreme::ALL {
            for dtype in [DType::F32, DType::BF16, DType::F64, DType::I8, DType::I64, DType::Bool] {
                let op = Op::WindowArg { kind, sizes: sizes.clone(), windows: windows.clone() };
                let body = over(op, dtype, &[2, 5, 6]);
                let wild = vec![suite.random.wild(&body.params()[0].spec)];
                suite.with(format!("{kind} of {dtype}, {stride} {padding:?} {dilations:?}"), body, wild, 0.0);
                // Many ties.
                let op = Op::WindowArg { kind, sizes: sizes.clone(), windows: windows.clone() };
                let body = over(op, dtype, &[2, 5, 6]);
                let few =
                    suite.random.with(&body.params()[0].spec, |r| Literal::from_i64(dtype, (r.next() % 2) as i64));
                suite.with(format!("{kind} of {dtype} ties, {stride} {padding:?}"), body, vec![few], 0.0);
            }
        }
    }
    suite.run();
}

#[test]
fn updates_go_back_where_they_came_from() {
    let mut suite = Suite::new("window_scatters");
    let (sizes, extents) = (Axes::from_slice(&[3, 2]), [5, 6]);
    for (stride, padding, dilations) in CASES {
        let windows = windows(2, stride, padding, dilations);
        for (dtype, index) in [
            (DType::F32, DType::I64),
            (DType::F16, DType::I32),
            (DType::F64, DType::I64),
            (DType::I8, DType::I64),
            (DType::U32, DType::I32),
        ] {
            let counts = [0, 1].map(|d| windows.count(d, extents[d], sizes[d]).expect("a window fits"));
            let shape = [2, 3, counts[0], counts[1]];
            let mut body = Body::new();
            let (updates, indices) = (body.input(dtype, &shape), body.input(index, &shape));
            let (sizes, windows) = (sizes.clone(), windows.clone());
            let y = body
                .op(Op::WindowScatter { extents: extents.into_iter().collect(), sizes, windows }, &[updates, indices]);
            let body = body.done(&[y]);
            let data = suite.random.tensor(&Spec::new(dtype, shape));
            // Positions inside and outside of their windows, and none at all.
            let at =
                suite.random.with(&Spec::new(index, shape), |r| Literal::from_i64(index, (r.next() % 32) as i64 - 1));
            let tolerance = if dtype.is_float() { 1e-6 } else { 0.0 };
            suite.with(
                format!("{dtype} at {index}, {stride} {padding:?} {dilations:?}"),
                body,
                vec![data, at],
                tolerance,
            );
        }
    }
    suite.run();
}

#[test]
fn shapes_and_what_is_fused() {
    let mut suite = Suite::new("window_shapes");
    let sum =
        |sizes: &[usize], windows| Op::WindowReduce { kind: Reduction::Sum, sizes: Axes::from_slice(sizes), windows };
    suite.case("one dimension", over(sum(&[4], windows(1, 1, [0, 0], [1, 1])), DType::F32, &[301]), 2e-6);
    suite.case("three", over(sum(&[2, 1, 3], windows(3, 1, [1, 1], [1, 1])), DType::F32, &[2, 3, 4, 5]), 2e-6);
    suite.case("no dimension", over(sum(&[], windows(0, 1, [0, 0], [1, 1])), DType::F32, &[7]), 0.0);
    suite.case("whole planes", over(sum(&[9, 8], windows(2, 1, [0, 0], [1, 1])), DType::F32, &[3, 9, 8]), 2e-6);
    // Positions beyond 32 bits.
    let far = 2_000_000_000;
    suite.case("far", over(sum(&[2], windows(1, far, [0, 1], [far, 1])), DType::F32, &[3]), 2e-6);
    // All -1 with padding: the padding takes no part.
    let max = Op::WindowReduce {
        kind: Reduction::Max,
        sizes: Axes::from_slice(&[3]),
        windows: windows(1, 1, [1, 1], [1, 1]),
    };
    let ones = Tensor::from_vec([4], vec![-1.0f32; 4]).expect("four elements");
    suite.with("all -1", over(max.clone(), DType::F32, &[4]), vec![ones], 0.0);

    let mut body = Body::new();
    let (x, y) = (body.input(DType::F32, &[8, 6]), body.input(DType::F32, &[3, 1]));
    let turned = body.op(Op::Permute(Axes::from_slice(&[1, 0])), &[x]);
    let square = body.binary(Elementwise::Mul, turned, turned);
    let most = body.op(max, &[square]);
    let halves = body.reshape(most, &[3, 16]);
    let y = body.broadcast(y, &[3, 16]);
    let scaled = body.binary(Elementwise::Mul, halves, y);
    let body = body.done(&[most, scaled]);
    assert_eq!(supported(&body), Ok(Family::Windows));
    suite.case("prologue and epilogue", body, 0.0);
    suite.run();
}
