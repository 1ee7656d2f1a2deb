// Races: checks an access against what the shadow tells of earlier ones, and records it.
//
// Two accesses of a byte by two threads race when one of them writes, not both are atomic, and neither is ordered
// before the other. A record may be dropped once a later access is ordered after it and would race with everything that
// the dropped one would race with: nothing is lost by that, so the check is exact.
#pragma once

#include "findings.h"
#include "shadow.h"

namespace emu::check {

// The cell of a whole word, or of a byte of a split word.
void read_slowly(Area& area, Cell& cell, const Attempt& attempt, bool shared);
void write_slowly(Area& area, Cell& cell, const Attempt& attempt, bool shared);
// `attempt.op` says whether it stores.
void access_atomically(Area& area, Cell& cell, const Attempt& attempt, bool shared);

// Calls `act` for the cells of the bytes of one word that `mask` names: for the word's own cell if it is whole.
template <class Act>
void for_cells(Area& area, Cell& cell, unsigned mask, Act act) {
    if (mask == 0xf && !(cell.more & SPLIT)) return act(cell);
    Split& split = area.split(cell);
    for (unsigned i = 0; i < 4; i++) {
        if (mask >> i & 1) act(split.bytes[i]);
    }
}

inline bool same(const Mark& mark) { return mark.thread == threads.me->id && mark.counter == threads.me->counter; }

// A plain read of a whole word or of a byte.
inline void record_read(Area& area, Cell& cell, const Attempt& attempt, bool shared) {
    if (cell.more) return read_slowly(area, cell, attempt, shared);
    if (same(cell.read)) return;
    if (!threads.ordered(cell.write, shared)) race(attempt, {cell.write, cell.write_size, Op::Write});
    if (!threads.ordered(cell.read, shared)) return read_slowly(area, cell, attempt, shared);
    cell.read = attempt.mark();
    cell.read_size = attempt.size16();
}

// A plain write of a whole word or of a byte.
inline void record_write(Area& area, Cell& cell, const Attempt& attempt, bool shared) {
    if (cell.more) return write_slowly(area, cell, attempt, shared);
    if (!threads.ordered(cell.write, shared)) race(attempt, {cell.write, cell.write_size, Op::Write});
    if (!threads.ordered(cell.read, shared)) race(attempt, {cell.read, cell.read_size, Op::Read});
    cell.write = attempt.mark();
    cell.write_size = attempt.size16();
    cell.read = {};
}

}  // namespace emu::check
