// Loads and stores of memory that other threads look at, fences, and turns of spin loops.

#include <cstring>

#include "checker.h"
#include "device.h"
#include "device_memory.h"
#include "scheduler.h"

namespace emu {

uintptr_t call_site = 0;

namespace {

template <class T> T load(const T* p, int order, uintptr_t pc) {
    require_aligned(p, sizeof(T), "read", pc);
    check::atomic_load(p, sizeof(T), order, pc);
    T value;
    {
        TouchesMemory touches(pc);
        value = *p;
    }
    check::pause(pc);
    return value;
}

template <class T> void store(T* p, T x, int order, uintptr_t pc) {
    require_aligned(p, sizeof(T), "write", pc);
    check::atomic_store(p, sizeof(T), order, pc);
    {
        TouchesMemory touches(pc);
        if (memcmp(p, &x, sizeof(T)) != 0) value_changed();
        *p = x;
    }
    check::pause(pc);
}

}  // namespace

}  // namespace emu

template <class T> T emu_load_acquire(const T* p) { return emu::load(p, 2, EMU_CALLER); }
template <class T> T emu_load_relaxed(const T* p) { return emu::load(p, 0, EMU_CALLER); }
template <class T> void emu_store_release(T* p, T x) { emu::store(p, x, 1, EMU_CALLER); }
template <class T> void emu_store_relaxed(T* p, T x) { emu::store(p, x, 0, EMU_CALLER); }
#define INSTANTIATE(T)                                                                                                 \
    template T emu_load_acquire<T>(const T*);                                                                          \
    template T emu_load_relaxed<T>(const T*);                                                                          \
    template void emu_store_release<T>(T*, T);                                                                         \
    template void emu_store_relaxed<T>(T*, T);
INSTANTIATE(bool) INSTANTIATE(char) INSTANTIATE(signed char) INSTANTIATE(unsigned char) INSTANTIATE(short)
INSTANTIATE(unsigned short) INSTANTIATE(int) INSTANTIATE(unsigned) INSTANTIATE(long) INSTANTIATE(unsigned long)
INSTANTIATE(long long) INSTANTIATE(unsigned long long) INSTANTIATE(float) INSTANTIATE(double)

// Threads take turns on one thread of the host, so that a fence orders nothing but in the books of the checker.
void __threadfence() { emu::check::fence(); }
void __threadfence_block() { emu::check::fence(); }
void __threadfence_system() { emu::check::fence(); }

void emu_yield() { emu::spin(EMU_CALLER, "a loop that yields"); }
void __nanosleep(unsigned) { emu::spin(EMU_CALLER, "__nanosleep"); }
