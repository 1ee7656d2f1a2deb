// The clock of every thread that is resident, and how synchronization moves it.
//
// A thread's identity in records is one 32-bit number, block * stride + thread. The stride is greater than the threads
// of a block: the last places of a block are its copy engines, which write the targets of bulk copies. Mbarriers that
// lie next to each other have different ones: who waited for one knows nothing of the copies that another counts.
//
// Counters are never reset between launches. A launch starts all its threads at `launch_base`, which is above every
// counter of earlier launches, so that a record with a lower counter is ordered before everything. When the base gets
// near the end of 32 bits, it starts again at 1 and the shadow's records are erased.
#pragma once

#include "clocks.h"
#include "emulator.h"

#include <vector>

namespace emu::check {

constexpr unsigned ENGINES = 8;  // of a block

// Who made an access, when in its own time, and where in the program.
struct Mark {
    uint32_t thread, counter, pc;
};

// Who made the present value of an atomic variable: the latest store and the read-modify-writes since, each thread
// once. This only helps to name the flag that was seen before a race, so a long history loses its oldest part.
struct Stores {
    static constexpr size_t MOST = 32;
    unsigned references = 0;
    std::vector<Stamp> stamps;
};

// An atomic read: whose values it saw, and what these threads had done by then.
struct Seen {
    static constexpr size_t MOST = 32;  // of a thread
    Ref<Stores> stores;
    uint32_t reader_counter = 0, pc = 0;
};

struct Thread {
    uint32_t id = 0, block = 0, index = 0;
    uint32_t counter = 0;
    uint32_t first = 0;             // the id of the block's thread 0
    const uint32_t* own = nullptr;  // the row of its own block in `base`; zeros if there is none
    Ref<Clock> base;
    Stamp fence;        // its clock at its latest fence: what relaxed stores publish
    Ref<Clock> loaded;  // what relaxed loads saw: acquired at the next fence
    std::vector<Seen> seen;  // the latest
    unsigned next_seen = 0;  // the place of the next, when there are as many as are kept

    Stamp stamp() const { return {base, block, index, counter}; }
    void see(const Seen& now);
};

class Threads {
public:
    uint32_t launch_base = 1;
    unsigned stride = 0;
    Thread* me = nullptr;

    // Returns false if the counters came near their end: all records of earlier launches must be erased.
    bool begin_launch();
    void end_launch();
    void begin_block(const Block& block);
    Thread& of(const Block& block, unsigned thread) { return slots[block.slot][thread]; }
    void begin_thread(Thread& thread, const Block& block, unsigned index);
    // The next moment of the block's copy engines.
    uint32_t tick_engine(const Block& block);

    void met(Fiber* const* fibers, unsigned count);
    void acquire(Thread& thread, const Clock* clock);
    // The thread's next accesses are later than any of its stamps until now.
    void tick(Thread& thread);
    void fence(Thread& thread);

    // Is what `mark` tells of ordered before what `me` does next? Records in shared memory by another block are left
    // over from an earlier tenant of the place.
    bool ordered(const Mark& mark, bool shared) const {
        if (mark.counter < launch_base || mark.thread == me->id) return true;
        uint32_t index = mark.thread - me->first;
        if (index < stride) return me->own[index] >= mark.counter;
        return shared || ordered_far(mark);
    }
    // A read, by this thread or ordered before it, of a value that was stored after the access of `mark`; or null.
    const Seen* saw(const Mark& mark);

private:
    uint32_t highest = 1;
    std::vector<uint32_t> nothing;
    std::vector<Thread> slots[MAX_RESIDENT];
    uint32_t engines[MAX_RESIDENT] = {};

    bool ordered_far(const Mark& mark) const;
    void rebase(Thread& thread, Ref<Clock> base);
};

extern Threads threads;

}  // namespace emu::check
