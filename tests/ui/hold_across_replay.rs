//! An output cannot be held across the next replay, which overwrites it.

use monograph::prelude::*;

fn twice(exe: &mut Executable<(), Spec, Spec>, x: &Array) {
    let first = exe.replay(x).unwrap();
    let second = exe.replay(x).unwrap();
    println!("{:?} {:?}", first.to_vec::<f32>(), second.to_vec::<f32>());
}

fn collect(exe: &mut Executable<(), Spec, Spec>, x: &Array) {
    let mut losses = Vec::new();
    for _ in 0..3 {
        losses.push(exe.replay(x).unwrap());
    }
}

fn main() {}
