//! What the tests of the interpreter share.

use monograph_ir::interp::{Tensor, evaluate_op};
use monograph_ir::{DType, Literal, Op, Shape, Spec};

pub(crate) const NAN: f64 = f64::NAN;
pub(crate) const INF: f64 = f64::INFINITY;
pub(crate) const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];
pub(crate) const INTEGERS: [DType; 5] = [DType::I8, DType::U8, DType::I32, DType::U32, DType::I64];

/// Every dtype that is a number.
pub(crate) fn numbers() -> impl Iterator<Item = DType> {
    INTEGERS.into_iter().chain(FLOATS)
}

/// A tensor of any dtype from numbers that it holds exactly.
#[track_caller]
pub(crate) fn of(dtype: DType, shape: impl Into<Shape>, values: &[f64]) -> Tensor {
    let mut bytes = Vec::new();
    for &value in values {
        let literal = Literal::from_f64(dtype, value);
        assert!(literal.to_f64() == value || value.is_nan(), "{value} is no {dtype}");
        bytes.extend_from_slice(&literal.to_le_bytes()[..dtype.size()]);
    }
    Tensor::from_bytes(Spec::new(dtype, shape), &bytes).expect("as many values as the shape has")
}

/// The one result of an op.
#[track_caller]
pub(crate) fn one(op: impl Into<Op>, operands: &[&Tensor]) -> Tensor {
    let operands: Vec<Tensor> = operands.iter().map(|&x| x.clone()).collect();
    match evaluate_op(&op.into(), &operands) {
        Ok(results) => match <[Tensor; 1]>::try_from(results) {
            Ok([result]) => result,
            Err(results) => panic!("{} results", results.len()),
        },
        Err(e) => panic!("{e}"),
    }
}

/// Checks a result to the bit (any NaN equals any other).
#[track_caller]
pub(crate) fn check(op: impl Into<Op>, operands: &[&Tensor], expected: &Tensor) {
    let op = op.into();
    let found = one(op.clone(), operands);
    let same = |(a, b): (f64, f64)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    let equal = found == *expected
        || found.dtype().is_float()
            && found.spec() == expected.spec()
            && found.to_f64_vec().into_iter().zip(expected.to_f64_vec()).all(same);
    assert!(equal, "{op:?} of {operands:?}\n   found {found:?}\nexpected {expected:?}");
}
