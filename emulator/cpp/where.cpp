// threadIdx, blockIdx, blockDim and gridDim.

#include "device.h"
#include "emulator.h"

unsigned emu_thread_x() noexcept { return emu::current->index.x; }
unsigned emu_thread_y() noexcept { return emu::current->index.y; }
unsigned emu_thread_z() noexcept { return emu::current->index.z; }
unsigned emu_block_x() noexcept { return emu::current->block->index.x; }
unsigned emu_block_y() noexcept { return emu::current->block->index.y; }
unsigned emu_block_z() noexcept { return emu::current->block->index.z; }
unsigned emu_block_size_x() noexcept { return emu::launch->block.x; }
unsigned emu_block_size_y() noexcept { return emu::launch->block.y; }
unsigned emu_block_size_z() noexcept { return emu::launch->block.z; }
unsigned emu_grid_size_x() noexcept { return emu::launch->grid.x; }
unsigned emu_grid_size_y() noexcept { return emu::launch->grid.y; }
unsigned emu_grid_size_z() noexcept { return emu::launch->grid.z; }
