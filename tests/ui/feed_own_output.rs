//! An executable cannot read its own output while it overwrites it: copy it out, or make it state.

use monograph::prelude::*;

fn again(exe: &mut Executable<(), Spec, Spec>, x: &Array) {
    let y = exe.replay(x).unwrap();
    exe.replay(&y).unwrap();
}

fn main() {}
