// Intrinsics that take more than an instruction of the host.

#include <cfenv>
#include <cmath>
#include <limits>

#include "device.h"
#include "report.h"

namespace emu {

namespace {

template <class T> T rounded(T x, int mode) {
    switch (mode) {
        case FE_TOWARDZERO: return std::trunc(x);
        case FE_UPWARD: return std::ceil(x);
        case FE_DOWNWARD: return std::floor(x);
        default: return std::nearbyint(x);
    }
}

// As a device: NaN becomes 0 (of 64 bits, the greatest power of two), and what is out of range the nearest limit.
template <class To, class From> To to_integer(From x, int mode) {
    using Limits = std::numeric_limits<To>;
    if (x != x) return sizeof(To) == 8 ? To(1ull << 63) : To(0);
    From y = rounded(x, mode);
    // One above the greatest number is a power of two, which every type of float has.
    const From end = From(std::ldexp(1.0, Limits::digits));
    if (y >= end) return Limits::max();
    if (y < From(Limits::min())) return Limits::min();
    return To(y);
}

// The neighbour of the nearest number where that lies on the wrong side. Values of both types are exact in `Wide`.
template <class To, class Wide> To directed(To nearest, Wide exact, int mode) {
    const To infinity = std::numeric_limits<To>::infinity();
    Wide value = Wide(nearest);
    bool down = mode == FE_DOWNWARD || (mode == FE_TOWARDZERO && exact > 0);
    bool up = mode == FE_UPWARD || (mode == FE_TOWARDZERO && exact < 0);
    if (down && value > exact) return std::nextafter(nearest, -infinity);
    if (up && value < exact) return std::nextafter(nearest, infinity);
    return nearest;
}

template <class From> float to_float(From x, int mode) { return directed(float(x), __int128(x), mode); }
float to_float(double x, int mode) { return directed(float(x), x, mode); }
template <class From> double to_double(From x, int mode) { return directed(double(x), __int128(x), mode); }

}  // namespace

}  // namespace emu

#define CONVERSION(TO, NAME, FROM, FUNCTION)                                                                           \
    TO NAME##_rn(FROM x) noexcept { return emu::FUNCTION(x, FE_TONEAREST); }                                           \
    TO NAME##_rz(FROM x) noexcept { return emu::FUNCTION(x, FE_TOWARDZERO); }                                          \
    TO NAME##_ru(FROM x) noexcept { return emu::FUNCTION(x, FE_UPWARD); }                                              \
    TO NAME##_rd(FROM x) noexcept { return emu::FUNCTION(x, FE_DOWNWARD); }
CONVERSION(int, __float2int, float, to_integer<int>)
CONVERSION(unsigned, __float2uint, float, to_integer<unsigned>)
CONVERSION(long long, __float2ll, float, to_integer<long long>)
CONVERSION(unsigned long long, __float2ull, float, to_integer<unsigned long long>)
CONVERSION(int, __double2int, double, to_integer<int>)
CONVERSION(unsigned, __double2uint, double, to_integer<unsigned>)
CONVERSION(long long, __double2ll, double, to_integer<long long>)
CONVERSION(unsigned long long, __double2ull, double, to_integer<unsigned long long>)
CONVERSION(float, __double2float, double, to_float)
CONVERSION(float, __int2float, int, to_float)
CONVERSION(float, __uint2float, unsigned, to_float)
CONVERSION(float, __ll2float, long long, to_float)
CONVERSION(float, __ull2float, unsigned long long, to_float)
CONVERSION(double, __ll2double, long long, to_double)
CONVERSION(double, __ull2double, unsigned long long, to_double)

unsigned __brev(unsigned x) noexcept {
    unsigned y = 0;
    for (int i = 0; i < 32; ++i) y |= (x >> i & 1) << (31 - i);
    return y;
}

unsigned long long __brevll(unsigned long long x) noexcept {
    return (unsigned long long)__brev(unsigned(x)) << 32 | __brev(unsigned(x >> 32));
}

unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) noexcept {
    unsigned long long bytes = (unsigned long long)high << 32 | low;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        unsigned choice = selector >> (4 * i) & 15, byte = unsigned(bytes >> (8 * (choice & 7)) & 255);
        // The highest bit of the choice asks for the sign of the byte.
        if (choice & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << (8 * i);
    }
    return result;
}

void emu_trap() { emu::report_message("trap", EMU_CALLER, "__trap was called"); }

void emu_assertion_failed(const char* condition) {
    emu::report_message("trap", EMU_CALLER, (std::string("the assertion failed: ") + condition).c_str());
}

long long emu_clock() { return emu::launch->clock += 16; }
