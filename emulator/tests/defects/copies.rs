//! Asynchronous copies.

use crate::{Case, check, clean, defect};
use monograph_ir::FindingKind::{PendingCopy, Race, Uninitialised};

const fn warp(case: Case) -> Case {
    case.launch(1, 32).y(128)
}

const CASES: &[Case] = &[
    warp(clean("waited")),
    warp(defect("no_wait", PendingCopy)),
    warp(defect("no_wait_own", PendingCopy)),
    warp(defect("no_barrier", Race)),
    warp(defect("no_barrier_next", Race)),
    warp(defect("barrier_before_the_wait", PendingCopy)),
    warp(defect("barrier_before_the_wait_next", PendingCopy)),
    warp(defect("one_group_too_few", PendingCopy)),
    warp(defect("overwritten_too_early", Race)),
    warp(defect("written_meanwhile", Race)),
    warp(defect("source_written_meanwhile", PendingCopy)),
    warp(clean("groups")),
    warp(defect("groups_first_too_few", PendingCopy)),
    warp(defect("groups_last_too_few", PendingCopy)),
    warp(clean("bulk_waited")),
    warp(clean("bulk_one_waits_for_all")),
    warp(defect("bulk_no_wait", PendingCopy)),
    warp(defect("bulk_one_waits", PendingCopy)),
    warp(defect("bulk_others_at_once", Race)),
    warp(defect("bulk_unused", PendingCopy)),
    warp(defect("bulk_source_written_meanwhile", PendingCopy)),
    warp(clean("stages")),
    warp(defect("stages_second_only", PendingCopy)),
    warp(defect("stages_one_waits_for_the_first", PendingCopy)),
    warp(clean("ring")).launch(1, 64),
    warp(defect("mbarrier_never_made", Uninitialised)),
    warp(defect("mbarrier_made_too_late", Race)),
];

#[test]
fn asynchronous_copies() {
    check(include_str!("copies.cu"), CASES);
}
