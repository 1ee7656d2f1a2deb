//! A tensor cut into pieces along one axis: the inverses of `concat` and `stack`.

use super::tracer::{reject, scope};
use super::{AxisIndex, Tensor};
use crate::diagnostics::codes;

impl Tensor {
    /// Pieces of extent `size` along `axis`, the last one shorter where the extent is no multiple. PyTorch's `split`
    /// by a number; `size` is at least 1.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.split(3, 0), f32::spec([8, 2]))?;
    /// assert_eq!(**program.output_form(), [f32::spec([3, 2]), f32::spec([3, 2]), f32::spec([2, 2])]);
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn split(&self, size: usize, axis: impl AxisIndex) -> Vec<Tensor> {
        let _scope = scope("split");
        let (axis, extent) = match self.cut("split", axis, size) {
            Ok(cut) => cut,
            Err(poison) => return vec![poison],
        };
        self.pieces_of(size, axis, extent)
    }

    /// At most `count` pieces of equal extent along `axis`, the last one shorter where it is no multiple. PyTorch's
    /// `chunk`: 5 in 4 is 2, 2, 1. `count` is at least 1.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.chunk(3, -1), f32::spec([5, 12]))?;
    /// assert_eq!(**program.output_form(), [f32::spec([5, 4]), f32::spec([5, 4]), f32::spec([5, 4])]);
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn chunk(&self, count: usize, axis: impl AxisIndex) -> Vec<Tensor> {
        let _scope = scope("chunk");
        let (axis, extent) = match self.cut("chunk", axis, count) {
            Ok(cut) => cut,
            Err(poison) => return vec![poison],
        };
        self.pieces_of(extent.div_ceil(count).max(1), axis, extent)
    }

    /// Exactly `count` pieces along `axis` whose extents differ by at most one, longer ones first. NumPy's
    /// `array_split`: 5 in 4 is 2, 1, 1, 1. `count` is at least 1.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.array_split(3, 0), f32::spec([5]))?;
    /// assert_eq!(**program.output_form(), [f32::spec([2]), f32::spec([2]), f32::spec([1])]);
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn array_split(&self, count: usize, axis: impl AxisIndex) -> Vec<Tensor> {
        let _scope = scope("array_split");
        let (axis, extent) = match self.cut("array_split", axis, count) {
            Ok(cut) => cut,
            Err(poison) => return vec![poison],
        };
        let sizes: Vec<usize> = (0..count).map(|i| extent / count + usize::from(i < extent % count)).collect();
        self.pieces(&sizes, axis)
    }

    /// Pieces of these extents along `axis`, which add up to its extent.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.split_sizes(&[64, 16, 16], -1), f32::spec([5, 96]))?;
    /// assert_eq!(**program.output_form(), [f32::spec([5, 64]), f32::spec([5, 16]), f32::spec([5, 16])]);
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn split_sizes(&self, sizes: &[usize], axis: impl AxisIndex) -> Vec<Tensor> {
        let _scope = scope("split_sizes");
        let (axis, extent) = match self.cut("split_sizes", axis, 1) {
            Ok(cut) => cut,
            Err(poison) => return vec![poison; sizes.len()],
        };
        if sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size)) != Some(extent) {
            let message =
                format!("`split_sizes`: the sum of {sizes:?} is not {extent}, axis {axis} of {}", self.spec());
            return vec![reject(codes::OPERANDS, message, "sizes do not fit", &[*self], &[]); sizes.len()];
        }
        self.pieces(sizes, axis)
    }

    /// The slices of extent 1 along `axis`, without that dimension: the inverse of [`stack`](super::stack).
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.unbind(0), f32::spec([2, 3]))?;
    /// assert_eq!(**program.output_form(), [f32::spec([3]), f32::spec([3])]);
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn unbind(&self, axis: impl AxisIndex) -> Vec<Tensor> {
        let _scope = scope("unbind");
        let (axis, extent) = match self.cut("unbind", axis, 1) {
            Ok(cut) => cut,
            Err(poison) => return vec![poison],
        };
        let mut slices = Vec::with_capacity(extent);
        for at in 0..extent {
            slices.push(self.slice(axis, at..at + 1).squeeze(axis));
        }
        slices
    }

    /// The axis and its extent, for pieces that `number` counts or measures: it must not be 0.
    #[track_caller]
    fn cut(&self, name: &str, axis: impl AxisIndex, number: usize) -> Result<(usize, usize), Tensor> {
        let Some(spec) = self.known() else { return Err(self.absorb()) };
        let axis = self.axis(&spec, axis)?;
        if number == 0 {
            let message = format!("`{name}`: {spec} cannot be cut by 0");
            return Err(reject(codes::OPERANDS, message, "needs at least 1", &[*self], &[]));
        }
        Ok((axis, spec.shape[axis]))
    }

    /// Pieces of extent `size`, the last one shorter; of an empty axis one empty piece.
    #[track_caller]
    fn pieces_of(&self, size: usize, axis: usize, extent: usize) -> Vec<Tensor> {
        let sizes: Vec<usize> = (0..extent.max(1)).step_by(size).map(|start| size.min(extent - start)).collect();
        self.pieces(&sizes, axis)
    }

    /// Pieces of these extents, one after the other.
    #[track_caller]
    fn pieces(&self, sizes: &[usize], axis: usize) -> Vec<Tensor> {
        let mut pieces = Vec::with_capacity(sizes.len());
        let mut start = 0;
        for &size in sizes {
            pieces.push(self.slice(axis, start..start + size));
            start += size;
        }
        pieces
    }
}
