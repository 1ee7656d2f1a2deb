#include "signals.h"

#include <algorithm>
#include <csignal>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "report.h"
#include "scheduler.h"

// Set by the linker: where the code of the executable lies.
extern "C" const char __executable_start[], etext[];

namespace emu {

namespace {

const char* name_of(int signal) {
    switch (signal) {
        case SIGSEGV: return "SIGSEGV";
        case SIGBUS: return "SIGBUS";
        case SIGFPE: return "SIGFPE";
        case SIGABRT: return "SIGABRT";
        default: return "SIGILL";
    }
}

struct Machine {
    uintptr_t pc, sp;
};

Machine machine_of(const void* context) {
    const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    return {uintptr_t(machine.gregs[REG_RIP]), uintptr_t(machine.gregs[REG_RSP])};
#else
    return {uintptr_t(machine.pc), uintptr_t(machine.sp)};
#endif
}

bool in_executable(uintptr_t pc) {
    return pc >= reinterpret_cast<uintptr_t>(__executable_start) && pc < reinterpret_cast<uintptr_t>(etext);
}

// Words of a stack that are told for one signal: the program's call is found within a few frames of the runtime.
constexpr unsigned MOST_RETURNS = 32;

// Where the program was: the call of the runtime that it is in, or the instruction. That may be one of the runtime or of
// a library; then the place is the first of the lines `return …` that is in the program. They have the words of the
// stack that can be return addresses, innermost first.
uintptr_t program_counter(const void* context, Text& text) {
    if (call_site != 0) return call_site;
    if (current && current->state != State::Ready) return current->pc;
    Machine machine = machine_of(context);
    if (!current) return machine.pc;
    const uintptr_t low = reinterpret_cast<uintptr_t>(current->stack_low);
    const uintptr_t high = reinterpret_cast<uintptr_t>(current->stack_high);
    // Behind an overflow it points below the stack. Anywhere else, it is of another fiber in the middle of a switch.
    if (machine.sp + STACK_GUARD < low || machine.sp >= high) return machine.pc;
    unsigned found = 0;
    for (uintptr_t at = std::max(machine.sp, low) & ~(sizeof(uintptr_t) - 1); at < high; at += sizeof(uintptr_t)) {
        uintptr_t word = *reinterpret_cast<const uintptr_t*>(at);
        if (!in_executable(word)) continue;
        text.add("return ").add_hex(word - 1).add("\n");
        if (++found == MOST_RETURNS) break;
    }
    return machine.pc;
}

void on_fault(int number, siginfo_t* info, void* context) {
    // A fault while this one is told ends the process as it would without us.
    signal(number, SIG_DFL);
    Text text;
    bool has_address = number == SIGSEGV || number == SIGBUS;
    if (current && has_address && in_stack_guard(info->si_addr, current->stack_low)) {
        text.add("message stack overflow: a thread has ").add(STACK_BYTES).add(" bytes of stack\n");
    } else {
        text.add("message ").add(name_of(number)).add("\n");
        if (has_address) add_address(text, info->si_addr);
    }
    uintptr_t pc = program_counter(context, text);
    report_text("crash", pc, current, text);
}

void on_alarm(int, siginfo_t*, void* context) {
    Text text;
    text.add("message the launch took longer than its time limit\n");
    describe_waits(text);
    // The alarm is likely to come while an access is checked, not in the program itself.
    bool loops = current && current->state == State::Ready && current->preempted;
    uintptr_t pc = loops ? current->pc : program_counter(context, text);
    report_text("timeout", pc, current, text);
}

void install(int number, void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(number, &action, nullptr);
}

void set_timer(uint64_t milliseconds) {
    itimerval value = {};
    value.it_value.tv_sec = time_t(milliseconds / 1000);
    value.it_value.tv_usec = suseconds_t(milliseconds % 1000 * 1000);
    setitimer(ITIMER_REAL, &value, nullptr);
}

}  // namespace

void install_signal_handlers() {
    // A thread whose stack is full has no room for a handler.
    static char memory[128 << 10];
    stack_t stack = {};
    stack.ss_sp = memory;
    stack.ss_size = sizeof memory;
    sigaltstack(&stack, nullptr);
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) install(number, on_fault);
    install(SIGALRM, on_alarm);
}

void start_timer(uint64_t milliseconds) { set_timer(milliseconds); }
void stop_timer() { set_timer(0); }

}  // namespace emu
