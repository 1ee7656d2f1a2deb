//! `Path`: where in a tree a leaf stands.

use smallvec::SmallVec;
use std::fmt;

/// One step of a [`Path`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Segment {
    /// A named field.
    Field(&'static str),
    /// An element of a `Vec`, array or tuple, or a field of a tuple struct.
    Index(usize),
}

/// The place of a leaf in a tree. Displays as `layers.0.w`; the root displays as nothing.
///
/// Paths of up to eight segments allocate nothing.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Path(SmallVec<[Segment; 8]>);

impl Path {
    /// The place of a tree itself.
    pub fn root() -> Path {
        Path::default()
    }

    /// Whether this is the place of the tree itself, which has no name.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The steps from the root.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Calls `f` with the path extended by a field.
    pub fn field<R>(&mut self, name: &'static str, f: impl FnOnce(&mut Path) -> R) -> R {
        self.within(Segment::Field(name), f)
    }

    /// Calls `f` with the path extended by an index.
    pub fn index<R>(&mut self, index: usize, f: impl FnOnce(&mut Path) -> R) -> R {
        self.within(Segment::Index(index), f)
    }

    fn within<R>(&mut self, segment: Segment, f: impl FnOnce(&mut Path) -> R) -> R {
        self.0.push(segment);
        let result = f(self);
        self.0.pop();
        result
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Segment::Field(name) => f.write_str(name),
            Segment::Index(index) => write!(f, "{index}"),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, segment) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            write!(f, "{segment}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Path({self})")
    }
}
