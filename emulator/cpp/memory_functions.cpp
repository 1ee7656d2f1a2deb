// What a checked program calls in place of memcpy, memmove and memset, in front of which g++ puts no checks.
#ifdef EMU_CHECKED
#include <cstring>

#include "checker.h"

namespace {

// The largest access of 1, 2, 4, 8 or 16 bytes that fits and is aligned there.
unsigned piece(const char* p, size_t bytes) {
    unsigned size = 16;
    while (size > bytes || uintptr_t(p) % size) size /= 2;
    return size;
}

// In pieces, so that a finding names the bytes that are at fault, and not all.
void access(const void* start, size_t bytes, emu::check::Kind kind, uintptr_t pc) {
    const char* p = static_cast<const char*>(start);
    while (bytes > 0) {
        unsigned size = piece(p, bytes);
        emu::check::access(p, size, kind, pc);
        p += size;
        bytes -= size;
    }
}

}  // namespace

extern "C" {

void* emu_memcpy(void* to, const void* from, size_t bytes) {
    uintptr_t pc = EMU_CALLER;
    access(from, bytes, emu::check::Read, pc);
    access(to, bytes, emu::check::Write, pc);
    return memcpy(to, from, bytes);
}

void* emu_memmove(void* to, const void* from, size_t bytes) {
    uintptr_t pc = EMU_CALLER;
    access(from, bytes, emu::check::Read, pc);
    access(to, bytes, emu::check::Write, pc);
    return memmove(to, from, bytes);
}

void* emu_memset(void* to, int value, size_t bytes) {
    access(to, bytes, emu::check::Write, EMU_CALLER);
    return memset(to, value, bytes);
}

}  // extern "C"
#endif
