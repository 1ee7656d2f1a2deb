
// lgamma, digamma and erfinv, which CUDA's library and the host's compute each in its own way. Of sums, products,
// quotients, roots and fused multiply-adds alone, in a fixed order, so that all devices and the reference interpreter
// (ir/src/interp/special.rs) give equal bits. f32 is computed in f64 and rounded once: within half a unit in the last
// place and a little, also beside the roots. `special.py` prints the coefficients.

template <int N> MG_FN double mg_horner(const double (&c)[N], double x) {
    double y = c[0];
    for (int i = 1; i < N; ++i) y = fma(y, x, c[i]);
    return y;
}

// The natural logarithm.
MG_FN double mg_ln(double x) {
    const double c[] = {
        0.1308675766695207, 0.13268760562036724, 0.15386240172447838, 0.18181795631498243, 0.22222222391794727,
        0.28571428570803253, 0.4000000000000088, 0.6666666666666666};
    if (!(x > 0.0)) return mg_f64_of_bits(x == 0.0 ? 0xfff0000000000000ull : 0x7ff8000000000000ull);
    if (x - x != 0.0) return x;
    bool subnormal = x < 2.2250738585072014e-308;
    // x = (1 + f) * 2^k with 1 + f between the roots of 1/2 and 2.
    mg_u64 bits = mg_bits(subnormal ? x * 18014398509481984.0 : x) + 0x95f6200000000ull;
    double k = (double)((int)(bits >> 52) - (subnormal ? 1077 : 1023));
    double f = mg_f64_of_bits((bits & 0xfffffffffffffull) + 0x3fe6a09e00000000ull) - 1.0;
    double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    double rest = s * (half + z * mg_horner(c, z)) + k * 1.9082149292705877e-10;
    return k * 0.6931471803691238 - ((half - rest) - f);
}

// The sine of pi * r for r in -0.5..0.5.
MG_FN double mg_sin_pi(double r) {
    const double c[] = {
        7.697826768224191e-07, -2.1903497074626018e-05, 0.0004662998161898394, -0.007370430505916944,
        0.0821458865731029, -0.5992645293189447, 2.5501640398773007, -5.167712780049969, 3.141592653589793};
    return r * mg_horner(c, r * r);
}

// ln gamma(2 + t) for t in -0.75..0.5.
MG_FN double mg_lgamma_at_2(double t) {
    const double c[] = {
        7.558472696788447e-08, 5.025731736555141e-08, 6.2426286817793866e-09, -1.9264000508094273e-07,
        2.0758927598859588e-07, -4.018330416059452e-07, 9.670254916827003e-07, -2.052482416724873e-06,
        4.370089307840295e-06, -9.43727020655551e-06, 2.0508175353649692e-05, -4.4926464931326535e-05,
        9.945740198894934e-05, -0.00022315474408602818, 0.0005096695320648715, -0.0011927539122376619,
        0.002890510330482064, -0.007385551028663193, 0.020580808427788703, -0.06735230105319819, 0.3224670334241132,
        0.42278433509846713};
    return t * mg_horner(c, t);
}

// ln gamma(x) for finite x of at least 0.5.
MG_FN double mg_lgamma_above(double x) {
    const double c[] = {
        -0.020855820837463117, 0.0062081367662297935, -0.001914965912162907, 0.0008417325268022405,
        -0.0005952380234291254, 0.0007936507935117282, -0.0027777777777776747, 0.08333333333333333};
    if (x >= 8.0) {
        double r = 1.0 / x;
        return fma(x - 0.5, mg_ln(x) - 1.0, 0.4189385332046727) + r * mg_horner(c, r * r);
    }
    if (x < 1.25) return mg_lgamma_at_2(x - 1.0) - mg_ln(x);
    double product = 1.0;
    for (; x >= 2.5; product *= x) x -= 1.0;
    return mg_lgamma_at_2(x - 2.0) + mg_ln(product);
}

MG_FN double mg_lgamma(double x) {
    if (x - x != 0.0) return x * x;
    double a = fabs(x);
    if (a < 0.5) return mg_lgamma_at_2(x) - mg_ln(a * (1.0 + x));
    if (x > 0.0) return mg_lgamma_above(x);
    double sine = fabs(mg_sin_pi(a - rint(a)));
    if (sine == 0.0) return mg_f64_of_bits(0x7ff0000000000000ull);
    return mg_ln(3.141592653589793 / (a * sine)) - mg_lgamma_above(a);
}

// digamma(x) for x above 0.
MG_FN double mg_digamma_above(double x) {
    const double near[] = {
        0.00011881232908510335, -0.0001782188548855923, 9.653646261410062e-05, -0.00014480643368061614,
        0.00032395945401345196, -0.00048595039220036254, 0.0006909255761282986, -0.0010364584817312839,
        0.0015633696313653504, -0.0023454947397380833, 0.003518106563802472, -0.005279937255532708,
        0.007927021796868154, -0.011908220105959716, 0.017907248317313294, -0.026975796659787055,
        0.040760833940846085, -0.06192213327548831, 0.09498872445289039, -0.14840492305388092, 0.24054248424078697,
        -0.4236274212814606, 0.9510558760318328};
    const double far[] = {
        1.7723438848038762, -0.4103919397123186, 0.08284662584146768, -0.021088476563015532, 0.007575734736252119,
        -0.0041666665982644955, 0.003968253968150779, -0.008333333333333273, 0.08333333333333333};
    if (x >= 8.0) {
        double r = 1.0 / x, u = r * r;
        return mg_ln(x) - 0.5 * r - u * mg_horner(far, u);
    }
    double sum = 0.0;
    if (x < 1.0) {
        sum = -1.0 / x;
        x += 1.0;
    }
    for (; x > 2.0; sum += 1.0 / x) x -= 1.0;
    // The root in two parts: beside it no digits are lost.
    return ((x - 1.4616321449683622) - 9.549995429965697e-17) * mg_horner(near, x - 1.5) + sum;
}

MG_FN double mg_digamma(double x) {
    if (x - x != 0.0) return x > 0.0 ? x : x - x;
    if (x > 0.0) return mg_digamma_above(x);
    if (x == 0.0) return copysign(mg_f64_of_bits(0x7ff0000000000000ull), -x);
    double r = x - rint(x), a = fabs(r);
    if (a == 0.0) return mg_f64_of_bits(0x7ff8000000000000ull);
    double cotangent = copysign(mg_sin_pi(0.5 - a) / mg_sin_pi(a), r);
    return mg_digamma_above(1.0 - x) - 3.141592653589793 * cotangent;
}

MG_FN double mg_erfinv(double x) {
    const double low[] = {
        -1.9123778045391186e-23, -3.3795536525485224e-22, 4.357475280244854e-21, 1.8739434875095462e-20,
        -3.7848217521105335e-19, 6.396664855709971e-19, 1.5992591736199305e-17, -1.226305743260548e-16,
        -4.417003393665373e-17, 6.525767922399858e-15, -3.998852309540432e-14, -8.074665167507013e-14,
        2.6303859148085384e-12, -1.2978692479994892e-11, -5.4142609576164565e-11, 1.051223070748762e-09,
        -4.112661266924503e-09, -2.907039074871087e-08, 4.234788178266526e-07, -1.3654691764135042e-06,
        -1.3882523394637344e-05, 0.0001867342080200925, -0.0007407025341544301, -0.006033670871426909,
        0.2401581824255883, 1.6536545626831027};
    const double middle[] = {
        7.680200479077053e-09, -1.5305397964152548e-08, -2.091453334773126e-08, 1.3158663683192966e-07,
        -2.4549818963339823e-07, -2.761716223816241e-08, 1.4815977874022539e-06, -3.985705945648173e-06,
        2.93257845538535e-06, 1.2465028224217455e-05, -4.732068066544697e-05, 6.828711739251955e-05,
        2.4031512865758357e-05, -0.0003550378137852452, 0.0009532893415794137, -0.0016882755354488555,
        0.00249144209795696, -0.0037512085082247342, 0.005370914553555033, 1.0052589676941655, 3.0838856104922208};
    const double high[] = {
        5.85952287969185e-12, -2.046475568785427e-11, 1.4805705256393737e-11, 6.984714023193682e-11,
        -3.8086472098112223e-10, 1.3155855085148128e-09, -3.534122481908987e-09, 7.821715728266218e-09,
        -1.521362604976428e-08, 2.9018565469183825e-08, -6.757277019284552e-08, 2.2905281981040537e-07,
        -9.930254844201444e-07, 4.526052530238807e-06, -1.96817711973768e-05, 7.59952780960147e-05,
        -0.00021503011979911318, -0.0001387193183801074, 1.0103004648645448, 4.849906401408584};
    double a = fabs(x);
    if (a >= 1.0) return a == 1.0 ? x * mg_f64_of_bits(0x7ff0000000000000ull) : mg_f64_of_bits(0x7ff8000000000000ull);
    double w = -mg_ln(fma(-x, x, 1.0));
    if (w < 6.25) return x * mg_horner(low, w - 3.125);
    return x * (w < 16.0 ? mg_horner(middle, sqrt(w) - 3.25) : mg_horner(high, sqrt(w) - 5.0));
}

MG_FN float mg_lgamma(float x) { return (float)mg_lgamma((double)x); }
MG_FN float mg_digamma(float x) { return (float)mg_digamma((double)x); }
MG_FN float mg_erfinv(float x) { return (float)mg_erfinv((double)x); }

// The next value of a dtype from `a` towards `b`: the numbers of one sign are in the order of their bits.
#define MG_NEXTAFTER(NAME, T, BITS, VALUE)                                                                              \
    MG_FN T mg_nextafter_##NAME(T a, T b) {                                                                             \
        if (a != a || b != b) return a + b;                                                                             \
        if (a == b) return b;                                                                                           \
        if (a == (T)0) return b > (T)0 ? VALUE(1) : -VALUE(1);                                                          \
        return VALUE((a < b) == (a > (T)0) ? BITS(a) + 1 : BITS(a) - 1);                                                \
    }
MG_NEXTAFTER(f16, float, mg_to_f16_bits, mg_from_f16)
MG_NEXTAFTER(bf16, float, mg_to_bf16_bits, mg_from_bf16)
MG_NEXTAFTER(f32, float, mg_bits, mg_f32_of_bits)
MG_NEXTAFTER(f64, double, mg_bits, mg_f64_of_bits)
