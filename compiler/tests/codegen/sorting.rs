//! Kernels that sort packed elements, and scatters of sorted indices.

use crate::build::{Body, Random};
use crate::suite::Suite;
use monograph_compiler::codegen::{Family, supported};
use monograph_ir::interp::{Tensor, evaluate_op};
use monograph_ir::{DType, Elementwise, Graph, Literal, Op, Reduction, ScatterKind, Spec};

/// Rows of packed elements: many equal keys, and numbers with all bits.
fn packed(rows: usize, n: usize) -> Tensor {
    let mut at = 0;
    Random::new((rows * 31 + n) as u64).with(&Spec::new(DType::I64, [rows, n]), |r| {
        at += 1;
        let bits = if at % 3 == 0 { r.next() } else { (r.next() % 5) << 32 | at as u64 };
        Literal::from_bits(DType::I64, bits)
    })
}

fn one(op: &Op, operands: &[Tensor]) -> Tensor {
    evaluate_op(op, operands).expect("the reference takes it").remove(0)
}

/// An op over inputs of these types.
fn body(op: Op, inputs: &[&Tensor]) -> Graph {
    let mut body = Body::new();
    let operands: Vec<_> = inputs.iter().map(|x| body.input(x.spec().dtype, x.shape())).collect();
    let y = body.op(op, &operands);
    body.done(&[y])
}

#[test]
fn rows_of_every_length_are_sorted_in_a_block() {
    let mut suite = Suite::new("sort_in_block");
    for (rows, n) in [
        (1, 1),
        (3, 2),
        (700, 3),
        (5, 31),
        (1, 32),
        (17, 33),
        (2, 255),
        (3, 256),
        (2, 257),
        (2, 1000),
        (1, 2048),
        (1, 4095),
        (2, 4096),
    ] {
        let x = packed(rows, n);
        suite.with(format!("{rows} rows of {n}"), body(Op::SortPacked, &[&x]), vec![x], 0.0);
    }
    suite.run();
}

#[test]
fn what_is_computed_before_and_after_a_sort_is_in_its_kernel() {
    let mut suite = Suite::new("sort_fused");
    let mut body = Body::new();
    let x = body.input(DType::I32, &[7, 100]);
    let wide = body.op(Op::Cast(DType::I64), &[x]);
    let shift = body.full(DType::I64, 32.0, &[7, 100]);
    let key = body.binary(Elementwise::Shl, wide, shift);
    let index = body.op(Op::Iota { dtype: DType::I64, shape: [7, 100].into(), axis: 1 }, &[]);
    let packed = body.binary(Elementwise::Or, key, index);
    let sorted = body.op(Op::SortPacked, &[packed]);
    let mask = body.full(DType::I64, f64::from(u32::MAX), &[7, 100]);
    let order = body.binary(Elementwise::And, sorted, mask);
    let values = body.op(Op::TakeAlong { axis: 1 }, &[x, order]);
    suite.case("keys and indices", body.done(&[order, values]), 0.0);
    suite.run();
}

#[test]
fn passes_of_a_radix_sort() {
    let mut suite = Suite::new("sort_passes");
    for (rows, n, tile) in [
        (1, 1, 256),
        (2, 255, 256),
        (1, 256, 256),
        (3, 257, 256),
        (2, 1000, 512),
        (1, 4095, 4096),
        (1, 4097, 4096),
        (1, 9000, 1024),
    ] {
        let x = packed(rows, n);
        for shift in [0, 32, 56] {
            let counts = Op::DigitCounts { shift, tile };
            suite.with(format!("counts of {rows} x {n} by {tile}"), body(counts.clone(), &[&x]), vec![x.clone()], 0.0);
            let ends = one(&Op::Scan { kind: Reduction::Sum, axis: 2 }, &[one(&counts, std::slice::from_ref(&x))]);
            let places = body(Op::PlaceByDigit { shift, tile }, &[&x, &ends]);
            suite.with(format!("places of {rows} x {n} by {tile}"), places, vec![x.clone(), ends], 0.0);
        }
    }
    suite.run();
}

#[test]
fn the_last_pass_computes_what_follows_it() {
    let mut suite = Suite::new("sort_last_pass");
    let (shift, tile) = (32, 256);
    let x = packed(2, 600);
    let counts = one(&Op::DigitCounts { shift, tile }, std::slice::from_ref(&x));
    let ends = one(&Op::Scan { kind: Reduction::Sum, axis: 2 }, &[counts]);
    let mut body = Body::new();
    let packed = body.input(DType::I64, &[2, 600]);
    let given = body.input(DType::I32, ends.shape());
    let table = body.input(DType::F32, &[2, 600]);
    let sorted = body.op(Op::PlaceByDigit { shift, tile }, &[packed, given]);
    let mask = body.full(DType::I64, 511.0, &[2, 600]);
    let order = body.binary(Elementwise::And, sorted, mask);
    let values = body.op(Op::TakeAlong { axis: 1 }, &[table, order]);
    let flat = body.reshape(order, &[1200]);
    let table = suite.random.tensor(&Spec::new(DType::F32, [2, 600]));
    suite.with("indices and values", body.done(&[flat, values]), vec![x, ends, table], 0.0);
    suite.run();
}

/// Sorted entries for random indices: many for some places, none for most, some outside.
fn entries(count: usize, extent: usize) -> Tensor {
    let mut at = 0;
    let unsorted = Random::new(count as u64).with(&Spec::new(DType::I64, [1, count]), |r| {
        let index = match r.next() % 4 {
            0 => extent as u64 / 2,
            1 => extent as u64 + r.next() % 3,
            _ => r.next() % extent as u64,
        };
        at += 1;
        Literal::from_bits(DType::I64, index << 32 | (at - 1))
    });
    one(&Op::Reshape([count].into()), &[one(&Op::SortPacked, &[unsorted])])
}

#[test]
fn scatters_of_sorted_indices() {
    let mut suite = Suite::new("scatter_sorted");
    let cases: [(&[usize], usize, usize); 9] = [
        (&[1], 0, 1),
        (&[5, 301], 0, 3),
        (&[5, 7, 3], 1, 301),
        (&[3001], 0, 700),
        (&[300, 16], 0, 100),
        (&[40, 33], 1, 65),
        (&[3, 9000], 0, 20),
        (&[2, 50, 1028], 1, 64),
        (&[7], 0, 2111),
    ];
    for (shape, axis, count) in cases {
        for dtype in DType::ALL {
            for &kind in ScatterKind::ALL.iter().filter(|&&k| k == ScatterKind::Set || dtype != DType::Bool) {
                // Every dtype once, the forms of the kernel for a few.
                if shape != [5, 7, 3] && !matches!((dtype, kind), (DType::F32 | DType::F16, ScatterKind::Add)) {
                    continue;
                }
                let updates: Vec<usize> =
                    shape.iter().enumerate().map(|(d, &e)| if d == axis { count } else { e }).collect();
                let base = suite.random.tensor(&Spec::new(dtype, shape));
                let updates = suite.random.tensor(&Spec::new(dtype, updates));
                let entries = entries(count, shape[axis]);
                let body = body(Op::ScatterSorted { axis, kind }, &[&base, &entries, &updates]);
                suite.with(
                    format!("{kind} of {count} {dtype} into {shape:?}"),
                    body,
                    vec![base, entries, updates],
                    0.0,
                );
            }
        }
    }
    suite.run();
}

#[test]
fn bodies_without_a_kernel_are_refused() {
    let mut long = Body::new();
    let x = long.input(DType::I64, &[1, 4097]);
    let y = long.op(Op::SortPacked, &[x]);
    assert!(supported(&long.done(&[y])).is_err());

    let mut twice = Body::new();
    let x = twice.input(DType::I64, &[2, 40]);
    let y = twice.op(Op::SortPacked, &[x]);
    let z = twice.op(Op::SortPacked, &[y]);
    assert!(supported(&twice.done(&[z])).is_err());

    let mut odd = Body::new();
    let x = odd.input(DType::I64, &[2, 400]);
    let y = odd.op(Op::DigitCounts { shift: 0, tile: 100 }, &[x]);
    assert!(supported(&odd.done(&[y])).is_err());

    let mut sorted = Body::new();
    let x = sorted.input(DType::I64, &[2, 400]);
    let y = sorted.op(Op::SortPacked, &[x]);
    assert_eq!(supported(&sorted.done(&[y])), Ok(Family::Sort));
}
