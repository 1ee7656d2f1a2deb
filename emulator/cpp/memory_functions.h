// Functions of C that touch memory, as a program has them.
#pragma once

extern "C" {
void* memcpy(void* to, const void* from, size_t bytes) noexcept;
void* memmove(void* to, const void* from, size_t bytes) noexcept;
void* memset(void* to, int value, size_t bytes) noexcept;
}

#ifdef EMU_CHECKED
extern "C" {
void* emu_memcpy(void* to, const void* from, size_t bytes);
void* emu_memmove(void* to, const void* from, size_t bytes);
void* emu_memset(void* to, int value, size_t bytes);
}

// The compiler makes an access of a variable out of a copy of such a size, and puts a check in front. Copies of other
// sizes it would write out after it has put in the checks.
EMU_FN void* emu_copy(void* to, const void* from, size_t bytes) {
    bool variable = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
    return __builtin_constant_p(bytes) && variable ? __builtin_memcpy(to, from, bytes) : emu_memcpy(to, from, bytes);
}
#define __builtin_memcpy(...) emu_copy(__VA_ARGS__)
#define __builtin_memmove(...) emu_memmove(__VA_ARGS__)
#define __builtin_memset(...) emu_memset(__VA_ARGS__)
#endif
