// Places: what a launch may touch, byte by byte.
//
// The kernel sees each parameter's range at an address of its own. Their bytes may overlap (in place), so each range is
// cut into regions, each inside the same set of ranges throughout. The kernel's shared arrays may overlap, so they are
// cut into disjoint regions. The constant data of the executable (literals, constant tables) may be read.
#pragma once

#include "findings.h"

namespace emu::check {

struct Region {
    char* start = nullptr;  // as the kernel sees it
    uint64_t bytes = 0;
    Area* area = nullptr;    // null: constant data
    char* origin = nullptr;  // where the kernel would see the area's start
    Cell* cells = nullptr;
    uint8_t* states = nullptr;
    bool writable = false, shared = false;
    bool recorded = false;  // some parameter may write these bytes, so accesses may race

    // Where the area has it.
    char* place(const char* p) const { return area->start + (p - origin); }
    bool contains(const void* p, uint64_t count) const {
        uint64_t offset = uint64_t((const char*)p - start);
        return offset < bytes && count <= bytes - offset;
    }
};

// Cuts the range of a parameter at the edges of those for which `counts` holds, and calls `act` with each piece and
// whether it is inside one of them.
template <class Counts, class Act>
void for_pieces(const Range& range, Counts counts, Act act) {
    char* const end = range.start + range.bytes;
    for (char *from = range.start, *to; from < end; from = to) {
        to = end;
        bool inside = false;
        for (const Range& other : launch->parameters) {
            if (!counts(other)) continue;
            char* edges[] = {other.start, other.start + other.bytes};
            for (char* edge : edges) {
                if (edge > from && edge < to) to = edge;
            }
            inside |= edges[0] <= from && from < edges[1];
        }
        act(from, uint64_t(to - from), inside);
    }
}

class Places {
public:
    void begin_launch();
    void end_launch();
    // The shared regions are those of this resident block from now on.
    void enter_block(unsigned slot);
    // The region that has all of the access, or null if it spans several. Ends the child if no range has all of it.
    const Region* find(const Attempt& attempt, unsigned hint);
    const Region* find_byte(const char* p) const;
    // The place of a byte of a parameter, whichever of the parameters it was reached by. Other addresses stay.
    const char* place(const char* p) const;
    // As `find`, by a guess that is right when the place in the program touched the same region before.
    const Region* guess(const void* p, uint64_t bytes, unsigned hint) const {
        const Region* region = guesses[hint % GUESSES];
        return region->contains(p, bytes) ? region : nullptr;
    }
    // `PARAM i OFFSET`, `SHARED NAME OFFSET` or `WILD HEX`.
    std::string describe(const char* p) const;

private:
    static constexpr unsigned GUESSES = 256;
    static constexpr int64_t NEAR = 4096;  // bytes

    // A range as the program sees it.
    struct Named {
        char* start;
        uint64_t bytes;
        int64_t near;       // up to so many bytes outside, an address is taken to come of it
        std::string line;   // `PARAM i ` or `SHARED NAME `
        std::string words;  // for messages
        bool contains(const char* p, uint64_t count) const;
        int64_t distance(const char* p) const;
    };
    std::vector<Named> named;
    std::vector<Region> regions;
    Region nowhere;
    const Region* guesses[GUESSES];

    void add_parameter(const Range& range);
    void add_shared();
    void add_constants();
    const Named* nearest(const char* p) const;
    [[noreturn]] void outside(const Attempt& attempt) const;
};

extern Places places;

}  // namespace emu::check
