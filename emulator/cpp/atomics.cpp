// Atomic read-modify-write. One thread of the host runs all threads, so that reading and writing back is atomic; each
// is relaxed unless it says more.

#include <cstring>

#include "checker.h"
#include "device.h"
#include "device_memory.h"
#include "scheduler.h"

namespace emu {

namespace {

// Replaces the value by `change` of it, and returns what was there.
template <class T, class F> T update(T* p, int order, uintptr_t pc, F change) {
    require_aligned(p, sizeof(T), "atomic", pc);
    check::atomic_update(p, sizeof(T), order, pc);
    T before, after;
    {
        TouchesMemory touches(pc);
        before = *p;
        after = change(before);
        // Written even if it is the same: a fault that writing would cause.
        *const_cast<volatile T*>(p) = after;
    }
    if (memcmp(&before, &after, sizeof(T)) != 0) value_changed();
    check::pause(pc);
    return before;
}

template <class T> T sum(T a, T b) { return a + b; }
// As a device wraps.
int sum(int a, int b) { return int(unsigned(a) + unsigned(b)); }
long long sum(long long a, long long b) { return (long long)((unsigned long long)a + (unsigned long long)b); }
long sum(long a, long b) { return long((unsigned long)a + (unsigned long)b); }

}  // namespace

}  // namespace emu

#define UPDATE(T, NAME, CHANGE)                                                                                        \
    T NAME(T* p, T x) {                                                                                                \
        return emu::update(p, 0, EMU_CALLER, [x](T old) -> T { return CHANGE; });                                      \
    }
UPDATE(int, atomicExch, ((void)old, x))
UPDATE(unsigned, atomicExch, ((void)old, x))
UPDATE(unsigned long long, atomicExch, ((void)old, x))
UPDATE(float, atomicExch, ((void)old, x))
UPDATE(int, atomicAdd, emu::sum(old, x))
UPDATE(unsigned, atomicAdd, old + x)
UPDATE(unsigned long long, atomicAdd, old + x)
UPDATE(float, atomicAdd, old + x)
UPDATE(double, atomicAdd, old + x)
UPDATE(int, atomicSub, int(unsigned(old) - unsigned(x)))
UPDATE(unsigned, atomicSub, old - x)
UPDATE(unsigned, atomicInc, old >= x ? 0 : old + 1)
UPDATE(unsigned, atomicDec, old == 0 || old > x ? x : old - 1)
#define UPDATES(T)                                                                                                     \
    UPDATE(T, atomicMin, old < x ? old : x)                                                                            \
    UPDATE(T, atomicMax, old > x ? old : x)                                                                            \
    UPDATE(T, atomicAnd, old & x)                                                                                      \
    UPDATE(T, atomicOr, old | x)                                                                                       \
    UPDATE(T, atomicXor, old ^ x)
UPDATES(int) UPDATES(unsigned) UPDATES(long long) UPDATES(unsigned long long)

#define COMPARE_AND_SWAP(T)                                                                                            \
    T atomicCAS(T* p, T expected, T x) {                                                                               \
        return emu::update(p, 0, EMU_CALLER, [expected, x](T old) -> T { return old == expected ? x : old; });         \
    }
COMPARE_AND_SWAP(int) COMPARE_AND_SWAP(unsigned) COMPARE_AND_SWAP(unsigned long long) COMPARE_AND_SWAP(unsigned short)

template <class T> T emu_atomic_add(T* p, T x, int order) {
    return emu::update(p, order, EMU_CALLER, [x](T old) -> T { return emu::sum(old, x); });
}
#define INSTANTIATE(T) template T emu_atomic_add<T>(T*, T, int);
INSTANTIATE(int) INSTANTIATE(unsigned) INSTANTIATE(long) INSTANTIATE(unsigned long) INSTANTIATE(long long)
INSTANTIATE(unsigned long long) INSTANTIATE(float) INSTANTIATE(double)
