//! What is replayed has the structure that was traced.

use monograph::prelude::*;

fn swapped(exe: &mut Executable<(), (Spec, (Spec, Spec)), Spec>, x: &Array) {
    let _ = exe.replay(((x, x), x));
}

fn missing(exe: &mut Executable<(), (Spec, Spec), Spec>, x: &Array) {
    let _ = exe.replay(x);
}

fn no_data(exe: &mut Executable<(), Spec, Spec>) {
    let _ = exe.replay(f32::spec([3]));
}

fn main() {}
