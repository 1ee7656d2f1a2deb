//! How far a result may be from the expected one.

use monograph::DType;
use monograph::ir::interp::Tensor;
use serde::Deserialize;

/// The greatest distance that a case allows. A dtype other than a float's is always compared to the bit.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    /// Equal bits, the payload of a NaN included.
    Bits,
    /// Equal bits, any NaN for any NaN.
    Exact,
    /// So many values of the dtype apart; NaN for NaN, an infinity and a zero for the same.
    Ulps(u64),
    /// `|found - expected| <= absolute + relative * |expected|`; NaN for NaN, an infinity for the same infinity.
    Close {
        /// In units of the expected value.
        relative: f64,
        /// In units of 1.
        absolute: f64,
    },
}

impl Bound {
    /// What lies outside of the bound: the number of elements, and the first few with the operands at their place.
    pub(crate) fn violation(self, inputs: &[Tensor], expected: &Tensor, found: &Tensor) -> Option<String> {
        if expected.spec() != found.spec() {
            return Some(format!("the result is {}, not {}", found.spec(), expected.spec()));
        }
        let wrong: Vec<usize> =
            (0..expected.shape().size()).filter(|&i| !self.holds(element(expected, i), element(found, i))).collect();
        let shown = wrong.iter().take(4).map(|&i| {
            let at_place = inputs.iter().filter(|x| x.shape() == expected.shape());
            let operands: Vec<String> = at_place.map(|x| element(x, i).to_string()).collect();
            let (found, expected) = (element(found, i), element(expected, i));
            format!("[{i}] of ({}) is {found}, not {expected}", operands.join(", "))
        });
        let shown: Vec<String> = shown.collect();
        (!wrong.is_empty()).then(|| format!("{} elements beyond {self:?}: {}", wrong.len(), shown.join("; ")))
    }

    fn holds(self, expected: Element, found: Element) -> bool {
        if expected.bits == found.bits {
            return true;
        }
        let (e, f) = (expected.value, found.value);
        if !expected.dtype.is_float() || matches!(self, Bound::Bits) {
            return false;
        }
        if e.is_nan() || f.is_nan() {
            return e.is_nan() && f.is_nan();
        }
        if e.is_infinite() || f.is_infinite() {
            return false;
        }
        match self {
            Bound::Bits | Bound::Exact => false,
            // Both zeros have one place; which of them it is counts.
            Bound::Ulps(n) => (1..=n).contains(&expected.place().abs_diff(found.place())),
            Bound::Close { relative, absolute } => (e - f).abs() <= absolute + relative * e.abs(),
        }
    }
}

/// One element of a tensor.
#[derive(Clone, Copy)]
struct Element {
    dtype: DType,
    /// Zero-extended.
    bits: u64,
    value: f64,
}

fn element(x: &Tensor, index: usize) -> Element {
    let size = x.dtype().size();
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(&x.bytes()[index * size..][..size]);
    Element { dtype: x.dtype(), bits: u64::from_le_bytes(bytes), value: x.get_f64(index).expect("it is inside") }
}

impl Element {
    /// The number of a float among all of its dtype in ascending order, both zeros being number 0.
    fn place(self) -> i64 {
        let sign = 1 << (8 * self.dtype.size() - 1);
        let magnitude = (self.bits & (sign - 1)) as i64;
        if self.bits & sign == 0 { magnitude } else { -magnitude }
    }
}

impl std::fmt::Display for Element {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = 2 * self.dtype.size();
        write!(f, "{:e} (0x{:0width$x})", self.value, self.bits)
    }
}

#[test]
fn bounds_hold_where_they_say() {
    let f16 = |x: f32| element(&Tensor::scalar(monograph::f16::from_f32(x)), 0);
    assert!(Bound::Ulps(1).holds(f16(1.0), f16(1.0 + 2f32.powi(-10))));
    assert!(!Bound::Ulps(1).holds(f16(1.0), f16(1.0 + 2f32.powi(-9))));
    assert!(Bound::Ulps(2).holds(f16(-6e-8), f16(6e-8)), "the smallest numbers are two apart");
    assert!(!Bound::Exact.holds(f16(0.0), f16(-0.0)) && !Bound::Ulps(1).holds(f16(0.0), f16(-0.0)));
    assert!(Bound::Exact.holds(f16(f32::NAN), f16(-f32::NAN)));
    assert!(!Bound::Bits.holds(f16(f32::NAN), f16(-f32::NAN)));
    assert!(!Bound::Ulps(9).holds(f16(65504.0), f16(f32::INFINITY)));
    let close = Bound::Close { relative: 0.5, absolute: 1.0 };
    assert!(close.holds(f16(4.0), f16(7.0)) && !close.holds(f16(4.0), f16(7.01)));
    let i8 = |x: i8| element(&Tensor::scalar(x), 0);
    assert!(!close.holds(i8(4), i8(5)) && close.holds(i8(4), i8(4)));
}
