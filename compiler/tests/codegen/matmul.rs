//! Kernels with a matrix product.

use crate::build::{Body, Random};
use crate::suite::Suite;
use monograph_compiler::Options;
use monograph_compiler::codegen::{Family, generate, supported};
use monograph_ir::interp::Tensor;
use monograph_ir::{Axes, DType, Elementwise, Graph, Literal, Op, Spec, Target};

fn product(dtype: DType, batch: &[usize], [m, n, k]: [usize; 3], [ta, tb]: [bool; 2]) -> Graph {
    let shape = |a, b, t: bool| [batch, &if t { [b, a] } else { [a, b] }].concat();
    let mut body = Body::new();
    let (a, b) = (body.input(dtype, &shape(m, k, ta)), body.input(dtype, &shape(k, n, tb)));
    let y = body.op(Op::Matmul { transpose_a: ta, transpose_b: tb }, &[a, b]);
    body.done(&[y])
}

const TRANSPOSITIONS: [[bool; 2]; 4] = [[false, false], [false, true], [true, false], [true, true]];

#[test]
fn every_size_and_transposition() {
    let mut suite = Suite::new("products");
    for sizes in [
        [64, 64, 16],
        [33, 70, 50],
        [17, 18, 19],
        [40, 36, 4],
        [1, 40, 100],
        [3, 100, 64],
        [100, 5, 33],
        [1, 1, 300],
        [16, 16, 40],
    ] {
        for transposed in TRANSPOSITIONS {
            // Positive, so that the error relative to the result says something.
            let body = product(DType::F32, &[], sizes, transposed);
            let positive = |r: &mut Random| Literal::from_f64(DType::F32, r.float() + 2.0);
            let inputs = body.params().iter().map(|p| suite.random.with(&p.spec, positive)).collect();
            suite.with(format!("{sizes:?} {transposed:?}"), body, inputs, 1e-6);
        }
    }
    suite.case("batches", product(DType::F32, &[2, 3], [20, 24, 20], [false, true]), 1e-6);
    suite.case("batches of vectors", product(DType::F32, &[5], [1, 24, 20], [false, false]), 1e-6);
    suite.run();
}

#[test]
fn every_dtype() {
    let mut suite = Suite::new("product_dtypes");
    for dtype in DType::ALL.into_iter().filter(|&d| d != DType::Bool) {
        for transposed in [[false, false], [false, true]] {
            for sizes in [[20, 36, 24], [2, 40, 24]] {
                let tolerance = match dtype {
                    DType::F64 => 1e-14,
                    DType::F16 => 1e-3,
                    DType::BF16 => 1e-2,
                    _ if dtype.is_float() => 1e-6,
                    _ => 0.0,
                };
                suite.case(
                    format!("{dtype} {sizes:?} {transposed:?}"),
                    product(dtype, &[], sizes, transposed),
                    tolerance,
                );
            }
        }
    }
    suite.run();
}

#[test]
fn great_tiles() {
    // A target with one multiprocessor gets the greatest tiles at once.
    let mut suite = Suite::new("tiles");
    for processors in [1, 4, 8] {
        suite.target = Target { multiprocessors: processors, ..Target::default() };
        for transposed in TRANSPOSITIONS {
            let name = format!("{processors} processors {transposed:?}");
            suite.case(name.clone(), product(DType::F32, &[], [160, 200, 40], transposed), 1e-6);
        }
    }
    suite.run();
}

#[test]
fn tensor_cores() {
    let mut suite = Suite::new("tensor");
    for (processors, sizes) in [(1, [130, 129, 33]), (2, [120, 72, 40]), (4, [64, 130, 64]), (132, [40, 70, 100])] {
        suite.target = Target { multiprocessors: processors, ..Target::default() };
        for (dtype, transposed) in [
            (DType::F16, [false, false]),
            (DType::BF16, [false, true]),
            (DType::F16, [true, false]),
            (DType::BF16, [true, true]),
        ] {
            let body = product(dtype, &[], sizes, transposed);
            let generated = suite.case(format!("{sizes:?} of {dtype} {transposed:?}"), body, 1e-3);
            assert!(generated.source.contains("mg_mma_"), "{}", generated.source);
        }
    }
    suite.run();
}

/// `gelu`-like epilogue with a bias and a residual, prologues with a cast, a permuted view and a scale.
fn fused(m: usize, n: usize, k: usize) -> Graph {
    let mut body = Body::new();
    let x = body.input(DType::F16, &[m, k]);
    let w = body.input(DType::F32, &[k / 2, n, 2]);
    let bias = body.input(DType::F32, &[n]);
    let residual = body.input(DType::F32, &[m * n]);
    let x = body.op(Op::Cast(DType::F32), &[x]);
    let half = body.full(DType::F32, 0.5, &[m, k]);
    let x = body.binary(Elementwise::Mul, x, half);
    let w = body.op(Op::Permute(Axes::from_slice(&[0, 2, 1])), &[w]);
    let w = body.reshape(w, &[k, n]);
    let y = body.op(Op::Matmul { transpose_a: false, transpose_b: false }, &[x, w]);
    let bias = body.broadcast(bias, &[m, n]);
    let y = body.binary(Elementwise::Add, y, bias);
    let z = body.unary(Elementwise::Tanh, y);
    let residual = body.reshape(residual, &[m, n]);
    let z = body.binary(Elementwise::Add, z, residual);
    let flat = body.reshape(z, &[n * m]);
    let z = body.op(Op::Cast(DType::BF16), &[flat]);
    body.done(&[z, y])
}

#[test]
fn prologues_and_epilogues_are_fused() {
    let mut suite = Suite::new("fused_products");
    for (m, n, k) in [(20, 36, 24), (33, 35, 18), (2, 36, 24), (40, 3, 10), (1, 7, 6)] {
        suite.case(format!("{m} {n} {k}"), fused(m, n, k), 2e-6);
    }
    suite.run();
    assert_eq!(supported(&fused(20, 36, 24)), Ok(Family::Matmul));
}

#[test]
fn infinities_beside_the_inner_dimension_do_no_harm() {
    let mut suite = Suite::new("infinities");
    for sizes in [[20, 20, 5], [2, 20, 5]] {
        let body = product(DType::F32, &[], sizes, [false, false]);
        let inputs: Vec<Tensor> = body
            .params()
            .iter()
            .map(|p| Tensor::full(p.spec.clone(), Literal::from_f64(DType::F32, f64::INFINITY)).unwrap())
            .collect();
        suite.with(format!("{sizes:?}"), body, inputs, 0.0);
    }
    suite.run();
}

#[test]
fn any_number_of_batches_has_a_legal_grid() {
    for batches in [65_535, 65_536, 70_000] {
        for sizes in [[1, 8, 8], [20, 20, 20]] {
            let body = product(DType::F32, &[batches], sizes, [false, false]);
            let generated = generate(&body, &Target::default(), &Options::default()).unwrap();
            assert_eq!(generated.grid[1..], [1, 1]);
            assert!(generated.grid[0] as usize >= batches);
        }
    }
    let mut suite = Suite::new("batches");
    let spec = [Spec::new(DType::F32, [300, 1, 2]), Spec::new(DType::F32, [300, 2, 1])];
    let inputs = spec.iter().map(|s| Random::new(1).tensor(s)).collect();
    suite.with("300", product(DType::F32, &[300], [1, 1, 2], [false, false]), inputs, 1e-6);
    suite.run();
}
