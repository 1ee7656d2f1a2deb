// The plan's memory: parts of the parent's file, mapped.
#pragma once

#include <cstdint>
#include <string>

namespace emu {

void open_memory(const char* path);
void map_segment(uint64_t segment, uint64_t offset, uint64_t bytes);
void unmap_segment(uint64_t segment);
// The place of bytes that must lie in the segment.
char* segment_bytes(uint64_t segment, uint64_t offset, uint64_t bytes);
// Bytes of a page.
uint64_t page();
// Maps the same pages of a segment once more, in place of what is mapped at `at`.
void map_again(const char* pages, uint64_t bytes, char* at);

}  // namespace emu
