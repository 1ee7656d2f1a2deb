// What the runtime tells the checker, which is not part of this build.
#pragma once

#include "emulator.h"

namespace emu::check {

enum Kind { Read, Write, Atomic };

inline void segment_mapped(char*, uint64_t) {}
inline void segment_unmapped(char*, uint64_t) {}
inline void set_written(char*, uint64_t, bool) {}
inline void copied(char*, const char*, uint64_t) {}
inline void launch_begins() {}
inline void launch_ends() {}
inline void block_begins(Block&) {}
inline void block_ends(Block&) {}
inline void fiber_begins(Fiber&) {}
inline void met(Fiber* const*, unsigned) {}
inline void release(const void*) {}
inline void acquire(const void*) {}
inline void forget(const void*) {}
inline void access(const void*, unsigned, Kind, uintptr_t) {}
inline void atomic_load(const void*, unsigned, int, uintptr_t) {}
inline void atomic_store(void*, unsigned, int, uintptr_t) {}
inline void atomic_update(void*, unsigned, int, uintptr_t) {}
inline void fence() {}
inline void async_issued(void*, const void*, unsigned, unsigned, uintptr_t) {}
inline void async_completed(void*, const void*, unsigned, unsigned, const void*) {}

}  // namespace emu::check
