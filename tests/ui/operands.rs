//! What may stand beside a tensor.

use monograph::prelude::*;

fn text(x: Tensor) -> Tensor {
    x + "one"
}

fn f32_on_the_left(x: Tensor, rate: f32) -> Tensor {
    rate * x
}

fn main() {}
