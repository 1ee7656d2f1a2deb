// Shared memory: thread-local variables of the program, in which the bytes of the running block lie.
#pragma once

#include "emulator.h"

namespace emu {

// The block starts: its bytes are NaN of every type and no small number.
void begin_shared(Block& block);
// The block is about to run.
void enter_shared(Block& block);
// The block has ended and nobody needs its bytes.
void end_shared(Block& block);
// Whether the bytes lie in the kernel's shared arrays, or in between.
bool is_shared(const void* p, uint64_t bytes);

}  // namespace emu

// The places of shared arrays are told as distances from here.
extern thread_local char emu_shared_origin;
