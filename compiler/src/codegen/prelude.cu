// The functions that every kernel may call. Needs no header; all inline PTX of all kernels is here, each use with a
// portable twin, so that the same text runs under an emulation of the device.

#ifdef __CUDACC__
// A program uses some of these functions, and compares unsigned numbers with zero where a template does.
#pragma nv_diag_suppress 177, 186
#endif

#define MG_FN static __device__ __forceinline__

typedef unsigned long long mg_u64;

// ---- Bits ----------------------------------------------------------------------------------------------------

MG_FN unsigned mg_bits(float x) { return __float_as_uint(x); }
MG_FN mg_u64 mg_bits(double x) { return (mg_u64)__double_as_longlong(x); }
MG_FN float mg_f32_of_bits(unsigned x) { return __uint_as_float(x); }
MG_FN double mg_f64_of_bits(mg_u64 x) { return __longlong_as_double((long long)x); }
MG_FN bool mg_negative(float x) { return (mg_bits(x) >> 31) != 0; }
MG_FN bool mg_negative(double x) { return (mg_bits(x) >> 63) != 0; }

// ---- f16 and bf16: stored as bits, computed in float ---------------------------------------------------------------

#ifdef __CUDACC__
MG_FN float mg_from_f16(unsigned short x) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
    return y;
}

MG_FN unsigned short mg_to_f16_bits(float x) {
    unsigned short y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
}
#else
MG_FN float mg_from_f16(unsigned short x) {
    unsigned sign = (unsigned)(x >> 15) << 31, exponent = (x >> 10) & 31, fraction = x & 1023;
    if (exponent == 31) return mg_f32_of_bits(sign | 0x7f800000u | (fraction << 13));
    if (exponent != 0) return mg_f32_of_bits(sign | ((exponent + 112) << 23) | (fraction << 13));
    float y = (float)fraction * 5.9604644775390625e-8f;
    return sign ? -y : y;
}

MG_FN unsigned short mg_to_f16_bits(float x) {
    unsigned bits = mg_bits(x), sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return (unsigned short)(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
    if (magnitude < 0x38800000u) {
        // Adding 0.5 leaves the subnormal's digits, rounded to nearest even, at the end of the fraction.
        return (unsigned short)(sign | (mg_bits(mg_f32_of_bits(magnitude) + 0.5f) - 0x3f000000u));
    }
    return (unsigned short)(sign | ((magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1)) >> 13));
}
#endif

MG_FN float mg_from_bf16(unsigned short x) { return mg_f32_of_bits((unsigned)x << 16); }

#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
MG_FN unsigned short mg_to_bf16_bits(float x) {
    unsigned short y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
}
#else
MG_FN unsigned short mg_to_bf16_bits(float x) {
    unsigned bits = mg_bits(x);
    if (x != x) return (unsigned short)((bits >> 16) | 0x40u);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}
#endif

MG_FN float mg_round_f16(float x) { return mg_from_f16(mg_to_f16_bits(x)); }
MG_FN float mg_round_bf16(float x) { return mg_from_bf16(mg_to_bf16_bits(x)); }

// The float towards zero with its last bit set where digits were lost: rounding it again, to a type at least two bits
// shorter, is rounding once.
MG_FN float mg_round_odd(double x) {
    float y = __double2float_rz(x);
    return (x == x && (double)y != x) ? mg_f32_of_bits(mg_bits(y) | 1u) : y;
}

MG_FN float mg_round_odd(long long x) {
    float y = __ll2float_rz(x);
    // 2^63 is not reached: rounding is towards zero.
    return ((long long)y != x) ? mg_f32_of_bits(mg_bits(y) | 1u) : y;
}

// ---- Casts -------------------------------------------------------------------------------------------------------

template <class T> MG_FN bool mg_cast_bool(T x) { return x != (T)0; }

template <class T> MG_FN signed char mg_cast_i8(T x) { return (signed char)x; }
template <class T> MG_FN unsigned char mg_cast_u8(T x) { return (unsigned char)x; }
template <class T> MG_FN int mg_cast_i32(T x) { return (int)x; }
template <class T> MG_FN unsigned mg_cast_u32(T x) { return (unsigned)x; }
template <class T> MG_FN long long mg_cast_i64(T x) { return (long long)x; }

#define MG_CASTS_OF_FLOAT(T, TO_INT, TO_UINT, TO_LONG)                                                                  \
    MG_FN int mg_cast_i32(T x) { return x != x ? 0 : TO_INT(x); }                                                       \
    MG_FN unsigned mg_cast_u32(T x) { return x != x ? 0u : TO_UINT(x); }                                                \
    MG_FN long long mg_cast_i64(T x) { return x != x ? 0ll : TO_LONG(x); }                                              \
    MG_FN signed char mg_cast_i8(T x) {                                                                                 \
        int y = mg_cast_i32(x);                                                                                         \
        return (signed char)(y < -128 ? -128 : y > 127 ? 127 : y);                                                      \
    }                                                                                                                   \
    MG_FN unsigned char mg_cast_u8(T x) {                                                                               \
        int y = mg_cast_i32(x);                                                                                         \
        return (unsigned char)(y < 0 ? 0 : y > 255 ? 255 : y);                                                          \
    }
MG_CASTS_OF_FLOAT(float, __float2int_rz, __float2uint_rz, __float2ll_rz)
MG_CASTS_OF_FLOAT(double, __double2int_rz, __double2uint_rz, __double2ll_rz)

template <class T> MG_FN float mg_cast_f32(T x) { return (float)x; }
template <class T> MG_FN double mg_cast_f64(T x) { return (double)x; }

template <class T> MG_FN float mg_cast_f16(T x) { return mg_round_f16(mg_round_odd((long long)x)); }
MG_FN float mg_cast_f16(float x) { return mg_round_f16(x); }
MG_FN float mg_cast_f16(double x) { return mg_round_f16(mg_round_odd(x)); }
template <class T> MG_FN float mg_cast_bf16(T x) { return mg_round_bf16(mg_round_odd((long long)x)); }
MG_FN float mg_cast_bf16(float x) { return mg_round_bf16(x); }
MG_FN float mg_cast_bf16(double x) { return mg_round_bf16(mg_round_odd(x)); }

// ---- Index arithmetic and memory -------------------------------------------------------------------------------------

template <class T> MG_FN T mg_limit(T x, T extent) { return x < (T)0 ? (T)0 : x < extent ? x : extent - (T)1; }

template <class T, int N> struct alignas(sizeof(T) * N) mg_vec {
    T x[N];
};

template <int N, class T> MG_FN mg_vec<T, N> mg_load(const T* p) { return *(const mg_vec<T, N>*)p; }
template <int N, class T> MG_FN void mg_store(T* p, const mg_vec<T, N>& v) { *(mg_vec<T, N>*)p = v; }

// ---- Element-wise functions: floats ------------------------------------------------------------------------------------

#define MG_FLOAT(T, S, ONE)                                                                                             \
    MG_FN T mg_neg(T x) { return -x; }                                                                                  \
    MG_FN T mg_abs(T x) { return fabs##S(x); }                                                                          \
    MG_FN T mg_sign(T x) { return (x == (T)0 || x != x) ? x : copysign##S(ONE, x); }                                    \
    MG_FN T mg_exp(T x) { return exp##S(x); }                                                                           \
    MG_FN T mg_expm1(T x) { return expm1##S(x); }                                                                       \
    MG_FN T mg_log(T x) { return log##S(x); }                                                                           \
    MG_FN T mg_log1p(T x) { return log1p##S(x); }                                                                       \
    MG_FN T mg_sqrt(T x) { return sqrt##S(x); }                                                                         \
    MG_FN T mg_rsqrt(T x) { return ONE / sqrt##S(x); }                                                                  \
    MG_FN T mg_sin(T x) { return sin##S(x); }                                                                           \
    MG_FN T mg_cos(T x) { return cos##S(x); }                                                                           \
    MG_FN T mg_tanh(T x) { return tanh##S(x); }                                                                         \
    MG_FN T mg_erf(T x) { return erf##S(x); }                                                                           \
    MG_FN T mg_floor(T x) { return floor##S(x); }                                                                       \
    MG_FN T mg_ceil(T x) { return ceil##S(x); }                                                                         \
    MG_FN T mg_round(T x) { return rint##S(x); }                                                                        \
    MG_FN T mg_trunc(T x) { return trunc##S(x); }                                                                       \
    MG_FN bool mg_is_nan(T x) { return x != x; }                                                                        \
    MG_FN bool mg_is_finite(T x) { return x - x == (T)0; }                                                              \
    MG_FN bool mg_is_inf(T x) { return x == x && !mg_is_finite(x); }                                                    \
    MG_FN T mg_add(T a, T b) { return a + b; }                                                                          \
    MG_FN T mg_sub(T a, T b) { return a - b; }                                                                          \
    MG_FN T mg_mul(T a, T b) { return a * b; }                                                                          \
    MG_FN T mg_div(T a, T b) { return a / b; }                                                                          \
    MG_FN T mg_rem(T a, T b) { return fmod##S(a, b); }                                                                  \
    MG_FN T mg_pow(T a, T b) { return pow##S(a, b); }                                                                   \
    MG_FN T mg_atan2(T a, T b) { return atan2##S(a, b); }                                                               \
    MG_FN T mg_fma(T a, T b, T c) { return fma##S(a, b, c); }                                                           \
    /* From the exact remainder, as Python and NumPy. */                                                                \
    MG_FN T mg_div_floor(T a, T b) {                                                                                    \
        if (b == (T)0) return a / b;                                                                                    \
        T rest = fmod##S(a, b), quotient = (a - rest) / b;                                                              \
        if (rest != (T)0 && (rest < (T)0) != (b < (T)0)) quotient -= ONE;                                               \
        if (quotient == (T)0) return copysign##S((T)0, a / b);                                                          \
        T below = floor##S(quotient);                                                                                   \
        return quotient - below > ONE / (T)2 ? below + ONE : below;                                                     \
    }                                                                                                                   \
    MG_FN T mg_mod_floor(T a, T b) {                                                                                    \
        T rest = fmod##S(a, b);                                                                                         \
        if (rest == (T)0) return copysign##S((T)0, b);                                                                  \
        return (rest < (T)0) != (b < (T)0) ? rest + b : rest;                                                           \
    }
MG_FLOAT(float, f, 1.0f)
MG_FLOAT(double, , 1.0)

#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
MG_FN float mg_maximum(float a, float b) {
    float y;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
}

MG_FN float mg_minimum(float a, float b) {
    float y;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
}
#else
MG_FN float mg_maximum(float a, float b) { return (a > b || a != a || (a == b && !mg_negative(a))) ? a : b; }
MG_FN float mg_minimum(float a, float b) { return (a < b || a != a || (a == b && mg_negative(a))) ? a : b; }
#endif
MG_FN double mg_maximum(double a, double b) { return (a > b || a != a || (a == b && !mg_negative(a))) ? a : b; }
MG_FN double mg_minimum(double a, double b) { return (a < b || a != a || (a == b && mg_negative(a))) ? a : b; }

// ---- Element-wise functions: integers and bool ---------------------------------------------------------------------------

// U is the unsigned type of at least 32 bits in which T wraps.
#define MG_INTEGER(T, U, BITS)                                                                                          \
    MG_FN T mg_neg(T x) { return (T)((U)0 - (U)x); }                                                                    \
    MG_FN T mg_abs(T x) { return x < (T)0 ? mg_neg(x) : x; }                                                            \
    MG_FN T mg_sign(T x) { return (T)((x > (T)0) - (x < (T)0)); }                                                       \
    MG_FN T mg_not(T x) { return (T)~x; }                                                                               \
    MG_FN T mg_add(T a, T b) { return (T)((U)a + (U)b); }                                                               \
    MG_FN T mg_sub(T a, T b) { return (T)((U)a - (U)b); }                                                               \
    MG_FN T mg_mul(T a, T b) { return (T)((U)a * (U)b); }                                                               \
    MG_FN T mg_fma(T a, T b, T c) { return (T)((U)a * (U)b + (U)c); }                                                   \
    MG_FN T mg_div(T a, T b) {                                                                                          \
        if (b == (T)0) return (T)~(T)0;                                                                                 \
        if (b == (T)~(T)0 && (T)~(T)0 < (T)0) return mg_neg(a);                                                         \
        return (T)(a / b);                                                                                              \
    }                                                                                                                   \
    MG_FN T mg_rem(T a, T b) {                                                                                          \
        if (b == (T)0) return a;                                                                                        \
        if (b == (T)~(T)0 && (T)~(T)0 < (T)0) return (T)0;                                                              \
        return (T)(a % b);                                                                                              \
    }                                                                                                                   \
    MG_FN T mg_div_floor(T a, T b) {                                                                                    \
        T rest = mg_rem(a, b);                                                                                          \
        bool below = b != (T)0 && rest != (T)0 && (rest < (T)0) != (b < (T)0);                                          \
        return below ? mg_sub(mg_div(a, b), (T)1) : mg_div(a, b);                                                       \
    }                                                                                                                   \
    MG_FN T mg_mod_floor(T a, T b) {                                                                                    \
        T rest = mg_rem(a, b);                                                                                          \
        return b != (T)0 && rest != (T)0 && (rest < (T)0) != (b < (T)0) ? mg_add(rest, b) : rest;                       \
    }                                                                                                                   \
    MG_FN T mg_shl(T a, T b) { return (mg_u64)b < (mg_u64)BITS ? (T)((U)a << (U)b) : (T)0; }                            \
    MG_FN T mg_shr(T a, T b) { return (T)(a >> (T)((mg_u64)b < (mg_u64)BITS ? b : (T)(BITS - 1)) >> ((mg_u64)b < (mg_u64)BITS ? 0 : 1)); }
MG_INTEGER(signed char, unsigned, 8)
MG_INTEGER(unsigned char, unsigned, 8)
MG_INTEGER(int, unsigned, 32)
MG_INTEGER(unsigned, unsigned, 32)
MG_INTEGER(long long, mg_u64, 64)

MG_FN bool mg_not(bool x) { return !x; }

#define MG_BITWISE(T)                                                                                                   \
    MG_FN T mg_and(T a, T b) { return (T)(a & b); }                                                                     \
    MG_FN T mg_or(T a, T b) { return (T)(a | b); }                                                                      \
    MG_FN T mg_xor(T a, T b) { return (T)(a ^ b); }
MG_BITWISE(bool)
MG_BITWISE(signed char)
MG_BITWISE(unsigned char)
MG_BITWISE(int)
MG_BITWISE(unsigned)
MG_BITWISE(long long)

#define MG_ORDERED(T)                                                                                                   \
    MG_FN T mg_maximum(T a, T b) { return a > b ? a : b; }                                                              \
    MG_FN T mg_minimum(T a, T b) { return a < b ? a : b; }
MG_ORDERED(signed char)
MG_ORDERED(unsigned char)
MG_ORDERED(int)
MG_ORDERED(unsigned)
MG_ORDERED(long long)

// As bits, for which the compiler of CUDA needs no branches.
MG_FN bool mg_maximum(bool a, bool b) { return mg_or(a, b); }
MG_FN bool mg_minimum(bool a, bool b) { return mg_and(a, b); }

// ---- Warps ------------------------------------------------------------------------------------------------------------

#define MG_ALL_LANES 0xffffffffu

template <class T> MG_FN T mg_shfl_xor(T x, int offset) { return __shfl_xor_sync(MG_ALL_LANES, x, offset); }
template <class T> MG_FN T mg_shfl_up(T x, int offset) { return __shfl_up_sync(MG_ALL_LANES, x, offset); }
#define MG_SHUFFLE_AS_INT(T)                                                                                            \
    MG_FN T mg_shfl_xor(T x, int offset) { return (T)__shfl_xor_sync(MG_ALL_LANES, (int)x, offset); }                   \
    MG_FN T mg_shfl_up(T x, int offset) { return (T)__shfl_up_sync(MG_ALL_LANES, (int)x, offset); }
MG_SHUFFLE_AS_INT(bool)
MG_SHUFFLE_AS_INT(signed char)
MG_SHUFFLE_AS_INT(unsigned char)

// Whether the candidate (b, j) comes before (a, i) as greatest or smallest: NaN first, then the extreme, then the index.
template <class T> MG_FN bool mg_argmax_before(T a, long long i, T b, long long j) {
    if (b != b) return a == a || j < i;
    return a == a && (b > a || (b == a && j < i));
}
template <class T> MG_FN bool mg_argmin_before(T a, long long i, T b, long long j) {
    if (b != b) return a == a || j < i;
    return a == a && (b < a || (b == a && j < i));
}

// ---- Tensor cores -------------------------------------------------------------------------------------------------------

// Four 8x8 matrices of 16-bit elements in shared memory, lane l giving the address of row l % 8 of matrix l / 8. Each lane
// gets of each matrix the elements (l / 4, 2 (l % 4)) and the one behind it; transposed, (2 (l % 4), l / 4) and the one
// below it. mg_mma adds to d the product of a 16x16 and a 16x8 matrix that were loaded so.
#ifdef __CUDACC__
#if __CUDA_ARCH__ >= 800
MG_FN void mg_ldmatrix(unsigned (&r)[4], const unsigned short* row) {
    asm volatile("{ .reg .u64 p; cvta.to.shared.u64 p, %4; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [p]; }"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "l"(row) : "memory");
}

MG_FN void mg_ldmatrix_trans(unsigned (&r)[4], const unsigned short* row) {
    asm volatile("{ .reg .u64 p; cvta.to.shared.u64 p, %4; ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [p]; }"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "l"(row) : "memory");
}

#define MG_MMA(NAME)                                                                                                    \
    MG_FN void mg_mma_##NAME(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {                         \
        asm("mma.sync.aligned.m16n8k16.row.col.f32." #NAME "." #NAME ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "        \
            "{%8, %9}, {%0, %1, %2, %3};"                                                                               \
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                            \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                                            \
    }
MG_MMA(f16)
MG_MMA(bf16)
#endif
#else
MG_FN void mg_ldmatrix(unsigned (&r)[4], const unsigned short* row) {
    int lane = threadIdx.x % 32;
    for (int i = 0; i < 4; ++i) {
        const unsigned short* p = (const unsigned short*)__shfl_sync(MG_ALL_LANES, (mg_u64)row, 8 * i + lane / 4);
        r[i] = p[2 * (lane % 4)] | (unsigned)p[2 * (lane % 4) + 1] << 16;
    }
}

MG_FN void mg_ldmatrix_trans(unsigned (&r)[4], const unsigned short* row) {
    int lane = threadIdx.x % 32;
    for (int i = 0; i < 4; ++i) {
        r[i] = 0;
        for (int j = 0; j < 2; ++j) {
            mg_u64 p = __shfl_sync(MG_ALL_LANES, (mg_u64)row, 8 * i + 2 * (lane % 4) + j);
            r[i] |= (unsigned)((const unsigned short*)p)[lane / 4] << (16 * j);
        }
    }
}

#define MG_MMA(NAME)                                                                                                    \
    MG_FN void mg_mma_##NAME(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {                         \
        int lane = threadIdx.x % 32;                                                                                    \
        for (int half = 0; half < 2; ++half) {                                                                          \
            for (int quarter = 0; quarter < 4; ++quarter) {                                                             \
                int left = lane / 4 * 4 + quarter, right = lane % 4 * 8 + quarter;                                      \
                unsigned x[2], y[2];                                                                                    \
                for (int i = 0; i < 2; ++i) {                                                                           \
                    x[i] = __shfl_sync(MG_ALL_LANES, a[i + 2 * half], left);                                            \
                    y[i] = __shfl_sync(MG_ALL_LANES, half ? b1 : b0, right + 4 * i);                                    \
                }                                                                                                       \
                for (int i = 0; i < 4; ++i) {                                                                           \
                    for (int k = 0; k < 2; ++k) {                                                                       \
                        float u = mg_from_##NAME((unsigned short)(x[i / 2] >> (16 * k)));                               \
                        d[i] += u * mg_from_##NAME((unsigned short)(y[i % 2] >> (16 * k)));                             \
                    }                                                                                                   \
                }                                                                                                       \
            }                                                                                                           \
        }                                                                                                               \
    }
MG_MMA(f16)
MG_MMA(bf16)
#endif
