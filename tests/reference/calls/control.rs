//! Branches and loops.

use super::{Call, calls};
use monograph::{cond, fori_loop};

pub(super) const CALLS: &[Call] = calls! {
    |flag, x, y| cond(&flag, || x + y, || x - y);
    |flag, x, y| cond(&flag, || (x, y), || (y, x));
    |x| fori_loop(0, x, |i, x| x * 3 + i);
    |x| fori_loop(5, x, |i, x| x * 3 + i);
    |x, y| fori_loop(4, (x, y), |_, (x, y)| (y, x + y));
};
