
// Barriers of some threads of a block.

// Barrier `id`, 1 to 15 (0 is that of __syncthreads), for `threads` threads, a multiple of 32, those that arrive without
// waiting included. All lanes of a warp call it together.
#ifdef __CUDACC__
MG_FN void mg_barrier_sync(unsigned id, unsigned threads) {
    asm volatile("bar.sync %0, %1;" : : "r"(id), "r"(threads) : "memory");
}

MG_FN void mg_barrier_arrive(unsigned id, unsigned threads) {
    asm volatile("bar.arrive %0, %1;" : : "r"(id), "r"(threads) : "memory");
}
#else
MG_FN void mg_barrier_sync(unsigned id, unsigned threads) { emu_barrier_sync(id, threads); }
MG_FN void mg_barrier_arrive(unsigned id, unsigned threads) { emu_barrier_arrive(id, threads); }
#endif
