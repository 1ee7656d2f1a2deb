// Reads of bytes that nobody has written so far.
//
// If another thread writes the bytes later and nothing orders the two, that is a race, which the record of the read
// shows when the write comes. Else the bytes are uninitialised. Which of the two it is must not depend on the schedule,
// so the thread goes on, and the first such read is kept until it is known: for shared memory until its block ends, for
// global memory until the launch ends. What the thread has read may lead it anywhere meanwhile, so any other finding is
// put down to the read. An atomic read races with no atomic write: it is of a flag that nobody has cleared, and a race on
// the data behind the flag is put down to it too.
#pragma once

#include "findings.h"

namespace emu::check {

// The attempt reads a byte that nobody has written, in memory that the launch may write.
void read_early(const Attempt& attempt, const char* byte, bool shared);
// A race on other bytes than those of the read that is kept.
void race_comes(const Attempt& attempt);
// These end the child if the read that is kept is that of a block that ends, or if there is one.
void end_early_reads_of(const Block& block);
void end_early_reads();
// A thread is preempted. Threads that were led astray may do this for ever.
void early_read_takes_time();

}  // namespace emu::check
