#ifdef EMU_CHECKED
#include "copies.h"

#include "checker.h"
#include "sync.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace emu::check {

Copies copies;
uint64_t copies_from_writable = 0;

namespace {

// May the launch write any byte of the copy's source?
bool source_writable(const Copy& copy) {
    for (const Range& range : launch->parameters) {
        if (range.writable && range.start < copy.source + copy.valid && copy.source < range.start + range.bytes)
            return true;
    }
    return false;
}

bool hits_source(const Copy& copy, const Attempt& attempt) {
    const char* place = places.place(attempt.p);
    return copy.source < place + attempt.bytes && place < copy.source + copy.valid;
}

// Sets the state of each byte of the target.
void set_states(Area& area, const Copy& copy, bool pending, bool written) {
    for (unsigned i = 0; i < copy.bytes; i++) {
        uint8_t& state = area.state(copy.to + i);
        unsigned bit = 1u << (uintptr_t(copy.to + i) & 3);
        unsigned bits = (pending ? bit << 4 : 0) | (written ? bit : 0);
        state = uint8_t((state & ~(bit | bit << 4)) | bits);
    }
}

}  // namespace

bool hits_target(const Copy& copy, const Attempt& attempt) {
    return copy.to < attempt.p + attempt.bytes && attempt.p < copy.to + copy.bytes;
}

const char* first_of_source(const Copy& copy, const Attempt& attempt) {
    return attempt.p + std::max<int64_t>(0, copy.source - places.place(attempt.p));
}

void Copies::issue(const Copy& copy, uintptr_t pc) {
    access_anyhow({copy.from, copy.valid, Op::Read, pc});
    const Attempt write = {copy.to, copy.bytes, Op::Write, pc};
    access_anyhow(write);
    const Region* target = places.find_byte(copy.to);
    if (!target || !target->shared) {
        out_of_bounds(write, places.describe(copy.to),
                      "the target of an asynchronous copy is not shared memory");
    }
    set_states(*target->area, copy, true, false);
    if (source_writable(copy)) copies_from_writable++;
    under_way[current->block->slot][copy.to] = copy;
    threads.tick(*threads.me);
}

void Copies::complete(void* to, const void* key) {
    auto& block = under_way[current->block->slot];
    auto at = block.find((char*)to);
    if (at == block.end()) return;
    const Copy copy = at->second;
    block.erase(at);
    forget(copy);
    // Until now the source may have been read.
    if (!key && source_writable(copy)) access_anyhow({copy.from, copy.valid, Op::Read, copy.issued.pc});

    Mark writer = {threads.me->id, threads.me->counter, copy.issued.pc};
    if (key) {
        const Thread& me = *threads.me;
        unsigned engine = launch->threads + uintptr_t(key) / 8 % ENGINES;
        writer.thread = me.first + engine;
        writer.counter = threads.tick_engine(*current->block);
        sync.publish(key, copy.stamp);
        sync.publish(key, {Ref<Clock>(), me.block, engine, writer.counter});
    }
    done[current->block->slot][copy.to] = {copy, writer};
    const Region& region = *places.find_byte(copy.to);
    set_states(*region.area, copy, false, true);
    for (unsigned i = 0; i < copy.bytes;) {
        const char* p = copy.to + i;
        unsigned first = uintptr_t(p) & 3, count = std::min(4 - first, copy.bytes - i);
        for_cells(*region.area, region.area->cell(p), ((1u << count) - 1) << first, [&](Cell& cell) {
            if (cell.more) region.area->drop_accesses(cell);
            cell.write = writer;
            cell.write_size = uint16_t(copy.bytes);
            cell.read = {};
        });
        i += count;
    }
}

void Copies::forget(const Copy& copy) {
    if (source_writable(copy)) copies_from_writable--;
}

void Copies::drop(unsigned slot) {
    for (const auto& entry : under_way[slot]) forget(entry.second);
    under_way[slot].clear();
    done[slot].clear();
}

const Copy* Copies::completed_at(const Mark& mark, const Attempt& attempt) const {
    const Copy* found = nullptr;
    for (const auto& block : done) {
        for (const auto& entry : block) {
            const auto& [copy, completed] = entry.second;
            if (std::tie(completed.thread, completed.counter, completed.pc) !=
                std::tie(mark.thread, mark.counter, mark.pc))
                continue;
            if (!hits_target(copy, attempt) && !hits_source(copy, attempt)) continue;
            if (!found || copy.to < found->to) found = &copy;
        }
    }
    return found;
}

void Copies::report_target(const Attempt& attempt, const char* byte) {
    for (const auto& entry : under_way[current->block->slot]) {
        const Copy& copy = entry.second;
        if (byte >= copy.to && byte < copy.to + copy.bytes) pending_copy(attempt, copy);
    }
    abort();  // every byte that is marked has its copy
}

void Copies::check_sources(const Attempt& attempt) {
    const Copy* found = nullptr;
    for (const auto& block : under_way) {
        for (const auto& entry : block) {
            const Copy& copy = entry.second;
            // Of several, always the same one, whatever the order of the table.
            if (hits_source(copy, attempt) &&
                (!found || std::tie(copy.source, copy.issued.thread) < std::tie(found->source, found->issued.thread)))
                found = &copy;
        }
    }
    if (found) pending_copy(attempt, *found);
}

void check_copy_sources(const Attempt& attempt) { copies.check_sources(attempt); }

void async_issued(void* to, const void* from, unsigned bytes, unsigned valid, uintptr_t pc) {
    if (!current || bytes == 0) return;
    step(pc);
    const Thread& me = *threads.me;
    Mark mark = {me.id, me.counter, uint32_t(pc)};
    const char* source = places.place((const char*)from);
    copies.issue({(char*)to, (const char*)from, source, bytes, valid, mark, me.stamp()}, pc);
}

void async_completed(void* to, const void*, unsigned, unsigned, const void* key) {
    if (!current) return;
    if (current != running.fiber) switch_fiber();
    copies.complete(to, key);
}

}  // namespace emu::check
#endif
