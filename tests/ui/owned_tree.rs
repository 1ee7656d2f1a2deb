//! Data describes an input by reference.

use monograph::prelude::*;

fn take(model: (Array, Array)) {
    let _ = trace(|(a, b)| a + b, model);
}

fn main() {}
