//! Trees of leaves: what traced functions take and return.
//!
//! A model is a struct that is generic over its leaf, `Mlp<T>`: an `Mlp<Tensor>` while tracing, an `Mlp<Array>` with
//! data, an `Mlp<Spec>` for shapes. [`Tree`] walks such a struct and maps it to another leaf. On it rest
//!
//! - [`Signature`]: what can describe the inputs of a traced function,
//! - [`Bind`]: what can feed them at a replay,
//! - [`Outputs`] and [`Form`]: what a traced function can return, and what is remembered of it.
//!
//! Walking allocates nothing (a [`Path`] holds eight segments in place), because each replay walks its inputs.

mod bind;
mod containers;
mod input;
mod key;
mod output;
mod path;
mod scalar;
#[cfg(test)]
mod tests;

pub use bind::{Bind, Data, Source};
pub use input::{HasSpec, InputSpec, Signature};
pub use key::{Difference, Key, KeyPart};
pub use output::{Form, Outputs, Returned};
pub use path::{Path, Segment};
pub use scalar::{ConversionError, Scalar};

use crate::{Array, Spec};
use std::fmt::Debug;

/// What a walk over a [`Tree`] meets.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'a, L> {
    /// A leaf.
    Leaf(&'a L),
    /// How many elements a `Vec` has; its elements follow.
    Length(usize),
    /// Whether an `Option` is `Some`; what it holds follows.
    Present(bool),
    /// A field that does not mention the leaf: configuration, part of what a trace depends on.
    Static(&'a dyn Debug),
}

/// What stands at the ends of a [`Tree`]: a tensor, an array, a spec, an output.
///
/// Only Monograph's own types implement it. It is no subtrait of `Tree`, which would hide from the derived code that
/// a leaf maps to a leaf.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tensor, an array or a spec, nor a tree of them",
    label = "not a leaf of a tree",
    note = "derive `Tree` for a struct that is generic over its leaf: `#[derive(Tree)] struct Model<T> {{ w: T }}`",
    note = "numbers on the host are passed as a slice: `&values[..]`",
    note = "a field that is no tensor must not mention the leaf's type parameter; a tree is passed behind one `&`"
)]
pub trait Leaf: Sized {}

impl Leaf for Array {}
impl Leaf for Spec {}
impl Leaf for InputSpec {}

/// A structure of leaves: a leaf itself, a `Vec`, array, `Option` or tuple of trees, or a struct that derives it.
///
/// ```ignore
/// #[derive(Tree)]
/// struct Linear<T> { w: T, b: Option<T> }
/// #[derive(Tree)]
/// struct Mlp<T> { layers: Vec<Linear<T>>, eps: f64 }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tree of tensors",
    note = "derive it: `#[derive(Tree)] struct Model<T> {{ w: T }}`",
    note = "tuples of at most 8 trees, and arrays, `Vec` and `Option` of trees, are trees"
)]
pub trait Tree: Sized {
    /// What stands at the ends.
    type Leaf: Leaf;
    /// The same structure with other leaves.
    type Map<U: Leaf>: Tree<Leaf = U>;

    /// Calls `f` for each entry in order, with its place below `path`.
    fn visit<'a>(&'a self, path: &mut Path, f: &mut dyn FnMut(&Path, Entry<'a, Self::Leaf>));

    /// The structure with each leaf replaced by `f` of it, in the order of [`Tree::visit`].
    ///
    /// The function [`map`] is the same from the root. (The method is not called `map`, which would come before
    /// `Option::map` on a reference to an `Option`.)
    fn map_leaves<U: Leaf>(&self, path: &mut Path, f: &mut dyn FnMut(&Path, &Self::Leaf) -> U) -> Self::Map<U>;
}

impl<T: Leaf> Tree for T {
    type Leaf = T;
    type Map<U: Leaf> = U;

    fn visit<'a>(&'a self, path: &mut Path, f: &mut dyn FnMut(&Path, Entry<'a, T>)) {
        f(path, Entry::Leaf(self));
    }

    fn map_leaves<U: Leaf>(&self, path: &mut Path, f: &mut dyn FnMut(&Path, &T) -> U) -> U {
        f(path, self)
    }
}

/// The leaves in order.
pub fn leaves<X: Tree>(tree: &X) -> Vec<&X::Leaf> {
    let mut leaves = Vec::new();
    tree.visit(&mut Path::root(), &mut |_, entry| {
        if let Entry::Leaf(leaf) = entry {
            leaves.push(leaf);
        }
    });
    leaves
}

/// The leaves' places in order.
pub fn paths<X: Tree>(tree: &X) -> Vec<Path> {
    let mut paths = Vec::new();
    tree.visit(&mut Path::root(), &mut |path, entry| {
        if let Entry::Leaf(_) = entry {
            paths.push(path.clone());
        }
    });
    paths
}

/// The same structure with each leaf replaced by `f` of its place and itself.
pub fn map<X: Tree, U: Leaf>(tree: &X, mut f: impl FnMut(&Path, &X::Leaf) -> U) -> X::Map<U> {
    tree.map_leaves(&mut Path::root(), &mut f)
}

/// The same with a function that can fail.
///
/// # Errors
/// The first error of `f`, which is not called again after it.
pub fn try_map<X: Tree, U: Leaf, E>(
    tree: &X,
    mut f: impl FnMut(&Path, &X::Leaf) -> Result<U, E>,
) -> Result<X::Map<U>, E> {
    let mut mapped = Ok(Vec::new());
    tree.visit(&mut Path::root(), &mut |path, entry| {
        if let Entry::Leaf(leaf) = entry
            && let Ok(so_far) = &mut mapped
        {
            match f(path, leaf) {
                Ok(u) => so_far.push(u),
                Err(e) => mapped = Err(e),
            }
        }
    });
    let mut mapped = mapped?.into_iter();
    Ok(map(tree, |_, _| mapped.next().expect("`map_leaves` meets the leaves that `visit` met")))
}
