// bar.sync and bar.arrive: barriers of some threads of a block, by number.

#include <algorithm>

#include "checker.h"
#include "device.h"
#include "report.h"
#include "scheduler.h"

namespace emu {

namespace {

constexpr unsigned BARRIERS = 16;

NamedBarrier& find(unsigned id, unsigned threads, uintptr_t pc) {
    if (id >= BARRIERS) {
        report_message("misuse", pc, Text().add("a block has barriers 0 to 15, and not ").add(id));
    }
    if (threads == 0 || threads % WARP != 0 || threads > launch->threads) {
        Text text;
        text.add("a barrier of ").add(threads).add(" threads: not whole warps of a block of ").add(launch->threads);
        report_message("misuse", pc, text);
    }
    NamedBarrier& barrier = current->block->named[id];
    if (barrier.arrived != 0 && barrier.threads != threads) {
        Text text;
        text.add("barrier ").add(id).add(" is waited for with ").add(barrier.threads).add(" and with ").add(threads);
        report_message("misuse", pc, text.add(" threads"));
    }
    barrier.threads = threads;
    return barrier;
}

// All that came have released under the barrier's key; those that wait acquire it now, before anyone comes again.
void release_waiting(NamedBarrier& barrier) {
    barrier.arrived = 0;
    Fiber* self = current;
    for (Fiber* fiber : barrier.waiting) {
        current = fiber;
        check::acquire(&barrier);
    }
    current = self;
    check::forget(&barrier);
    std::vector<Fiber*>& waiting = barrier.waiting;
    std::sort(waiting.begin(), waiting.end(), [](Fiber* a, Fiber* b) { return a->thread < b->thread; });
    if (!waiting.empty()) make_ready(waiting.data(), unsigned(waiting.size()));
    waiting.clear();
}

}  // namespace

}  // namespace emu

void emu_barrier_sync(unsigned id, unsigned threads) {
    using namespace emu;
    check::arrives();
    NamedBarrier& barrier = find(id, threads, EMU_CALLER);
    Fiber& self = *current;
    self.state = State::AtNamedBarrier;
    self.pc = EMU_CALLER;
    self.call = "bar.sync";
    check::release(&barrier);
    barrier.waiting.push_back(&self);
    if (++barrier.arrived == threads) release_waiting(barrier);
    wait();
}

void emu_barrier_arrive(unsigned id, unsigned threads) {
    using namespace emu;
    check::arrives();
    NamedBarrier& barrier = find(id, threads, EMU_CALLER);
    check::release(&barrier);
    if (++barrier.arrived == threads) release_waiting(barrier);
}
