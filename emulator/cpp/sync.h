// How clocks travel: through objects of synchronization (by key), and through atomic variables as in C++.
#pragma once

#include "shadow.h"

#include <unordered_map>

namespace emu::check {

// What is published under keys, by the place of the resident block whose objects they name.
class Sync {
public:
    void publish(const void* key, const Stamp& stamp);
    const Clock* published(const void* key);
    void forget(const void* key);
    void drop(unsigned slot);

private:
    using Keys = std::unordered_map<const void*, Ref<Clock>>;
    Keys keys[MAX_RESIDENT];
};

extern Sync sync;

// Checks and records an atomic access. Returns the record of its first byte, or null where none is kept. An `update`
// reads what it overwrites.
Accesses* enter(const void* p, unsigned bytes, Op op, bool update, uintptr_t pc);

}  // namespace emu::check
