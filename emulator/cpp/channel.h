// The socket to the parent: lines of text in both directions.
#pragma once

#include <cstddef>
#include <string>

namespace emu {

// The next line without its end; false when the parent is gone.
bool read_line(std::string& line);
// All bytes, also from a signal handler.
void send_bytes(const char* data, size_t size);
// Answers `error TEXT` and ends with status 2: the parent does not speak the protocol, or the system refuses.
[[noreturn]] void fail(const std::string& text);

}  // namespace emu
