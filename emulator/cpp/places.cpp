#ifdef EMU_CHECKED
#include "places.h"

#include "channel.h"
#include "checker.h"

#include <link.h>

#include <algorithm>
#include <cstdio>

namespace emu::check {

Places places;

namespace {

struct Piece {
    char* start;
    uint64_t bytes;
};

// The parts of the executable that are not writable, and what the loader made so after relocation.
const std::vector<Piece>& constants() {
    static std::vector<Piece> pieces = [] {
        std::vector<Piece> found;
        dl_iterate_phdr(
            [](dl_phdr_info* object, size_t, void* to) {
                for (unsigned i = 0; i < object->dlpi_phnum; i++) {
                    const auto& part = object->dlpi_phdr[i];
                    bool constant = part.p_type == PT_GNU_RELRO || (part.p_type == PT_LOAD && !(part.p_flags & PF_W));
                    if (constant)
                        ((std::vector<Piece>*)to)->push_back({(char*)object->dlpi_addr + part.p_vaddr, part.p_memsz});
                }
                return 1;  // the executable comes first, and libraries are not wanted
            },
            &found);
        return found;
    }();
    return pieces;
}

std::string number(int64_t value) { return std::to_string(value); }

}  // namespace

bool Places::Named::contains(const char* p, uint64_t count) const {
    uint64_t offset = uint64_t(p - start);
    return offset < bytes && count <= bytes - offset;
}

// How far outside, in bytes: 0 is inside, 1 the first byte after the end or the last before the start.
int64_t Places::Named::distance(const char* p) const {
    if (p < start) return start - p;
    return p < start + bytes ? 0 : p - (start + bytes) + 1;
}

void Places::begin_launch() {
    named.clear();
    regions.clear();
    for (unsigned i = 0; i < launch->parameters.size(); i++) {
        const Range& range = launch->parameters[i];
        bool alone = range.seen != range.start;  // with a gap around it
        named.push_back({range.seen, range.bytes, alone ? int64_t(ALIAS_GAP) : NEAR, "PARAM " + number(i) + " ",
                         "parameter " + number(i) + " (" + number(int64_t(range.bytes)) + " bytes)"});
        add_parameter(range);
    }
    for (const SharedArray& array : launch->shared) {
        named.push_back({array.start, array.bytes, NEAR, "SHARED " + array.name + " ",
                         "shared array `" + array.name + "` (" + number(int64_t(array.bytes)) + " bytes)"});
    }
    add_shared();
    add_constants();
    std::fill_n(guesses, GUESSES, &nowhere);
}

void Places::end_launch() {
    named.clear();
    regions.clear();
    std::fill_n(guesses, GUESSES, &nowhere);
}

void Places::add_parameter(const Range& range) {
    if (!range.bytes) return;
    Area* area = shadow.segment(range.start);
    if (!area) fail("a parameter of " + launch->symbol + " points to no mapped segment");
    auto writable = [](const Range& other) { return other.writable; };
    for_pieces(range, writable, [&](char* start, uint64_t bytes, bool recorded) {
        Region region;
        region.start = range.seen + (start - range.start);
        region.bytes = bytes;
        region.area = area;
        region.origin = range.seen - (range.start - area->start);
        region.cells = area->cells;
        region.states = area->states;
        region.writable = range.writable;
        region.recorded = recorded;
        regions.push_back(region);
    });
}

void Places::add_shared() {
    std::vector<char*> edges;
    for (const SharedArray& array : launch->shared) {
        edges.push_back(array.start);
        edges.push_back(array.start + array.bytes);
    }
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    for (size_t i = 0; i + 1 < edges.size(); i++) {
        bool covered = false;
        for (const SharedArray& array : launch->shared) {
            covered |= array.start <= edges[i] && edges[i] < array.start + array.bytes;
        }
        if (!covered) continue;
        Region region;
        region.start = edges[i];
        region.bytes = uint64_t(edges[i + 1] - edges[i]);
        region.area = &shadow.shared[0];
        region.origin = region.area->start;
        region.cells = region.area->cells;
        region.states = region.area->states;
        region.writable = region.recorded = region.shared = true;
        regions.push_back(region);
    }
}

void Places::add_constants() {
    for (const Piece& piece : constants()) {
        Region region;
        region.start = piece.start;
        region.bytes = piece.bytes;
        regions.push_back(region);
    }
}

void Places::enter_block(unsigned slot) {
    for (Region& region : regions) {
        if (!region.shared) continue;
        region.area = &shadow.shared[slot];
        region.cells = region.area->cells;
        region.states = region.area->states;
    }
}

const Region* Places::find_byte(const char* p) const {
    for (const Region& region : regions) {
        if (region.contains(p, 1)) return &region;
    }
    return nullptr;
}

const char* Places::place(const char* p) const {
    const Region* region = find_byte(p);
    return region && region->area ? region->place(p) : p;
}

const Region* Places::find(const Attempt& attempt, unsigned hint) {
    for (const Region& region : regions) {
        if (region.contains(attempt.p, attempt.bytes)) return guesses[hint % GUESSES] = &region;
    }
    for (const Named& range : named) {
        if (range.contains(attempt.p, attempt.bytes)) return nullptr;
    }
    outside(attempt);
}

// The range that an address is inside of, or nearest to.
const Places::Named* Places::nearest(const char* p) const {
    auto best = std::min_element(named.begin(), named.end(),
                                 [&](const Named& a, const Named& b) { return a.distance(p) < b.distance(p); });
    return best != named.end() && best->distance(p) <= best->near ? &*best : nullptr;
}

std::string Places::describe(const char* p) const {
    if (const Named* range = nearest(p)) return range->line + number(p - range->start);
    char text[32];
    snprintf(text, sizeof text, "WILD %llx", (unsigned long long)(uintptr_t)p);
    return text;
}

void Places::outside(const Attempt& attempt) const {
    const char *p = attempt.p, *end = p + attempt.bytes;
    const std::string who =
        attempt.op == Op::Read || attempt.op == Op::AtomicRead ? "a thread reads " : "a thread writes ";
    if (p >= current->stack_low && p < current->stack_high) {
        out_of_bounds(attempt, describe(p), who + "past the end of its local memory");
    }
    // Of the ranges that have its first byte, the one that goes on for longest.
    const Named* begins = nullptr;
    for (const Named& range : named) {
        if (range.contains(p, 1) && (!begins || range.start + range.bytes > begins->start + begins->bytes))
            begins = &range;
    }
    if (begins) {
        const char* last = begins->start + begins->bytes;
        out_of_bounds(attempt, begins->line + number(int64_t(begins->bytes)),
                      who + "from inside " + begins->words + " up to " + number(end - last) + " bytes past its end");
    }
    const Named* near = nearest(p);
    if (!near)
        out_of_bounds(attempt, describe(p), who + "at an address that belongs to nothing it may use");
    int64_t behind = p - near->start - int64_t(near->bytes);
    std::string gap = p < near->start ? number(near->start - p) + " bytes before the start of "
                      : behind == 0   ? "right behind the end of "
                                      : number(behind) + " bytes behind the end of ";
    out_of_bounds(attempt, describe(p), who + gap + near->words);
}

}  // namespace emu::check
#endif
