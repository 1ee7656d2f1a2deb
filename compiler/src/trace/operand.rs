//! `Operand`: what may stand beside a tensor.

use super::Tensor;
use super::tracer::{poison, record, with};
use crate::diagnostics::codes;
use half::{bf16, f16};
use monograph_ir::{Array, DType, Literal, Op, Scalar};
use std::panic::Location;

mod sealed {
    /// Keeps `Operand` to tensors, arrays and numbers.
    pub trait Sealed {}
}

/// What may stand beside a tensor: another tensor, an array (captured by reference as a resident constant), or a
/// host number (frozen into the graph, see [`Program::frozen`](super::Program::frozen)).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be combined with a tensor",
    label = "not a tensor, an array or a number",
    note = "there are no implicit promotions; a literal takes the tensor's dtype"
)]
pub trait Operand: sealed::Sealed {
    /// The dtype it has of itself; a number takes that of the other side.
    #[doc(hidden)]
    fn own_dtype(&self) -> Option<DType>;

    /// The tensor, a number being one of dtype `like`.
    #[doc(hidden)]
    #[track_caller]
    fn tensor(self, like: Option<DType>) -> Tensor;
}

impl sealed::Sealed for Tensor {}
impl Operand for Tensor {
    fn own_dtype(&self) -> Option<DType> {
        self.known_dtype()
    }

    fn tensor(self, _: Option<DType>) -> Tensor {
        self
    }
}

impl sealed::Sealed for &Tensor {}
impl Operand for &Tensor {
    fn own_dtype(&self) -> Option<DType> {
        self.known_dtype()
    }

    fn tensor(self, _: Option<DType>) -> Tensor {
        *self
    }
}

impl sealed::Sealed for &Array {}
impl Operand for &Array {
    fn own_dtype(&self) -> Option<DType> {
        Some(self.dtype())
    }

    #[track_caller]
    fn tensor(self, _: Option<DType>) -> Tensor {
        let location = Location::caller();
        with(|t| t.constant(self, location)).unwrap_or_else(Tensor::nowhere)
    }
}

/// A literal without a suffix is an `f64` or an `i32` here (that is Rust's fallback), so a number of every other
/// type was surely computed by the host.
macro_rules! numbers {
    ($($t:ty, $scalar:expr, $maybe_literal:expr;)*) => {$(
        impl sealed::Sealed for $t {}
        impl Operand for $t {
            fn own_dtype(&self) -> Option<DType> {
                None
            }

            #[track_caller]
            fn tensor(self, like: Option<DType>) -> Tensor {
                let scalar: fn($t) -> Result<Scalar, String> = $scalar;
                freeze(scalar(self), &self.to_string(), stringify!($t), $maybe_literal, like)
            }
        }
    )*};
}

fn exact<T: monograph_ir::Element>(value: T) -> Result<Scalar, String> {
    Ok(Scalar::new(value))
}

numbers! {
    f64, exact, true;
    i32, exact, true;
    bool, exact, true;
    f32, exact, false;
    f16, exact, false;
    bf16, exact, false;
    i8, exact, false;
    u8, exact, false;
    u32, exact, false;
    i64, exact, false;
    usize, |n| i64::try_from(n).map(Scalar::new).map_err(|_| format!("the usize {n} does not fit in i64")), false;
}

/// A host number as a constant of the graph.
#[track_caller]
fn freeze(
    scalar: Result<Scalar, String>,
    text: &str,
    rust_type: &'static str,
    maybe_literal: bool,
    like: Option<DType>,
) -> Tensor {
    let location = Location::caller();
    // Beside poison of unknown dtype any dtype will do, because the result is poison anyway.
    let dtype = like.unwrap_or(DType::F32);
    let converted = scalar.and_then(|s| s.convert(dtype).map_err(|e| e.to_string()));
    let scalar = match converted {
        Ok(scalar) => scalar,
        Err(message) => {
            let help = match dtype {
                DType::Bool => "compare the tensor with `.ne(0)`-like operations, or convert it: `.cast(DType::I32)`",
                _ if dtype.is_float() => {
                    "use a wider float, `.cast(DType::F64)`, or round the number on the host: `n as f32`"
                }
                _ => "convert the tensor first: `.cast(DType::F32)`",
            };
            with(|t| {
                let origin = t.origin(location);
                let message = format!("a number takes the dtype of the tensor beside it, but {message}");
                t.report(codes::NUMBER, message, "this number", origin, &[], &[help.to_string()]);
            });
            return poison();
        }
    };
    with(|t| t.freeze(text, rust_type, maybe_literal, location));
    let mut bits = [0; 8];
    bits[..scalar.bytes().len()].copy_from_slice(scalar.bytes());
    // Scalars hold native bytes; literals count bits from the lowest.
    let bits = match dtype.size() {
        1 => u64::from(bits[0]),
        2 => u64::from(u16::from_ne_bytes([bits[0], bits[1]])),
        4 => u64::from(u32::from_ne_bytes([bits[0], bits[1], bits[2], bits[3]])),
        _ => u64::from_ne_bytes(bits),
    };
    record(Op::Constant(Literal::from_bits(dtype, bits)), &[])
}
