//! Functions that order memory: asynchronous copies, barriers of some threads, releases and acquires, and barriers
//! in shared memory with bulk copies.

use crate::probe::{Bound, Set};
use crate::values::tensor;
use monograph::ir::Literal;
use monograph::{DType, Spec};

fn words(count: u64) -> Vec<Literal> {
    (0..count).map(|i| Literal::from_bits(DType::U32, i.wrapping_mul(2_654_435_761))).collect()
}

fn set(name: &'static str) -> Set {
    Set::new(name, vec![tensor(DType::U32, &words(512))])
}

/// Copies of each size, whole, cut short and empty, in groups that are waited for one by one.
pub(crate) fn async_copies() -> Vec<Set> {
    let mut set = set("copies");
    for bytes in [4, 8, 16] {
        for valid in [0, bytes / 2, bytes] {
            // Two groups; the first is used while the second is under way.
            let text = format!(
                "    __shared__ __align__(16) unsigned char s[2 * 64 * {bytes}];\n    int t = threadIdx.x;\n    \
                 mg_async_copy<{bytes}>(s + t * {bytes}, (const unsigned char*)x0 + t * {bytes}, t % 2 ? {bytes} : {valid});\n    \
                 mg_async_commit();\n    \
                 mg_async_copy<{bytes}>(s + (64 + t) * {bytes}, (const unsigned char*)x0 + (63 - t) * {bytes}, {bytes});\n    \
                 mg_async_commit();\n    mg_async_wait<1>();\n    __syncthreads();\n    \
                 for (int i = 0; i < {bytes}; ++i) y0[t * {bytes} + i] = s[(63 - t) * {bytes} + i];\n    \
                 mg_async_wait<0>();\n    __syncthreads();\n    \
                 for (int i = 0; i < {bytes}; ++i) y0[(64 + t) * {bytes} + i] = s[(127 - t) * {bytes} + i];\n"
            );
            set.kernel(&[0], Spec::new(DType::U8, [128 * bytes]), [1, 64], &text, Bound::Exact);
        }
    }
    vec![set]
}

/// Producers that arrive, consumers that wait, in turns.
pub(crate) fn barriers() -> Vec<Set> {
    let mut set = set("barriers");
    let text = "    __shared__ unsigned s[64];\n    int t = threadIdx.x;\n    unsigned sum = 0;\n    \
                for (int round = 0; round < 8; ++round) {\n        if (t < 64) {\n            \
                if (round > 0) mg_barrier_sync(2, 128);\n            s[t] = x0[round * 64 + t];\n            \
                mg_barrier_arrive(1, 128);\n        } else {\n            mg_barrier_sync(1, 128);\n            \
                sum += s[127 - t] * (round + 1);\n            if (round < 7) mg_barrier_arrive(2, 128);\n        }\n    }\n    \
                y0[t] = sum;\n";
    set.kernel(&[0], Spec::new(DType::U32, [128]), [1, 128], text, Bound::Exact);
    vec![set]
}

/// A value handed from warp to warp by flags, and counters that are added to.
pub(crate) fn releases_and_acquires() -> Vec<Set> {
    let mut set = set("flags");
    for ty in ["unsigned", "mg_u64"] {
        let text = format!(
            "    __shared__ unsigned s[32];\n    __shared__ {ty} flag;\n    int t = threadIdx.x, w = t / 32;\n    \
             if (t == 0) flag = 0;\n    __syncthreads();\n    \
             if (w > 0) {{\n        while (mg_load_acquire(&flag) != ({ty})w) mg_spin();\n        __syncwarp();\n    }}\n    \
             unsigned x = x0[t] + (w > 0 ? s[31 - t % 32] : 0u);\n    __syncwarp();\n    s[t % 32] = x;\n    __syncwarp();\n    \
             if (t % 32 == 0) mg_store_release(&flag, ({ty})(w + 1));\n    y0[t] = x;\n"
        );
        set.kernel(&[0], Spec::new(DType::U32, [128]), [1, 128], &text, Bound::Exact);
    }
    for function in ["mg_atomic_add_release", "mg_atomic_add_acq_rel"] {
        let text = format!(
            "    __shared__ unsigned s[128], count;\n    int t = threadIdx.x;\n    if (t == 0) count = 0;\n    __syncthreads();\n    \
             s[t] = x0[t] * 3;\n    {function}(&count, 1u + t % 2);\n    \
             while (mg_load_acquire(&count) != 192) mg_spin();\n    y0[t] = s[127 - t];\n"
        );
        set.kernel(&[0], Spec::new(DType::U32, [128]), [1, 128], &text, Bound::Exact);
    }
    // The value before, of a thread that is alone.
    let text = "    __shared__ unsigned count;\n    if (threadIdx.x == 0) {\n        count = 5;\n        \
                y0[0] = mg_atomic_add_release(&count, 2);\n        y0[1] = mg_atomic_add_acq_rel(&count, 3);\n        \
                y0[2] = count;\n    }\n";
    set.kernel(&[0], Spec::new(DType::U32, [3]), [1, 32], text, Bound::Exact);
    vec![set]
}

/// Barriers that count arrivals and bytes, over several phases.
pub(crate) fn transactions() -> Vec<Set> {
    let mut set = set("transactions");
    let wait = "while (!mg_mbarrier_try_wait(&bar, round % 2)) {}";
    for wait in ["mg_mbarrier_wait(&bar, round % 2);", wait] {
        let text = format!(
            "    __shared__ __align__(16) unsigned s[64];\n    __shared__ mg_u64 bar;\n    int t = threadIdx.x;\n    \
             if (t == 0) mg_mbarrier_init(&bar, 1);\n    mg_fence_async();\n    __syncthreads();\n    unsigned sum = 0;\n    \
             for (int round = 0; round < 8; ++round) {{\n        if (t == 0) {{\n            \
             mg_mbarrier_arrive_expect(&bar, 256);\n            mg_bulk_copy(s, x0 + round * 64, 256, &bar);\n        }}\n        \
             {wait}\n        sum = sum * 31 + s[63 - t];\n        mg_fence_async();\n        __syncthreads();\n    }}\n    \
             y0[t] = sum;\n"
        );
        set.kernel(&[0], Spec::new(DType::U32, [64]), [1, 64], &text, Bound::Exact);
    }
    let text = "    __shared__ unsigned s[64];\n    __shared__ mg_u64 bar;\n    int t = threadIdx.x;\n    \
                if (t == 0) mg_mbarrier_init(&bar, 64);\n    __syncthreads();\n    unsigned sum = 0;\n    \
                for (int phase = 0; phase < 8; phase += 2) {\n        s[t] = x0[phase * 64 + t];\n        \
                mg_mbarrier_arrive(&bar);\n        mg_mbarrier_wait(&bar, 0);\n        sum += s[63 - t];\n        \
                mg_mbarrier_arrive(&bar);\n        mg_mbarrier_wait(&bar, 1);\n    }\n    y0[t] = sum;\n";
    set.kernel(&[0], Spec::new(DType::U32, [64]), [1, 64], text, Bound::Exact);
    vec![set]
}
