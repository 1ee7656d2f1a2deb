#include "async_copies.h"

#include <cstring>

#include "checker.h"
#include "device.h"
#include "device_memory.h"
#include "scheduler.h"
#include "shared_memory.h"

namespace emu {

namespace {

void perform(AsyncCopy& copy, uintptr_t pc) {
    TouchesMemory touches(pc);
    memcpy(copy.to, copy.from, copy.valid);
    memset(copy.to + copy.valid, 0, copy.bytes - copy.valid);
    copy.performed = true;
}

// Completes the first `count` copies of the thread.
void complete(Fiber& fiber, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        AsyncCopy& copy = fiber.copies[i];
        if (!copy.performed) perform(copy, copy.pc);
        check::async_completed(copy.to, copy.from, copy.bytes, copy.valid, nullptr);
    }
    fiber.copies.erase(fiber.copies.begin(), fiber.copies.begin() + count);
}

}  // namespace

void end_async_copies(Fiber& fiber) {
    if (!fiber.copies.empty()) complete(fiber, fiber.copies.size());
    fiber.groups.clear();
}

}  // namespace emu

void emu_async_copy(void* shared, const void* global, unsigned bytes, unsigned valid) {
    using namespace emu;
    uintptr_t pc = EMU_CALLER;
    if ((bytes != 4 && bytes != 8 && bytes != 16) || valid > bytes) {
        Text text;
        text.add("an asynchronous copy is of 4, 8 or 16 bytes, and not of ").add(valid).add(" into ").add(bytes);
        report_message("misuse", pc, text);
    }
    require_aligned(shared, bytes, "write", pc);
    require_aligned(global, bytes, "read", pc);
    if (!is_shared(shared, bytes)) {
        report_message("misuse", pc, "the target of an asynchronous copy is not in shared memory");
    }
    check::async_issued(shared, global, bytes, valid, pc);
    AsyncCopy copy{static_cast<char*>(shared), static_cast<const char*>(global), bytes, valid, false, pc, nullptr, 0};
    if (decide_early()) perform(copy, pc);
    current->copies.push_back(copy);
}

void emu_async_commit() { emu::current->groups.push_back(emu::current->copies.size()); }

void emu_async_wait(unsigned groups) {
    using namespace emu;
    Fiber& self = *current;
    if (self.groups.size() <= groups) return;
    size_t over = self.groups.size() - groups, count = self.groups[over - 1];
    complete(self, count);
    self.groups.erase(self.groups.begin(), self.groups.begin() + over);
    for (size_t& end : self.groups) end -= count;
}
