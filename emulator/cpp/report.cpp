#include "report.h"

#include <cstdio>
#include <unistd.h>

#include "channel.h"

namespace emu {

namespace {

[[noreturn]] void send(const char* kind, uintptr_t pc, const Fiber* fiber, const char* details, size_t size) {
    static Text head;
    head.add("finding ").add(kind).add("\npc ").add_hex(pc).add("\n");
    if (fiber) head.add("thread ").add(fiber->block->index).add(" ").add(fiber->index).add("\n");
    send_bytes(head.data(), head.size());
    send_bytes(details, size);
    send_bytes("end\n", 4);
    _exit(1);
}

}  // namespace

void report(const char* kind, uintptr_t pc, const std::string& details) {
    fflush(stdout);
    send(kind, pc, current, details.data(), details.size());
}

void report_text(const char* kind, uintptr_t pc, const Fiber* fiber, const Text& details) {
    send(kind, pc, fiber, details.data(), details.size());
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
            if (address >= range.start && address < range.start + range.bytes) {
                text.add("address PARAM ").add(i).add(" ").add(uint64_t(address - range.start)).add("\n");
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
