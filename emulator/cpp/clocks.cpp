#ifdef EMU_CHECKED
#include "clocks.h"

#include <algorithm>

namespace emu::check {

namespace {

bool before(const Ref<Row>& row, uint32_t block) { return row->block < block; }

}  // namespace

const Row* Clock::row(uint32_t block) const {
    auto at = std::lower_bound(rows.begin(), rows.end(), block, before);
    return at != rows.end() && (*at)->block == block ? at->get() : nullptr;
}

bool Clock::covers(uint32_t block, uint32_t thread, uint32_t counter) const {
    const Row* known = row(block);
    return known && known->counters[thread] >= counter;
}

bool Stamp::covers(uint32_t of_block, uint32_t of_thread, uint32_t of_counter) const {
    if (of_block == block && of_thread == thread) return of_counter <= counter;
    return base && base->covers(of_block, of_thread, of_counter);
}

Join::Join(unsigned threads, Ref<Clock> from) : threads(threads) {
    if (from.unique()) {
        rows = std::move(from->rows);
    } else if (from) {
        rows = from->rows;
    }
}

size_t Join::place(uint32_t block) const {
    return std::lower_bound(rows.begin(), rows.end(), block, before) - rows.begin();
}

// The row at `place`, copied first if anybody else has it.
Row& Join::own(size_t place) {
    Ref<Row>& row = rows[place];
    if (!row.unique()) {
        Row* copy = new Row(*row.get());
        copy->references = 0;
        row = Ref<Row>(copy);
    }
    return *row.get();
}

void Join::add(const Clock* clock) {
    if (!clock) return;
    for (const Ref<Row>& row : clock->rows) {
        size_t at = place(row->block);
        if (at == rows.size() || rows[at]->block != row->block) {
            rows.insert(rows.begin() + at, row);
        } else if (rows[at].get() != row.get()) {
            std::vector<uint32_t>& counters = own(at).counters;
            for (unsigned i = 0; i < threads; i++) counters[i] = std::max(counters[i], row->counters[i]);
        }
    }
}

void Join::add(uint32_t block, uint32_t thread, uint32_t counter) {
    size_t at = place(block);
    if (at == rows.size() || rows[at]->block != block) {
        Row* row = new Row;
        row->block = block;
        row->counters.assign(threads, 0);
        rows.insert(rows.begin() + at, Ref<Row>(row));
    }
    if (rows[at]->counters[thread] >= counter) return;
    own(at).counters[thread] = counter;
}

void Join::add(const Stamp& stamp) {
    add(stamp.base.get());
    add(stamp.block, stamp.thread, stamp.counter);
}

Ref<Clock> Join::done() {
    Ref<Clock> clock(new Clock);
    clock->rows = std::move(rows);
    return clock;
}

}  // namespace emu::check
#endif
