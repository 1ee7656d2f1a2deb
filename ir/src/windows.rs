//! `Windows`: where the windows of a convolution or of a pooling lie.

use crate::{Amounts, Axes};
use serde::{Deserialize, Serialize};

/// Where windows lie in the last dimensions of a tensor, one entry a dimension.
///
/// Element `tap` of window `at` along a dimension lies `at · stride + tap · dilation − low` into the dimension, in which
/// `input_dilation − 1` holes follow each element but the last, and `low` and `high` positions lie before and behind;
/// negative amounts cut off. There are as many windows as fit.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Windows {
    /// From one window to the next, at least 1.
    pub strides: Axes,
    /// Positions before the first element.
    pub low: Amounts,
    /// Positions behind the last element.
    pub high: Amounts,
    /// From one element of the tensor to the next, at least 1.
    pub input_dilation: Axes,
    /// From one element of a window to the next, at least 1.
    pub dilation: Axes,
}

/// The positions that `extent` elements take with a step of `by`.
pub const fn dilated(extent: usize, by: usize) -> u128 {
    if extent == 0 { 0 } else { (extent as u128 - 1) * by as u128 + 1 }
}

impl Windows {
    /// A window at each position where one fits: no padding, every step 1.
    pub fn dense(rank: usize) -> Windows {
        let ones = Axes::from_elem(1, rank);
        let zeros = Amounts::from_elem(0, rank);
        Windows { strides: ones.clone(), low: zeros.clone(), high: zeros, input_dilation: ones.clone(), dilation: ones }
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.strides.len()
    }

    /// Positions along a dimension with `extent` elements; negative where the padding cuts off more than there is.
    pub fn positions(&self, axis: usize, extent: usize) -> i128 {
        dilated(extent, self.input_dilation[axis]) as i128 + i128::from(self.low[axis]) + i128::from(self.high[axis])
    }

    /// Windows of `size` elements along a dimension with `extent` elements; none where not one fits, or none of the
    /// numbers can be held.
    pub fn count(&self, axis: usize, extent: usize, size: usize) -> Option<usize> {
        let span = i128::try_from(dilated(size, self.dilation[axis])).ok()?;
        let room = self.positions(axis, extent) - span;
        (room >= 0).then(|| usize::try_from(room / self.strides[axis] as i128 + 1).ok()).flatten()
    }

    /// The element along a dimension with `extent` elements that element `tap` of window `at` is, if it is one.
    pub fn element(&self, axis: usize, extent: usize, at: usize, tap: usize) -> Option<usize> {
        let position = at as i128 * self.strides[axis] as i128 + tap as i128 * self.dilation[axis] as i128
            - i128::from(self.low[axis]);
        let step = self.input_dilation[axis] as i128;
        (position % step == 0).then(|| usize::try_from(position / step).ok()).flatten().filter(|&i| i < extent)
    }

    /// The windows of the transposed map: over as many elements as there are windows of `sizes` over `extents`, and
    /// one window for each of those. Element `size − 1 − tap` of window `i` is `at` there, where element `tap` of window
    /// `at` is `i` here.
    pub fn transposed(&self, extents: &[usize], sizes: &[usize]) -> Windows {
        let mut windows = Windows { strides: self.input_dilation.clone(), ..self.clone() };
        windows.input_dilation = self.strides.clone();
        for axis in 0..self.rank() {
            let span = dilated(sizes[axis], self.dilation[axis]) as i64;
            let there = self.count(axis, extents[axis], sizes[axis]).unwrap_or(0);
            windows.low[axis] = span - 1 - self.low[axis];
            // As many positions as the windows, one for each element here, take.
            let needed = dilated(extents[axis], self.input_dilation[axis]) as i64 - 1 + span;
            windows.high[axis] = needed - dilated(there, self.strides[axis]) as i64 - windows.low[axis];
        }
        windows
    }

    /// The windows of the map from `extents` elements to a kernel of `sizes`, which a kernel of as many elements as
    /// there are windows here makes: the derivative with respect to the kernel.
    pub fn of_kernel(&self, extents: &[usize], sizes: &[usize]) -> Windows {
        let mut windows = Windows { strides: self.dilation.clone(), dilation: self.strides.clone(), ..self.clone() };
        for axis in 0..self.rank() {
            let there = self.count(axis, extents[axis], sizes[axis]).unwrap_or(0);
            let needed =
                dilated(sizes[axis], self.dilation[axis]) as i64 - 1 + dilated(there, self.strides[axis]) as i64;
            let before = dilated(extents[axis], self.input_dilation[axis]) as i64 + self.low[axis];
            windows.high[axis] = needed - before;
        }
        windows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(stride: usize, low: i64, high: i64, input_dilation: usize, dilation: usize) -> Windows {
        let (axes, amounts) = (|n| Axes::from_elem(n, 1), |n| Amounts::from_elem(n, 1));
        Windows {
            strides: axes(stride),
            low: amounts(low),
            high: amounts(high),
            input_dilation: axes(input_dilation),
            dilation: axes(dilation),
        }
    }

    /// Every combination of small numbers under which a window fits: windows, extent, size, number of windows.
    fn small() -> impl Iterator<Item = (Windows, usize, usize, usize)> {
        let (low, high) = (-2i64..=2, -2i64..=3);
        low.flat_map(move |l| high.clone().map(move |h| (l, h)))
            .flat_map(|(l, h)| (1..=3).map(move |stride| (l, h, stride)))
            .flat_map(|(l, h, s)| (1..=2).flat_map(move |i| (1..=2).map(move |d| windows(s, l, h, i, d))))
            .flat_map(|w| (1..=5).flat_map(move |extent| [1, 2, 3].map(|size| (w.clone(), extent, size))))
            .filter_map(|(w, extent, size)| w.count(0, extent, size).map(|count| (w, extent, size, count)))
    }

    #[test]
    fn windows_are_where_the_formula_says() {
        let w = windows(2, 1, 1, 1, 1);
        assert_eq!(w.count(0, 5, 3), Some(3));
        assert_eq!((w.element(0, 5, 0, 0), w.element(0, 5, 0, 1), w.element(0, 5, 2, 2)), (None, Some(0), None));
        // Elements 0, hole, 1: the windows of two are (0, hole) and (hole, 1).
        let w = windows(1, 0, 0, 2, 1);
        assert_eq!(w.count(0, 2, 2), Some(2));
        assert_eq!((w.element(0, 2, 0, 0), w.element(0, 2, 0, 1), w.element(0, 2, 1, 1)), (Some(0), None, Some(1)));
        assert_eq!(windows(1, 0, 0, 1, 1).count(0, 2, 3), None);
        assert_eq!(windows(1, -3, 0, 1, 1).count(0, 2, 1), None);
    }

    #[test]
    fn the_transposed_windows_meet_the_same_pairs() {
        for (w, extent, size, count) in small() {
            let t = w.transposed(&[extent], &[size]);
            assert_eq!(t.count(0, count, size), Some(extent), "{w:?} over {extent}");
            for (i, at, tap) in triples(extent, count, size) {
                let here = w.element(0, extent, at, tap) == Some(i);
                assert_eq!(t.element(0, count, i, size - 1 - tap) == Some(at), here, "{w:?} over {extent}");
            }
        }
    }

    #[test]
    fn the_windows_of_the_kernel_meet_the_same_pairs() {
        for (w, extent, size, count) in small() {
            let k = w.of_kernel(&[extent], &[size]);
            assert_eq!(k.count(0, extent, count), Some(size), "{w:?} over {extent}");
            for (i, at, tap) in triples(extent, count, size) {
                let here = w.element(0, extent, at, tap) == Some(i);
                assert_eq!(k.element(0, extent, tap, at) == Some(i), here, "{w:?} over {extent}");
            }
        }
    }

    fn triples(a: usize, b: usize, c: usize) -> impl Iterator<Item = (usize, usize, usize)> {
        (0..a).flat_map(move |i| (0..b).flat_map(move |j| (0..c).map(move |k| (i, j, k))))
    }
}
