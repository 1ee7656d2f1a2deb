//! Padding with elements of the tensor itself.

use super::Tensor;
use super::create::filled;
use super::normalize::INDEX;
use super::tracer::{reject, scope};
use crate::diagnostics::codes;
use monograph_ir::{Literal, Shape};

/// Which elements stand beyond the ends of an axis; `abc` here has 4 more on each side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PadMode {
    /// Mirrored at the outermost elements, which are not repeated: `abcb abc babc`. `reflect` elsewhere.
    Reflect,
    /// Mirrored behind the outermost elements, which are repeated: `ccba abc cbaa`. `symmetric` in NumPy.
    Symmetric,
    /// The outermost elements repeated: `aaaa abc cccc`. `replicate` in PyTorch, `edge` in NumPy.
    Replicate,
    /// The tensor again: `cabc abc abca`. `circular` in PyTorch, `wrap` in NumPy.
    Circular,
}

impl Tensor {
    /// `low[i]` elements before dimension `i` and `high[i]` after it, which [`PadMode`] takes from the dimension
    /// itself; as many as one likes, as in NumPy. [`Tensor::pad`] pads with a constant.
    ///
    /// Each padded dimension must have an element.
    ///
    /// ```
    /// # use monograph_compiler::trace::{PadMode, Tensor, trace};
    /// # use monograph_ir::{Element, interp};
    /// let program = trace(|x: Tensor| x.pad_with(&[2], &[1], PadMode::Reflect), f32::spec([3]))?;
    /// let x = interp::Tensor::from_vec([3], vec![1.0f32, 2.0, 3.0]).unwrap();
    /// let padded = interp::evaluate(program.graph(), &[x]).unwrap();
    /// assert_eq!(padded[0].to_f64_vec(), [3.0, 2.0, 1.0, 2.0, 3.0, 2.0]);
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn pad_with(&self, low: &[usize], high: &[usize], mode: PadMode) -> Tensor {
        let _scope = scope("pad_with");
        let Some(spec) = self.known() else { return self.absorb() };
        let rank = spec.shape.rank();
        if low.len() != rank || high.len() != rank {
            let message = format!("`pad_with`: {spec} with low {low:?} and high {high:?}: not one number a dimension");
            return reject(codes::OPERANDS, message, "needs one number a dimension", &[*self], &[]);
        }
        let mut padded = *self;
        for axis in 0..rank {
            let (low, high, extent) = (low[axis], high[axis], spec.shape[axis]);
            if low == 0 && high == 0 {
                continue;
            }
            if extent == 0 {
                let message = format!("`pad_with`: axis {axis} of {spec} has no element to pad with");
                let help = "pad with a constant: `.pad(low, high, value)`".to_string();
                return reject(codes::OPERANDS, message, "nothing to repeat", &[*self], &[help]);
            }
            let total = extent.checked_add(low).and_then(|n| n.checked_add(high)).filter(|&n| n <= i64::MAX as usize);
            let Some(total) = total else {
                let message = format!("`pad_with`: {low} and {high} elements beside axis {axis} of {spec}");
                return reject(codes::TOO_LARGE, message, "too large", &[*self], &[]);
            };
            padded = padded.take(sources(extent, low, total, mode), axis);
        }
        padded
    }
}

/// The index in `0..extent` of each of `total` places, of which `low` come before the first.
#[track_caller]
fn sources(extent: usize, low: usize, total: usize, mode: PadMode) -> Tensor {
    let number = |value: usize| Literal::from_i64(INDEX, value as i64);
    let last = filled(number(extent - 1), Shape::scalar());
    let place = super::arange(INDEX, total) - filled(number(low), Shape::scalar());
    match mode {
        PadMode::Replicate => place.clamp(filled(number(0), Shape::scalar()), last),
        PadMode::Circular => place.mod_floor(filled(number(extent), Shape::scalar())),
        // A period goes to the last element and back; beyond the last, the distance from it counts down.
        PadMode::Reflect => {
            let period = filled(number((2 * (extent - 1)).max(1)), Shape::scalar());
            last - (place.mod_floor(period) - last).abs()
        }
        PadMode::Symmetric => {
            let period = filled(number(2 * extent), Shape::scalar());
            let there = place.mod_floor(period);
            there.minimum(filled(number(2 * extent - 1), Shape::scalar()) - there)
        }
    }
}
