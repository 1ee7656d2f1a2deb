// Who waits where, for reports.

#include "report.h"
#include "scheduler.h"

namespace emu {

namespace {

bool waits(const Fiber& fiber) { return fiber.state != State::Ready && fiber.state != State::Ended; }

// Whether a report names it: where it waits, or where it was when it was last preempted.
bool is_told(const Fiber& fiber) { return waits(fiber) || (fiber.state == State::Ready && fiber.preempted); }

bool alike(const Fiber& a, const Fiber& b) { return a.state == b.state && a.pc == b.pc && a.call == b.call; }

void describe_block(Text& text, const Block& block) {
    for (size_t first = 0; first < block.fibers.size();) {
        const Fiber& fiber = block.fibers[first];
        size_t end = first + 1;
        while (end < block.fibers.size() && alike(fiber, block.fibers[end])) ++end;
        if (is_told(fiber) && text.has_room()) {
            text.add("wait ").add_hex(fiber.pc).add(end == first + 1 ? " thread " : " threads ").add(first);
            if (end > first + 1) text.add("..").add(end - 1);
            text.add(" of block ").add(block.index);
            text.add(fiber.state == State::Spinning || fiber.state == State::Ready ? " in " : " at ").add(fiber.call).add("\n");
        }
        first = end;
    }
}

bool in_collective(const Fiber& fiber) { return waits(fiber) && fiber.state != State::Spinning; }

const Group& group_of(const Fiber& fiber) {
    const Warp& warp = fiber.block->warps[fiber.thread / WARP];
    unsigned bit = 1u << fiber.thread % WARP, active = warp.active;
    while (!(warp.groups[__builtin_ctz(active)].arrived & bit)) active &= active - 1;
    return warp.groups[__builtin_ctz(active)];
}

// Why the thread waits in vain, or null if it does not wait for a thread that waits in another collective.
const char* kind_of_wait(const Fiber& fiber) {
    const Block& block = *fiber.block;
    if (fiber.state == State::AtBlockBarrier) {
        for (const Fiber& other : block.fibers) {
            if (in_collective(other) && other.state != State::AtBlockBarrier) return "divergent-barrier";
        }
    } else if (fiber.state == State::AtWarp) {
        const Group& group = group_of(fiber);
        for (unsigned missing = group.mask & ~group.arrived; missing != 0; missing &= missing - 1) {
            const Fiber& other = block.fibers[fiber.thread / WARP * WARP + __builtin_ctz(missing)];
            if (other.state == State::AtWarp && group_of(other).kind == group.kind) return "invalid-mask";
            if (in_collective(other)) return "divergent-barrier";
        }
    }
    return nullptr;
}

}  // namespace

const char* kind_of_hang() {
    unsigned count;
    Block* const* blocks = resident_blocks(count);
    for (unsigned i = 0; i < count; ++i) {
        for (const Fiber& fiber : blocks[i]->fibers) {
            if (const char* kind = kind_of_wait(fiber)) return kind;
        }
    }
    return "hang";
}

void describe_waits(Text& text) {
    unsigned count;
    Block* const* blocks = resident_blocks(count);
    for (unsigned i = 0; i < count; ++i) describe_block(text, *blocks[i]);
}

}  // namespace emu
