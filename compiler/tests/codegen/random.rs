//! Kernels that draw random words: those of the interpreter, to the bit.

use crate::build::Body;
use crate::suite::Suite;
use monograph_ir::interp::Tensor;
use monograph_ir::{Axes, DType, Elementwise, Op, Reduction, ValueId};

/// Near the end of a stream, so that positions carry.
fn state() -> Tensor {
    Tensor::from_vec([3], vec![-0x1234_5678_9abc_def0i64, 77, -5]).unwrap()
}

fn bits(body: &mut Body, state: ValueId, shape: &[usize]) -> ValueId {
    body.op(Op::RandomBits { shape: shape.into() }, &[state])
}

#[test]
fn words_of_every_number_of_elements() {
    let mut suite = Suite::new("random");
    for shape in [&[][..], &[1], &[2], &[3], &[4], &[7], &[8], &[1023], &[4, 1000], &[3, 5, 7], &[2, 1, 6]] {
        let mut body = Body::new();
        let x = body.input(DType::I64, &[3]);
        let y = bits(&mut body, x, shape);
        let generated = suite.with(format!("{shape:?}"), body.done(&[y]), vec![state()], 0.0);
        if shape.iter().product::<usize>().is_multiple_of(4) {
            let source = &generated.source;
            assert_eq!(source.matches("mg_philox(").count(), 1, "the lanes of a thread share a block\n{source}");
            assert!(!source.contains("mg_word("), "{source}");
        }
    }
    suite.run();
}

#[test]
fn words_behind_views_and_in_narrow_types() {
    let mut suite = Suite::new("random-views");
    let mut body = Body::new();
    let x = body.input(DType::I64, &[3]);
    let all = bits(&mut body, x, &[6, 10]);
    let turned = body.op(Op::Permute(Axes::from_slice(&[1, 0])), &[all]);
    let back = body.op(Op::Reverse(Axes::from_slice(&[0])), &[turned]);
    suite.with("permuted and reversed", body.done(&[back]), vec![state()], 0.0);

    // The words of an element lie next to each other.
    let mut body = Body::new();
    let x = body.input(DType::I64, &[3]);
    let all = bits(&mut body, x, &[5, 8, 2]);
    let word = |body: &mut Body, i: usize| {
        let slice = Op::Slice {
            starts: Axes::from_slice(&[0, 0, i]),
            limits: Axes::from_slice(&[5, 8, i + 1]),
            strides: Axes::from_slice(&[1, 1, 1]),
        };
        let word = body.op(slice, &[all]);
        body.reshape(word, &[5, 8])
    };
    let (a, b) = (word(&mut body, 0), word(&mut body, 1));
    let y = body.binary(Elementwise::Xor, a, b);
    let generated = suite.with("two words an element", body.done(&[y]), vec![state()], 0.0);
    assert_eq!(generated.source.matches("mg_philox(").count(), 2, "{}", generated.source);

    for dtype in [DType::F16, DType::BF16, DType::F64, DType::U8] {
        let mut body = Body::new();
        let x = body.input(DType::I64, &[3]);
        let all = bits(&mut body, x, &[64]);
        let places = body.full(DType::U32, 24.0, &[64]);
        let upper = body.binary(Elementwise::Shr, all, places);
        let y = body.op(Op::Cast(dtype), &[upper]);
        suite.with(format!("as {dtype}"), body.done(&[y]), vec![state()], 0.0);
    }
    suite.run();
}

#[test]
fn words_in_rows_and_of_a_state_that_is_computed() {
    let mut suite = Suite::new("random-rows");
    let mut body = Body::new();
    let x = body.input(DType::I64, &[3]);
    let step = body.op(Op::Iota { dtype: DType::I64, shape: [3].into(), axis: 0 }, &[]);
    let moved = body.binary(Elementwise::Add, x, step);
    let all = bits(&mut body, moved, &[9, 70]);
    let sum = body.op(Op::Reduce { kind: Reduction::Sum, axes: Axes::from_slice(&[1]) }, &[all]);
    suite.with("sums of rows", body.done(&[sum]), vec![state()], 0.0);
    suite.run();
}
