//! A traced function returns trees of tensors.

use monograph::prelude::*;

fn main() {
    let _ = trace(|x: Tensor| (x, 3), f32::spec([3]));
}
