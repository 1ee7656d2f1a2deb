#ifdef EMU_CHECKED
#include "threads.h"

#include <algorithm>

namespace emu::check {

Threads threads;

namespace {

// Half of the range is left to one launch: more synchronizations than a launch can make within any time limit.
constexpr uint32_t NEAR_THE_END = 1u << 31;

}  // namespace

void Thread::see(const Seen& now) {
    if (!now.stores) return;
    if (seen.size() < Seen::MOST) {
        if (seen.empty() || seen.back().stores.get() != now.stores.get()) seen.push_back(now);
        return;
    }
    const Seen& latest = seen[(next_seen + Seen::MOST - 1) % Seen::MOST];
    if (latest.stores.get() == now.stores.get()) return;
    seen[next_seen] = now;
    next_seen = (next_seen + 1) % Seen::MOST;
}

bool Threads::begin_launch() {
    bool fits = highest < NEAR_THE_END;
    launch_base = fits ? highest + 1 : 1;
    highest = launch_base;
    stride = launch->threads + ENGINES;
    nothing.assign(stride, 0);
    me = nullptr;
    return fits;
}

void Threads::end_launch() {
    for (std::vector<Thread>& slot : slots) slot.clear();
    me = nullptr;
}

void Threads::begin_block(const Block& block) {
    slots[block.slot].assign(launch->threads, Thread());
    engines[block.slot] = launch_base;
    me = nullptr;
}

void Threads::begin_thread(Thread& thread, const Block& block, unsigned index) {
    thread = Thread();
    thread.block = uint32_t(block.number);
    thread.index = index;
    thread.first = thread.block * stride;
    thread.id = thread.first + index;
    thread.counter = launch_base;
    thread.own = nothing.data();
}

void Threads::rebase(Thread& thread, Ref<Clock> base) {
    thread.base = std::move(base);
    const Row* own = thread.base->row(thread.block);
    thread.own = own ? own->counters.data() : nothing.data();
}

void Threads::tick(Thread& thread) { highest = std::max(highest, ++thread.counter); }

uint32_t Threads::tick_engine(const Block& block) {
    uint32_t now = ++engines[block.slot];
    highest = std::max(highest, now);
    return now;
}

void Threads::met(Fiber* const* fibers, unsigned count) {
    std::vector<Clock*> bases;
    for (unsigned i = 0; i < count; i++) {
        Clock* base = of(*fibers[i]->block, fibers[i]->thread).base.get();
        if (base && (bases.empty() || bases.back() != base)) bases.push_back(base);
    }
    std::sort(bases.begin(), bases.end());
    bases.erase(std::unique(bases.begin(), bases.end()), bases.end());

    Join join(stride);
    for (Clock* base : bases) join.add(base);
    for (unsigned i = 0; i < count; i++) {
        const Thread& thread = of(*fibers[i]->block, fibers[i]->thread);
        join.add(thread.block, thread.index, thread.counter);
    }
    Ref<Clock> joined = join.done();
    for (unsigned i = 0; i < count; i++) {
        Thread& thread = of(*fibers[i]->block, fibers[i]->thread);
        rebase(thread, joined);
        tick(thread);
    }
}

void Threads::acquire(Thread& thread, const Clock* clock) {
    if (!clock || clock == thread.base.get()) return;
    Join join(stride, thread.base);
    join.add(clock);
    rebase(thread, join.done());
}

void Threads::fence(Thread& thread) {
    acquire(thread, thread.loaded.get());
    thread.loaded = Ref<Clock>();
    thread.fence = thread.stamp();
    tick(thread);
}

bool Threads::ordered_far(const Mark& mark) const {
    return me->base && me->base->covers(mark.thread / stride, mark.thread % stride, mark.counter);
}

const Seen* Threads::saw(const Mark& mark) {
    for (std::vector<Thread>& slot : slots) {
        for (Thread& reader : slot) {
            for (const Seen& seen : reader.seen) {
                if (!seen.stores || !ordered({reader.id, seen.reader_counter, 0}, false)) continue;
                for (const Stamp& stored : seen.stores->stamps) {
                    if (stored.covers(mark.thread / stride, mark.thread % stride, mark.counter)) return &seen;
                }
            }
        }
    }
    return nullptr;
}

}  // namespace emu::check
#endif
