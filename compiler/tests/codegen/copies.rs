//! Products whose operands are copied into shared memory asynchronously, slices ahead of their use.

use crate::build::Body;
use crate::suite::Suite;
use monograph_ir::{Axes, DType, Elementwise, Graph, Op, Target, ValueId};

/// A product of two views of parameters.
fn product(transposed: [bool; 2], operands: impl FnOnce(&mut Body) -> [ValueId; 2]) -> Graph {
    let mut body = Body::new();
    let operands = operands(&mut body);
    let y = body.op(Op::Matmul { transpose_a: transposed[0], transpose_b: transposed[1] }, &operands);
    body.done(&[y])
}

fn plain(batch: &[usize], [m, n, k]: [usize; 3], [ta, tb]: [bool; 2]) -> Graph {
    let shape = |a, b, t: bool| [batch, &if t { [b, a] } else { [a, b] }].concat();
    product([ta, tb], |body| [(m, k, ta), (k, n, tb)].map(|(a, b, t)| body.input(DType::F16, &shape(a, b, t))))
}

/// How many operands the kernel copies.
fn copied(source: &str) -> usize {
    ["sa", "sb"].iter().filter(|array| source.contains(&format!("mg_async_copy<16>({array} + "))).count()
}

const TRANSPOSITIONS: [[bool; 2]; 4] = [[false, false], [false, true], [true, false], [true, true]];

fn target(multiprocessors: u32) -> Target {
    Target { multiprocessors, ..Target::default() }
}

#[test]
fn every_tile_and_depth() {
    let mut suite = Suite::new("copied_tiles");
    // Tiles of 128 x 128, 128 x 64, 64 x 64 and 32 x 64, with fewer slices than the ring has, as many, and more.
    for (processors, m, n) in [(1, 136, 144), (4, 136, 144), (7, 136, 144), (132, 40, 72)] {
        suite.target = target(processors);
        for (i, k) in [8, 40, 64, 104, 232].into_iter().enumerate() {
            for transposed in [TRANSPOSITIONS[i % 4], TRANSPOSITIONS[(i + 2) % 4]] {
                let name = format!("{processors} processors, {m} x {n} x {k} {transposed:?}");
                let generated = suite.case(name, plain(&[], [m, n, k], transposed), 1e-3);
                assert_eq!(copied(&generated.source), 2, "{}", generated.source);
            }
        }
    }
    suite.run();
}

#[test]
fn copied_and_computed_operands_meet() {
    let mut suite = Suite::new("copied_mixed");
    for (processors, [m, n, k]) in [(1, [136, 129, 104]), (4, [129, 136, 72]), (132, [40, 33, 200]), (132, [33, 40, 8])]
    {
        suite.target = target(processors);
        for transposed in TRANSPOSITIONS {
            // An extent along which an operand is contiguous that is no multiple of 8 leaves no aligned runs.
            let expected = [(m, transposed[0]), (n, !transposed[1])]
                .iter()
                .filter(|(extent, along_outer)| !along_outer || extent % 8 == 0)
                .count();
            let generated =
                suite.case(format!("{m} x {n} x {k} {transposed:?}"), plain(&[], [m, n, k], transposed), 1e-3);
            assert_eq!(copied(&generated.source), expected, "{}", generated.source);
        }
        // Arithmetic before the product, on one side.
        for scaled in [0, 1] {
            let body = product([false, true], |body| {
                let mut operands = [body.input(DType::F16, &[m, k]), body.input(DType::F16, &[n, k])];
                operands[scaled] = body.unary(Elementwise::Neg, operands[scaled]);
                operands
            });
            let generated = suite.case(format!("{m} x {n} x {k}, {scaled} negated"), body, 1e-3);
            assert_eq!(copied(&generated.source), 1, "{}", generated.source);
        }
    }
    suite.run();
}

#[test]
fn views_are_copied() {
    let mut suite = Suite::new("copied_views");
    suite.case("batches", plain(&[2, 3], [24, 40, 48], [false, true]), 1e-3);
    // Heads as attention has them: tokens before heads in memory.
    let heads = |body: &mut Body, tokens: usize| {
        let x = body.input(DType::F16, &[2, tokens, 3 * 16]);
        let x = body.reshape(x, &[2, tokens, 3, 16]);
        body.op(Op::Permute(Axes::from_slice(&[0, 2, 1, 3])), &[x])
    };
    let scores = product([false, true], |body| [heads(body, 20), heads(body, 37)]);
    assert_eq!(copied(&suite.case("scores", scores, 1e-3).source), 2);
    // A weight for all batches, and a slice of whose columns only some begin at a multiple of 8.
    for (start, expected) in [(8, 2), (4, 1)] {
        let body = product([false, false], |body| {
            let x = body.input(DType::F16, &[3, 20, 40]);
            let w = body.input(DType::F16, &[40, 64]);
            let limits = Axes::from_slice(&[40, start + 48]);
            let slice = Op::Slice { starts: Axes::from_slice(&[0, start]), limits, strides: Axes::from_slice(&[1, 1]) };
            let w = body.op(slice, &[w]);
            [x, body.broadcast(w, &[3, 40, 48])]
        });
        assert_eq!(copied(&suite.case(format!("slice from {start}"), body, 1e-3).source), expected);
    }
    let body = product([false, false], |body| {
        let x = body.input(DType::F16, &[24, 40]);
        let w = body.input(DType::F16, &[40, 48]);
        [x, body.op(Op::Reverse(Axes::from_slice(&[1])), &[w])]
    });
    assert_eq!(copied(&suite.case("reversed", body, 1e-3).source), 1);
    suite.run();
}
