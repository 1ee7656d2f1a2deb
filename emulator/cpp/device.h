// What the runtime does for a program, as functions. None is inline, so that the return address of each is the place in
// the program that called it; and nothing here is in the way of the host's headers, which the runtime includes too.
#pragma once

// The linker puts these side by side: no compiler may align them to more than their size.
struct alignas(32) EmuKernel {
    const char* name;
    void (*call)(void** parameters);
    unsigned parameters;  // how many it takes
};

// ---- Where a thread is ----------------------------------------------------------------------------------------------

// Constant for one thread, and a thread never sees another's: the compiler may call once and keep the value.
extern "C" {
unsigned emu_thread_x() noexcept __attribute__((const));
unsigned emu_thread_y() noexcept __attribute__((const));
unsigned emu_thread_z() noexcept __attribute__((const));
unsigned emu_block_x() noexcept __attribute__((const));
unsigned emu_block_y() noexcept __attribute__((const));
unsigned emu_block_z() noexcept __attribute__((const));
unsigned emu_block_size_x() noexcept __attribute__((const));
unsigned emu_block_size_y() noexcept __attribute__((const));
unsigned emu_block_size_z() noexcept __attribute__((const));
unsigned emu_grid_size_x() noexcept __attribute__((const));
unsigned emu_grid_size_y() noexcept __attribute__((const));
unsigned emu_grid_size_z() noexcept __attribute__((const));
}

// ---- Barriers -------------------------------------------------------------------------------------------------------

// A barrier of all threads of a block is known by its line in the program.
void emu_syncthreads(unsigned line);
int emu_syncthreads_or(int predicate, unsigned line);
int emu_syncthreads_and(int predicate, unsigned line);
int emu_syncthreads_count(int predicate, unsigned line);
void emu_barrier_sync(unsigned id, unsigned threads);
void emu_barrier_arrive(unsigned id, unsigned threads);

// ---- Warps ----------------------------------------------------------------------------------------------------------

#define EMU_EACH_SHUFFLED(F)                                                                                           \
    F(int) F(unsigned) F(long) F(unsigned long) F(long long) F(unsigned long long) F(float) F(double)
#define EMU_SHUFFLES(T)                                                                                                \
    T __shfl_sync(unsigned mask, T x, int lane, int width = 32);                                                       \
    T __shfl_up_sync(unsigned mask, T x, unsigned delta, int width = 32);                                              \
    T __shfl_down_sync(unsigned mask, T x, unsigned delta, int width = 32);                                            \
    T __shfl_xor_sync(unsigned mask, T x, int lanes, int width = 32);                                                  \
    unsigned __match_any_sync(unsigned mask, T x);                                                                     \
    unsigned __match_all_sync(unsigned mask, T x, int* all);
EMU_EACH_SHUFFLED(EMU_SHUFFLES)
#undef EMU_SHUFFLES
void __syncwarp(unsigned mask = 0xffffffffu);
unsigned __ballot_sync(unsigned mask, int predicate);
int __any_sync(unsigned mask, int predicate);
int __all_sync(unsigned mask, int predicate);
unsigned __reduce_add_sync(unsigned mask, unsigned x);
int __reduce_add_sync(unsigned mask, int x);
unsigned __reduce_min_sync(unsigned mask, unsigned x);
int __reduce_min_sync(unsigned mask, int x);
unsigned __reduce_max_sync(unsigned mask, unsigned x);
int __reduce_max_sync(unsigned mask, int x);
unsigned __reduce_and_sync(unsigned mask, unsigned x);
unsigned __reduce_or_sync(unsigned mask, unsigned x);
unsigned __reduce_xor_sync(unsigned mask, unsigned x);
// Only the caller: which others run along is never promised.
unsigned __activemask();
// What all 32 lanes of a warp do in one instruction. The last lane to come runs the operation, an EMU_OPERATION, over
// what each lane gives as `mine`. They meet only if they call it under one name and for one line of the program: the
// compiler may make several calls of one, so that the return address is no measure. It orders no memory.
void emu_together(void (*operation)(void** lanes), void* mine, const char* name, unsigned line);

// ---- Memory between threads -----------------------------------------------------------------------------------------

#define EMU_ATOMICS(T)                                                                                                 \
    T atomicExch(T* p, T x);                                                                                           \
    T atomicAdd(T* p, T x);
EMU_ATOMICS(int) EMU_ATOMICS(unsigned) EMU_ATOMICS(unsigned long long) EMU_ATOMICS(float)
#undef EMU_ATOMICS
double atomicAdd(double* p, double x);
int atomicSub(int* p, int x);
unsigned atomicSub(unsigned* p, unsigned x);
unsigned atomicInc(unsigned* p, unsigned limit);
unsigned atomicDec(unsigned* p, unsigned limit);
#define EMU_ATOMICS(T)                                                                                                 \
    T atomicMin(T* p, T x);                                                                                            \
    T atomicMax(T* p, T x);                                                                                            \
    T atomicAnd(T* p, T x);                                                                                            \
    T atomicOr(T* p, T x);                                                                                             \
    T atomicXor(T* p, T x);
EMU_ATOMICS(int) EMU_ATOMICS(unsigned) EMU_ATOMICS(long long) EMU_ATOMICS(unsigned long long)
#undef EMU_ATOMICS
#define EMU_ATOMICS(T) T atomicCAS(T* p, T expected, T x);
EMU_ATOMICS(int) EMU_ATOMICS(unsigned) EMU_ATOMICS(unsigned long long) EMU_ATOMICS(unsigned short)
#undef EMU_ATOMICS

// Instantiated in the runtime for the arithmetic types.
template <class T> T emu_load_acquire(const T* p);
template <class T> T emu_load_relaxed(const T* p);
template <class T> void emu_store_release(T* p, T x);
template <class T> void emu_store_relaxed(T* p, T x);
// order: 0 relaxed, 1 release, 2 acquire, 3 both.
template <class T> T emu_atomic_add(T* p, T x, int order);

void __threadfence();
void __threadfence_block();
void __threadfence_system();
// One turn of a spin loop.
void emu_yield();
void __nanosleep(unsigned ns);

// ---- Asynchronous copies --------------------------------------------------------------------------------------------

// cp.async: the bytes of the target behind `valid` become 0.
void emu_async_copy(void* shared, const void* global, unsigned bytes, unsigned valid);
void emu_async_commit();
// Until at most the last `groups` committed groups are still under way.
void emu_async_wait(unsigned groups);
void emu_mbarrier_init(unsigned long long* bar, unsigned count);
void emu_mbarrier_arrive(unsigned long long* bar);
void emu_mbarrier_arrive_expect(unsigned long long* bar, unsigned bytes);
// Whether the phase of this parity is over; if not, other threads have run.
bool emu_mbarrier_try_wait(unsigned long long* bar, unsigned parity);
// cp.async.bulk from global to shared memory.
void emu_bulk_copy(void* shared, const void* global, unsigned bytes, unsigned long long* bar);

// ---- Errors and time ------------------------------------------------------------------------------------------------

[[noreturn]] void emu_trap();
[[noreturn]] void emu_assertion_failed(const char* condition);
// Time as the emulator counts it: it passes when it is asked for.
long long emu_clock();

// ---- Bits -----------------------------------------------------------------------------------------------------------

unsigned __brev(unsigned x) noexcept __attribute__((const));
unsigned long long __brevll(unsigned long long x) noexcept __attribute__((const));
unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) noexcept __attribute__((const));

// ---- Conversions ----------------------------------------------------------------------------------------------------

// To integers they saturate. Rounding to nearest even, towards zero, up or down.
#define EMU_CONVERSION(TO, NAME, FROM)                                                                                 \
    TO NAME##_rn(FROM x) noexcept __attribute__((const));                                                              \
    TO NAME##_rz(FROM x) noexcept __attribute__((const));                                                              \
    TO NAME##_ru(FROM x) noexcept __attribute__((const));                                                              \
    TO NAME##_rd(FROM x) noexcept __attribute__((const));
#define EMU_EACH_CONVERSION(F)                                                                                         \
    F(int, __float2int, float)                                                                                         \
    F(unsigned, __float2uint, float)                                                                                   \
    F(long long, __float2ll, float)                                                                                    \
    F(unsigned long long, __float2ull, float)                                                                          \
    F(int, __double2int, double)                                                                                       \
    F(unsigned, __double2uint, double)                                                                                 \
    F(long long, __double2ll, double)                                                                                  \
    F(unsigned long long, __double2ull, double)                                                                        \
    F(float, __double2float, double)                                                                                   \
    F(float, __int2float, int)                                                                                         \
    F(float, __uint2float, unsigned)                                                                                   \
    F(float, __ll2float, long long)                                                                                    \
    F(float, __ull2float, unsigned long long)                                                                          \
    F(double, __ll2double, long long)                                                                                  \
    F(double, __ull2double, unsigned long long)
EMU_EACH_CONVERSION(EMU_CONVERSION)
#undef EMU_CONVERSION
