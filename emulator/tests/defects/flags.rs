//! Flags and counters.

use crate::{Case, check, clean, defect};
use monograph_ir::FindingKind::{Race, Uninitialised, UnorderedFlag};

pub(crate) const SOURCE: &str = include_str!("flags.cu");

const fn flag(case: Case) -> Case {
    case.launch(2, 32).y(8).f(1)
}

const fn grid(case: Case) -> Case {
    case.launch(4, 32).y(1024).f(1)
}

const fn last(case: Case) -> Case {
    case.launch(4, 32).y(4 * 129).f(1)
}

const CASES: &[Case] = &[
    flag(clean("fences")),
    flag(defect("no_fence", UnorderedFlag)),
    flag(defect("fence_of_the_writer", UnorderedFlag)),
    flag(defect("fence_of_the_reader", UnorderedFlag)),
    flag(defect("fence_behind_the_flag", UnorderedFlag)),
    flag(clean("release_acquire")),
    flag(defect("release_relaxed", UnorderedFlag)),
    flag(defect("relaxed_acquire", UnorderedFlag)),
    flag(clean("atomics_with_fences")),
    flag(defect("atomics_without_fences", UnorderedFlag)),
    flag(defect("plain_flag", Race)),
    flag(defect("flag_before_the_data", Race)),
    flag(clean("naked_spin")).y(256),
    clean("chain").launch(16, 32).y(64).f(16),
    flag(defect("unwritten_flag", Uninitialised)).y(256),
    grid(clean("grid_barrier")),
    grid(defect("grid_relaxed_arrival", UnorderedFlag)),
    grid(defect("grid_relaxed_wait", UnorderedFlag)),
    grid(defect("grid_one_barrier", Race)).launch(8, 32).y(2048),
    grid(defect("grid_one_barrier_volatile", Race)).launch(8, 32).y(2048),
    grid(clean("grid_two_barriers")),
    defect("many_flags", UnorderedFlag).launch(16, 32).y(64).f(15),
    last(clean("last_block")),
    last(defect("last_block_without_fences", UnorderedFlag)),
    last(defect("last_block_without_release", UnorderedFlag)),
    last(defect("last_block_without_acquire", UnorderedFlag)),
    clean("counters").launch(20, 32).y(2560).f(32),
    flag(defect("atomic_and_plain", Race)).y(256),
    flag(clean("compare_exchange")).y(256),
    flag(defect("random_writers", Race)).y(256),
];

#[test]
fn flags_and_counters() {
    check(SOURCE, CASES);
}
