//! What most programs need: `use monograph::prelude::*;`.

pub use crate::{
    Array, DType, Device, Element, Error, Executable, Output, Program, Spec, Tensor, Tree, TreeExt, constant, probe,
    trace, trace_last, trace_step, trace_with,
};
