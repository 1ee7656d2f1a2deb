
// Barriers in shared memory that count arrivals and bytes, and the bulk copies that complete on them.

// A phase of a barrier is over when as many threads have arrived as it was made for and all expected bytes have come; then
// the next begins. Phases have parity 0, 1, 0, ...; mg_mbarrier_wait waits for the end of the phase of this parity.
// Between the making of a barrier, or ordinary accesses to what a bulk copy will overwrite, and that copy stand
// mg_fence_async and a barrier of the block. A bulk copy is called by one thread; addresses and size are multiples of 16.
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 900
MG_FN void mg_mbarrier_init(mg_u64* bar, unsigned count) {
    asm volatile("{ .reg .u64 b; cvta.to.shared.u64 b, %0; mbarrier.init.shared::cta.b64 [b], %1; }"
                 : : "l"(bar), "r"(count) : "memory");
}

MG_FN void mg_mbarrier_arrive(mg_u64* bar) {
    asm volatile("{ .reg .u64 b, s; cvta.to.shared.u64 b, %0; mbarrier.arrive.release.cta.shared::cta.b64 s, [b]; }"
                 : : "l"(bar) : "memory");
}

// Arrives, and lets the phase wait for `bytes` more.
MG_FN void mg_mbarrier_arrive_expect(mg_u64* bar, unsigned bytes) {
    asm volatile("{ .reg .u64 b, s; cvta.to.shared.u64 b, %0; "
                 "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 s, [b], %1; }"
                 : : "l"(bar), "r"(bytes) : "memory");
}

// Whether the phase of this parity is over, after waiting for it for a while.
MG_FN bool mg_mbarrier_try_wait(mg_u64* bar, unsigned parity) {
    unsigned over;
    asm volatile("{ .reg .u64 b; .reg .pred p; cvta.to.shared.u64 b, %1; "
                 "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [b], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(over) : "l"(bar), "r"(parity) : "memory");
    return over != 0;
}

MG_FN void mg_mbarrier_wait(mg_u64* bar, unsigned parity) {
    while (!mg_mbarrier_try_wait(bar, parity)) {}
}

MG_FN void mg_bulk_copy(void* shared, const void* global, unsigned bytes, mg_u64* bar) {
    asm volatile("{ .reg .u64 s, g, b; cvta.to.shared.u64 s, %0; cvta.to.global.u64 g, %1; cvta.to.shared.u64 b, %3; "
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [g], %2, [b]; }"
                 : : "l"(shared), "l"(global), "r"(bytes), "l"(bar) : "memory");
}

// Orders the thread's accesses to shared memory before the bulk copies that follow.
MG_FN void mg_fence_async() { asm volatile("fence.proxy.async.shared::cta;" : : : "memory"); }
#endif
#else
MG_FN void mg_mbarrier_init(mg_u64* bar, unsigned count) { emu_mbarrier_init(bar, count); }
MG_FN void mg_mbarrier_arrive(mg_u64* bar) { emu_mbarrier_arrive(bar); }
MG_FN void mg_mbarrier_arrive_expect(mg_u64* bar, unsigned bytes) { emu_mbarrier_arrive_expect(bar, bytes); }
MG_FN bool mg_mbarrier_try_wait(mg_u64* bar, unsigned parity) { return emu_mbarrier_try_wait(bar, parity); }
MG_FN void mg_mbarrier_wait(mg_u64* bar, unsigned parity) {
    while (!mg_mbarrier_try_wait(bar, parity)) {}
}
MG_FN void mg_bulk_copy(void* shared, const void* global, unsigned bytes, mg_u64* bar) {
    emu_bulk_copy(shared, global, bytes, bar);
}
// An emulation has one view of shared memory.
MG_FN void mg_fence_async() {}
#endif
