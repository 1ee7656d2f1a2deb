#include "warps.h"

#include <cstring>

#include "checker.h"
#include "device.h"
#include "report.h"
#include "scheduler.h"

namespace emu {

namespace {

enum Kind {
    SyncWarp,
    Shuffle,
    ShuffleUp,
    ShuffleDown,
    ShuffleXor,
    Vote,
    MatchAny,
    MatchAll,
    ReduceAdd,
    ReduceMin,
    ReduceMax,
    ReduceMinSigned,
    ReduceMaxSigned,
    ReduceAnd,
    ReduceOr,
    ReduceXor,
    Together,
};

using Operation = void (*)(void** lanes);

[[noreturn]] void report_warp(const char* kind, const Fiber& fiber, const Text& message) {
    check::finding_comes(kind, true);
    Text text;
    text.add("message ").add(fiber.call).add(" of lane ").add(fiber.thread % WARP).add(": ");
    text.add(message).add("\n");
    describe_waits(text);
    report_text(kind, fiber.pc, &fiber, text);
}

// The lane whose value the lane gets; its own where the shuffle leads out of its segment.
unsigned source(Kind kind, unsigned lane, unsigned argument, unsigned width) {
    unsigned first = lane & ~(width - 1), end = first + width;
    switch (kind) {
        case Shuffle: return first + (argument & (width - 1));
        case ShuffleUp: return argument > lane - first ? lane : lane - argument;
        case ShuffleDown: return argument >= end - lane ? lane : lane + argument;
        default: return (lane ^ argument) >= end ? lane : lane ^ argument;
    }
}

void shuffle(Kind kind, const Group& group, Fiber* const* lanes) {
    for (unsigned left = group.mask; left != 0; left &= left - 1) {
        unsigned lane = __builtin_ctz(left);
        Fiber& fiber = *lanes[lane];
        unsigned from = source(kind, lane, fiber.argument, fiber.width);
        if (from >= WARP || !(group.mask >> from & 1)) {
            Text text;
            text.add("it asks for the value of lane ").add(from);
            text.add(", which is not in the mask 0x").add_hex(group.mask);
            report_warp("invalid-mask", fiber, text);
        }
        fiber.result = lanes[from]->value;
    }
}

void match(const Group& group, Fiber* const* lanes) {
    for (unsigned left = group.mask; left != 0; left &= left - 1) {
        Fiber& fiber = *lanes[__builtin_ctz(left)];
        unsigned equal = 0;
        for (unsigned others = group.mask; others != 0; others &= others - 1) {
            unsigned other = __builtin_ctz(others);
            if (lanes[other]->value == fiber.value) equal |= 1u << other;
        }
        fiber.result = equal;
    }
}

unsigned combine(Kind kind, unsigned a, unsigned b) {
    switch (kind) {
        case ReduceAdd: return a + b;
        case ReduceMin: return a < b ? a : b;
        case ReduceMax: return a > b ? a : b;
        case ReduceMinSigned: return int(a) < int(b) ? a : b;
        case ReduceMaxSigned: return int(a) > int(b) ? a : b;
        case ReduceAnd: return a & b;
        case ReduceOr: return a | b;
        default: return a ^ b;
    }
}

// One answer for all lanes.
uint64_t answer(Kind kind, const Group& group, Fiber* const* lanes) {
    uint64_t votes = 0;
    unsigned first = __builtin_ctz(group.mask);
    unsigned total = unsigned(lanes[first]->value);
    for (unsigned left = group.mask; left != 0; left &= left - 1) {
        unsigned lane = __builtin_ctz(left);
        if (kind == Vote) {
            votes |= uint64_t(lanes[lane]->value != 0) << lane;
        } else if (lane != first) {
            total = combine(kind, total, unsigned(lanes[lane]->value));
        }
    }
    return kind == Vote ? votes : total;
}

void perform(Operation operation, Fiber* const* lanes) {
    void* theirs[WARP];
    for (unsigned lane = 0; lane < WARP; ++lane) theirs[lane] = reinterpret_cast<void*>(lanes[lane]->value);
    // It may call functions of the program, whose accesses are not those of a thread and must not preempt one.
    Fiber* self = current;
    current = nullptr;
    operation(theirs);
    current = self;
}

void complete(const Group& group, Fiber* const* lanes, Operation operation) {
    Kind kind = Kind(group.kind);
    Fiber* members[WARP];
    unsigned count = 0;
    for (unsigned left = group.mask; left != 0; left &= left - 1) members[count++] = lanes[__builtin_ctz(left)];
    switch (kind) {
        // All others order no memory.
        case SyncWarp: check::met(members, count); break;
        case Shuffle:
        case ShuffleUp:
        case ShuffleDown:
        case ShuffleXor: shuffle(kind, group, lanes); break;
        case MatchAny:
        case MatchAll: match(group, lanes); break;
        case Together: perform(operation, lanes); break;
        default: {
            uint64_t result = answer(kind, group, lanes);
            for (unsigned i = 0; i < count; ++i) members[i]->result = result;
        }
    }
    make_ready(members, count);
}

const Fiber& lane_of(const Fiber& fiber, unsigned lanes) {
    return fiber.block->fibers[fiber.thread / WARP * WARP + __builtin_ctz(lanes)];
}

// Of two lanes that do the same kind: whether they do it together. The argument of an operation is its line.
bool same(Kind kind, const Fiber& a, const Fiber& b) {
    return kind != Together || (a.argument == b.argument && strcmp(a.call, b.call) == 0);
}

// Whom the lane waits for.
void add_lanes(Text& text, int kind, unsigned mask, const Fiber& fiber) {
    if (kind == Together) {
        text.add("all lanes of its warp in line ").add(fiber.argument);
    } else {
        text.add("mask 0x").add_hex(mask);
    }
}

// The group that the current fiber, as a lane of this bit, joins or opens.
unsigned find_group(Warp& warp, Kind kind, unsigned mask, unsigned bit) {
    Fiber& self = *current;
    for (unsigned active = warp.active; active != 0; active &= active - 1) {
        unsigned number = __builtin_ctz(active);
        const Group& group = warp.groups[number];
        if (!(group.mask & bit)) continue;
        bool same_kind = group.mask == mask && group.kind == kind;
        if (same_kind && same(kind, self, lane_of(self, group.arrived))) return number;
        // Each waits for the other: neither call can ever be complete.
        if (group.arrived & mask) {
            const Fiber& other = lane_of(self, group.arrived & mask);
            Text text;
            add_lanes(text, kind, mask, self);
            text.add(", while lane ").add(other.thread % WARP).add(" is at ").add(other.call).add(" with ");
            add_lanes(text, group.kind, group.mask, other);
            bool masks_differ = group.kind == kind && kind != Together;
            report_warp(masks_differ ? "invalid-mask" : "divergent-barrier", self, text);
        }
    }
    unsigned number = self.thread % WARP;
    warp.groups[number] = {mask, 0, kind};
    warp.active |= bit;
    return number;
}

// Waits for all lanes of the mask and returns the current one's answer.
uint64_t meet(Kind kind, const char* call, unsigned mask, uint64_t value, unsigned argument, unsigned width,
              uintptr_t pc, Operation operation = nullptr) {
    Fiber& self = *current;
    Warp& warp = self.block->warps[self.thread / WARP];
    unsigned bit = 1u << self.thread % WARP;
    self.state = State::AtWarp;
    self.pc = pc;
    self.call = call;
    self.value = value;
    self.argument = argument;
    self.width = width;
    if (!(mask & bit)) {
        Text text;
        report_warp("invalid-mask", self, text.add("it is not in its own mask 0x").add_hex(mask));
    }
    if (mask & warp.ended) {
        Text text;
        add_lanes(text, kind, mask, self);
        text.add(kind == Together ? ", of which some" : " names lanes that");
        text.add(" have ended or never were: 0x").add_hex(mask & warp.ended);
        report_warp(kind == Together ? "divergent-barrier" : "invalid-mask", self, text);
    }
    unsigned number = find_group(warp, kind, mask, bit);
    Group& group = warp.groups[number];
    group.arrived |= bit;
    if (group.arrived == mask) {
        warp.active &= ~(1u << number);
        Fiber* lanes[WARP];
        Fiber* first = self.block->fibers.data() + self.thread / WARP * WARP;
        for (unsigned lane = 0; lane < WARP; ++lane) lanes[lane] = first + lane;
        complete(group, lanes, operation);
    }
    wait();
    return self.result;
}

template <class T> uint64_t bits(T x) {
    uint64_t y = 0;
    memcpy(&y, &x, sizeof x);
    return y;
}

template <class T>
T shuffled(Kind kind, const char* call, unsigned mask, T x, unsigned argument, int width, uintptr_t pc) {
    if (width < 1 || width > 32 || (width & (width - 1)) != 0) {
        report_message("misuse", pc, "the width of a shuffle is 1, 2, 4, 8, 16 or 32");
    }
    uint64_t result = meet(kind, call, mask, bits(x), argument, unsigned(width), pc);
    memcpy(&x, &result, sizeof x);
    return x;
}

unsigned vote(const char* call, unsigned mask, int predicate, uintptr_t pc) {
    return unsigned(meet(Vote, call, mask, predicate != 0, 0, 0, pc));
}

unsigned reduce(Kind kind, const char* call, unsigned mask, unsigned x, uintptr_t pc) {
    return unsigned(meet(kind, call, mask, x, 0, 0, pc));
}

}  // namespace

void begin_warps(Block& block) {
    for (unsigned first = 0; first < launch->threads; first += WARP) {
        unsigned lanes = launch->threads - first;
        block.warps[first / WARP].active = 0;
        block.warps[first / WARP].ended = lanes >= WARP ? 0 : ~0u << lanes;
    }
}

void thread_leaves_warp(const Fiber& fiber) {
    Warp& warp = fiber.block->warps[fiber.thread / WARP];
    unsigned bit = 1u << fiber.thread % WARP;
    warp.ended |= bit;
    for (unsigned active = warp.active; active != 0; active &= active - 1) {
        const Group& group = warp.groups[__builtin_ctz(active)];
        if (!(group.mask & bit)) continue;
        const Fiber& other = lane_of(fiber, group.arrived);
        Text text;
        add_lanes(text, group.kind, group.mask, other);
        text.add(", but lane ").add(fiber.thread % WARP).add(" has ended");
        report_warp(group.kind == Together ? "divergent-barrier" : "invalid-mask", other, text);
    }
}

}  // namespace emu

using emu::bits;
using emu::meet;
using emu::shuffled;

void __syncwarp(unsigned mask) { meet(emu::SyncWarp, "__syncwarp", mask, 0, 0, 0, EMU_CALLER); }

#define SHUFFLES(T)                                                                                                    \
    T __shfl_sync(unsigned mask, T x, int lane, int width) {                                                           \
        return shuffled(emu::Shuffle, "__shfl_sync", mask, x, unsigned(lane), width, EMU_CALLER);                      \
    }                                                                                                                  \
    T __shfl_up_sync(unsigned mask, T x, unsigned delta, int width) {                                                  \
        return shuffled(emu::ShuffleUp, "__shfl_up_sync", mask, x, delta, width, EMU_CALLER);                          \
    }                                                                                                                  \
    T __shfl_down_sync(unsigned mask, T x, unsigned delta, int width) {                                                \
        return shuffled(emu::ShuffleDown, "__shfl_down_sync", mask, x, delta, width, EMU_CALLER);                      \
    }                                                                                                                  \
    T __shfl_xor_sync(unsigned mask, T x, int lanes, int width) {                                                      \
        return shuffled(emu::ShuffleXor, "__shfl_xor_sync", mask, x, unsigned(lanes), width, EMU_CALLER);              \
    }                                                                                                                  \
    unsigned __match_any_sync(unsigned mask, T x) {                                                                    \
        return unsigned(meet(emu::MatchAny, "__match_any_sync", mask, bits(x), 0, 0, EMU_CALLER));                     \
    }                                                                                                                  \
    unsigned __match_all_sync(unsigned mask, T x, int* all) {                                                          \
        *all = meet(emu::MatchAll, "__match_all_sync", mask, bits(x), 0, 0, EMU_CALLER) == mask;                       \
        return *all ? mask : 0;                                                                                        \
    }
EMU_EACH_SHUFFLED(SHUFFLES)

unsigned __ballot_sync(unsigned mask, int predicate) { return emu::vote("__ballot_sync", mask, predicate, EMU_CALLER); }
int __any_sync(unsigned mask, int predicate) { return emu::vote("__any_sync", mask, predicate, EMU_CALLER) != 0; }
int __all_sync(unsigned mask, int predicate) { return emu::vote("__all_sync", mask, predicate, EMU_CALLER) == mask; }

#define REDUCTION(T, NAME, KIND)                                                                                       \
    T NAME(unsigned mask, T x) { return T(emu::reduce(emu::KIND, #NAME, mask, unsigned(x), EMU_CALLER)); }
REDUCTION(unsigned, __reduce_add_sync, ReduceAdd)
REDUCTION(int, __reduce_add_sync, ReduceAdd)
REDUCTION(unsigned, __reduce_min_sync, ReduceMin)
REDUCTION(int, __reduce_min_sync, ReduceMinSigned)
REDUCTION(unsigned, __reduce_max_sync, ReduceMax)
REDUCTION(int, __reduce_max_sync, ReduceMaxSigned)
REDUCTION(unsigned, __reduce_and_sync, ReduceAnd)
REDUCTION(unsigned, __reduce_or_sync, ReduceOr)
REDUCTION(unsigned, __reduce_xor_sync, ReduceXor)

unsigned __activemask() { return 1u << emu::current->thread % emu::WARP; }

void emu_together(void (*operation)(void** lanes), void* mine, const char* name, unsigned line) {
    meet(emu::Together, name, ~0u, reinterpret_cast<uint64_t>(mine), line, 0, EMU_CALLER, operation);
}
