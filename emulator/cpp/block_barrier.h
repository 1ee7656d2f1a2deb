// __syncthreads and its relatives, and barriers by number.
#pragma once

#include "emulator.h"

namespace emu {

// The thread has ended: reports if others wait for it at the barrier of the block.
void thread_leaves_barrier(const Fiber& fiber);

}  // namespace emu
