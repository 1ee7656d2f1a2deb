//! Random words against the vectors that the authors of Philox published (`kat_vectors` of Random123).

use monograph_ir::interp::{Tensor, evaluate_op};
use monograph_ir::philox::{block, philox4x32};
use monograph_ir::{DType, Op, Shape, Spec, Type, infer};

/// Counter, key, block.
const PUBLISHED: [([u32; 4], [u32; 2], [u32; 4]); 3] = [
    ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
    ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
    (
        [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
        [0xa409_3822, 0x299f_31d0],
        [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
    ),
];

fn joined(low: u32, high: u32) -> i64 {
    (u64::from(low) | u64::from(high) << 32) as i64
}

/// The state whose first block has that counter and key.
fn state([a, b, c, d]: [u32; 4], [k, l]: [u32; 2]) -> [i64; 3] {
    [joined(k, l), joined(c, d), joined(a, b)]
}

fn words(state: [i64; 3], shape: impl Into<Shape>) -> Tensor {
    let state = Tensor::from_vec([3], state.to_vec()).unwrap();
    evaluate_op(&Op::RandomBits { shape: shape.into() }, &[state]).unwrap().remove(0)
}

#[test]
fn the_published_vectors_come_out() {
    for (counter, key, expected) in PUBLISHED {
        assert_eq!(philox4x32(counter, key), expected);
        assert_eq!(block(state(counter, key), 0), expected);
        assert_eq!(words(state(counter, key), [4]).elements::<u32>().unwrap(), expected);
    }
}

#[test]
fn elements_are_the_words_of_successive_blocks() {
    // Two blocks before the second vector's, whose counter is the last of all.
    let (_, key, last) = PUBLISHED[1];
    let before = state([u32::MAX - 2, u32::MAX, u32::MAX, u32::MAX], key);
    let all = words(before, [3, 5]);
    let all = all.elements::<u32>().unwrap();
    assert_eq!(all.len(), 15);
    assert_eq!(all[8..12], last);
    // The counter wraps behind it.
    assert_eq!(all[12..], philox4x32([0; 4], key)[..3]);
    assert_eq!(words(before, [15]).elements::<u32>().unwrap(), all, "the shape does not matter");
    assert_eq!(words(before, [6]).elements::<u32>().unwrap(), &all[..6], "nor what comes behind");
}

#[test]
fn the_position_carries_into_the_stream() {
    let (counter, key, expected) = PUBLISHED[2];
    let [key, stream, position] = state(counter, key);
    let back = position as u64 + 3;
    // From the end of the stream before: over its last blocks to the counter of the vector.
    assert_eq!(block([key, stream - 1, -3], back), expected);
    assert_eq!(block([key, stream, position], 0), expected);
    let over = words([key, 6, -1], [8]);
    assert_eq!(over.elements::<u32>().unwrap()[4..], block([key, 7, 0], 0));
}

#[test]
fn a_scalar_and_nothing() {
    let (counter, key, expected) = PUBLISHED[2];
    assert_eq!(words(state(counter, key), []).elements::<u32>().unwrap(), &expected[..1]);
    assert_eq!(words(state(counter, key), [3, 0]).elements::<u32>().unwrap(), &[] as &[u32]);
}

#[test]
fn the_state_is_three_numbers() {
    let op = Op::RandomBits { shape: [2].into() };
    let of = |specs: &[Spec]| {
        let types: Vec<Type> = specs.iter().cloned().map(Type::Tensor).collect();
        infer(&op, &types.iter().collect::<Vec<_>>()).map_err(|e| e.to_string())
    };
    let good = of(&[Spec::new(DType::I64, [3])]).unwrap();
    assert_eq!(good[0].to_string(), "u32[2]");
    let wrong = "`random_bits`: the state is i64[2], not i64[3]: key, stream and position";
    assert_eq!(of(&[Spec::new(DType::I64, [2])]).unwrap_err(), wrong);
    assert!(of(&[Spec::new(DType::U32, [3])]).unwrap_err().contains("the state is u32[3]"));
    assert_eq!(of(&[]).unwrap_err(), "`random_bits`: takes 1 operand, not 0");
    let huge = Op::RandomBits { shape: [1 << 40, 1 << 40].into() };
    let error = infer(&huge, &[&Type::Tensor(Spec::new(DType::I64, [3]))]).unwrap_err();
    assert!(error.to_string().contains("more bytes than 2^63"), "{error}");
}
