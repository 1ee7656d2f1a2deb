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
    const char* from;    // as the kernel sees it
    const char* source;  // its place
    unsigned bytes, valid;
    Mark issued;
    Stamp stamp;
};

bool hits_target(const Copy& copy, const Attempt& attempt);
// The first byte of the source that the attempt hits, as the attempt sees it.
const char* first_of_source(const Copy& copy, const Attempt& attempt);

class Copies {
public:
    void issue(const Copy& copy, uintptr_t pc);
    void complete(void* to, const void* key);
    void drop(unsigned slot);
    // If the mark, with which the attempt races, is the completion of a copy: the copy, or null.
    const Copy* completed_at(const Mark& mark, const Attempt& attempt) const;
    // The byte is the target of a copy.
    [[noreturn]] void report_target(const Attempt& attempt, const char* byte);
    // Ends the child if the attempt, a write, hits a source.
    void check_sources(const Attempt& attempt);

private:
    std::unordered_map<char*, Copy> under_way[MAX_RESIDENT];
    struct Done {
        Copy copy;
        Mark completed;
    };
    std::unordered_map<char*, Done> done[MAX_RESIDENT];  // the latest that is complete of each target

    void forget(const Copy& copy);
};

extern Copies copies;

}  // namespace emu::check
