//! Arithmetic of views: what two of them in a row are, and which change nothing.

use monograph_ir::{Axes, Op, Shape};

/// The permutation that is `inner` followed by `outer`.
pub(crate) fn permute_twice(inner: &[usize], outer: &[usize]) -> Axes {
    outer.iter().map(|&a| inner[a]).collect()
}

/// Whether a permutation only moves extents of 1, so that the elements stay in their row-major order.
pub(crate) fn keeps_order(axes: &[usize], shape: &Shape) -> bool {
    axes.iter().filter(|&&a| shape[a] != 1).is_sorted()
}

/// Whether a permutation swaps the last two dimensions and nothing else.
pub(crate) fn swaps_last_two(axes: &[usize]) -> bool {
    let rank = axes.len();
    rank >= 2
        && axes[rank - 2] == rank - 1
        && axes[rank - 1] == rank - 2
        && axes[..rank - 2].iter().enumerate().all(|(i, &a)| i == a)
}

/// The extents from the first that is not 1.
pub(crate) fn without_leading_ones(shape: &Shape) -> &[usize] {
    let ones = shape.iter().take_while(|&&d| d == 1).count();
    &shape[ones..]
}

/// The shape without some of its dimensions.
pub(crate) fn without(shape: &Shape, axes: &[usize]) -> Shape {
    shape.iter().enumerate().filter(|(i, _)| !axes.contains(i)).map(|(_, &d)| d).collect()
}

/// For each dimension of `to`, whether a broadcast from `from` repeats elements along it.
pub(crate) fn repeats(from: &Shape, to: &Shape) -> Vec<bool> {
    let missing = to.rank() - from.rank();
    (0..to.rank()).map(|i| to[i] != 1 && (i < missing || from[i - missing] == 1)).collect()
}

/// The attributes of [`Op::Slice`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Slice {
    pub(crate) starts: Axes,
    pub(crate) limits: Axes,
    pub(crate) strides: Axes,
}

impl Slice {
    /// The op.
    pub(crate) fn op(self) -> Op {
        Op::Slice { starts: self.starts, limits: self.limits, strides: self.strides }
    }

    /// The shape of its result.
    pub(crate) fn extents(&self) -> Axes {
        (0..self.starts.len()).map(|i| (self.limits[i] - self.starts[i]).div_ceil(self.strides[i])).collect()
    }

    /// The same slice with limits just behind the last index, and stride 1 where at most one index is left.
    pub(crate) fn tight(&self) -> Slice {
        let mut tight = self.clone();
        for (i, &extent) in self.extents().iter().enumerate() {
            if extent <= 1 {
                tight.strides[i] = 1;
            }
            tight.limits[i] = match extent {
                0 => tight.starts[i],
                n => tight.starts[i] + (n - 1) * tight.strides[i] + 1,
            };
        }
        tight
    }

    /// This slice followed by another, or `None` where a stride does not fit.
    pub(crate) fn then(&self, outer: &Slice) -> Option<Slice> {
        let mut both = self.clone();
        for i in 0..self.starts.len() {
            both.strides[i] = self.strides[i].checked_mul(outer.strides[i])?;
            if outer.limits[i] == outer.starts[i] {
                both.limits[i] = both.starts[i];
                continue;
            }
            // First and last index lie inside the operand, so neither sum overflows.
            both.limits[i] = self.starts[i] + (outer.limits[i] - 1) * self.strides[i] + 1;
            both.starts[i] = self.starts[i] + outer.starts[i] * self.strides[i];
        }
        Some(both)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smallvec::smallvec;

    #[test]
    fn slices_compose() {
        let inner = Slice { starts: smallvec![1], limits: smallvec![10], strides: smallvec![2] };
        let outer = Slice { starts: smallvec![1], limits: smallvec![5], strides: smallvec![3] };
        // 1 3 5 7 9, of which 3 and 9.
        let both = inner.then(&outer).unwrap().tight();
        assert_eq!(both, Slice { starts: smallvec![3], limits: smallvec![10], strides: smallvec![6] });
        assert_eq!(both.extents()[..], [2]);
    }

    #[test]
    fn slices_are_made_tight() {
        let slice = Slice { starts: smallvec![0, 2, 1], limits: smallvec![8, 3, 1], strides: smallvec![3, 9, 4] };
        let tight = Slice { starts: smallvec![0, 2, 1], limits: smallvec![7, 3, 1], strides: smallvec![3, 1, 1] };
        assert_eq!(slice.tight(), tight);
    }

    #[test]
    fn permutations_compose() {
        assert_eq!(permute_twice(&[2, 0, 1], &[1, 0, 2])[..], [0, 2, 1]);
        assert_eq!(permute_twice(&[2, 0, 1], &[1, 2, 0])[..], [0, 1, 2]);
        assert!(keeps_order(&[1, 0, 2], &Shape::from([1, 5, 3])));
        assert!(!keeps_order(&[1, 0, 2], &Shape::from([2, 5, 3])));
        assert!(swaps_last_two(&[0, 2, 1]) && !swaps_last_two(&[1, 0, 2]) && !swaps_last_two(&[0]));
    }

    #[test]
    fn broadcasts_repeat_missing_and_single_dimensions() {
        assert_eq!(repeats(&Shape::from([3, 1]), &Shape::from([2, 3, 4])), [true, false, true]);
        assert_eq!(repeats(&Shape::from([1]), &Shape::from([1])), [false]);
    }
}
