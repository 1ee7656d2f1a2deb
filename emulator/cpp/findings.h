// What the checker says when it found something. Every function here ends the child.
#pragma once

#include "shadow.h"

namespace emu::check {

// The access that is being checked.
struct Attempt {
    const char* p;
    uint64_t bytes;
    Op op;
    uintptr_t pc;

    uint16_t size16() const { return uint16_t(bytes < 0xffff ? bytes : 0xffff); }
    Mark mark() const { return {threads.me->id, threads.me->counter, uint32_t(pc)}; }
    Access access() const { return {mark(), size16(), op}; }
};

[[noreturn]] void race(const Attempt& attempt, const Access& other);
[[noreturn]] void uninitialised(const Attempt& attempt, const char* byte);
std::string uninitialised_lines(const Attempt& attempt, const char* byte);
[[noreturn]] void read_only(const Attempt& attempt);
[[noreturn]] void misaligned(const Attempt& attempt);
// `address` names the first byte that is outside.
[[noreturn]] void out_of_bounds(const Attempt& attempt, const std::string& address, const std::string& message);
[[noreturn]] void not_written(unsigned parameter, uint64_t offset);

struct Copy;
// The attempt touches the copy's target, or writes its source.
[[noreturn]] void pending_copy(const Attempt& attempt, const Copy& copy);

}  // namespace emu::check
