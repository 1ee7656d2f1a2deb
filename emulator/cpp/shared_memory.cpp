#include "shared_memory.h"

#include <cstring>

thread_local char emu_shared_origin;

namespace emu {

namespace {

// The block whose bytes lie there; null if none that lives.
Block* owner = nullptr;

void leave() {
    if (!owner) return;
    owner->shared.resize(launch->shared_bytes);
    memcpy(owner->shared.data(), launch->shared_start, launch->shared_bytes);
    owner = nullptr;
}

}  // namespace

void begin_shared(Block& block) {
    if (launch->shared_bytes == 0) return;
    leave();
    memset(launch->shared_start, 0xff, launch->shared_bytes);
    owner = &block;
}

void enter_shared(Block& block) {
    if (launch->shared_bytes == 0 || owner == &block) return;
    leave();
    memcpy(launch->shared_start, block.shared.data(), launch->shared_bytes);
    owner = &block;
}

void end_shared(Block& block) {
    if (owner == &block) owner = nullptr;
}

bool is_shared(const void* p, uint64_t bytes) {
    const char* address = static_cast<const char*>(p);
    return address >= launch->shared_start && address + bytes <= launch->shared_start + launch->shared_bytes;
}

}  // namespace emu
