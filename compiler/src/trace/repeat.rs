//! Copies of a tensor: `tile` repeats it as a whole, `repeat` each slice. And `roll`.

use super::tracer::{reject, scope};
use super::{AxisIndex, Tensor, concat};
use crate::diagnostics::codes;

impl Tensor {
    /// The tensor `counts[i]` times along dimension `i`, one copy after the other. Counts and dimensions are aligned
    /// at the right, as in NumPy's `tile` and PyTorch's `tile`: missing ones are 1.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.tile(&[2, 3, 1]), f32::spec([4, 5]))?;
    /// assert_eq!(program.output_form().to_string(), "f32[2, 12, 5]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn tile(&self, counts: &[usize]) -> Tensor {
        let _scope = scope("tile");
        let Some(spec) = self.known() else { return self.absorb() };
        let rank = spec.shape.rank().max(counts.len());
        let aligned = |list: &[usize]| [vec![1; rank - list.len()], list.to_vec()].concat();
        let (extents, counts) = (aligned(&spec.shape), aligned(counts));
        // A dimension for the copies before each dimension of the tensor.
        let apart: Vec<usize> = extents.iter().flat_map(|&extent| [1, extent]).collect();
        let copied: Vec<usize> = counts.iter().zip(&extents).flat_map(|(&count, &extent)| [count, extent]).collect();
        match products(&counts, &extents) {
            Some(dims) => self.reshape(apart).broadcast_to(copied).reshape(dims),
            None => self.too_large("tile"),
        }
    }

    /// Each slice along `axis` `count` times, copies side by side: `[a, b]` becomes `[a, a, b, b]`. NumPy's `repeat`
    /// and PyTorch's `repeat_interleave` with one number; PyTorch's `repeat` is [`Tensor::tile`].
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|heads: Tensor| heads.repeat(4, 1), f32::spec([2, 8, 5, 64]))?;
    /// assert_eq!(program.output_form().to_string(), "f32[2, 32, 5, 64]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn repeat(&self, count: usize, axis: impl AxisIndex) -> Tensor {
        let _scope = scope("repeat");
        let Some(spec) = self.known() else { return self.absorb() };
        let axis = match self.axis(&spec, axis) {
            Ok(axis) => axis,
            Err(poison) => return poison,
        };
        let (before, after) = spec.shape.split_at(axis + 1);
        let Some(extent) = spec.shape[axis].checked_mul(count) else { return self.too_large("repeat") };
        let apart = [before, &[1], after].concat();
        let copied = [before, &[count], after].concat();
        let mut dims = spec.shape.to_vec();
        dims[axis] = extent;
        self.reshape(apart).broadcast_to(copied).reshape(dims)
    }

    /// The slices along `axis` moved `shift` places on; what leaves at the end comes in at the start. A negative
    /// shift moves back.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::{Element, interp};
    /// let program = trace(|x: Tensor| x.roll(1, 0), f32::spec([4]))?;
    /// let x = interp::Tensor::from_vec([4], vec![1.0f32, 2.0, 3.0, 4.0]).unwrap();
    /// assert_eq!(interp::evaluate(program.graph(), &[x]).unwrap()[0].to_f64_vec(), [4.0, 1.0, 2.0, 3.0]);
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn roll(&self, shift: i64, axis: impl AxisIndex) -> Tensor {
        let _scope = scope("roll");
        let Some(spec) = self.known() else { return self.absorb() };
        let axis = match self.axis(&spec, axis) {
            Ok(axis) => axis,
            Err(poison) => return poison,
        };
        let extent = spec.shape[axis];
        let shift = if extent == 0 { 0 } else { shift.rem_euclid(extent as i64) as usize };
        if shift == 0 {
            return *self;
        }
        let cut = extent - shift;
        concat(&[self.slice(axis, cut..), self.slice(axis, ..cut)], axis)
    }

    #[track_caller]
    fn too_large(&self, name: &str) -> Tensor {
        let message = format!("`{name}`: so many copies of {} are more than can be addressed", self.spec());
        reject(codes::TOO_LARGE, message, "too large", &[*self], &[])
    }
}

/// The products of two lists place by place, if they are numbers of elements.
fn products(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    a.iter().zip(b).map(|(&a, &b)| a.checked_mul(b)).collect()
}
