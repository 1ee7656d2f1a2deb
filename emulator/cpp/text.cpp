#include "text.h"

namespace emu {

Text& Text::add(const char* s) {
    for (; *s != 0 && used < sizeof buffer; ++s) buffer[used++] = *s;
    return *this;
}

Text& Text::add(uint64_t number) {
    char digits[21];
    char* p = digits + sizeof digits - 1;
    *p = 0;
    do {
        *--p = char('0' + number % 10);
        number /= 10;
    } while (number != 0);
    return add(p);
}

Text& Text::add_hex(uint64_t number) {
    char digits[17];
    char* p = digits + sizeof digits - 1;
    *p = 0;
    do {
        *--p = "0123456789abcdef"[number & 15];
        number >>= 4;
    } while (number != 0);
    return add(p);
}

Text& Text::add(const Text& other) {
    for (size_t i = 0; i < other.used && used < sizeof buffer; ++i) buffer[used++] = other.buffer[i];
    return *this;
}

Text& Text::add(const Dim& dim) { return add(dim.x).add(" ").add(dim.y).add(" ").add(dim.z); }

}  // namespace emu
