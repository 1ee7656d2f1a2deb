// The child: obeys the parent's lines, one after the other, until it quits or has a finding.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <unistd.h>

#include "channel.h"
#include "checker.h"
#include "debugger.h"
#include "device.h"
#include "scheduler.h"
#include "segments.h"
#include "shared_memory.h"
#include "signals.h"
#include "words.h"

// Of the section that EMU_KERNEL fills; none if the program has no kernel.
extern "C" const EmuKernel __start_emu_kernels[] __attribute__((weak));
extern "C" const EmuKernel __stop_emu_kernels[] __attribute__((weak));

namespace emu {

namespace {

uint64_t time_limit;  // of a launch, in ms; 0 for none
std::map<std::string, std::vector<SharedArray>> shared_arrays;

auto find_kernel(const std::string& symbol) {
    for (const EmuKernel* kernel = __start_emu_kernels; kernel != __stop_emu_kernels; ++kernel) {
        if (symbol == kernel->name) return kernel->call;
    }
    fail("the program has no kernel " + symbol);
}

Dim read_dim(Words& words) {
    unsigned x = unsigned(words.number()), y = unsigned(words.number()), z = unsigned(words.number());
    if (x == 0 || y == 0 || z == 0) fail("a grid or a block of no threads");
    return {x, y, z};
}

Schedule read_schedule(Words& words) {
    std::string name = words.word();
    if (name == "in-order") return Schedule::InOrder;
    if (name == "reverse") return Schedule::Reverse;
    if (name == "seeded") return Schedule::Seeded;
    fail("no schedule: " + name);
}

void declare_shared(Words& words) {
    std::string symbol = words.word();
    std::vector<SharedArray> arrays;
    for (uint64_t n = words.number(); n > 0; --n) {
        std::string name = words.word();
        char* start = &emu_shared_origin + words.signed_number();
        arrays.push_back({name, start, words.number()});
    }
    shared_arrays[symbol] = arrays;
}

// The kernel's arrays, the dynamic one as long as the launch asks for, and their hull.
void place_shared(Launch& launch, uint64_t dynamic) {
    launch.shared = shared_arrays[launch.symbol];
    launch.shared_start = nullptr;
    launch.shared_bytes = 0;
    char* end = nullptr;
    for (SharedArray& array : launch.shared) {
        if (array.name == "dynamic") array.bytes = dynamic;
        if (!launch.shared_start || array.start < launch.shared_start) launch.shared_start = array.start;
        end = std::max(end, array.start + array.bytes);
    }
    if (launch.shared_start) launch.shared_bytes = uint64_t(end - launch.shared_start);
}

void run(Words& words) {
    Launch launch = {};
    launch.symbol = words.word();
    launch.kernel = find_kernel(launch.symbol);
    launch.grid = read_dim(words);
    launch.block = read_dim(words);
    uint64_t threads = uint64_t(launch.block.x) * launch.block.y * launch.block.z;
    if (threads > MAX_THREADS) fail("a block of " + std::to_string(threads) + " threads");
    launch.threads = unsigned(threads);
    place_shared(launch, words.number());
    launch.schedule = read_schedule(words);
    launch.seed = words.number();
    for (uint64_t n = words.number(); n > 0; --n) {
        uint64_t segment = words.number(), offset = words.number(), bytes = words.number();
        std::string mode = words.word();
        if (mode != "r" && mode != "w" && mode != "rw") fail("no mode of a parameter: " + mode);
        launch.parameters.push_back({segment_bytes(segment, offset, bytes), bytes, mode != "r", mode == "w"});
    }
    check::give_aliases(launch.parameters);
    for (const Range& range : launch.parameters) launch.arguments.push_back(range.seen);
    emu::launch = &launch;
    check::launch_begins();
    start_timer(time_limit);
    run_launch();
    stop_timer();
    check::launch_ends();
    emu::launch = nullptr;
    fflush(stdout);
}

void copy(Words& words) {
    uint64_t to = words.number(), to_offset = words.number(), from = words.number(), from_offset = words.number();
    uint64_t bytes = words.number();
    char* target = segment_bytes(to, to_offset, bytes);
    const char* source = segment_bytes(from, from_offset, bytes);
    memmove(target, source, bytes);
    check::copied(target, source, bytes);
}

// A range of a segment as `S OFFSET BYTES`.
char* read_range(Words& words, uint64_t& bytes) {
    uint64_t segment = words.number(), offset = words.number();
    bytes = words.number();
    return segment_bytes(segment, offset, bytes);
}

void obey(const std::string& line) {
    Words words(line);
    std::string command = words.word();
    if (command == "launch") {
        run(words);
    } else if (command == "copy") {
        copy(words);
    } else if (command == "map") {
        uint64_t segment = words.number(), offset = words.number();
        map_segment(segment, offset, words.number());
    } else if (command == "unmap") {
        unmap_segment(words.number());
    } else if (command == "poison") {
        uint64_t bytes;
        char* start = read_range(words, bytes);
        memset(start, 0xff, bytes);
        check::set_written(start, bytes, false);
    } else if (command == "written") {
        uint64_t bytes;
        char* start = read_range(words, bytes);
        check::set_written(start, bytes, true);
    } else if (command == "shared") {
        declare_shared(words);
    } else if (command == "debugger") {
        wait_for_debugger();
    } else {
        fail("no command: " + command);
    }
    words.end();
    send_bytes("ok\n", 3);
}

// In the words of the system. Nothing may be allocated here.
[[noreturn]] void no_memory() {
    send_bytes("error Cannot allocate memory\n", 29);
    _exit(2);
}

}  // namespace

}  // namespace emu

int main(int count, char** arguments) {
    using namespace emu;
    if (count != 3) fail("arguments: the file of memory, and the time limit of a launch in ms, or 0");
    // What a kernel printed before it failed is there although nothing is flushed.
    setvbuf(stdout, nullptr, _IOLBF, 1 << 12);
    std::set_new_handler(no_memory);
    open_memory(arguments[1]);
    time_limit = strtoull(arguments[2], nullptr, 10);
    install_signal_handlers();
    std::string line;
    while (read_line(line) && line != "quit") obey(line);
    if (line == "quit") send_bytes("ok\n", 3);
    return 0;
}
