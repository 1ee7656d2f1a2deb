//! What most programs need: `use monograph::prelude::*;`.

pub use crate::{
    Array, Conv, DType, Device, Element, Error, Executable, Output, Pool, Program, Rng, Spec, Tensor, Tree, TreeExt,
    arange, concat, cond, constant, cross_entropy, fori_loop, full, iota, ones, probe, stack, trace, trace_last,
    trace_step, trace_with, where_, zeros,
};
