#include "order.h"

namespace emu {

Permutation::Permutation(uint64_t n, Random& random) : n(n), half(1) {
    while (half < 32 && (uint64_t(1) << (2 * half)) < n) ++half;
    for (uint32_t& key : keys) key = random.next();
}

uint64_t Permutation::operator()(uint64_t i) const {
    const uint64_t mask = (uint64_t(1) << half) - 1;
    do {
        uint64_t left = i >> half, right = i & mask;
        for (uint32_t key : keys) {
            uint64_t mixed = (right ^ key) * 0x9e3779b97f4a7c15u;
            uint64_t next = (left ^ (mixed >> 29)) & mask;
            left = right;
            right = next;
        }
        i = left << half | right;
    } while (i >= n);
    return i;
}

}  // namespace emu
