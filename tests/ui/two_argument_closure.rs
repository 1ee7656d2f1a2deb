//! Several inputs are one tuple.

use monograph::prelude::*;

fn main() {
    let _ = trace(|x, y| x.matmul(y), (f32::spec([3, 3]), f32::spec([3, 3])));
}
