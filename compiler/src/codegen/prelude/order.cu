
// The order in which the blocks of a grid see each other's memory.

// A thread whose acquire sees what a release stored sees also all that came before the release: what its thread did, and
// what that thread had seen. Additions return the value before. mg_spin is one turn of a loop that waits for a value.
#ifdef __CUDACC__
#define MG_ACQUIRE_RELEASE(T, PTX, C)                                                                                   \
    MG_FN T mg_load_acquire(const T* p) {                                                                               \
        T x;                                                                                                            \
        asm volatile("ld.acquire.gpu." PTX " %0, [%1];" : "=" C(x) : "l"(p) : "memory");                                \
        return x;                                                                                                       \
    }                                                                                                                   \
    MG_FN void mg_store_release(T* p, T x) {                                                                            \
        asm volatile("st.release.gpu." PTX " [%0], %1;" : : "l"(p), C(x) : "memory");                                   \
    }
MG_ACQUIRE_RELEASE(unsigned, "u32", "r")
MG_ACQUIRE_RELEASE(mg_u64, "u64", "l")

MG_FN unsigned mg_atomic_add_release(unsigned* p, unsigned x) {
    unsigned before;
    asm volatile("atom.release.gpu.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(p), "r"(x) : "memory");
    return before;
}

MG_FN unsigned mg_atomic_add_acq_rel(unsigned* p, unsigned x) {
    unsigned before;
    asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(p), "r"(x) : "memory");
    return before;
}

MG_FN void mg_spin() { asm volatile("nanosleep.u32 32;" : : : "memory"); }
#else
#define MG_ACQUIRE_RELEASE(T, PTX, C)                                                                                   \
    MG_FN T mg_load_acquire(const T* p) { return emu_load_acquire(p); }                                                 \
    MG_FN void mg_store_release(T* p, T x) { emu_store_release(p, x); }
MG_ACQUIRE_RELEASE(unsigned, "u32", "r")
MG_ACQUIRE_RELEASE(mg_u64, "u64", "l")

MG_FN unsigned mg_atomic_add_release(unsigned* p, unsigned x) { return emu_atomic_add(p, x, 1); }
MG_FN unsigned mg_atomic_add_acq_rel(unsigned* p, unsigned x) { return emu_atomic_add(p, x, 3); }
MG_FN void mg_spin() { emu_yield(); }
#endif
