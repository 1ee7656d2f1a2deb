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

}  // namespace emu
