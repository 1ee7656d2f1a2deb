// Vector clocks that threads share.
//
// A thread's clock says, for every other thread, up to which of its counters everything is ordered before what the
// thread does next. Hundreds of threads that met at a barrier know the same, so a clock is not kept per thread: it is
// an immutable, reference-counted `Clock`, and a thread has a pointer to one plus a counter of its own (a `Stamp`). A
// clock has one row of counters for each block that it knows anything of; rows are shared between clocks too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace emu::check {

// A pointer that counts references. The child has one OS thread, so plain integers do.
template <class T>
class Ref {
public:
    Ref() = default;
    explicit Ref(T* to) : to(to) { to->references++; }
    Ref(const Ref& other) : to(other.to) {
        if (to) to->references++;
    }
    Ref(Ref&& other) noexcept : to(std::exchange(other.to, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
        std::swap(to, other.to);
        return *this;
    }
    ~Ref() {
        if (to && --to->references == 0) delete to;
    }
    T* get() const { return to; }
    T* operator->() const { return to; }
    explicit operator bool() const { return to != nullptr; }
    bool unique() const { return to && to->references == 1; }

private:
    T* to = nullptr;
};

// What is known of the threads of one block.
struct Row {
    unsigned references = 0;
    uint32_t block;
    std::vector<uint32_t> counters;  // 0: nothing is known
};

struct Clock {
    unsigned references = 0;
    std::vector<Ref<Row>> rows;  // ascending by block

    const Row* row(uint32_t block) const;
    bool covers(uint32_t block, uint32_t thread, uint32_t counter) const;
};

// The clock of a thread at a moment: what its base covers and its own past.
struct Stamp {
    Ref<Clock> base;
    uint32_t block = 0, thread = 0, counter = 0;

    bool covers(uint32_t of_block, uint32_t of_thread, uint32_t of_counter) const;
};

// Builds the join of clocks. Rows that only the join refers to are changed in place, all others are copied first.
class Join {
public:
    explicit Join(unsigned threads) : threads(threads) {}
    // Goes on from a clock, whose rows are reused when nobody else has it.
    Join(unsigned threads, Ref<Clock> from);
    void add(const Clock* clock);
    void add(uint32_t block, uint32_t thread, uint32_t counter);
    void add(const Stamp& stamp);
    Ref<Clock> done();

private:
    unsigned threads;  // counters of a row
    std::vector<Ref<Row>> rows;

    size_t place(uint32_t block) const;
    Row& own(size_t place);
};

}  // namespace emu::check
