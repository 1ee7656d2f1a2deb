
// Casts between dtypes: as in the graph, floats saturate and NaN becomes 0.

template <class T> MG_FN bool mg_cast_bool(T x) { return x != (T)0; }

template <class T> MG_FN signed char mg_cast_i8(T x) { return (signed char)x; }
template <class T> MG_FN unsigned char mg_cast_u8(T x) { return (unsigned char)x; }

// A number that the compiler knows nothing of. ptxas (13.0) makes a comparison with 255 wrong where it sees that a number was
// limited to 0..255 and then cut to 8 bits.
#ifdef __CUDACC__
MG_FN int mg_opaque(int x) {
    asm("" : "+r"(x));
    return x;
}
#else
MG_FN int mg_opaque(int x) { return x; }
#endif

MG_FN unsigned char mg_cast_u8(int x) { return (unsigned char)mg_opaque(x); }
MG_FN unsigned char mg_cast_u8(unsigned x) { return (unsigned char)mg_opaque((int)x); }
MG_FN unsigned char mg_cast_u8(long long x) { return (unsigned char)mg_opaque((int)x); }

template <class T> MG_FN int mg_cast_i32(T x) { return (int)x; }
template <class T> MG_FN unsigned mg_cast_u32(T x) { return (unsigned)x; }
template <class T> MG_FN long long mg_cast_i64(T x) { return (long long)x; }

// To u8 through an unsigned integer and one limit, for the reason given at mg_opaque.
#define MG_CASTS_OF_FLOAT(T, TO_INT, TO_UINT, TO_LONG)                                                                  \
    MG_FN int mg_cast_i32(T x) { return x != x ? 0 : TO_INT(x); }                                                       \
    MG_FN unsigned mg_cast_u32(T x) { return x != x ? 0u : TO_UINT(x); }                                                \
    MG_FN long long mg_cast_i64(T x) { return x != x ? 0ll : TO_LONG(x); }                                              \
    MG_FN signed char mg_cast_i8(T x) {                                                                                 \
        int y = mg_cast_i32(x);                                                                                         \
        return (signed char)(y < -128 ? -128 : y > 127 ? 127 : y);                                                      \
    }                                                                                                                   \
    MG_FN unsigned char mg_cast_u8(T x) {                                                                               \
        unsigned y = mg_cast_u32(x);                                                                                    \
        return (unsigned char)(y < 255u ? y : 255u);                                                                    \
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
