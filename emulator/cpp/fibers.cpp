#include "fibers.h"

#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <vector>

#include "emulator.h"

// A frame whose return address is none ends a debugger's walk.
#if defined(__x86_64__)
asm(".text\n"
    ".type emu_fiber_entry, @function\n"
    "emu_fiber_entry:\n"
    "    xorl %ebp, %ebp\n"
    "    call emu_fiber_main\n"
    "    ud2\n");
#elif defined(__aarch64__)
asm(".text\n"
    ".type emu_fiber_entry, %function\n"
    "emu_fiber_entry:\n"
    "    mov x29, #0\n"
    "    bl emu_fiber_main\n"
    "    brk #0\n");
#endif
extern "C" char emu_fiber_entry[];

namespace emu {

namespace {

constexpr size_t STRIDE = STACK_BYTES + STACK_GUARD;
constexpr size_t STACKS = size_t(MAX_RESIDENT) * MAX_THREADS;

char* reserved = nullptr;
size_t used = 0;
std::vector<Stack> unused;

// Memory of all stacks is reserved at once and made usable stack by stack.
Stack new_stack() {
    if (!reserved) {
        void* p = mmap(nullptr, STACKS * STRIDE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) {
            perror("no address space for the threads' stacks");
            exit(2);
        }
        reserved = static_cast<char*>(p);
    }
    char* low = reserved + used * STRIDE + STACK_GUARD;
    if (mprotect(low, STACK_BYTES, PROT_READ | PROT_WRITE) != 0) {
        perror("no memory for a thread's stack");
        exit(2);
    }
    // Tops at the same place of a page would all fall into the same few lines of the caches.
    size_t colour = used % 8 * 256;
    ++used;
    return {low, low + STACK_BYTES - colour};
}

}  // namespace

Stack take_stack() {
    if (unused.empty()) return new_stack();
    Stack stack = unused.back();
    unused.pop_back();
    return stack;
}

void give_back_stack(Stack stack) { unused.push_back(stack); }

bool in_stack_guard(const void* p, const char* stack_low) {
    const char* address = static_cast<const char*>(p);
    return address < stack_low && address >= stack_low - STACK_GUARD;
}

Context fresh_context(Stack stack) { return {stack.high, emu_fiber_entry, nullptr}; }

}  // namespace emu
