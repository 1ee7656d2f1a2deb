//! Convolutions and windows: direct loops.
//!
//! Along each dimension a table says which element each element of each window is. A sum runs over channels and then
//! over the elements of the window in row-major order, in the accumulator of the other sums.

use super::index::indices;
use super::number::{Number, Order};
use super::reduce::{All, Any, Fold, Max, Min, Prod, Sum};
use super::tensor::{collect, filled, with_any, with_number};
use super::{Cell, Data, EvalError, Tensor};
use crate::{Extreme, Reduction, Windows};

/// Windows over the last dimensions of tensors.
struct Grid<'a> {
    extents: &'a [usize],
    counts: &'a [usize],
    sizes: &'a [usize],
    /// For each dimension, window and element of it, the element of the tensor.
    tables: Vec<Vec<Option<usize>>>,
}

impl<'a> Grid<'a> {
    fn new(windows: &Windows, extents: &'a [usize], sizes: &'a [usize], counts: &'a [usize]) -> Grid<'a> {
        let table = |axis: usize| {
            let pairs = (0..counts[axis]).flat_map(|at| (0..sizes[axis]).map(move |tap| (at, tap)));
            pairs.map(|(at, tap)| windows.element(axis, extents[axis], at, tap)).collect()
        };
        Grid { extents, counts, sizes, tables: (0..extents.len()).map(table).collect() }
    }

    /// Number of windows.
    fn windows(&self) -> usize {
        self.counts.iter().product()
    }

    /// Elements that windows lie over.
    fn elements(&self) -> usize {
        self.extents.iter().product()
    }

    /// The positions of all elements of a window in row-major order; none for padding and holes.
    fn window(&self, mut at: usize, positions: &mut Vec<Option<usize>>) {
        positions.clear();
        positions.push(Some(0));
        let mut place = vec![0; self.counts.len()];
        for axis in (0..self.counts.len()).rev() {
            place[axis] = at % self.counts[axis];
            at /= self.counts[axis];
        }
        for (axis, &at) in place.iter().enumerate() {
            let row = &self.tables[axis][at * self.sizes[axis]..][..self.sizes[axis]];
            let outer = std::mem::take(positions);
            let join = |before: Option<usize>| row.iter().map(move |i| Some(before? * self.extents[axis] + (*i)?));
            positions.extend(outer.into_iter().flat_map(join));
        }
    }
}

/// The convolution of tensors that inference accepted.
pub(super) fn convolution(
    x: &Tensor,
    kernel: &Tensor,
    windows: &Windows,
    groups: usize,
    shape: &[usize],
) -> Result<Data, EvalError> {
    let (extents, sizes) = (&x.shape()[2..], &kernel.shape()[2..]);
    let grid = Grid::new(windows, extents, sizes, &shape[2..]);
    let size = Size { batch: shape[0], outputs: shape[1], channels: kernel.shape()[1], groups };
    with_number!(x.data(), cells => convolve(cells, kernel, &grid, size))
}

/// The extents of a convolution beside those of its windows.
#[derive(Clone, Copy)]
struct Size {
    batch: usize,
    outputs: usize,
    /// Channels of a group.
    channels: usize,
    groups: usize,
}

fn convolve<T: Number>(x: &[T], kernel: &Tensor, grid: &Grid<'_>, size: Size) -> Result<Data, EvalError> {
    let kernel = kernel.cells::<T>()?;
    let Size { batch, outputs, channels, groups } = size;
    let (windows, elements, taps) = (grid.windows(), grid.elements(), grid.sizes.iter().product::<usize>());
    let mut out = filled(batch * outputs * windows, T::default())?;
    let mut positions = Vec::new();
    if out.is_empty() {
        return Ok(T::data(out));
    }
    for window in 0..windows {
        grid.window(window, &mut positions);
        for n in 0..batch {
            for o in 0..outputs {
                let group = o / (outputs / groups);
                let mut sum = T::ZERO;
                for c in 0..channels {
                    let plane = &x[((n * groups + group) * channels + c) * elements..][..elements];
                    let weights = &kernel[(o * channels + c) * taps..][..taps];
                    for (position, &weight) in positions.iter().zip(weights) {
                        // Padding takes part: zero times infinity is NaN.
                        let element = position.map_or(T::ZERO, |i| plane[i].acc());
                        sum = T::sum(sum, T::product(element, weight.acc()));
                    }
                }
                out[(n * outputs + o) * windows + window] = T::round(sum);
            }
        }
    }
    Ok(T::data(out))
}

/// The last dimensions of a shape, as many as windows have.
fn last<'a>(shape: &'a [usize], sizes: &[usize]) -> &'a [usize] {
    &shape[shape.len() - sizes.len()..]
}

/// Combines the elements of each window.
pub(super) fn reduce(
    x: &Tensor,
    kind: Reduction,
    sizes: &[usize],
    windows: &Windows,
    shape: &[usize],
) -> Result<Data, EvalError> {
    let grid = Grid::new(windows, last(x.shape(), sizes), sizes, last(shape, sizes));
    let n = shape.iter().product();
    fn run<T: Cell, F: Fold<T>>(_: F, x: &[T], n: usize, grid: &Grid<'_>) -> Result<Data, EvalError> {
        let fold = |plane: &[T], positions: &[Option<usize>]| {
            F::finish(positions.iter().flatten().fold(F::START, |acc, &i| F::step(acc, plane[i])))
        };
        each_window(x, n, grid, fold).map(T::data)
    }
    match kind {
        Reduction::Sum => with_number!(x.data(), cells => run(Sum, cells, n, &grid)),
        Reduction::Prod => with_number!(x.data(), cells => run(Prod, cells, n, &grid)),
        Reduction::Max => with_any!(x.data(), cells => run(Max, cells, n, &grid)),
        Reduction::Min => with_any!(x.data(), cells => run(Min, cells, n, &grid)),
        Reduction::Any => run(Any, x.cells()?, n, &grid),
        Reduction::All => run(All, x.cells()?, n, &grid),
    }
}

/// The position of the extreme of each window.
pub(super) fn arg(
    x: &Tensor,
    kind: Extreme,
    sizes: &[usize],
    windows: &Windows,
    shape: &[usize],
) -> Result<Data, EvalError> {
    let grid = Grid::new(windows, last(x.shape(), sizes), sizes, last(shape, sizes));
    let n = shape.iter().product();
    fn run<T: Order>(kind: Extreme, x: &[T], n: usize, grid: &Grid<'_>) -> Result<Data, EvalError> {
        let better = |x: T, best: T| match kind {
            Extreme::Max => x.key() > best.key(),
            Extreme::Min => x.key() < best.key(),
        };
        let first = |plane: &[T], positions: &[Option<usize>]| {
            let best = positions.iter().flatten().copied().reduce(|best, i| {
                let (x, so_far) = (plane[i], plane[best]);
                if !so_far.nan() && (x.nan() || better(x, so_far)) { i } else { best }
            });
            best.map_or(-1, |i| i as i64)
        };
        each_window(x, n, grid, first).map(i64::data)
    }
    with_any!(x.data(), cells => run(kind, cells, n, &grid))
}

/// One value a window, for each of the planes of `x`, which give `n` values in all.
fn each_window<T, R: Copy + Default>(
    x: &[T],
    n: usize,
    grid: &Grid<'_>,
    value: impl Fn(&[T], &[Option<usize>]) -> R,
) -> Result<Vec<R>, EvalError> {
    let mut out = filled(n, R::default())?;
    let (windows, elements) = (grid.windows(), grid.elements());
    let mut positions = Vec::new();
    for window in 0..windows.min(n) {
        grid.window(window, &mut positions);
        for plane in 0..n / windows {
            out[plane * windows + window] = value(&x[plane * elements..][..elements], &positions);
        }
    }
    Ok(out)
}

/// The updates of the windows, each added to the element that its index names, if the window holds it.
pub(super) fn scatter(
    updates: &Tensor,
    at: &Tensor,
    sizes: &[usize],
    windows: &Windows,
    shape: &[usize],
) -> Result<Data, EvalError> {
    let at = indices(at)?;
    let grid = Grid::new(windows, last(shape, sizes), sizes, last(updates.shape(), sizes));
    fn run<T: Number>(updates: &[T], at: &[i64], grid: &Grid<'_>, n: usize) -> Result<Data, EvalError> {
        let mut sums = filled(n, T::ZERO)?;
        let (windows, elements) = (grid.windows(), grid.elements());
        let mut positions = Vec::new();
        for window in 0..windows.min(updates.len()) {
            grid.window(window, &mut positions);
            for plane in 0..updates.len() / windows {
                let from = plane * windows + window;
                let named = positions.iter().flatten().find(|&&i| i as i64 == at[from]);
                if let Some(i) = named {
                    let sum = &mut sums[plane * elements + i];
                    *sum = T::sum(*sum, updates[from].acc());
                }
            }
        }
        collect(sums.into_iter().map(T::round)).map(T::data)
    }
    with_number!(updates.data(), cells => run(cells, &at, &grid, shape.iter().product()))
}
