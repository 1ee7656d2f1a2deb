// Threads of a block that work together in shared memory, with and without what orders them.

typedef struct __align__(16) { float x, y, z, w; } Float4;

extern "C" __global__ void reduction(float* y, const float* a) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = t; i < 1000; i += 256) sum += a[i];
    s[t] = sum;
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (t < width) s[t] += s[t + width];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = s[0];
}

extern "C" __global__ void reduction_first_barrier(float* y, const float* a) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = a[t];  // found
    for (int width = 128; width > 0; width /= 2) {
        if (t < width) s[t] += s[t + width];  // found
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = s[0];
}

extern "C" __global__ void reduction_inner_barrier(float* y, const float* a) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (t < width) s[t] += s[t + width];  // found
    }
    if (t == 0) y[blockIdx.x] = s[0];
}

extern "C" __global__ void shuffle_reduction(float* y, const float* a) {
    __shared__ float s[8];
    const int t = threadIdx.x;
    float x = 0.0f;
    for (int i = t; i < 1000; i += 256) x += a[i];
    for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
    if (t % 32 == 0) s[t / 32] = x;
    __syncthreads();
    if (t < 32) {
        x = t < 8 ? s[t] : 0.0f;
        for (int d = 4; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
        if (t == 0) y[blockIdx.x] = x;
    }
}

extern "C" __global__ void softmax(float* y, const float* a) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    const float v = t < 250 ? a[blockIdx.x * 250 + t] : -1e30f;
    s[t] = v;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) s[t] = fmaxf(s[t], s[t + d]);
        __syncthreads();
    }
    const float largest = s[0];
    __syncthreads();
    const float e = t < 250 ? expf(v - largest) : 0.0f;
    s[t] = e;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t < 250) y[blockIdx.x * 250 + t] = e / s[0];
}

extern "C" __global__ void softmax_reuse(float* y, const float* a) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    const float v = t < 250 ? a[blockIdx.x * 250 + t] : -1e30f;
    s[t] = v;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d) s[t] = fmaxf(s[t], s[t + d]);
        __syncthreads();
    }
    const float largest = s[0];  // found
    s[t] = t < 250 ? expf(v - largest) : 0.0f;  // found
    if (t < 250) y[blockIdx.x * 250 + t] = s[t];
}

// Tiles of 8 x 8 of matrices of 32 columns.
extern "C" __global__ void matmul(float* y, const float* a) {
    __shared__ float left[8][8], right[8][8];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, column = blockIdx.x * 8 + tx;
    float sum = 0.0f;
    for (int k = 0; k < 32; k += 8) {
        left[ty][tx] = a[row % 31 * 32 + k + tx];
        right[ty][tx] = a[(k + ty) % 31 * 32 + column];
        __syncthreads();
        for (int j = 0; j < 8; ++j) sum += left[ty][j] * right[j][tx];
        __syncthreads();
    }
    y[row * 32 + column] = sum;
}

extern "C" __global__ void matmul_before_use(float* y, const float* a) {
    __shared__ float left[8][8], right[8][8];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, column = blockIdx.x * 8 + tx;
    float sum = 0.0f;
    for (int k = 0; k < 32; k += 8) {
        left[ty][tx] = a[row % 31 * 32 + k + tx];         // found
        right[ty][tx] = a[(k + ty) % 31 * 32 + column];  // found
        for (int j = 0; j < 8; ++j) sum += left[ty][j] * right[j][tx];  // found
        __syncthreads();
    }
    y[row * 32 + column] = sum;
}

extern "C" __global__ void matmul_after_use(float* y, const float* a) {
    __shared__ float left[8][8], right[8][8];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, column = blockIdx.x * 8 + tx;
    float sum = 0.0f;
    for (int k = 0; k < 32; k += 8) {
        left[ty][tx] = a[row % 31 * 32 + k + tx];         // found
        right[ty][tx] = a[(k + ty) % 31 * 32 + column];  // found
        __syncthreads();
        for (int j = 0; j < 8; ++j) sum += left[ty][j] * right[j][tx];  // found
    }
    y[row * 32 + column] = sum;
}

extern "C" __global__ void double_buffer(float* y, const float* a) {
    __shared__ float s[2][256];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float x = 0.0f;
    for (int k = 0; k < 4; ++k) {
        s[k & 1][t] = k + t;
        __syncthreads();
        x += s[k & 1][255 - t];
    }
    if (i < 1000) y[i] = x;
}

extern "C" __global__ void single_buffer(float* y, const float* a) {
    __shared__ float s[256];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float x = 0.0f;
    for (int k = 0; k < 4; ++k) {
        s[t] = k + t;  // found
        __syncthreads();
        x += s[255 - t];  // found
    }
    if (i < 1000) y[i] = x;
}

extern "C" __global__ void vector_tile(float* y, const float* a) {
    __shared__ Float4 s[64];
    const int t = threadIdx.x;
    s[t] = ((const Float4*)a)[t];
    __syncthreads();
    for (int j = 0; j < 4; ++j) y[j * 64 + t] = ((float*)s)[j * 64 + 63 - t];
}

// A tile that is written by vectors and read by halves, again and again.
extern "C" __global__ void halves_of_vectors(float* y, const float* a) {
    __shared__ Float4 s[32];
    const int t = threadIdx.x;
    unsigned sum = 0;
    for (int round = 0; round < 20; ++round) {
        s[t] = ((const Float4*)a)[t];
        __syncthreads();
        for (int j = 0; j < 8; ++j) sum += ((unsigned short*)s)[(t * 8 + j * 33) % 256];
        __syncthreads();
    }
    y[blockIdx.x * 32 + t] = sum;
}

extern "C" __global__ void dynamic(float* y, const float* a) {
    extern __shared__ float all[];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t;
    all[t] = 1.0f;
    __syncthreads();
    if (i < 1000) y[i] = all[255 - t];
}

extern "C" __global__ void dynamic_too_small(float* y, const float* a) {
    extern __shared__ float all[];
    all[threadIdx.x + 1] = 1.0f;  // found
    y[blockIdx.x * 256 + threadIdx.x] = 1.0f;
}

extern "C" __global__ void beyond_an_array(float* y, const float* a) {
    __shared__ float s[256], u[256];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = 1.0f;
    u[t] = 1.0f;
    __syncthreads();
    if (i < 1000) y[i] = u[t] + s[t + 1];  // found
}

extern "C" __global__ void shared_counters(float* y, const float* a) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    if (t < 32) s[t] = 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) atomicAdd(s + (t + i) % 32, 1);
    __syncthreads();
    if (t < 32) y[blockIdx.x * 32 + t] = s[t];
}

// ---- What nobody has written, and what is read too early ----

extern "C" __global__ void unwritten(float* y, const float* a) {
    __shared__ float s[256];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t;
    if (t < 255) s[t] = 1.0f;
    __syncthreads();
    if (i < 1000) y[i] = s[t];  // found
}

extern "C" __global__ void unwritten_index(float* y, const float* a) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    if (t < 63) s[t] = t;
    __syncthreads();
    y[blockIdx.x * 64 + t] = a[s[t]];  // found
}

extern "C" __global__ void early_index(float* y, const float* a) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = t;  // found
    y[blockIdx.x * 64 + t] = a[s[63 - t]];  // found
}

extern "C" __global__ void early_bound(float* y, const float* a) {
    __shared__ unsigned n;
    const int t = threadIdx.x;
    if (t == 31) n = 3;  // found
    float sum = 0.0f;
    for (unsigned i = 0; i < n; ++i) sum += a[i];  // found
    y[blockIdx.x * 64 + t] = sum;
}

extern "C" __global__ void trap_on_unwritten(float* y, const float* a) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    if (t < 63) s[t] = t;
    __syncthreads();
    if (s[t] != t) __trap();  // found
    __syncthreads();
    y[blockIdx.x * 64 + t] = 1.0f;
}

extern "C" __global__ void trap_on_early(float* y, const float* a) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = t;  // found
    if (s[63 - t] != 63 - t) __trap();  // found
    y[blockIdx.x * 64 + t] = 1.0f;
}

extern "C" __global__ void endless_by_unwritten(float* y, const float* a) {
    __shared__ int s[32];
    while (s[threadIdx.x] != 0) {  // found
        for (;;) __asm__ volatile("" ::: "memory");
    }
    y[threadIdx.x] = 1.0f;
}

static __device__ __noinline__ int deeper(int n) {
    volatile int here[64];
    here[n & 63] = n;
    return n == 0 ? 0 : deeper(n - 1) + here[n & 63];
}

extern "C" __global__ void crash_by_unwritten(float* y, const float* a) {
    __shared__ int s[32];
    y[threadIdx.x] = deeper(s[threadIdx.x] & 0xffffff);  // found
}

extern "C" __global__ void hang_by_unwritten(float* y, const float* a) {
    __shared__ unsigned long long full;
    __shared__ int s;
    const int t = threadIdx.x;
    if (t == 0) emu_mbarrier_init(&full, 33);
    __syncthreads();
    if (t == 7 && s != 0) emu_mbarrier_arrive(&full);  // found
    while (!emu_mbarrier_try_wait(&full, 0)) {}
    y[t] = 1.0f;
}

extern "C" __global__ void divergent_by_unwritten(float* y, const float* a) {
    __shared__ int s[32];
    if (threadIdx.x == 3 && s[3] != 0) return;  // found
    __syncthreads();
    y[threadIdx.x] = 1.0f;
}

extern "C" __global__ void divergent_by_early(float* y, const float* a) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = t;  // found
    if (s[63 - t] != 63 - t) return;  // found
    __syncthreads();
    y[blockIdx.x * 64 + t] = 1.0f;
}

extern "C" __global__ void mask_by_early(float* y, const float* a) {
    __shared__ unsigned s[32];
    const int t = threadIdx.x;
    s[t] = ~0u;  // found
    const unsigned mask = s[31 - t] == ~0u ? s[31 - t] & ~(1u << t) : 0;  // found
    __syncwarp(mask);
    y[t] = 1.0f;
}

extern "C" __global__ void written_after_a_barrier(float* y, const float* a) {
    __shared__ int s[64];
    const int t = threadIdx.x;
    y[blockIdx.x * 64 + t] = s[t];  // found
    __syncthreads();
    s[63 - t] = t;
}

// ---- Within a warp ----

extern "C" __global__ void warp(float* y, const float* a) {
    __shared__ float s[32];
    const int t = threadIdx.x;
    s[t] = a[t];
    __syncwarp();
    const float x = s[31 - t];
    __syncwarp();
    s[t] = x;
    y[t] = x;
}

extern "C" __global__ void warp_before(float* y, const float* a) {
    __shared__ float s[32];
    const int t = threadIdx.x;
    s[t] = a[t];  // found
    const float x = s[31 - t];  // found
    __syncwarp();
    s[t] = x;
    y[t] = x;
}

extern "C" __global__ void warp_after(float* y, const float* a) {
    __shared__ float s[32];
    const int t = threadIdx.x;
    s[t] = a[t];
    __syncwarp();
    const float x = s[31 - t];  // found
    s[t] = x;  // found
    y[t] = x;
}

extern "C" __global__ void shuffle_for_a_barrier(float* y, const float* a) {
    __shared__ float s[32];
    const int t = threadIdx.x;
    s[t] = a[t];  // found
    const float z = __shfl_sync(~0u, a[t], 0);
    y[t] = s[31 - t] + z;  // found
}

extern "C" __global__ void volatile_warp(float* y, const float* a) {
    __shared__ volatile float s[64];
    const int t = threadIdx.x;
    s[t] = a[t];
    s[t + 32] = 0.0f;
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) {
        const float x = s[t] + s[t + d];
        __syncwarp();
        s[t] = x;
        __syncwarp();
    }
    if (t == 0) y[0] = s[0];
}

// ---- Operations of all lanes ----

EMU_OPERATION void rotate(void** lanes) {
    float first = *(float*)lanes[0];
    for (int lane = 0; lane < 31; ++lane) *(float*)lanes[lane] = *(float*)lanes[lane + 1];
    *(float*)lanes[31] = first;
}

extern "C" __global__ void together(float* y, const float* a) {
    const int t = threadIdx.x;
    float x = a[t];
    // However many calls the compiler makes of these, they are two lines.
    for (int i = 0; i < t % 2; ++i) x += 1.0f;
    for (int i = 0; i < 3; ++i) emu_together(rotate, &x, "rotate", __LINE__);
    emu_together(rotate, &x, "rotate", __LINE__);
    // What is wrong is found: there is no such element.
    const int from = (t + 4) % 32 + t / 32 * 32;
    y[x == a[from] + from % 2 ? t : 1 << 20] = x;
}

extern "C" __global__ void together_for_a_barrier(float* y, const float* a) {
    __shared__ float s[32];
    const int t = threadIdx.x;
    float x = a[t];
    s[t] = x;  // found
    emu_together(rotate, &x, "rotate", __LINE__);
    y[t] = s[31 - t] + x;  // found
}

extern "C" __global__ void together_without_one(float* y, const float* a) {
    float x = a[threadIdx.x];
    if (threadIdx.x != 37) emu_together(rotate, &x, "rotate", __LINE__);  // found
    emu_together(rotate, &x, "rotate", __LINE__);  // found
    y[threadIdx.x] = x;
}

extern "C" __global__ void together_and_a_shuffle(float* y, const float* a) {
    float x = a[threadIdx.x];
    if (threadIdx.x < 16) {
        emu_together(rotate, &x, "rotate", __LINE__);  // found
    } else {
        x = __shfl_sync(~0u, x, 0);  // found
    }
    y[threadIdx.x] = x;
}

extern "C" __global__ void together_after_an_end(float* y, const float* a) {
    float x = a[threadIdx.x];
    y[threadIdx.x] = x;
    if (threadIdx.x == 5) return;
    emu_together(rotate, &x, "rotate", __LINE__);  // found
    y[threadIdx.x] = x;
}

// ---- Barriers ----

extern "C" __global__ void divergent(float* y, const float* a) {
    if (threadIdx.x < 100) __syncthreads();  // found
    y[blockIdx.x * 256 + threadIdx.x] = 1.0f;
}

extern "C" __global__ void named(float* y, const float* a) {
    __shared__ float s[32];
    const int t = threadIdx.x;
    if (t < 32) {
        s[t] = a[t];
        emu_barrier_arrive(1, 64);
    } else {
        emu_barrier_sync(1, 64);
        y[t - 32] = s[63 - t];
    }
}

extern "C" __global__ void named_too_early(float* y, const float* a) {
    __shared__ float s[32];
    const int t = threadIdx.x;
    if (t < 32) {
        emu_barrier_arrive(1, 64);
        s[t] = a[t];  // found
    } else {
        emu_barrier_sync(1, 64);
        y[t - 32] = s[63 - t];  // found
    }
}

// A barrier that a block leaves incomplete says nothing to the next block.
extern "C" __global__ void named_left_over(float* y, const float* a) {
    __shared__ float s[64];
    const int t = threadIdx.x;
    s[t] = t;  // found
    if (t < 32) emu_barrier_arrive(1, 64);
    y[blockIdx.x * 64 + t] = s[t ^ 32];  // found
}
