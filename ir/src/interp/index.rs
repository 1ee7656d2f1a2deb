//! Gathers and scatters with indices that are data.

use super::number::{Float, Number, maximum, minimum};
use super::tensor::{filled, room, with_any};
use super::{Cell, Data, EvalError, Tensor};
use crate::ScatterKind;
use std::borrow::Cow;

/// A tensor of indices as `i64`.
pub(super) fn indices(x: &Tensor) -> Result<Cow<'_, [i64]>, EvalError> {
    match x.data() {
        Data::I64(cells) => Ok(Cow::Borrowed(cells)),
        Data::I32(cells) => Ok(Cow::Owned(cells.iter().map(|&i| i64::from(i)).collect())),
        other => Err(EvalError::dtype(other.dtype())),
    }
}

/// The index if it lies in `0..extent`.
fn inside(index: i64, extent: usize) -> Option<usize> {
    usize::try_from(index).ok().filter(|&i| i < extent)
}

/// A shape seen from one axis: the elements before, along and after it.
#[derive(Clone, Copy)]
pub(super) struct Around {
    pub(super) outer: usize,
    pub(super) extent: usize,
    pub(super) inner: usize,
}

impl Around {
    pub(super) fn axis(shape: &[usize], axis: usize) -> Around {
        let product = |dims: &[usize]| dims.iter().product();
        Around { outer: product(&shape[..axis]), extent: shape[axis], inner: product(&shape[axis + 1..]) }
    }
}

/// The slices of `x` at the indices; zeros where an index lies outside.
pub(super) fn take(x: &Tensor, at: &Tensor, axis: usize, elements: usize) -> Result<Data, EvalError> {
    fn run<T: Cell>(x: &[T], at: &[i64], around: Around, elements: usize) -> Result<Data, EvalError> {
        let Around { outer, extent, inner } = around;
        let mut out = room(elements)?;
        if elements > 0 {
            for o in 0..outer {
                for &index in at {
                    match inside(index, extent) {
                        Some(i) => out.extend_from_slice(&x[(o * extent + i) * inner..][..inner]),
                        None => out.extend(std::iter::repeat_n(T::default(), inner)),
                    }
                }
            }
        }
        Ok(T::data(out))
    }
    let at = indices(at)?;
    let around = Around::axis(x.shape(), axis);
    with_any!(x.data(), cells => run(cells, &at, around, elements))
}

/// `x[…, indices[…, j, …], …]`; zero where an index lies outside.
pub(super) fn take_along(x: &Tensor, at: &Tensor, axis: usize) -> Result<Data, EvalError> {
    fn run<T: Cell>(x: &[T], extent: usize, at: &[i64], around: Around) -> Result<Data, EvalError> {
        let mut out = filled(at.len(), T::default())?;
        if at.is_empty() {
            return Ok(T::data(out));
        }
        let Around { inner, extent: count, .. } = around;
        for (row, (out, at)) in out.chunks_exact_mut(inner).zip(at.chunks_exact(inner)).enumerate() {
            let base = row / count * extent * inner;
            for (i, (slot, &index)) in out.iter_mut().zip(at).enumerate() {
                if let Some(j) = inside(index, extent) {
                    *slot = x[base + j * inner + i];
                }
            }
        }
        Ok(T::data(out))
    }
    let around = Around::axis(at.shape(), axis);
    let (at, extent) = (indices(at)?, x.shape()[axis]);
    with_any!(x.data(), cells => run(cells, extent, &at, around))
}

/// `base` with updates combined into it in the order of the indices; those outside are dropped.
pub(super) fn scatter(
    base: Tensor,
    at: &Tensor,
    updates: &Tensor,
    axis: usize,
    kind: ScatterKind,
) -> Result<Data, EvalError> {
    let around = Around::axis(base.shape(), axis);
    let at = indices(at)?;
    if updates.data().is_empty() {
        return Ok(base.into_data());
    }
    match kind {
        ScatterKind::Set => {
            with_any!(updates.data(), cells => combine(base, &at, cells, around, |slot, update| *slot = update))
        }
        ScatterKind::Max => {
            with_any!(updates.data(), cells => combine(base, &at, cells, around, |slot, u| *slot = maximum(*slot, u)))
        }
        ScatterKind::Min => {
            with_any!(updates.data(), cells => combine(base, &at, cells, around, |slot, u| *slot = minimum(*slot, u)))
        }
        ScatterKind::Add => match updates.data() {
            Data::Bool(_) => Err(EvalError::dtype(updates.dtype())),
            Data::I8(u) => combine(base, &at, u, around, |slot, update| *slot = slot.wrapping_add(update)),
            Data::U8(u) => combine(base, &at, u, around, |slot, update| *slot = slot.wrapping_add(update)),
            Data::I32(u) => combine(base, &at, u, around, |slot, update| *slot = slot.wrapping_add(update)),
            Data::U32(u) => combine(base, &at, u, around, |slot, update| *slot = slot.wrapping_add(update)),
            Data::I64(u) => combine(base, &at, u, around, |slot, update| *slot = slot.wrapping_add(update)),
            Data::F16(u) => add_half(base, &at, u, around),
            Data::BF16(u) => add_half(base, &at, u, around),
            Data::F32(u) => combine(base, &at, u, around, |slot, update| *slot += update),
            Data::F64(u) => combine(base, &at, u, around, |slot, update| *slot += update),
        },
    }
}

/// Calls `visit(position in base, position in updates, length)` for each row that an index inside names, in order.
fn rows(at: &[i64], around: Around, mut visit: impl FnMut(usize, usize, usize)) {
    let Around { outer, extent, inner } = around;
    for o in 0..outer {
        for (j, &index) in at.iter().enumerate() {
            if let Some(i) = inside(index, extent) {
                visit((o * extent + i) * inner, (o * at.len() + j) * inner, inner);
            }
        }
    }
}

fn combine<T: Cell>(
    base: Tensor,
    at: &[i64],
    updates: &[T],
    around: Around,
    f: impl Fn(&mut T, T),
) -> Result<Data, EvalError> {
    let dtype = base.dtype();
    let mut out = T::take(base.into_data()).map_err(|_| EvalError::dtype(dtype))?;
    rows(at, around, |to, from, n| {
        for (slot, &update) in out[to..][..n].iter_mut().zip(&updates[from..][..n]) {
            f(slot, update);
        }
    });
    Ok(T::data(out))
}

/// Adds in `f32` and rounds each element that was met once, at the end.
fn add_half<T: Float<Wide = f32> + Number<Acc = f32>>(
    base: Tensor,
    at: &[i64],
    updates: &[T],
    around: Around,
) -> Result<Data, EvalError> {
    let dtype = base.dtype();
    let mut out = T::take(base.into_data()).map_err(|_| EvalError::dtype(dtype))?;
    let mut sums: Vec<f32> = super::tensor::collect(out.iter().map(|x| x.widen()))?;
    rows(at, around, |to, from, n| {
        for (sum, update) in sums[to..][..n].iter_mut().zip(&updates[from..][..n]) {
            *sum += update.widen();
        }
    });
    rows(at, around, |to, _, n| {
        for (slot, &sum) in out[to..][..n].iter_mut().zip(&sums[to..][..n]) {
            *slot = T::narrow(sum);
        }
    });
    Ok(T::data(out))
}
