//! Sorting, and the static alternatives to results whose shape depends on data.

use super::{Call, calls};

pub(super) const CALLS: &[Call] = calls! {
    |x| x.sort(0);
    |x| x.sort(1);
    |x| x.sort(-1);
    |x| x.sort_descending(0);
    |x| x.sort_descending(1);
    |x| x.sort_descending(-1);
    |x| x.argsort(0);
    |x| x.argsort(1);
    |x| x.argsort(-1);
    |x| x.argsort_descending(0);
    |x| x.argsort_descending(1);
    |x| x.argsort_descending(-1);
    |x| x.topk(0, 0);
    |x| x.topk(5, 0);
    |x| x.topk(7, 1);
    |x| x.topk(20, 1);
    |x| x.topk(1, -1);
    |x| x.topk(6, -1);
    |x| x.nonzero_padded(0, -7);
    |x| x.nonzero_padded(5, -7);
    |x| x.nonzero_padded(60, -7);
    |x, mask, fill| x.masked_select_padded(&mask, 3, fill);
    |x, mask, fill| x.masked_select_padded(&mask, 60, fill);
    |x, fill| x.unique_padded(2, fill);
    |x, fill| x.unique_padded(3, fill);
    |x, fill| x.unique_padded(60, fill);
};
