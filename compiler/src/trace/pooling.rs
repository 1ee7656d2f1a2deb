//! Poolings: what a window's elements have in common.

use super::tracer::{record, reject, scope, scope_or};
use super::{Operand, Pool, Tensor, ones};
use crate::diagnostics::codes;
use monograph_ir::{Axes, DType, Extreme, Literal, Op, Reduction, Spec, Windows};

macro_rules! poolings {
    ($($most:ident $with_indices:ident $back:ident $average:ident $rank:literal $what:literal;)*) => {
        impl Tensor {
            $(
                #[doc = concat!("The greatest element of each window over the last ", $what, "; any dtype.")]
                ///
                /// NaN wins. Padding takes no part; a window of nothing but padding gives the lowest value of the
                /// dtype, -inf of a float. An error where there are fewer dimensions or no window fits.
                #[track_caller]
                pub fn $most(&self, pool: &Pool) -> Tensor {
                    let _scope = scope(stringify!($most));
                    self.greatest(pool, $rank).map_or_else(|poison| poison, |(most, _)| most)
                }

                #[doc = concat!("[`Tensor::", stringify!($most), "`], and where the element is: its row-major position (i64)")]
                #[doc = concat!("within the last ", $what, ", of the first NaN, else of the first of the greatest; -1 for")]
                /// a window of nothing but padding.
                #[track_caller]
                pub fn $with_indices(&self, pool: &Pool) -> (Tensor, Tensor) {
                    let _scope = scope(stringify!($with_indices));
                    match self.greatest(pool, $rank) {
                        Ok((most, windows)) => (most, self.positions(windows)),
                        Err(poison) => (poison, poison),
                    }
                }

                #[doc = concat!("The way back from [`Tensor::", stringify!($with_indices), "`]: a tensor whose last ", $what)]
                /// have these `extents`, in which each element is the sum of the elements of this tensor whose index (i32
                /// or i64, one a window) is its position, and 0 where none is. Indices that their window does not
                /// hold are dropped. With a gradient of the pooling's result it is the gradient of its input.
                ///
                /// An error where the options do not give as many windows over `extents` as this tensor has.
                #[track_caller]
                pub fn $back(&self, indices: impl Operand, extents: [usize; $rank], pool: &Pool) -> Tensor {
                    let indices = indices.tensor(Some(DType::I64));
                    let _scope = scope(stringify!($back));
                    self.back_from(indices, &extents, pool)
                }

                #[doc = concat!("The mean of the elements of each window over the last ", $what, "; floats.")]
                ///
                /// Sums run in f32 for f16 and bf16, and the mean is rounded once. The options say whether padding
                /// counts. A window that counts no element gives NaN. An error where there are fewer dimensions or no
                /// window fits.
                #[track_caller]
                pub fn $average(&self, pool: &Pool) -> Tensor {
                    if let Err(poison) = self.require_float(stringify!($average)) {
                        return poison;
                    }
                    let _scope = scope(stringify!($average));
                    self.average(pool, $rank).unwrap_or_else(|poison| poison)
                }
            )*
        }
    };
}

poolings! {
    max_pool1d max_pool1d_with_indices max_unpool1d avg_pool1d 1 "dimension";
    max_pool2d max_pool2d_with_indices max_unpool2d avg_pool2d 2 "two dimensions";
    max_pool3d max_pool3d_with_indices max_unpool3d avg_pool3d 3 "three dimensions";
}

/// Sizes of windows, and where they lie.
type Sized = (Axes, Windows);

impl Tensor {
    #[track_caller]
    fn greatest(&self, pool: &Pool, rank: usize) -> Result<(Tensor, Sized), Tensor> {
        let Some(spec) = self.known() else { return Err(self.absorb()) };
        let (sizes, windows) = pool.windows(self, &spec, rank)?;
        Ok((self.windows_of(Reduction::Max, &sizes, &windows), (sizes, windows)))
    }

    #[track_caller]
    fn positions(&self, (sizes, windows): Sized) -> Tensor {
        record(Op::WindowArg { kind: Extreme::Max, sizes, windows: Box::new(windows) }, &[*self])
    }

    #[track_caller]
    fn windows_of(&self, kind: Reduction, sizes: &Axes, windows: &Windows) -> Tensor {
        let windows = Box::new(windows.clone());
        record(Op::WindowReduce { kind, sizes: sizes.clone(), windows }, &[*self])
    }

    #[track_caller]
    fn back_from(&self, indices: Tensor, extents: &[usize], pool: &Pool) -> Tensor {
        let Some(spec) = self.known() else { return self.absorb() };
        // Only the number of dimensions and the extents of the pooled tensor matter.
        let leading = &spec.shape[..spec.shape.rank().saturating_sub(extents.len())];
        let pooled = Spec::new(spec.dtype, [leading, extents].concat());
        match pool.windows(self, &pooled, extents.len()) {
            Ok((sizes, windows)) => {
                let extents = Axes::from_slice(extents);
                record(Op::WindowScatter { extents, sizes, windows: Box::new(windows) }, &[*self, indices])
            }
            Err(poison) => poison,
        }
    }

    #[track_caller]
    fn average(&self, pool: &Pool, rank: usize) -> Result<Tensor, Tensor> {
        let Some(spec) = self.known() else { return Err(self.absorb()) };
        let (sizes, windows) = pool.windows(self, &spec, rank)?;
        let extents = &spec.shape[spec.shape.rank() - rank..];
        let sum = self.widened().windows_of(Reduction::Sum, &sizes, &windows);
        let counted = self.counted(pool, extents, &windows)?;
        let counts = self.counts(&counted, &sizes);
        Ok((sum / counts).rounded_as(self))
    }

    /// The elements that an average counts, and the windows over them: those of the input, with the padding if it
    /// counts, but never what sticks out behind it.
    #[track_caller]
    fn counted(&self, pool: &Pool, extents: &[usize], windows: &Windows) -> Result<(Vec<usize>, Windows), Tensor> {
        if !pool.counts_padding() {
            return Ok((extents.to_vec(), windows.clone()));
        }
        let mut all = windows.clone();
        let mut counted = Vec::with_capacity(extents.len());
        for (d, (low, high)) in pool.paddings(self, extents.len())?.into_iter().enumerate() {
            let positions = extents[d] as i128 + i128::from(low) + i128::from(high);
            let Ok(positions) = usize::try_from(positions) else {
                let name = scope_or("avg_pool");
                let message = format!("`{name}`: the padding ({low}, {high}) leaves {positions} of {}", extents[d]);
                return Err(reject(codes::OPERANDS, message, "nothing is left", &[*self], &[]));
            };
            counted.push(positions);
            all.low[d] = 0;
            all.high[d] -= high;
        }
        Ok((counted, all))
    }

    /// How many elements each window counts, in the dtype of the sums: a scalar where it is the same for all.
    #[track_caller]
    fn counts(&self, (extents, windows): &(Vec<usize>, Windows), sizes: &Axes) -> Tensor {
        let dtype = self.dtype().accumulator();
        let whole = (windows.low.iter().chain(&windows.high)).all(|&amount| amount <= 0);
        if whole {
            let count = sizes.iter().product::<usize>() as f64;
            return record(Op::Constant(Literal::from_f64(dtype, count)), &[]);
        }
        ones(dtype, &extents[..]).windows_of(Reduction::Sum, sizes, windows)
    }
}
