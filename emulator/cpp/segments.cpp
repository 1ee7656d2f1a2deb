#include "segments.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channel.h"
#include "checker.h"

namespace emu {

namespace {

struct Segment {
    char* start;
    uint64_t bytes, mapped;
    uint64_t offset;  // in the file
};

int file = -1;
std::map<uint64_t, Segment> segments;

[[noreturn]] void fail_system(const std::string& what) { fail(what + ": " + strerror(errno)); }

const Segment& find(uint64_t segment) {
    auto found = segments.find(segment);
    if (found == segments.end()) fail("segment " + std::to_string(segment) + " is not mapped");
    return found->second;
}

}  // namespace

uint64_t page() {
    static const uint64_t bytes = uint64_t(sysconf(_SC_PAGESIZE));
    return bytes;
}

void open_memory(const char* path) {
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) fail_system(std::string("the file of memory ") + path);
}

void map_segment(uint64_t segment, uint64_t offset, uint64_t bytes) {
    if (segments.count(segment)) fail("segment " + std::to_string(segment) + " is mapped already");
    struct stat status;
    if (fstat(file, &status) != 0) fail_system("the file of memory");
    // Memory behind the file's end would fault when it is touched.
    if (bytes == 0 || offset % page() != 0 || offset + bytes > uint64_t(status.st_size)) {
        fail("no part of the file of memory: " + std::to_string(bytes) + " bytes at " + std::to_string(offset));
    }
    uint64_t mapped = (bytes + page() - 1) / page() * page();
    void* around = mmap(nullptr, mapped + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (around == MAP_FAILED) fail_system("address space for a segment");
    char* start = static_cast<char*>(around) + page();
    if (mmap(start, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, off_t(offset)) == MAP_FAILED) {
        fail_system("a segment of the file of memory");
    }
    segments[segment] = {start, bytes, mapped, offset};
    check::segment_mapped(start, bytes);
}

void unmap_segment(uint64_t segment) {
    Segment found = find(segment);
    check::forget_aliases(found.start, found.bytes);
    check::segment_unmapped(found.start, found.bytes);
    munmap(found.start - page(), found.mapped + 2 * page());
    segments.erase(segment);
}

char* segment_bytes(uint64_t segment, uint64_t offset, uint64_t bytes) {
    const Segment& found = find(segment);
    if (offset > found.bytes || bytes > found.bytes - offset) {
        fail("segment " + std::to_string(segment) + " has " + std::to_string(found.bytes) + " bytes, and not " +
             std::to_string(bytes) + " at " + std::to_string(offset));
    }
    return found.start + offset;
}

void map_again(const char* pages, uint64_t bytes, char* at) {
    for (const auto& entry : segments) {
        const Segment& segment = entry.second;
        if (pages < segment.start || pages + bytes > segment.start + segment.mapped) continue;
        off_t offset = off_t(segment.offset + uint64_t(pages - segment.start));
        if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, offset) == MAP_FAILED) {
            fail_system("an address of its own for a parameter");
        }
        return;
    }
    fail("a parameter points to no mapped segment");
}

}  // namespace emu
