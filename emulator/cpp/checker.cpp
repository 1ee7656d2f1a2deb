#ifdef EMU_CHECKED
#include "checker.h"

#include "access.h"
#include "channel.h"
#include "copies.h"
#include "early_reads.h"
#include "scheduler.h"
#include "sync.h"

#include <cstring>

namespace emu::check {

Running running;

void switch_fiber() {
    running = {current, 0};
    if (!current) return;
    threads.me = &threads.of(*current->block, current->thread);
    places.enter_block(current->block->slot);
}

namespace {

// A thread that has paused so often pauses only at powers of two from then on: a barrier that is missing in a loop
// shows in the first rounds, and a histogram would have as many pauses as elements.
constexpr unsigned PAUSES = 16;

}  // namespace

void pause(uintptr_t pc) {
    if (!current || current->changes == changes) return;
    current->changes = changes;
    unsigned before = current->pauses++;
    if (before > PAUSES && (before & (before - 1)) != 0) return;
    current->pc = pc;
    give_way();
}

void volatile_comes(const void* p, unsigned bytes, bool stores, uintptr_t pc) {
    if (!current || on_stack(p, bytes)) return;
    running.was_volatile = true;
    running.true_steps = running.steps;
    running.steps = STEPS;
    running.pc = pc;
    running.stored = stores ? p : nullptr;
    running.stored_bytes = bytes;
    if (stores) memcpy(running.before, p, bytes);
}

namespace {

void end_volatile() {
    running.was_volatile = false;
    running.steps = running.true_steps;
    if (running.stored && memcmp(running.before, running.stored, running.stored_bytes) != 0) value_changed();
    pause(running.pc);
    if (current != running.fiber) switch_fiber();
}

}  // namespace

void arrives() {
    if (current == running.fiber && running.was_volatile) end_volatile();
}

void interrupt(uintptr_t pc) {
    if (running.was_volatile) {
        end_volatile();
        if (++running.steps < STEPS) return;
    }
    running.steps = 0;
    early_read_takes_time();
    current->pc = pc;
    current->call = "a long loop";
    current->preempted = true;
    yield();
    if (current != running.fiber) switch_fiber();
}

void pending_or_unwritten(const Attempt& attempt) {
    const char* unwritten = nullptr;
    for (const char* p = attempt.p; p < attempt.p + attempt.bytes; p++) {
        const Region& region = *places.find_byte(p);
        const char* place = region.place(p);
        if (region.area->state(place) >> (uintptr_t(p) & 3) & 0x10) copies.report_target(attempt, p);
        if (!unwritten && !region.area->written(place)) unwritten = p;
    }
    if (unwritten && reads(attempt.op)) read_unwritten(attempt, unwritten);
}

void read_unwritten(const Attempt& attempt, const char* byte) {
    const Region& region = *places.find_byte(byte);
    if (!region.recorded) uninitialised(attempt, byte);
    read_early(attempt, byte, region.shared);
}

const char* first_unwritten(const Attempt& attempt) {
    places.find(attempt, unsigned(attempt.pc));
    for (const char* p = attempt.p; p < attempt.p + attempt.bytes; p++) {
        const Region& region = *places.find_byte(p);
        if (region.area && !region.area->written(region.place(p))) return p;
    }
    return nullptr;
}

void access_anyhow(const Attempt& attempt) {
    if (attempt.bytes == 0 || on_stack(attempt.p, attempt.bytes)) return;
    const Region* whole = places.find(attempt, unsigned(attempt.pc));
    if (whole && !whole->area) {
        if (reads(attempt.op)) return;
        out_of_bounds(attempt, places.describe(attempt.p),
                      "a thread writes to constant data of the program");
    }
    const char* end = attempt.p + attempt.bytes;
    unsigned count;
    for (const char* p = attempt.p; p < end; p += count) {
        const Region& region = whole ? *whole : *places.find_byte(p);
        if (!reads(attempt.op) && !region.writable) read_only(attempt);
        count = whole ? unsigned(4 - (uintptr_t(p) & 3)) : 1;
        if (count > uint64_t(end - p)) count = unsigned(end - p);
        unsigned mask = ((1u << count) - 1) << (uintptr_t(p) & 3);
        access_part(region, attempt, uint64_t(p - region.origin), mask);
    }
    if (!reads(attempt.op) && copies_from_writable) copies.check_sources(attempt);
}

void access(const void* p, unsigned bytes, Kind kind, uintptr_t pc) {
    if (!current) return;
    if (kind == Atomic) {
        enter(p, bytes, Op::AtomicWrite, true, pc);
        return;
    }
    step(pc);
    access_anyhow({(const char*)p, bytes, kind == Read ? Op::Read : Op::Write, pc});
}

void segment_mapped(char* start, uint64_t bytes) { shadow.add_segment(start, bytes); }

void segment_unmapped(char* start, uint64_t) { shadow.remove_segment(start); }

void set_written(char* start, uint64_t bytes, bool written) {
    if (Area* area = shadow.segment(start)) area->set_written(start, bytes, written);
}

void copied(char* to, const char* from, uint64_t bytes) {
    Area *target = shadow.segment(to), *source = shadow.segment(from);
    if (!target || !source) return;
    if ((uintptr_t(to) | uintptr_t(from) | bytes) % 4 == 0) {
        if (bytes) memmove(&target->state(to), &source->state(from), bytes / 4);
        return;
    }
    std::vector<bool> written(bytes);
    for (uint64_t i = 0; i < bytes; i++) written[i] = source->written(from + i);
    for (uint64_t i = 0; i < bytes; i++) target->set_written(to + i, 1, written[i]);
}

namespace {

// What earlier launches left where this one only writes: no result may depend on it.
void forget_outputs() {
    for (const Range& range : launch->parameters) {
        if (!range.fresh || !range.bytes) continue;
        Area& area = *shadow.segment(range.start);
        auto kept = [](const Range& other) { return !other.fresh; };
        for_pieces(range, kept, [&](char* start, uint64_t bytes, bool inside) {
            if (inside) return;
            memset(start, 0xff, bytes);
            area.set_written(start, bytes, false);
        });
    }
}

}  // namespace

void launch_begins() {
    uint64_t blocks = uint64_t(launch->grid.x) * launch->grid.y * launch->grid.z;
    if (blocks > UINT32_MAX / (uint64_t(launch->threads) + ENGINES)) {
        fail("the grid of " + launch->symbol + " is too large to be checked: " + std::to_string(blocks) +
             " blocks of " + std::to_string(launch->threads) + " threads, and a thread's number must fit into 32 bits");
    }
    bool keep = threads.begin_launch();
    for (Area* area : shadow.segments) keep ? area->drop_rare() : area->erase_records();
    for (Area& area : shadow.shared) keep ? area.drop_rare() : area.erase_records();
    if (launch->shared_bytes) shadow.place_shared(launch->shared_start, launch->shared_bytes);
    places.begin_launch();
    forget_outputs();
    running = {};
}

namespace {

bool written_in_launch(const Area& area, const Cell& cell) {
    if (cell.write.counter >= threads.launch_base) return true;
    if (!cell.more || cell.more & SPLIT) return false;
    for (const Access& access : area.accesses.items[cell.more]->atomics) {
        if (access.op == Op::AtomicWrite) return true;
    }
    return false;
}

}  // namespace

void launch_ends() {
    running = {};
    end_early_reads();
    for (unsigned i = 0; i < launch->parameters.size(); i++) {
        const Range& range = launch->parameters[i];
        if (!range.writable || !range.bytes) continue;
        Area& area = *shadow.segment(range.start);
        for (uint64_t offset = 0; offset < range.bytes;) {
            const char* p = range.start + offset;
            const Cell& word = area.cell(p);
            bool split = word.more & SPLIT;
            const Cell& cell = split ? area.splits[word.more & ~SPLIT].bytes[uintptr_t(p) & 3] : word;
            if (!written_in_launch(area, cell)) not_written(i, offset);
            offset += split ? 1 : 4 - (uintptr_t(p) & 3);
        }
    }
    threads.end_launch();
    places.end_launch();
}

void block_begins(Block& block) {
    Area& area = shadow.shared[block.slot];
    threads.begin_block(block);
    copies.drop(block.slot);
    sync.drop(block.slot);
    area.drop_rare();
    for (const SharedArray& array : launch->shared) {
        // Whole words: a word at an edge has bytes of one array only that matter, or of two that both begin.
        if (array.bytes) memset(&area.state(array.start), 0, (array.bytes + (uintptr_t(array.start) & 3) + 3) / 4);
    }
    running = {};
}

void block_ends(Block& block) {
    end_early_reads_of(block);
    running = {};
}

void fiber_begins(Fiber& fiber) {
    threads.begin_thread(threads.of(*fiber.block, fiber.thread), *fiber.block, fiber.thread);
    running = {};
}

void met(Fiber* const* fibers, unsigned count) { threads.met(fibers, count); }

}  // namespace emu::check
#endif
