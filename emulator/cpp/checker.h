// What the runtime tells the checker. In a build without EMU_CHECKED every call is an empty inline function.
//
// clocks.h    vector clocks that threads share
// threads.h   the clock of every resident thread, and what synchronization does to it
// shadow.h    what is known of every byte of memory
// races.h     two accesses without an order
// aliases.cpp an address of its own for each parameter
// places.h    what a launch may touch
// copies.h    asynchronous copies under way
// early_reads.h    reads of what nobody has written yet
// access.h    the path of every access through all of these
// sync.cpp    atomics and keys: how clocks travel through memory
// findings.h  what is said when something is wrong
// tsan.cpp    the callbacks that the compiler puts before every access
#pragma once

#include "emulator.h"

#ifdef EMU_CHECKED
#define EMU_CHECK(...) __VA_ARGS__;
#else
#define EMU_CHECK(...) \
    inline __VA_ARGS__ {}
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

namespace emu::check {

enum Kind { Read, Write, Atomic };

// Bytes in front of what the kernel sees of a parameter, and behind it, that belong to nothing else.
constexpr uint64_t ALIAS_GAP = 64 << 20;

// ---- Memory of the host: segments, and whether their bytes have been written ----
EMU_CHECK(void segment_mapped(char* start, uint64_t bytes))  // nothing in it counts as written
EMU_CHECK(void segment_unmapped(char* start, uint64_t bytes))
EMU_CHECK(void set_written(char* start, uint64_t bytes, bool written))
EMU_CHECK(void copied(char* to, const char* from, uint64_t bytes))  // by the host, between launches

// ---- Launches ----
EMU_CHECK(void give_aliases(std::vector<Range>& parameters))  // sets `seen` of each
EMU_CHECK(void forget_aliases(char* start, uint64_t bytes))   // these bytes are about to be unmapped
EMU_CHECK(void launch_begins())             // `launch` is set
EMU_CHECK(void launch_ends())               // reports uninitialised and not-written
EMU_CHECK(void block_begins(Block& block))  // nothing in its shared memory counts as written
EMU_CHECK(void block_ends(Block& block))    // reports uninitialised
EMU_CHECK(void fiber_begins(Fiber& fiber))

// ---- Synchronization. A `key` names an object of the current fiber's block, by its address ----
// All of these fibers of one block met: what each did before is before what each does after.
EMU_CHECK(void met(Fiber* const* fibers, unsigned count))
// What the current fiber did so far is published under the key, with what is there.
EMU_CHECK(void release(const void* key))
// The current fiber acquires what is published under the key.
EMU_CHECK(void acquire(const void* key))
// A new object begins at this address.
EMU_CHECK(void forget(const void* key))
// The current fiber releases with its later relaxed stores, and acquires what its earlier relaxed loads saw.
EMU_CHECK(void fence())

// ---- Accesses by the current fiber that the compiler did not instrument ----
// An atomic access that is told here is no flag: its value hands nothing over.
EMU_CHECK(void access(const void* p, unsigned bytes, Kind kind, uintptr_t pc))
// Atomic accesses never race with each other. order: 0 relaxed, 1 release, 2 acquire, 3 both.
EMU_CHECK(void atomic_load(const void* p, unsigned bytes, int order, uintptr_t pc))
EMU_CHECK(void atomic_store(void* p, unsigned bytes, int order, uintptr_t pc))
EMU_CHECK(void atomic_update(void* p, unsigned bytes, int order, uintptr_t pc))
// An atomic access is over. Others run before the fiber does anything else, if an atomic variable got another value
// since they last did: a thread that is always the first to act on what it stored or saw hides a missing barrier.
EMU_CHECK(void pause(uintptr_t pc))
// The current fiber comes to a barrier or a fence.
EMU_CHECK(void arrives())

// Asynchronous copies. From issue to completion nobody may touch the target or write the source. Completion, told while
// a fiber of the block runs, is a write by that fiber, or is published under `key` if there is one (bulk copies).
EMU_CHECK(void async_issued(void* to, const void* from, unsigned bytes, unsigned valid, uintptr_t pc))
EMU_CHECK(void async_completed(void* to, const void* from, unsigned bytes, unsigned valid, const void* key))

// ---- Findings ----
// One is about to be reported. Does not return if an earlier read of unwritten bytes has to be reported in its place;
// if the current fiber may stop, the others go on before that.
EMU_CHECK(void finding_comes(const char* kind, bool may_stop))

}  // namespace emu::check

#pragma GCC diagnostic pop
#undef EMU_CHECK
