// The checker without the rest of the runtime, of which a few lines take the place: a finding is thrown.
#pragma once

#define EMU_CHECKED
#include "checker.cpp"
#include "clocks.cpp"
#include "copies.cpp"
#include "early_reads.cpp"
#include "findings.cpp"
#include "places.cpp"
#include "races.cpp"
#include "shadow.cpp"
#include "sync.cpp"
#include "threads.cpp"

#include <cstdio>
#include <cstdlib>

namespace emu {

Fiber* current;
Launch* launch;
uint64_t changes = 0;

struct Found {
    std::string kind;
};

void report(const char* kind, uintptr_t, const std::string&) { throw Found{kind}; }
std::string finding_text(const char* kind, uintptr_t, const Fiber*, const std::string&) { return kind; }
void send_finding(const char* text, size_t size) { throw Found{std::string(text, size)}; }
void stop_thread() { throw Found{"stopped"}; }
void yield() {}
void give_way() {}
void value_changed() {}
void fail(const std::string& text) {
    puts(text.c_str());
    exit(1);
}

}  // namespace emu
