// In which order blocks start and threads run.
#pragma once

#include <cstdint>

namespace emu {

// Numbers that repeat for a seed.
class Random {
public:
    explicit Random(uint64_t seed = 0) : state(seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u) {}

    uint32_t next() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return uint32_t((state ^ (state >> 22)) >> (22 + (state >> 61)));
    }
    // In 0 .. n - 1.
    unsigned below(unsigned n) { return unsigned((uint64_t(next()) * n) >> 32); }

private:
    uint64_t state;
};

// A random order of 0 .. n - 1 that takes no memory: a Feistel network on the least even number of bits that holds n,
// applied until the result is below n.
class Permutation {
public:
    Permutation(uint64_t n, Random& random);
    uint64_t operator()(uint64_t i) const;

private:
    uint64_t n;
    unsigned half;
    uint32_t keys[4];
};

}  // namespace emu
