// cp.async and cp.async.bulk. A copy is performed when it is issued or when it is waited for, as the schedule decides.
#pragma once

#include "emulator.h"

namespace emu {

// Performs what a thread that has ended issued and did not wait for, as a device does.
void end_async_copies(Fiber& fiber);
// The block has ended: reports if a bulk copy into its shared memory was not waited for.
void end_bulk_copies(Block& block);

}  // namespace emu
