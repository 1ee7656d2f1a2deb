//! What may stand beside a tensor.

use monograph::prelude::*;

fn text(x: Tensor) -> Tensor {
    x + "one"
}

fn main() {}
