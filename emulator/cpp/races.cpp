#ifdef EMU_CHECKED
#include "races.h"

#include <algorithm>

namespace emu::check {

namespace {

bool stores(Op op) { return op == Op::Write || op == Op::AtomicWrite; }

// Drops the reads that the present one makes needless, so that another fits.
void prune_reads(std::vector<Access>& reads, bool shared) {
    auto needless = [&](const Access& read) { return threads.ordered(read.mark, shared); };
    reads.erase(std::remove_if(reads.begin(), reads.end(), needless), reads.end());
    // A thread's later read makes its earlier ones needless; each thread's are in the order of its time.
    std::stable_sort(reads.begin(), reads.end(),
                     [](const Access& a, const Access& b) { return a.mark.thread < b.mark.thread; });
    auto last = std::unique(reads.rbegin(), reads.rend(),
                            [](const Access& a, const Access& b) { return a.mark.thread == b.mark.thread; });
    reads.erase(reads.begin(), last.base());
    reads.reserve(2 * reads.size() + 8);
}

// The same for atomic accesses: a store stands for earlier loads and stores, a load only for loads.
void prune_atomics(std::vector<Access>& atomics, const Access& access, bool shared) {
    auto needless = [&](const Access& old) {
        return threads.ordered(old.mark, shared) && (stores(access.op) || !stores(old.op));
    };
    atomics.erase(std::remove_if(atomics.begin(), atomics.end(), needless), atomics.end());
    std::stable_sort(atomics.begin(), atomics.end(), [](const Access& a, const Access& b) {
        return a.mark.thread != b.mark.thread ? a.mark.thread < b.mark.thread : stores(a.op) < stores(b.op);
    });
    // Loads first, then stores: keeps the latest of each kind of each thread.
    auto last = std::unique(atomics.rbegin(), atomics.rend(), [](const Access& a, const Access& b) {
        return a.mark.thread == b.mark.thread && a.op == b.op;
    });
    atomics.erase(atomics.begin(), last.base());
    atomics.reserve(2 * atomics.size() + 8);
}

}  // namespace

void read_slowly(Area& area, Cell& cell, const Attempt& attempt, bool shared) {
    if (!threads.ordered(cell.write, shared)) race(attempt, {cell.write, cell.write_size, Op::Write});
    Accesses& rare = area.take_accesses(cell);
    for (const Access& other : rare.atomics) {
        if (stores(other.op) && !threads.ordered(other.mark, shared)) race(attempt, other);
    }
    std::vector<Access>& reads = rare.reads;
    if (cell.read.counter) {
        reads.push_back({cell.read, cell.read_size, Op::Read});
        cell.read = {};
    }
    if (!reads.empty() && same(reads.back().mark)) return;
    if (reads.size() == reads.capacity()) prune_reads(reads, shared);
    reads.push_back(attempt.access());
}

void write_slowly(Area& area, Cell& cell, const Attempt& attempt, bool shared) {
    if (!threads.ordered(cell.write, shared)) race(attempt, {cell.write, cell.write_size, Op::Write});
    if (!threads.ordered(cell.read, shared)) race(attempt, {cell.read, cell.read_size, Op::Read});
    if (cell.more) {
        Accesses& rare = area.accesses[cell.more];
        for (const Access& other : rare.atomics) {
            if (!threads.ordered(other.mark, shared)) race(attempt, other);
        }
        for (const Access& other : rare.reads) {
            if (!threads.ordered(other.mark, shared)) race(attempt, other);
        }
        area.drop_accesses(cell);
    }
    cell.write = attempt.mark();
    cell.write_size = attempt.size16();
    cell.read = {};
}

void access_atomically(Area& area, Cell& cell, const Attempt& attempt, bool shared) {
    if (!threads.ordered(cell.write, shared)) race(attempt, {cell.write, cell.write_size, Op::Write});
    Accesses& rare = area.take_accesses(cell);
    if (stores(attempt.op)) {
        if (!threads.ordered(cell.read, shared)) race(attempt, {cell.read, cell.read_size, Op::Read});
        for (const Access& other : rare.reads) {
            if (!threads.ordered(other.mark, shared)) race(attempt, other);
        }
    }
    std::vector<Access>& atomics = rare.atomics;
    Access access = attempt.access();
    if (!atomics.empty() && atomics.back().mark.thread == access.mark.thread && atomics.back().op == access.op) {
        atomics.back() = access;
        return;
    }
    if (atomics.size() == atomics.capacity()) prune_atomics(atomics, access, shared);
    atomics.push_back(access);
}

}  // namespace emu::check
#endif
