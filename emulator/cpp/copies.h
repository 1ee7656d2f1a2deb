// Asynchronous copies that are under way, by the place of the resident block that issued them.
//
// The bytes of a target are marked in their states. Sources are not: only a launch that may write a source can go wrong
// there, so they are searched when such a copy is under way and something is written.
#pragma once

#include "access.h"

#include <unordered_map>

namespace emu::check {

class Copies {
public:
    void issue(const Copy& copy, uintptr_t pc);
    void complete(void* to, const void* key);
    void drop(unsigned slot);
    // The byte is the target of a copy.
    [[noreturn]] void report_target(const Attempt& attempt, const char* byte);
    // Ends the child if the attempt, a write, hits a source.
    void check_sources(const Attempt& attempt);

private:
    std::unordered_map<char*, Copy> under_way[MAX_RESIDENT];

    void forget(const Copy& copy);
};

extern Copies copies;

}  // namespace emu::check
