//! Ops that move elements, with static and with dynamic indices.

use crate::common::{FLOATS, INF, NAN, check, numbers, of, one};
use monograph_ir::interp::Tensor;
use monograph_ir::{Axes, DType, Op, ScatterKind, Shape};
use smallvec::smallvec;

fn f(shape: impl Into<Shape>, values: &[f64]) -> Tensor {
    of(DType::F32, shape, values)
}

fn i(shape: impl Into<Shape>, values: &[f64]) -> Tensor {
    of(DType::I64, shape, values)
}

/// `0, 1, 2, …`
fn count(shape: impl Into<Shape>) -> Tensor {
    let shape = shape.into();
    let values: Vec<f64> = (0..shape.size()).map(|i| i as f64).collect();
    f(shape, &values)
}

fn slice(starts: &[usize], limits: &[usize], strides: &[usize]) -> Op {
    Op::Slice { starts: starts.into(), limits: limits.into(), strides: strides.into() }
}

fn pad(low: &[i64], high: &[i64]) -> Op {
    Op::Pad { low: low.into(), high: high.into() }
}

#[test]
fn iota_counts_wraps_and_rounds() {
    let iota = |dtype, shape: Shape, axis| Op::Iota { dtype, shape, axis };
    for dtype in numbers() {
        check(iota(dtype, [2, 3].into(), 1), &[], &of(dtype, [2, 3], &[0., 1., 2., 0., 1., 2.]));
        check(iota(dtype, [2, 3].into(), 0), &[], &of(dtype, [2, 3], &[0., 0., 0., 1., 1., 1.]));
        check(iota(dtype, [0].into(), 0), &[], &of(dtype, [0], &[]));
        check(iota(dtype, [2, 0].into(), 0), &[], &of(dtype, [2, 0], &[]));
    }
    let last = |dtype, n: usize, i| one(iota(dtype, [n].into(), 0), &[]).get_f64(i).unwrap();
    assert_eq!(last(DType::U8, 300, 256), 0.0);
    assert_eq!(last(DType::I8, 300, 128), -128.0);
    assert_eq!(last(DType::BF16, 300, 257), 256.0);
    assert_eq!(last(DType::BF16, 300, 259), 260.0);
    assert_eq!(last(DType::F16, 3000, 2051), 2052.0);
    assert_eq!(last(DType::F16, 70000, 65519), 65504.0);
    assert_eq!(last(DType::F16, 70000, 65520), INF);
}

#[test]
fn reshape_keeps_the_elements() {
    check(Op::Reshape([3, 2].into()), &[&count([2, 3])], &count([3, 2]));
    check(Op::Reshape([].into()), &[&f([1, 1], &[7.])], &f([], &[7.]));
    check(Op::Reshape([5, 0].into()), &[&f([0, 2], &[])], &f([5, 0], &[]));
}

#[test]
fn permute_moves_dimensions() {
    check(Op::Permute(smallvec![1, 0]), &[&count([2, 3])], &f([3, 2], &[0., 3., 1., 4., 2., 5.]));
    check(Op::Permute(smallvec![0, 1]), &[&count([2, 3])], &count([2, 3]));
    check(Op::Permute(smallvec![]), &[&f([], &[4.])], &f([], &[4.]));
    check(Op::Permute(smallvec![1, 0]), &[&f([0, 3], &[])], &f([3, 0], &[]));
    // [2, 2, 3] to [3, 2, 2]: element (c, a, b) is 6 a + 3 b + c.
    let expected = [0., 3., 6., 9., 1., 4., 7., 10., 2., 5., 8., 11.];
    check(Op::Permute(smallvec![2, 0, 1]), &[&count([2, 2, 3])], &f([3, 2, 2], &expected));
}

#[test]
fn broadcast_repeats() {
    let to = |shape: Shape| Op::Broadcast(shape);
    check(to([2, 3].into()), &[&f([3], &[1., 2., 3.])], &f([2, 3], &[1., 2., 3., 1., 2., 3.]));
    check(to([2, 3].into()), &[&f([2, 1], &[1., 2.])], &f([2, 3], &[1., 1., 1., 2., 2., 2.]));
    check(to([2, 2].into()), &[&f([], &[9.])], &f([2, 2], &[9.; 4]));
    check(to([].into()), &[&f([], &[9.])], &f([], &[9.]));
    check(to([2, 0].into()), &[&f([2, 1], &[1., 2.])], &f([2, 0], &[]));
    check(to([1, 1].into()), &[&f([1], &[5.])], &f([1, 1], &[5.]));
    check(to([2, 2, 2].into()), &[&f([2, 1, 2], &[1., 2., 3., 4.])], &f([2, 2, 2], &[1., 2., 1., 2., 3., 4., 3., 4.]));
}

#[test]
fn slice_steps_and_reverse_turns() {
    check(slice(&[1], &[6], &[2]), &[&count([7])], &f([3], &[1., 3., 5.]));
    check(slice(&[0, 1], &[2, 3], &[1, 1]), &[&count([2, 3])], &f([2, 2], &[1., 2., 4., 5.]));
    check(slice(&[0, 0], &[2, 3], &[1, 2]), &[&count([2, 3])], &f([2, 2], &[0., 2., 3., 5.]));
    check(slice(&[3], &[3], &[1]), &[&count([3])], &f([0], &[]));
    check(slice(&[0], &[3], &[100]), &[&count([3])], &f([1], &[0.]));
    check(slice(&[], &[], &[]), &[&f([], &[3.])], &f([], &[3.]));
    check(Op::Reverse(smallvec![0]), &[&count([2, 3])], &f([2, 3], &[3., 4., 5., 0., 1., 2.]));
    check(Op::Reverse(smallvec![1]), &[&count([2, 3])], &f([2, 3], &[2., 1., 0., 5., 4., 3.]));
    check(Op::Reverse(smallvec![0, 1]), &[&count([2, 3])], &f([2, 3], &[5., 4., 3., 2., 1., 0.]));
    check(Op::Reverse(smallvec![]), &[&count([2])], &count([2]));
    check(Op::Reverse(smallvec![0]), &[&f([0], &[])], &f([0], &[]));
}

#[test]
fn pad_adds_and_cuts() {
    let (x, nine) = (f([3], &[1., 2., 3.]), f([], &[9.]));
    check(pad(&[1], &[2]), &[&x, &nine], &f([6], &[9., 1., 2., 3., 9., 9.]));
    check(pad(&[-1], &[0]), &[&x, &nine], &f([2], &[2., 3.]));
    check(pad(&[0], &[-1]), &[&x, &nine], &f([2], &[1., 2.]));
    check(pad(&[-1], &[-1]), &[&x, &nine], &f([1], &[2.]));
    check(pad(&[-2], &[2]), &[&x, &nine], &f([3], &[3., 9., 9.]));
    check(pad(&[-5], &[5]), &[&x, &nine], &f([3], &[9., 9., 9.]));
    check(pad(&[5], &[-5]), &[&x, &nine], &f([3], &[9., 9., 9.]));
    check(pad(&[-3], &[0]), &[&x, &nine], &f([0], &[]));
    check(pad(&[2], &[0]), &[&f([0], &[]), &nine], &f([2], &[9., 9.]));
    check(pad(&[], &[]), &[&f([], &[4.]), &nine], &f([], &[4.]));
    let expected = [9., 1., 9., 3., 9., 9.];
    check(pad(&[0, 1], &[1, -1]), &[&f([2, 2], &[1., 2., 3., 4.]), &nine], &f([3, 2], &expected));
    let (truth, no) = (of(DType::Bool, [1], &[1.]), of(DType::Bool, [], &[0.]));
    check(pad(&[1], &[0]), &[&truth, &no], &of(DType::Bool, [2], &[0., 1.]));
}

#[test]
fn concat_joins() {
    let (a, b) = (f([1, 2], &[1., 2.]), f([2, 2], &[3., 4., 5., 6.]));
    check(Op::Concat { axis: 0 }, &[&a, &b], &f([3, 2], &[1., 2., 3., 4., 5., 6.]));
    let (a, b, none) = (f([2, 1], &[1., 2.]), f([2, 2], &[3., 4., 5., 6.]), f([2, 0], &[]));
    check(Op::Concat { axis: 1 }, &[&a, &none, &b], &f([2, 3], &[1., 3., 4., 2., 5., 6.]));
    check(Op::Concat { axis: 1 }, &[&none], &none);
}

#[test]
fn moved_values_keep_their_bits() {
    let nan = Tensor::from_vec([2], vec![f32::from_bits(0x7f80_0001), f32::from_bits(0xffc0_1234)]).unwrap();
    let back = one(Op::Reverse(smallvec![0]), &[&one(Op::Reverse(smallvec![0]), &[&nan])]);
    assert_eq!(back, nan);
}

#[test]
fn take_reads_slices_and_zeros() {
    let x = f([3, 2], &[1., 2., 3., 4., 5., 6.]);
    check(Op::Take { axis: 0 }, &[&x, &i([2], &[2., 0.])], &f([2, 2], &[5., 6., 1., 2.]));
    check(Op::Take { axis: 1 }, &[&x, &i([3], &[1., 1., 0.])], &f([3, 3], &[2., 2., 1., 4., 4., 3., 6., 6., 5.]));
    check(Op::Take { axis: 0 }, &[&x, &i([], &[1.])], &f([2], &[3., 4.]));
    check(Op::Take { axis: 0 }, &[&x, &i([1, 2], &[1., 3.])], &f([1, 2, 2], &[3., 4., 0., 0.]));
    check(Op::Take { axis: 0 }, &[&x, &of(DType::I32, [2], &[-1., 2.])], &f([2, 2], &[0., 0., 5., 6.]));
    check(Op::Take { axis: 0 }, &[&f([0, 2], &[]), &i([2], &[0., 1.])], &f([2, 2], &[0.; 4]));
    check(Op::Take { axis: 0 }, &[&x, &i([0], &[])], &f([0, 2], &[]));
    check(Op::Take { axis: 0 }, &[&f([2, 0], &[]), &i([3], &[0.; 3])], &f([3, 0], &[]));
    let far = Tensor::from_vec([2], vec![i64::MIN, i64::MAX]).unwrap();
    check(Op::Take { axis: 0 }, &[&x, &far], &f([2, 2], &[0.; 4]));
    let bools = of(DType::Bool, [2], &[1., 1.]);
    check(Op::Take { axis: 0 }, &[&bools, &i([2], &[1., 2.])], &of(DType::Bool, [2], &[1., 0.]));
}

#[test]
fn take_along_reads_elements_and_zeros() {
    let x = f([2, 3], &[1., 2., 3., 4., 5., 6.]);
    check(Op::TakeAlong { axis: 1 }, &[&x, &i([2, 2], &[2., 0., 1., 3.])], &f([2, 2], &[3., 1., 5., 0.]));
    check(Op::TakeAlong { axis: 0 }, &[&x, &i([1, 3], &[1., 0., -1.])], &f([1, 3], &[4., 2., 0.]));
    let rows = i([3, 3], &[0., 1., 0., 1., 0., 1., 0., 0., 2.]);
    check(Op::TakeAlong { axis: 0 }, &[&x, &rows], &f([3, 3], &[1., 5., 3., 4., 2., 6., 1., 2., 0.]));
    check(Op::TakeAlong { axis: 1 }, &[&x, &i([2, 0], &[])], &f([2, 0], &[]));
    check(Op::TakeAlong { axis: 1 }, &[&f([2, 0], &[]), &i([2, 1], &[0., 0.])], &f([2, 1], &[0., 0.]));
}

#[test]
fn scatter_keeps_extremes() {
    let op = |kind| Op::Scatter { axis: 0, kind };
    for dtype in FLOATS {
        let base = of(dtype, [5], &[1., -0.0, 0.0, NAN, 7.]);
        let at = i([7], &[0., 0., 1., 2., 3., 9., -1.]);
        let updates = of(dtype, [7], &[3., -2., 0.0, -0.0, 1., 8., 8.]);
        check(op(ScatterKind::Max), &[&base, &at, &updates], &of(dtype, [5], &[3., 0.0, 0.0, NAN, 7.]));
        check(op(ScatterKind::Min), &[&base, &at, &updates], &of(dtype, [5], &[-2., -0.0, -0.0, NAN, 7.]));
        let updates = of(dtype, [2], &[NAN, 5.]);
        let nan = of(dtype, [2], &[NAN, 2.]);
        for kind in [ScatterKind::Max, ScatterKind::Min] {
            check(op(kind), &[&of(dtype, [2], &[1., 2.]), &i([2], &[0., 0.]), &updates], &nan);
        }
    }
    let (base, at) = (of(DType::U8, [2], &[200., 3.]), i([2], &[0., 1.]));
    let updates = of(DType::U8, [2], &[100., 250.]);
    check(op(ScatterKind::Max), &[&base, &at, &updates], &of(DType::U8, [2], &[200., 250.]));
    check(op(ScatterKind::Min), &[&base, &at, &updates], &of(DType::U8, [2], &[100., 3.]));
}

#[test]
fn scatter_sets_adds_and_drops() {
    let set = |axis| Op::Scatter { axis, kind: ScatterKind::Set };
    let add = |axis| Op::Scatter { axis, kind: ScatterKind::Add };
    let base = f([3, 1], &[0.; 3]);
    let updates = f([3, 1], &[1., 1., 1.]);
    // The gradient of an embedding.
    check(add(0), &[&base, &i([3], &[0., 0., 2.]), &updates], &f([3, 1], &[2., 0., 1.]));
    let updates = f([3, 1], &[1., 2., 3.]);
    check(set(0), &[&base, &i([3], &[0., 0., 2.]), &updates], &f([3, 1], &[2., 0., 3.]));
    check(add(0), &[&base, &i([3], &[3., -1., 1.]), &updates], &f([3, 1], &[0., 3., 0.]));
    let wide = f([2, 3], &[1., 2., 3., 4., 5., 6.]);
    let updates = f([2, 2], &[10., 20., 30., 40.]);
    check(set(1), &[&wide, &i([2], &[2., 0.]), &updates], &f([2, 3], &[20., 2., 10., 40., 5., 30.]));
    check(add(1), &[&wide, &i([2], &[2., 2.]), &updates], &f([2, 3], &[1., 2., 33., 4., 5., 76.]));
    check(set(1), &[&wide, &i([0], &[]), &f([2, 0], &[])], &wide);
    check(set(0), &[&f([0, 2], &[]), &i([1], &[0.]), &f([1, 2], &[1., 2.])], &f([0, 2], &[]));
    check(
        add(0),
        &[&of(DType::U8, [1], &[250.]), &i([2], &[0., 0.]), &of(DType::U8, [2], &[4., 4.])],
        &of(DType::U8, [1], &[2.]),
    );
    let bools = of(DType::Bool, [2], &[0., 0.]);
    check(set(0), &[&bools, &i([1], &[1.]), &of(DType::Bool, [1], &[1.])], &of(DType::Bool, [2], &[0., 1.]));
    for dtype in FLOATS {
        let nan = of(dtype, [2], &[NAN, -0.0]);
        check(add(0), &[&nan, &i([1], &[0.]), &of(dtype, [1], &[1.])], &nan);
    }
    // 2048 + 1 + 1 is 2050 only where f16 is not rounded in between; f32 adds one after the other.
    let ones = |dtype| of(dtype, [2], &[1., 1.]);
    check(
        add(0),
        &[&of(DType::F16, [1], &[2048.]), &i([2], &[0., 0.]), &ones(DType::F16)],
        &of(DType::F16, [1], &[2050.]),
    );
    check(
        add(0),
        &[&of(DType::BF16, [1], &[256.]), &i([2], &[0., 0.]), &ones(DType::BF16)],
        &of(DType::BF16, [1], &[258.]),
    );
    let big = f([1], &[16777216.]);
    check(add(0), &[&big, &i([2], &[0., 0.]), &ones(DType::F32)], &big);
}

#[test]
fn dynamic_blocks_are_moved_inside() {
    let x = count([3, 4]);
    let at = |v: f64| i([], &[v]);
    let cut = |sizes: Shape| Op::DynamicSlice { sizes };
    check(cut([2, 2].into()), &[&x, &at(1.), &at(1.)], &f([2, 2], &[5., 6., 9., 10.]));
    check(cut([2, 2].into()), &[&x, &at(2.), &at(-7.)], &f([2, 2], &[4., 5., 8., 9.]));
    check(cut([3, 0].into()), &[&x, &at(0.), &at(9.)], &f([3, 0], &[]));
    check(cut([].into()), &[&f([], &[5.])], &f([], &[5.]));
    check(cut([1, 1].into()), &[&x, &of(DType::I32, [], &[2.]), &Tensor::scalar(i64::MAX)], &f([1, 1], &[11.]));
    let block = f([2, 1], &[-1., -2.]);
    let expected = [0., 1., 2., 3., 4., 5., 6., -1., 8., 9., 10., -2.];
    check(Op::DynamicUpdateSlice, &[&x, &block, &at(7.), &at(3.)], &f([3, 4], &expected));
    check(Op::DynamicUpdateSlice, &[&x, &f([0, 4], &[]), &at(1.), &at(0.)], &x);
    check(Op::DynamicUpdateSlice, &[&f([], &[1.]), &f([], &[2.])], &f([], &[2.]));
    // The operand that was given stays as it was.
    assert_eq!(x, count([3, 4]));
}

#[test]
fn every_view_of_a_big_tensor_agrees_with_index_arithmetic() {
    let (a, b, c, d) = (3, 4, 5, 6);
    let x = count([a, b, c, d]);
    let axes: Axes = smallvec![2, 0, 3, 1];
    let y = one(Op::Permute(axes), &[&x]);
    let y = one(slice(&[1, 0, 1, 0], &[5, 3, 6, 4], &[2, 1, 3, 2]), &[&y]);
    let y = one(Op::Reverse(smallvec![1, 3]), &[&y]);
    assert_eq!(y.shape().dims(), [2, 3, 2, 2]);
    let mut expected = Vec::new();
    for p in 0..2 {
        for q in 0..3 {
            for r in 0..2 {
                for s in 0..2 {
                    let (k, i, l, j) = (1 + 2 * p, 2 - q, 1 + 3 * r, 2 * (1 - s));
                    expected.push((((i * b + j) * c + k) * d + l) as f64);
                }
            }
        }
    }
    assert_eq!(y.to_f64_vec(), expected);
}

#[test]
fn transposition_of_more_than_one_tile() {
    let y = one(Op::Permute(smallvec![0, 2, 1]), &[&count([2, 40, 70])]);
    let mut expected = Vec::new();
    for b in 0..2 {
        for j in 0..70 {
            expected.extend((0..40).map(|i| ((b * 40 + i) * 70 + j) as f64));
        }
    }
    assert!(y.shape().dims() == [2, 70, 40] && y.to_f64_vec() == expected);
}
