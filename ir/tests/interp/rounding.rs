//! `add`, `sub`, `mul`, `div` and `sqrt` are correctly rounded, by an oracle of unbounded integers: `f32` and `f64` to
//! nearest even, subnormals too; `f16` and `bf16` as `f32`, rounded once more.

use crate::common::one;
use monograph_ir::interp::Tensor;
use monograph_ir::testing::Random;
use monograph_ir::{DType, Elementwise, Spec};

/// A binary format.
#[derive(Clone, Copy)]
struct Format {
    /// Bits of the significand, the hidden one included.
    precision: i32,
    /// Exponent of the smallest normal number.
    least: i32,
    /// Bits of the whole.
    width: i32,
}

const F16: Format = Format { precision: 11, least: -14, width: 16 };
const BF16: Format = Format { precision: 8, least: -126, width: 16 };
const F32: Format = Format { precision: 24, least: -126, width: 32 };
const F64: Format = Format { precision: 53, least: -1022, width: 64 };

/// `±digits · 2^exponent`, and a little more if `rest`.
#[derive(Clone, Copy, Debug)]
struct Exact {
    negative: bool,
    digits: u128,
    exponent: i32,
    rest: bool,
}

impl Format {
    fn of(dtype: DType) -> Format {
        match dtype {
            DType::F16 => F16,
            DType::BF16 => BF16,
            DType::F32 => F32,
            _ => F64,
        }
    }

    fn sign(self) -> u64 {
        1 << (self.width - 1)
    }

    fn infinity(self) -> u64 {
        self.sign() - (1 << (self.precision - 1))
    }

    /// The value of finite bits.
    fn exact(self, bits: u64) -> Exact {
        let magnitude = bits & (self.sign() - 1);
        let (field, fraction) = (magnitude >> (self.precision - 1), magnitude & ((1 << (self.precision - 1)) - 1));
        let hidden = if field == 0 { 0 } else { 1 << (self.precision - 1) };
        let exponent = self.least + (field.max(1) - 1) as i32 - (self.precision - 1);
        Exact { negative: bits & self.sign() != 0, digits: u128::from(fraction | hidden), exponent, rest: false }
    }

    /// The bits of the nearest number, ties to even. A zero without rest is +0.
    fn nearest(self, x: Exact) -> u64 {
        if x.digits == 0 && !x.rest {
            return 0;
        }
        let top = x.exponent + (127 - x.digits.leading_zeros() as i32);
        let quantum = top.max(self.least) - (self.precision - 1);
        let drop = quantum - x.exponent;
        let magnitude = if drop <= 0 {
            assert!(!x.rest, "enough digits were computed");
            x.digits << -drop
        } else if drop > 127 {
            0
        } else {
            let (kept, cut) = (x.digits >> drop, x.digits & ((1 << drop) - 1));
            let half = 1 << (drop - 1);
            let up = cut > half || cut == half && (x.rest || kept & 1 == 1);
            kept + u128::from(up)
        };
        // The hidden bit adds 1 to the exponent's field, as does a carry out of the significand.
        let field = (quantum + self.precision - 1 - self.least) as u64;
        let bits = (field << (self.precision - 1)) + magnitude as u64;
        bits.min(self.infinity()) | if x.negative { self.sign() } else { 0 }
    }
}

fn add(a: Exact, b: Exact) -> Exact {
    let (high, low) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
    let distance = high.exponent - low.exponent;
    if high.digits == 0 {
        return low;
    }
    // Far below the last digit that counts, one small number is like another: 2^-4 of the unit keeps its side.
    let (low, shift) = if distance > 64 {
        let digits = u128::from(low.digits != 0);
        (Exact { digits, exponent: high.exponent - 64, ..low }, 64)
    } else {
        (low, distance)
    };
    let signed = |x: Exact, digits: u128| if x.negative { -(digits as i128) } else { digits as i128 };
    let sum = signed(high, high.digits << shift) + signed(low, low.digits);
    Exact { negative: sum < 0, digits: sum.unsigned_abs(), exponent: low.exponent, rest: false }
}

fn mul(a: Exact, b: Exact) -> Exact {
    let (digits, exponent) = (a.digits * b.digits, a.exponent + b.exponent);
    Exact { negative: a.negative != b.negative, digits, exponent, rest: false }
}

/// For divisors other than 0, with at least 60 digits.
fn div(a: Exact, b: Exact) -> Exact {
    let shift = a.digits.leading_zeros() as i32 - 1;
    let dividend = a.digits << shift;
    let (digits, rest) = (dividend / b.digits, !dividend.is_multiple_of(b.digits));
    Exact { negative: a.negative != b.negative, digits, exponent: a.exponent - shift - b.exponent, rest }
}

/// For numbers above 0, with at least 60 digits.
fn sqrt(a: Exact) -> Exact {
    let shift = a.digits.leading_zeros() as i32 - 1;
    let shift = shift - (a.exponent - shift).rem_euclid(2);
    let square = a.digits << shift;
    let digits = square.isqrt();
    Exact { negative: false, digits, exponent: (a.exponent - shift) / 2, rest: digits * digits != square }
}

/// The result's bits in a dtype: in `f32` first for the 16-bit ones.
fn rounded(dtype: DType, x: Exact) -> u64 {
    match dtype {
        DType::F16 | DType::BF16 => {
            let (single, format) = (F32.nearest(x), Format::of(dtype));
            let magnitude = match single & (F32.sign() - 1) {
                0 => 0,
                m if m == F32.infinity() => format.infinity(),
                _ => return format.nearest(F32.exact(single)),
            };
            magnitude | if single & F32.sign() != 0 { format.sign() } else { 0 }
        }
        _ => Format::of(dtype).nearest(x),
    }
}

/// Finite numbers other than 0: of all bits, of exponents near each other, subnormals, and at the ends.
fn operands(dtype: DType, count: usize, seed: u64) -> Vec<u64> {
    let format = Format::of(dtype);
    let mut random = Random::new(seed);
    let one = ((-format.least) as u64) << (format.precision - 1);
    let fraction = (1u64 << (format.precision - 1)) - 1;
    let mut value = |i: usize| match i % 8 {
        0..=2 => random.bits(),
        // Few digits, so that results lie on ties.
        3 => one + (random.bits() & 7 << (format.precision - 4)),
        4 | 5 => one - (3 << (format.precision - 1)) + random.bits() % (fraction * 6),
        6 => random.bits() & fraction,
        _ => [1, fraction, fraction + 1, format.infinity() - 1, one, one + 1, one - 1][random.below(7)],
    };
    let signs = (0..count).map(|i: usize| i.is_multiple_of(3));
    let bits = signs.enumerate().map(|(i, negative)| {
        let magnitude = value(i) & (format.sign() - 1);
        let magnitude =
            if magnitude == 0 || magnitude >= format.infinity() { one + magnitude % fraction } else { magnitude };
        magnitude | if negative { format.sign() } else { 0 }
    });
    bits.collect()
}

fn tensor(dtype: DType, bits: &[u64]) -> Tensor {
    let bytes: Vec<u8> = bits.iter().flat_map(|b| b.to_le_bytes()[..dtype.size()].to_vec()).collect();
    Tensor::from_bytes(Spec::new(dtype, [bits.len()]), &bytes).expect("as many bytes as the spec has")
}

#[track_caller]
fn agrees(op: Elementwise, dtype: DType, operands: &[&[u64]], oracle: impl Fn(usize) -> Exact) {
    let tensors: Vec<Tensor> = operands.iter().map(|bits| tensor(dtype, bits)).collect();
    let found = one(op, &tensors.iter().collect::<Vec<_>>());
    for (i, bytes) in found.bytes().chunks(dtype.size()).enumerate() {
        let mut bits = [0; 8];
        bits[..bytes.len()].copy_from_slice(bytes);
        let (found, expected) = (u64::from_le_bytes(bits), rounded(dtype, oracle(i)));
        let of: Vec<String> = operands.iter().map(|x| format!("{:#x}", x[i])).collect();
        assert_eq!(found, expected, "{op} {dtype} of {of:?}: {found:#x}, not {expected:#x}");
    }
}

#[test]
fn arithmetic_is_correctly_rounded() {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let format = Format::of(dtype);
        let count = 40_000;
        let (a, mut b) = (operands(dtype, count, 1), operands(dtype, count, 2));
        b.rotate_left(5);
        // Differences that cancel.
        for i in (0..count).step_by(9) {
            b[i] = a[i].wrapping_add(i as u64 % 4).min(format.sign() + format.infinity() - 1);
        }
        let x = |i: usize| format.exact(a[i]);
        let y = |i: usize| format.exact(b[i]);
        let minus = |x: Exact| Exact { negative: !x.negative, ..x };
        let finite = |bits: &u64| bits & (format.sign() - 1) < format.infinity() && bits & (format.sign() - 1) != 0;
        assert!(a.iter().chain(&b).all(finite), "{dtype}");
        agrees(Elementwise::Add, dtype, &[&a, &b], |i| add(x(i), y(i)));
        agrees(Elementwise::Sub, dtype, &[&a, &b], |i| add(x(i), minus(y(i))));
        agrees(Elementwise::Mul, dtype, &[&a, &b], |i| mul(x(i), y(i)));
        agrees(Elementwise::Div, dtype, &[&a, &b], |i| div(x(i), y(i)));
        let positive: Vec<u64> = a.iter().map(|bits| bits & (format.sign() - 1)).collect();
        agrees(Elementwise::Sqrt, dtype, &[&positive], |i| sqrt(format.exact(positive[i])));
    }
}

/// The oracle itself, at values that the formats' definitions give.
#[test]
fn the_oracle_rounds_to_nearest_even() {
    let of = |digits, exponent, rest| Exact { negative: false, digits, exponent, rest };
    assert_eq!(F32.nearest(of(1, 0, false)), 0x3f80_0000);
    assert_eq!(F32.nearest(of((1 << 24) + 1, -24, false)), 0x3f80_0000, "a tie goes to the even one");
    assert_eq!(F32.nearest(of((1 << 24) + 1, -24, true)), 0x3f80_0001, "above a tie");
    assert_eq!(F32.nearest(of((1 << 24) + 3, -24, false)), 0x3f80_0002);
    assert_eq!(F32.nearest(of((1 << 25) - 1, -24, false)), 0x4000_0000, "a carry");
    assert_eq!(F32.nearest(of(1, 128, false)), 0x7f80_0000);
    assert_eq!(F32.nearest(of((1 << 25) - 1, 103, false)), 0x7f80_0000, "half a step above the greatest number");
    assert_eq!(F32.nearest(of((1 << 25) - 2, 103, false)), 0x7f7f_ffff);
    assert_eq!(F32.nearest(of(1, -149, false)), 1);
    assert_eq!(F32.nearest(of(1, -150, false)), 0);
    assert_eq!(F32.nearest(of(3, -151, false)), 1);
    assert_eq!(F16.nearest(of(65520, 0, false)), 0x7c00);
    assert_eq!(F16.nearest(of(65519, 0, false)), 0x7bff);
    assert_eq!(BF16.nearest(of(0x101, -8, false)), 0x3f80);
    assert_eq!(F64.exact(0x4008_0000_0000_0000).digits >> 51, 3);
}
