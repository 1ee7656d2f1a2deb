// Places: what a launch may touch, byte by byte.
//
// The ranges of the parameters may overlap (in place), so they are cut into disjoint regions, each inside the same set
// of ranges throughout. An access inside one region is inside one range. So do the kernel's shared arrays, and the
// constant data of the executable (literals, constant tables), which may be read.
#pragma once

#include "findings.h"

namespace emu::check {

struct Region {
    char* start = nullptr;
    uint64_t bytes = 0;
    Area* area = nullptr;    // null: constant data
    char* origin = nullptr;  // where the area starts
    Cell* cells = nullptr;
    uint8_t* states = nullptr;
    bool writable = false, shared = false;

    bool contains(const void* p, uint64_t count) const {
        uint64_t offset = uint64_t((const char*)p - start);
        return offset < bytes && count <= bytes - offset;
    }
};

class Places {
public:
    void begin_launch();
    void end_launch();
    // The shared regions are those of this resident block from now on.
    void enter_block(unsigned slot);
    // The region that has all of the access, or null if it spans several. Ends the child if no range has all of it.
    const Region* find(const Attempt& attempt, unsigned hint);
    const Region* find_byte(const char* p) const;
    // As `find`, by a guess that is right when the place in the program touched the same region before.
    const Region* guess(const void* p, uint64_t bytes, unsigned hint) const {
        const Region* region = guesses[hint % GUESSES];
        return region->contains(p, bytes) ? region : nullptr;
    }
    // `PARAM i OFFSET`, `SHARED NAME OFFSET` or `WILD HEX`.
    std::string describe(const char* p, Op op) const;

private:
    static constexpr unsigned GUESSES = 256;
    static constexpr int64_t NEAR = 4096;

    // A range as the program knows it.
    struct Named {
        char* start;
        uint64_t bytes;
        std::string line;   // `PARAM i ` or `SHARED NAME `
        std::string words;  // for messages
        bool writable, shared;
        bool contains(const char* p, uint64_t count) const;
        int64_t distance(const char* p) const;
    };
    std::vector<Named> named;
    std::vector<Region> regions;
    Region nowhere;
    const Region* guesses[GUESSES];

    void cut(bool shared);
    void add_constants();
    const Named* nearest(const char* p, Op op) const;
    [[noreturn]] void outside(const Attempt& attempt) const;
};

extern Places places;

}  // namespace emu::check
