
// Asynchronous copies from global to shared memory.

// mg_async_copy copies BYTES bytes, both addresses being multiples of BYTES: the first `valid` of them, zeros behind. The
// calling thread's copies since its last mg_async_commit are a group; mg_async_wait<N> waits until at most the N youngest
// groups of the thread are under way. Other threads see what was copied after a barrier that follows the wait.
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
template <int BYTES> MG_FN void mg_async_copy(void* shared, const void* global, unsigned valid) {
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "the sizes that the instruction has");
    if constexpr (BYTES == 16) {
        // Past the first-level cache: what a block copies, it copies once.
        asm volatile("{ .reg .u64 s, g; cvta.to.shared.u64 s, %0; cvta.to.global.u64 g, %1; "
                     "cp.async.cg.shared.global [s], [g], 16, %2; }"
                     : : "l"(shared), "l"(global), "r"(valid) : "memory");
    } else {
        asm volatile("{ .reg .u64 s, g; cvta.to.shared.u64 s, %0; cvta.to.global.u64 g, %1; "
                     "cp.async.ca.shared.global [s], [g], %2, %3; }"
                     : : "l"(shared), "l"(global), "n"(BYTES), "r"(valid) : "memory");
    }
}

MG_FN void mg_async_commit() { asm volatile("cp.async.commit_group;" : : : "memory"); }

template <int GROUPS> MG_FN void mg_async_wait() { asm volatile("cp.async.wait_group %0;" : : "n"(GROUPS) : "memory"); }
#endif
#else
template <int BYTES> MG_FN void mg_async_copy(void* shared, const void* global, unsigned valid) {
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "the sizes that the instruction has");
    emu_async_copy(shared, global, BYTES, valid);
}

MG_FN void mg_async_commit() { emu_async_commit(); }

template <int GROUPS> MG_FN void mg_async_wait() { emu_async_wait(GROUPS); }
#endif
