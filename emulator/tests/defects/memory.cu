// One access that is wrong, or two that clash, in global memory. Launched with 4 blocks of 256 threads on 1000
// elements, unless the table says otherwise.

template <class T, int N> struct alignas(sizeof(T) * N) Vector {
    T x[N];
};
typedef Vector<float, 4> Float4;
static const float powers[4] = {1.0f, 2.0f, 4.0f, 8.0f};
int variable;

static __device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void pointwise(float* y, const float* a) {
    const int i = index();
    if (i < 1000) y[i] = 2.0f * a[i];
}

extern "C" __global__ void in_place(float* y, const float* a) {
    const int i = index();
    if (i < 1000) y[i] = 2.0f * y[i];
}

extern "C" __global__ void constant_table(float* y, const float* a) {
    const int i = index();
    if (i < 1000) y[i] = powers[i % 4];
}

extern "C" __global__ void local_array(float* y, const float* a) {
    volatile float local[8];
    for (int j = 0; j < 8; ++j) local[j] = a[j];
    if (index() < 1000) y[index()] = local[index() % 8];
}

extern "C" __global__ void single_bytes(float* y, const float* a) {
    const int i = index();
    if (i < 1000) ((char*)y)[i] = ((const char*)a)[i];
}

extern "C" __global__ void halves(float* y, const float* a) {
    const int i = index();
    if (i < 1000) ((unsigned short*)y)[i] = i;
}

extern "C" __global__ void vector_copy(float* y, const float* a) {
    const int i = index();
    if (i < 250) ((Float4*)y)[i] = ((const Float4*)a)[i];
}

// ---- Outside of the buffers ----

extern "C" __global__ void read_behind(float* y, const float* a) {
    const int i = index();
    if (i < 1000) y[i] = a[i] + a[i + 1];  // found
}

extern "C" __global__ void write_behind(float* y, const float* a) {
    const int i = index();
    if (i <= 1000) y[i] = 1.0f;  // found
}

extern "C" __global__ void no_guard(float* y, const float* a) {
    y[index()] = 1.0f;  // found
}

extern "C" __global__ void read_in_front(float* y, const float* a) {
    const int i = index();
    if (i < 1000) y[i] = a[i - 1];  // found
}

extern "C" __global__ void vector_read_behind(float* y, const float* a) {
    const int i = index();
    if (i < 250) {
        ((Float4*)y)[i] = ((const Float4*)a)[i + 1];  // found
    }
}

extern "C" __global__ void vector_write_behind(float* y, const float* a) {
    const int i = index();
    if (i < 250) {
        ((Float4*)y)[i] = ((const Float4*)a)[i];  // found
    }
}

extern "C" __global__ void wild_pointer(float* y, const float* a) {
    if (index() < 1000) {
        y[index()] = *(const float*)((const char*)a + 1234567892);  // found
    }
}

extern "C" __global__ void wild_atomic_load(float* y, const float* a) {
    y[0] = __atomic_load_n((int*)16, 0);  // found
}

extern "C" __global__ void wild_compare_exchange(float* y, const float* a) {
    int x = 0;
    __atomic_compare_exchange_n((int*)16, &x, 1, false, 0, 0);  // found
    y[0] = x;
}

extern "C" __global__ void global_variable(float* y, const float* a) {
    y[threadIdx.x] = variable;  // found
}

extern "C" __global__ void stack_of_another(float* y, const float* a) {
    __shared__ float* shared;
    float local[4];
    local[threadIdx.x & 3] = 1.0f;
    if (threadIdx.x == 0) shared = local;
    __syncthreads();
    shared[0] = 2.0f;  // found
    __syncthreads();
    y[threadIdx.x] = local[1];
}

extern "C" __global__ void write_to_input(float* y, const float* a) {
    const int i = index();
    if (i < 1000) {
        y[i] = 1.0f;
        ((float*)a)[i] = 1.0f;  // found
    }
}

// ---- Bytes that nobody has written ----

extern "C" __global__ void read_of_output(float* y, const float* a) {
    const int i = index();
    if (i < 1000) y[i] += 1.0f;  // found
}

extern "C" __global__ void atomic_on_output(float* y, const float* a) {
    const int i = index();
    if (i < 1000) atomicAdd(y + i, 1.0f);  // found
}

extern "C" __global__ void written_after_the_read(float* y, const float* a) {
    if (threadIdx.x == 0) y[1] = y[0];  // found
    __syncthreads();
    if (threadIdx.x == 1) y[0] = 1.0f;
}

extern "C" __global__ void unwritten_tail(float* y, const float* a) {
    const int i = index();
    if (i < 999) y[i] = 1.0f;
}

extern "C" __global__ void unwritten_hole(float* y, const float* a) {
    const int i = index();
    if (i < 1000 && i != 17) y[i] = 1.0f;
}

extern "C" __global__ void unwritten_byte(float* y, const float* a) {
    const int i = index();
    if (i < 1000 && i != 998) ((char*)y)[i] = 1;
}

// ---- Races ----

extern "C" __global__ void two_writers(float* y, const float* a) {
    const int i = index();
    if (i < 1000) y[i / 2 * 2] = i;  // found
}

extern "C" __global__ void two_writers_of_one_value(float* y, const float* a) {
    const int i = index();
    if (i < 1000) y[i] = 0.0f;  // found
    if (threadIdx.x == 0) y[500] = 0.0f;  // found
}

extern "C" __global__ void blocks_write_the_same(float* y, const float* a) {
    y[threadIdx.x] = 1.0f;  // found
}

extern "C" __global__ void read_of_the_next_block(float* y, const float* a) {
    const int i = index();
    if (i < 1000) y[i] = 1.0f;  // found
    if (i + 256 < 1000) y[i] = y[i + 256];  // found
}

extern "C" __global__ void index_from_the_next_block(float* y, const float* a) {
    const int i = index();
    int* z = (int*)y;
    z[i] = i;  // found
    y[i] = a[z[1023 - i] % 1000];  // found
}

extern "C" __global__ void half_of_a_word(float* y, const float* a) {
    const int i = index();
    if (i < 1000) ((unsigned short*)y)[i] = i;  // found
    if (i < 500 && i % 2 == 1) ((unsigned*)y)[i] = 1;  // found
}

// ---- Alignment ----

extern "C" __global__ void misaligned_read(float* y, const float* a) {
    const int i = index();
    if (i < 249) {
        ((Float4*)y)[i] = *(const Float4*)(a + 4 * i + 1);  // found
    }
}

extern "C" __global__ void misaligned_write(float* y, const float* a) {
    const int i = index();
    if (i < 249) {
        *(Float4*)(y + 4 * i + 2) = ((const Float4*)a)[i];  // found
    }
}

// Vectors of which one element is used, which a compiler would like to read on its own.
#define SHIFTED(name, T, N)                                                  \
    extern "C" __global__ void name(float* y, const float* a) {             \
        const Vector<T, N> v = *(const Vector<T, N>*)((const T*)a + 1);     \
        y[0] = v.x[0];                                                       \
    }
SHIFTED(shifted_f32_2, float, 2)               // found
SHIFTED(shifted_f32_4, float, 4)               // found
SHIFTED(shifted_f64_2, double, 2)              // found
SHIFTED(shifted_i32_4, int, 4)                 // found
SHIFTED(shifted_i64_2, long long, 2)           // found
SHIFTED(shifted_u16_2, unsigned short, 2)      // found
SHIFTED(shifted_u16_4, unsigned short, 4)      // found
SHIFTED(shifted_u16_8, unsigned short, 8)      // found
SHIFTED(shifted_u8_2, unsigned char, 2)        // found
SHIFTED(shifted_u8_4, unsigned char, 4)        // found
SHIFTED(shifted_u8_8, unsigned char, 8)        // found
SHIFTED(shifted_u8_16, unsigned char, 16)      // found
SHIFTED(shifted_bool_16, bool, 16)             // found
