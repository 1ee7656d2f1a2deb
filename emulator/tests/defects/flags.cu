// Blocks that hand something over through a flag or a counter in global memory.

static __device__ unsigned look(unsigned* f) { return *(volatile unsigned*)f; }
static __device__ void raise(unsigned* f) { *(volatile unsigned*)f = 1; }

// ---- From block 0 to block 1 ----

extern "C" __global__ void fences(float* y, const float* a, unsigned* f) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        y[0] = a[0];
        __threadfence();
        raise(f);
    } else {
        while (look(f) == 0) {}
        __threadfence();
        y[1] = y[0];
    }
}

extern "C" __global__ void no_fence(float* y, const float* a, unsigned* f) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        y[0] = a[0];  // found
        raise(f);
    } else {
        while (look(f) == 0) {}
        y[1] = y[0];  // found
    }
}

extern "C" __global__ void fence_of_the_writer(float* y, const float* a, unsigned* f) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        y[0] = a[0];  // found
        __threadfence();
        raise(f);
    } else {
        while (look(f) == 0) {}
        y[1] = y[0];  // found
    }
}

extern "C" __global__ void fence_of_the_reader(float* y, const float* a, unsigned* f) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        y[0] = a[0];  // found
        raise(f);
    } else {
        while (look(f) == 0) {}
        __threadfence();
        y[1] = y[0];  // found
    }
}

extern "C" __global__ void fence_behind_the_flag(float* y, const float* a, unsigned* f) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        y[0] = a[0];  // found
        raise(f);
        __threadfence();
    } else {
        while (look(f) == 0) {}
        __threadfence();
        y[1] = y[0];  // found
    }
}

extern "C" __global__ void release_acquire(float* y, const float* a, unsigned* f) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        y[0] = a[0];
        emu_store_release(f, 1u);
    } else {
        while (emu_load_acquire(f) == 0) emu_yield();
        y[1] = y[0];
    }
}

extern "C" __global__ void release_relaxed(float* y, const float* a, unsigned* f) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        y[0] = a[0];  // found
        emu_store_release(f, 1u);
    } else {
        while (emu_load_relaxed(f) == 0) emu_yield();
        y[1] = y[0];  // found
    }
}

extern "C" __global__ void relaxed_acquire(float* y, const float* a, unsigned* f) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        y[0] = a[0];  // found
        emu_store_relaxed(f, 1u);
    } else {
        while (emu_load_acquire(f) == 0) emu_yield();
        y[1] = y[0];  // found
    }
}

extern "C" __global__ void atomics_with_fences(float* y, const float* a, unsigned* f) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        y[0] = a[0];
        __threadfence();
        atomicExch(f, 1u);
    } else {
        while (atomicAdd(f, 0u) == 0) emu_yield();
        __threadfence();
        y[1] = y[0];
    }
}

extern "C" __global__ void atomics_without_fences(float* y, const float* a, unsigned* f) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        y[0] = a[0];  // found
        atomicExch(f, 1u);
    } else {
        while (atomicAdd(f, 0u) == 0) emu_yield();
        y[1] = y[0];  // found
    }
}

extern "C" __global__ void plain_flag(float* y, const float* a, unsigned* f) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        y[0] = a[0];
        __threadfence();
        *f = 1;  // found
    } else {
        while (*f == 0) emu_yield();  // found
        __threadfence();
        y[1] = y[0];
    }
}

extern "C" __global__ void flag_before_the_data(float* y, const float* a, unsigned* f) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        raise(f);
        __threadfence();
        y[0] = a[0];  // found
    } else {
        while (look(f) == 0) {}
        __threadfence();
        y[1] = y[0];  // found
    }
}

extern "C" __global__ void naked_spin(float* y, const float* a, unsigned* f) {
    if (blockIdx.x == 0) {
        while (look(f) == 0) {}
    } else {
        raise(f);
    }
    y[blockIdx.x * 32 + threadIdx.x] = 1.0f;
}

extern "C" __global__ void chain(float* y, const float* a, unsigned* f) {
    const unsigned b = blockIdx.x;
    if (threadIdx.x > 0) return;
    if (b > 0) {
        while (emu_load_acquire(f + b - 1) == 0) emu_yield();
    }
    y[b] = b > 0 ? y[b - 1] + 1.0f : 0.0f;
    emu_store_release(f + b, 1u);
}

extern "C" __global__ void unwritten_flag(float* y, const float* a, unsigned* f) {
    // The output for a flag: it holds anything.
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        while (look((unsigned*)y) == 1) emu_yield();  // found
    }
    __syncthreads();
    y[blockIdx.x * 32 + threadIdx.x] = 1.0f;
}

// ---- A barrier of the grid ----

extern "C" __global__ void grid_barrier(float* y, const float* a, unsigned* f) {
    const int t = threadIdx.x, b = blockIdx.x;
    y[b * 32 + t] = a[t];
    __syncthreads();
    if (t == 0) {
        emu_atomic_add(f, 1u, 1);
        while (emu_load_acquire(f) < 4) emu_yield();
    }
    __syncthreads();
    y[128 + b * 32 + t] = y[(b + 1) % 4 * 32 + t];
}

extern "C" __global__ void grid_relaxed_arrival(float* y, const float* a, unsigned* f) {
    const int t = threadIdx.x, b = blockIdx.x;
    y[b * 32 + t] = a[t];  // found
    __syncthreads();
    if (t == 0) {
        emu_atomic_add(f, 1u, 0);
        while (emu_load_acquire(f) < 4) emu_yield();
    }
    __syncthreads();
    y[128 + b * 32 + t] = y[(b + 1) % 4 * 32 + t];  // found
}

extern "C" __global__ void grid_relaxed_wait(float* y, const float* a, unsigned* f) {
    const int t = threadIdx.x, b = blockIdx.x;
    y[b * 32 + t] = a[t];  // found
    __syncthreads();
    if (t == 0) {
        emu_atomic_add(f, 1u, 1);
        while (emu_load_relaxed(f) < 4) emu_yield();
    }
    __syncthreads();
    y[128 + b * 32 + t] = y[(b + 1) % 4 * 32 + t];  // found
}

// A second barrier is missing: a block may write for the next round what another still reads for this one.
extern "C" __global__ void grid_one_barrier(float* y, const float* a, unsigned* f) {
    const int t = threadIdx.x, b = blockIdx.x, blocks = gridDim.x;
    float sum = 0.0f;
    for (unsigned round = 1; round <= 2; ++round) {
        y[b * 32 + t] = a[t] * round;  // found
        __syncthreads();
        if (t == 0) {
            emu_atomic_add(f, 1u, 3);
            while (emu_load_acquire(f) < blocks * round) emu_yield();
        }
        __syncthreads();
        sum += y[(blocks - 1 - b) * 32 + t];  // found
    }
    y[(blocks + b) * 32 + t] = sum;
}

extern "C" __global__ void grid_one_barrier_volatile(float* y, const float* a, unsigned* f) {
    const int t = threadIdx.x, b = blockIdx.x, blocks = gridDim.x;
    float sum = 0.0f;
    for (unsigned round = 1; round <= 2; ++round) {
        y[b * 32 + t] = a[t] * round;  // found
        __syncthreads();
        if (t == 0) {
            __threadfence();
            atomicAdd(f, 1u);
            while (look(f) < blocks * round) {}
            __threadfence();
        }
        __syncthreads();
        sum += y[(blocks - 1 - b) * 32 + t];  // found
    }
    y[(blocks + b) * 32 + t] = sum;
}

extern "C" __global__ void grid_two_barriers(float* y, const float* a, unsigned* f) {
    const int t = threadIdx.x, b = blockIdx.x;
    float sum = 0.0f;
    for (unsigned round = 0; round < 2; ++round) {
        y[b * 32 + t] = a[t] * round;
        for (unsigned barrier = 1; barrier <= 2; ++barrier) {
            __syncthreads();
            if (t == 0) {
                emu_atomic_add(f, 1u, 3);
                while (emu_load_acquire(f) < 8 * round + 4 * barrier) emu_yield();
            }
            __syncthreads();
            if (barrier == 1) sum += y[(3 - b) * 32 + t];
        }
    }
    y[128 + b * 32 + t] = sum;
}

// More flags are seen than the one that matters, which comes first.
extern "C" __global__ void many_flags(float* y, const float* a, unsigned* f) {
    const unsigned b = blockIdx.x;
    if (threadIdx.x > 0) return;
    if (b < 15) {
        y[b] = a[0];  // found
        raise(f + b);
    } else {
        for (int i = 0; i < 15; ++i) {
            while (look(f + i) == 0) {}
        }
        y[b] = y[0];  // found
    }
}

// ---- The last block sums ----

extern "C" __global__ void last_block(float* y, const float* a, unsigned* f) {
    __shared__ bool last;
    const int t = threadIdx.x;
    y[1 + blockIdx.x * 32 + t] = a[t];
    __syncthreads();
    if (t == 0) {
        __threadfence();
        last = atomicAdd(f, 1u) == 3;
        __threadfence();
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0.0f;
        for (int i = 0; i < 128; ++i) sum += y[1 + i];
        y[0] = sum;
    }
}

extern "C" __global__ void last_block_without_fences(float* y, const float* a, unsigned* f) {
    __shared__ bool last;
    const int t = threadIdx.x;
    y[1 + blockIdx.x * 32 + t] = a[t];  // found
    __syncthreads();
    if (t == 0) {
        last = atomicAdd(f, 1u) == 3;
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0.0f;
        for (int i = 0; i < 128; ++i) sum += y[1 + i];  // found
        y[0] = sum;
    }
}

extern "C" __global__ void last_block_without_release(float* y, const float* a, unsigned* f) {
    __shared__ bool last;
    const int t = threadIdx.x;
    y[1 + blockIdx.x * 32 + t] = a[t];  // found
    __syncthreads();
    if (t == 0) {
        last = atomicAdd(f, 1u) == 3;
        __threadfence();
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0.0f;
        for (int i = 0; i < 128; ++i) sum += y[1 + i];  // found
        y[0] = sum;
    }
}

extern "C" __global__ void last_block_without_acquire(float* y, const float* a, unsigned* f) {
    __shared__ bool last;
    const int t = threadIdx.x;
    y[1 + blockIdx.x * 32 + t] = a[t];  // found
    __syncthreads();
    if (t == 0) {
        __threadfence();
        last = atomicAdd(f, 1u) == 3;
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0.0f;
        for (int i = 0; i < 128; ++i) sum += y[1 + i];  // found
        y[0] = sum;
    }
}

// ---- Atomics ----

extern "C" __global__ void counters(float* y, const float* a, unsigned* f) {
    atomicAdd(f + (threadIdx.x * 7 + blockIdx.x) % 32, 1u);
    y[blockIdx.x * 32 + threadIdx.x] = 1.0f;
}

extern "C" __global__ void atomic_and_plain(float* y, const float* a, unsigned* f) {
    y[blockIdx.x * 32 + threadIdx.x] = 1.0f;
    atomicAdd(f, 1u);  // found
    if (threadIdx.x == 7) *f = 3;  // found
}

extern "C" __global__ void compare_exchange(float* y, const float* a, unsigned* f) {
    for (int n = 0; n < 20; ++n) {
        unsigned x = __atomic_load_n(f, 0);
        while (!__atomic_compare_exchange_n(f, &x, x + 1, false, 3, 0)) {}
    }
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        while (__atomic_load_n(f, 2) != 20 * 64) {}
    }
    y[blockIdx.x * 32 + threadIdx.x] = 1.0f;
}

extern "C" __global__ void random_writers(float* y, const float* a, unsigned* f) {
    const int i = threadIdx.x;
    y[i * 7 % 64] = 1.0f;  // found
    y[i * 3 % 64] = 2.0f;  // found
}
