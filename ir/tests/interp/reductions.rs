//! Reductions, arg-reductions, scans and matrix products.

use crate::common::{FLOATS, INF, INTEGERS, NAN, check, numbers, of, one};
use monograph_ir::interp::Tensor;
use monograph_ir::{DType, Extreme, Op, Reduction, Shape};

fn reduce(kind: Reduction, axes: &[usize]) -> Op {
    Op::Reduce { kind, axes: axes.into() }
}

fn scan(kind: Reduction, axis: usize) -> Op {
    Op::Scan { kind, axis }
}

fn matmul(transpose_a: bool, transpose_b: bool) -> Op {
    Op::Matmul { transpose_a, transpose_b }
}

fn bools(shape: impl Into<Shape>, values: &[f64]) -> Tensor {
    of(DType::Bool, shape, values)
}

#[test]
fn any_axes_vanish() {
    for dtype in numbers() {
        let x = of(dtype, [2, 3, 2], &[1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12.]);
        let sums: [(&[usize], Shape, &[f64]); 7] = [
            (&[0], [3, 2].into(), &[8., 10., 12., 14., 16., 18.]),
            (&[1], [2, 2].into(), &[9., 12., 27., 30.]),
            (&[2], [2, 3].into(), &[3., 7., 11., 15., 19., 23.]),
            (&[0, 1], [2].into(), &[36., 42.]),
            (&[0, 2], [3].into(), &[18., 26., 34.]),
            (&[1, 2], [2].into(), &[21., 57.]),
            (&[0, 1, 2], [].into(), &[78.]),
        ];
        for (axes, shape, expected) in sums {
            check(reduce(Reduction::Sum, axes), &[&x], &of(dtype, shape, expected));
        }
        check(reduce(Reduction::Sum, &[]), &[&x], &x);
        check(reduce(Reduction::Max, &[1]), &[&x], &of(dtype, [2, 2], &[5., 6., 11., 12.]));
        check(reduce(Reduction::Min, &[0, 2]), &[&x], &of(dtype, [3], &[1., 3., 5.]));
        check(reduce(Reduction::Prod, &[1]), &[&of(dtype, [2, 2], &[2., 3., 4., 5.])], &of(dtype, [2], &[6., 20.]));
    }
    check(reduce(Reduction::Sum, &[]), &[&Tensor::scalar(-0.0f32)], &Tensor::scalar(-0.0f32));
}

#[test]
fn empty_reductions_give_the_identity() {
    for dtype in numbers() {
        let empty = of(dtype, [2, 0], &[]);
        check(reduce(Reduction::Sum, &[1]), &[&empty], &of(dtype, [2], &[0., 0.]));
        check(reduce(Reduction::Prod, &[1]), &[&empty], &of(dtype, [2], &[1., 1.]));
        check(reduce(Reduction::Sum, &[0]), &[&empty], &of(dtype, [0], &[]));
        check(reduce(Reduction::Max, &[0]), &[&empty], &of(dtype, [0], &[]));
        check(reduce(Reduction::Sum, &[0, 1]), &[&empty], &of(dtype, [], &[0.]));
        check(scan(Reduction::Sum, 1), &[&empty], &empty);
        check(scan(Reduction::Sum, 0), &[&empty], &empty);
        check(Op::ArgReduce { kind: Extreme::Max, axis: 0 }, &[&empty], &of(DType::I64, [0], &[]));
    }
    check(reduce(Reduction::Any, &[0]), &[&bools([0], &[])], &bools([], &[0.]));
    check(reduce(Reduction::All, &[0]), &[&bools([0], &[])], &bools([], &[1.]));
}

#[test]
fn truth_is_combined() {
    let x = bools([2, 2], &[1., 0., 1., 1.]);
    check(reduce(Reduction::Any, &[1]), &[&x], &bools([2], &[1., 1.]));
    check(reduce(Reduction::All, &[1]), &[&x], &bools([2], &[0., 1.]));
    check(reduce(Reduction::All, &[0]), &[&x], &bools([2], &[1., 0.]));
    check(reduce(Reduction::Max, &[0, 1]), &[&x], &bools([], &[1.]));
    check(reduce(Reduction::Min, &[0, 1]), &[&x], &bools([], &[0.]));
    check(scan(Reduction::Any, 0), &[&bools([3], &[0., 1., 0.])], &bools([3], &[0., 1., 1.]));
    check(scan(Reduction::All, 0), &[&bools([3], &[1., 0., 1.])], &bools([3], &[1., 0., 0.]));
}

#[test]
fn nan_wins_at_every_place() {
    for n in [1, 2, 3, 7, 31, 32, 33, 127, 128, 129, 1023, 1024, 1025] {
        for at in 0..n {
            let mut values = vec![1f32; n];
            values[at] = f32::NAN;
            let x = Tensor::from_vec([n], values).unwrap();
            for kind in [Reduction::Max, Reduction::Min, Reduction::Sum] {
                assert!(one(reduce(kind, &[0]), &[&x]).get_f64(0).unwrap().is_nan(), "{kind} {at} of {n}");
            }
        }
    }
    for dtype in FLOATS {
        let x = of(dtype, [4], &[0., NAN, INF, NAN]);
        check(reduce(Reduction::Max, &[0]), &[&x], &of(dtype, [], &[NAN]));
        check(scan(Reduction::Max, 0), &[&x], &of(dtype, [4], &[0., NAN, NAN, NAN]));
        check(scan(Reduction::Min, 0), &[&x], &of(dtype, [4], &[0., NAN, NAN, NAN]));
        check(reduce(Reduction::Max, &[0]), &[&of(dtype, [2], &[-0.0, 0.0])], &of(dtype, [], &[0.0]));
        check(reduce(Reduction::Min, &[0]), &[&of(dtype, [2], &[0.0, -0.0])], &of(dtype, [], &[-0.0]));
        check(reduce(Reduction::Max, &[0]), &[&of(dtype, [2], &[-INF, -INF])], &of(dtype, [], &[-INF]));
        check(reduce(Reduction::Max, &[0]), &[&of(dtype, [1], &[-0.0])], &of(dtype, [], &[-0.0]));
        check(reduce(Reduction::Sum, &[0]), &[&of(dtype, [2], &[INF, -INF])], &of(dtype, [], &[NAN]));
        check(reduce(Reduction::Prod, &[0]), &[&of(dtype, [2], &[INF, 0.0])], &of(dtype, [], &[NAN]));
        check(reduce(Reduction::Sum, &[0]), &[&of(dtype, [2], &[-0.0, -0.0])], &of(dtype, [], &[0.0]));
    }
}

#[test]
fn narrow_floats_accumulate_wide_and_round_once() {
    let sum = |x: &Tensor| one(reduce(Reduction::Sum, &[0]), &[x]).get_f64(0).unwrap();
    assert_eq!(sum(&of(DType::F16, [4096], &[1.0; 4096])), 4096.0);
    assert_eq!(sum(&of(DType::BF16, [70000], &[1.0; 70000])), 70144.0);
    assert_eq!(sum(&of(DType::F16, [3], &[60000., 60000., -60000.])), 60000.0);
    assert_eq!(sum(&of(DType::F16, [2], &[60000., 60000.])), INF);
    // 2^24 + 1 + 1 + 1 + 1 is 2^24 in f32 one after the other.
    assert_eq!(sum(&of(DType::F32, [5], &[16777216., 1., 1., 1., 1.])), 16777220.0);
    let prod = reduce(Reduction::Prod, &[0]);
    check(prod, &[&of(DType::F16, [3], &[256., 512., 0.125])], &of(DType::F16, [], &[16384.]));
    check(
        scan(Reduction::Sum, 0),
        &[&of(DType::F16, [4], &[2048., 1., 1., 1.])],
        &of(DType::F16, [4], &[2048., 2048., 2050., 2052.]),
    );
    check(
        scan(Reduction::Sum, 0),
        &[&of(DType::BF16, [3], &[256., 1., 1.])],
        &of(DType::BF16, [3], &[256., 256., 258.]),
    );
    let x = of(DType::F32, [3], &[16777216., 1., 1.]);
    check(scan(Reduction::Sum, 0), &[&x], &of(DType::F32, [3], &[16777216., 16777216., 16777218.]));
}

#[test]
fn integers_wrap_in_their_own_width() {
    check(reduce(Reduction::Sum, &[0]), &[&of(DType::U8, [3], &[200., 100., 1.])], &of(DType::U8, [], &[45.]));
    check(reduce(Reduction::Sum, &[0]), &[&of(DType::I8, [2], &[127., 1.])], &of(DType::I8, [], &[-128.]));
    check(reduce(Reduction::Prod, &[0]), &[&of(DType::I32, [2], &[65536., 65536.])], &of(DType::I32, [], &[0.]));
    check(scan(Reduction::Sum, 0), &[&of(DType::U8, [3], &[200., 100., 1.])], &of(DType::U8, [3], &[200., 44., 45.]));
    let x = Tensor::from_vec([2], vec![i64::MAX, 1]).unwrap();
    check(reduce(Reduction::Sum, &[0]), &[&x], &Tensor::scalar(i64::MIN));
    check(reduce(Reduction::Max, &[0]), &[&x], &Tensor::scalar(i64::MAX));
    check(reduce(Reduction::Max, &[0]), &[&Tensor::from_vec([1], vec![i64::MIN]).unwrap()], &Tensor::scalar(i64::MIN));
}

#[test]
fn scans_run_along_any_axis() {
    for dtype in numbers() {
        let x = of(dtype, [2, 3], &[1., 2., 3., 4., 5., 1.]);
        check(scan(Reduction::Sum, 1), &[&x], &of(dtype, [2, 3], &[1., 3., 6., 4., 9., 10.]));
        check(scan(Reduction::Sum, 0), &[&x], &of(dtype, [2, 3], &[1., 2., 3., 5., 7., 4.]));
        check(scan(Reduction::Prod, 1), &[&x], &of(dtype, [2, 3], &[1., 2., 6., 4., 20., 20.]));
        check(scan(Reduction::Max, 1), &[&x], &of(dtype, [2, 3], &[1., 2., 3., 4., 5., 5.]));
        check(scan(Reduction::Min, 1), &[&x], &of(dtype, [2, 3], &[1., 1., 1., 4., 4., 1.]));
    }
}

#[test]
fn arg_reductions_find_the_first() {
    let arg = |kind, axis| Op::ArgReduce { kind, axis };
    let index = |shape: Shape, values: &[f64]| of(DType::I64, shape, values);
    for dtype in FLOATS {
        let x = of(dtype, [4], &[0., NAN, 5., NAN]);
        check(arg(Extreme::Max, 0), &[&x], &index([].into(), &[1.]));
        check(arg(Extreme::Min, 0), &[&x], &index([].into(), &[1.]));
        check(arg(Extreme::Max, 0), &[&of(dtype, [3], &[-0.0, 0.0, -1.0])], &index([].into(), &[0.]));
        check(arg(Extreme::Min, 0), &[&of(dtype, [2], &[0.0, -0.0])], &index([].into(), &[0.]));
        check(arg(Extreme::Max, 0), &[&of(dtype, [2], &[-INF, -INF])], &index([].into(), &[0.]));
    }
    for dtype in INTEGERS {
        check(arg(Extreme::Max, 0), &[&of(dtype, [16], &[3.; 16])], &index([].into(), &[0.]));
        let x = of(dtype, [2, 3], &[1., 7., 7., 4., 2., 9.]);
        check(arg(Extreme::Max, 1), &[&x], &index([2].into(), &[1., 2.]));
        check(arg(Extreme::Min, 1), &[&x], &index([2].into(), &[0., 1.]));
        check(arg(Extreme::Max, 0), &[&x], &index([3].into(), &[1., 0., 1.]));
    }
    check(arg(Extreme::Max, 0), &[&bools([3], &[0., 1., 1.])], &index([].into(), &[1.]));
    check(arg(Extreme::Min, 0), &[&bools([3], &[1., 0., 0.])], &index([].into(), &[1.]));
}

#[test]
fn matrix_products_of_every_dtype_and_transposition() {
    for dtype in numbers() {
        // [[1, 2, 3], [4, 5, 6]] × [[1, 0], [2, 1], [0, 3]]
        let (a, at) = (of(dtype, [2, 3], &[1., 2., 3., 4., 5., 6.]), of(dtype, [3, 2], &[1., 4., 2., 5., 3., 6.]));
        let (b, bt) = (of(dtype, [3, 2], &[1., 0., 2., 1., 0., 3.]), of(dtype, [2, 3], &[1., 2., 0., 0., 1., 3.]));
        let y = of(dtype, [2, 2], &[5., 11., 14., 23.]);
        check(matmul(false, false), &[&a, &b], &y);
        check(matmul(true, false), &[&at, &b], &y);
        check(matmul(false, true), &[&a, &bt], &y);
        check(matmul(true, true), &[&at, &bt], &y);
        // A batch of two, one column.
        let (a, b) = (of(dtype, [2, 1, 2], &[1., 2., 3., 4.]), of(dtype, [2, 2, 1], &[5., 6., 1., 2.]));
        check(matmul(false, false), &[&a, &b], &of(dtype, [2, 1, 1], &[17., 11.]));
        // Empty extents.
        check(matmul(false, false), &[&of(dtype, [4, 0], &[]), &of(dtype, [0, 4], &[])], &of(dtype, [4, 4], &[0.; 16]));
        check(matmul(false, false), &[&of(dtype, [0, 3], &[]), &of(dtype, [3, 2], &[1.; 6])], &of(dtype, [0, 2], &[]));
        check(matmul(false, false), &[&of(dtype, [2, 3], &[1.; 6]), &of(dtype, [3, 0], &[])], &of(dtype, [2, 0], &[]));
        let none = of(dtype, [0, 2, 2], &[]);
        check(matmul(false, true), &[&none, &none], &none);
    }
}

#[test]
fn matrix_products_of_more_than_one_block_of_columns() {
    // Small integers, so that every sum is exact in every type that can hold it.
    let value = |i: usize, j: usize| ((i * 7 + j * 3) % 5) as f64 - 2.0;
    for (m, n, k) in [(1, 1, 9), (3, 2, 5), (2, 4, 3), (5, 5, 1), (4, 16, 8), (3, 17, 6), (2, 35, 33)] {
        for transposed in 0..4 {
            let (ta, tb) = (transposed & 1 != 0, transposed & 2 != 0);
            let table = |r: usize, c: usize, t: bool| -> Vec<f64> {
                if t {
                    (0..r * c).map(|x| value(x % r, x / r)).collect()
                } else {
                    (0..r * c).map(|x| value(x / c, x % c)).collect()
                }
            };
            let a = of(DType::F32, if ta { [k, m] } else { [m, k] }, &table(m, k, ta));
            let b = of(DType::F32, if tb { [n, k] } else { [k, n] }, &table(k, n, tb));
            let mut y = Vec::new();
            for i in 0..m {
                for j in 0..n {
                    y.push((0..k).map(|l| value(i, l) * value(l, j)).sum());
                }
            }
            let found = one(matmul(ta, tb), &[&a, &b]);
            assert!(found.to_f64_vec() == y, "{m} {n} {k} {ta} {tb}");
        }
    }
}

#[test]
fn matrix_products_round_once() {
    let row = |dtype, v: &[f64]| of(dtype, [1, v.len()], v);
    let ones = |dtype, n: usize| of(dtype, [n, 1], &vec![1.0; n]);
    check(
        matmul(false, false),
        &[&row(DType::F16, &[2048., 1., 1.]), &ones(DType::F16, 3)],
        &row(DType::F16, &[2050.]),
    );
    check(
        matmul(false, false),
        &[&row(DType::BF16, &[256., 1., 1.]), &ones(DType::BF16, 3)],
        &row(DType::BF16, &[258.]),
    );
    let x = row(DType::F32, &[16777216., 1., 1.]);
    check(matmul(false, false), &[&x, &ones(DType::F32, 3)], &row(DType::F32, &[16777218.]));
    check(
        matmul(false, false),
        &[&row(DType::U8, &[16., 1.]), &of(DType::U8, [2, 1], &[16., 3.])],
        &row(DType::U8, &[3.]),
    );
    for dtype in FLOATS {
        check(matmul(false, false), &[&row(dtype, &[INF, 1.]), &of(dtype, [2, 1], &[0., 1.])], &row(dtype, &[NAN]));
        // A NaN stays in its own row and column.
        let (a, b) = (of(dtype, [2, 1], &[NAN, 1.]), of(dtype, [1, 2], &[1., INF]));
        check(matmul(false, false), &[&a, &b], &of(dtype, [2, 2], &[NAN, NAN, 1., INF]));
    }
}
