// Shared arrays that lie side by side, those of no kernel, and functions of C that touch memory.

extern "C" __global__ void neighbours(float* y, const float* a) {
    __shared__ float s[32];
    __shared__ float t[32];
    s[threadIdx.x] = a[threadIdx.x];
    t[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    const float* first = &s[0] < &t[0] ? s : t;
    y[threadIdx.x] = first[threadIdx.x + 1];
}

extern "C" __global__ void far(float* y, const float* a) {
    __shared__ float s[1024];
    __shared__ float t[1024];
    for (int i = threadIdx.x; i < 1024; i += 32) s[i] = t[i] = a[i % 32];
    __syncthreads();
    const float* first = &s[0] < &t[0] ? s : t;
    y[threadIdx.x] = first[threadIdx.x + (int)a[3] * 1024 / 3];
}

__shared__ float of_all[32];
static __shared__ float of_file[32];
namespace space {
__shared__ float inside[32];
}
template <class T> struct Tile {
    static __shared__ T buffer[32];
};
template <class T> __shared__ T Tile<T>::buffer[32];

extern "C" __global__ void outside(float* y, const float* a) {
    of_all[threadIdx.x] = a[threadIdx.x];
    of_file[threadIdx.x] = 1.0f;
    space::inside[threadIdx.x] = 2.0f;
    Tile<float>::buffer[threadIdx.x] = 3.0f;
    __syncthreads();
    int i = 31 - threadIdx.x;
    y[threadIdx.x] = of_all[i] + of_file[i] + space::inside[i] + Tile<float>::buffer[i];
}

extern "C" __global__ void outside_too(float* y, const float* a) {
    of_all[threadIdx.x] = a[threadIdx.x];
    of_file[threadIdx.x] = 1.0f;
    __syncthreads();
    y[threadIdx.x] = of_all[threadIdx.x + 1] + of_file[threadIdx.x];
}

extern "C" __global__ void copies(float* y, const float* a) {
    __shared__ float s[32];
    if (threadIdx.x == 0) memset(s, 0, sizeof s);
    if (threadIdx.x == 1) __builtin_memcpy(y, a, 64);
    if (threadIdx.x == 2) memmove(y + 16, a + 16, 28);
    if (threadIdx.x == 3) memcpy(y + 23, a + 23, 4 * (int)a[9]);
    __syncthreads();
    if (threadIdx.x == 0) y[0] = s[31];
}

extern "C" __global__ void copy_too_much(float* y, const float* a) {
    if (threadIdx.x == 0) __builtin_memcpy(y, a + 2, 128);
}

extern "C" __global__ void fill_too_much(float* y, const float* a) {
    if (threadIdx.x == 0) memset(y, 0, 4 * ((int)a[32] + 1));
}

extern "C" __global__ void copy_unwritten(float* y, const float* a) {
    __shared__ float s[32];
    if (threadIdx.x != 5) s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) memcpy(y, s, sizeof s);
}

extern "C" __global__ void copy_races(float* y, const float* a) {
    __shared__ float s[32];
    s[threadIdx.x] = a[threadIdx.x];
    if (threadIdx.x == 0) __builtin_memmove(y, s, sizeof s);
}
