// The checker's order of accesses against one that is too slow to be wrong.
//
// Random threads of random blocks make random accesses and synchronize at random. What is ordered before what each
// thread does next is kept here as the plain set of all accesses so far. Two accesses race when they overlap, one of
// them writes, not both are atomic, and the earlier is not in the set of the later one's thread. At every access the
// checker must say the same.

#include "checker_alone.h"

#include <bitset>
#include <map>
#include <random>

namespace emu {

namespace {

using namespace check;

constexpr unsigned BLOCKS = 3, STEPS_OF_TRIAL = 500;
using Set = std::bitset<STEPS_OF_TRIAL>;  // of accesses, by step

struct Event {
    unsigned space, from, bytes;
    bool atomic, write;
    bool clashes(const Event& other) const {
        return space == other.space && from < other.from + other.bytes && other.from < from + bytes &&
               (write || other.write) && !(atomic && other.atomic);
    }
};

// What a thread knows.
struct Past {
    Set done;         // ordered before what it does next
    Set loaded;       // published by values that it loaded relaxed
    Set fence;        // at its latest fence
    bool has_fence = false;
};

// The release sequence of an atomic variable's value.
struct Sequence {
    Set published;
    bool publishes = false;
    int thread = -1;  // that made it, if it was one alone
};

// Threads of a block, bytes of each memory, and how many of 8 accesses are atomic, and how many only read.
struct Shape {
    unsigned threads, bytes, atomics, reads;
};

alignas(64) char global_memory[64], shared_memory[64], stack[16];
Block blocks[BLOCKS];
unsigned races = 0, clean = 0;

class Trial {
public:
    Trial(Shape shape, unsigned seed) : shape(shape), random(seed), past(BLOCKS * shape.threads) {}

    void run() {
        begin();
        unsigned meetings = 1 + pick(4);
        for (step = 0; step < STEPS_OF_TRIAL && !raced; step++) {
            me = pick(unsigned(past.size()));
            block = me / shape.threads;
            current = &blocks[block].fibers[me % shape.threads];
            unsigned what = pick(11 + 3 * meetings);
            if (what < 8) {
                access();
            } else if (what < 10) {
                use_key();
            } else {
                what == 10 ? pass_fence() : meet();
            }
        }
        (raced ? races : clean)++;
        current = nullptr;
        threads.end_launch();
        places.end_launch();
    }

private:
    Shape shape;
    std::mt19937 random;
    std::vector<Past> past;
    std::vector<std::pair<unsigned, Event>> events;  // with their steps
    std::map<std::pair<unsigned, unsigned>, Sequence> sequences;
    std::map<uintptr_t, Set> keys;
    unsigned step = 0, me = 0, block = 0;
    bool raced = false;
    Launch description;

    unsigned pick(unsigned n) { return unsigned(random() % n); }

    void begin() {
        description = {"kernel", {BLOCKS, 1, 1}, {shape.threads, 1, 1}, shape.threads};
        description.parameters = {{global_memory, sizeof global_memory, true}};
        description.shared = {{"shared", shared_memory, sizeof shared_memory}};
        description.shared_start = shared_memory;
        description.shared_bytes = sizeof shared_memory;
        launch = &description;
        launch_begins();
        for (unsigned b = 0; b < BLOCKS; b++) {
            blocks[b].number = blocks[b].slot = b;
            blocks[b].fibers.resize(shape.threads);
            block_begins(blocks[b]);
            shadow.shared[b].set_written(shared_memory, sizeof shared_memory, true);
            for (unsigned t = 0; t < shape.threads; t++) {
                Fiber& fiber = blocks[b].fibers[t];
                fiber.thread = t;
                fiber.block = &blocks[b];
                fiber.stack_low = stack;
                fiber.stack_high = stack + sizeof stack;
                fiber_begins(fiber);
            }
        }
    }

    void access() {
        Event event = {};
        event.space = pick(2) ? 1 + block : 0;
        event.atomic = pick(8) < shape.atomics;
        unsigned update = pick(8) < shape.reads ? 0 : 1 + pick(2), order = pick(4);
        event.write = update > 0;
        event.bytes = event.atomic ? 4 : 1u << pick(4);
        if (event.bytes > shape.bytes) event.bytes = 4;
        event.from = pick(shape.bytes / event.bytes) * event.bytes;
        bool odd = !event.atomic && pick(4) == 0;  // any length at any address
        if (odd) {
            event.bytes = 1 + pick(shape.bytes);
            event.from = pick(shape.bytes - event.bytes + 1);
        }
        bool expected = false;
        for (const auto& [when, earlier] : events) expected |= event.clashes(earlier) && !past[me].done[when];
        // A race ends the trial, so that most are left out.
        if (expected && pick(40) > 0) return;
        check_access(event, update, order, odd, expected);
        raced = expected;
        events.push_back({step, event});
        past[me].done[step] = true;
        if (event.atomic) {
            change_sequence(sequences[{event.space, event.from}], update, order);
        } else if (event.write) {
            for (auto& [place, sequence] : sequences) {
                bool hit = place.first == event.space && place.second >= event.from &&
                           place.second < event.from + event.bytes;
                if (hit) sequence = {};
            }
        }
    }

    void check_access(const Event& event, unsigned update, unsigned order, bool odd, bool expected) {
        char* p = (event.space ? shared_memory : global_memory) + event.from;
        std::string found = "nothing";
        try {
            if (event.atomic) {
                if (update == 0) atomic_load(p, 4, int(order & 2), step + 1);
                if (update == 1) atomic_store(p, 4, int(order & 1), step + 1);
                if (update == 2) atomic_update(p, 4, int(order), step + 1);
            } else if (odd) {
                check::access(p, event.bytes, event.write ? Write : Read, step + 1);
            } else {
                plain(p, event.bytes, event.write);
            }
        } catch (const Found& finding) {
            found = finding.kind;
        }
        bool race = found == "race" || found == "unordered-flag";
        if (race ? expected : !expected && found == "nothing") return;
        printf("step %u: thread %u, %u bytes at %u of memory %u, atomic %d, write %d: ", step, me, event.bytes,
               event.from, event.space, event.atomic, event.write);
        printf("expected %s, found %s\n", expected ? "a race" : "nothing", found.c_str());
        exit(1);
    }

    // As the compiler's callbacks.
    void plain(char* p, unsigned bytes, bool write) {
        switch (bytes) {
            case 1: return write ? check::access<1, Op::Write>(p, step) : check::access<1, Op::Read>(p, step);
            case 2: return write ? check::access<2, Op::Write>(p, step) : check::access<2, Op::Read>(p, step);
            case 4: return write ? check::access<4, Op::Write>(p, step) : check::access<4, Op::Read>(p, step);
            default: return write ? check::access<8, Op::Write>(p, step) : check::access<8, Op::Read>(p, step);
        }
    }

    // The rules of C++ for release sequences and fences.
    void change_sequence(Sequence& sequence, unsigned update, unsigned order) {
        if (update != 1 && sequence.publishes) (order & 2 ? past[me].done : past[me].loaded) |= sequence.published;
        if (update == 0) return;
        bool anothers = sequence.thread != int(me);
        if (update == 1 && anothers) sequence = {};
        bool joins = anothers && sequence.publishes;
        if (order & 1) {
            sequence.published |= past[me].done;
            sequence.publishes = true;
        } else if (past[me].has_fence) {
            sequence.published |= past[me].fence;
            sequence.publishes = true;
        }
        sequence.thread = joins ? -1 : int(me);
    }

    void pass_fence() {
        check::fence();
        Past& mine = past[me];
        mine.done |= mine.loaded;
        mine.loaded.reset();
        mine.fence = mine.done;
        mine.has_fence = true;
    }

    void use_key() {
        uintptr_t key = 0x1000 + 8 * pick(2);
        Set& published = keys[key + 0x100 * block];
        if (pick(2)) {
            check::release((const void*)key);
            published |= past[me].done;
        } else {
            check::acquire((const void*)key);
            past[me].done |= published;
        }
    }

    void meet() {
        std::vector<Fiber*> fibers;
        Set all;
        for (unsigned t = 0; t < shape.threads; t++) {
            if (pick(3) == 0) continue;
            fibers.push_back(&blocks[block].fibers[t]);
            all |= past[block * shape.threads + t].done;
        }
        check::met(fibers.data(), unsigned(fibers.size()));
        for (const Fiber* fiber : fibers) past[block * shape.threads + fiber->thread].done = all;
    }
};

}  // namespace

}  // namespace emu

int main(int, char** arguments) {
    unsigned trials = unsigned(atoi(arguments[1]));
    emu::check::segment_mapped(emu::global_memory, sizeof emu::global_memory);
    emu::check::set_written(emu::global_memory, sizeof emu::global_memory, true);
    for (unsigned seed = 0; seed < trials; seed++) {
        emu::Shape shape = seed % 3 ? emu::Shape{3, 4 + 4 * (seed % 4), 3, 3} : emu::Shape{9, 4, 6, 7};
        emu::Trial(shape, seed).run();
    }
    printf("%u races, %u clean\n", emu::races, emu::clean);
}
