// An address of its own for each parameter.
//
// Ranges of a launch may lie next to each other, so that an index that leaves one ends up in another, where an access
// is in order. Therefore the pages of each parameter are mapped once more, far from everything else, and the kernel is
// given that address. Only the path of an access knows of it: what is known of the bytes is kept at their place in the
// segment, so that accesses through two parameters meet there.
#ifdef EMU_CHECKED
#include <map>
#include <sys/mman.h>
#include <tuple>

#include "channel.h"
#include "checker.h"
#include "segments.h"

namespace emu::check {

namespace {

// So many are kept for later launches. All of their gaps fit into the least address space, of 39 bits.
constexpr size_t MOST = 2048;

// A range, and how many parameters of the launch before this one have the same: each gets its own.
using Name = std::tuple<char*, uint64_t, unsigned>;

struct Alias {
    char* seen;
    char* reserved;
    uint64_t reserved_bytes;
};
std::map<Name, Alias> aliases;

void drop(const Alias& alias) { munmap(alias.reserved, alias.reserved_bytes); }

Alias make(char* start, uint64_t bytes) {
    uint64_t within = uintptr_t(start) % page();
    uint64_t mapped = (within + bytes + page() - 1) / page() * page();
    uint64_t reserved_bytes = mapped + 2 * ALIAS_GAP;
    void* reserved = mmap(nullptr, reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) {
        fail("there is no address space for a parameter of " + std::to_string(bytes) + " bytes");
    }
    char* at = static_cast<char*>(reserved) + ALIAS_GAP;
    if (bytes) map_again(start - within, mapped, at);
    return {at + within, static_cast<char*>(reserved), reserved_bytes};
}

}  // namespace

void give_aliases(std::vector<Range>& parameters) {
    if (aliases.size() + parameters.size() > MOST) {
        for (const auto& entry : aliases) drop(entry.second);
        aliases.clear();
    }
    for (size_t i = 0; i < parameters.size(); ++i) {
        Range& range = parameters[i];
        unsigned before = 0;
        for (size_t j = 0; j < i; ++j) {
            before += parameters[j].start == range.start && parameters[j].bytes == range.bytes;
        }
        Name name(range.start, range.bytes, before);
        auto found = aliases.find(name);
        if (found == aliases.end()) found = aliases.emplace(name, make(range.start, range.bytes)).first;
        range.seen = found->second.seen;
    }
}

void forget_aliases(char* start, uint64_t bytes) {
    for (auto at = aliases.begin(); at != aliases.end();) {
        char* of = std::get<0>(at->first);
        bool inside = of >= start && of <= start + bytes;
        if (inside) drop(at->second);
        at = inside ? aliases.erase(at) : std::next(at);
    }
}

}  // namespace emu::check
#endif
