//! Kernels with a convolution.

use crate::build::Body;
use crate::suite::Suite;
use monograph_compiler::Options;
use monograph_compiler::codegen::{Family, generate, supported};
use monograph_ir::interp::Tensor;
use monograph_ir::{Amounts, Axes, DType, Elementwise, Graph, Op, Target, ValueId, Windows};

/// Strides, padding before and behind, input dilation and dilation, the same along every dimension.
fn windows(rank: usize, stride: usize, [low, high]: [i64; 2], [input_dilation, dilation]: [usize; 2]) -> Windows {
    let (axes, amounts) = (|n| Axes::from_elem(n, rank), |n| Amounts::from_elem(n, rank));
    Windows {
        strides: axes(stride),
        low: amounts(low),
        high: amounts(high),
        input_dilation: axes(input_dilation),
        dilation: axes(dilation),
    }
}

fn convolve(body: &mut Body, x: ValueId, kernel: ValueId, windows: &Windows, groups: usize) -> ValueId {
    body.op(Op::Convolution { windows: Box::new(windows.clone()), groups }, &[x, kernel])
}

pub(crate) fn convolution(dtype: DType, x: &[usize], kernel: &[usize], windows: &Windows, groups: usize) -> Graph {
    let mut body = Body::new();
    let (x, kernel) = (body.input(dtype, x), body.input(dtype, kernel));
    let y = convolve(&mut body, x, kernel, windows, groups);
    body.done(&[y])
}

/// Both schedules: groups of few output channels, and of many.
const OUTPUTS: [usize; 2] = [6, 24];

#[test]
fn every_attribute() {
    let mut suite = Suite::new("convolutions");
    for outputs in OUTPUTS {
        for (stride, padding, dilations) in [
            (1, [0, 0], [1, 1]),
            (1, [1, 1], [1, 1]),
            (2, [1, 0], [1, 1]),
            (1, [2, 2], [1, 2]),
            (3, [0, 4], [1, 2]),
            (1, [-1, 0], [1, 1]),
            (1, [0, -2], [1, 1]),
            (1, [2, 2], [2, 1]),
            (2, [1, 2], [3, 1]),
            (2, [3, -1], [2, 2]),
            (4, [2, 3], [2, 3]),
        ] {
            let w = windows(2, stride, padding, dilations);
            let name = format!("{outputs} outputs, {stride} {padding:?} {dilations:?}");
            suite.case(&name, convolution(DType::F32, &[2, 4, 7, 9], &[outputs, 4, 3, 2], &w, 1), 2e-6);
            let name = format!("{name} in groups");
            suite.case(&name, convolution(DType::F32, &[1, 6, 8, 7], &[2 * outputs, 3, 2, 3], &w, 2), 2e-6);
        }
    }
    suite.run();
}

#[test]
fn every_rank_and_ragged_extents() {
    let mut suite = Suite::new("convolution_shapes");
    let same = |rank| windows(rank, 1, [1, 1], [1, 1]);
    for outputs in [1, 7, 8, 17, 33] {
        suite.case(
            format!("1 to {outputs}"),
            convolution(DType::F32, &[3, 5, 11], &[outputs, 5, 3], &same(1), 1),
            2e-6,
        );
        suite.case(
            format!("2 to {outputs}"),
            convolution(DType::F32, &[2, 3, 5, 13], &[outputs, 3, 3, 3], &same(2), 1),
            2e-6,
        );
        suite.case(
            format!("3 to {outputs}"),
            convolution(DType::F32, &[1, 2, 4, 3, 5], &[outputs, 2, 3, 3, 3], &same(3), 1),
            2e-6,
        );
    }
    suite.case("4", convolution(DType::F32, &[1, 2, 3, 4, 3, 3], &[16, 2, 2, 2, 2, 2], &same(4), 1), 2e-6);
    suite.case(
        "one by one",
        convolution(DType::F32, &[2, 40, 4, 4], &[40, 40, 1, 1], &windows(2, 1, [0, 0], [1, 1]), 1),
        2e-6,
    );
    suite.case("depthwise", convolution(DType::F32, &[2, 6, 9, 8], &[6, 1, 3, 3], &same(2), 6), 2e-6);
    suite.case("depthwise, twice", convolution(DType::F32, &[2, 6, 9, 8], &[12, 1, 3, 3], &same(2), 6), 2e-6);
    suite.case("great groups", convolution(DType::F32, &[1, 6, 6, 8], &[48, 3, 3, 3], &same(2), 2), 2e-6);
    suite.case(
        "few windows",
        convolution(DType::F32, &[1, 9, 3, 3], &[64, 9, 3, 3], &windows(2, 1, [0, 0], [1, 1]), 1),
        2e-6,
    );
    suite.case(
        "a great kernel",
        convolution(DType::F32, &[16, 2, 20], &[16, 2, 18], &windows(1, 1, [0, 0], [1, 1]), 1),
        2e-6,
    );
    // A target with one multiprocessor gets the greatest tiles at once.
    for processors in [1, 4, 8] {
        suite.target = Target { multiprocessors: processors, ..Target::default() };
        let body = convolution(DType::F32, &[2, 9, 10, 12], &[70, 9, 3, 3], &same(2), 1);
        suite.case(format!("tiles for {processors}"), body, 2e-6);
        let body = convolution(DType::F32, &[3, 5, 7, 9], &[66, 5, 3, 3], &same(2), 1);
        suite.case(format!("ragged tiles for {processors}"), body, 2e-6);
    }
    suite.run();
}

#[test]
fn every_dtype() {
    let mut suite = Suite::new("convolution_dtypes");
    for dtype in DType::ALL.into_iter().filter(|&d| d != DType::Bool) {
        for outputs in OUTPUTS {
            for processors in [1, 132] {
                suite.target = Target { multiprocessors: processors, ..Target::default() };
                let tolerance = match dtype {
                    DType::F64 => 1e-14,
                    DType::F16 => 1e-3,
                    DType::BF16 => 1e-2,
                    _ if dtype.is_float() => 2e-6,
                    _ => 0.0,
                };
                let w = windows(2, 2, [1, 1], [1, 1]);
                let body = convolution(dtype, &[2, 3, 9, 16], &[outputs, 3, 3, 3], &w, 1);
                suite.case(format!("{dtype} to {outputs} for {processors}"), body, tolerance);
            }
        }
    }
    suite.run();
}

#[test]
fn positions_beyond_32_bits() {
    let mut suite = Suite::new("convolution_far");
    let far = 2_000_000_000;
    for outputs in OUTPUTS {
        let w = windows(1, far, [0, 0], [far, 1]);
        suite.case(format!("to {outputs}"), convolution(DType::F32, &[6, 2, 3], &[outputs, 2, 1], &w, 1), 2e-6);
    }
    suite.run();
}

#[test]
fn padding_takes_part_as_zeros() {
    let mut suite = Suite::new("convolution_padding");
    for outputs in OUTPUTS {
        let body = convolution(DType::F32, &[4, 1, 5], &[outputs, 1, 3], &windows(1, 1, [1, 1], [2, 1]), 1);
        let wild = body.params().iter().map(|p| suite.random.wild(&p.spec)).collect::<Vec<Tensor>>();
        // Magnitudes of all sizes: what matters is where NaN and infinities are.
        suite.with(format!("wild, to {outputs}"), body, wild, 1e-5);
    }
    suite.run();
}

#[test]
fn what_is_fused() {
    let mut suite = Suite::new("convolution_fusion");
    for (outputs, processors) in [(6, 132), (24, 132), (24, 1)] {
        suite.target = Target { multiprocessors: processors, ..Target::default() };
        let mut body = Body::new();
        let (x, kernel) = (body.input(DType::F16, &[2, 8, 8, 3]), body.input(DType::F16, &[outputs, 3, 3, 3]));
        let bias = body.input(DType::F16, &[outputs, 1, 1]);
        let residual = body.input(DType::F16, &[2, outputs, 8, 8]);
        // Channels last, and a prologue.
        let x = body.op(Op::Permute(Axes::from_slice(&[0, 3, 1, 2])), &[x]);
        let zeros = body.full(DType::F16, 0.0, &[2, 3, 8, 8]);
        let x = body.binary(Elementwise::Maximum, x, zeros);
        let y = convolve(&mut body, x, kernel, &windows(2, 1, [1, 1], [1, 1]), 1);
        let bias = body.broadcast(bias, &[2, outputs, 8, 8]);
        let biased = body.binary(Elementwise::Add, y, bias);
        let sum = body.binary(Elementwise::Add, biased, residual);
        let zeros = body.full(DType::F16, 0.0, &[2, outputs, 8, 8]);
        let relu = body.binary(Elementwise::Maximum, sum, zeros);
        let flat = body.reshape(relu, &[2, outputs * 64]);
        let body = body.done(&[biased, flat]);
        assert_eq!(supported(&body), Ok(Family::Convolution));
        suite.case(format!("{outputs} for {processors}"), body, 2e-3);
    }
    suite.run();
}

#[test]
fn what_is_not_one_convolution() {
    let mut body = Body::new();
    let (x, kernel) = (body.input(DType::F32, &[1, 1, 4]), body.input(DType::F32, &[1, 1, 1]));
    let dense = Windows::dense(1);
    let y = convolve(&mut body, x, kernel, &dense, 1);
    let z = convolve(&mut body, y, kernel, &dense, 1);
    assert_eq!(supported(&body.done(&[z])).unwrap_err(), "not exactly one convolution");

    let mut body = Body::new();
    let (x, kernel) = (body.input(DType::F32, &[1, 1, 4]), body.input(DType::F32, &[1, 1, 1]));
    let y = convolve(&mut body, x, kernel, &dense, 1);
    let z = body.op(Op::Matmul { transpose_a: false, transpose_b: true }, &[y, y]);
    assert!(supported(&body.done(&[z])).is_err());

    let body = convolution(DType::F32, &[0, 1, 4], &[1, 1, 1], &dense, 1);
    assert!(generate(&body, &Target::default(), &Options::default()).is_err());
}
