// The callbacks that -fsanitize=thread puts before every access of a program. g++ and clang call the same ones.
//
// Plain accesses are checked, and the program then makes them itself. Atomic operations are made here. While no fiber
// runs (static initialisers) nothing is checked.
#ifdef EMU_CHECKED
#include "access.h"
#include "checker.h"
#include "scheduler.h"

#include <cstring>

using emu::check::Op;

namespace {

// An access of a size that has no callback, or whose address need not be aligned.
void access_range(const void* p, uint64_t bytes, Op op, uintptr_t pc) {
    if (!emu::current) return;
    emu::check::step(pc);
    emu::check::access_anyhow({(const char*)p, bytes, op, pc});
}

// Is it a release (1), an acquire (2), both or neither?
int order_of(int memory_order) {
    switch (memory_order) {
        case __ATOMIC_RELAXED:
            return 0;
        case __ATOMIC_RELEASE:
            return 1;
        case __ATOMIC_CONSUME:
        case __ATOMIC_ACQUIRE:
            return 2;
        default:
            return 3;
    }
}

// An atomic operation is over that found this value. Returns it.
template <class T>
T over(const volatile T* p, T found, uintptr_t pc) {
    if (*p != found) emu::value_changed();
    emu::check::pause(pc);
    return found;
}

// Returns the value found. If that is not the expected one, this is a load, with the order for failures.
template <class T>
T compare_exchange(volatile T* p, T expected, T x, int order, int otherwise, uintptr_t pc) {
    emu::check::atomic_load((const void*)p, sizeof(T), 0, pc);  // it may not be touched before this
    // Other threads may run inside the checks, before the access itself: then the comparison has to hold still.
    for (;;) {
        bool equal = *p == expected;
        if (equal) {
            emu::check::atomic_update((void*)p, sizeof(T), order_of(order), pc);
        } else {
            emu::check::atomic_load((const void*)p, sizeof(T), order_of(otherwise) & 2, pc);
        }
        T found = *p;
        if ((found == expected) != equal) continue;
        if (equal) *p = x;
        return over(p, found, pc);
    }
}

}  // namespace

// The instruction that called.
#define PC (uintptr_t(__builtin_return_address(0)) - 1)

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void** p) { emu::check::access<8, Op::Read>(p, PC); }
void __tsan_vptr_update(void** p, void*) { emu::check::access<8, Op::Write>(p, PC); }
void __tsan_read_range(void* p, uint64_t bytes) { access_range(p, bytes, Op::Read, PC); }
void __tsan_write_range(void* p, uint64_t bytes) { access_range(p, bytes, Op::Write, PC); }

#define PLAIN(N)                                                                    \
    void __tsan_read##N(void* p) { emu::check::access<N, Op::Read>(p, PC); }        \
    void __tsan_write##N(void* p) { emu::check::access<N, Op::Write>(p, PC); }      \
    void __tsan_volatile_read##N(void* p) {                                         \
        emu::check::atomic_load(p, N, 0, PC);                                       \
        emu::check::volatile_comes(p, N, false, PC);                                \
    }                                                                               \
    void __tsan_volatile_write##N(void* p) {                                        \
        emu::check::atomic_store(p, N, 0, PC);                                      \
        emu::check::volatile_comes(p, N, true, PC);                                 \
    }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

// Volatile accesses that are not aligned are not atomic on any machine: plain ones.
#define UNALIGNED(N)                                                                      \
    void __tsan_unaligned_read##N(void* p) { access_range(p, N, Op::Read, PC); }          \
    void __tsan_unaligned_write##N(void* p) { access_range(p, N, Op::Write, PC); }        \
    void __tsan_unaligned_volatile_read##N(void* p) { access_range(p, N, Op::Read, PC); } \
    void __tsan_unaligned_volatile_write##N(void* p) { access_range(p, N, Op::Write, PC); }
UNALIGNED(2)
UNALIGNED(4)
UNALIGNED(8)
UNALIGNED(16)

#define UPDATE(BITS, T, NAME)                                               \
    T __tsan_atomic##BITS##_##NAME(volatile T* p, T x, int order) {         \
        emu::check::atomic_update((void*)p, BITS / 8, order_of(order), PC); \
        return over(p, __atomic_##NAME(p, x, __ATOMIC_RELAXED), PC);        \
    }

#define COMPARE(BITS, T, STRENGTH)                                                                                     \
    int __tsan_atomic##BITS##_compare_exchange_##STRENGTH(volatile T* p, T* expected, T x, int order, int otherwise) { \
        T found = compare_exchange(p, *expected, x, order, otherwise, PC);                                             \
        bool equal = found == *expected;                                                                               \
        *expected = found;                                                                                             \
        return equal;                                                                                                  \
    }

#define ATOMIC(BITS, T)                                                                                      \
    T __tsan_atomic##BITS##_load(const volatile T* p, int order) {                                           \
        emu::check::atomic_load((const void*)p, BITS / 8, order_of(order) & 2, PC);                          \
        return over(p, *p, PC);                                                                              \
    }                                                                                                        \
    void __tsan_atomic##BITS##_store(volatile T* p, T x, int order) {                                        \
        emu::check::atomic_store((void*)p, BITS / 8, order_of(order) & 1, PC);                               \
        over(p, __atomic_exchange_n(p, x, __ATOMIC_RELAXED), PC);                                            \
    }                                                                                                        \
    T __tsan_atomic##BITS##_exchange(volatile T* p, T x, int order) {                                        \
        emu::check::atomic_update((void*)p, BITS / 8, order_of(order), PC);                                  \
        return over(p, __atomic_exchange_n(p, x, __ATOMIC_RELAXED), PC);                                     \
    }                                                                                                        \
    T __tsan_atomic##BITS##_compare_exchange_val(volatile T* p, T expected, T x, int order, int otherwise) { \
        return compare_exchange(p, expected, x, order, otherwise, PC);                                       \
    }                                                                                                        \
    UPDATE(BITS, T, fetch_add)                                                                               \
    UPDATE(BITS, T, fetch_sub)                                                                               \
    UPDATE(BITS, T, fetch_and)                                                                               \
    UPDATE(BITS, T, fetch_or)                                                                                \
    UPDATE(BITS, T, fetch_xor)                                                                               \
    UPDATE(BITS, T, fetch_nand)                                                                              \
    COMPARE(BITS, T, strong)                                                                                 \
    COMPARE(BITS, T, weak)
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order) {
    if (order != __ATOMIC_RELAXED) emu::check::fence();
}
void __tsan_atomic_signal_fence(int) {}

// clang calls these for the functions of the same names.
void* __tsan_memcpy(void* to, const void* from, size_t bytes) {
    access_range(from, bytes, Op::Read, PC);
    access_range(to, bytes, Op::Write, PC);
    return memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, size_t bytes) {
    access_range(from, bytes, Op::Read, PC);
    access_range(to, bytes, Op::Write, PC);
    return memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, size_t bytes) {
    access_range(to, bytes, Op::Write, PC);
    return memset(to, value, bytes);
}

}  // extern "C"
#endif
