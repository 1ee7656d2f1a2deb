//! Ops that move elements: views, padding, joining, dynamic blocks.

use super::tensor::{filled, with_any};
use super::{Cell, Data, EvalError, Tensor};
use crate::Shape;
use smallvec::{SmallVec, smallvec};

/// A distance in elements for each dimension.
type Strides = SmallVec<[isize; 5]>;

/// Where the elements of a block lie in a row-major buffer.
pub(super) struct Layout {
    offset: isize,
    strides: Strides,
}

impl Layout {
    /// A whole row-major tensor.
    fn of(shape: &Shape) -> Layout {
        Layout { offset: 0, strides: shape.strides().iter().map(|&s| s as isize).collect() }
    }

    /// The block of a row-major tensor that begins at `corner`.
    fn at(shape: &Shape, corner: impl Iterator<Item = usize>) -> Layout {
        let mut layout = Layout::of(shape);
        layout.offset = corner.zip(&layout.strides).fold(0, |at, (i, s)| s.wrapping_mul(i as isize).wrapping_add(at));
        layout
    }

    pub(super) fn permute(shape: &Shape, axes: &[usize]) -> Layout {
        let whole = Layout::of(shape);
        Layout { offset: 0, strides: axes.iter().map(|&a| whole.strides[a]).collect() }
    }

    pub(super) fn broadcast(shape: &Shape, to: &Shape) -> Layout {
        let whole = Layout::of(shape);
        let new = to.rank() - shape.rank();
        let stride = |i: usize| if i < new || shape[i - new] == 1 { 0 } else { whole.strides[i - new] };
        Layout { offset: 0, strides: (0..to.rank()).map(stride).collect() }
    }

    pub(super) fn slice(shape: &Shape, starts: &[usize], steps: &[usize]) -> Layout {
        let mut layout = Layout::at(shape, starts.iter().copied());
        for (stride, &step) in layout.strides.iter_mut().zip(steps) {
            *stride = stride.wrapping_mul(step as isize);
        }
        layout
    }

    pub(super) fn reverse(shape: &Shape, axes: &[usize]) -> Layout {
        let mut layout = Layout::of(shape);
        for &axis in axes {
            layout.offset += layout.strides[axis] * (shape[axis] as isize - 1);
            layout.strides[axis] = -layout.strides[axis];
        }
        layout
    }
}

/// A loop over one dimension: how often, and how far each of two positions moves.
pub(super) type Loop = (usize, [isize; 2]);

/// Leaves out loops of one round and joins neighbours that continue each other. The order of visits stays.
pub(super) fn collapse(loops: impl Iterator<Item = Loop>) -> SmallVec<[Loop; 5]> {
    let mut joined: SmallVec<[Loop; 5]> = SmallVec::new();
    for (extent, step) in loops.filter(|l| l.0 != 1) {
        match joined.last_mut() {
            Some((n, last)) if (0..2).all(|i| last[i] == step[i].wrapping_mul(extent as isize)) => {
                *n *= extent;
                *last = step;
            }
            _ => joined.push((extent, step)),
        }
    }
    joined
}

/// Visits the positions of nested loops, the last loop fastest.
pub(super) fn walk(loops: &[Loop], mut at: [isize; 2], mut visit: impl FnMut([isize; 2])) {
    let mut round: SmallVec<[usize; 5]> = smallvec![0; loops.len()];
    loop {
        visit(at);
        let mut depth = loops.len();
        loop {
            let Some(outer) = depth.checked_sub(1) else { return };
            depth = outer;
            let (extent, step) = loops[depth];
            round[depth] += 1;
            at = [at[0] + step[0], at[1] + step[1]];
            if round[depth] < extent {
                break;
            }
            round[depth] = 0;
            at = [at[0] - step[0] * extent as isize, at[1] - step[1] * extent as isize];
        }
    }
}

/// Copies a block of these extents from one layout to another.
fn copy<T: Copy>(dims: &[usize], src: &[T], from: &Layout, dst: &mut [T], to: &Layout) {
    if dims.contains(&0) {
        return;
    }
    let loops = (0..dims.len()).map(|i| (dims[i], [from.strides[i], to.strides[i]]));
    let mut loops = collapse(loops);
    let (n, step) = loops.pop().unwrap_or((1, [1, 1]));
    if let Some(&(rows, [1, stride])) = loops.last()
        && step[0] > 1
    {
        loops.pop();
        return walk(&loops, [from.offset, to.offset], |[s, d]| {
            transpose(&src[s as usize..], &mut dst[d as usize..], (rows, [1, stride]), (n, step));
        });
    }
    walk(&loops, [from.offset, to.offset], |[s, d]| match step {
        [1, 1] => dst[d as usize..][..n].copy_from_slice(&src[s as usize..][..n]),
        [0, 1] => dst[d as usize..][..n].fill(src[s as usize]),
        [step, 1] => {
            let mut s = s;
            for slot in &mut dst[d as usize..][..n] {
                *slot = src[s as usize];
                s += step;
            }
        }
        [from, to] => {
            let (mut s, mut d) = (s, d);
            for _ in 0..n {
                dst[d as usize] = src[s as usize];
                (s, d) = (s + from, d + to);
            }
        }
    });
}

/// Copies two nested loops of which the outer one reads neighbours, in tiles: row by row, each element would come
/// from another line of the cache.
fn transpose<T: Copy>(src: &[T], dst: &mut [T], outer: Loop, inner: Loop) {
    const TILE: usize = 32;
    let at = |i: usize, j: usize, which: usize| (i as isize * outer.1[which] + j as isize * inner.1[which]) as usize;
    for i0 in (0..outer.0).step_by(TILE) {
        for j0 in (0..inner.0).step_by(TILE) {
            for i in i0..outer.0.min(i0 + TILE) {
                for j in j0..inner.0.min(j0 + TILE) {
                    dst[at(i, j, 1)] = src[at(i, j, 0)];
                }
            }
        }
    }
}

/// The elements of `x` under a layout, as a row-major tensor of these extents.
pub(super) fn view(x: &Tensor, shape: &Shape, layout: &Layout) -> Result<Data, EvalError> {
    fn run<T: Cell>(x: &[T], shape: &Shape, layout: &Layout) -> Result<Data, EvalError> {
        let mut out = filled(shape.size(), T::default())?;
        copy(shape, x, layout, &mut out, &Layout::of(shape));
        Ok(T::data(out))
    }
    with_any!(x.data(), cells => run(cells, shape, layout))
}

/// `x` between copies of a scalar; negative amounts cut off.
pub(super) fn pad(x: &Tensor, value: &Tensor, low: &[i64], shape: &Shape) -> Result<Data, EvalError> {
    // Along a dimension, element `i` of `x` becomes element `i + low`; those that stay inside are `first..first + n`.
    let first = |i: usize| (low[i].min(0).unsigned_abs() as usize).min(x.shape()[i]);
    let kept = |i: usize| {
        let end = (i128::from(x.shape()[i] as u64)).min(i128::from(shape[i] as u64) - i128::from(low[i]));
        usize::try_from(end - first(i) as i128).unwrap_or(0)
    };
    let dims: SmallVec<[usize; 5]> = (0..low.len()).map(kept).collect();
    fn run<T: Cell>(
        x: &[T],
        value: &Tensor,
        shape: &Shape,
        block: Option<(&[usize], Layout, Layout)>,
    ) -> Result<Data, EvalError> {
        let value = *value.cells()?.first().ok_or_else(|| EvalError::Invalid("an empty scalar".into()))?;
        let mut out = filled(shape.size(), value)?;
        if let Some((dims, from, to)) = block {
            copy(dims, x, &from, &mut out, &to);
        }
        Ok(T::data(out))
    }
    // Corners of an empty block may lie far outside, where their offsets would overflow.
    let block = (!dims.contains(&0)).then(|| {
        let from = Layout::at(x.shape(), (0..low.len()).map(first));
        let to = Layout::at(shape, low.iter().map(|&l| l.max(0) as usize));
        (&dims[..], from, to)
    });
    with_any!(x.data(), cells => run(cells, value, shape, block))
}

/// Operands one after the other along an axis.
pub(super) fn concat(operands: &[Tensor], axis: usize, shape: &Shape) -> Result<Data, EvalError> {
    fn run<T: Cell>(_like: &[T], operands: &[Tensor], axis: usize, shape: &Shape) -> Result<Data, EvalError> {
        let mut out = filled(shape.size(), T::default())?;
        let mut start = 0;
        for x in operands {
            let corner = (0..shape.rank()).map(|i| if i == axis { start } else { 0 });
            copy(x.shape(), x.cells::<T>()?, &Layout::of(x.shape()), &mut out, &Layout::at(shape, corner));
            start += x.shape()[axis];
        }
        Ok(T::data(out))
    }
    let first = operands.first().ok_or_else(|| EvalError::Invalid("`concat` of nothing".into()))?;
    with_any!(first.data(), cells => run(cells, operands, axis, shape))
}

/// The corner of a block of `sizes` in `shape`: the start indices, moved so that the block lies inside.
fn corner(shape: &Shape, sizes: &[usize], starts: &[Tensor]) -> Result<SmallVec<[usize; 5]>, EvalError> {
    let mut corner = SmallVec::new();
    for ((&extent, &size), start) in shape.iter().zip(sizes).zip(starts) {
        let start = super::index::indices(start)?.first().copied().unwrap_or(0);
        corner.push(start.clamp(0, (extent - size) as i64) as usize);
    }
    Ok(corner)
}

/// The block of these extents at a corner given by scalars.
pub(super) fn dynamic_slice(x: &Tensor, starts: &[Tensor], sizes: &Shape) -> Result<Data, EvalError> {
    let corner = corner(x.shape(), sizes, starts)?;
    view(x, sizes, &Layout::at(x.shape(), corner.iter().copied()))
}

/// `x` with a block written at a corner given by scalars; in place where nothing else shares `x`.
pub(super) fn dynamic_update_slice(x: Tensor, block: &Tensor, starts: &[Tensor]) -> Result<Data, EvalError> {
    fn run<T: Cell>(x: Tensor, block: &[T], dims: &Shape, starts: &[Tensor]) -> Result<Data, EvalError> {
        let corner = corner(x.shape(), dims, starts)?;
        let to = Layout::at(x.shape(), corner.iter().copied());
        let dtype = x.dtype();
        let mut out = T::take(x.into_data()).map_err(|_| EvalError::dtype(dtype))?;
        copy(dims, block, &Layout::of(dims), &mut out, &to);
        Ok(T::data(out))
    }
    with_any!(block.data(), cells => run(x, cells, block.shape(), starts))
}
