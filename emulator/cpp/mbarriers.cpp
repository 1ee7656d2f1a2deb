// mbarrier objects and the bulk copies that they count.

#include <cstring>

#include "async_copies.h"
#include "checker.h"
#include "device.h"
#include "device_memory.h"
#include "scheduler.h"
#include "shared_memory.h"

namespace emu {

namespace {

constexpr unsigned MOST_ARRIVALS = (1 << 20) - 1;
// As the bytes expected minus those that have arrived are kept: bytes may arrive before they are expected.
constexpr unsigned BALANCED = 1 << 20;
constexpr uint64_t VALID = 1;

// The object as it lies in 8 bytes of shared memory, which neither zeros nor ones are.
struct Mbarrier {
    uint64_t valid : 2, phase : 1, pending : 20, count : 20, bytes : 21;
};
static_assert(sizeof(Mbarrier) == 8, "an mbarrier has 8 bytes");

// Two phases have keys of their own: who arrives for the next one is not ordered before those who still wait for this.
const void* key_of(const unsigned long long* bar, unsigned phase) {
    return reinterpret_cast<const char*>(bar) + phase;
}

void require_shared(const void* p, size_t bytes, const char* message, uintptr_t pc) {
    if (!is_shared(p, bytes)) report_message("misuse", pc, message);
}

Mbarrier load(unsigned long long* bar, uintptr_t pc) {
    require_aligned(bar, sizeof(Mbarrier), "atomic", pc);
    require_shared(bar, sizeof(Mbarrier), "an mbarrier is not in shared memory", pc);
    check::access(bar, sizeof(Mbarrier), check::Atomic, pc);
    Mbarrier state;
    memcpy(&state, bar, sizeof state);
    if (state.valid != VALID) report_message("misuse", pc, "the mbarrier was not initialised");
    return state;
}

void store(unsigned long long* bar, Mbarrier state) {
    if (state.pending == 0 && state.bytes == BALANCED) {
        state.phase ^= 1;
        state.pending = state.count;
        check::forget(key_of(bar, state.phase));
    }
    memcpy(bar, &state, sizeof state);
    progress();
}

void arrive(unsigned long long* bar, unsigned bytes, uintptr_t pc) {
    Mbarrier state = load(bar, pc);
    if (state.pending == 0) {
        report_message("misuse", pc, "more threads arrive at the mbarrier than it was initialised for");
    }
    check::release(key_of(bar, state.phase));
    state.pending -= 1;
    state.bytes += bytes;
    store(bar, state);
}

// The bytes count for the phase that the barrier is in.
void perform(AsyncCopy& copy) {
    {
        TouchesMemory touches(copy.pc);
        memcpy(copy.to, copy.from, copy.bytes);
    }
    Mbarrier state = load(copy.bar, copy.pc);
    copy.performed = true;
    copy.phase = state.phase;
    state.bytes -= copy.bytes;
    store(copy.bar, state);
}

// Performs the copies that the barrier counts. Only now may anyone know of those that were performed when they were
// issued.
void complete_all(Block& block, const unsigned long long* bar) {
    std::vector<AsyncCopy>& copies = block.bulk_copies;
    for (size_t i = 0; i < copies.size();) {
        if (copies[i].bar != bar) {
            ++i;
            continue;
        }
        AsyncCopy copy = copies[i];
        copies.erase(copies.begin() + i);
        if (!copy.performed) perform(copy);
        check::async_completed(copy.to, copy.from, copy.bytes, copy.bytes, key_of(bar, copy.phase));
    }
}

}  // namespace

void end_bulk_copies(Block& block) {
    if (block.bulk_copies.empty()) return;
    report_message("pending-copy", block.bulk_copies[0].pc,
                   "the block ended while this copy into its shared memory was under way");
}

}  // namespace emu

void emu_mbarrier_init(unsigned long long* bar, unsigned count) {
    using namespace emu;
    uintptr_t pc = EMU_CALLER;
    require_aligned(bar, sizeof(Mbarrier), "write", pc);
    require_shared(bar, sizeof(Mbarrier), "an mbarrier is not in shared memory", pc);
    if (count == 0 || count > MOST_ARRIVALS) {
        report_message("misuse", pc, Text().add("an mbarrier cannot wait for this many arrivals: ").add(count));
    }
    check::access(bar, sizeof(Mbarrier), check::Write, pc);
    check::forget(key_of(bar, 0));
    check::forget(key_of(bar, 1));
    Mbarrier state{VALID, 0, count, count, BALANCED};
    memcpy(bar, &state, sizeof state);
}

void emu_mbarrier_arrive(unsigned long long* bar) { emu::arrive(bar, 0, EMU_CALLER); }

void emu_mbarrier_arrive_expect(unsigned long long* bar, unsigned bytes) {
    using namespace emu;
    if (bytes >= BALANCED) {
        report_message("misuse", EMU_CALLER, Text().add("an mbarrier cannot expect this many bytes: ").add(bytes));
    }
    arrive(bar, bytes, EMU_CALLER);
}

bool emu_mbarrier_try_wait(unsigned long long* bar, unsigned parity) {
    using namespace emu;
    uintptr_t pc = EMU_CALLER;
    load(bar, pc);
    complete_all(*current->block, bar);
    if (load(bar, pc).phase != (parity & 1)) {
        check::acquire(key_of(bar, parity & 1));
        return true;
    }
    spin(pc, "a wait for an mbarrier");
    return false;
}

void emu_bulk_copy(void* shared, const void* global, unsigned bytes, unsigned long long* bar) {
    using namespace emu;
    uintptr_t pc = EMU_CALLER;
    if (bytes % 16 != 0 || bytes >= BALANCED) {
        report_message("misuse", pc, Text().add("a bulk copy is of a multiple of 16 bytes, and not of ").add(bytes));
    }
    require_aligned(shared, 16, "write", pc);
    require_aligned(global, 16, "read", pc);
    require_shared(shared, bytes, "the target of a bulk copy is not in shared memory", pc);
    load(bar, pc);
    check::async_issued(shared, global, bytes, bytes, pc);
    AsyncCopy copy{static_cast<char*>(shared), static_cast<const char*>(global), bytes, bytes, false, pc, bar, 0};
    if (decide_early()) perform(copy);
    current->block->bulk_copies.push_back(copy);
}
