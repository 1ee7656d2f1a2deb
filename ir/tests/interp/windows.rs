//! Convolutions and windows, with values computed by hand.

use crate::common::{FLOATS, INF, NAN, check, numbers, of, one};
use monograph_ir::interp::{Tensor, evaluate_op};
use monograph_ir::{Amounts, Axes, DType, Extreme, Op, Reduction, Windows};

fn f(shape: impl Into<monograph_ir::Shape>, values: &[f64]) -> Tensor {
    of(DType::F32, shape, values)
}

fn i(shape: impl Into<monograph_ir::Shape>, values: &[f64]) -> Tensor {
    of(DType::I64, shape, values)
}

/// Windows over one dimension: stride, padding, input dilation, dilation.
fn along(stride: usize, low: i64, high: i64, input_dilation: usize, dilation: usize) -> Windows {
    Windows {
        strides: Axes::from_slice(&[stride]),
        low: Amounts::from_slice(&[low]),
        high: Amounts::from_slice(&[high]),
        input_dilation: Axes::from_slice(&[input_dilation]),
        dilation: Axes::from_slice(&[dilation]),
    }
}

fn convolution(windows: &Windows, groups: usize) -> Op {
    Op::Convolution { windows: Box::new(windows.clone()), groups }
}

fn reduce(kind: Reduction, sizes: &[usize], windows: &Windows) -> Op {
    Op::WindowReduce { kind, sizes: Axes::from_slice(sizes), windows: Box::new(windows.clone()) }
}

fn arg(kind: Extreme, sizes: &[usize], windows: &Windows) -> Op {
    Op::WindowArg { kind, sizes: Axes::from_slice(sizes), windows: Box::new(windows.clone()) }
}

#[test]
fn convolutions_along_one_dimension() {
    for dtype in numbers() {
        let x = of(dtype, [1, 1, 4], &[1., 2., 3., 4.]);
        let k = of(dtype, [1, 1, 2], &[1., 2.]);
        for (windows, expected) in [
            // The kernel is not turned around: 1·1 + 2·2.
            (along(1, 0, 0, 1, 1), &[5., 8., 11.][..]),
            (along(2, 0, 0, 1, 1), &[5., 11.]),
            (along(1, 1, 1, 1, 1), &[2., 5., 8., 11., 4.]),
            (along(1, 0, 1, 1, 1), &[5., 8., 11., 4.]),
            (along(1, -1, 0, 1, 1), &[8., 11.]),
            (along(1, 0, -2, 1, 1), &[5.]),
            (along(1, 0, 0, 1, 2), &[7., 10.]),
            (along(1, 0, 0, 2, 1), &[1., 4., 2., 6., 3., 8.]),
            (along(2, 2, 0, 2, 2), &[2., 5., 8., 11.]),
            (along(9, 0, 0, 1, 1), &[5.]),
        ] {
            check(convolution(&windows, 1), &[&x, &k], &of(dtype, [1, 1, expected.len()], expected));
        }
    }
}

#[test]
fn channels_groups_and_batches() {
    let dense = along(1, 0, 0, 1, 1);
    // Two elements of a batch with two channels of one element; three output channels.
    let x = f([2, 2, 1], &[1., 10., 2., 20.]);
    let k = f([3, 2, 1], &[1., 0., 0., 1., 1., 1.]);
    check(convolution(&dense, 1), &[&x, &k], &f([2, 3, 1], &[1., 10., 11., 2., 20., 22.]));
    let k = f([4, 1, 1], &[1., 2., 3., 4.]);
    check(convolution(&dense, 2), &[&x, &k], &f([2, 4, 1], &[1., 2., 30., 40., 2., 4., 60., 80.]));
    // Nothing to sum up, nothing to compute.
    check(convolution(&dense, 1), &[&f([1, 0, 2], &[]), &f([1, 0, 1], &[])], &f([1, 1, 2], &[0., 0.]));
    check(convolution(&dense, 1), &[&f([0, 1, 2], &[]), &f([1, 1, 1], &[1.])], &f([0, 1, 2], &[]));
    check(convolution(&along(1, 1, 1, 1, 1), 1), &[&f([1, 1, 0], &[]), &f([1, 1, 2], &[1., 1.])], &f([1, 1, 1], &[0.]));
}

#[test]
fn two_dimensions() {
    let x = f([1, 1, 3, 3], &[1., 2., 3., 4., 5., 6., 7., 8., 9.]);
    let k = f([1, 1, 2, 2], &[1., 10., 100., 1000.]);
    check(convolution(&Windows::dense(2), 1), &[&x, &k], &f([1, 1, 2, 2], &[5421., 6532., 8754., 9865.]));
    let mut windows = Windows::dense(2);
    windows.strides = Axes::from_slice(&[1, 2]);
    windows.low = Amounts::from_slice(&[0, 1]);
    check(convolution(&windows, 1), &[&x, &k], &f([1, 1, 2, 2], &[4010., 6532., 7040., 9865.]));
}

#[test]
fn sums_accumulate_and_padding_takes_part() {
    let dense = along(1, 0, 0, 1, 1);
    let (x, k) = (of(DType::F16, [1, 3, 1], &[6e4, 6e4, -6e4]), of(DType::F16, [1, 3, 1], &[1., 1., 1.]));
    check(convolution(&dense, 1), &[&x, &k], &of(DType::F16, [1, 1, 1], &[6e4]));
    let (x, k) = (of(DType::U8, [1, 2, 1], &[200., 100.]), of(DType::U8, [1, 2, 1], &[1., 1.]));
    check(convolution(&dense, 1), &[&x, &k], &of(DType::U8, [1, 1, 1], &[44.]));
    for dtype in FLOATS {
        let (x, k) = (of(dtype, [1, 1, 2], &[1., 1.]), of(dtype, [1, 1, 2], &[INF, 1.]));
        check(convolution(&along(1, 1, 0, 1, 1), 1), &[&x, &k], &of(dtype, [1, 1, 2], &[NAN, INF]));
    }
}

#[test]
fn windows_combine_their_elements() {
    let x = f([5], &[3., -1., 4., -1., 5.]);
    check(reduce(Reduction::Max, &[3], &along(1, 0, 0, 1, 1)), &[&x], &f([3], &[4., 4., 5.]));
    check(reduce(Reduction::Min, &[3], &along(2, 1, 1, 1, 1)), &[&x], &f([3], &[-1., -1., -1.]));
    check(reduce(Reduction::Sum, &[2], &along(1, 1, 0, 1, 2)), &[&x], &f([4], &[-1., 7., -2., 9.]));
    check(reduce(Reduction::Prod, &[2], &along(2, 0, 0, 1, 1)), &[&x], &f([2], &[-3., -4.]));
    // Padding takes no part: all -1 stays -1.
    let ones = f([3], &[-1., -1., -1.]);
    check(reduce(Reduction::Max, &[3], &along(1, 1, 1, 1, 1)), &[&ones], &ones);
    // Windows of nothing but padding, or nothing but holes.
    check(reduce(Reduction::Max, &[1], &along(1, 1, 0, 1, 1)), &[&f([1], &[7.])], &f([2], &[-INF, 7.]));
    check(reduce(Reduction::Min, &[1], &along(1, 0, 0, 2, 1)), &[&f([2], &[7., 8.])], &f([3], &[7., INF, 8.]));
    let small = of(DType::I8, [1], &[7.]);
    check(reduce(Reduction::Max, &[1], &along(1, 0, 1, 1, 1)), &[&small], &of(DType::I8, [2], &[7., -128.]));
    check(reduce(Reduction::Sum, &[2], &along(1, 2, 2, 1, 1)), &[&f([0], &[])], &f([3], &[0., 0., 0.]));
    let mask = of(DType::Bool, [3], &[0., 1., 0.]);
    check(reduce(Reduction::Any, &[2], &along(1, 1, 0, 1, 1)), &[&mask], &of(DType::Bool, [3], &[0., 1., 1.]));
    check(reduce(Reduction::All, &[2], &along(1, 1, 0, 1, 1)), &[&mask], &of(DType::Bool, [3], &[0., 0., 0.]));
}

#[test]
fn the_leading_dimensions_are_many_tensors() {
    let x = f([2, 2, 2], &[1., 2., 3., 4., 5., 6., 7., 8.]);
    check(reduce(Reduction::Sum, &[2], &along(1, 0, 0, 1, 1)), &[&x], &f([2, 2, 1], &[3., 7., 11., 15.]));
    check(reduce(Reduction::Sum, &[2, 2], &Windows::dense(2)), &[&x], &f([2, 1, 1], &[10., 26.]));
    check(reduce(Reduction::Sum, &[2, 1, 2], &Windows::dense(3)), &[&x], &f([1, 2, 1], &[14., 22.]));
    check(reduce(Reduction::Sum, &[], &Windows::dense(0)), &[&x], &x);
}

#[test]
fn special_values_in_windows() {
    for dtype in FLOATS {
        let x = of(dtype, [5], &[1., NAN, -INF, -0.0, 0.0]);
        let pairs = along(1, 0, 0, 1, 1);
        check(reduce(Reduction::Max, &[2], &pairs), &[&x], &of(dtype, [4], &[NAN, NAN, -0.0, 0.0]));
        check(reduce(Reduction::Min, &[2], &pairs), &[&x], &of(dtype, [4], &[NAN, NAN, -INF, -0.0]));
        check(arg(Extreme::Max, &[2], &pairs), &[&x], &i([4], &[1., 1., 3., 3.]));
        check(arg(Extreme::Min, &[2], &pairs), &[&x], &i([4], &[1., 1., 2., 3.]));
        let lowest = of(dtype, [2], &[-INF, NAN]);
        check(arg(Extreme::Max, &[3], &along(1, 1, 1, 1, 1)), &[&lowest], &i([2], &[1., 1.]));
        check(arg(Extreme::Max, &[2], &along(2, 1, 1, 1, 1)), &[&lowest], &i([2], &[0., 1.]));
    }
}

#[test]
fn positions_count_in_the_plane() {
    let x = f([2, 2, 3], &[1., 5., 2., 3., 4., 9., 7., 7., 0., 7., 1., 1.]);
    check(arg(Extreme::Max, &[2, 2], &Windows::dense(2)), &[&x], &i([2, 1, 2], &[1., 5., 0., 1.]));
    check(arg(Extreme::Min, &[2, 2], &Windows::dense(2)), &[&x], &i([2, 1, 2], &[0., 2., 4., 2.]));
    // A window of nothing but padding has no element.
    check(arg(Extreme::Max, &[1], &along(1, 1, 0, 1, 1)), &[&f([1], &[7.])], &i([2], &[-1., 0.]));
}

#[test]
fn updates_go_back() {
    let op = |extents: &[usize], sizes: &[usize], windows: &Windows| Op::WindowScatter {
        extents: Axes::from_slice(extents),
        sizes: Axes::from_slice(sizes),
        windows: Box::new(windows.clone()),
    };
    // Windows {0, 1} {1, 2} {2, 3}: element 1 is the extreme of two.
    let pairs = along(1, 0, 0, 1, 1);
    let updates = f([3], &[1., 10., 100.]);
    check(op(&[4], &[2], &pairs), &[&updates, &i([3], &[1., 1., 3.])], &f([4], &[0., 11., 0., 100.]));
    // What a window does not hold is dropped.
    check(op(&[4], &[2], &pairs), &[&updates, &i([3], &[2., -1., 9.])], &f([4], &[0., 0., 0., 0.]));
    let half = of(DType::F16, [3], &[6e4, 6e4, -6e4]);
    let wide = along(1, 1, 1, 1, 1);
    check(op(&[3], &[3], &wide), &[&half, &i([3], &[1., 1., 1.])], &of(DType::F16, [3], &[0., 6e4, 0.]));
    check(
        op(&[1], &[1], &along(1, 1, 0, 1, 1)),
        &[&f([2, 2], &[1., 2., 3., 4.]), &i([2, 2], &[-1., 0., 0., 0.])],
        &f([2, 1], &[2., 4.]),
    );
}

#[test]
fn derivatives_are_convolutions() {
    // For every map of a handful, the matrices that the three convolutions stand for agree.
    for windows in [along(1, 0, 0, 1, 1), along(2, 1, 0, 1, 1), along(3, 2, 2, 2, 2), along(2, -1, 3, 1, 2)] {
        let (extent, size) = (6, 2);
        let count = windows.count(0, extent, size).expect("a window fits");
        let (transposed, of_kernel) = (windows.transposed(&[extent], &[size]), windows.of_kernel(&[extent], &[size]));
        let unit =
            |n: usize, at: usize| f([1, 1, n], &(0..n).map(|i| f64::from(u8::from(i == at))).collect::<Vec<_>>());
        for (element, at, tap) in (0..extent * count * size).map(|n| (n / count / size, n / size % count, n % size)) {
            let forward = one(convolution(&windows, 1), &[&unit(extent, element), &unit(size, tap)]);
            let turned = unit(size, size - 1 - tap);
            let backward = one(convolution(&transposed, 1), &[&unit(count, at), &turned]);
            let kernel = one(convolution(&of_kernel, 1), &[&unit(extent, element), &unit(count, at)]);
            let found = [forward.get_f64(at), backward.get_f64(element), kernel.get_f64(tap)];
            assert!(found[0].is_some() && found.iter().all(|v| *v == found[0]), "{windows:?}: {found:?}");
        }
    }
}

#[track_caller]
fn refused(op: Op, operands: &[&Tensor], expected: &str) {
    let operands: Vec<Tensor> = operands.iter().map(|&x| x.clone()).collect();
    let message = evaluate_op(&op, &operands).expect_err("it is refused").to_string();
    assert!(message.contains(expected), "{message}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let (x, k) = (f([1, 4, 3], &[0.; 12]), f([2, 4, 2], &[0.; 16]));
    let dense = along(1, 0, 0, 1, 1);
    let ints = of(DType::I32, [2, 4, 2], &[0.; 16]);
    refused(convolution(&dense, 1), &[&x, &ints], "the dtypes differ");
    let bools = of(DType::Bool, [1, 1, 1], &[0.]);
    refused(convolution(&dense, 1), &[&bools, &bools], "takes numbers, not bool");
    refused(convolution(&dense, 1), &[&x, &f([2, 4], &[0.; 8])], "the same number of dimensions, at least 3");
    refused(convolution(&dense, 3), &[&x, &k], "3 groups do not divide the 4 channels");
    refused(convolution(&dense, 0), &[&x, &k], "0 groups");
    refused(convolution(&dense, 2), &[&x, &k], "has 2 in dimension 1, not 4");
    refused(convolution(&along(1, 0, 0, 1, 4), 1), &[&x, &k], "a window of 5 along dimension 0 does not fit into 3");
    refused(convolution(&along(1, -9, 0, 1, 1), 1), &[&x, &k], "with padding (-9, 0)");
    refused(convolution(&along(0, 0, 0, 1, 1), 1), &[&x, &k], "is 0; 1 is the least");
    refused(convolution(&Windows::dense(2), 1), &[&x, &k], "for each of the 1 dimensions");
    refused(convolution(&along(1, i64::MIN, 0, 1, 1), 1), &[&x, &k], "further than 2^48");
    refused(convolution(&dense, 1), &[&x, &f([2, 4, 0], &[])], "have no elements along dimension 0");
    refused(reduce(Reduction::Any, &[1], &dense), &[&x], "takes bool, not f32");
    refused(reduce(Reduction::Sum, &[1, 1, 1, 1], &Windows::dense(4)), &[&x], "windows with 4 dimensions over");
    let scatter = |extents: &[usize]| Op::WindowScatter {
        extents: Axes::from_slice(extents),
        sizes: Axes::from_slice(&[2]),
        windows: Box::new(dense.clone()),
    };
    let at = i([3], &[0.; 3]);
    refused(scatter(&[4]), &[&f([3], &[0.; 3]), &f([3], &[0.; 3])], "not i32 or i64");
    refused(scatter(&[4]), &[&f([2], &[0.; 2]), &at], "the shapes differ");
    refused(scatter(&[5]), &[&f([3], &[0.; 3]), &at], "there are [4] windows over [5]");
}
