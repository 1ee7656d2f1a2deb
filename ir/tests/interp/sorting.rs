//! Sorting, and what the compiler makes of sorts.

use crate::common::{FLOATS, INF, NAN, check, numbers, of, one};
use monograph_ir::interp::{Tensor, evaluate_op};
use monograph_ir::{DType, Op, Reduction, ScatterKind};

fn argsort(axis: usize, descending: bool) -> Op {
    Op::Argsort { axis, descending }
}

fn whole(shape: impl Into<monograph_ir::Shape>, values: &[f64]) -> Tensor {
    of(DType::I64, shape, values)
}

#[test]
fn equal_elements_keep_their_order_in_both_directions() {
    for dtype in numbers() {
        let x = of(dtype, [6], &[3., 1., 2., 1., 3., 1.]);
        check(argsort(0, false), &[&x], &whole([6], &[1., 3., 5., 2., 0., 4.]));
        check(argsort(0, true), &[&x], &whole([6], &[0., 4., 2., 1., 3., 5.]));
    }
    let x = of(DType::Bool, [4], &[1., 0., 1., 0.]);
    check(argsort(0, false), &[&x], &whole([4], &[1., 3., 0., 2.]));
    check(argsort(0, true), &[&x], &whole([4], &[0., 2., 1., 3.]));
}

#[test]
fn nan_is_the_greatest_and_zeros_tie() {
    for dtype in FLOATS {
        check(argsort(0, false), &[&of(dtype, [5], &[3., NAN, 1., NAN, 2.])], &whole([5], &[2., 4., 0., 1., 3.]));
        check(argsort(0, true), &[&of(dtype, [5], &[3., NAN, 1., NAN, 2.])], &whole([5], &[1., 3., 0., 4., 2.]));
        check(argsort(0, false), &[&of(dtype, [3], &[0., -0., 0.])], &whole([3], &[0., 1., 2.]));
        check(argsort(0, true), &[&of(dtype, [3], &[0., -0., 0.])], &whole([3], &[0., 1., 2.]));
        check(argsort(0, false), &[&of(dtype, [4], &[INF, NAN, -INF, 0.])], &whole([4], &[2., 3., 0., 1.]));
    }
}

#[test]
fn every_axis_is_sorted_by_itself() {
    let x = of(DType::I32, [2, 3, 2], &[5., 1., 3., 1., 4., 0., 1., 9., 1., 8., 0., 7.]);
    check(argsort(0, false), &[&x], &whole([2, 3, 2], &[1., 0., 1., 0., 1., 0., 0., 1., 0., 1., 0., 1.]));
    check(argsort(1, false), &[&x], &whole([2, 3, 2], &[1., 2., 2., 0., 0., 1., 2., 2., 0., 1., 1., 0.]));
    check(argsort(2, true), &[&x], &whole([2, 3, 2], &[0., 1., 0., 1., 0., 1., 1., 0., 1., 0., 1., 0.]));
    check(argsort(0, false), &[&of(DType::F32, [0, 3], &[])], &whole([0, 3], &[]));
    check(argsort(1, false), &[&of(DType::F32, [2, 0], &[])], &whole([2, 0], &[]));
}

#[test]
fn packed_rows_are_unsigned() {
    let x = whole([2, 3], &[1., -1., 0., 5., -9., -8.]);
    check(Op::SortPacked, &[&x], &whole([2, 3], &[0., 1., -1., 5., -9., -8.]));
}

#[test]
fn a_pass_counts_and_places_by_one_byte() {
    // Bytes 1 of 0x0201, 0x0102, 0x0203, 0x0100, 0x02ff: 2, 1, 2, 1, 2.
    let x = whole([1, 5], &[513., 258., 515., 256., 767.]);
    let counts = one(Op::DigitCounts { shift: 8, tile: 2 }, &[&x]);
    assert_eq!(*counts.spec(), monograph_ir::Spec::new(DType::I32, [1, 256, 3]));
    let counted = counts.to_f64_vec();
    assert_eq!(counted[3..9], [1., 1., 0., 1., 1., 1.]);
    assert_eq!(counted.iter().sum::<f64>(), 5.0);
    let ends = one(Op::Scan { kind: Reduction::Sum, axis: 2 }, &[&counts]);
    let sorted = whole([1, 5], &[258., 256., 513., 515., 767.]);
    check(Op::PlaceByDigit { shift: 8, tile: 2 }, &[&x, &ends], &sorted);
    // The first byte of a number below zero is its greatest.
    let x = whole([1, 3], &[-1., 0., 1.]);
    let counts = one(Op::DigitCounts { shift: 56, tile: 4 }, &[&x]);
    assert_eq!((counts.to_f64_vec()[0], counts.to_f64_vec()[255]), (2., 1.));
    check(Op::PlaceByDigit { shift: 56, tile: 4 }, &[&x, &counts], &whole([1, 3], &[0., 1., -1.]));
    // Ends that lead outside.
    let mut far = vec![0.0; 256];
    far[0] = 7.0;
    let far = of(DType::I32, [1, 256, 1], &far);
    check(Op::PlaceByDigit { shift: 56, tile: 4 }, &[&x, &far], &whole([1, 3], &[0., 1., 0.]));
}

#[test]
fn sorted_entries_name_place_and_update() {
    let entry = |index: i64, place: i64| (index * (1 << 32) + place) as f64;
    let base = of(DType::F32, [3], &[1., 2., 3.]);
    let updates = of(DType::F32, [4], &[10., 20., 40., 80.]);
    let entries = whole([4], &[entry(0, 1), entry(0, 3), entry(2, 0), entry(3, 2)]);
    let scatter = |kind| Op::ScatterSorted { axis: 0, kind };
    check(scatter(ScatterKind::Add), &[&base, &entries, &updates], &of(DType::F32, [3], &[101., 2., 13.]));
    check(scatter(ScatterKind::Set), &[&base, &entries, &updates], &of(DType::F32, [3], &[80., 2., 10.]));
    // A place that there is not, and a number whose upper half is beyond every index.
    let entries = whole([4], &[entry(0, 1), entry(0, 4), entry(1, 2), -1.]);
    check(scatter(ScatterKind::Add), &[&base, &entries, &updates], &of(DType::F32, [3], &[21., 42., 3.]));
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let message = |op: Op, operands: &[Tensor]| evaluate_op(&op, operands).expect_err("it is refused").to_string();
    let narrow = of(DType::I32, [2, 3], &[0.; 6]);
    let flat = whole([3], &[0.; 3]);
    for op in [Op::SortPacked, Op::DigitCounts { shift: 0, tile: 4 }] {
        assert!(
            message(op.clone(), std::slice::from_ref(&narrow)).contains("takes i64 in rows, [rows, n], not i32[2, 3]")
        );
        assert!(message(op, std::slice::from_ref(&flat)).contains("not i64[3]"));
    }
    let rows = whole([1, 3], &[0.; 3]);
    assert!(message(Op::DigitCounts { shift: 57, tile: 4 }, std::slice::from_ref(&rows)).contains("bit 57"));
    assert!(message(Op::DigitCounts { shift: 8, tile: 0 }, std::slice::from_ref(&rows)).contains("at least one"));
    let ends = of(DType::I32, [1, 256, 2], &[0.; 512]);
    let place = message(Op::PlaceByDigit { shift: 8, tile: 4 }, &[rows, ends]);
    assert!(place.contains("has ends i32[1, 256, 1], not i32[1, 256, 2]"), "{place}");
    let base = of(DType::F32, [3], &[0.; 3]);
    let entries = of(DType::I32, [3], &[0.; 3]);
    let scatter = Op::ScatterSorted { axis: 0, kind: ScatterKind::Add };
    assert!(message(scatter, &[base.clone(), entries, base]).contains("not i64"));
    assert!(message(argsort(1, false), &[flat]).contains("axis 1"));
}
