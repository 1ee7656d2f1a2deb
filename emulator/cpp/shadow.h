// Shadow memory: what the checker knows of every byte of a segment, or of the shared memory of a resident block.
//
// For each word of 4 bytes there is
//   - a state byte: one bit a byte for "was written" (low half), one for "target of an asynchronous copy under way"
//   (high half);
//   - a cell: the latest write and the latest read, as long as whole words are accessed and one read is all there is to
//   know.
// Rarer things lie in pools that a cell points to: the `Accesses` of a word that several threads read, or that is
// accessed atomically, and the four byte-wide cells of a word that is accessed in parts.
//
// Both arrays are mapped without being touched: memory that a program does not use costs nothing.
#pragma once

#include "threads.h"

#include <memory>

namespace emu::check {

constexpr uint8_t ALL_WRITTEN = 0x0f, PENDING = 0xf0;

struct Cell {
    Mark write, read;  // the latest that were not atomic; counter 0: none
    uint32_t more;     // 0: nothing, else a place in the pools, see below
    uint16_t write_size, read_size;
};

// `Cell::more` with this bit is a place in `Area::splits`, without it in `Area::accesses`.
constexpr uint32_t SPLIT = 1u << 31;

enum class Op : uint16_t { Read, Write, AtomicRead, AtomicWrite };

struct Access {
    Mark mark;
    uint16_t size;
    Op op;
};

// What does not fit into a cell.
struct Accesses {
    Cell* owner = nullptr;
    std::vector<Access> reads;    // by several threads; `Cell::read` is then empty
    std::vector<Access> atomics;  // atomic accesses
    // What an atomic load of the present value acquires, and who made the value.
    Ref<Clock> published;
    uint32_t publisher = 0;  // whose release sequence it is, see sync.cpp
    Ref<Stores> stores;
};

struct Split {
    Cell* owner = nullptr;
    Cell bytes[4];
};

// Things with stable addresses that are used again. Place 0 stays empty.
template <class T>
class Pool {
public:
    Pool() { items.emplace_back(); }
    T& operator[](uint32_t place) { return *items[place]; }
    uint32_t take(Cell* owner) {
        if (free.empty()) {
            free.push_back(uint32_t(items.size()));
            items.push_back(std::make_unique<T>());
        }
        uint32_t place = free.back();
        free.pop_back();
        items[place]->owner = owner;
        return place;
    }
    void put_back(uint32_t place) {
        items[place]->owner = nullptr;
        free.push_back(place);
    }
    std::vector<std::unique_ptr<T>> items;

private:
    std::vector<uint32_t> free;
};

// The shadow of one contiguous piece of memory.
class Area {
public:
    char* start = nullptr;  // a multiple of 16
    uint64_t bytes = 0;
    Cell* cells = nullptr;
    uint8_t* states = nullptr;
    Pool<Accesses> accesses;
    Pool<Split> splits;

    void map(char* start, uint64_t bytes);
    void unmap();
    bool contains(const void* p) const { return uint64_t((const char*)p - start) < bytes; }
    Cell& cell(const void* p) const { return cells[uint64_t((const char*)p - start) / 4]; }
    uint8_t& state(const void* p) const { return states[uint64_t((const char*)p - start) / 4]; }
    void set_written(const char* from, uint64_t count, bool written);
    bool written(const char* p) const { return state(p) >> (uintptr_t(p) & 3) & 1; }
    // Empties the pools, and the cells that point there.
    void drop_rare();
    // Erases every record of accesses.
    void erase_records();

    Accesses& take_accesses(Cell& cell);
    void drop_accesses(Cell& cell);
    Split& split(Cell& cell);
    // Makes a split word whole again: all its bytes were just written by one access.
    void merge(Cell& cell);
};

// All areas. A shared area stands at the address that every block sees, once for each place of a resident block.
class Shadow {
public:
    std::vector<Area*> segments;
    Area shared[MAX_RESIDENT];

    Area* segment(const void* p);
    void add_segment(char* start, uint64_t bytes);
    void remove_segment(char* start);
    void place_shared(char* start, uint64_t bytes);
};

extern Shadow shadow;

}  // namespace emu::check
