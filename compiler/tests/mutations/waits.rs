//! Waiting by hand: warps hand a sum over by flags and by named barriers in the place of the barrier of the block.

use crate::bodies::sum;
use crate::mutants::{
    Expected::{Right, WrongValue},
    Mutant, Subject, check, conflict, found, mutant, once, race, race_within,
};
use monograph_ir::FindingKind::{
    DivergentBarrier, Hang, Misuse, OutOfBounds, Timeout, Trap, Uninitialised, UnorderedFlag,
};

#[test]
fn waits() {
    check("waiting mutants", &subjects());
}

pub(crate) fn subjects() -> Vec<Subject> {
    vec![flags(), named_barriers(), ends()]
}

const BARRIER: &str = "    }\n    __syncthreads();";
/// What warps hand over.
const WRITE: &str = "s#[t / 32] = a#";
const READ: &str = "a# = s#[t % 8]";

/// Flags, cleared and then set by each warp behind its part.
macro_rules! flags {
    ($set:literal, $wait:literal) => {
        once(
            "if (t % 32 == 0) {\n        s#[t / 32] = a#;\n    }\n    __syncthreads();",
            concat!(
                "__shared__ unsigned ready[8];\nif (t < 8) ready[t] = 0u;\n__syncthreads();\n",
                "if (t % 32 == 0) {\ns#[t / 32] = a#;\n",
                $set,
                "\n}\n",
                $wait,
            ),
        )
    };
}

fn block(name: &'static str, mutants: Vec<Mutant>) -> Subject {
    Subject::new(name, sum(&[2, 1025], &[1]), 1e-6, mutants)
}

fn flags() -> Subject {
    let unordered = |name, edit| mutant(name, edit, conflict(UnorderedFlag, READ, WRITE));
    let mutants = vec![
        mutant(
            "release and acquire",
            flags!("mg_store_release(ready + t / 32, 1u);", "while (mg_load_acquire(ready + t % 8) == 0u) mg_spin();"),
            Right,
        ),
        mutant(
            "volatile between fences",
            flags!(
                "__threadfence_block();\n((volatile unsigned*)ready)[t / 32] = 1u;",
                "while (((volatile unsigned*)ready)[t % 8] == 0u) mg_spin();\n__threadfence_block();"
            ),
            Right,
        ),
        mutant(
            "additions that acquire and release",
            flags!(
                "mg_atomic_add_release(ready + t / 32, 1u);",
                "while (mg_atomic_add_acq_rel(ready + t % 8, 0u) == 0u) mg_spin();"
            ),
            Right,
        ),
        mutant(
            "the flag is a plain variable",
            flags!("ready[t / 32] = 1u;", "while (((volatile unsigned*)ready)[t % 8] == 0u) mg_spin();"),
            race("ready)[t % 8]", "ready[t / 32] = 1u"),
        ),
        unordered(
            "the flag is volatile, and that is all",
            flags!(
                "((volatile unsigned*)ready)[t / 32] = 1u;",
                "while (((volatile unsigned*)ready)[t % 8] == 0u) mg_spin();"
            ),
        ),
        unordered(
            "there is no fence behind the flag",
            flags!(
                "__threadfence_block();\n((volatile unsigned*)ready)[t / 32] = 1u;",
                "while (((volatile unsigned*)ready)[t % 8] == 0u) mg_spin();"
            ),
        ),
        unordered(
            "there is no fence before the flag",
            flags!(
                "((volatile unsigned*)ready)[t / 32] = 1u;",
                "while (((volatile unsigned*)ready)[t % 8] == 0u) mg_spin();\n__threadfence_block();"
            ),
        ),
        unordered(
            "the store does not release",
            flags!(
                "((volatile unsigned*)ready)[t / 32] = 1u;",
                "while (mg_load_acquire(ready + t % 8) == 0u) mg_spin();"
            ),
        ),
        unordered(
            "the load does not acquire",
            flags!(
                "mg_store_release(ready + t / 32, 1u);",
                "while (((volatile unsigned*)ready)[t % 8] == 0u) mg_spin();"
            ),
        ),
        unordered(
            "the addition is relaxed",
            flags!("atomicAdd(ready + t / 32, 1u);", "while (mg_load_acquire(ready + t % 8) == 0u) mg_spin();"),
        ),
        mutant(
            "the flag is set before the part is stored",
            once(
                "if (t % 32 == 0) {\n        s#[t / 32] = a#;\n    }\n    __syncthreads();",
                "__shared__ unsigned ready[8];\nif (t < 8) ready[t] = 0u;\n__syncthreads();\nif (t % 32 == 0) {\n\
                 mg_store_release(ready + t / 32, 1u);\ns#[t / 32] = a#;\n}\n\
                 while (mg_load_acquire(ready + t % 8) == 0u) mg_spin();",
            ),
            race(READ, WRITE),
        ),
        mutant(
            "flags are not cleared",
            flags!("mg_store_release(ready + t / 32, 1u);", "while (mg_load_acquire(ready + t % 8) == 0u) mg_spin();"),
            found(Uninitialised, &["mg_load_acquire(ready + t % 8)"]),
        )
        .and(once("if (t < 8) ready[t] = 0u;", "")),
        mutant(
            "a warp never sets its flag",
            flags!(
                "if (t != 96) mg_store_release(ready + t / 32, 1u);",
                "while (mg_load_acquire(ready + t % 8) == 0u) mg_spin();"
            ),
            found(Hang, &["mg_load_acquire(ready + t % 8)"]),
        ),
        mutant(
            "a warp never sets its flag, and the loop only looks",
            flags!(
                "if (t != 96) mg_store_release(ready + t / 32, 1u);",
                "while (((volatile unsigned*)ready)[t % 8] == 0u) {}\n__threadfence_block();"
            ),
            found(Timeout, &["ready)[t % 8] == 0u) {}"]),
        ),
    ];
    block("flags", mutants)
}

/// Barriers by number.
fn named_barriers() -> Subject {
    let mutants = vec![
        mutant("a barrier of all threads", once(BARRIER, "}\nmg_barrier_sync(1, 256);"), Right),
        mutant(
            "half of the warps arrive, and wait for the other half",
            once(BARRIER, "}\nmg_barrier_sync(t < 128 ? 1 : 2, 128);"),
            race(READ, WRITE),
        ),
        mutant("the barrier counts a warp too few", once(BARRIER, "}\nmg_barrier_sync(1, 224);"), race(READ, WRITE)),
        mutant(
            "warps count differently",
            once(BARRIER, "}\nmg_barrier_sync(1, t < 128 ? 256 : 224);"),
            found(Misuse, &["mg_barrier_sync(1, t < 128"]),
        ),
        mutant(
            "the count is no multiple of a warp",
            once(BARRIER, "}\nmg_barrier_sync(1, 250);"),
            found(Misuse, &["mg_barrier_sync(1, 250)"]),
        ),
        mutant("a warp passes by", once(BARRIER, "}\nif (t < 224) mg_barrier_sync(1, 256);"), race(READ, WRITE)),
        mutant(
            "a warp arrives and does not wait",
            once(BARRIER, "}\nif (t < 224) mg_barrier_sync(1, 256); else mg_barrier_arrive(1, 256);"),
            race(READ, WRITE),
        ),
    ];
    block("named barriers", mutants)
}

/// Kernels that do not come to their end, or should not have.
fn ends() -> Subject {
    let mutants = vec![
        mutant(
            "the kernel gives up",
            once("if (t == 0) {", "if (t == 40) __trap();\nif (t == 0) {"),
            found(Trap, &["__trap();"]),
        ),
        mutant(
            "an assertion does not hold",
            once("if (t == 0) {", "assert(r == 0);\nif (t == 0) {"),
            found(Trap, &["assert(r == 0)"]),
        ),
        mutant(
            "an address is wild",
            once("y0[r] = a#;", "((float*)((size_t)y0 << 8))[r] = a#;"),
            found(OutOfBounds, &["((size_t)y0 << 8))[r] = a#"]),
        ),
        mutant(
            "a block reads what another writes",
            once("y0[r] = a#;", "y0[r] = r == 1 ? a# + y0[0] : a#1;"),
            race_within("y0[r] = r == 1"),
        ),
        mutant(
            "blocks add up without atomics",
            once("y0[r] = a#;", "y0[r] = a#1; y0[0] += a#1;"),
            race_within("y0[0] += a#"),
        ),
        mutant(
            "a loop never ends",
            once("if (t == 0) {", "for (volatile int i = 0; i >= 0;) {}\nif (t == 0) {"),
            found(Timeout, &["for (volatile int i = 0; i >= 0;) {}"]),
        ),
        mutant(
            "half of the block comes to the barrier twice",
            once("__syncthreads();", "for (int i = 0; i < 1 + t / 128; ++i) __syncthreads();"),
            found(DivergentBarrier, &["__syncthreads();"]),
        ),
        mutant("blocks take rows in another order", once("int r = blockIdx.x;", "int r = blockIdx.x ^ 1;"), Right),
        mutant("a value is rounded", once("y0[r] = a#;", "y0[r] = (float)(int)a#;"), WrongValue),
    ];
    block("ends", mutants)
}
