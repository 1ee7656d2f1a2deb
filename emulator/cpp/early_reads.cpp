#ifdef EMU_CHECKED
#include "early_reads.h"

#include "checker.h"
#include "places.h"
#include "report.h"
#include "scheduler.h"

#include <cstring>

namespace emu::check {

namespace {

// So many preemptions are waited for a race to show: about a second.
constexpr unsigned PATIENCE = 10000;

struct EarlyRead {
    // Set last: a signal may come at any time.
    volatile bool present;
    bool shared, atomic;
    const char* byte;  // its place
    uint64_t block;
    unsigned preemptions;
    std::string finding;
};
EarlyRead first;

}  // namespace

void read_early(const Attempt& attempt, const char* byte, bool shared) {
    if (first.present) return;
    first.shared = shared;
    first.atomic = attempt.op != Op::Read;
    first.byte = places.place(byte);
    first.block = current->block->number;
    first.preemptions = 0;
    first.finding = finding_text("uninitialised", attempt.pc, current, uninitialised_lines(attempt, byte));
    first.present = true;
}

void race_comes(const Attempt& attempt) {
    const char* place = places.place(attempt.p);
    bool same = first.byte >= place && first.byte < place + attempt.bytes;
    if (first.present && first.atomic && !same) end_early_reads();
}

void end_early_reads_of(const Block& block) {
    if (first.present && first.shared && first.block == block.number) end_early_reads();
}

void end_early_reads() {
    if (first.present) send_finding(first.finding.data(), first.finding.size());
}

void early_read_takes_time() {
    if (first.present && ++first.preemptions == PATIENCE) end_early_reads();
}

void finding_comes(const char* kind, bool may_stop) {
    if (!first.present || strcmp(kind, "race") == 0 || strcmp(kind, "unordered-flag") == 0) return;
    // The thread cannot go on, but others may, up to the write that makes it a race.
    if (may_stop) stop_thread();
    end_early_reads();
}

}  // namespace emu::check
#endif
