//! Rust's operators on tensors, and the refusal of its comparisons.

use super::tracer::{record, reject, scope, scope_or};
use super::{Operand, Tensor};
use crate::diagnostics::codes;
use monograph_ir::{Elementwise, Op, Shape, Spec};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::marker::PhantomData;
use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign, Mul, MulAssign,
    Neg, Not, Rem, RemAssign, Sub, SubAssign,
};

/// Some tensors stretched to one shape by NumPy's rule, or the poison of a diagnostic. Tensors without a static
/// shape are left as they are: the op that takes them will know what to do.
#[track_caller]
pub(super) fn align<const N: usize>(name: &'static str, mut tensors: [Tensor; N]) -> Result<[Tensor; N], Tensor> {
    let mut specs: SmallVec<[Spec; 3]> = SmallVec::new();
    for tensor in &tensors {
        match tensor.known() {
            Some(spec) => specs.push(spec),
            None => return Ok(tensors),
        }
    }
    let mut shape = Shape::scalar();
    for spec in &specs {
        shape = match shape.broadcast_with(&spec.shape) {
            Some(shape) => shape,
            None => return Err(does_not_broadcast(name, &tensors, &specs)),
        };
    }
    for (tensor, spec) in tensors.iter_mut().zip(&specs) {
        if spec.shape != shape {
            *tensor = record(Op::Broadcast(shape.clone()), &[*tensor]);
        }
    }
    Ok(tensors)
}

#[track_caller]
fn does_not_broadcast(name: &'static str, tensors: &[Tensor], specs: &[Spec]) -> Tensor {
    let list: Vec<String> = specs.iter().map(Spec::to_string).collect();
    let message = format!("`{}`: {}: the shapes do not broadcast", scope_or(name), list.join(" with "));
    let help = "shapes are aligned at the right, and only an extent of 1 repeats; `.unsqueeze(axis)` inserts one";
    reject(codes::BROADCAST, message, "shapes do not fit", tensors, &[help.to_string()])
}

/// A binary row of the element-wise table over broadcast operands.
#[track_caller]
pub(super) fn binary(op: Elementwise, a: Tensor, b: Tensor) -> Tensor {
    if let (Some(x), Some(y)) = (a.known_dtype(), b.known_dtype())
        && x != y
    {
        let message = format!("`{}`: {} with {}: the dtypes differ", scope_or(op.name()), a.spec(), b.spec());
        let help = format!("there is no implicit promotion; convert one side: `.cast(DType::{x:?})`");
        return reject(codes::DTYPES, message, "dtypes differ", &[a, b], &[help]);
    }
    let _scope = scope(op.name());
    match align(op.name(), [a, b]) {
        Ok(operands) => record(op, &operands),
        Err(poison) => poison,
    }
}

macro_rules! operators {
    ($($Trait:ident $method:ident $Assign:ident $assign:ident $op:ident [$($left:ty)*];)*) => {$(
        impl<R: Operand> $Trait<R> for Tensor {
            type Output = Tensor;

            #[track_caller]
            fn $method(self, rhs: R) -> Tensor {
                let rhs = rhs.tensor(self.known_dtype());
                binary(Elementwise::$op, self, rhs)
            }
        }

        impl<R: Operand> $Trait<R> for &Tensor {
            type Output = Tensor;

            #[track_caller]
            fn $method(self, rhs: R) -> Tensor {
                let rhs = rhs.tensor(self.known_dtype());
                binary(Elementwise::$op, *self, rhs)
            }
        }

        impl<R: Operand> $Assign<R> for Tensor {
            #[track_caller]
            fn $assign(&mut self, rhs: R) {
                let rhs = rhs.tensor(self.known_dtype());
                *self = binary(Elementwise::$op, *self, rhs);
            }
        }

        $(
            impl $Trait<Tensor> for $left {
                type Output = Tensor;

                #[track_caller]
                fn $method(self, rhs: Tensor) -> Tensor {
                    let lhs = self.tensor(rhs.known_dtype());
                    binary(Elementwise::$op, lhs, rhs)
                }
            }

            impl $Trait<&Tensor> for $left {
                type Output = Tensor;

                #[track_caller]
                fn $method(self, rhs: &Tensor) -> Tensor {
                    let lhs = self.tensor(rhs.known_dtype());
                    binary(Elementwise::$op, lhs, *rhs)
                }
            }
        )*
    )*};
}

// On the left only the two types that literals fall back to: with more, `2.0 * x` would no longer infer.
operators! {
    Add add AddAssign add_assign Add [f64 i32];
    Sub sub SubAssign sub_assign Sub [f64 i32];
    Mul mul MulAssign mul_assign Mul [f64 i32];
    Div div DivAssign div_assign Div [f64 i32];
    Rem rem RemAssign rem_assign Rem [f64 i32];
    BitAnd bitand BitAndAssign bitand_assign And [];
    BitOr bitor BitOrAssign bitor_assign Or [];
    BitXor bitxor BitXorAssign bitxor_assign Xor [];
}

macro_rules! prefixes {
    ($($Trait:ident $method:ident $op:ident;)*) => {$(
        impl $Trait for Tensor {
            type Output = Tensor;

            #[track_caller]
            fn $method(self) -> Tensor {
                record(Elementwise::$op, &[self])
            }
        }

        impl $Trait for &Tensor {
            type Output = Tensor;

            #[track_caller]
            fn $method(self) -> Tensor {
                record(Elementwise::$op, &[*self])
            }
        }
    )*};
}

prefixes! {
    Neg neg Neg;
    Not not Not;
}

/// Never true: the compiler refuses to compare tensors on the host, with this text.
#[diagnostic::on_unimplemented(
    message = "a traced tensor has no value yet, so the host cannot compare it or branch on it",
    label = "decides host control flow while tracing",
    note = "compare with `x.gt(&y)`, `.lt`, `.eq`, … (a bool tensor) and choose with `mask.select(&a, &b)`"
)]
pub trait HostTruth {}

/// What comparing a tensor with `R` on the host would be about.
pub struct Compared<R>(PhantomData<R>);

mod never {
    pub enum First {}
    pub enum Second {}
}

// Two impls that nobody can meet keep the question open until all types are known, so that the message of
// `HostTruth` is what rustc reports for `if x > y`.
#[diagnostic::do_not_recommend]
impl HostTruth for Compared<never::First> {}
#[diagnostic::do_not_recommend]
impl HostTruth for Compared<never::Second> {}

impl<R> PartialEq<R> for Tensor
where
    Compared<R>: HostTruth,
{
    fn eq(&self, _: &R) -> bool {
        false
    }
}

impl<R> PartialOrd<R> for Tensor
where
    Compared<R>: HostTruth,
{
    fn partial_cmp(&self, _: &R) -> Option<Ordering> {
        None
    }
}

/// The sum of tensors; the poison of a diagnostic for none, whose shape nobody knows.
impl std::iter::Sum for Tensor {
    #[track_caller]
    fn sum<I: Iterator<Item = Tensor>>(mut tensors: I) -> Tensor {
        let Some(mut total) = tensors.next() else {
            let help = "start from a tensor of the right shape: `tensors.fold(zeros(…), |a, b| a + b)`";
            let message = "the sum of no tensors has no shape".to_string();
            return reject(codes::OPERANDS, message, "nothing to add", &[], &[help.into()]);
        };
        for tensor in tensors {
            total += tensor;
        }
        total
    }
}
