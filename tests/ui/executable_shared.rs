//! An executable can be sent to another thread, but not shared with it.

use monograph::prelude::*;

fn share(exe: &Executable<(), Spec, Spec>) {
    std::thread::scope(|s| {
        s.spawn(|| exe.plan());
    });
}

fn main() {}
