//! Reductions, scans, and what is computed from them.

use super::{Call, calls};
use monograph::DType;

/// [`calls`], before which methods are listed that are called with every way to write axes.
macro_rules! calls_with_axes {
    ([$($method:ident)*] $($calls:tt)*) => {
        calls_with_axes!(@flat [$(
            [|x| x.$method(..);]
            [|x| x.$method(1);]
            [|x| x.$method(-1);]
            [|x| x.$method([0, 2]);]
            [|x| x.$method([2, 0]);]
        )*] $($calls)*)
    };
    (@flat [$([$($call:tt)*])*] $($calls:tt)*) => { calls! { $($($call)*)* $($calls)* } };
}

pub(super) const CALLS: &[Call] = calls_with_axes! {
    [
        sum prod max min any all mean var std logsumexp
        sum_keep prod_keep max_keep min_keep any_keep all_keep mean_keep var_keep std_keep
    ]
    |x| x.mean(0);
    |x| x.var(0);
    |x| x.std(0);
    |x| x.logsumexp(0);
    |x| x.cumsum(1);
    |x| x.cumsum(-1);
    |x| x.cumprod(1);
    |x| x.cumprod(-1);
    |x| x.cummax(1);
    |x| x.cummax(-1);
    |x| x.cummin(1);
    |x| x.cummin(-1);
    |x| x.argmax(1);
    |x| x.argmax(-1);
    |x| x.argmin(1);
    |x| x.argmin(-1);
    |x| x.count(1);
    |x| x.count(..);
    |x| x.sum_as(DType::I64, 1);
    |x| x.sum_as(DType::F32, 1);
    |x| x.sum_as(DType::F32, ..);
};
