#include "shared_memory.h"

#include <cstring>

thread_local char emu_shared_origin;

namespace emu {

namespace {

// The block whose bytes lie there; null if none that lives.
Block* owner = nullptr;

// Each array alone: what lies in between may be large, and belongs to other kernels or to nothing.
uint64_t bytes_of_arrays() {
    uint64_t bytes = 0;
    for (const SharedArray& array : launch->shared) bytes += array.bytes;
    return bytes;
}

void leave() {
    if (!owner) return;
    owner->shared.resize(bytes_of_arrays());
    char* to = owner->shared.data();
    for (const SharedArray& array : launch->shared) {
        memcpy(to, array.start, array.bytes);
        to += array.bytes;
    }
    owner = nullptr;
}

}  // namespace

void begin_shared(Block& block) {
    if (launch->shared_bytes == 0) return;
    leave();
    for (const SharedArray& array : launch->shared) memset(array.start, 0xff, array.bytes);
    owner = &block;
}

void enter_shared(Block& block) {
    if (launch->shared_bytes == 0 || owner == &block) return;
    leave();
    const char* from = block.shared.data();
    for (const SharedArray& array : launch->shared) {
        memcpy(array.start, from, array.bytes);
        from += array.bytes;
    }
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
