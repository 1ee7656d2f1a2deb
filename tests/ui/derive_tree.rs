//! What `#[derive(Tree)]` refuses.

use monograph::prelude::*;

#[derive(Tree)]
enum Choice<T> {
    One(T),
}

#[derive(Tree)]
struct NoLeaf {
    a: f32,
}

fn main() {}
