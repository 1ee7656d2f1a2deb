//! A bool tensor is no bool.

use monograph::prelude::*;

fn main() {
    let pair = (f32::spec([3]), f32::spec([3]));
    let _ = trace(|(x, y): (Tensor, Tensor)| if x.gt(y) { x } else { y }, pair);
}
