//! Matrix products.
//!
//! Each element of the result is summed up in ascending order of the inner index: for `f32` in `f64`, where the
//! products are exact, for `f16` and `bf16` in `f32`; it is rounded once. Columns are taken in blocks of 16, whose
//! part of `b` is packed and widened once and whose sums stay in registers.

use super::number::Number;
use super::tensor::{filled, with_number};
use super::{Data, EvalError, Tensor};

/// Extents and storage of a batch of products.
#[derive(Clone, Copy)]
struct Product {
    batch: usize,
    m: usize,
    n: usize,
    k: usize,
    transpose_a: bool,
    transpose_b: bool,
}

/// The batched product of two tensors that inference accepted.
pub(super) fn matmul(a: &Tensor, b: &Tensor, transpose_a: bool, transpose_b: bool) -> Result<Data, EvalError> {
    let (dims, columns) = (a.shape(), b.shape());
    let rank = dims.rank();
    let (m, k) = if transpose_a { (dims[rank - 1], dims[rank - 2]) } else { (dims[rank - 2], dims[rank - 1]) };
    let n = columns[if transpose_b { rank - 2 } else { rank - 1 }];
    let product = Product { batch: dims[..rank - 2].iter().product(), m, n, k, transpose_a, transpose_b };
    with_number!(a.data(), cells => run(cells, b, product))
}

fn run<T: Number>(a: &[T], b: &Tensor, product: Product) -> Result<Data, EvalError> {
    let Product { batch, m, n, k, .. } = product;
    let b = b.cells::<T>()?;
    let mut out = filled(batch * m * n, T::default())?;
    // With an empty result there is no work; with an empty inner dimension the zeros are the result.
    if !out.is_empty() && k > 0 {
        for (i, out) in out.chunks_exact_mut(m * n).enumerate() {
            let (a, b) = (&a[i * m * k..][..m * k], &b[i * k * n..][..k * n]);
            match n {
                1 => multiply::<T, 1>(a, b, out, product)?,
                2..=4 => multiply::<T, 4>(a, b, out, product)?,
                _ => multiply::<T, 16>(a, b, out, product)?,
            }
        }
    }
    Ok(T::data(out))
}

/// One product, `W` columns at a time.
fn multiply<T: Number, const W: usize>(a: &[T], b: &[T], out: &mut [T], product: Product) -> Result<(), EvalError> {
    let Product { m, n, k, transpose_a, .. } = product;
    let mut panel = filled(k, [T::ZERO; W])?;
    for first in (0..n).step_by(W) {
        let width = W.min(n - first);
        pack(b, &mut panel, first, width, product);
        for i in 0..m {
            let sums =
                if transpose_a { row(a[i..].iter().step_by(m), &panel) } else { row(a[i * k..][..k].iter(), &panel) };
            for (slot, &sum) in out[i * n + first..][..width].iter_mut().zip(&sums) {
                *slot = T::round(sum);
            }
        }
    }
    Ok(())
}

/// Widens `width` columns of `b` into the panel. Lanes beyond keep old values; nothing reads their sums.
fn pack<T: Number, const W: usize>(b: &[T], panel: &mut [[T::Acc; W]], first: usize, width: usize, product: Product) {
    let Product { n, k, transpose_b, .. } = product;
    if transpose_b {
        for lane in 0..width {
            for (packed, x) in panel.iter_mut().zip(&b[(first + lane) * k..][..k]) {
                packed[lane] = x.acc();
            }
        }
    } else {
        for (packed, row) in panel.iter_mut().zip(b.chunks_exact(n)) {
            for (lane, x) in packed.iter_mut().zip(&row[first..][..width]) {
                *lane = x.acc();
            }
        }
    }
}

#[inline(always)]
fn row<'a, T: Number + 'a, const W: usize>(a: impl Iterator<Item = &'a T>, panel: &[[T::Acc; W]]) -> [T::Acc; W] {
    let mut sums = [T::ZERO; W];
    for (x, packed) in a.zip(panel) {
        let x = x.acc();
        for lane in 0..W {
            sums[lane] = T::sum(sums[lane], T::product(x, packed[lane]));
        }
    }
    sums
}
