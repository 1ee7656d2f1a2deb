//! The trees of the standard library: `Vec`, arrays, `Option`, tuples, and `PhantomData` for a tree without leaves.

use super::{Entry, Leaf, Path, Tree};
use std::marker::PhantomData;

impl<X: Tree> Tree for Vec<X> {
    type Leaf = X::Leaf;
    type Map<U: Leaf> = Vec<X::Map<U>>;

    fn visit<'a>(&'a self, path: &mut Path, f: &mut dyn FnMut(&Path, Entry<'a, X::Leaf>)) {
        f(path, Entry::Length(self.len()));
        for (i, x) in self.iter().enumerate() {
            path.index(i, |path| x.visit(path, f));
        }
    }

    fn map_leaves<U: Leaf>(&self, path: &mut Path, f: &mut dyn FnMut(&Path, &X::Leaf) -> U) -> Self::Map<U> {
        self.iter().enumerate().map(|(i, x)| path.index(i, |path| x.map_leaves(path, f))).collect()
    }
}

impl<X: Tree, const N: usize> Tree for [X; N] {
    type Leaf = X::Leaf;
    type Map<U: Leaf> = [X::Map<U>; N];

    fn visit<'a>(&'a self, path: &mut Path, f: &mut dyn FnMut(&Path, Entry<'a, X::Leaf>)) {
        for (i, x) in self.iter().enumerate() {
            path.index(i, |path| x.visit(path, f));
        }
    }

    fn map_leaves<U: Leaf>(&self, path: &mut Path, f: &mut dyn FnMut(&Path, &X::Leaf) -> U) -> Self::Map<U> {
        std::array::from_fn(|i| path.index(i, |path| self[i].map_leaves(path, f)))
    }
}

impl<X: Tree> Tree for Option<X> {
    type Leaf = X::Leaf;
    type Map<U: Leaf> = Option<X::Map<U>>;

    fn visit<'a>(&'a self, path: &mut Path, f: &mut dyn FnMut(&Path, Entry<'a, X::Leaf>)) {
        f(path, Entry::Present(self.is_some()));
        if let Some(x) = self {
            x.visit(path, f);
        }
    }

    fn map_leaves<U: Leaf>(&self, path: &mut Path, f: &mut dyn FnMut(&Path, &X::Leaf) -> U) -> Self::Map<U> {
        self.as_ref().map(|x| x.map_leaves(path, f))
    }
}

/// No leaves: for layers without parameters, which must name their leaf all the same.
impl<L: Leaf> Tree for PhantomData<L> {
    type Leaf = L;
    type Map<U: Leaf> = PhantomData<U>;

    fn visit<'a>(&'a self, _: &mut Path, _: &mut dyn FnMut(&Path, Entry<'a, L>)) {}

    fn map_leaves<U: Leaf>(&self, _: &mut Path, _: &mut dyn FnMut(&Path, &L) -> U) -> PhantomData<U> {
        PhantomData
    }
}

macro_rules! tuple {
    ($First:ident $first:tt $(, $Rest:ident $rest:tt)*) => {
        impl<$First: Tree $(, $Rest: Tree<Leaf = $First::Leaf>)*> Tree for ($First, $($Rest,)*) {
            type Leaf = $First::Leaf;
            type Map<Other: Leaf> = ($First::Map<Other>, $($Rest::Map<Other>,)*);

            fn visit<'a>(&'a self, path: &mut Path, f: &mut dyn FnMut(&Path, Entry<'a, Self::Leaf>)) {
                path.index($first, |path| self.$first.visit(path, f));
                $(path.index($rest, |path| self.$rest.visit(path, f));)*
            }

            fn map_leaves<Other: Leaf>(
                &self,
                path: &mut Path,
                f: &mut dyn FnMut(&Path, &Self::Leaf) -> Other,
            ) -> Self::Map<Other> {
                (
                    path.index($first, |path| self.$first.map_leaves(path, f)),
                    $(path.index($rest, |path| self.$rest.map_leaves(path, f)),)*
                )
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
