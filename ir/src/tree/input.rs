//! `Signature`: what can describe the inputs of a traced function.

use super::{Entry, KeyPart, Leaf, Path, Tree};
use crate::{Array, Binding, Element, Spec};
use half::{bf16, f16};

/// An input: its spec, with a name and a binding if they were given.
///
/// Made from a [`Spec`] by [`Spec::named`] and [`Spec::bound`], in any order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct InputSpec {
    /// Dtype and shape.
    pub spec: Spec,
    /// The name in errors and in the command line tool; the place in the arguments is used where there is none.
    pub name: Option<String>,
    /// How the data reaches the kernels.
    pub binding: Binding,
}

impl InputSpec {
    /// The input under another name.
    pub fn named(self, name: impl Into<String>) -> InputSpec {
        InputSpec { name: Some(name.into()), ..self }
    }

    /// The input, read where it lies instead of copied.
    pub fn bound(self) -> InputSpec {
        InputSpec { binding: Binding::Bound, ..self }
    }
}

impl From<Spec> for InputSpec {
    fn from(spec: Spec) -> InputSpec {
        InputSpec { spec, name: None, binding: Binding::default() }
    }
}

impl Spec {
    /// An input of this spec with a name, for errors and for the command line tool: `f32::spec([3]).named("x")`.
    pub fn named(self, name: impl Into<String>) -> InputSpec {
        InputSpec::from(self).named(name)
    }

    /// An input of this spec that is read where it lies instead of copied. See [`Binding::Bound`].
    pub fn bound(self) -> InputSpec {
        InputSpec::from(self).bound()
    }
}

/// A leaf whose dtype and shape are known.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not describe an input",
    note = "give a spec such as `f32::spec([64, 784])`, a scalar, or a reference to an array or tree: `&model`"
)]
pub trait HasSpec {
    /// Dtype and shape.
    fn spec(&self) -> &Spec;

    /// The input that this leaf describes.
    fn describe(&self) -> InputSpec {
        self.spec().clone().into()
    }
}

impl HasSpec for Array {
    fn spec(&self) -> &Spec {
        self.spec()
    }
}

impl HasSpec for Spec {
    fn spec(&self) -> &Spec {
        self
    }
}

impl HasSpec for InputSpec {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn describe(&self) -> InputSpec {
        self.clone()
    }
}

/// What can stand for an input when tracing: a spec, a scalar, a slice, an array or a tree of specs or arrays by
/// reference, and tuples that mix them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not describe an input",
    note = "give a spec such as `f32::spec([64, 784])`, a scalar, a slice, or a reference to an array or tree: `&model`",
    note = "several inputs are one tuple, of at most 8: `(&model, f32::spec([64, 784]))`"
)]
pub trait Signature {
    /// The structure that a traced function sees, with `U` in the place of each input.
    type With<U: Leaf>;

    /// The structure with `f` of each input's place and description, in order.
    fn enter<U: Leaf>(&self, path: &mut Path, f: &mut dyn FnMut(&Path, InputSpec) -> U) -> Self::With<U>;

    /// Calls `f` for each part of what a trace depends on, in order: see [`Key`](super::Key).
    fn key(&self, path: &mut Path, f: &mut dyn FnMut(&Path, KeyPart));
}

impl<X: Tree> Signature for &X
where
    X::Leaf: HasSpec,
{
    type With<U: Leaf> = X::Map<U>;

    fn enter<U: Leaf>(&self, path: &mut Path, f: &mut dyn FnMut(&Path, InputSpec) -> U) -> X::Map<U> {
        self.map_leaves(path, &mut |path, leaf| f(path, leaf.describe()))
    }

    fn key(&self, path: &mut Path, f: &mut dyn FnMut(&Path, KeyPart)) {
        self.visit(path, &mut |path, entry| {
            let part = match entry {
                Entry::Leaf(leaf) => KeyPart::Input(leaf.describe()),
                Entry::Length(length) => KeyPart::Length(length),
                Entry::Present(present) => KeyPart::Present(present),
                Entry::Static(value) => KeyPart::Static(format!("{value:?}")),
            };
            f(path, part);
        });
    }
}

/// A single input: the structure is the input itself.
macro_rules! single {
    ($(#[$attribute:meta])* [$($generics:tt)*] $type:ty, $self:ident => $describe:expr) => {
        $(#[$attribute])*
        impl<$($generics)*> Signature for $type {
            type With<U: Leaf> = U;

            fn enter<U: Leaf>(&$self, path: &mut Path, f: &mut dyn FnMut(&Path, InputSpec) -> U) -> U {
                f(path, $describe)
            }

            fn key(&$self, path: &mut Path, f: &mut dyn FnMut(&Path, KeyPart)) {
                f(path, KeyPart::Input($describe));
            }
        }
    };
}

single!([] Spec, self => self.clone().into());
single!([] InputSpec, self => self.clone());
single!(
    /// A slice is a vector; its elements may feed an input of any shape with as many.
    [T: Element] &[T], self => T::spec([self.len()]).into()
);

macro_rules! scalars {
    ($($scalar:ty)*) => {$(
        single!([] $scalar, self => <$scalar>::spec([]).into());
    )*};
}

scalars!(bool i8 u8 i32 u32 i64 f16 bf16 f32 f64);

/// A function of no inputs.
impl Signature for () {
    type With<U: Leaf> = ();

    fn enter<U: Leaf>(&self, _: &mut Path, _: &mut dyn FnMut(&Path, InputSpec) -> U) {}

    fn key(&self, _: &mut Path, _: &mut dyn FnMut(&Path, KeyPart)) {}
}

macro_rules! tuple {
    ($($Item:ident $item:tt),*) => {
        impl<$($Item: Signature),*> Signature for ($($Item,)*) {
            type With<Other: Leaf> = ($($Item::With<Other>,)*);

            fn enter<Other: Leaf>(
                &self,
                path: &mut Path,
                f: &mut dyn FnMut(&Path, InputSpec) -> Other,
            ) -> Self::With<Other> {
                ($(path.index($item, |path| self.$item.enter(path, f)),)*)
            }

            fn key(&self, path: &mut Path, f: &mut dyn FnMut(&Path, KeyPart)) {
                $(path.index($item, |path| self.$item.key(path, f));)*
            }
        }
    };
}

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
