// Findings: what a launch did that a device would not have allowed, sent to the parent in place of `ok`.
#pragma once

#include "emulator.h"
#include "text.h"

namespace emu {

// A finding as it is sent.
std::string finding_text(const char* kind, uintptr_t pc, const Fiber* fiber, const std::string& details);
[[noreturn]] void send_finding(const char* text, size_t size);
// As `report`, without allocating. Of the given fiber, which may be null.
[[noreturn]] void report_text(const char* kind, uintptr_t pc, const Fiber* fiber, const Text& details);
// A finding of the current fiber with a message.
[[noreturn]] void report_message(const char* kind, uintptr_t pc, const Text& message);
[[noreturn]] void report_message(const char* kind, uintptr_t pc, const char* message);
// The line `address …`.
void add_address(Text& text, const void* p);

}  // namespace emu
