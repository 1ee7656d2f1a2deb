//! Other resolutions: `interpolate`, adaptive pooling and means of blocks.
//!
//! Where an element of the result lies in the operand is computed in integers, so no rounding moves it.

use super::Tensor;
use super::create::filled;
use super::normalize::INDEX;
use super::tracer::{reject, scope};
use crate::diagnostics::codes;
use monograph_ir::{Literal, Shape, Spec};

/// How [`Tensor::interpolate`] fills in between elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interpolation {
    /// The element at `floor(i * extent / size)`.
    Nearest,
    /// Between the two neighbours along each axis in proportion: linear, bilinear, trilinear.
    Linear {
        /// The outermost elements keep their places, so that element `i` lies at `i * (extent - 1) / (size - 1)`, and a
        /// single one at the first. Else elements are cells of equal width and their centres are what is aligned:
        /// element `i` lies at `(i + 1/2) * extent / size - 1/2`, moved inside.
        align_corners: bool,
    },
}

#[track_caller]
fn number(value: usize) -> Tensor {
    filled(Literal::from_i64(INDEX, value as i64), Shape::scalar())
}

impl Tensor {
    /// The last `sizes.len()` dimensions resized to `sizes`, axis by axis: of `[batch, channels, height, width]` with
    /// two sizes the images.
    ///
    /// Sizes and extents are at least 1. [`Interpolation::Linear`] takes floats; f16 and bf16 are computed in f32 and rounded once. It weighs both
    /// neighbours, so an infinity beside a weight of 0 gives NaN.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Interpolation, Tensor, trace};
    /// # use monograph_ir::{Element, interp};
    /// let twice = |x: Tensor| x.interpolate(&[4], Interpolation::Linear { align_corners: false });
    /// let program = trace(twice, f32::spec([2]))?;
    /// let x = interp::Tensor::from_vec([2], vec![0.0f32, 4.0]).unwrap();
    /// assert_eq!(interp::evaluate(program.graph(), &[x]).unwrap()[0].to_f64_vec(), [0.0, 1.0, 3.0, 4.0]);
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn interpolate(&self, sizes: &[usize], mode: Interpolation) -> Tensor {
        let _scope = scope("interpolate");
        let spec = match self.resized("interpolate", sizes) {
            Ok(spec) => spec,
            Err(poison) => return poison,
        };
        let first = spec.shape.rank() - sizes.len();
        let Interpolation::Linear { align_corners } = mode else {
            let mut resized = *self;
            for (axis, &size) in (first..).zip(sizes) {
                if size != spec.shape[axis] {
                    let source = (super::arange(INDEX, size) * number(spec.shape[axis])).div_floor(number(size));
                    resized = resized.take(source, axis);
                }
            }
            return resized;
        };
        if let Err(poison) = self.require_float("interpolate") {
            return poison;
        }
        let mut resized = self.widened();
        for (axis, &size) in (first..).zip(sizes) {
            if size != spec.shape[axis] {
                resized = resized.resized_linearly(axis, spec.shape[axis], size, align_corners);
            }
        }
        resized.rounded_as(self)
    }

    /// One axis resized from `extent` to `size`, both at least 1.
    #[track_caller]
    fn resized_linearly(&self, axis: usize, extent: usize, size: usize, align_corners: bool) -> Tensor {
        let at = super::arange(INDEX, size);
        // The place in the operand is a fraction.
        let (numerator, denominator) = if align_corners {
            (at * number(extent - 1), number((size - 1).max(1)))
        } else {
            let place = (at * number(2) + number(1)) * number(extent) - number(size);
            (place.maximum(number(0)), number(2 * size))
        };
        let lower = numerator.div_floor(denominator);
        let upper = (lower + number(1)).minimum(number(extent - 1));
        let dtype = self.dtype();
        let share = numerator.mod_floor(denominator).cast(dtype) / denominator.cast(dtype);
        let mut along = vec![1; self.rank()];
        along[axis] = size;
        let share = share.reshape(along);
        self.take(lower, axis) * (self.constant_like(1.0) - share) + self.take(upper, axis) * share
    }

    /// The means of `sizes` windows along the last `sizes.len()` dimensions: window `i` holds the elements from
    /// `floor(i * extent / size)` to before `ceil((i + 1) * extent / size)`, so windows overlap where the extent is no
    /// multiple. Of floats; PyTorch's `adaptive_avg_pool`.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::{Element, interp};
    /// let program = trace(|x: Tensor| x.adaptive_avg_pool(&[2]), f32::spec([3]))?;
    /// let x = interp::Tensor::from_vec([3], vec![1.0f32, 2.0, 4.0]).unwrap();
    /// assert_eq!(interp::evaluate(program.graph(), &[x]).unwrap()[0].to_f64_vec(), [1.5, 3.0]);
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn adaptive_avg_pool(&self, sizes: &[usize]) -> Tensor {
        let _scope = scope("adaptive_avg_pool");
        let spec = match self.resized("adaptive_avg_pool", sizes) {
            Ok(spec) => spec,
            Err(poison) => return poison,
        };
        if let Err(poison) = self.require_float("adaptive_avg_pool") {
            return poison;
        }
        let first = spec.shape.rank() - sizes.len();
        let mut pooled = self.widened();
        for (axis, &size) in (first..).zip(sizes) {
            let windows = Windows::of(spec.shape[axis], size);
            let elements = pooled.take(windows.first + windows.offset, axis);
            // `[…, size, width, …]`: what a window lacks of the greatest width is left out.
            let mut across = vec![1; elements.rank()];
            (across[axis], across[axis + 1]) = (size, windows.width);
            let inside = (windows.first + windows.offset).lt(windows.end).reshape(across);
            let mut each = vec![1; pooled.rank()];
            each[axis] = size;
            let count = (windows.end - windows.first).reshape(each).cast(pooled.dtype());
            pooled = inside.select(elements, elements.constant_like(0.0)).sum(axis + 1) / count;
        }
        pooled.rounded_as(self)
    }

    /// The greatest elements of the windows of [`Tensor::adaptive_avg_pool`], of any dtype; NaN wins.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.adaptive_max_pool(&[7, 7]), f32::spec([2, 16, 30, 32]))?;
    /// assert_eq!(program.output_form().to_string(), "f32[2, 16, 7, 7]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn adaptive_max_pool(&self, sizes: &[usize]) -> Tensor {
        let _scope = scope("adaptive_max_pool");
        let spec = match self.resized("adaptive_max_pool", sizes) {
            Ok(spec) => spec,
            Err(poison) => return poison,
        };
        let first = spec.shape.rank() - sizes.len();
        let mut pooled = *self;
        for (axis, &size) in (first..).zip(sizes) {
            let windows = Windows::of(spec.shape[axis], size);
            // A narrow window repeats its last element.
            let source = (windows.first + windows.offset).minimum(windows.end - number(1));
            pooled = pooled.take(source, axis).max(axis + 1);
        }
        pooled
    }

    /// The means of blocks of these extents, side by side, along the last `block.len()` dimensions, whose extents are
    /// multiples: average pooling whose stride is the window. Of floats.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let half = trace(|x: Tensor| x.block_mean(&[2, 2]), f32::spec([3, 32, 48]))?;
    /// assert_eq!(half.output_form().to_string(), "f32[3, 16, 24]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn block_mean(&self, block: &[usize]) -> Tensor {
        let _scope = scope("block_mean");
        if let Err(poison) = self.require_float("block_mean") {
            return poison;
        }
        let Some(spec) = self.known() else { return self.absorb() };
        let rank = spec.shape.rank();
        let fits = |first: usize| {
            spec.shape[first..].iter().zip(block).all(|(&extent, &width)| width > 0 && extent.is_multiple_of(width))
        };
        let Some(first) = rank.checked_sub(block.len()).filter(|&first| fits(first)) else {
            let message = format!("`block_mean`: {spec} has no whole number of blocks of {block:?}");
            let help = "cut with `.slice(axis, ..)` or pad first; `adaptive_avg_pool` takes every extent".to_string();
            return reject(codes::OPERANDS, message, "blocks do not fit", &[*self], &[help]);
        };
        let mut apart = spec.shape[..first].to_vec();
        let mut inner = Vec::with_capacity(block.len());
        for (&extent, &width) in spec.shape[first..].iter().zip(block) {
            apart.extend([extent / width, width]);
            inner.push(apart.len() - 1);
        }
        self.reshape(apart).mean(inner.as_slice())
    }

    /// The spec of this tensor, if its last dimensions can have these sizes.
    #[track_caller]
    fn resized(&self, name: &str, sizes: &[usize]) -> Result<Spec, Tensor> {
        let Some(spec) = self.known() else { return Err(self.absorb()) };
        let Some(first) = spec.shape.rank().checked_sub(sizes.len()) else {
            let message = format!("`{name}`: {spec} with {} sizes", sizes.len());
            let help = "sizes are those of the last dimensions".to_string();
            return Err(reject(codes::OPERANDS, message, "more sizes than dimensions", &[*self], &[help]));
        };
        // Places are counted in i64, as twice the product of extent and size.
        let counts = |(&extent, &size): (&usize, &usize)| {
            extent.checked_mul(size).and_then(|n| n.checked_mul(4)).is_some_and(|n| n <= i64::MAX as usize)
        };
        if !spec.shape[first..].iter().zip(sizes).all(counts) {
            let message = format!("`{name}`: {spec} with sizes {sizes:?}");
            return Err(reject(codes::TOO_LARGE, message, "too large", &[*self], &[]));
        }
        if spec.shape[first..].contains(&0) || sizes.contains(&0) {
            let message = format!("`{name}`: {spec} with sizes {sizes:?}: an extent of 0 has no elements to place");
            return Err(reject(codes::OPERANDS, message, "nothing to place", &[*self], &[]));
        }
        Ok(spec)
    }
}

/// The windows of adaptive pooling: i64 tensors of shape `[size, 1]`, and `[1, width]` of the offsets.
struct Windows {
    first: Tensor,
    end: Tensor,
    offset: Tensor,
    /// The greatest number of elements.
    width: usize,
}

impl Windows {
    /// `size` windows over `extent` elements, both at least 1.
    #[track_caller]
    fn of(extent: usize, size: usize) -> Windows {
        let (from, to) = (|i: usize| i * extent / size, |i: usize| ((i + 1) * extent).div_ceil(size));
        let width = (0..size).map(|i| to(i) - from(i)).max().unwrap_or(1);
        let at = super::arange(INDEX, size).unsqueeze(1);
        let first = (at * number(extent)).div_floor(number(size));
        // Rounded up.
        let end = ((at + number(1)) * number(extent) + number(size - 1)).div_floor(number(size));
        Windows { first, end, offset: super::arange(INDEX, width).unsqueeze(0), width }
    }
}
