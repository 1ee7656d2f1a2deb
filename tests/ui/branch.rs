//! The host cannot branch on a traced value.

use monograph::prelude::*;

fn main() {
    let pair = (f32::spec([3]), f32::spec([3]));
    let _ = trace(|(x, y)| if x > y { x } else { y }, pair);
    let _ = trace(|x: Tensor| if x.sum(..) > 0.0 { x } else { -x }, f32::spec([3]));
}

fn clip(x: &Tensor, y: &Tensor) -> Tensor {
    if x > y { *y } else { *x }
}
