// Kernels with one defect each. The line that a finding names is marked by the comment `found`.

static __device__ __forceinline__ float load(const float* from, int i) {
    return from[i];  // inside
}

extern "C" __global__ void race_in_shared_memory(const float* x, float* y) {
    __shared__ float tile[32];
    tile[threadIdx.x] = x[threadIdx.x];  // earlier
    y[threadIdx.x] = tile[threadIdx.x > 0 ? threadIdx.x - 1 : 0];  // found
}

extern "C" __global__ void race_of_writes(float* y) {
    y[blockIdx.x / 2] = 1.0f;  // found
}

extern "C" __global__ void unordered_flag(float* data, unsigned* flag, float* y) {
    if (blockIdx.x == 0) {
        data[0] = 1.0f;  // earlier
        *(volatile unsigned*)flag = 1;
    } else {
        while (*(volatile unsigned*)flag == 0) __nanosleep(100);
        y[0] = data[0];  // found
    }
}

extern "C" __global__ void out_of_bounds(const float* x, float* y) {
    y[threadIdx.x] = x[threadIdx.x + 1];  // found
}

extern "C" __global__ void out_of_bounds_in_a_function(const float* x, float* y) {
    y[threadIdx.x] = load(x, threadIdx.x + 1);  // found
}

extern "C" __global__ void in_front_of_the_start(const float* x, float* y) {
    y[threadIdx.x] = x[(int)threadIdx.x - 2];  // found
}

extern "C" __global__ void wild(const float* x, float* y) {
    y[threadIdx.x] = *(const float*)(unsigned long long)(threadIdx.x + 64);  // found
}

extern "C" __global__ void uninitialised(float* scratch, float* y) {
    y[threadIdx.x] = scratch[threadIdx.x];  // found
    scratch[threadIdx.x] = 0.0f;
}

extern "C" __global__ void uninitialised_shared(float* y) {
    __shared__ float tile[32];
    if (threadIdx.x != 3) tile[threadIdx.x] = 1.0f;
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x];  // found
}

extern "C" __global__ void read_only(const float* x, float* y) {
    y[threadIdx.x] = x[threadIdx.x];
    const_cast<float*>(x)[threadIdx.x] = 0.0f;  // found
}

extern "C" __global__ void misaligned(const float* x, unsigned long long* y) {
    y[0] = *(const unsigned long long*)(x + 1);  // found
}

extern "C" __global__ void not_written(float* y) {
    if (threadIdx.x != 5) y[threadIdx.x] = 1.0f;
}

extern "C" __global__ void divergent_barrier(float* y) {
    if (threadIdx.x < 16) __syncthreads();  // found
    y[threadIdx.x] = 1.0f;
}

extern "C" __global__ void invalid_mask(const float* x, float* y) {
    y[threadIdx.x] = __shfl_sync(0x0000ffffu, x[threadIdx.x], 0);  // found
}

extern "C" __global__ void hang(unsigned* flag, unsigned* y) {
    while (*(volatile unsigned*)flag == 0) __nanosleep(100);  // found
    flag[0] = y[0] = 1;
}

extern "C" __global__ void endless(unsigned* y) {
    for (;;) __asm__ volatile("" ::: "memory");  // found
    y[0] = 1;
}

extern "C" __global__ void far_outside(float* y) {
    y[threadIdx.x + 4] = 1.0f;  // found
}

extern "C" __global__ void trap(float* y) {
    if (threadIdx.x == 2) __trap();  // found
    y[threadIdx.x] = 1.0f;
}

extern "C" __global__ void pending_copy(const float* x, float* y) {
    __shared__ __align__(16) float tile[4];
    emu_async_copy(tile, x, 16, 16);
    emu_async_commit();
    y[0] = tile[0];  // found
    emu_async_wait(0);
}

extern "C" __global__ void misuse(float* y) {
    __shared__ unsigned long long barrier;
    emu_mbarrier_arrive(&barrier);  // found
    y[0] = 1.0f;
}

static __device__ __noinline__ float deeper(float x, int depth) {
    volatile float here[64];
    here[depth % 64] = x;
    return depth < 0 ? x : deeper(here[depth % 64], depth + 1) + here[0];
}

extern "C" __global__ void overflow(float* y) {
    y[0] = deeper(1.0f, 0);
}

// Even and odd threads wait at barriers that count more threads than come.
extern "C" __global__ void many_wait(int* y) {
    if (threadIdx.x % 2 == 0) {
        emu_barrier_sync(1, 128);  // found
    } else {
        emu_barrier_sync(2, 128);  // others
    }
    y[threadIdx.x] = 1;
}
