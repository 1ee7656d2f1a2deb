// A debugger that a user attaches to this process.
#pragma once

namespace emu {

// Returns when a debugger is attached. Ends the process if the parent goes away before.
void wait_for_debugger();

}  // namespace emu
