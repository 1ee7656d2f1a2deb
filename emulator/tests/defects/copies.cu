// Asynchronous copies: cp.async, and bulk copies that an mbarrier counts. Who does not know that a copy was issued
// races with it; who knows, and has not waited, uses a pending copy.

typedef struct __align__(16) { float x, y, z, w; } Float4;

// Each thread copies its part of the tile.
static __device__ void copy(Float4* tile, const float* a) {
    emu_async_copy(tile + threadIdx.x, a + 4 * threadIdx.x, 16, 16);  // found
    emu_async_commit();
}

// Thread 0 copies all, on a barrier made for it.
static __device__ void bulk(Float4* tile, const float* a, unsigned long long* full) {
    if (threadIdx.x == 0) emu_mbarrier_init(full, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        emu_mbarrier_arrive_expect(full, 512);
        emu_bulk_copy(tile, a, 512, full);  // found
    }
}

static __device__ void wait(unsigned long long* full) {
    while (!emu_mbarrier_try_wait(full, 0)) {}
}

// ---- cp.async ----

extern "C" __global__ void waited(float* y, const float* a) {
    __shared__ Float4 tile[32];
    const int t = threadIdx.x;
    copy(tile, a);
    emu_async_wait(0);
    __syncthreads();
    y[t] = ((float*)tile)[127 - t];
}

extern "C" __global__ void no_wait(float* y, const float* a) {
    __shared__ Float4 tile[32];
    const int t = threadIdx.x;
    copy(tile, a);
    __syncthreads();
    y[t] = ((float*)tile)[127 - t];  // found
}

extern "C" __global__ void no_wait_own(float* y, const float* a) {
    __shared__ Float4 tile[32];
    const int t = threadIdx.x;
    copy(tile, a);
    y[t] = tile[t].x;  // found
}

extern "C" __global__ void no_barrier(float* y, const float* a) {
    __shared__ Float4 tile[32];
    const int t = threadIdx.x;
    copy(tile, a);
    emu_async_wait(0);
    y[t] = ((float*)tile)[127 - t];  // found
}

extern "C" __global__ void no_barrier_next(float* y, const float* a) {
    __shared__ Float4 tile[32];
    const int t = threadIdx.x;
    copy(tile, a);
    emu_async_wait(0);
    y[t] = tile[(t + 1) % 32].x;  // found
}

extern "C" __global__ void barrier_before_the_wait(float* y, const float* a) {
    __shared__ Float4 tile[32];
    const int t = threadIdx.x;
    copy(tile, a);
    __syncthreads();
    emu_async_wait(0);
    y[t] = ((float*)tile)[127 - t];  // found
}

extern "C" __global__ void barrier_before_the_wait_next(float* y, const float* a) {
    __shared__ Float4 tile[32];
    const int t = threadIdx.x;
    copy(tile, a);
    __syncthreads();
    emu_async_wait(0);
    y[t] = tile[(t + 1) % 32].x;  // found
}

extern "C" __global__ void one_group_too_few(float* y, const float* a) {
    __shared__ Float4 tile[32];
    const int t = threadIdx.x;
    copy(tile, a);
    emu_async_wait(1);
    __syncthreads();
    y[t] = ((float*)tile)[127 - t];  // found
}

extern "C" __global__ void overwritten_too_early(float* y, const float* a) {
    __shared__ Float4 tile[32];
    const int t = threadIdx.x;
    for (int i = t; i < 128; i += 32) ((float*)tile)[i] = 1.0f;
    __syncthreads();
    y[t] = ((float*)tile)[127 - t];  // found
    copy(tile, a);
    emu_async_wait(0);
}

extern "C" __global__ void written_meanwhile(float* y, const float* a) {
    __shared__ Float4 tile[32];
    const int t = threadIdx.x;
    copy(tile, a);
    tile[(t + 1) % 32].x = 0.0f;  // found
    emu_async_wait(0);
    y[t] = t;
}

extern "C" __global__ void source_written_meanwhile(float* y, const float* a) {
    __shared__ Float4 tile;
    const int t = threadIdx.x;
    y[t] = 1.0f;
    __syncthreads();
    if (t == 0) {
        emu_async_copy(&tile, y, 16, 16);
        emu_async_commit();
    }
    __syncthreads();
    if (t == 0) emu_async_wait(0);
    if (t == 1) y[0] = 2.0f;  // found
}

extern "C" __global__ void groups(float* y, const float* a) {
    __shared__ Float4 tiles[3][32];
    const int t = threadIdx.x;
    for (int k = 0; k < 3; ++k) copy(tiles[k], a);
    float sum = 0.0f;
    emu_async_wait(2);
    __syncthreads();
    sum += tiles[0][31 - t].x;
    emu_async_wait(1);
    __syncthreads();
    sum += tiles[1][31 - t].x;
    emu_async_wait(0);
    __syncthreads();
    y[t] = sum + tiles[2][31 - t].x;
}

extern "C" __global__ void groups_first_too_few(float* y, const float* a) {
    __shared__ Float4 tiles[3][32];
    const int t = threadIdx.x;
    for (int k = 0; k < 3; ++k) copy(tiles[k], a);
    float sum = 0.0f;
    emu_async_wait(3);
    __syncthreads();
    sum += tiles[0][31 - t].x;  // found
    emu_async_wait(1);
    __syncthreads();
    sum += tiles[1][31 - t].x;  // found
    emu_async_wait(0);
    __syncthreads();
    y[t] = sum + tiles[2][31 - t].x;  // found
}

extern "C" __global__ void groups_last_too_few(float* y, const float* a) {
    __shared__ Float4 tiles[3][32];
    const int t = threadIdx.x;
    for (int k = 0; k < 3; ++k) copy(tiles[k], a);
    float sum = 0.0f;
    emu_async_wait(2);
    __syncthreads();
    sum += tiles[0][31 - t].x;  // found
    emu_async_wait(1);
    __syncthreads();
    sum += tiles[1][31 - t].x;  // found
    emu_async_wait(1);
    __syncthreads();
    y[t] = sum + tiles[2][31 - t].x;  // found
}

// ---- Bulk copies ----

extern "C" __global__ void bulk_waited(float* y, const float* a) {
    __shared__ unsigned long long full;
    __shared__ Float4 tile[32];
    const int t = threadIdx.x;
    bulk(tile, a, &full);
    wait(&full);
    y[t] = tile[31 - t].x;
}

extern "C" __global__ void bulk_one_waits_for_all(float* y, const float* a) {
    __shared__ unsigned long long full;
    __shared__ Float4 tile[32];
    const int t = threadIdx.x;
    bulk(tile, a, &full);
    if (t == 1) wait(&full);
    __syncthreads();
    y[t] = tile[31 - t].x;
}

extern "C" __global__ void bulk_no_wait(float* y, const float* a) {
    __shared__ unsigned long long full;
    __shared__ Float4 tile[32];
    const int t = threadIdx.x;
    bulk(tile, a, &full);
    __syncthreads();
    y[t] = tile[31 - t].x;  // found
}

extern "C" __global__ void bulk_one_waits(float* y, const float* a) {
    __shared__ unsigned long long full;
    __shared__ Float4 tile[32];
    const int t = threadIdx.x;
    bulk(tile, a, &full);
    __syncthreads();
    if (t == 5) wait(&full);
    y[t] = tile[31 - t].x;  // found
}

extern "C" __global__ void bulk_others_at_once(float* y, const float* a) {
    __shared__ unsigned long long full;
    __shared__ Float4 tile[32];
    const int t = threadIdx.x;
    bulk(tile, a, &full);
    if (t > 0) y[t] = tile[31 - t].x;  // found
    if (t == 0) y[0] = 1.0f;
}

extern "C" __global__ void bulk_unused(float* y, const float* a) {
    __shared__ unsigned long long full;
    __shared__ Float4 tile[32];
    const int t = threadIdx.x;
    bulk(tile, a, &full);
    y[t] = 1.0f;
}

extern "C" __global__ void bulk_source_written_meanwhile(float* y, const float* a) {
    __shared__ unsigned long long full;
    __shared__ Float4 tile[8];
    const int t = threadIdx.x;
    y[t] = 1.0f;
    if (t == 0) emu_mbarrier_init(&full, 1);
    __syncthreads();
    if (t == 0) {
        emu_mbarrier_arrive_expect(&full, 128);
        emu_bulk_copy(tile, y, 128, &full);
    }
    __syncthreads();
    y[t] = 2.0f;  // found
    wait(&full);
}

extern "C" __global__ void stages(float* y, const float* a) {
    __shared__ unsigned long long full[2];
    __shared__ Float4 tiles[2][8];
    const int t = threadIdx.x;
    if (t < 2) emu_mbarrier_init(full + t, 1);
    __syncthreads();
    for (int i = 0; t == 0 && i < 2; ++i) {
        emu_mbarrier_arrive_expect(full + i, 128);
        emu_bulk_copy(tiles[i], a + 32 * i, 128, full + i);
    }
    __syncthreads();
    wait(full);
    wait(full + 1);
    y[t] = ((float*)tiles[0])[t] + ((float*)tiles[1])[t];
}

extern "C" __global__ void stages_second_only(float* y, const float* a) {
    __shared__ unsigned long long full[2];
    __shared__ Float4 tiles[2][8];
    const int t = threadIdx.x;
    if (t < 2) emu_mbarrier_init(full + t, 1);
    __syncthreads();
    for (int i = 0; t == 0 && i < 2; ++i) {
        emu_mbarrier_arrive_expect(full + i, 128);
        emu_bulk_copy(tiles[i], a + 32 * i, 128, full + i);
    }
    __syncthreads();
    wait(full + 1);
    y[t] = ((float*)tiles[0])[t] + ((float*)tiles[1])[t];  // found
}

extern "C" __global__ void stages_one_waits_for_the_first(float* y, const float* a) {
    __shared__ unsigned long long full[2];
    __shared__ Float4 tiles[2][8];
    const int t = threadIdx.x;
    if (t < 2) emu_mbarrier_init(full + t, 1);
    __syncthreads();
    for (int i = 0; t == 0 && i < 2; ++i) {
        emu_mbarrier_arrive_expect(full + i, 128);
        emu_bulk_copy(tiles[i], a + 32 * i, 128, full + i);
    }
    __syncthreads();
    if (t == 5) wait(full);
    wait(full + 1);
    y[t] = ((float*)tiles[0])[t] + ((float*)tiles[1])[t];  // found
}

extern "C" __global__ void ring(float* y, const float* a) {
    // Threads 32.. fill two tiles in turn, the others empty them.
    __shared__ unsigned long long full[2], empty[2];
    __shared__ Float4 tiles[2][8];
    const int t = threadIdx.x;
    if (t < 2) {
        emu_mbarrier_init(full + t, 1);
        emu_mbarrier_init(empty + t, 32);
    }
    __syncthreads();
    if (t == 32) {
        for (int k = 0; k < 8; ++k) {
            const int i = k % 2;
            while (k > 1 && !emu_mbarrier_try_wait(empty + i, (k / 2 - 1) & 1)) {}
            emu_mbarrier_arrive_expect(full + i, 128);
            emu_bulk_copy(tiles[i], a + 32 * k, 128, full + i);
        }
    } else if (t < 32) {
        float sum = 0.0f;
        for (int k = 0; k < 8; ++k) {
            const int i = k % 2;
            while (!emu_mbarrier_try_wait(full + i, (k / 2) & 1)) {}
            sum += ((float*)tiles[i])[31 - t];
            emu_mbarrier_arrive(empty + i);
        }
        y[t] = sum;
    }
}

extern "C" __global__ void mbarrier_never_made(float* y, const float* a) {
    __shared__ unsigned long long full;
    emu_mbarrier_arrive(&full);  // found
    y[threadIdx.x] = 1.0f;
}

extern "C" __global__ void mbarrier_made_too_late(float* y, const float* a) {
    __shared__ unsigned long long full;
    if (threadIdx.x == 31) emu_mbarrier_init(&full, 32);  // found
    emu_mbarrier_arrive(&full);  // found
    y[threadIdx.x] = 1.0f;
}
