#include "scheduler.h"

#include <algorithm>

#include "async_copies.h"
#include "block_barrier.h"
#include "checker.h"
#include "order.h"
#include "report.h"
#include "shared_memory.h"
#include "warps.h"

namespace emu {

Fiber* current = nullptr;
Launch* launch = nullptr;
uint64_t changes = 0;

namespace {

// Turns of all resident blocks, in which every thread only spins, that are taken for a hang.
constexpr unsigned HANG_ROUNDS = 1000;
// In random order another block comes to run at one in so many waits: each such change swaps shared memory.
constexpr unsigned TURN = 64;

Context outside;  // of `run_launch`
Random random_source;
Permutation block_order(1, random_source);

std::vector<Block*> slots;     // each block's place, kept from launch to launch
std::vector<Block*> resident;  // in the order in which they started
Block* running = nullptr;
uint64_t blocks, started;
unsigned wanted;  // blocks that are resident from the start

unsigned idle_turns;  // turns of blocks that could not go on, since something happened
unsigned hang_turns;  // those of them in which nobody was preempted

bool seeded() { return launch->schedule == Schedule::Seeded; }

bool stuck(const Block& block) { return block.ready.empty() || block.yields >= block.ready.size(); }

uint64_t number_of(uint64_t i) {
    switch (launch->schedule) {
        case Schedule::InOrder: return i;
        case Schedule::Reverse: return blocks - 1 - i;
        case Schedule::Seeded: return block_order(i);
    }
    return i;
}

// The threads' places are the same for all blocks of a launch.
void prepare_fibers(Block& block) {
    block.prepared = true;
    block.fibers.resize(launch->threads);
    const Dim& size = launch->block;
    for (unsigned t = 0; t < launch->threads; ++t) {
        Fiber& fiber = block.fibers[t];
        fiber.thread = t;
        fiber.block = &block;
        fiber.state = State::Ended;
        fiber.stack_low = nullptr;
        fiber.index = {t % size.x, t / size.x % size.y, t / size.x / size.y};
    }
}

Block* free_slot() {
    for (Block* block : slots) {
        if (block->live == 0) return block;
    }
    Block* block = new Block();
    block->slot = unsigned(slots.size());
    slots.push_back(block);
    return block;
}

void start_block() {
    Block& block = *free_slot();
    if (!block.prepared) prepare_fibers(block);
    const Dim& grid = launch->grid;
    uint64_t number = number_of(started++);
    block.number = number;
    block.index = {unsigned(number % grid.x), unsigned(number / grid.x % grid.y), unsigned(number / grid.x / grid.y)};
    block.live = launch->threads;
    block.yields = 0;
    block.barrier = {};
    for (NamedBarrier& barrier : block.named) {
        barrier.arrived = 0;
        barrier.waiting.clear();
    }
    begin_warps(block);
    if (launch->schedule == Schedule::Reverse) {
        for (unsigned t = launch->threads; t-- > 0;) block.ready.push(&block.fibers[t]);
    } else {
        for (Fiber& fiber : block.fibers) block.ready.push(&fiber);
    }
    resident.push_back(&block);
    running = &block;
    begin_shared(block);
    check::block_begins(block);
}

[[noreturn]] void report_hang() {
    Text text;
    if (started < blocks) {
        text.add("message ").add(uint64_t(resident.size())).add(" blocks are resident and none can go on; ");
        text.add(blocks - started).add(" others have not started, and a device need not start them\n");
    } else {
        text.add("message no thread can go on\n");
    }
    const Fiber* first = nullptr;
    for (const Block* block : resident) {
        for (const Fiber& fiber : block->fibers) {
            if (fiber.state != State::Ended && !first) first = &fiber;
        }
    }
    describe_waits(text);
    report_text(kind_of_hang(), first ? first->pc : 0, first, text);
}

// The resident block that runs next: the one behind the running one, or any, but not the same again if it only waits.
Block* next_block() {
    unsigned n = unsigned(resident.size());
    unsigned at = 0;
    if (seeded()) {
        at = random_source.below(n);
        if (n > 1 && resident[at] == running && stuck(*running)) at = (at + 1 + random_source.below(n - 1)) % n;
    } else if (running) {
        at = unsigned(std::find(resident.begin(), resident.end(), running) - resident.begin()) + 1;
    }
    for (unsigned i = 0; i < n; ++i) {
        Block* block = resident[(at + i) % n];
        if (!block->ready.empty()) return block;
    }
    return nullptr;
}

// Picks the block that runs, starting blocks where the resident ones cannot go on. False when all have ended.
bool choose_block() {
    if (running && stuck(*running)) {
        ++idle_turns;
        ++hang_turns;
    }
    while (resident.size() < wanted && started < blocks) start_block();
    Block* next = next_block();
    if (!next || idle_turns >= resident.size()) {
        if (started < blocks && resident.size() < MAX_RESIDENT) {
            idle_turns = 0;
            hang_turns = 0;
            start_block();
            return true;
        }
        if (resident.empty()) return false;
        if (!next || hang_turns >= HANG_ROUNDS * resident.size()) report_hang();
    }
    running = next;
    running->yields = 0;
    enter_shared(*running);
    return true;
}

void begin_fiber(Fiber& fiber) {
    fiber.state = State::Ready;
    fiber.spun = false;
    fiber.preempted = false;
    fiber.pauses = 0;
    fiber.changes = changes;
    Stack stack = take_stack();
    fiber.stack_low = stack.low;
    fiber.stack_high = stack.high;
    fiber.context = fresh_context(stack);
    check::fiber_begins(fiber);
}

// The thread that runs next, or null when the launch is over.
Fiber* next_fiber() {
    bool turn_over = !running || stuck(*running) || (seeded() && resident.size() > 1 && random_source.below(TURN) == 0);
    if (turn_over && !choose_block()) return nullptr;
    ReadyQueue& ready = running->ready;
    if (seeded()) ready.choose(random_source.below(ready.size()));
    Fiber* fiber = ready.pop();
    if (!fiber->stack_low) begin_fiber(*fiber);
    return fiber;
}

void end_block(Block& block) {
    check::block_ends(block);
    end_bulk_copies(block);
    end_shared(block);
    resident.erase(std::find(resident.begin(), resident.end(), &block));
    running = nullptr;
}

[[noreturn]] void end_thread() {
    Fiber& self = *current;
    Block& block = *self.block;
    end_async_copies(self);
    self.state = State::Ended;
    --block.live;
    thread_leaves_warp(self);
    thread_leaves_barrier(self);
    progress();
    // From here on another thread may stand on this stack, as soon as it is switched to.
    give_back_stack({self.stack_low, self.stack_high});
    self.stack_low = nullptr;
    if (block.live == 0) end_block(block);
    // The fiber may be that of a thread of another block by now, and even the next to run.
    static Context nowhere;
    Fiber* next = next_fiber();
    current = next;
    switch_context(nowhere, next ? next->context : outside);
    __builtin_unreachable();
}

// The current fiber goes on when the others that are ready have had their turns.
void take_turns() {
    Fiber& self = *current;
    ++self.block->yields;
    self.block->ready.push(&self);
    wait();
}

}  // namespace

void wait() {
    Fiber* self = current;
    // There is one: where none can go on, `next_fiber` reports.
    Fiber* next = next_fiber();
    if (next == self) return;
    current = next;
    switch_context(self->context, next->context);
}

void stop_thread() {
    current->pc = 0;
    current->call = "its end";
    current->state = State::Stopped;
    for (;;) wait();
}

void make_ready(Fiber* const* fibers, unsigned count) {
    ReadyQueue& ready = fibers[0]->block->ready;
    bool backwards = launch->schedule == Schedule::Reverse, spun = false;
    for (unsigned i = 0; i < count; ++i) {
        Fiber* fiber = fibers[backwards ? count - 1 - i : i];
        fiber->state = State::Ready;
        spun |= fiber->spun;
        fiber->spun = false;
        ready.push(fiber);
    }
    // Threads may meet in every turn of a loop in which they wait for others.
    if (!spun) progress();
}

void progress() {
    idle_turns = 0;
    hang_turns = 0;
    if (running) running->yields = 0;
}

void value_changed() {
    ++changes;
    progress();
}

void spin(uintptr_t pc, const char* call) {
    Fiber& self = *current;
    self.pc = pc;
    self.call = call;
    self.state = State::Spinning;
    self.spun = true;
    ++self.block->yields;
    self.block->ready.push(&self);
    wait();
    self.state = State::Ready;
}

void yield() {
    hang_turns = 0;
    take_turns();
}

void give_way() {
    if (!seeded() || random_source.below(2)) take_turns();
}

bool decide_early() {
    switch (launch->schedule) {
        case Schedule::InOrder: return false;
        case Schedule::Reverse: return true;
        case Schedule::Seeded: return random_source.next() & 1;
    }
    return false;
}

void run_launch() {
    blocks = uint64_t(launch->grid.x) * launch->grid.y * launch->grid.z;
    started = 0;
    idle_turns = hang_turns = 0;
    random_source = Random(launch->seed);
    wanted = seeded() ? 1 + random_source.below(4) : 1;
    block_order = Permutation(blocks, random_source);
    for (Block* block : slots) block->prepared = false;
    running = nullptr;
    Fiber* first = next_fiber();
    if (!first) return;
    current = first;
    switch_context(outside, first->context);
}

Block* const* resident_blocks(unsigned& count) {
    count = unsigned(resident.size());
    return resident.data();
}

}  // namespace emu

void emu_fiber_main() {
    using namespace emu;
    launch->kernel(launch->arguments.data());
    end_thread();
}
