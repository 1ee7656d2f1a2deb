#include "report.h"

#include <cstdio>
#include <unistd.h>

#include "channel.h"
#include "checker.h"
#include "signals.h"

namespace emu {

namespace {

void add_head(Text& text, const char* kind, uintptr_t pc, const Fiber* fiber) {
    text.add("finding ").add(kind).add("\npc ").add_hex(pc).add("\n");
    if (fiber) text.add("thread ").add(fiber->block->index).add(" ").add(fiber->index).add("\n");
}

}  // namespace

std::string finding_text(const char* kind, uintptr_t pc, const Fiber* fiber, const std::string& details) {
    Text head;
    add_head(head, kind, pc, fiber);
    return std::string(head.data(), head.size()) + details + "end\n";
}

void send_finding(const char* text, size_t size) {
    send_bytes(text, size);
    _exit(1);
}

void report(const char* kind, uintptr_t pc, const std::string& details) {
    check::finding_comes(kind, current && current->state == State::Ready);
    stop_timer();  // or it might cut in
    fflush(stdout);
    std::string text = finding_text(kind, pc, current, details);
    send_finding(text.data(), text.size());
}

void report_text(const char* kind, uintptr_t pc, const Fiber* fiber, const Text& details) {
    check::finding_comes(kind, false);
    static Text text;
    add_head(text, kind, pc, fiber);
    text.add(details).add("end\n");
    send_finding(text.data(), text.size());
}

void report_message(const char* kind, uintptr_t pc, const char* message) {
    report(kind, pc, std::string("message ") + message + "\n");
}

void report_message(const char* kind, uintptr_t pc, const Text& message) {
    report(kind, pc, "message " + std::string(message.data(), message.size()) + "\n");
}

void add_address(Text& text, const void* p) {
    const char* address = static_cast<const char*>(p);
    if (launch) {
        for (size_t i = 0; i < launch->parameters.size(); ++i) {
            const Range& range = launch->parameters[i];
            if (address >= range.seen && address < range.seen + range.bytes) {
                text.add("address PARAM ").add(i).add(" ").add(uint64_t(address - range.seen)).add("\n");
                return;
            }
        }
        for (const SharedArray& array : launch->shared) {
            if (address >= array.start && address < array.start + array.bytes) {
                text.add("address SHARED ").add(array.name.c_str());
                text.add(" ").add(uint64_t(address - array.start)).add("\n");
                return;
            }
        }
    }
    text.add("address WILD ").add_hex(reinterpret_cast<uintptr_t>(p)).add("\n");
}

std::string address_line(const void* p) {
    Text text;
    add_address(text, p);
    return std::string(text.data(), text.size());
}

}  // namespace emu
