// How the runtime touches memory for a program: a fault there is one of the place in the program that asked for it.
#pragma once

#include "report.h"

namespace emu {

// While one lives, a signal is reported at the place in the program.
class TouchesMemory {
public:
    explicit TouchesMemory(uintptr_t pc) { call_site = pc; }
    ~TouchesMemory() { call_site = 0; }
};

inline void require_aligned(const void* p, size_t bytes, const char* access, uintptr_t pc) {
    if (reinterpret_cast<uintptr_t>(p) % bytes == 0) return;
    Text text;
    add_address(text, p);
    text.add("access ").add(access).add(" ").add(bytes).add("\n");
    text.add("message the address of an access of ").add(bytes).add(" bytes is not a multiple of ").add(bytes);
    text.add("\n");
    report_text("misaligned", pc, current, text);
}

}  // namespace emu
