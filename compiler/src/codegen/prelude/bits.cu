
// Floats as bits; f16 and bf16, which are stored as bits and computed in float.

MG_FN unsigned mg_bits(float x) { return __float_as_uint(x); }
MG_FN mg_u64 mg_bits(double x) { return (mg_u64)__double_as_longlong(x); }
MG_FN float mg_f32_of_bits(unsigned x) { return __uint_as_float(x); }
MG_FN double mg_f64_of_bits(mg_u64 x) { return __longlong_as_double((long long)x); }
MG_FN bool mg_negative(float x) { return (mg_bits(x) >> 31) != 0; }
MG_FN bool mg_negative(double x) { return (mg_bits(x) >> 63) != 0; }

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
