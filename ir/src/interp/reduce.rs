//! Reductions, arg-reductions and scans.
//!
//! Elements combine one after the other in row-major order, beginning at the identity (so a sum of nothing but -0 is
//! +0). Sums and products of `f32` run in `f64`, which is at least as exact as any kernel.

use super::index::Around;
use super::movement::{collapse, walk};
use super::number::{Number, Order, maximum, minimum};
use super::tensor::{collect, filled, room, with_any, with_number};
use super::{Cell, Data, EvalError, Tensor};
use crate::{Extreme, Reduction};

/// How elements combine: a running value, and what is stored of it.
pub(super) trait Fold<T> {
    type Acc: Copy;
    const START: Self::Acc;

    fn step(acc: Self::Acc, x: T) -> Self::Acc;
    fn finish(acc: Self::Acc) -> T;
}

pub(super) struct Sum;
pub(super) struct Prod;
pub(super) struct Max;
pub(super) struct Min;
pub(super) struct Any;
pub(super) struct All;

impl<T: Number> Fold<T> for Sum {
    type Acc = T::Acc;
    const START: T::Acc = T::ZERO;

    #[inline(always)]
    fn step(acc: T::Acc, x: T) -> T::Acc {
        T::sum(acc, x.acc())
    }
    #[inline(always)]
    fn finish(acc: T::Acc) -> T {
        T::round(acc)
    }
}

impl<T: Number> Fold<T> for Prod {
    type Acc = T::Acc;
    const START: T::Acc = T::ONE;

    #[inline(always)]
    fn step(acc: T::Acc, x: T) -> T::Acc {
        T::product(acc, x.acc())
    }
    #[inline(always)]
    fn finish(acc: T::Acc) -> T {
        T::round(acc)
    }
}

/// Folds whose running value is an element.
macro_rules! plain {
    ($($fold:ident, $T:ident: $bound:path, $start:expr, $step:expr;)*) => {$(
        impl<$T: $bound> Fold<$T> for $fold {
            type Acc = $T;
            const START: $T = $start;

            #[inline(always)]
            fn step(acc: $T, x: $T) -> $T {
                $step(acc, x)
            }
            #[inline(always)]
            fn finish(acc: $T) -> $T {
                acc
            }
        }
    )*};
}

plain! {
    Max, T: Order, T::LOWEST, maximum;
    Min, T: Order, T::HIGHEST, minimum;
}

impl Fold<bool> for Any {
    type Acc = bool;
    const START: bool = false;

    fn step(acc: bool, x: bool) -> bool {
        acc | x
    }
    fn finish(acc: bool) -> bool {
        acc
    }
}

impl Fold<bool> for All {
    type Acc = bool;
    const START: bool = true;

    fn step(acc: bool, x: bool) -> bool {
        acc & x
    }
    fn finish(acc: bool) -> bool {
        acc
    }
}

/// Combines the elements along some axes.
pub(super) fn reduce(x: &Tensor, kind: Reduction, axes: &[usize]) -> Result<Data, EvalError> {
    if axes.is_empty() {
        return Ok(x.data().clone());
    }
    let shape = x.shape();
    fn run<T: Cell, F: Fold<T>>(_: F, x: &[T], shape: &[usize], axes: &[usize]) -> Result<Data, EvalError> {
        reduce_as::<T, F>(x, shape, axes)
    }
    match kind {
        Reduction::Sum => with_number!(x.data(), cells => run(Sum, cells, shape, axes)),
        Reduction::Prod => with_number!(x.data(), cells => run(Prod, cells, shape, axes)),
        Reduction::Max => with_any!(x.data(), cells => run(Max, cells, shape, axes)),
        Reduction::Min => with_any!(x.data(), cells => run(Min, cells, shape, axes)),
        Reduction::Any => run(Any, x.cells()?, shape, axes),
        Reduction::All => run(All, x.cells()?, shape, axes),
    }
}

fn reduce_as<T: Cell, F: Fold<T>>(x: &[T], shape: &[usize], axes: &[usize]) -> Result<Data, EvalError> {
    let mut results = 1;
    let mut loops: Vec<(usize, [isize; 2])> = Vec::with_capacity(shape.len());
    let mut stride = 1;
    for (axis, &extent) in shape.iter().enumerate().rev() {
        if axes.contains(&axis) {
            loops.push((extent, [stride, 0]));
        } else {
            loops.push((extent, [stride, results as isize]));
            results *= extent;
        }
        stride *= extent as isize;
    }
    let mut accs = filled(results, F::START)?;
    if !x.is_empty() {
        let mut loops = collapse(loops.into_iter().rev());
        let (n, step) = loops.pop().unwrap_or((1, [1, 0]));
        walk(&loops, [0, 0], |[from, to]| {
            let row = &x[from as usize..][..n];
            let to = to as usize;
            if step[1] == 0 {
                accs[to] = row.iter().fold(accs[to], |acc, &x| F::step(acc, x));
            } else {
                for (acc, &x) in accs[to..][..n].iter_mut().zip(row) {
                    *acc = F::step(*acc, x);
                }
            }
        });
    }
    collect(accs.into_iter().map(F::finish)).map(T::data)
}

/// Combines each element with those before it along an axis.
pub(super) fn scan(x: &Tensor, kind: Reduction, axis: usize) -> Result<Data, EvalError> {
    let around = Around::axis(x.shape(), axis);
    fn run<T: Cell, F: Fold<T>>(_: F, x: &[T], around: Around) -> Result<Data, EvalError> {
        let mut out = room(x.len())?;
        if !x.is_empty() {
            let mut accs = filled(around.inner, F::START)?;
            for block in x.chunks_exact(around.extent * around.inner) {
                accs.fill(F::START);
                for row in block.chunks_exact(around.inner) {
                    for (acc, &x) in accs.iter_mut().zip(row) {
                        *acc = F::step(*acc, x);
                    }
                    out.extend(accs.iter().map(|&acc| F::finish(acc)));
                }
            }
        }
        Ok(T::data(out))
    }
    match kind {
        Reduction::Sum => with_number!(x.data(), cells => run(Sum, cells, around)),
        Reduction::Prod => with_number!(x.data(), cells => run(Prod, cells, around)),
        Reduction::Max => with_any!(x.data(), cells => run(Max, cells, around)),
        Reduction::Min => with_any!(x.data(), cells => run(Min, cells, around)),
        Reduction::Any => run(Any, x.cells()?, around),
        Reduction::All => run(All, x.cells()?, around),
    }
}

/// The index of the first NaN along an axis, else of the first extreme.
pub(super) fn arg_reduce(x: &Tensor, kind: Extreme, axis: usize) -> Result<Data, EvalError> {
    let around = Around::axis(x.shape(), axis);
    match kind {
        Extreme::Max => with_any!(x.data(), cells => first_best(cells, around, |x, best| x.key().gt(&best.key()))),
        Extreme::Min => with_any!(x.data(), cells => first_best(cells, around, |x, best| x.key().lt(&best.key()))),
    }
}

fn first_best<T: Order>(x: &[T], around: Around, better: impl Fn(T, T) -> bool) -> Result<Data, EvalError> {
    let Around { outer, extent, inner } = around;
    let mut out = room(outer * inner)?;
    if x.is_empty() {
        return Ok(i64::data(out));
    }
    let mut best = filled(inner, (T::default(), 0i64))?;
    for block in x.chunks_exact(extent * inner) {
        for (best, &x) in best.iter_mut().zip(block) {
            *best = (x, 0);
        }
        for (j, row) in block.chunks_exact(inner).enumerate().skip(1) {
            for (best, &x) in best.iter_mut().zip(row) {
                if !best.0.nan() && (x.nan() || better(x, best.0)) {
                    *best = (x, j as i64);
                }
            }
        }
        out.extend(best.iter().map(|b| b.1));
    }
    Ok(i64::data(out))
}
