//! `lgamma`, `digamma` and `erfinv`: the same operations in the same order as `prelude/special.cu` of the compiler, so
//! that the interpreter and every device give equal bits.
//!
//! Sums, products, quotients, roots and fused multiply-adds alone; the logarithm and the sine are from here too.
//! `f32` is computed in `f64` and rounded once: within one unit in the last place. `f64` is within 4 units; beside their
//! roots below 0, `lgamma` and `digamma` are within some 1e-15 of the terms whose difference they are.

use std::f64::consts::PI;

fn horner(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |y, &c| f64::mul_add(y, x, c))
}

/// The natural logarithm.
fn ln(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return if x == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    }
    if x.is_infinite() {
        return x;
    }
    let subnormal = x < f64::MIN_POSITIVE;
    // x = (1 + f) · 2ᵏ with 1 + f between √½ and √2.
    let bits = (if subnormal { x * 18014398509481984.0 } else { x }).to_bits() + 0x9_5f62_0000_0000;
    let k = f64::from((bits >> 52) as i32 - if subnormal { 1077 } else { 1023 });
    let f = f64::from_bits((bits & 0xf_ffff_ffff_ffff) + 0x3fe6_a09e_0000_0000) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let half = 0.5 * f * f;
    let rest = s * (half + z * horner(&LOGARITHM, z)) + k * 1.9082149292705877e-10;
    k * 0.6931471803691238 - ((half - rest) - f)
}

/// The sine of `πr` for `r` in ±0.5.
fn sin_pi(r: f64) -> f64 {
    r * horner(&SINE, r * r)
}

/// `ln Γ(2 + t)` for `t` in -0.75..0.5.
fn lgamma_at_2(t: f64) -> f64 {
    t * horner(&GAMMA, t)
}

/// `ln Γ(x)` for finite `x` of at least 0.5.
fn lgamma_above(mut x: f64) -> f64 {
    if x >= 8.0 {
        let r = 1.0 / x;
        return f64::mul_add(x - 0.5, ln(x) - 1.0, 0.4189385332046727) + r * horner(&STIRLING, r * r);
    }
    if x < 1.25 {
        return lgamma_at_2(x - 1.0) - ln(x);
    }
    let mut product = 1.0;
    while x >= 2.5 {
        x -= 1.0;
        product *= x;
    }
    lgamma_at_2(x - 2.0) + ln(product)
}

/// The logarithm of the absolute value of the gamma function.
pub(super) fn lgamma(x: f64) -> f64 {
    if !x.is_finite() {
        return x * x;
    }
    let a = x.abs();
    if a < 0.5 {
        return lgamma_at_2(x) - ln(a * (1.0 + x));
    }
    if x > 0.0 {
        return lgamma_above(x);
    }
    let sine = sin_pi(a - a.round_ties_even()).abs();
    if sine == 0.0 {
        return f64::INFINITY;
    }
    ln(PI / (a * sine)) - lgamma_above(a)
}

/// `ψ(x)` for `x` above 0.
fn digamma_above(mut x: f64) -> f64 {
    if x >= 8.0 {
        let r = 1.0 / x;
        let u = r * r;
        return ln(x) - 0.5 * r - u * horner(&DIGAMMA_FAR, u);
    }
    let mut sum = 0.0;
    if x < 1.0 {
        sum = -1.0 / x;
        x += 1.0;
    }
    while x > 2.0 {
        x -= 1.0;
        sum += 1.0 / x;
    }
    // The root in two parts: beside it no digits are lost.
    ((x - 1.4616321449683622) - 9.549995429965697e-17) * horner(&DIGAMMA, x - 1.5) + sum
}

/// The derivative of the logarithm of the gamma function.
pub(super) fn digamma(x: f64) -> f64 {
    if !x.is_finite() {
        return if x > 0.0 { x } else { f64::NAN };
    }
    if x > 0.0 {
        return digamma_above(x);
    }
    if x == 0.0 {
        return f64::INFINITY.copysign(-x);
    }
    let r = x - x.round_ties_even();
    let a = r.abs();
    if a == 0.0 {
        return f64::NAN;
    }
    let cotangent = (sin_pi(0.5 - a) / sin_pi(a)).copysign(r);
    digamma_above(1.0 - x) - PI * cotangent
}

/// The inverse of the error function.
pub(super) fn erfinv(x: f64) -> f64 {
    let a = x.abs();
    if a >= 1.0 {
        return if a == 1.0 { x * f64::INFINITY } else { f64::NAN };
    }
    let w = -ln(f64::mul_add(-x, x, 1.0));
    if w < 6.25 {
        x * horner(&ERFINV_LOW, w - 3.125)
    } else if w < 16.0 {
        x * horner(&ERFINV_MIDDLE, w.sqrt() - 3.25)
    } else {
        x * horner(&ERFINV_HIGH, w.sqrt() - 5.0)
    }
}

/// `ln((1 + s) / (1 - s)) = 2s + s·z·f(z)` with `z = s²`. All tables begin with the highest power.
const LOGARITHM: [f64; 8] = [
    0.1308675766695207,
    0.13268760562036724,
    0.15386240172447838,
    0.18181795631498243,
    0.22222222391794727,
    0.28571428570803253,
    0.4000000000000088,
    0.6666666666666666,
];
/// `sin(πr) = r·f(r²)`.
const SINE: [f64; 9] = [
    7.697826768224191e-07,
    -2.1903497074626018e-05,
    0.0004662998161898394,
    -0.007370430505916944,
    0.0821458865731029,
    -0.5992645293189447,
    2.5501640398773007,
    -5.167712780049969,
    PI,
];
/// `ln Γ(2 + t) = t·f(t)`.
const GAMMA: [f64; 22] = [
    7.558472696788447e-08,
    5.025731736555141e-08,
    6.2426286817793866e-09,
    -1.9264000508094273e-07,
    2.0758927598859588e-07,
    -4.018330416059452e-07,
    9.670254916827003e-07,
    -2.052482416724873e-06,
    4.370089307840295e-06,
    -9.43727020655551e-06,
    2.0508175353649692e-05,
    -4.4926464931326535e-05,
    9.945740198894934e-05,
    -0.00022315474408602818,
    0.0005096695320648715,
    -0.0011927539122376619,
    0.002890510330482064,
    -0.007385551028663193,
    0.020580808427788703,
    -0.06735230105319819,
    0.3224670334241132,
    0.42278433509846713,
];
/// `ln Γ(x) = (x - 1/2) ln x - x + ln(2π)/2 + f(u)/x` with `u = 1/x²`.
const STIRLING: [f64; 8] = [
    -0.020855820837463117,
    0.0062081367662297935,
    -0.001914965912162907,
    0.0008417325268022405,
    -0.0005952380234291254,
    0.0007936507935117282,
    -0.0027777777777776747,
    0.08333333333333333,
];
/// `ψ(3/2 + t) = (3/2 + t - root)·f(t)`.
const DIGAMMA: [f64; 23] = [
    0.00011881232908510335,
    -0.0001782188548855923,
    9.653646261410062e-05,
    -0.00014480643368061614,
    0.00032395945401345196,
    -0.00048595039220036254,
    0.0006909255761282986,
    -0.0010364584817312839,
    0.0015633696313653504,
    -0.0023454947397380833,
    0.003518106563802472,
    -0.005279937255532708,
    0.007927021796868154,
    -0.011908220105959716,
    0.017907248317313294,
    -0.026975796659787055,
    0.040760833940846085,
    -0.06192213327548831,
    0.09498872445289039,
    -0.14840492305388092,
    0.24054248424078697,
    -0.4236274212814606,
    0.9510558760318328,
];
/// `ψ(x) = ln x - 1/(2x) - u·f(u)` with `u = 1/x²`.
const DIGAMMA_FAR: [f64; 9] = [
    1.7723438848038762,
    -0.4103919397123186,
    0.08284662584146768,
    -0.021088476563015532,
    0.007575734736252119,
    -0.0041666665982644955,
    0.003968253968150779,
    -0.008333333333333273,
    0.08333333333333333,
];
/// `erf⁻¹(x) = x·f(w - 3.125)` with `w = -ln(1 - x²)` below 6.25.
const ERFINV_LOW: [f64; 26] = [
    -1.9123778045391186e-23,
    -3.3795536525485224e-22,
    4.357475280244854e-21,
    1.8739434875095462e-20,
    -3.7848217521105335e-19,
    6.396664855709971e-19,
    1.5992591736199305e-17,
    -1.226305743260548e-16,
    -4.417003393665373e-17,
    6.525767922399858e-15,
    -3.998852309540432e-14,
    -8.074665167507013e-14,
    2.6303859148085384e-12,
    -1.2978692479994892e-11,
    -5.4142609576164565e-11,
    1.051223070748762e-09,
    -4.112661266924503e-09,
    -2.907039074871087e-08,
    4.234788178266526e-07,
    -1.3654691764135042e-06,
    -1.3882523394637344e-05,
    0.0001867342080200925,
    -0.0007407025341544301,
    -0.006033670871426909,
    0.2401581824255883,
    1.6536545626831027,
];
/// `erf⁻¹(x) = x·f(√w - 3.25)` with `w` in 6.25..16.
const ERFINV_MIDDLE: [f64; 21] = [
    7.680200479077053e-09,
    -1.5305397964152548e-08,
    -2.091453334773126e-08,
    1.3158663683192966e-07,
    -2.4549818963339823e-07,
    -2.761716223816241e-08,
    1.4815977874022539e-06,
    -3.985705945648173e-06,
    2.93257845538535e-06,
    1.2465028224217455e-05,
    -4.732068066544697e-05,
    6.828711739251955e-05,
    2.4031512865758357e-05,
    -0.0003550378137852452,
    0.0009532893415794137,
    -0.0016882755354488555,
    0.00249144209795696,
    -0.0037512085082247342,
    0.005370914553555033,
    1.0052589676941655,
    3.0838856104922208,
];
/// `erf⁻¹(x) = x·f(√w - 5)` with `w` from 16 on.
const ERFINV_HIGH: [f64; 20] = [
    5.85952287969185e-12,
    -2.046475568785427e-11,
    1.4805705256393737e-11,
    6.984714023193682e-11,
    -3.8086472098112223e-10,
    1.3155855085148128e-09,
    -3.534122481908987e-09,
    7.821715728266218e-09,
    -1.521362604976428e-08,
    2.9018565469183825e-08,
    -6.757277019284552e-08,
    2.2905281981040537e-07,
    -9.930254844201444e-07,
    4.526052530238807e-06,
    -1.96817711973768e-05,
    7.59952780960147e-05,
    -0.00021503011979911318,
    -0.0001387193183801074,
    1.0103004648645448,
    4.849906401408584,
];
