//! What is read off a sorted axis.

use super::{Call, calls};

pub(super) const CALLS: &[Call] = calls! {
    |x| x.median(0);
    |x| x.median(1);
    |x| x.quantile(0.25, 1);
    |x| x.quantile(0.75, -1);
    |x| x.quantile(1.0, 1);
    |x| x.quantile(0.0, 1);
    |x| x.kthvalue(1, 1);
    |x| x.kthvalue(4, 1);
    |x| x.kthvalue(6, 1);
};
