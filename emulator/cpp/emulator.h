// What the parts of the emulator share.
//
// cuda.h device.h        what a program includes: the language, and the functions of the runtime that it calls
// main.cpp               the protocol; words, channel and segments serve it
// aliases.cpp            an address of its own for each parameter of a checked launch
// fibers.h               stacks and the switch between them
// scheduler.h order.h    which block and which thread runs; waits.cpp tells who waits where
// shared_memory.h        whose bytes lie in the program's shared arrays
// block_barrier.cpp named_barriers.cpp warps.cpp    where threads meet
// atomics.cpp flags.cpp async_copies.cpp mbarriers.cpp    memory between threads
// intrinsics.cpp where.cpp    arithmetic of a device, and threadIdx with its like
// report.h signals.h text.h   findings
// checker.h              what the checked build is told of all this
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fibers.h"

namespace emu {

struct Dim {
    unsigned x, y, z;
};

// A range of memory that a parameter of the launch points to.
struct Range {
    char* start;
    uint64_t bytes;
    bool writable;
    bool fresh = false;  // what is there when the launch begins counts as never written, unless another range reads it
    char* seen = start;  // where the kernel sees it: checked launches have an address for each parameter
};

// A shared array of a kernel, at the address that the running block sees.
struct SharedArray {
    std::string name;
    char* start;
    uint64_t bytes;
};

enum class Schedule { InOrder, Reverse, Seeded };

struct Launch {
    std::string symbol;
    Dim grid, block;
    unsigned threads;  // of a block
    std::vector<Range> parameters;
    std::vector<SharedArray> shared;
    char* shared_start;  // the hull of the arrays
    uint64_t shared_bytes;
    Schedule schedule;
    uint64_t seed;
    void (*kernel)(void** parameters);
    std::vector<void*> arguments;
    long long clock;  // what clock64 said last
};

constexpr unsigned MAX_RESIDENT = 16;
constexpr unsigned MAX_THREADS = 1024;
constexpr unsigned WARP = 32;

struct Block;

// An asynchronous copy that has not been performed, or whose completion nobody has waited for.
struct AsyncCopy {
    char* to;
    const char* from;
    unsigned bytes, valid;
    bool performed;
    uintptr_t pc;
    unsigned long long* bar;  // of a bulk copy
    unsigned phase;           // of `bar` when the copy was performed
};

// What a thread waits for.
enum class State { Ready, Spinning, AtBlockBarrier, AtNamedBarrier, AtWarp, Stopped, Ended };

// One CUDA thread.
struct Fiber {
    unsigned thread;  // linear within its block
    Block* block;
    char *stack_low, *stack_high;
    Context context;
    Dim index;
    State state;
    uintptr_t pc;      // of the call that it waits in
    const char* call;  // the name of that call
    bool preempted;    // it was made to let others run; where, is `pc` while it is ready
    unsigned pauses;   // how often it let others run for the sake of an atomic variable, or might have
    uint64_t changes;  // of `changes`: those until which it let others run
    bool spun;         // it took a turn of a spin loop since it last met other threads
    // Its part in a collective of its warp: what it gave, and what it gets.
    uint64_t value, result;
    unsigned argument, width;
    // Those issued, oldest first; the committed groups end at the numbers in `groups`.
    std::vector<AsyncCopy> copies;
    std::vector<size_t> groups;
};

// The barrier of all threads of a block.
struct BlockBarrier {
    unsigned arrived, line;
    const char* call;
    int any, all, count;
    int answer_any, answer_all, answer_count;
};

// A barrier of some of the threads, by number.
struct NamedBarrier {
    unsigned arrived, threads;
    std::vector<Fiber*> waiting;
};

// Lanes that wait for each other in a collective.
struct Group {
    unsigned mask, arrived;
    int kind;
};

struct Warp {
    unsigned ended;   // lanes that have ended or never were
    unsigned active;  // groups in use; a group's number is that of the lane that came first
    Group groups[WARP];
};

// Threads that can go on, in the order in which they do.
class ReadyQueue {
public:
    bool empty() const { return head == tail; }
    unsigned size() const { return tail - head; }
    void push(Fiber* fiber) { ring[tail++ % MAX_THREADS] = fiber; }
    Fiber* pop() { return ring[head++ % MAX_THREADS]; }
    // Brings the i-th to the front.
    void choose(unsigned i) { std::swap(ring[head % MAX_THREADS], ring[(head + i) % MAX_THREADS]); }

private:
    unsigned head = 0, tail = 0;
    Fiber* ring[MAX_THREADS];
};

// A block that is resident: its threads have started and not all have ended.
struct Block {
    uint64_t number;  // linear within the grid
    unsigned slot;    // which of the resident places it has; 0 .. MAX_RESIDENT - 1
    Dim index;
    std::vector<Fiber> fibers;
    bool prepared;    // the fibers are those of threads of this launch
    unsigned live;    // threads that have not ended
    unsigned yields;  // turns of spin loops since something happened or the block came to run
    ReadyQueue ready;
    BlockBarrier barrier;
    NamedBarrier named[16];
    Warp warps[MAX_THREADS / WARP];
    std::vector<AsyncCopy> bulk_copies;
    std::vector<char> shared;  // the bytes of its shared memory while another block runs
};

extern Fiber* current;  // the fiber that runs, or null
extern Launch* launch;  // the launch that runs, or null

// How often an atomic variable got another value.
extern uint64_t changes;

// Where the program called the runtime, while the runtime touches memory for it; else 0.
extern uintptr_t call_site;

// Ends the child with a finding of the current fiber. `details` are further lines of the protocol, each ended by '\n'.
[[noreturn]] void report(const char* kind, uintptr_t pc, const std::string& details);
// The line `address …` for a pointer of the current fiber.
std::string address_line(const void* p);
// Lets other fibers run.
void yield();

}  // namespace emu

// The place in the program that called the function of the runtime in which this stands.
#define EMU_CALLER ((uintptr_t)__builtin_return_address(0) - 1)
