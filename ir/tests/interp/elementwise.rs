//! The interpreter's element-wise ops and conversions against constants.

#![allow(clippy::approx_constant, clippy::excessive_precision, reason = "the constants are what another program wrote")]

use crate::common::{FLOATS, INF, INTEGERS, NAN, check, numbers, of, one};
use half::{bf16, f16};
use monograph_ir::interp::Tensor;
use monograph_ir::{DType, Elementwise, Op};

/// Checks one op over lists of numbers, for a dtype.
#[track_caller]
fn unary(op: Elementwise, dtype: DType, cases: &[(f64, f64)]) {
    let (x, y): (Vec<f64>, Vec<f64>) = cases.iter().copied().unzip();
    check(op, &[&of(dtype, [x.len()], &x)], &of(op.result(dtype), [y.len()], &y));
}

#[track_caller]
fn binary(op: Elementwise, dtype: DType, cases: &[(f64, f64, f64)]) {
    let column = |f: fn(&(f64, f64, f64)) -> f64| cases.iter().map(f).collect::<Vec<_>>();
    let (a, b, y) = (column(|c| c.0), column(|c| c.1), column(|c| c.2));
    let n = cases.len();
    check(op, &[&of(dtype, [n], &a), &of(dtype, [n], &b)], &of(op.result(dtype), [n], &y));
}

/// Checks a function within some units of the last place of the dtype.
#[track_caller]
fn close(op: Elementwise, dtype: DType, operands: &[f64], expected: f64) {
    let digits = match dtype {
        DType::F16 => 11,
        DType::BF16 => 8,
        DType::F32 => 24,
        _ => 53,
    };
    // Half a unit of rounding for the narrow types, which are computed in f32; two for the functions of f32 and f64.
    let units = if digits < 24 { 0.51 } else { 2.0 };
    let operands: Vec<Tensor> = operands.iter().map(|&x| of(dtype, [], &[x])).collect();
    let found = one(op, &operands.iter().collect::<Vec<_>>()).get_f64(0).unwrap();
    if dtype == DType::F16 && expected.abs() > 65504.0 {
        assert_eq!(found, expected.signum() * INF, "{op} {dtype}");
        return;
    }
    // An exponent of f16 does not go below -14.
    let exponent = expected.abs().log2().floor().max(if dtype == DType::F16 { -14.0 } else { -1000.0 });
    let unit = if expected == 0.0 { 0.0 } else { (exponent - (digits - 1) as f64).exp2() };
    assert!((found - expected).abs() <= units * unit, "{op} {dtype} of {operands:?}: {found:e}, not {expected:e}");
}

/// Arguments, exact in every float dtype, and values. Written by Python with `mpmath.mp.prec = 200`:
/// `float(f(mpf(x)))` for `mpmath.exp`, `expm1`, `log`, `log1p`, `sqrt`, `1 / sqrt`, `sin`, `cos`, `tanh`, `erf`.
#[rustfmt::skip]
const FUNCTIONS: &[(Elementwise, &[(f64, f64)])] = &[
    (Elementwise::Exp, &[
        (0.0009765625, 1.0009770394924165),
        (0.125, 1.1331484530668263),
        (0.5, 1.6487212707001282),
        (0.75, 2.117000016612675),
        (1.0, 2.718281828459045),
        (1.5, 4.4816890703380645),
        (2.0, 7.38905609893065),
        (3.25, 25.790339917193062),
        (7.0, 1096.6331584284585),
        (20.0, 485165195.4097903),
        (-0.0009765625, 0.9990239141819757),
        (-0.5, 0.6065306597126334),
        (-1.0, 0.36787944117144233),
        (-3.25, 0.03877420783172201),
        (-20.0, 2.061153622438558e-09),
    ]),
    (Elementwise::Expm1, &[
        (0.0009765625, 0.0009770394924165351),
        (0.125, 0.13314845306682632),
        (0.5, 0.6487212707001282),
        (0.75, 1.1170000166126746),
        (1.0, 1.7182818284590453),
        (1.5, 3.481689070338065),
        (2.0, 6.38905609893065),
        (3.25, 24.790339917193062),
        (7.0, 1095.6331584284585),
        (20.0, 485165194.4097903),
        (-0.0009765625, -0.0009760858180243377),
        (-0.5, -0.3934693402873666),
        (-1.0, -0.6321205588285577),
        (-3.25, -0.961225792168278),
        (-20.0, -0.9999999979388464),
    ]),
    (Elementwise::Log, &[
        (0.0009765625, -6.931471805599453),
        (0.125, -2.0794415416798357),
        (0.5, -0.6931471805599453),
        (0.75, -0.2876820724517809),
        (1.0, 0.0),
        (1.5, 0.4054651081081644),
        (2.0, 0.6931471805599453),
        (3.25, 1.1786549963416462),
        (7.0, 1.9459101490553132),
        (20.0, 2.995732273553991),
    ]),
    (Elementwise::Log1p, &[
        (0.0009765625, 0.0009760859730554589),
        (0.125, 0.11778303565638346),
        (0.5, 0.4054651081081644),
        (0.75, 0.5596157879354227),
        (1.0, 0.6931471805599453),
        (1.5, 0.9162907318741551),
        (2.0, 1.0986122886681098),
        (3.25, 1.4469189829363254),
        (7.0, 2.0794415416798357),
        (20.0, 3.044522437723423),
        (-0.0009765625, -0.0009770396478266127),
        (-0.5, -0.6931471805599453),
    ]),
    (Elementwise::Sqrt, &[
        (0.0009765625, 0.03125),
        (0.125, 0.3535533905932738),
        (0.5, 0.7071067811865476),
        (0.75, 0.8660254037844386),
        (1.0, 1.0),
        (1.5, 1.224744871391589),
        (2.0, 1.4142135623730951),
        (3.25, 1.8027756377319946),
        (7.0, 2.6457513110645907),
        (20.0, 4.47213595499958),
    ]),
    (Elementwise::Rsqrt, &[
        (0.0009765625, 32.0),
        (0.125, 2.8284271247461903),
        (0.5, 1.4142135623730951),
        (0.75, 1.1547005383792515),
        (1.0, 1.0),
        (1.5, 0.816496580927726),
        (2.0, 0.7071067811865476),
        (3.25, 0.5547001962252291),
        (7.0, 0.37796447300922725),
        (20.0, 0.22360679774997896),
    ]),
    (Elementwise::Sin, &[
        (0.0009765625, 0.0009765623447795783),
        (0.125, 0.12467473338522769),
        (0.5, 0.479425538604203),
        (0.75, 0.6816387600233341),
        (1.0, 0.8414709848078965),
        (1.5, 0.9974949866040544),
        (2.0, 0.9092974268256817),
        (3.25, -0.10819513453010837),
        (7.0, 0.6569865987187891),
        (20.0, 0.9129452507276277),
        (-0.0009765625, -0.0009765623447795783),
        (-0.5, -0.479425538604203),
        (-1.0, -0.8414709848078965),
        (-3.25, 0.10819513453010837),
        (-20.0, -0.9129452507276277),
    ]),
    (Elementwise::Cos, &[
        (0.0009765625, 0.9999995231628797),
        (0.125, 0.992197667229329),
        (0.5, 0.8775825618903728),
        (0.75, 0.7316888688738209),
        (1.0, 0.5403023058681398),
        (1.5, 0.0707372016677029),
        (2.0, -0.4161468365471424),
        (3.25, -0.9941296760805463),
        (7.0, 0.7539022543433046),
        (20.0, 0.40808206181339196),
        (-0.0009765625, 0.9999995231628797),
        (-0.5, 0.8775825618903728),
        (-1.0, 0.5403023058681398),
        (-3.25, -0.9941296760805463),
        (-20.0, 0.40808206181339196),
    ]),
    (Elementwise::Tanh, &[
        (0.0009765625, 0.0009765621895592603),
        (0.125, 0.12435300177159621),
        (0.5, 0.46211715726000974),
        (0.75, 0.6351489523872873),
        (1.0, 0.7615941559557649),
        (1.5, 0.9051482536448664),
        (2.0, 0.9640275800758169),
        (3.25, 0.996997635486526),
        (7.0, 0.9999983369439447),
        (20.0, 1.0),
        (-0.0009765625, -0.0009765621895592603),
        (-0.5, -0.46211715726000974),
        (-1.0, -0.7615941559557649),
        (-3.25, -0.996997635486526),
        (-20.0, -1.0),
    ]),
    (Elementwise::Erf, &[
        (0.0009765625, 0.0011019324300718147),
        (0.125, 0.1403162048013338),
        (0.5, 0.5204998778130465),
        (0.75, 0.7111556336535151),
        (1.0, 0.8427007929497149),
        (1.5, 0.9661051464753108),
        (2.0, 0.9953222650189527),
        (3.25, 0.9999956972205363),
        (7.0, 1.0),
        (20.0, 1.0),
        (-0.0009765625, -0.0011019324300718147),
        (-0.5, -0.5204998778130465),
        (-1.0, -0.8427007929497149),
        (-3.25, -0.9999956972205363),
        (-20.0, -1.0),
    ]),
];

#[test]
fn transcendental_functions() {
    for (op, cases) in FUNCTIONS {
        for &(x, y) in *cases {
            FLOATS.into_iter().for_each(|dtype| close(*op, dtype, &[x], y));
        }
    }
}

/// Written by Python: `float(mpmath.power(mpf(a), mpf(b)))` and `float(mpmath.atan2(mpf(a), mpf(b)))`.
#[test]
fn functions_of_two_arguments() {
    let pow = [
        (2.0, 0.5, 1.4142135623730951),
        (0.5, -3.0, 8.0),
        (-2.0, 3.0, -8.0),
        (1.5, 2.5, 2.7556759606310752),
        (10.0, -2.0, 0.01),
    ];
    let atan2 = [
        (1.0, 1.0, 0.7853981633974483),
        (1.0, -1.0, 2.356194490192345),
        (-1.0, -1.0, -2.356194490192345),
        (0.5, 2.0, 0.24497866312686414),
        (-3.0, 0.25, -1.4876550949064553),
        (2.0, 0.0, 1.5707963267948966),
    ];
    for dtype in FLOATS {
        pow.iter().for_each(|&(a, b, y)| close(Elementwise::Pow, dtype, &[a, b], y));
        atan2.iter().for_each(|&(a, b, y)| close(Elementwise::Atan2, dtype, &[a, b], y));
        let edges = [(0.0, 0.0, 1.0), (NAN, 0.0, 1.0), (1.0, NAN, 1.0), (0.0, -1.0, INF), (-2.0, 0.5, NAN)];
        binary(Elementwise::Pow, dtype, &edges);
        binary(Elementwise::Atan2, dtype, &[(0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (NAN, 1.0, NAN), (1.0, INF, 0.0)]);
    }
}

#[test]
fn functions_at_their_edges() {
    for dtype in FLOATS {
        unary(Elementwise::Exp, dtype, &[(0.0, 1.0), (-INF, 0.0), (INF, INF), (NAN, NAN), (1000.0, INF)]);
        unary(Elementwise::Expm1, dtype, &[(-0.0, -0.0), (-INF, -1.0), (INF, INF), (NAN, NAN)]);
        unary(Elementwise::Log, dtype, &[(0.0, -INF), (-0.0, -INF), (-1.0, NAN), (INF, INF), (1.0, 0.0)]);
        unary(Elementwise::Log1p, dtype, &[(-1.0, -INF), (-2.0, NAN), (-0.0, -0.0), (INF, INF)]);
        unary(Elementwise::Sqrt, dtype, &[(4.0, 2.0), (-0.0, -0.0), (-1.0, NAN), (INF, INF)]);
        unary(Elementwise::Rsqrt, dtype, &[(4.0, 0.5), (0.0, INF), (-0.0, -INF), (-1.0, NAN), (INF, 0.0)]);
        unary(Elementwise::Sin, dtype, &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN)]);
        unary(Elementwise::Cos, dtype, &[(0.0, 1.0), (-INF, NAN)]);
        unary(Elementwise::Tanh, dtype, &[(INF, 1.0), (-INF, -1.0), (-0.0, -0.0), (NAN, NAN)]);
        unary(Elementwise::Erf, dtype, &[(INF, 1.0), (-INF, -1.0), (-0.0, -0.0), (NAN, NAN)]);
        unary(Elementwise::Floor, dtype, &[(1.5, 1.0), (-1.5, -2.0), (-0.0, -0.0), (INF, INF), (NAN, NAN)]);
        unary(Elementwise::Ceil, dtype, &[(1.5, 2.0), (-1.5, -1.0), (-0.5, -0.0)]);
        unary(Elementwise::Round, dtype, &[(0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-0.5, -0.0), (-2.5, -2.0)]);
        unary(Elementwise::Trunc, dtype, &[(1.75, 1.0), (-1.75, -1.0), (-0.5, -0.0)]);
        unary(Elementwise::IsNan, dtype, &[(NAN, 1.0), (INF, 0.0), (0.0, 0.0)]);
        unary(Elementwise::IsInf, dtype, &[(NAN, 0.0), (INF, 1.0), (-INF, 1.0), (1.0, 0.0)]);
        unary(Elementwise::IsFinite, dtype, &[(NAN, 0.0), (INF, 0.0), (-INF, 0.0), (1.0, 1.0)]);
        unary(Elementwise::Neg, dtype, &[(0.0, -0.0), (-0.0, 0.0), (INF, -INF), (2.5, -2.5)]);
        unary(Elementwise::Abs, dtype, &[(-0.0, 0.0), (-INF, INF), (-2.5, 2.5), (NAN, NAN)]);
        unary(Elementwise::Sign, dtype, &[(-0.0, -0.0), (0.0, 0.0), (-INF, -1.0), (0.25, 1.0), (NAN, NAN)]);
    }
}

/// `(a, b, a // b, a % b, fmod(a, b))`, written by NumPy 2.4 in float32: `floor_divide`, `remainder`, `fmod`.
#[rustfmt::skip]
const DIVISIONS: &[(f32, f32, f32, f32, f32)] = &{
    const INF: f32 = f32::INFINITY;
    const NAN: f32 = f32::NAN;
    [
        (7.0, 2.0, 3.0, 1.0, 1.0),
        (-7.0, 2.0, -4.0, 1.0, -1.0),
        (7.0, -2.0, -4.0, -1.0, 1.0),
        (-7.0, -2.0, 3.0, -1.0, -1.0),
        (1.0, 0.1, 9.0, 0.09999999, 0.09999999),
        (5.5, -2.0, -3.0, -0.5, 1.5),
        (-0.0, 3.0, -0.0, 0.0, -0.0),
        (0.0, -3.0, -0.0, -0.0, 0.0),
        (6.0, -3.0, -2.0, -0.0, 0.0),
        (-6.0, 3.0, -2.0, 0.0, -0.0),
        (1.0, INF, 0.0, 1.0, 1.0),
        (-1.0, INF, -1.0, INF, -1.0),
        (1.0, -INF, -1.0, -INF, 1.0),
        (-1.0, -INF, 0.0, -1.0, -1.0),
        (INF, 2.0, NAN, NAN, NAN),
        (-INF, 2.0, NAN, NAN, NAN),
        (INF, INF, NAN, NAN, NAN),
        (1.0, 0.0, INF, NAN, NAN),
        (-1.0, 0.0, -INF, NAN, NAN),
        (1.0, -0.0, -INF, NAN, NAN),
        (0.0, 0.0, NAN, NAN, NAN),
        (NAN, 1.0, NAN, NAN, NAN),
        (1.0, NAN, NAN, NAN, NAN),
        (1e+30, 1e-30, INF, 8.166816e-31, 8.166816e-31),
        (0.3, -0.1, -4.0, -0.099999994, 7.450581e-09),
    ]
};

#[test]
fn division_of_floats() {
    for &(a, b, quotient, floored, truncated) in DIVISIONS {
        let [a, b] = [a, b].map(Tensor::scalar);
        check(Elementwise::DivFloor, &[&a, &b], &Tensor::scalar(quotient));
        check(Elementwise::ModFloor, &[&a, &b], &Tensor::scalar(floored));
        check(Elementwise::Rem, &[&a, &b], &Tensor::scalar(truncated));
    }
    for dtype in FLOATS {
        binary(Elementwise::DivFloor, dtype, &[(-7.0, 2.0, -4.0), (7.0, -2.0, -4.0), (-1.0, INF, -1.0)]);
        binary(Elementwise::ModFloor, dtype, &[(-7.0, 3.0, 2.0), (7.0, -3.0, -2.0), (1.0, 0.0, NAN)]);
        binary(Elementwise::Rem, dtype, &[(-7.0, 3.0, -1.0), (7.0, -3.0, 1.0), (-6.0, 3.0, -0.0), (1.0, 0.0, NAN)]);
        binary(Elementwise::Div, dtype, &[(1.0, 0.0, INF), (1.0, -0.0, -INF), (0.0, 0.0, NAN), (1.0, 4.0, 0.25)]);
    }
}

#[test]
fn arithmetic_of_floats() {
    for dtype in FLOATS {
        binary(Elementwise::Add, dtype, &[(1.5, 2.0, 3.5), (-0.0, -0.0, -0.0), (-0.0, 0.0, 0.0), (INF, -INF, NAN)]);
        binary(Elementwise::Sub, dtype, &[(1.5, 2.0, -0.5), (INF, INF, NAN), (0.0, 0.0, 0.0)]);
        binary(Elementwise::Mul, dtype, &[(1.5, 2.0, 3.0), (INF, 0.0, NAN), (-1.0, 0.0, -0.0), (NAN, 0.0, NAN)]);
    }
    // Rounded to the dtype: 2048 + 1 is a tie in f16 and 2048 + 3 is a tie the other way; 60000 + 60000 overflows.
    binary(Elementwise::Add, DType::F16, &[(2048.0, 1.0, 2048.0), (2048.0, 3.0, 2052.0), (60000.0, 60000.0, INF)]);
    binary(Elementwise::Add, DType::BF16, &[(256.0, 1.0, 256.0), (256.0, 3.0, 260.0)]);
    binary(Elementwise::Mul, DType::F16, &[(0.00006103515625, 0.0009765625, 5.9604644775390625e-8)]);
}

#[test]
fn arithmetic_of_integers_wraps() {
    for dtype in INTEGERS {
        binary(Elementwise::Add, dtype, &[(3.0, 4.0, 7.0)]);
        binary(Elementwise::Sub, dtype, &[(9.0, 4.0, 5.0)]);
        binary(Elementwise::Mul, dtype, &[(3.0, 4.0, 12.0)]);
        binary(Elementwise::Div, dtype, &[(7.0, 2.0, 3.0), (0.0, 5.0, 0.0)]);
        binary(Elementwise::Rem, dtype, &[(7.0, 2.0, 1.0), (5.0, 0.0, 5.0)]);
        binary(Elementwise::DivFloor, dtype, &[(7.0, 2.0, 3.0)]);
        binary(Elementwise::ModFloor, dtype, &[(7.0, 2.0, 1.0), (5.0, 0.0, 5.0)]);
        unary(Elementwise::Abs, dtype, &[(7.0, 7.0), (0.0, 0.0)]);
        unary(Elementwise::Sign, dtype, &[(7.0, 1.0), (0.0, 0.0)]);
    }
    for dtype in [DType::I8, DType::I32, DType::I64] {
        binary(Elementwise::Div, dtype, &[(-7.0, 2.0, -3.0), (7.0, 0.0, -1.0), (-7.0, 0.0, -1.0)]);
        binary(Elementwise::Rem, dtype, &[(-7.0, 3.0, -1.0), (7.0, -3.0, 1.0), (-5.0, 0.0, -5.0)]);
        binary(
            Elementwise::DivFloor,
            dtype,
            &[(-7.0, 2.0, -4.0), (7.0, -2.0, -4.0), (-6.0, 2.0, -3.0), (7.0, 0.0, -1.0)],
        );
        binary(
            Elementwise::ModFloor,
            dtype,
            &[(-7.0, 3.0, 2.0), (7.0, -3.0, -2.0), (-5.0, 0.0, -5.0), (-6.0, 3.0, 0.0)],
        );
        unary(Elementwise::Neg, dtype, &[(7.0, -7.0), (0.0, 0.0)]);
        unary(Elementwise::Abs, dtype, &[(-7.0, 7.0)]);
        unary(Elementwise::Sign, dtype, &[(-7.0, -1.0)]);
    }
    binary(Elementwise::Sub, DType::U8, &[(3.0, 4.0, 255.0)]);
    binary(Elementwise::Mul, DType::U8, &[(16.0, 17.0, 16.0)]);
    binary(Elementwise::Div, DType::U8, &[(3.0, 0.0, 255.0)]);
    binary(Elementwise::DivFloor, DType::U32, &[(3.0, 0.0, 4294967295.0)]);
    unary(Elementwise::Neg, DType::U32, &[(1.0, 4294967295.0)]);
    binary(Elementwise::Add, DType::I8, &[(127.0, 1.0, -128.0)]);

    fn extremes<T: monograph_ir::interp::Cell>(min: T, minus_one: T, zero: T) {
        let [min, minus_one, zero] = [min, minus_one, zero].map(Tensor::scalar);
        check(Elementwise::Div, &[&min, &minus_one], &min);
        check(Elementwise::DivFloor, &[&min, &minus_one], &min);
        check(Elementwise::Rem, &[&min, &minus_one], &zero);
        check(Elementwise::ModFloor, &[&min, &minus_one], &zero);
        check(Elementwise::Neg, &[&min], &min);
        check(Elementwise::Abs, &[&min], &min);
        check(Elementwise::Sign, &[&min], &minus_one);
        check(Elementwise::Div, &[&min, &zero], &minus_one);
    }
    extremes(i8::MIN, -1, 0);
    extremes(i32::MIN, -1, 0);
    extremes(i64::MIN, -1, 0);
    check(Elementwise::Add, &[&Tensor::scalar(i64::MAX), &Tensor::scalar(1i64)], &Tensor::scalar(i64::MIN));
}

#[test]
fn greatest_and_smallest() {
    for dtype in FLOATS {
        let max = [(NAN, 1.0, NAN), (1.0, NAN, NAN), (-0.0, 0.0, 0.0), (0.0, -0.0, 0.0), (-0.0, -0.0, -0.0)];
        binary(Elementwise::Maximum, dtype, &max);
        let min = [(NAN, 1.0, NAN), (1.0, NAN, NAN), (-0.0, 0.0, -0.0), (0.0, -0.0, -0.0), (0.0, 0.0, 0.0)];
        binary(Elementwise::Minimum, dtype, &min);
        binary(Elementwise::Maximum, dtype, &[(INF, 1.0, INF), (-INF, -2.0, -2.0), (NAN, INF, NAN)]);
        binary(Elementwise::Minimum, dtype, &[(INF, 1.0, 1.0), (-INF, -2.0, -INF), (-INF, NAN, NAN)]);
    }
    for dtype in INTEGERS {
        binary(Elementwise::Maximum, dtype, &[(3.0, 4.0, 4.0), (4.0, 3.0, 4.0)]);
        binary(Elementwise::Minimum, dtype, &[(3.0, 4.0, 3.0), (4.0, 3.0, 3.0)]);
    }
    binary(Elementwise::Maximum, DType::I8, &[(-128.0, 127.0, 127.0)]);
    binary(Elementwise::Maximum, DType::U32, &[(4294967295.0, 1.0, 4294967295.0)]);
    binary(Elementwise::Maximum, DType::Bool, &[(0.0, 1.0, 1.0), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)]);
    binary(Elementwise::Minimum, DType::Bool, &[(0.0, 1.0, 0.0), (1.0, 1.0, 1.0)]);
}

#[test]
fn comparisons() {
    let relations = [
        (Elementwise::Eq, [0.0, 1.0, 0.0]),
        (Elementwise::Ne, [1.0, 0.0, 1.0]),
        (Elementwise::Lt, [1.0, 0.0, 0.0]),
        (Elementwise::Le, [1.0, 1.0, 0.0]),
        (Elementwise::Gt, [0.0, 0.0, 1.0]),
        (Elementwise::Ge, [0.0, 1.0, 1.0]),
    ];
    for (op, [less, equal, greater]) in relations {
        for dtype in numbers() {
            binary(op, dtype, &[(1.0, 2.0, less), (2.0, 2.0, equal), (3.0, 2.0, greater)]);
        }
        binary(op, DType::Bool, &[(0.0, 1.0, less), (1.0, 1.0, equal), (1.0, 0.0, greater)]);
        binary(op, DType::U8, &[(1.0, 255.0, less), (255.0, 1.0, greater)]);
        let nan = f64::from(op == Elementwise::Ne);
        for dtype in FLOATS {
            binary(
                op,
                dtype,
                &[(NAN, NAN, nan), (NAN, 1.0, nan), (1.0, NAN, nan), (-0.0, 0.0, equal), (-INF, INF, less)],
            );
        }
    }
}

#[test]
fn bits_and_shifts() {
    for dtype in INTEGERS {
        binary(Elementwise::And, dtype, &[(12.0, 10.0, 8.0)]);
        binary(Elementwise::Or, dtype, &[(12.0, 10.0, 14.0)]);
        binary(Elementwise::Xor, dtype, &[(12.0, 10.0, 6.0)]);
        let bits = 8.0 * dtype.size() as f64;
        binary(Elementwise::Shl, dtype, &[(3.0, 2.0, 12.0), (3.0, bits, 0.0), (3.0, 100.0, 0.0), (3.0, 0.0, 3.0)]);
        binary(Elementwise::Shr, dtype, &[(12.0, 2.0, 3.0), (12.0, bits, 0.0), (12.0, 100.0, 0.0)]);
        if dtype.is_signed_integer() {
            binary(Elementwise::Shl, dtype, &[(3.0, -1.0, 0.0), (-3.0, 1.0, -6.0)]);
            binary(
                Elementwise::Shr,
                dtype,
                &[(-5.0, 1.0, -3.0), (-5.0, bits, -1.0), (-5.0, -1.0, -1.0), (5.0, -1.0, 0.0)],
            );
            unary(Elementwise::Not, dtype, &[(0.0, -1.0), (5.0, -6.0)]);
        }
    }
    unary(Elementwise::Not, DType::U8, &[(5.0, 250.0)]);
    // (48 << 4) >> 4 in u8 is 0, (8 << 4) >> 4 in i8 is -8.
    binary(Elementwise::Shl, DType::U8, &[(48.0, 4.0, 0.0)]);
    binary(Elementwise::Shl, DType::I8, &[(8.0, 4.0, -128.0)]);
    binary(Elementwise::Shr, DType::I8, &[(-128.0, 4.0, -8.0), (-128.0, 7.0, -1.0)]);
    binary(Elementwise::Shr, DType::U8, &[(255.0, 7.0, 1.0)]);
    binary(Elementwise::And, DType::Bool, &[(1.0, 1.0, 1.0), (1.0, 0.0, 0.0)]);
    binary(Elementwise::Or, DType::Bool, &[(0.0, 0.0, 0.0), (1.0, 0.0, 1.0)]);
    binary(Elementwise::Xor, DType::Bool, &[(1.0, 1.0, 0.0), (1.0, 0.0, 1.0)]);
    unary(Elementwise::Not, DType::Bool, &[(1.0, 0.0), (0.0, 1.0)]);
}

#[test]
fn select_takes_from_two() {
    let mask = of(DType::Bool, [3], &[1.0, 0.0, 1.0]);
    for dtype in numbers() {
        let (a, b) = (of(dtype, [3], &[1.0, 2.0, 3.0]), of(dtype, [3], &[4.0, 5.0, 6.0]));
        check(Op::Select, &[&mask, &a, &b], &of(dtype, [3], &[1.0, 5.0, 3.0]));
    }
    let (no, yes) = (of(DType::Bool, [3], &[0.0; 3]), of(DType::Bool, [3], &[1.0; 3]));
    check(Op::Select, &[&mask, &no, &yes], &of(DType::Bool, [3], &[0.0, 1.0, 0.0]));
}

#[track_caller]
fn cast(from: DType, to: DType, cases: &[(f64, f64)]) {
    let (x, y): (Vec<f64>, Vec<f64>) = cases.iter().copied().unzip();
    check(Op::Cast(to), &[&of(from, [x.len()], &x)], &of(to, [y.len()], &y));
}

#[test]
fn casts_between_every_two_dtypes() {
    for from in DType::ALL {
        for to in DType::ALL {
            cast(from, to, &[(0.0, 0.0), (1.0, 1.0)]);
        }
    }
}

#[test]
fn casts_of_floats_saturate_and_round() {
    for from in FLOATS {
        cast(from, DType::Bool, &[(0.0, 0.0), (-0.0, 0.0), (0.5, 1.0), (NAN, 1.0), (INF, 1.0)]);
        cast(from, DType::I8, &[(NAN, 0.0), (INF, 127.0), (-INF, -128.0), (-1.75, -1.0), (300.0, 127.0)]);
        cast(from, DType::U8, &[(NAN, 0.0), (INF, 255.0), (-INF, 0.0), (-1.75, 0.0), (1.75, 1.0)]);
        cast(from, DType::I32, &[(NAN, 0.0), (INF, 2147483647.0), (-INF, -2147483648.0), (1.75, 1.0)]);
        cast(from, DType::U32, &[(NAN, 0.0), (INF, 4294967295.0), (-1.0, 0.0)]);
        for to in FLOATS {
            cast(from, to, &[(NAN, NAN), (INF, INF), (-INF, -INF), (-0.0, -0.0), (1.5, 1.5)]);
        }
        let edges = [i64::MAX, i64::MIN, 0];
        check(
            Op::Cast(DType::I64),
            &[&of(from, [3], &[INF, -INF, NAN])],
            &Tensor::from_vec([3], edges.to_vec()).unwrap(),
        );
    }
    let narrow = |x: f32, y: f32| {
        check(
            Op::Cast(DType::BF16),
            &[&Tensor::scalar(x)],
            &Tensor::scalar(bf16::from_bits((y.to_bits() >> 16) as u16)),
        )
    };
    narrow(0.269_140_877, 0.269_531_25);
    narrow(f32::MAX, f32::INFINITY);
    let signaling = of_bits(0x7f80_0001);
    assert!(one(Op::Cast(DType::BF16), &[&signaling]).get_f64(0).unwrap().is_nan());
    assert!(one(Op::Cast(DType::F16), &[&signaling]).get_f64(0).unwrap().is_nan());
    // Just above the tie between 1 and its upper neighbour: f64 -> f32 -> f16 would round twice, down to 1.
    let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
    check(Op::Cast(DType::F16), &[&Tensor::scalar(above)], &Tensor::scalar(f16::from_bits(0x3c01)));
    let above = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
    check(Op::Cast(DType::BF16), &[&Tensor::scalar(above)], &Tensor::scalar(bf16::from_bits(0x3f81)));
    check(Op::Cast(DType::F32), &[&Tensor::scalar(1e300)], &Tensor::scalar(f32::INFINITY));
}

fn of_bits(bits: u32) -> Tensor {
    Tensor::scalar(f32::from_bits(bits))
}

#[test]
fn casts_of_integers_wrap_and_round() {
    cast(DType::I32, DType::I8, &[(300.0, 44.0), (-129.0, 127.0), (128.0, -128.0)]);
    cast(DType::I32, DType::U8, &[(-1.0, 255.0), (256.0, 0.0)]);
    cast(DType::I64, DType::I32, &[(4294967297.0, 1.0), (2147483648.0, -2147483648.0)]);
    cast(DType::U8, DType::I8, &[(255.0, -1.0)]);
    cast(DType::I8, DType::U32, &[(-1.0, 4294967295.0)]);
    cast(DType::U32, DType::I64, &[(4294967295.0, 4294967295.0)]);
    cast(DType::U32, DType::F64, &[(4294967295.0, 4294967295.0)]);
    cast(DType::I32, DType::Bool, &[(256.0, 1.0), (0.0, 0.0), (-1.0, 1.0)]);
    cast(DType::I32, DType::F16, &[(2049.0, 2048.0), (2051.0, 2052.0), (70000.0, INF), (-70000.0, -INF)]);
    cast(DType::I32, DType::BF16, &[(257.0, 256.0), (259.0, 260.0)]);
    cast(DType::I32, DType::F32, &[(16777217.0, 16777216.0), (16777219.0, 16777220.0)]);
    // 2^54 + 2^30 + 1 lies just above a tie of f32, and f64 would round it onto the tie.
    let x = Tensor::scalar((1i64 << 54) + (1 << 30) + 1);
    check(Op::Cast(DType::F32), &[&x], &of_bits(0x5a80_0001));
    let x = Tensor::scalar((1i64 << 62) + (1 << 54) + 1);
    check(Op::Cast(DType::BF16), &[&x], &Tensor::scalar(bf16::from_bits(0x5e81)));
}

#[test]
fn bitcasts_keep_bits() {
    check(Op::Bitcast(DType::I32), &[&Tensor::scalar(1.0f32)], &Tensor::scalar(0x3f80_0000i32));
    let nan = of_bits(0x7f80_0001);
    let there = one(Op::Bitcast(DType::U32), &[&nan]);
    assert_eq!(there, Tensor::scalar(0x7f80_0001u32));
    assert_eq!(one(Op::Bitcast(DType::F32), &[&there]), nan);
    check(Op::Bitcast(DType::BF16), &[&Tensor::scalar(f16::from_bits(0x3f80))], &Tensor::scalar(bf16::from_f32(1.0)));
    check(Op::Bitcast(DType::F64), &[&Tensor::scalar(0x3ff0_0000_0000_0000i64)], &Tensor::scalar(1.0f64));
    check(Op::Bitcast(DType::I8), &[&Tensor::scalar(255u8)], &Tensor::scalar(-1i8));
    check(Op::Bitcast(DType::U8), &[&Tensor::scalar(true)], &Tensor::scalar(1u8));
}

#[test]
fn every_row_of_the_table_takes_every_dtype_of_its_domain() {
    for &op in Elementwise::ALL {
        for dtype in DType::ALL.into_iter().filter(|&d| op.domain().contains(d)) {
            for shape in [&[][..], &[0], &[2, 0], &[3, 2]] {
                let n = shape.iter().product();
                let x = of(dtype, shape, &vec![1.0; n]);
                let result = one(op, &vec![&x; op.arity()]);
                assert_eq!((result.dtype(), result.shape().dims()), (op.result(dtype), shape), "{op} {dtype}");
            }
        }
    }
}
