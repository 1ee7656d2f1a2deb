// How clocks travel: through objects of synchronization (by key), and through atomic variables as in C++.
#pragma once

#include "threads.h"

#include <unordered_map>

namespace emu::check {

// What is published under keys. Keys in shared memory belong to one place of a resident block.
class Sync {
public:
    void publish(const void* key, const Stamp& stamp);
    const Clock* published(const void* key);
    void forget(const void* key);
    void drop(unsigned slot);
    void begin_launch();

private:
    using Keys = std::unordered_map<const void*, Ref<Clock>>;
    Keys shared[MAX_RESIDENT], global;

    Keys& of(const void* key);
};

extern Sync sync;

}  // namespace emu::check
