//! The closures of the cases that are Rust expressions, found by their text.

mod activations;
mod composites;
mod control;
mod convolution;
mod functions;
mod methods;
mod normalization;
mod order;
mod pooling;
mod random;
mod sorting;
mod statistics;

use monograph::Tensor;

/// Computes the results of a call from its operands.
pub(crate) type Function = fn(&[Tensor]) -> Vec<Tensor>;

/// An expression as it is written, and as a function of its parameters.
pub(crate) struct Call {
    text: &'static str,
    function: Function,
}

/// All calls, by the file of cases that they are for.
pub(crate) fn all() -> impl Iterator<Item = &'static Call> {
    let groups = [
        activations::CALLS,
        composites::CALLS,
        control::CALLS,
        convolution::CALLS,
        functions::CALLS,
        methods::CALLS,
        normalization::CALLS,
        order::CALLS,
        pooling::CALLS,
        random::CALLS,
        sorting::CALLS,
        statistics::CALLS,
    ];
    groups.into_iter().flatten()
}

/// The function of that text.
pub(crate) fn find(text: &str) -> Option<Function> {
    all().find(|call| call.is(text)).map(|call| call.function)
}

impl Call {
    /// Whether the expression has that text, spaces and line breaks aside.
    pub(crate) fn is(&self, text: &str) -> bool {
        let letters = |s: &'static str| s.chars().filter(|c| !c.is_whitespace());
        letters(self.text).eq(text.chars().filter(|c| !c.is_whitespace()))
    }

    /// The expression.
    pub(crate) fn text(&self) -> &'static str {
        self.text
    }
}

/// What a call gives: one tensor or several.
trait Results {
    fn list(self) -> Vec<Tensor>;
}

impl Results for Tensor {
    fn list(self) -> Vec<Tensor> {
        vec![self]
    }
}

impl Results for Vec<Tensor> {
    fn list(self) -> Vec<Tensor> {
        self
    }
}

impl Results for (Tensor, Tensor) {
    fn list(self) -> Vec<Tensor> {
        vec![self.0, self.1]
    }
}

/// A list of calls: `|x, y| x + y;`, or `| | zeros(DType::F32, [3]);` without operands.
macro_rules! calls {
    ($(|$($parameter:ident),*| $body:expr;)*) => {
        &[$($crate::calls::Call {
            text: stringify!($body),
            function: |operands| {
                let &[$($parameter),*] = operands else {
                    panic!("{} operands for `{}`", operands.len(), stringify!($body));
                };
                $crate::calls::Results::list($body)
            },
        }),*]
    };
}
use calls;
