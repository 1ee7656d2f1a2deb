// Kernels that are right: every schedule gives the same results, and no check finds anything.

extern "C" __global__ void scale_add(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ z) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 1000) z[i] = 2.0f * x[i] + y[i];
}

extern "C" __global__ void double_in_place(float* x) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 100) x[i] = x[i] + x[i];
}

extern "C" __global__ void __launch_bounds__(256) block_sum(const float* x, float* sum) {
    __shared__ float partial[256];
    float mine = 0.0f;
    for (int i = threadIdx.x; i < 1000; i += 256) mine += x[i];
    partial[threadIdx.x] = mine;
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (threadIdx.x < width) partial[threadIdx.x] += partial[threadIdx.x + width];
        __syncthreads();
    }
    if (threadIdx.x == 0) sum[0] = partial[0];
}

// A warp for each of 6 rows of 40.
extern "C" __global__ void softmax(const float* x, float* y) {
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= 6) return;
    float largest = -__int_as_float(0x7f800000);
    for (int i = lane; i < 40; i += 32) largest = fmaxf(largest, x[row * 40 + i]);
    for (int step = 16; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, step));
    float sum = 0.0f;
    for (int i = lane; i < 40; i += 32) sum += expf(x[row * 40 + i] - largest);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    for (int i = lane; i < 40; i += 32) y[row * 40 + i] = expf(x[row * 40 + i] - largest) / sum;
}

// c[33, 17] = a[33, 20] * b[20, 17] in tiles of 16 x 16.
extern "C" __global__ void matmul(const float* a, const float* b, float* c) {
    __shared__ float left[16][17];
    __shared__ float right[16][17];
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < 20; start += 16) {
        const int k = start + threadIdx.x, l = start + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < 33 && k < 20 ? a[row * 20 + k] : 0.0f;
        right[threadIdx.y][threadIdx.x] = l < 20 && column < 17 ? b[l * 17 + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row < 33 && column < 17) c[row * 17 + column] = sum;
}

// Inclusive sums of 8 tiles of 64, each of which waits for the one before. A block takes its tile when it starts, so
// that the tiles that it waits for have started too.
extern "C" __global__ void scan(const unsigned* x, unsigned* y, unsigned* sums, unsigned* ready, unsigned* next) {
    __shared__ unsigned tile, before, values[64];
    if (threadIdx.x == 0) tile = atomicAdd(next, 1u);
    __syncthreads();
    const unsigned t = threadIdx.x, i = tile * 64 + t;
    values[t] = x[i];
    __syncthreads();
    for (int distance = 1; distance < 64; distance *= 2) {
        const unsigned left = t >= distance ? values[t - distance] : 0;
        __syncthreads();
        values[t] += left;
        __syncthreads();
    }
    if (t == 0) {
        unsigned sum = 0;
        if (tile > 0) {
            volatile unsigned* flag = ready + tile - 1;
            while (*flag == 0) __nanosleep(100);
            __threadfence();
            sum = sums[tile - 1];
        }
        sums[tile] = sum + values[63];
        __threadfence();
        *(volatile unsigned*)(ready + tile) = 1;
        before = sum;
    }
    __syncthreads();
    y[i] = before + values[t];
}

extern "C" __global__ void reverse(const int* x, int* y) {
    extern __shared__ int all[];
    all[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = all[blockDim.x - 1 - threadIdx.x];
}
