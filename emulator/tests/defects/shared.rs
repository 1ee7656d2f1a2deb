//! Shared memory.

use crate::{Case, check, clean, defect};
use monograph_ir::FindingKind::{DivergentBarrier, OutOfBounds, Race, Uninitialised};
use std::time::Duration;

const CASES: &[Case] = &[
    clean("reduction").y(16),
    defect("reduction_first_barrier", Race).y(16),
    defect("reduction_inner_barrier", Race).y(16),
    clean("shuffle_reduction").y(16),
    clean("softmax"),
    defect("softmax_reuse", Race),
    clean("matmul").launch_2d(4, 8).y(4096),
    defect("matmul_before_use", Race).launch_2d(4, 8).y(4096),
    defect("matmul_after_use", Race).launch_2d(4, 8).y(4096),
    clean("double_buffer"),
    defect("single_buffer", Race),
    clean("vector_tile").launch(1, 64).y(1024),
    clean("halves_of_vectors").launch(4, 32).y(512),
    clean("dynamic").dynamic(1024),
    defect("dynamic_too_small", OutOfBounds).dynamic(1024).y(4096),
    defect("beyond_an_array", OutOfBounds),
    clean("shared_counters").y(512),
    defect("unwritten", Uninitialised),
    defect("unwritten_index", Uninitialised).launch(2, 64).y(512),
    defect("early_index", Race).launch(2, 64).y(512),
    defect("early_bound", Race).launch(2, 64).y(512),
    defect("trap_on_unwritten", Uninitialised).launch(2, 64).y(512),
    defect("trap_on_early", Race).launch(2, 64).y(512),
    defect("endless_by_unwritten", Uninitialised).launch(1, 32).y(128).time_limit(Duration::from_millis(200)),
    defect("crash_by_unwritten", Uninitialised).launch(1, 32).y(128),
    defect("hang_by_unwritten", Uninitialised).launch(1, 32).y(128),
    defect("divergent_by_unwritten", Uninitialised).launch(1, 32).y(128),
    defect("divergent_by_early", Race).launch(2, 64).y(512),
    defect("mask_by_early", Race).launch(1, 32).y(128),
    defect("written_after_a_barrier", Uninitialised).launch(2, 64).y(512),
    clean("warp").launch(1, 32).y(128),
    defect("warp_before", Race).launch(1, 32).y(128),
    defect("warp_after", Race).launch(1, 32).y(128),
    defect("shuffle_for_a_barrier", Race).launch(1, 32).y(128),
    clean("volatile_warp").launch(1, 32).y(4),
    clean("together").launch(1, 64).y(256),
    defect("together_for_a_barrier", Race).launch(1, 32).y(128),
    defect("together_without_one", DivergentBarrier).launch(1, 64).y(256),
    defect("together_and_a_shuffle", DivergentBarrier).launch(1, 32).y(128),
    defect("together_after_an_end", DivergentBarrier).launch(1, 32).y(128),
    defect("divergent", DivergentBarrier).y(4096),
    clean("named").launch(1, 64).y(128),
    defect("named_too_early", Race).launch(1, 64).y(128),
    defect("named_left_over", Race).launch(4, 64).y(1024),
];

#[test]
fn shared_memory() {
    check(include_str!("shared.cu"), CASES);
}
