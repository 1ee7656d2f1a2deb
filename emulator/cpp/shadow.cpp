#ifdef EMU_CHECKED
#include "shadow.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace emu::check {

Shadow shadow;

namespace {

template <class T>
T* map_lazily(uint64_t count) {
    void* at =
        mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        perror("emulator: cannot map shadow memory");
        exit(2);
    }
    return (T*)at;
}

uint64_t words(uint64_t bytes) {
    return (bytes + 3) / 4 + 4;  // accesses of up to 16 bytes look at four states at once
}

}  // namespace

void Area::map(char* new_start, uint64_t new_bytes) {
    start = new_start;
    bytes = new_bytes;
    cells = map_lazily<Cell>(words(bytes));
    states = map_lazily<uint8_t>(words(bytes));
}

void Area::unmap() {
    if (!cells) return;
    munmap(cells, words(bytes) * sizeof(Cell));
    munmap(states, words(bytes));
    cells = nullptr;
    accesses = {};
    splits = {};
}

void Area::set_written(const char* from, uint64_t count, bool written) {
    const char* end = from + count;
    auto set = [&](const char* p) {
        uint8_t bit = uint8_t(1 << (uintptr_t(p) & 3));
        state(p) = uint8_t(written ? state(p) | bit : state(p) & ~bit);
    };
    for (; from < end && uintptr_t(from) % 4; from++) set(from);
    for (; from < end && uintptr_t(end) % 4; end--) set(end - 1);
    if (from < end) memset(&state(from), written ? ALL_WRITTEN : 0, uint64_t(end - from) / 4);
}

void Area::drop_rare() {
    for (uint32_t i = 1; i < accesses.items.size(); i++) {
        if (Cell* owner = accesses.items[i]->owner) {
            drop_accesses(*owner);
            *owner = {};
        }
    }
    for (uint32_t i = 1; i < splits.items.size(); i++) {
        if (Cell* owner = splits.items[i]->owner) {
            splits.put_back(i);
            *owner = {};
        }
    }
}

void Area::erase_records() {
    drop_rare();
    if (cells) madvise(cells, words(bytes) * sizeof(Cell), MADV_DONTNEED);
}

Accesses& Area::take_accesses(Cell& cell) {
    if (!cell.more) cell.more = accesses.take(&cell);
    return accesses[cell.more];
}

void Area::drop_accesses(Cell& cell) {
    Accesses& rare = accesses[cell.more];
    rare.reads.clear();
    rare.atomics.clear();
    rare.published = {};
    rare.stores = {};
    rare.publisher = 0;
    accesses.put_back(cell.more);
    cell.more = 0;
}

// Gives each byte of the word a cell of its own that knows what the word's cell knew.
Split& Area::split(Cell& cell) {
    if (cell.more & SPLIT) return splits[cell.more & ~SPLIT];
    uint32_t place = splits.take(&cell);
    Split& split = splits[place];
    for (Cell& byte : split.bytes) {
        byte = cell;
        byte.more = 0;
        if (cell.more) {
            Accesses& copy = take_accesses(byte);
            const Accesses& rare = accesses[cell.more];
            copy.reads = rare.reads;
            copy.atomics = rare.atomics;
            copy.published = rare.published;
            copy.publisher = rare.publisher;
            copy.stores = rare.stores;
        }
    }
    if (cell.more) drop_accesses(cell);
    cell.more = place | SPLIT;
    return split;
}

void Area::merge(Cell& cell) {
    uint32_t place = cell.more & ~SPLIT;
    cell = splits[place].bytes[0];
    splits.put_back(place);
}

Area* Shadow::segment(const void* p) {
    for (Area* area : segments) {
        if (area->contains(p)) return area;
    }
    return nullptr;
}

void Shadow::add_segment(char* start, uint64_t bytes) {
    segments.push_back(new Area);
    segments.back()->map(start, bytes);
}

void Shadow::remove_segment(char* start) {
    auto at = std::find_if(segments.begin(), segments.end(), [&](Area* area) { return area->start == start; });
    if (at == segments.end()) return;
    (*at)->unmap();
    delete *at;
    segments.erase(at);
}

// Shared memory of the launch that begins. The areas are made anew when they do not fit.
void Shadow::place_shared(char* start, uint64_t bytes) {
    char* from = (char*)(uintptr_t(start) & ~uintptr_t(15));
    uint64_t whole = uint64_t(start + bytes - from);
    for (Area& area : shared) {
        if (area.cells && area.start == from && area.bytes >= whole) continue;
        area.unmap();
        area.map(from, whole);
    }
}

}  // namespace emu::check
#endif
