#include "block_barrier.h"

#include "checker.h"
#include "device.h"
#include "report.h"
#include "scheduler.h"

namespace emu {

namespace {

[[noreturn]] void report_divergence(const Fiber& fiber, const Text& message) {
    check::finding_comes("divergent-barrier", true);
    Text text;
    text.add("message ").add(message).add("\n");
    describe_waits(text);
    report_text("divergent-barrier", fiber.pc, &fiber, text);
}

void release(Block& block) {
    BlockBarrier& barrier = block.barrier;
    barrier.answer_any = barrier.any;
    barrier.answer_all = barrier.all;
    barrier.answer_count = barrier.count;
    barrier.arrived = 0;
    static Fiber* all[MAX_THREADS];
    for (Fiber& fiber : block.fibers) all[fiber.thread] = &fiber;
    check::met(all, launch->threads);
    make_ready(all, launch->threads);
}

void arrive(const char* call, unsigned line, bool predicate, uintptr_t pc) {
    check::arrives();
    Fiber& self = *current;
    Block& block = *self.block;
    BlockBarrier& barrier = block.barrier;
    self.state = State::AtBlockBarrier;
    self.pc = pc;
    self.call = call;
    if (barrier.arrived == 0) {
        barrier.line = line;
        barrier.call = call;
        barrier.any = 0;
        barrier.all = 1;
        barrier.count = 0;
    } else if (barrier.line != line || barrier.call != call) {
        report_divergence(self, Text().add("the threads of a block are at different barriers"));
    }
    if (block.live < launch->threads) {
        report_divergence(self, Text().add("a thread of the block has ended and will never be at this barrier"));
    }
    barrier.any |= predicate;
    barrier.all &= predicate;
    barrier.count += predicate;
    if (++barrier.arrived == launch->threads) release(block);
    wait();
}

}  // namespace

void thread_leaves_barrier(const Fiber& fiber) {
    const Block& block = *fiber.block;
    if (block.barrier.arrived == 0) return;
    for (const Fiber& other : block.fibers) {
        if (other.state == State::AtBlockBarrier) {
            Text text;
            text.add("thread ").add(fiber.index).add(" of the block has ended and never was at this barrier");
            report_divergence(other, text);
        }
    }
}

}  // namespace emu

void emu_syncthreads(unsigned line) { emu::arrive("__syncthreads", line, false, EMU_CALLER); }

int emu_syncthreads_or(int predicate, unsigned line) {
    emu::arrive("__syncthreads_or", line, predicate != 0, EMU_CALLER);
    return emu::current->block->barrier.answer_any;
}

int emu_syncthreads_and(int predicate, unsigned line) {
    emu::arrive("__syncthreads_and", line, predicate != 0, EMU_CALLER);
    return emu::current->block->barrier.answer_all;
}

int emu_syncthreads_count(int predicate, unsigned line) {
    emu::arrive("__syncthreads_count", line, predicate != 0, EMU_CALLER);
    return emu::current->block->barrier.answer_count;
}
