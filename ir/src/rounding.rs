//! Rounding an `f64` to 16 bits once.

use half::{bf16, f16};

/// The `f16` nearest to `x`, ties to even, the same on every processor.
pub fn f16_from_f64(x: f64) -> f16 {
    f16::from_f32(round_to_odd(x))
}

/// The `bf16` nearest to `x`, ties to even; NaN stays NaN.
pub fn bf16_from_f64(x: f64) -> bf16 {
    bf16::from_f32(round_to_odd(x))
}

/// The `f32` next to `x` on the side whose last bit is odd, unless `x` is an `f32` itself.
///
/// Rounding on to 16 bits then gives the 16-bit float nearest to `x`. Rounding to the nearest twice does not, and
/// neither does `f16::from_f64`, whose result depends on the processor.
fn round_to_odd(x: f64) -> f32 {
    let nearest = x as f32;
    let exact = f64::from(nearest) == x || x.is_nan();
    if exact || nearest.to_bits() & 1 == 1 {
        nearest
    } else if f64::from(nearest) < x {
        nearest.next_up()
    } else {
        nearest.next_down()
    }
}
