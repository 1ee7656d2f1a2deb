//! A tensor belongs to the thread that traces.

use monograph::prelude::*;

fn main() {
    let _ = trace(
        |x: Tensor| std::thread::scope(|s| s.spawn(|| x.relu()).join().unwrap()),
        f32::spec([3]),
    );
}
