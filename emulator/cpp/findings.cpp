#ifdef EMU_CHECKED
#include "findings.h"

#include "copies.h"
#include "early_reads.h"

#include <algorithm>
#include <cstdio>

namespace emu::check {

namespace {

template <class... T>
std::string format(const char* pattern, T... values) {
    char text[256];
    snprintf(text, sizeof text, pattern, values...);
    return text;
}

const char* word(Op op) { return op == Op::Read ? "read" : op == Op::Write ? "write" : "atomic"; }

const char* does(Op op) {
    switch (op) {
        case Op::Read: return "reads";
        case Op::Write: return "writes";
        case Op::AtomicRead: return "reads (atomic or volatile)";
        default: return "writes (atomic or volatile)";
    }
}

const char* did(Op op) {
    switch (op) {
        case Op::Read: return "read";
        case Op::Write: return "wrote";
        case Op::AtomicRead: return "read (atomic or volatile)";
        default: return "wrote (atomic or volatile)";
    }
}

// `address` and `access`, which every finding about an access has.
std::string about(const Attempt& attempt, const std::string& address) {
    return "address " + address + format("\naccess %s %llu\n", word(attempt.op), (unsigned long long)attempt.bytes);
}

std::string about(const Attempt& attempt, const char* address) {
    return about(attempt, places.describe(address));
}

bool is_engine(const Mark& mark) { return mark.thread % threads.stride >= launch->threads; }

// The lines `other-pc` and `other-thread`. A copy engine has no thread.
std::string other_lines(const Mark& mark) {
    uint32_t block = mark.thread / threads.stride, thread = mark.thread % threads.stride;
    const Dim& g = launch->grid;
    const Dim& b = launch->block;
    std::string lines = format("other-pc %x\n", mark.pc);
    if (is_engine(mark)) return lines;
    return lines + format("other-thread %u %u %u %u %u %u\n", block % g.x, block / g.x % g.y, block / g.x / g.y,
                          thread % b.x, thread / b.x % b.y, thread / b.x / b.y);
}

const char* other_name(const Mark& mark) {
    if (is_engine(mark)) return "an asynchronous copy";
    return mark.thread / threads.stride == threads.me->block ? "another thread of its block"
                                                             : "a thread of another block";
}

std::string message(const std::string& text) { return "message " + text + "\n"; }

}  // namespace

void race(const Attempt& attempt, const Access& other) {
    race_comes(attempt);
    const Copy* copy = copies.completed_at(other.mark, attempt);
    if (copy && threads.ordered(copy->issued, false)) pending_copy(attempt, *copy);
    std::string lines = about(attempt, attempt.p) + other_lines(other.mark) +
                        format("other-access %s %u\n", word(other.op), other.size);
    std::string what = format("a thread %s what %s %s, and nothing orders the two", does(attempt.op),
                              other_name(other.mark), did(other.op));
    // The value that the other access stored, if it is an atomic one, is no flag behind it.
    Mark before = other.mark;
    if (other.op == Op::AtomicWrite) before.counter++;
    const Seen* flag = threads.saw(before);
    if (!flag) report("race", attempt.pc, lines + message(what));
    report("unordered-flag", attempt.pc,
           lines + format("wait %x the flag is read here\n", flag->pc) +
               message(what +
                       ": the flag that was seen in between is stored without a release or read without an acquire"));
}

std::string uninitialised_lines(const Attempt& attempt, const char* byte) {
    return about(attempt, byte) + message("a thread reads what nobody has written by then");
}

void uninitialised(const Attempt& attempt, const char* byte) {
    report("uninitialised", attempt.pc, uninitialised_lines(attempt, byte));
}

void read_only(const Attempt& attempt) {
    report("read-only", attempt.pc,
           about(attempt, attempt.p) + message("a thread writes to memory that the launch may only read"));
}

void misaligned(const Attempt& attempt) {
    report("misaligned", attempt.pc,
           about(attempt, attempt.p) +
               message(format("the address of an access of %llu bytes is not a multiple of %llu",
                              (unsigned long long)attempt.bytes, (unsigned long long)attempt.bytes)));
}

void out_of_bounds(const Attempt& attempt, const std::string& address, const std::string& text) {
    report("out-of-bounds", attempt.pc, about(attempt, address) + message(text));
}

void not_written(unsigned parameter, uint64_t offset) {
    report("not-written", 0,
           format("address PARAM %u %llu\n", parameter, (unsigned long long)offset) +
               message("the launch has ended, and no thread has written this byte of a range that it must write"));
}

void pending_copy(const Attempt& attempt, const Copy& copy) {
    bool target = hits_target(copy, attempt);
    const char* text = target ? "a thread uses the target of an asynchronous copy before the copy was waited for"
                              : "a thread writes the source of an asynchronous copy before the copy was waited for";
    const char* byte = target ? std::max<const char*>(attempt.p, copy.to) : first_of_source(copy, attempt);
    report("pending-copy", attempt.pc,
           about(attempt, byte) + other_lines(copy.issued) +
               format("other-access %s %u\n", target ? "write" : "read", copy.bytes) + message(text));
}

}  // namespace emu::check
#endif
