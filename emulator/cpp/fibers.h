// Fibers: a stack for each thread that has started, and the switch from one stack to another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emu {

// Where a fiber stands that does not run.
struct Context {
    void* sp;
    void* pc;
    void* fp;
};

// A stack; `low` has memory that faults below it, so that no thread runs over into another's.
struct Stack {
    char *low, *high;
};

constexpr size_t STACK_BYTES = 128 << 10;
constexpr size_t STACK_GUARD = 32 << 10;

// The stack that was given back last, which the caches still hold.
Stack take_stack();
void give_back_stack(Stack stack);
// Whether the address lies in the guard below a stack.
bool in_stack_guard(const void* p, const char* stack_low);

// A context that calls `emu_fiber_main` on the stack. Nothing is written there: a fiber that ends may still stand on it.
Context fresh_context(Stack stack);

// Saves where the caller stands and continues at `to`. No register but these three is stored: all others are named as
// overwritten, so the compiler stores those that it needs. There is no call and no return, which the processor would
// predict by the calls of the other fiber.
inline __attribute__((always_inline)) void switch_context(Context& from, const Context& to) {
    Context* save = &from;
    const Context* load = &to;
#if defined(__x86_64__)
    asm volatile(
        "leaq 1f(%%rip), %%rcx\n\t"
        "movq %%rsp, 0(%0)\n\t"
        "movq %%rcx, 8(%0)\n\t"
        "movq %%rbp, 16(%0)\n\t"
        "movq 0(%1), %%rsp\n\t"
        "movq 8(%1), %%rcx\n\t"
        "movq 16(%1), %%rbp\n\t"
        "jmp *%%rcx\n"
        "1:"
        : "+D"(save), "+S"(load)
        :
        : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",
          "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
          "xmm15", "memory", "cc");
#elif defined(__aarch64__)
    register Context* save_in asm("x0") = save;
    register const Context* load_in asm("x1") = load;
    asm volatile(
        "adr x9, 1f\n\t"
        "mov x10, sp\n\t"
        "stp x10, x9, [x0]\n\t"
        "str x29, [x0, #16]\n\t"
        "ldp x10, x9, [x1]\n\t"
        "ldr x29, [x1, #16]\n\t"
        "mov sp, x10\n\t"
        "br x9\n"
        "1:"
        : "+r"(save_in), "+r"(load_in)
        :
        : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
          "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4",
          "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20",
          "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "memory", "cc");
#else
#error "the emulator switches stacks on x86-64 and aarch64 only"
#endif
}

}  // namespace emu

// Where a fresh fiber begins, on its own stack; never returns.
extern "C" [[noreturn]] void emu_fiber_main();
