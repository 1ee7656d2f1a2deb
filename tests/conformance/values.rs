//! Operands for probes: the special values of a dtype, each with each other, and many random ones.

use monograph::ir::Literal;
use monograph::ir::interp::Tensor;
use monograph::ir::testing::Random;
use monograph::{DType, Spec};

/// Specials of a dtype that is no float.
fn integers(dtype: DType) -> Vec<Literal> {
    let bits = [0, 1, 2, 3, 7, 8, 31, 32, 33, 63, 64, u64::MAX, u64::MAX - 1, u64::MAX - 6];
    let edges = [7, 15, 31, 63].into_iter().flat_map(|n| [(1u64 << n) - 1, 1 << n, (1 << n) + 1]);
    bits.into_iter().chain(edges).map(|b| Literal::from_bits(dtype, b)).collect()
}

fn floats(dtype: DType) -> Vec<Literal> {
    let edges = [
        0.0,
        1.0,
        0.5,
        1.5,
        2.5,
        3.0,
        1e-3,
        127.5,
        128.0,
        255.5,
        65504.0,
        65520.0,
        1e-40,
        6.0e-8,
        2.9e-8,
        2147483520.0,
        2147483648.0,
        4294967296.0,
        9223372036854775808.0,
        1e30,
        3.4028234663852886e38,
        88.0,
        710.0,
        f64::INFINITY,
        f64::NAN,
    ];
    edges.iter().flat_map(|&x| [x, -x]).map(|x| Literal::from_f64(dtype, x)).collect()
}

/// Every pair of specials, then random values: two tensors, and a third that pairs otherwise.
pub(crate) fn operands(dtype: DType) -> Vec<Tensor> {
    let special = if dtype.is_float() { floats(dtype) } else { integers(dtype) };
    let mut random = Random::new(dtype as u64 + 1);
    let mut columns: [Vec<Literal>; 3] = Default::default();
    for (i, &a) in special.iter().enumerate() {
        for (j, &b) in special.iter().enumerate() {
            for (column, x) in columns.iter_mut().zip([a, b, special[(i * 7 + j * 3) % special.len()]]) {
                column.push(x);
            }
        }
    }
    for column in &mut columns {
        column.extend((0..3000).map(|i| match i % 3 {
            // Any bits at all, then numbers of a common size.
            0 => Literal::from_bits(dtype, random.bits()),
            _ if dtype.is_float() => Literal::from_f64(dtype, (random.below(1 << 20) as f64 / 65536.0 - 8.0) * 1.1),
            _ => Literal::from_i64(dtype, random.below(200) as i64 - 100),
        }));
    }
    columns.into_iter().map(|c| tensor(dtype, &c)).collect()
}

/// Numbers around and just beside the roots, poles and seams of special functions; above 0.5 and finite.
pub(crate) fn beside_the_edges(dtype: DType) -> Vec<Tensor> {
    let edges = [0.5, 1.0, 1.25, 1.4616321449683622, 2.0, 2.5, 3.0, 8.0, 0.9990348, 0.99999994];
    let steps = |edge: f64| (-12..60).map(move |k| edge + f64::powi(2.0, -k) * if k % 2 == 0 { 1.0 } else { -1.0 });
    let elements = edges.into_iter().flat_map(steps).filter(|x| *x > 0.5);
    vec![tensor(dtype, &elements.map(|x| Literal::from_f64(dtype, x)).collect::<Vec<_>>())]
}

/// A vector of these elements.
pub(crate) fn tensor(dtype: DType, elements: &[Literal]) -> Tensor {
    let bytes: Vec<u8> = elements.iter().flat_map(|l| l.to_le_bytes()[..dtype.size()].to_vec()).collect();
    Tensor::from_bytes(Spec::new(dtype, [elements.len()]), &bytes).expect("as many bytes as the spec has")
}

/// All values of a dtype of 16 bits.
pub(crate) fn all_of_16_bits(dtype: DType) -> Tensor {
    tensor(dtype, &(0..=u64::from(u16::MAX)).map(|b| Literal::from_bits(dtype, b)).collect::<Vec<_>>())
}

/// Small whole numbers, whose sums and products are exact in every float.
pub(crate) fn whole(dtype: DType, count: usize, seed: u64) -> Tensor {
    let mut random = Random::new(seed);
    let element = |_| Literal::from_i64(dtype, random.below(9) as i64 - 4);
    tensor(dtype, &(0..count).map(element).collect::<Vec<_>>())
}
