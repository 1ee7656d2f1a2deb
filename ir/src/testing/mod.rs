//! Random valid graphs, for the property tests of every crate of the workspace. No part of the public API.
//!
//! [`random_graph`] is a pure function of its seed and options, and everything it makes passes [`crate::verify()`].

mod maker;
mod random;

use crate::{DType, Graph};
pub use random::Random;

/// What random graphs may look like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// About how many nodes, parameters and the helpers of ops included. A graph may have a few more.
    pub nodes: usize,
    /// The dtypes of parameters, constants and casts. Ops may add `bool` and `i64` by what they return.
    pub dtypes: Vec<DType>,
    /// No value has another dtype than the floats among `dtypes`: no comparisons, indices or masks.
    pub floats_only: bool,
    /// `cond` and `fori_loop`, up to two inside each other.
    pub regions: bool,
    /// State parameters and their updates.
    pub states: bool,
    /// NaN, infinities and negative zero among the constants.
    pub specials: bool,
    /// Greatest number of elements of one value.
    pub elements: usize,
}

impl Default for Options {
    /// 24 nodes of every dtype with up to 96 elements each, and everything allowed.
    fn default() -> Options {
        Options {
            nodes: 24,
            dtypes: DType::ALL.to_vec(),
            floats_only: false,
            regions: true,
            states: true,
            specials: true,
            elements: 96,
        }
    }
}

/// A graph that verifies, of ops that are never rejected: no `while_loop`, nothing dynamic, nothing on the host.
///
/// Shapes have up to four dimensions, with extents of 0 and 1 among them. The same seed and options give the same
/// graph on every machine.
pub fn random_graph(seed: u64, options: &Options) -> Graph {
    maker::graph(seed, options)
}
