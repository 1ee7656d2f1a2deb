// CUDA C++ as a kernel sees it, for an ordinary C++ compiler. A program includes nothing else, and no header of the
// system is included here: a program compiles in a fraction of a second, and no name of the host leaks into it.
#pragma once

#include "device.h"

// ---- Declarations ---------------------------------------------------------------------------------------------------

#define __device__
#define __host__
#define __constant__
// Not inline in its thunk, which the compiler does not instrument, and not left out where the compiler sees no effect:
// a kernel may be there for its faults.
#if defined(__clang__)
#define __global__ __attribute__((noinline))
#else
#define __global__ __attribute__((noipa))
#endif
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// Static arrays of functions and arrays declared `extern` have one address each; which block's bytes lie there changes.
// `used`: the runtime writes there too, and an array that a kernel never writes is not one of zeros.
#define __shared__ thread_local __attribute__((used))

// A function that is an operation of emu_together: what it touches belongs to other lanes and is not checked.
#define EMU_OPERATION static __attribute__((no_sanitize("thread")))

typedef decltype(sizeof(0)) size_t;

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

// ---- Kernels by name ------------------------------------------------------------------------------------------------

template <auto kernel> struct EmuThunk;
template <class... P, void (*kernel)(P...)> struct EmuThunk<kernel> {
    template <int... I> struct Indices {};
    // The list of parameters is the runtime's memory, which no kernel may read.
    template <int... I> __attribute__((no_sanitize("thread"))) static void unpack(void** parameters, Indices<I...>) {
        kernel((P)parameters[I]...);
    }
    static constexpr unsigned count = sizeof...(P);
    __attribute__((no_sanitize("thread"))) static void call(void** parameters) {
        unpack(parameters, Indices<__integer_pack(sizeof...(P))...>());
    }
};

// Makes a kernel, all of whose parameters are pointers, known by its name. A section of all kernels needs no code that
// runs before `main`.
#define EMU_KERNEL(symbol)                                                                                             \
    __attribute__((section("emu_kernels"), used)) static const EmuKernel emu_kernel_##symbol = {                       \
        #symbol, EmuThunk<symbol>::call, EmuThunk<symbol>::count};

// Defines the array that the program declares `extern __shared__ T name[]`, with the most bytes a block can have.
#if defined(__aarch64__)
#define EMU_NOBITS "%nobits"
#define EMU_TLS_OBJECT "%tls_object"
#else
#define EMU_NOBITS "@nobits"
#define EMU_TLS_OBJECT "@tls_object"
#endif
#define EMU_DYNAMIC_SHARED(name)                                                                                       \
    asm(".pushsection .tbss,\"awT\"," EMU_NOBITS "\n.balign 1024\n.globl " #name "\n.type " #name "," EMU_TLS_OBJECT   \
        "\n" #name ": .skip 233472\n.size " #name ", 233472\n.popsection");

// ---- Where a thread is ----------------------------------------------------------------------------------------------

// Calls for members that are not used disappear.
#define threadIdx (uint3{emu_thread_x(), emu_thread_y(), emu_thread_z()})
#define blockIdx (uint3{emu_block_x(), emu_block_y(), emu_block_z()})
#define blockDim (dim3(emu_block_size_x(), emu_block_size_y(), emu_block_size_z()))
#define gridDim (dim3(emu_grid_size_x(), emu_grid_size_y(), emu_grid_size_z()))
#define warpSize 32

// ---- Barriers -------------------------------------------------------------------------------------------------------

// The line names the barrier: all threads of a block must reach the same.
#define __syncthreads() emu_syncthreads(__LINE__)
#define __syncthreads_or(predicate) emu_syncthreads_or(predicate, __LINE__)
#define __syncthreads_and(predicate) emu_syncthreads_and(predicate, __LINE__)
#define __syncthreads_count(predicate) emu_syncthreads_count(predicate, __LINE__)

#define __ldg(p) (*(p))

// ---- Output and errors ----------------------------------------------------------------------------------------------

extern "C" int printf(const char* format, ...);
#define __trap() emu_trap()
#define assert(condition) ((condition) ? (void)0 : emu_assertion_failed(#condition))
#define clock64() emu_clock()
#define clock() ((int)emu_clock())

// ---- Bits -----------------------------------------------------------------------------------------------------------

#define EMU_FN static inline __attribute__((always_inline))
#define EMU_BIT_CAST(NAME, TO, FROM)                                                                                   \
    EMU_FN TO NAME(FROM x) {                                                                                           \
        TO y;                                                                                                          \
        __builtin_memcpy(&y, &x, sizeof(TO));                                                                          \
        return y;                                                                                                      \
    }
EMU_BIT_CAST(__float_as_uint, unsigned, float)
EMU_BIT_CAST(__float_as_int, int, float)
EMU_BIT_CAST(__uint_as_float, float, unsigned)
EMU_BIT_CAST(__int_as_float, float, int)
EMU_BIT_CAST(__double_as_longlong, long long, double)
EMU_BIT_CAST(__longlong_as_double, double, long long)
#undef EMU_BIT_CAST

EMU_FN int __popc(unsigned x) { return __builtin_popcount(x); }
EMU_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
EMU_FN int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
EMU_FN int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
EMU_FN int __ffs(int x) { return __builtin_ffs(x); }
EMU_FN int __ffsll(long long x) { return __builtin_ffsll(x); }
EMU_FN int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
EMU_FN unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
EMU_FN long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
EMU_FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
EMU_FN unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)((((unsigned long long)high << 32 | low) << (shift & 31)) >> 32);
}
EMU_FN unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}

// ---- Mathematics ----------------------------------------------------------------------------------------------------

// Those of libm, under names of C++: what the compiler knows by a name of C it would compute, and round otherwise.
#define EMU_UNARY(NAME)                                                                                                \
    double NAME(double x) noexcept asm(#NAME) __attribute__((const));                                                  \
    float NAME(float x) noexcept asm(#NAME "f") __attribute__((const));                                                \
    float NAME##f(float x) noexcept asm(#NAME "f") __attribute__((const));
#define EMU_BINARY(NAME)                                                                                               \
    double NAME(double x, double y) noexcept asm(#NAME) __attribute__((const));                                        \
    float NAME(float x, float y) noexcept asm(#NAME "f") __attribute__((const));                                       \
    float NAME##f(float x, float y) noexcept asm(#NAME "f") __attribute__((const));
EMU_UNARY(exp) EMU_UNARY(exp2) EMU_UNARY(exp10) EMU_UNARY(expm1) EMU_UNARY(log) EMU_UNARY(log2) EMU_UNARY(log10)
EMU_UNARY(log1p) EMU_UNARY(cbrt) EMU_UNARY(sin) EMU_UNARY(cos) EMU_UNARY(tan) EMU_UNARY(asin) EMU_UNARY(acos)
EMU_UNARY(atan) EMU_UNARY(sinh) EMU_UNARY(cosh) EMU_UNARY(tanh) EMU_UNARY(asinh) EMU_UNARY(acosh) EMU_UNARY(atanh)
EMU_UNARY(erf) EMU_UNARY(erfc) EMU_UNARY(tgamma) EMU_UNARY(lgamma)
EMU_BINARY(pow) EMU_BINARY(atan2) EMU_BINARY(hypot)
#undef EMU_UNARY
#undef EMU_BINARY

// Exact ones, or rounded once: the compiler may do as it likes.
#define EMU_UNARY(NAME)                                                                                                \
    extern "C" double NAME(double x) noexcept;                                                                         \
    extern "C" float NAME##f(float x) noexcept;                                                                        \
    EMU_FN float NAME(float x) { return NAME##f(x); }
#define EMU_BINARY(NAME)                                                                                               \
    extern "C" double NAME(double x, double y) noexcept;                                                               \
    extern "C" float NAME##f(float x, float y) noexcept;                                                               \
    EMU_FN float NAME(float x, float y) { return NAME##f(x, y); }
EMU_UNARY(fabs) EMU_UNARY(sqrt) EMU_UNARY(floor) EMU_UNARY(ceil) EMU_UNARY(rint) EMU_UNARY(nearbyint) EMU_UNARY(round)
EMU_UNARY(trunc) EMU_UNARY(logb)
EMU_BINARY(fmod) EMU_BINARY(remainder) EMU_BINARY(copysign) EMU_BINARY(fmin) EMU_BINARY(fmax) EMU_BINARY(fdim)
EMU_BINARY(nextafter)
#undef EMU_UNARY
#undef EMU_BINARY
extern "C" double fma(double x, double y, double z) noexcept;
extern "C" float fmaf(float x, float y, float z) noexcept;
EMU_FN float fma(float x, float y, float z) { return fmaf(x, y, z); }
extern "C" double ldexp(double x, int exponent) noexcept;
extern "C" float ldexpf(float x, int exponent) noexcept;
EMU_FN double rsqrt(double x) { return 1.0 / sqrt(x); }
EMU_FN float rsqrtf(float x) { return 1.0f / sqrtf(x); }
EMU_FN bool isnan(double x) { return __builtin_isnan(x); }
EMU_FN bool isinf(double x) { return __builtin_isinf_sign(x) != 0; }
EMU_FN bool isfinite(double x) { return __builtin_isfinite(x); }
EMU_FN bool signbit(double x) { return __builtin_signbit(x) != 0; }
EMU_FN int abs(int x) { return x < 0 ? (int)(0u - (unsigned)x) : x; }
EMU_FN long long abs(long long x) { return x < 0 ? (long long)(0ull - (unsigned long long)x) : x; }
EMU_FN float abs(float x) { return fabsf(x); }
EMU_FN double abs(double x) { return fabs(x); }

// Rounded as their names say, and never contracted. The approximations of a device are not imitated.
EMU_FN float __fadd_rn(float a, float b) { return a + b; }
EMU_FN float __fsub_rn(float a, float b) { return a - b; }
EMU_FN float __fmul_rn(float a, float b) { return a * b; }
EMU_FN float __fdiv_rn(float a, float b) { return a / b; }
EMU_FN float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
EMU_FN float __frcp_rn(float x) { return 1.0f / x; }
EMU_FN float __fsqrt_rn(float x) { return sqrtf(x); }
EMU_FN double __dadd_rn(double a, double b) { return a + b; }
EMU_FN double __dmul_rn(double a, double b) { return a * b; }
EMU_FN double __ddiv_rn(double a, double b) { return a / b; }
EMU_FN double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
EMU_FN float __fdividef(float a, float b) { return a / b; }
EMU_FN float __expf(float x) { return expf(x); }
EMU_FN float __logf(float x) { return logf(x); }
EMU_FN float __sinf(float x) { return sinf(x); }
EMU_FN float __cosf(float x) { return cosf(x); }
EMU_FN float __powf(float x, float y) { return powf(x, y); }
EMU_FN float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

#define EMU_MIN_MAX(R, A, B)                                                                                           \
    EMU_FN R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; }                                                       \
    EMU_FN R max(A a, B b) { return (R)a > (R)b ? (R)a : (R)b; }
EMU_MIN_MAX(int, int, int)
EMU_MIN_MAX(unsigned, unsigned, unsigned)
EMU_MIN_MAX(unsigned, int, unsigned)
EMU_MIN_MAX(unsigned, unsigned, int)
EMU_MIN_MAX(long, long, long)
EMU_MIN_MAX(unsigned long, unsigned long, unsigned long)
EMU_MIN_MAX(long long, long long, long long)
EMU_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
EMU_MIN_MAX(unsigned long long, long long, unsigned long long)
EMU_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef EMU_MIN_MAX
EMU_FN float min(float a, float b) { return fminf(a, b); }
EMU_FN float max(float a, float b) { return fmaxf(a, b); }
EMU_FN double min(double a, double b) { return fmin(a, b); }
EMU_FN double max(double a, double b) { return fmax(a, b); }
