//! `Bind`: what can feed the inputs of an executable at a replay.

use super::{Entry, HasSpec, Path, Scalar, Signature, Tree};
use crate::{Array, DType, Element, Spec};
use half::{bf16, f16};
use std::any::Any;

/// Data for one input of a replay.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// An array, on the host or on a device.
    Array(&'a Array),
    /// A number, to be converted to the input's dtype with [`Scalar::convert`].
    Scalar(Scalar),
    /// Elements on the host, for an input of any shape with as many.
    Slice {
        /// Their bytes, in native byte order.
        bytes: &'a [u8],
        /// Their type.
        dtype: DType,
        /// Their number.
        len: usize,
    },
    /// What a runtime knows by its type: an output of another executable.
    Foreign {
        /// The data.
        data: &'a dyn Any,
        /// Its dtype and shape.
        spec: &'a Spec,
    },
}

impl Source<'_> {
    /// Type of the elements.
    pub fn dtype(&self) -> DType {
        match self {
            Source::Array(array) => array.dtype(),
            Source::Scalar(scalar) => scalar.dtype(),
            Source::Slice { dtype, .. } => *dtype,
            Source::Foreign { spec, .. } => spec.dtype,
        }
    }

    /// Dtype and shape; a slice is a vector.
    pub fn spec(&self) -> Spec {
        match self {
            Source::Array(array) => array.spec().clone(),
            Source::Scalar(scalar) => Spec::new(scalar.dtype(), []),
            Source::Slice { dtype, len, .. } => Spec::new(*dtype, [*len]),
            Source::Foreign { spec, .. } => (*spec).clone(),
        }
    }
}

/// A leaf that has data.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot feed an input, because it holds no data",
    note = "pass an array, a tree of arrays, or the output of another executable, each behind `&`"
)]
pub trait Data: HasSpec {
    /// Where the data is.
    fn source(&self) -> Source<'_>;
}

impl Data for Array {
    fn source(&self) -> Source<'_> {
        Source::Array(self)
    }
}

/// What can feed an input at a replay. Its structure, `With<Spec>`, must be that of the program's inputs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot feed an input",
    note = "pass `&array`, `&tree`, a slice such as `&values[..]`, the output of another executable as `&output`, or a scalar",
    note = "several inputs are one tuple, of at most 8: `(&model, &batch)`"
)]
pub trait Bind: Signature {
    /// Calls `f` for each input in order, with its place below `path`. Allocates nothing.
    fn bind<'a>(&'a self, path: &mut Path, f: &mut dyn FnMut(&Path, Source<'a>));
}

impl<X: Tree> Bind for &X
where
    X::Leaf: Data,
{
    fn bind<'a>(&'a self, path: &mut Path, f: &mut dyn FnMut(&Path, Source<'a>)) {
        self.visit(path, &mut |path, entry| {
            if let Entry::Leaf(leaf) = entry {
                f(path, leaf.source());
            }
        });
    }
}

impl<T: Element> Bind for &[T] {
    fn bind<'a>(&'a self, path: &mut Path, f: &mut dyn FnMut(&Path, Source<'a>)) {
        f(path, Source::Slice { bytes: T::as_bytes(self), dtype: T::DTYPE, len: self.len() });
    }
}

macro_rules! scalars {
    ($($scalar:ty)*) => {$(
        impl Bind for $scalar {
            fn bind<'a>(&'a self, path: &mut Path, f: &mut dyn FnMut(&Path, Source<'a>)) {
                f(path, Source::Scalar(Scalar::new(*self)));
            }
        }
    )*};
}

scalars!(bool i8 u8 i32 u32 i64 f16 bf16 f32 f64);

impl Bind for () {
    fn bind<'a>(&'a self, _: &mut Path, _: &mut dyn FnMut(&Path, Source<'a>)) {}
}

macro_rules! tuple {
    ($($Item:ident $item:tt),*) => {
        impl<$($Item: Bind),*> Bind for ($($Item,)*) {
            fn bind<'a>(&'a self, path: &mut Path, f: &mut dyn FnMut(&Path, Source<'a>)) {
                $(path.index($item, |path| self.$item.bind(path, f));)*
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
