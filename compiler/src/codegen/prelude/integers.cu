
// Element-wise functions of integers and bool.

// U is the unsigned type of at least 32 bits in which T wraps.
#define MG_INTEGER(T, U, BITS)                                                                                          \
    MG_FN T mg_neg(T x) { return (T)((U)0 - (U)x); }                                                                    \
    MG_FN T mg_abs(T x) { return x < (T)0 ? mg_neg(x) : x; }                                                            \
    MG_FN T mg_sign(T x) { return (T)((x > (T)0) - (x < (T)0)); }                                                       \
    MG_FN T mg_count_ones(T x) { return (T)__popcll((mg_u64)x << (64 - BITS)); }                                        \
    MG_FN T mg_leading_zeros(T x) { return (T)(x == (T)0 ? BITS : __clzll((long long)((mg_u64)x << (64 - BITS)))); }    \
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
