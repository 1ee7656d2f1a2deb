// Text that is put together without allocating, for reports that are made while a signal is handled.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator.h"

namespace emu {

class Text {
public:
    Text& add(const char* s);
    Text& add(uint64_t number);
    Text& add_hex(uint64_t number);
    Text& add(const Dim& dim);
    Text& add(const Text& other);
    const char* data() const { return buffer; }
    size_t size() const { return used; }
    // Whether there is room for another line of common length.
    bool has_room() const { return used + 1024 < sizeof buffer; }

private:
    char buffer[16 << 10];
    size_t used = 0;
};

}  // namespace emu
