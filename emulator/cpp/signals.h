// Faults and the time limit of a launch, told as findings.
#pragma once

#include <cstdint>

namespace emu {

void install_signal_handlers();
void start_timer(uint64_t milliseconds);
void stop_timer();

}  // namespace emu
