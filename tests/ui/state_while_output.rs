//! State cannot be replaced while an output is held.

use monograph::prelude::*;

fn reset(exe: &mut Executable<Spec, Spec, Spec>, x: &Array) {
    let y = exe.replay(x).unwrap();
    exe.set_state(x).unwrap();
    println!("{:?}", y.to_vec::<f32>());
}

fn main() {}
