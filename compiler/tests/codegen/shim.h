// Runs a kernel's text on the CPU: blocks one after the other, the threads of a block as fibers that take turns at
// barriers and shuffles. Enough of CUDA for what the code generator writes, and nothing else.
#include <cmath>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

struct dim3_ { unsigned x, y, z; };
static dim3_ threadIdx, blockIdx, blockDim, gridDim;

template <class To, class From> static To bits_as(From x) { To y; memcpy(&y, &x, sizeof(To)); return y; }
static unsigned __float_as_uint(float x) { return bits_as<unsigned>(x); }
static float __uint_as_float(unsigned x) { return bits_as<float>(x); }
static long long __double_as_longlong(double x) { return bits_as<long long>(x); }
static double __longlong_as_double(long long x) { return bits_as<double>(x); }
static float __double2float_rz(double x) { float y = (float)x; return fabs((double)y) > fabs(x) ? nextafterf(y, 0.0f) : y; }
static float __ll2float_rz(long long x) {
    float y = (float)x;
    return fabsl((long double)y) > fabsl((long double)x) ? nextafterf(y, 0.0f) : y;
}
template <class T> static T saturate(double x, double low, double high, T lowest, T highest) {
    return x <= low ? lowest : x >= high ? highest : (T)x;
}
static int __float2int_rz(float x) { return saturate<int>(x, INT_MIN, INT_MAX, INT_MIN, INT_MAX); }
static int __double2int_rz(double x) { return saturate<int>(x, INT_MIN, INT_MAX, INT_MIN, INT_MAX); }
static unsigned __float2uint_rz(float x) { return saturate<unsigned>(x, 0, UINT_MAX, 0, UINT_MAX); }
static unsigned __double2uint_rz(double x) { return saturate<unsigned>(x, 0, UINT_MAX, 0, UINT_MAX); }
static long long __double2ll_rz(double x) { return saturate<long long>(x, -0x1p63, 0x1p63, LLONG_MIN, LLONG_MAX); }
static long long __float2ll_rz(float x) { return __double2ll_rz(x); }
static int __ffs(unsigned x) { return __builtin_ffs((int)x); }
static int __popc(unsigned x) { return __builtin_popcount(x); }
static int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }

// ---- Fibers ----------------------------------------------------------------------------------------------------

enum State { Ready, AtWarp, AtBlock, Done };
struct Fiber { ucontext_t context; State state; dim3_ thread; unsigned parity; };
static std::vector<Fiber> fibers;
static ucontext_t scheduler;
static unsigned current;
static unsigned long long exchange[2][1024];
static std::function<void()> entry;
static const size_t STACK = 64 << 10;
static char* stacks;

static void wait_at(State state) {
    fibers[current].state = state;
    swapcontext(&fibers[current].context, &scheduler);
}
static void __syncthreads() { wait_at(AtBlock); }
static void __syncwarp(unsigned = 0xffffffffu) { wait_at(AtWarp); }

// Every lane writes its slot, waits for its warp, and reads another's; the two slots take turns.
template <class T> static T shuffle(T x, unsigned source) {
    Fiber& self = fibers[current];
    unsigned parity = self.parity ^= 1;
    memcpy(&exchange[parity][current], &x, sizeof(T));
    wait_at(AtWarp);
    T y;
    memcpy(&y, &exchange[parity][source], sizeof(T));
    return y;
}
template <class T> static T __shfl_xor_sync(unsigned, T x, int offset) { return shuffle(x, current ^ (unsigned)offset); }
template <class T> static T __shfl_up_sync(unsigned, T x, int offset) {
    return shuffle(x, (current & 31) < (unsigned)offset ? current : current - (unsigned)offset);
}
template <class T> static T __shfl_sync(unsigned, T x, int lane) { return shuffle(x, (current & ~31u) + (unsigned)lane); }
static unsigned __ballot_sync(unsigned, int predicate) {
    unsigned self = current, mask = 0;
    fibers[self].parity ^= 1;
    unsigned parity = fibers[self].parity;
    exchange[parity][self] = predicate != 0;
    wait_at(AtWarp);
    for (unsigned lane = 0; lane < 32; ++lane) mask |= (unsigned)exchange[parity][(self & ~31u) + lane] << lane;
    return mask;
}

static int block_or;
static int __syncthreads_or(int predicate) {
    __syncthreads();
    block_or = 0;
    __syncthreads();
    block_or |= predicate;
    __syncthreads();
    return block_or;
}

// ---- What the prelude asks of an emulation ---------------------------------------------------------------------

// Copies happen when they are waited for, at the latest moment that the device may choose.
struct Copy { char* to; const char* from; unsigned bytes, valid; };
static std::vector<std::vector<Copy>> groups[1024];
static std::vector<Copy> issued[1024];

static void emu_async_copy(void* shared, const void* global, unsigned bytes, unsigned valid) {
    issued[current].push_back({(char*)shared, (const char*)global, bytes, valid});
    memset(shared, 0xff, bytes);
}
static void emu_async_commit() {
    groups[current].push_back(issued[current]);
    issued[current].clear();
}
static void emu_async_wait(unsigned pending) {
    while (groups[current].size() > pending) {
        for (const Copy& c : groups[current].front()) {
            memset(c.to, 0, c.bytes);
            if (c.valid > 0) memcpy(c.to, c.from, c.valid);
        }
        groups[current].erase(groups[current].begin());
    }
}

// No generated kernel calls these.
template <class T = void> static T missing(const char* name) {
    fprintf(stderr, "%s is not emulated here\n", name);
    exit(5);
}
static void emu_barrier_sync(unsigned, unsigned) { missing("a barrier of some threads"); }
static void emu_barrier_arrive(unsigned, unsigned) { missing("a barrier of some threads"); }
static void emu_mbarrier_init(unsigned long long*, unsigned) { missing("a barrier in memory"); }
static void emu_mbarrier_arrive(unsigned long long*) { missing("a barrier in memory"); }
static void emu_mbarrier_arrive_expect(unsigned long long*, unsigned) { missing("a barrier in memory"); }
static bool emu_mbarrier_try_wait(unsigned long long*, unsigned) { return missing<bool>("a barrier in memory"); }
static void emu_bulk_copy(void*, const void*, unsigned, unsigned long long*) { missing("a bulk copy"); }
template <class T> static T emu_load_acquire(const T*) { return missing<T>("an acquire"); }
template <class T> static void emu_store_release(T*, T) { missing("a release"); }
template <class T> static T emu_atomic_add(T*, T, int) { return missing<T>("an ordered addition"); }
static void emu_yield() { missing("a turn of a spin loop"); }

static void trampoline() {
    entry();
    fibers[current].state = Done;
    swapcontext(&fibers[current].context, &scheduler);
}

static void run_block(unsigned threads) {
    fibers.resize(threads);
    for (unsigned t = 0; t < threads; ++t) {
        Fiber& f = fibers[t];
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = stacks + t * STACK;
        f.context.uc_stack.ss_size = STACK;
        f.context.uc_link = nullptr;
        f.state = Ready;
        f.parity = 0;
        groups[t].clear();
        issued[t].clear();
        f.thread = {t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y};
        makecontext(&f.context, trampoline, 0);
    }
    for (;;) {
        unsigned left = 0, at_block = 0, moved = 0;
        for (unsigned t = 0; t < threads; ++t) {
            if (fibers[t].state == Ready) {
                current = t;
                threadIdx = fibers[t].thread;
                swapcontext(&scheduler, &fibers[t].context);
                moved = 1;
            }
        }
        for (unsigned t = 0; t < threads; ++t) {
            left += fibers[t].state != Done;
            at_block += fibers[t].state == AtBlock;
        }
        if (left == 0) return;
        for (unsigned w = 0; w < threads; w += 32) {
            unsigned live = 0, waiting = 0, end = w + 32 < threads ? w + 32 : threads;
            for (unsigned t = w; t < end; ++t) {
                live += fibers[t].state != Done;
                waiting += fibers[t].state == AtWarp;
            }
            if (live != 0 && live == waiting) {
                for (unsigned t = w; t < end; ++t) {
                    if (fibers[t].state == AtWarp) fibers[t].state = Ready, moved = 1;
                }
            }
        }
        if (at_block == left) {
            for (Fiber& f : fibers) {
                if (f.state == AtBlock) f.state = Ready;
            }
            moved = 1;
        }
        if (!moved) {
            fprintf(stderr, "threads wait for each other at different barriers\n");
            exit(3);
        }
    }
}

static void launch(dim3_ grid, dim3_ block, bool cooperative, std::function<void()> kernel) {
    gridDim = grid;
    blockDim = block;
    entry = kernel;
    if (!stacks) stacks = (char*)mmap(nullptr, 1024 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned z = 0; z < grid.z; ++z)
        for (unsigned y = 0; y < grid.y; ++y)
            for (unsigned x = 0; x < grid.x; ++x) {
                blockIdx = {x, y, z};
                if (cooperative) {
                    run_block(block.x * block.y * block.z);
                    continue;
                }
                for (unsigned tz = 0; tz < block.z; ++tz)
                    for (unsigned ty = 0; ty < block.y; ++ty)
                        for (unsigned tx = 0; tx < block.x; ++tx) {
                            threadIdx = {tx, ty, tz};
                            kernel();
                        }
            }
}

// Memory whose end is the end of a page that is followed by one that faults.
static char* buffer(size_t bytes) {
    size_t page = 4096, pages = (bytes + page - 1) / page * page;
    char* base = (char*)mmap(nullptr, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(base + pages, page, PROT_NONE);
    char* start = base + ((pages - bytes) & ~(size_t)15);
    memset(start, 0xa5, bytes);
    return start;
}
static void transfer(const char* path, char* data, size_t bytes, bool write) {
    FILE* f = fopen(path, write ? "wb" : "rb");
    if (!f || (write ? fwrite(data, 1, bytes, f) : fread(data, 1, bytes, f)) != bytes) exit(4);
    fclose(f);
}
