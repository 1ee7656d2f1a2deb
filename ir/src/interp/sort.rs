//! Sorting, and what the compiler makes sorts of.

use super::index::{self, Around};
use super::number::Order;
use super::tensor::{collect, filled, room, with_any};
use super::{Cell, Data, EvalError, Tensor};
use crate::{DType, ScatterKind, Spec};
use std::cmp::Ordering;

/// The order of two elements: NaN is the greatest, ±0 tie.
fn order<T: Order>(a: T, b: T) -> Ordering {
    let by_key = || a.key().partial_cmp(&b.key()).unwrap_or(Ordering::Equal);
    a.nan().cmp(&b.nan()).then_with(by_key)
}

/// The indices that sort an axis, stably.
pub(super) fn argsort(x: &Tensor, axis: usize, descending: bool) -> Result<Data, EvalError> {
    fn run<T: Order>(x: &[T], around: Around, descending: bool) -> Result<Data, EvalError> {
        let Around { outer, extent, inner } = around;
        let mut out = filled(x.len(), 0i64)?;
        let mut row: Vec<usize> = collect(0..extent)?;
        for (o, i) in (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))) {
            let at = |j: usize| (o * extent + j) * inner + i;
            row.iter_mut().enumerate().for_each(|(j, slot)| *slot = j);
            row.sort_by(|&a, &b| {
                let ascending = order(x[at(a)], x[at(b)]);
                if descending { ascending.reverse() } else { ascending }
            });
            for (j, &from) in row.iter().enumerate() {
                out[at(j)] = from as i64;
            }
        }
        Ok(i64::data(out))
    }
    let around = Around::axis(x.shape(), axis);
    with_any!(x.data(), cells => run(cells, around, descending))
}

/// The rows ascending, as unsigned numbers.
pub(super) fn sort_packed(x: Tensor) -> Result<Data, EvalError> {
    let n = x.shape()[1];
    let mut out = i64::take(x.into_data()).map_err(|data| EvalError::dtype(data.dtype()))?;
    if n > 0 {
        out.chunks_exact_mut(n).for_each(|row| row.sort_unstable_by_key(|&x| x as u64));
    }
    Ok(i64::data(out))
}

fn byte(x: i64, shift: u32) -> usize {
    (x as u64 >> shift) as usize & 255
}

/// How many elements of each tile have each value of a byte: `[rows, 256, tiles]`.
pub(super) fn digit_counts(x: &Tensor, shift: u32, tile: usize) -> Result<Data, EvalError> {
    let (cells, n) = (x.cells::<i64>()?, x.shape()[1]);
    let tiles = n.div_ceil(tile);
    let mut counts = filled(x.shape()[0] * 256 * tiles, 0i32)?;
    if n > 0 {
        for (row, counts) in cells.chunks_exact(n).zip(counts.chunks_exact_mut(256 * tiles)) {
            for (i, &x) in row.iter().enumerate() {
                counts[byte(x, shift) * tiles + i / tile] += 1;
            }
        }
    }
    Ok(i32::data(counts))
}

/// The rows sorted stably by a byte, to where the sums of the counts say.
pub(super) fn place_by_digit(x: &Tensor, ends: &Tensor, shift: u32, tile: usize) -> Result<Data, EvalError> {
    let (cells, ends, n) = (x.cells::<i64>()?, ends.cells::<i32>()?, x.shape()[1]);
    let tiles = n.div_ceil(tile);
    let mut out = filled(cells.len(), 0i64)?;
    if n == 0 {
        return Ok(i64::data(out));
    }
    let rows = cells.chunks_exact(n).zip(out.chunks_exact_mut(n)).zip(ends.chunks_exact(256 * tiles));
    for ((row, out), ends) in rows {
        let mut first = [0i32; 256];
        for digit in 1..256 {
            first[digit] = first[digit - 1].wrapping_add(ends[digit * tiles - 1]);
        }
        for (number, elements) in row.chunks(tile).enumerate() {
            let mut next = first;
            for (digit, next) in next.iter_mut().enumerate().filter(|_| number > 0) {
                *next = next.wrapping_add(ends[digit * tiles + number - 1]);
            }
            for &x in elements {
                let to = &mut next[byte(x, shift)];
                if let Some(slot) = usize::try_from(*to).ok().and_then(|to| out.get_mut(to)) {
                    *slot = x;
                }
                *to = to.wrapping_add(1);
            }
        }
    }
    Ok(i64::data(out))
}

/// `base` with the updates that sorted entries name combined into it.
pub(super) fn scatter_sorted(
    base: Tensor,
    entries: &Tensor,
    updates: &Tensor,
    axis: usize,
    kind: ScatterKind,
) -> Result<Data, EvalError> {
    let entries = entries.cells::<i64>()?;
    let (mut at, mut places) = (room(entries.len())?, room(entries.len())?);
    for &entry in entries {
        let place = entry & 0xffff_ffff;
        at.push(if (place as usize) < entries.len() { (entry as u64 >> 32) as i64 } else { -1 });
        places.push(place);
    }
    let spec = || Spec::new(DType::I64, [entries.len()]);
    let (at, places) = (Tensor::new(spec(), i64::data(at))?, Tensor::new(spec(), i64::data(places))?);
    let sorted = index::take(updates, &places, axis, updates.data().len())?;
    index::scatter(base, &at, &Tensor::new(updates.spec().clone(), sorted)?, axis, kind)
}
