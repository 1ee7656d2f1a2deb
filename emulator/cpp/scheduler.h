// Which thread runs.
#pragma once

#include <cstdint>

#include "emulator.h"

namespace emu {

// Runs all blocks of `launch` to their ends.
void run_launch();

// The current fiber has written down what it waits for; others run until something makes it ready.
void wait();

// Makes fibers of one block ready, in the order of the schedule; they come in ascending order.
void make_ready(Fiber* const* fibers, unsigned count);

// The current fiber cannot go on, and others shall. Where none can, a hang is reported.
[[noreturn]] void stop_thread();

// One turn of a spin loop of the current fiber in the named call.
void spin(uintptr_t pc, const char* call);

// Something happened that others may have been waiting for in a loop.
void progress();

// An atomic variable got another value.
void value_changed();

// The current fiber lets others run, or not, as the schedule has it. It counts as one that spins.
void give_way();

// A random choice of the schedule; the fixed schedules always make the same.
bool decide_early();

// Lines `wait …` for all threads that wait.
class Text;
void describe_waits(Text& text);
// The kind of finding that it is when no thread can go on.
const char* kind_of_hang();

// The resident blocks, for reports.
Block* const* resident_blocks(unsigned& count);

}  // namespace emu
