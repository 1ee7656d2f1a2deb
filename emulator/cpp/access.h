// The path of every access: bounds, alignment, state of the bytes, races.
//
// The common case, an aligned access of 1, 2, 4, 8 or 16 bytes inside one region, is inlined into the callbacks.
#pragma once

#include "places.h"
#include "races.h"

#include <cstring>
#include <type_traits>

namespace emu::check {

// What changes with the fiber that runs.
struct Running {
    Fiber* fiber = nullptr;  // of which `threads.me` is the state
    unsigned steps = 0;      // accesses since it came to run
    // Its latest access was volatile. The program makes it after the check, so its end shows at what comes next: `steps`
    // is then `STEPS`, and the true number is here.
    bool was_volatile = false;
    unsigned true_steps = 0;
    uintptr_t pc = 0;
    // What a volatile store overwrites, and where; null if it was a load.
    const void* stored = nullptr;
    unsigned stored_bytes = 0;
    char before[16];
};
extern Running running;

constexpr unsigned STEPS = 10000;

// Makes `threads` and `places` those of the current fiber.
void switch_fiber();
// The fiber has made many accesses since it came to run, or a volatile one just before the present, which is at `pc`:
// others run.
void interrupt(uintptr_t pc);
// The current fiber is about to make a volatile access that has been checked.
void volatile_comes(const void* p, unsigned bytes, bool stores, uintptr_t pc);

// Any operation, size and alignment.
void access_anyhow(const Attempt& attempt);
// The first byte that was never written, or null.
const char* first_unwritten(const Attempt& attempt);
// Some of the bytes are the target of an asynchronous copy under way, which ends the child, or, if the attempt is a
// read, were never written.
void pending_or_unwritten(const Attempt& attempt);
void read_unwritten(const Attempt& attempt, const char* byte);
// Ends the child if the attempt, a write, hits the source of an asynchronous copy.
void check_copy_sources(const Attempt& attempt);
extern uint64_t copies_from_writable;  // how many copies are under way whose source the launch may write

inline void step(uintptr_t pc) {
    if (current != running.fiber) switch_fiber();
    if (++running.steps >= STEPS) interrupt(pc);
}

inline bool on_stack(const void* p, uint64_t bytes) {
    uint64_t size = uint64_t(current->stack_high - current->stack_low);
    uint64_t offset = uint64_t((const char*)p - current->stack_low);
    return offset < size && bytes <= size - offset;
}

inline void record(const Region& region, Cell& cell, unsigned mask, const Attempt& attempt) {
    bool whole_again = mask == 0xf && attempt.op == Op::Write && cell.more & SPLIT;
    for_cells(*region.area, cell, mask, [&](Cell& part) {
        switch (attempt.op) {
            case Op::Read: return record_read(*region.area, part, attempt, region.shared);
            case Op::Write: return record_write(*region.area, part, attempt, region.shared);
            default: return access_atomically(*region.area, part, attempt, region.shared);
        }
    });
    if (whole_again) region.area->merge(cell);
}

inline bool reads(Op op) { return op == Op::Read || op == Op::AtomicRead; }

// The bytes of one word that `mask` names.
inline void access_part(const Region& region, const Attempt& attempt, uint64_t offset, unsigned mask) {
    uint8_t& state = region.states[offset / 4];
    if (region.recorded) record(region, region.cells[offset / 4], mask, attempt);
    bool pending = state & (mask << 4);
    if (pending || (reads(attempt.op) && (state & mask) != mask)) pending_or_unwritten(attempt);
    if (!reads(attempt.op)) state = uint8_t(state | mask);
}

// N / 4 whole words.
template <unsigned N>
inline void access_words(const Region& region, const Attempt& attempt, uint64_t offset) {
    // The states of these words in one integer.
    using State = std::conditional_t<N == 4, uint8_t, std::conditional_t<N == 8, uint16_t, uint32_t>>;
    constexpr State written = State(0x0f0f0f0f);
    State state;
    memcpy(&state, region.states + offset / 4, sizeof state);
    if (region.recorded) {
        Cell* cell = region.cells + offset / 4;
        for (unsigned i = 0; i < N / 4; i++) record(region, cell[i], 0xf, attempt);
    }
    if (reads(attempt.op) ? state != written : state & State(~written)) pending_or_unwritten(attempt);
    if (!reads(attempt.op)) memcpy(region.states + offset / 4, &written, sizeof state);
}

// A plain access that the compiler believes to be aligned.
template <unsigned N, Op OP>
inline void access(const void* p, uintptr_t pc) {
    if (!current) return;
    step(pc);
    Attempt attempt = {(const char*)p, N, OP, pc};
    if (uintptr_t(p) % N) misaligned(attempt);
    if (on_stack(p, N)) return;
    const Region* region = places.guess(p, N, unsigned(pc));
    if (!region) region = places.find(attempt, unsigned(pc));
    if (!region || !region->area) return access_anyhow(attempt);
    if (OP == Op::Write) {
        if (!region->writable) read_only(attempt);
    }
    uint64_t offset = uint64_t((const char*)p - region->origin);
    if constexpr (N < 4) {
        access_part(*region, attempt, offset, ((1u << N) - 1) << (offset & 3));
    } else {
        access_words<N>(*region, attempt, offset);
    }
    if (OP == Op::Write && copies_from_writable && !region->shared) check_copy_sources(attempt);
}

}  // namespace emu::check
