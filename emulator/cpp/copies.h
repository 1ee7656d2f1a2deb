// Asynchronous copies that are under way, by the place of the resident block that issued them.
//
// From its issue on a copy counts as a write of its target by the thread that issued it, so that a thread that does not
// know of the issue races with it. A thread that knows of the issue and not of the completion uses a pending copy.
//
// The bytes of a target are marked in their states. Sources are not: only a launch that may write a source can go wrong
// there, so they are searched when such a copy is under way and something is written.
#pragma once

#include "access.h"

#include <unordered_map>

namespace emu::check {

struct Copy {
    char* to;
    const char* from;
    unsigned bytes, valid;
    Mark issued;
    Stamp stamp;
};

class Copies {
public:
    void issue(const Copy& copy, uintptr_t pc);
    void complete(void* to, const void* key);
    void drop(unsigned slot);
    // Where the bulk copy was issued whose completion an engine's mark stands for.
    const Mark& issue_of(const Mark& completed) const;
    // The byte is the target of a copy.
    [[noreturn]] void report_target(const Attempt& attempt, const char* byte);
    // Ends the child if the attempt, a write, hits a source.
    void check_sources(const Attempt& attempt);

private:
    std::unordered_map<char*, Copy> under_way[MAX_RESIDENT];
    std::vector<Mark> bulk_issues[MAX_RESIDENT];  // of the bulk copies that are complete, in the order of the engines' time

    void forget(const Copy& copy);
};

extern Copies copies;

}  // namespace emu::check
