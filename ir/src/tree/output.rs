//! What a traced function can return, and what a program remembers of it.

use super::{Leaf, Path, Tree};
use crate::{Error, Spec};

/// A tree of `L`, or nothing at all: what a traced function returns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a traced function",
    note = "return a tensor, a tree of tensors (a tuple of at most 8, a `Vec`, a struct that derives `Tree`), or `()`"
)]
pub trait Outputs<L> {
    /// The same structure, of specs.
    type Form: Form;

    /// The form, with `f` of each output's place and itself, in order.
    fn finish(&self, f: &mut dyn FnMut(&Path, &L) -> Spec) -> Self::Form;
}

impl<L: Leaf, X: Tree<Leaf = L>> Outputs<L> for X {
    type Form = X::Map<Spec>;

    fn finish(&self, f: &mut dyn FnMut(&Path, &L) -> Spec) -> X::Map<Spec> {
        self.map_leaves(&mut Path::root(), f)
    }
}

impl<L: Leaf> Outputs<L> for () {
    type Form = ();

    fn finish(&self, _: &mut dyn FnMut(&Path, &L) -> Spec) {}
}

/// A tree of specs, or nothing: what a program remembers of its outputs and its state.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a form of outputs or state",
    note = "a form is `Spec`, a tree of `Spec` such as `Model<Spec>` or `(Spec, Spec)`, or `()`"
)]
pub trait Form {
    /// The same structure, of `U`.
    type With<U: Leaf>;

    /// The structure with `f` of each spec's place and itself, in order.
    fn fill<U: Leaf>(&self, f: &mut dyn FnMut(&Path, &Spec) -> U) -> Self::With<U>;
}

impl<X: Tree<Leaf = Spec>> Form for X {
    type With<U: Leaf> = X::Map<U>;

    fn fill<U: Leaf>(&self, f: &mut dyn FnMut(&Path, &Spec) -> U) -> X::Map<U> {
        self.map_leaves(&mut Path::root(), f)
    }
}

impl Form for () {
    type With<U: Leaf> = ();

    fn fill<U: Leaf>(&self, _: &mut dyn FnMut(&Path, &Spec) -> U) {}
}

/// What a traced function may return: its outputs, or a `Result` of them, so that `?` works inside.
///
/// It lives here because only the crate of [`Tree`] can know that a `Result` is none.
#[diagnostic::on_unimplemented(
    message = "a traced function cannot return `{Self}`",
    note = "return a tensor, a tree of tensors, `()`, or a `Result` of one of them with `monograph::Error`"
)]
pub trait Returned {
    /// The outputs.
    type Value;

    /// The outputs, or why there are none.
    ///
    /// # Errors
    /// The one that the function returned.
    fn value(self) -> Result<Self::Value, Error>;
}

impl<X: Tree> Returned for X {
    type Value = X;

    fn value(self) -> Result<X, Error> {
        Ok(self)
    }
}

impl Returned for () {
    type Value = ();

    fn value(self) -> Result<(), Error> {
        Ok(())
    }
}

impl<X> Returned for Result<X, Error> {
    type Value = X;

    fn value(self) -> Result<X, Error> {
        self
    }
}
