//! Symbolic index maps: which element of an operand an element of the result needs.
//!
//! An [`Index`] is a sum of atoms with integer coefficients in a normal form, so that equal maps compare equal,
//! strides can be read off, and the quotients and remainders of a reshape vanish where extents line up. [`through`]
//! maps the indices of a result to those of an operand for the ops that only rename indices.

mod view;

pub use view::through;

use std::collections::BTreeMap;

/// Something an index is made of. Every atom knows its range, which is what simplification lives on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Atom {
    /// A loop variable in `0..extent`.
    Var {
        /// Which one.
        id: u32,
        /// One past its greatest value; at least 1.
        extent: i64,
    },
    /// An integer computed in the kernel, known to lie in `0..extent` (after clamping).
    Value {
        /// Which one; the generator of code gives it meaning.
        id: u32,
        /// One past its greatest value; at least 1.
        extent: i64,
    },
    /// Quotient, rounded down.
    Div(Box<Index>, i64),
    /// Remainder, not negative.
    Mod(Box<Index>, i64),
    /// Limited to `0..extent`.
    Clamp(Box<Index>, i64),
}

/// `constant + Σ coefficient · atom`; no coefficient is zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Index {
    /// The part without atoms.
    pub constant: i64,
    /// The rest.
    pub terms: BTreeMap<Atom, i64>,
}

impl Atom {
    /// Smallest and greatest value, both included.
    pub fn range(&self) -> (i64, i64) {
        match self {
            Atom::Var { extent, .. } | Atom::Value { extent, .. } | Atom::Clamp(_, extent) => (0, (extent - 1).max(0)),
            Atom::Div(index, by) => {
                let (low, high) = index.range();
                (low.div_euclid(*by), high.div_euclid(*by))
            }
            Atom::Mod(_, by) => (0, by - 1),
        }
    }
}

impl Index {
    /// A number.
    pub fn constant(constant: i64) -> Index {
        Index { constant, terms: BTreeMap::new() }
    }

    /// A loop variable in `0..extent`; the constant 0 where the extent is 1.
    pub fn var(id: u32, extent: usize) -> Index {
        if extent <= 1 { Index::default() } else { Index::atom(Atom::Var { id, extent: extent as i64 }) }
    }

    /// A value of the kernel, known to lie in `0..extent`.
    pub fn value(id: u32, extent: usize) -> Index {
        if extent <= 1 { Index::default() } else { Index::atom(Atom::Value { id, extent: extent as i64 }) }
    }

    fn atom(atom: Atom) -> Index {
        Index { constant: 0, terms: BTreeMap::from([(atom, 1)]) }
    }

    /// Smallest and greatest value, both included, saturating.
    pub fn range(&self) -> (i64, i64) {
        let mut range = (self.constant, self.constant);
        for (atom, &coefficient) in &self.terms {
            let (low, high) = atom.range();
            let (a, b) = (low.saturating_mul(coefficient), high.saturating_mul(coefficient));
            range = (range.0.saturating_add(a.min(b)), range.1.saturating_add(a.max(b)));
        }
        range
    }

    /// Whether every value lies in `0..extent`.
    pub fn within(&self, extent: usize) -> bool {
        let (low, high) = self.range();
        low >= 0 && high < extent as i64
    }

    /// The sum.
    pub fn add(&self, other: &Index) -> Index {
        let mut sum = self.clone();
        sum.constant += other.constant;
        for (atom, &coefficient) in &other.terms {
            let entry = sum.terms.entry(atom.clone()).or_insert(0);
            *entry += coefficient;
            if *entry == 0 {
                sum.terms.remove(atom);
            }
        }
        sum.rejoin()
    }

    /// Puts quotient and remainder of one number together again: `by · (i / by) + i % by` is `i`. A position that was
    /// taken apart by one shape and put together by another is itself again.
    fn rejoin(mut self) -> Index {
        let parts = |index: &Index| {
            index.terms.iter().find_map(|(atom, &coefficient)| match atom {
                Atom::Mod(inner, by) => {
                    let quotient = Atom::Div(inner.clone(), *by);
                    let whole = index.terms.get(&quotient) == Some(&coefficient.checked_mul(*by)?);
                    whole.then(|| (atom.clone(), quotient, inner.times(coefficient)))
                }
                _ => None,
            })
        };
        while let Some((remainder, quotient, whole)) = parts(&self) {
            self.terms.remove(&remainder);
            self.terms.remove(&quotient);
            self = self.add(&whole);
        }
        self
    }

    /// The sum with a number.
    pub fn plus(&self, constant: i64) -> Index {
        Index { constant: self.constant + constant, terms: self.terms.clone() }
    }

    /// The product with a number.
    pub fn times(&self, factor: i64) -> Index {
        if factor == 0 {
            return Index::default();
        }
        let terms = self.terms.iter().map(|(atom, c)| (atom.clone(), c * factor)).collect();
        Index { constant: self.constant * factor, terms }
    }

    /// A divisor `g` of `by`, greater than 1, such that the index is `g · y + r` with `0 <= r < g`: gives `g`, `y`
    /// and `r`. Found among the common divisors of `by` and the greatest coefficients.
    fn leading(&self, by: i64) -> Option<(i64, Index, Index)> {
        let mut coefficients: Vec<i64> = self.terms.values().map(|c| c.abs()).collect();
        coefficients.sort_unstable_by(|a, b| b.cmp(a));
        let mut divisor = by;
        for coefficient in coefficients {
            divisor = gcd(divisor, coefficient);
            if divisor == 1 {
                return None;
            }
            let (quotient, rest) = self.split(divisor);
            let (low, high) = rest.range();
            if low >= 0 && high < divisor {
                return Some((divisor, quotient, rest));
            }
        }
        None
    }

    /// The parts with coefficients divisible by `by`, divided by it, and the rest, whose constant is in `0..by`.
    fn split(&self, by: i64) -> (Index, Index) {
        let mut quotient = Index::constant(self.constant.div_euclid(by));
        let mut rest = Index::constant(self.constant.rem_euclid(by));
        for (atom, &coefficient) in &self.terms {
            match coefficient % by {
                0 => quotient.terms.insert(atom.clone(), coefficient / by),
                _ => rest.terms.insert(atom.clone(), coefficient),
            };
        }
        (quotient, rest)
    }

    /// The quotient by a positive number, rounded down.
    pub fn div(&self, by: i64) -> Index {
        if by == 1 {
            return self.clone();
        }
        let (quotient, rest) = self.split(by);
        let (low, high) = rest.range();
        if low.div_euclid(by) == high.div_euclid(by) {
            return quotient.plus(low.div_euclid(by));
        }
        if let [(Atom::Div(inner, first), 1)] = rest.terms.iter().map(|(a, c)| (a, *c)).collect::<Vec<_>>()[..]
            && rest.constant == 0
        {
            return quotient.add(&inner.div(first * by));
        }
        if let Some((divisor, leading, _)) = rest.leading(by) {
            return quotient.add(&leading.div(by / divisor));
        }
        if let Some((scale, major, _)) = rest.scaled(by) {
            return quotient.add(&major.div(by / scale));
        }
        quotient.add(&Index::atom(Atom::Div(Box::new(rest), by)))
    }

    /// The remainder by a positive number, not negative.
    pub fn rem(&self, by: i64) -> Index {
        if by == 1 {
            return Index::default();
        }
        let (_, rest) = self.split(by);
        let (low, high) = rest.range();
        if low.div_euclid(by) == high.div_euclid(by) {
            return rest.plus(-low.div_euclid(by) * by);
        }
        if let Some((divisor, leading, rest)) = rest.leading(by) {
            return leading.rem(by / divisor).times(divisor).add(&rest);
        }
        if let Some((scale, major, minor)) = rest.scaled(by) {
            return major.rem(by / scale).times(scale).add(&minor);
        }
        Index::atom(Atom::Mod(Box::new(rest), by))
    }

    /// The index as `scale · major + minor` with `minor` in `0..scale`, for the greatest divisor of `by` where that is
    /// possible: quotient and remainder by `by` then depend on `major` alone.
    fn scaled(&self, by: i64) -> Option<(i64, Index, Index)> {
        let gcd = |mut a: i64, mut b: i64| {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        let mut scales: Vec<i64> = self.terms.values().map(|c| gcd(by, c.saturating_abs())).collect();
        scales.sort_unstable_by_key(|&scale| std::cmp::Reverse(scale));
        scales.into_iter().filter(|&scale| scale > 1 && scale < by).find_map(|scale| {
            let (major, minor) = self.split(scale);
            let (low, high) = minor.range();
            (low >= 0 && high < scale && !major.terms.is_empty()).then_some((scale, major, minor))
        })
    }

    /// Limited to `0..extent`; `extent` is at least 1.
    pub fn limit(&self, extent: usize) -> Index {
        if self.within(extent) {
            return self.clone();
        }
        if extent == 1 { Index::default() } else { Index::atom(Atom::Clamp(Box::new(self.clone()), extent as i64)) }
    }

    /// The same number with each quotient and remainder of one index put together again:
    /// `(x div n) · n·c + (x mod n) · c` is `x · c`.
    pub fn merge(mut self) -> Index {
        loop {
            let whole = self.terms.iter().find_map(|(atom, &coefficient)| {
                let Atom::Mod(inner, by) = atom else { return None };
                let quotient = inner.div(*by).times(coefficient * by);
                // `inner` is reduced by `by`, so its quotient is one atom where it was not a number.
                let present = quotient.terms.iter().all(|(a, c)| self.terms.get(a) == Some(c));
                (present && !quotient.terms.is_empty()).then(|| {
                    let remainder = Index { constant: 0, terms: BTreeMap::from([(atom.clone(), coefficient)]) };
                    self.add(&quotient.add(&remainder).times(-1)).add(&inner.times(coefficient))
                })
            });
            match whole {
                Some(next) => self = next,
                None => return self,
            }
        }
    }

    /// Number of atoms, nested ones too: a measure of the text that computes it.
    pub fn size(&self) -> usize {
        let inner = |atom: &Atom| match atom {
            Atom::Var { .. } | Atom::Value { .. } => 1,
            Atom::Div(index, _) | Atom::Mod(index, _) | Atom::Clamp(index, _) => 1 + index.size(),
        };
        self.terms.keys().map(inner).sum()
    }

    /// The coefficients of the loop variables `0..variables`, if the index is made of nothing else. A variable of
    /// extent 1 does not occur, so its coefficient is 0.
    pub fn affine(&self, variables: u32) -> Option<(i64, Vec<i64>)> {
        let mut strides = vec![0; variables as usize];
        for (atom, &coefficient) in &self.terms {
            match atom {
                Atom::Var { id, .. } if *id < variables => strides[*id as usize] = coefficient,
                _ => return None,
            }
        }
        Some((self.constant, strides))
    }

    /// Replaces atoms of the top level and below.
    pub fn substitute(&self, replace: &dyn Fn(&Atom) -> Option<Index>) -> Index {
        self.terms.iter().fold(Index::constant(self.constant), |sum, (atom, &coefficient)| {
            let new = replace(atom).unwrap_or_else(|| match atom {
                Atom::Var { .. } | Atom::Value { .. } => Index::atom(atom.clone()),
                Atom::Div(index, by) => index.substitute(replace).div(*by),
                Atom::Mod(index, by) => index.substitute(replace).rem(*by),
                Atom::Clamp(index, extent) => index.substitute(replace).limit(*extent as usize),
            });
            sum.add(&new.times(coefficient))
        })
    }
}

/// The variables `first..` of a space of these extents, outermost first.
pub fn variables(extents: &[usize], first: u32) -> Vec<Index> {
    extents.iter().enumerate().map(|(i, &extent)| Index::var(first + i as u32, extent)).collect()
}

/// The position in memory, in elements, of an index into a dense row-major tensor.
pub fn linear(index: &[Index], extents: &[usize]) -> Index {
    let mut position = Index::default();
    for (i, &extent) in index.iter().zip(extents) {
        position = position.times(extent.max(1) as i64).add(i);
    }
    position.merge()
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i64
}

/// The index into a dense row-major tensor of these extents of a position in memory, in elements.
pub fn delinear(position: &Index, extents: &[usize]) -> Vec<Index> {
    let mut index = Vec::with_capacity(extents.len());
    let mut stride = extents.iter().map(|&e| e.max(1) as i64).product::<i64>();
    for (i, &extent) in extents.iter().enumerate() {
        let extent = extent.max(1) as i64;
        stride /= extent;
        let quotient = position.div(stride);
        // The outermost quotient is in range as the position is, and needs no remainder.
        index.push(if i == 0 && quotient.within(extent as usize) { quotient } else { quotient.rem(extent) });
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(index: &Index, vars: &[i64]) -> i64 {
        index.constant
            + index
                .terms
                .iter()
                .map(|(atom, c)| {
                    c * match atom {
                        Atom::Var { id, .. } | Atom::Value { id, .. } => vars[*id as usize],
                        Atom::Div(i, by) => value(i, vars).div_euclid(*by),
                        Atom::Mod(i, by) => value(i, vars).rem_euclid(*by),
                        Atom::Clamp(i, extent) => value(i, vars).clamp(0, extent - 1),
                    }
                })
                .sum::<i64>()
    }

    fn points(extents: &[usize]) -> Vec<Vec<i64>> {
        extents.iter().fold(vec![vec![]], |all, &e| {
            all.iter().flat_map(|p| (0..e as i64).map(move |i| [&p[..], &[i]].concat())).collect()
        })
    }

    #[test]
    fn reshapes_that_line_up_need_no_division() {
        let merged = delinear(&linear(&variables(&[4, 6, 5], 0), &[4, 6, 5]), &[24, 5]);
        assert_eq!(merged[0].affine(3), Some((0, vec![6, 1, 0])));
        assert_eq!(merged[1].affine(3), Some((0, vec![0, 0, 1])));
        let unit = delinear(&linear(&variables(&[4, 1, 5], 0), &[4, 1, 5]), &[4, 5]);
        assert_eq!(unit, [Index::var(0, 4), Index::var(2, 5)]);
    }

    #[test]
    fn reshapes_agree_with_arithmetic() {
        for (from, to) in [
            (vec![4, 6, 5], vec![24, 5]),
            (vec![24, 5], vec![4, 6, 5]),
            (vec![6, 4], vec![8, 3]),
            (vec![2, 3, 4], vec![4, 3, 2]),
            (vec![1, 7], vec![7, 1, 1]),
            (vec![12], vec![2, 3, 2]),
            (vec![8, 10], vec![2, 4, 10]),
            (vec![8, 10], vec![2, 4, 5, 2]),
            (vec![12, 10], vec![3, 8, 5]),
        ] {
            let index = delinear(&linear(&variables(&from, 0), &from), &to);
            for (position, point) in points(&from).iter().enumerate() {
                let mut rest = position as i64;
                let mut expected = vec![0; to.len()];
                for (i, &extent) in to.iter().enumerate().rev() {
                    expected[i] = rest % extent as i64;
                    rest /= extent as i64;
                }
                let got: Vec<i64> = index.iter().map(|i| value(i, point)).collect();
                assert_eq!(got, expected, "{from:?} to {to:?} at {point:?}");
            }
        }
    }

    #[test]
    fn what_is_below_the_divisor_s_parts_does_not_count() {
        let (row, column) = (Index::var(0, 128), Index::var(1, 1000));
        let index = delinear(&row.times(1000).add(&column), &[2, 64, 1000]);
        assert_eq!(index, [row.div(64), row.rem(64), column]);
    }

    #[test]
    fn split_and_merged_again_is_the_variable() {
        let v = Index::var(0, 24);
        for shape in [vec![4, 6], vec![2, 3, 4], vec![3, 1, 8]] {
            assert_eq!(linear(&delinear(&v, &shape), &shape), v, "{shape:?}");
            assert_eq!(delinear(&linear(&delinear(&v, &shape), &shape), &[6, 4]), delinear(&v, &[6, 4]));
        }
        let split = delinear(&v, &[4, 6]);
        assert_eq!(split[1], Index::atom(Atom::Mod(Box::new(v.clone()), 6)));
        assert_eq!(v.times(6).plus(3).div(6), v);
        assert_eq!(v.times(6).plus(3).rem(6), Index::constant(3));
        assert_eq!(v.plus(-5).limit(24).range(), (0, 23));
        for extents in [vec![4, 6], vec![2, 3, 4], vec![2, 2, 3, 2]] {
            assert_eq!(linear(&delinear(&v, &extents), &extents), v, "{extents:?}");
        }
        let reversed = v.times(-1).plus(23);
        assert_eq!(linear(&delinear(&reversed, &[2, 12]), &[2, 12]), reversed);
    }

    #[test]
    fn the_lanes_of_a_vector_stay_next_to_each_other() {
        let lane = |j| Index::var(0, 512).times(4).plus(j);
        assert_eq!(lane(3).rem(512), Index::var(0, 512).rem(128).times(4).plus(3));
        assert_eq!(lane(3).div(512), Index::var(0, 512).div(128));
        assert_eq!(lane(2).rem(4), Index::constant(2));
        // Batches of matrices, of which only the batches are split.
        let position = linear(&variables(&[6, 20, 24], 0), &[6, 20, 24]);
        let split = delinear(&position, &[2, 3, 20, 24]);
        assert_eq!(split[..2], delinear(&Index::var(0, 6), &[2, 3])[..]);
    }
}
