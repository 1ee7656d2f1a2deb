
// Element-wise functions of floats.

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
    MG_FN T mg_exp2(T x) { return exp2##S(x); }                                                                         \
    MG_FN T mg_log2(T x) { return log2##S(x); }                                                                         \
    MG_FN T mg_log10(T x) { return log10##S(x); }                                                                       \
    MG_FN T mg_cbrt(T x) { return cbrt##S(x); }                                                                         \
    MG_FN T mg_tan(T x) { return tan##S(x); }                                                                           \
    MG_FN T mg_asin(T x) { return asin##S(x); }                                                                         \
    MG_FN T mg_acos(T x) { return acos##S(x); }                                                                         \
    MG_FN T mg_atan(T x) { return atan##S(x); }                                                                         \
    MG_FN T mg_sinh(T x) { return sinh##S(x); }                                                                         \
    MG_FN T mg_cosh(T x) { return cosh##S(x); }                                                                         \
    MG_FN T mg_asinh(T x) { return asinh##S(x); }                                                                       \
    MG_FN T mg_acosh(T x) { return acosh##S(x); }                                                                       \
    MG_FN T mg_atanh(T x) { return atanh##S(x); }                                                                       \
    MG_FN T mg_erfc(T x) { return erfc##S(x); }                                                                         \
    MG_FN T mg_floor(T x) { return floor##S(x); }                                                                       \
    MG_FN T mg_ceil(T x) { return ceil##S(x); }                                                                         \
    MG_FN T mg_round(T x) { return rint##S(x); }                                                                        \
    MG_FN T mg_trunc(T x) { return trunc##S(x); }                                                                       \
    MG_FN bool mg_is_nan(T x) { return x != x; }                                                                        \
    MG_FN bool mg_is_finite(T x) { return x - x == (T)0; }                                                              \
    MG_FN bool mg_is_inf(T x) { return x == x && !mg_is_finite(x); }                                                    \
    MG_FN bool mg_sign_bit(T x) { return x == x && mg_negative(x); }                                                    \
    MG_FN T mg_add(T a, T b) { return a + b; }                                                                          \
    MG_FN T mg_sub(T a, T b) { return a - b; }                                                                          \
    MG_FN T mg_mul(T a, T b) { return a * b; }                                                                          \
    MG_FN T mg_div(T a, T b) { return a / b; }                                                                          \
    MG_FN T mg_rem(T a, T b) { return fmod##S(a, b); }                                                                  \
    MG_FN T mg_pow(T a, T b) { return pow##S(a, b); }                                                                   \
    MG_FN T mg_atan2(T a, T b) { return atan2##S(a, b); }                                                               \
    MG_FN T mg_hypot(T a, T b) { return hypot##S(a, b); }                                                               \
    MG_FN T mg_copysign(T a, T b) { return mg_sign_bit(b) ? -fabs##S(a) : fabs##S(a); }                                 \
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
