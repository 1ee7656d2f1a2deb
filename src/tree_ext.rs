//! `TreeExt`: reading whole trees of outputs.

use crate::{Array, Error, Output, Tree, try_map};

/// Reads every leaf of a tree of outputs.
pub trait TreeExt: Tree {
    /// A copy of every output on the host, in the same structure. Waits for the replay.
    ///
    /// # Errors
    /// [`Error::Device`] where the replay has failed.
    fn to_arrays(&self) -> Result<Self::Map<Array>, Error>;
}

impl<'o, X: Tree<Leaf = Output<'o>>> TreeExt for X {
    fn to_arrays(&self) -> Result<X::Map<Array>, Error> {
        try_map(self, |_, output| output.to_array())
    }
}
