//! Where windows lie, as users write it: the options of convolutions and poolings.

use super::Tensor;
use super::tracer::{reject, scope_or};
use crate::diagnostics::codes;
use monograph_ir::{Amounts, Axes, Spec, Windows, dilated};

/// A number for each dimension of a window: one for all of them, or an array with one each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PerDimension<T>(Numbers<T>);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Numbers<T> {
    Same(T),
    Each(Vec<T>),
}

impl<T: Copy> PerDimension<T> {
    /// One number for each of `rank` dimensions; how many there are where they are not as many.
    fn list(&self, rank: usize) -> Result<Vec<T>, usize> {
        match &self.0 {
            Numbers::Same(number) => Ok(vec![*number; rank]),
            Numbers::Each(numbers) if numbers.len() == rank => Ok(numbers.clone()),
            Numbers::Each(numbers) => Err(numbers.len()),
        }
    }
}

macro_rules! per_dimension {
    ($($t:ty),*) => {$(
        impl From<$t> for PerDimension<$t> {
            fn from(number: $t) -> PerDimension<$t> {
                PerDimension(Numbers::Same(number))
            }
        }

        impl<const N: usize> From<[$t; N]> for PerDimension<$t> {
            fn from(numbers: [$t; N]) -> PerDimension<$t> {
                PerDimension(Numbers::Each(numbers.to_vec()))
            }
        }

        impl From<&[$t]> for PerDimension<$t> {
            fn from(numbers: &[$t]) -> PerDimension<$t> {
                PerDimension(Numbers::Each(numbers.to_vec()))
            }
        }
    )*};
}

per_dimension!(usize, (i64, i64));

impl From<i64> for PerDimension<(i64, i64)> {
    /// The same before and behind every dimension.
    fn from(amount: i64) -> PerDimension<(i64, i64)> {
        PerDimension(Numbers::Same((amount, amount)))
    }
}

impl<const N: usize> From<[i64; N]> for PerDimension<(i64, i64)> {
    /// For each dimension the same before and behind.
    fn from(amounts: [i64; N]) -> PerDimension<(i64, i64)> {
        PerDimension(Numbers::Each(amounts.map(|a| (a, a)).to_vec()))
    }
}

/// The options of a convolution. The default is stride 1, no padding, dilation 1 and one group.
///
/// ```
/// use monograph_compiler::trace::{Conv, trace};
/// use monograph_ir::Element;
///
/// let same = Conv::new().padding(1);
/// let halved = Conv::new().stride(2).padding([(0, 1), (1, 1)]).groups(4);
/// let specs = (f32::spec([8, 4, 16, 16]), f32::spec([4, 4, 3, 3]), f32::spec([8, 1, 2, 3]));
/// let program = trace(|(x, a, b)| x.conv2d(a, &same).relu().conv2d(b, &halved), specs)?;
/// assert_eq!(program.output_form().to_string(), "f32[8, 8, 8, 8]");
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conv {
    stride: PerDimension<usize>,
    padding: PerDimension<(i64, i64)>,
    dilation: PerDimension<usize>,
    output_padding: PerDimension<usize>,
    groups: usize,
}

impl Default for Conv {
    fn default() -> Conv {
        Conv {
            stride: 1.into(),
            padding: PerDimension(Numbers::Same((0, 0))),
            dilation: 1.into(),
            output_padding: 0.into(),
            groups: 1,
        }
    }
}

impl Conv {
    /// The default.
    pub fn new() -> Conv {
        Conv::default()
    }

    /// From one window to the next, at least 1: a number, or one for each dimension.
    pub fn stride(self, stride: impl Into<PerDimension<usize>>) -> Conv {
        Conv { stride: stride.into(), ..self }
    }

    /// Zeros around the input: a number, one for each dimension, or a pair (before, behind) for each dimension.
    /// Negative amounts cut off.
    pub fn padding(self, padding: impl Into<PerDimension<(i64, i64)>>) -> Conv {
        Conv { padding: padding.into(), ..self }
    }

    /// From one element of the kernel to the next, at least 1: a number, or one for each dimension.
    pub fn dilation(self, dilation: impl Into<PerDimension<usize>>) -> Conv {
        Conv { dilation: dilation.into(), ..self }
    }

    /// Of a transposed convolution only: how many more elements its result has behind each dimension, less than the
    /// stride. It chooses among the extents that a convolution maps to one.
    pub fn output_padding(self, output_padding: impl Into<PerDimension<usize>>) -> Conv {
        Conv { output_padding: output_padding.into(), ..self }
    }

    /// Number of groups: output channels of a group read the channels of that group only.
    pub fn groups(self, groups: usize) -> Conv {
        Conv { groups, ..self }
    }

    pub(super) fn group_count(&self) -> usize {
        self.groups
    }

    /// Where the windows lie in `rank` dimensions, or the poison of a diagnostic about `x`.
    #[track_caller]
    pub(super) fn windows(&self, x: &Tensor, rank: usize) -> Result<Windows, Tensor> {
        of_options(x, rank, &self.stride, &self.padding, &self.dilation)
    }

    /// The output padding of `rank` dimensions, or the poison of a diagnostic about `x`.
    #[track_caller]
    pub(super) fn output_paddings(&self, x: &Tensor, rank: usize) -> Result<Vec<usize>, Tensor> {
        listed(x, "output padding", &self.output_padding, rank)
    }
}

/// The options of a pooling: the size of its windows; stride (that size unless it is set), no padding and dilation 1.
///
/// ```
/// use monograph_compiler::trace::{Pool, Tensor, trace};
/// use monograph_ir::Element;
///
/// let pool = Pool::new(3).stride(2).padding(1);
/// let program = trace(|x| x.max_pool2d(&pool) + x.avg_pool2d(&pool), f32::spec([8, 4, 16, 16]))?;
/// assert_eq!(program.output_form().to_string(), "f32[8, 4, 8, 8]");
///
/// // Where the greatest elements are, and the way back.
/// let back = |x: Tensor| {
///     let (most, at) = x.max_pool2d_with_indices(&pool);
///     most.max_unpool2d(at, [16, 16], &pool)
/// };
/// let program = trace(back, f32::spec([8, 4, 16, 16]))?;
/// assert_eq!(program.output_form().to_string(), "f32[8, 4, 16, 16]");
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pool {
    kernel_size: PerDimension<usize>,
    stride: Option<PerDimension<usize>>,
    padding: PerDimension<(i64, i64)>,
    dilation: PerDimension<usize>,
    ceil_mode: bool,
    count_include_pad: bool,
}

impl Pool {
    /// Windows of that size: a number, or one for each dimension.
    pub fn new(kernel_size: impl Into<PerDimension<usize>>) -> Pool {
        Pool {
            kernel_size: kernel_size.into(),
            stride: None,
            padding: PerDimension(Numbers::Same((0, 0))),
            dilation: 1.into(),
            ceil_mode: false,
            count_include_pad: true,
        }
    }

    /// From one window to the next, at least 1: a number, or one for each dimension.
    pub fn stride(self, stride: impl Into<PerDimension<usize>>) -> Pool {
        Pool { stride: Some(stride.into()), ..self }
    }

    /// Positions around the input: a number, one for each dimension, or a pair (before, behind) for each dimension.
    /// They take no part in a maximum and are zeros in an average. Negative amounts cut off.
    pub fn padding(self, padding: impl Into<PerDimension<(i64, i64)>>) -> Pool {
        Pool { padding: padding.into(), ..self }
    }

    /// From one element of a window to the next, at least 1: a number, or one for each dimension.
    pub fn dilation(self, dilation: impl Into<PerDimension<usize>>) -> Pool {
        Pool { dilation: dilation.into(), ..self }
    }

    /// Whether there is a last window that sticks out behind, provided that it begins in the input or in the padding
    /// before it. Not set: false.
    pub fn ceil_mode(self, ceil_mode: bool) -> Pool {
        Pool { ceil_mode, ..self }
    }

    /// Whether an average divides by the number of elements with the padding among them, rather than by the number of
    /// those of the input. Not set: true.
    pub fn count_include_pad(self, count_include_pad: bool) -> Pool {
        Pool { count_include_pad, ..self }
    }

    pub(super) fn counts_padding(&self) -> bool {
        self.count_include_pad
    }

    /// The padding of `rank` dimensions as it was asked for, or the poison of a diagnostic about `x`.
    #[track_caller]
    pub(super) fn paddings(&self, x: &Tensor, rank: usize) -> Result<Vec<(i64, i64)>, Tensor> {
        listed(x, "padding", &self.padding, rank)
    }

    /// The sizes of windows over the last `rank` dimensions of `x`, which is `spec`, and where they lie, or the poison
    /// of a diagnostic.
    #[track_caller]
    pub(super) fn windows(&self, x: &Tensor, spec: &Spec, rank: usize) -> Result<(Axes, Windows), Tensor> {
        let Some(leading) = spec.shape.rank().checked_sub(rank) else {
            let message = format!("`{}`: {spec} has fewer than {rank} dimensions", scope_or("pool"));
            return Err(reject(codes::OPERANDS, message, "too few dimensions", &[*x], &[]));
        };
        let sizes = Axes::from_vec(listed(x, "kernel size", &self.kernel_size, rank)?);
        let stride = self.stride.as_ref().unwrap_or(&self.kernel_size);
        let mut windows = of_options(x, rank, stride, &self.padding, &self.dilation)?;
        for d in 0..if self.ceil_mode { rank } else { 0 } {
            windows.high[d] += beyond(&windows, d, spec.shape[leading + d], sizes[d]);
        }
        Ok((sizes, windows))
    }
}

/// How far the last window of the ceil mode sticks out behind the padding along a dimension; 0 where there is none.
fn beyond(windows: &Windows, d: usize, extent: usize, size: usize) -> i64 {
    let (Ok(stride), Ok(span)) =
        (i128::try_from(windows.strides[d]), i128::try_from(dilated(size, windows.dilation[d])))
    else {
        return 0;
    };
    let room = windows.positions(d, extent) - span;
    let rest = room.rem_euclid(stride);
    let begin = room - rest + stride;
    let begins_inside = begin >= 0 && begin < extent as i128 + i128::from(windows.low[d]);
    if rest > 0 && begins_inside { i64::try_from(stride - rest).unwrap_or(0) } else { 0 }
}

/// The greatest stride, dilation and padding.
const GREATEST: usize = 1 << 31;

#[track_caller]
fn of_options(
    x: &Tensor,
    rank: usize,
    stride: &PerDimension<usize>,
    padding: &PerDimension<(i64, i64)>,
    dilation: &PerDimension<usize>,
) -> Result<Windows, Tensor> {
    let padding = listed(x, "padding", padding, rank)?;
    let steps = [("stride", listed(x, "stride", stride, rank)?), ("dilation", listed(x, "dilation", dilation, rank)?)];
    for (what, step) in steps.iter().flat_map(|(what, steps)| steps.iter().map(move |step| (what, *step))) {
        if !(1..=GREATEST).contains(&step) {
            let message = format!("`{}`: a {what} of {step}", scope_or("windows"));
            let help = format!("the least is 1, the greatest {GREATEST}");
            return Err(reject(codes::OPERANDS, message, "no step", &[*x], &[help]));
        }
    }
    if let Some((low, high)) = padding.iter().find(|p| p.0.unsigned_abs().max(p.1.unsigned_abs()) > GREATEST as u64) {
        let message = format!("`{}`: a padding of ({low}, {high})", scope_or("windows"));
        let help = format!("the least is -{GREATEST}, the greatest {GREATEST}");
        return Err(reject(codes::OPERANDS, message, "too far", &[*x], &[help]));
    }
    let [(_, strides), (_, dilation)] = steps;
    Ok(Windows {
        strides: Axes::from_vec(strides),
        low: padding.iter().map(|p| p.0).collect::<Amounts>(),
        high: padding.iter().map(|p| p.1).collect::<Amounts>(),
        dilation: Axes::from_vec(dilation),
        ..Windows::dense(rank)
    })
}

#[track_caller]
fn listed<T: Copy>(x: &Tensor, what: &str, numbers: &PerDimension<T>, rank: usize) -> Result<Vec<T>, Tensor> {
    // No closure: it would hide the caller's place.
    let found = match numbers.list(rank) {
        Ok(list) => return Ok(list),
        Err(found) => found,
    };
    let message =
        format!("`{}`: {found} numbers for the {what} of windows with {rank} dimensions", scope_or("windows"));
    let help = format!("give {rank}, or one number for all dimensions");
    Err(reject(codes::OPERANDS, message, "not one for each dimension", &[*x], &[help]))
}
