//! Shapes, and `Spec`: a shape with a dtype.

use crate::DType;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::fmt;
use std::ops::Deref;

/// The extents of a tensor, outermost first; row-major (the last dimension is contiguous).
///
/// Any extents can be written down; [`Shape::elements`] says whether their product can exist. Dereferences to
/// `[usize]`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shape(SmallVec<[usize; 5]>);

impl Shape {
    /// The shape of a scalar.
    pub fn scalar() -> Shape {
        Shape::default()
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The extents.
    pub fn dims(&self) -> &[usize] {
        &self.0
    }

    /// Number of elements, or `None` where the product of the non-zero extents does not fit in an `i64`
    /// (so a shape with a zero extent is empty only if its other extents are sane).
    pub fn elements(&self) -> Option<usize> {
        let product = self.0.iter().filter(|&&d| d != 0).try_fold(1i64, |n, &d| n.checked_mul(i64::try_from(d).ok()?))?;
        if self.0.contains(&0) { Some(0) } else { usize::try_from(product).ok() }
    }

    /// Number of elements of a shape that was checked before.
    ///
    /// # Panics
    /// If [`Shape::elements`] is `None`: inference refuses such shapes, so no value of a graph has one.
    pub fn size(&self) -> usize {
        self.elements().expect("inference refuses shapes whose size overflows")
    }

    /// Whether one extent is zero.
    pub fn is_empty(&self) -> bool {
        self.0.contains(&0)
    }

    /// Row-major strides in elements. Extents of zero count as one.
    pub fn strides(&self) -> SmallVec<[usize; 5]> {
        let mut strides: SmallVec<[usize; 5]> = smallvec::smallvec![1; self.rank()];
        for i in (1..self.rank()).rev() {
            strides[i - 1] = strides[i].saturating_mul(self.0[i].max(1));
        }
        strides
    }

    /// The shape that both broadcast to by NumPy's rule (aligned at the right; an extent of 1 stretches), if any.
    pub fn broadcast_with(&self, other: &Shape) -> Option<Shape> {
        let rank = self.rank().max(other.rank());
        let extent = |s: &Shape, i: usize| if i + s.rank() < rank { 1 } else { s[i + s.rank() - rank] };
        (0..rank)
            .map(|i| match (extent(self, i), extent(other, i)) {
                (a, b) if a == b => Some(a),
                (1, b) => Some(b),
                (a, 1) => Some(a),
                _ => None,
            })
            .collect::<Option<SmallVec<_>>>()
            .map(Shape)
    }
}

impl Deref for Shape {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, d) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{d}")?;
        }
        f.write_str("]")
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(dims: [usize; N]) -> Self {
        Shape(SmallVec::from_slice(&dims))
    }
}

impl From<&[usize]> for Shape {
    fn from(dims: &[usize]) -> Self {
        Shape(SmallVec::from_slice(dims))
    }
}

impl From<Vec<usize>> for Shape {
    fn from(dims: Vec<usize>) -> Self {
        Shape(SmallVec::from_vec(dims))
    }
}

impl From<&Shape> for Shape {
    fn from(shape: &Shape) -> Self {
        shape.clone()
    }
}

impl FromIterator<usize> for Shape {
    fn from_iter<I: IntoIterator<Item = usize>>(dims: I) -> Self {
        Shape(dims.into_iter().collect())
    }
}

/// What is known of a tensor before it has data: dtype and shape. Displays as `f32[64, 784]`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Spec {
    /// Type of the elements.
    pub dtype: DType,
    /// Extents.
    pub shape: Shape,
}

impl Spec {
    /// A spec of that dtype and shape.
    pub fn new(dtype: DType, shape: impl Into<Shape>) -> Spec {
        Spec { dtype, shape: shape.into() }
    }

    /// Size in bytes, or `None` where it does not fit in an `i64`.
    pub fn bytes(&self) -> Option<u64> {
        let bytes = (self.shape.elements()? as u64).checked_mul(self.dtype.size() as u64)?;
        i64::try_from(bytes).ok().map(|b| b as u64)
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, self.shape)
    }
}
