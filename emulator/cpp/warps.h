// Collectives of the lanes of a warp: __syncwarp, shuffles, votes, matches, reductions, and what twins
// of instructions do together.
#pragma once

#include "emulator.h"

namespace emu {

void begin_warps(Block& block);
// The thread has ended: reports if others of its warp wait for it.
void thread_leaves_warp(const Fiber& fiber);

}  // namespace emu
