//! Convolutions, their transposes, and what they are differentiated with.

use super::tracer::{record, reject, scope, scope_or};
use super::{Conv, Operand, Tensor, zeros};
use crate::diagnostics::codes;
use monograph_ir::{Op, Spec, Type, Windows, dilated, infer};

macro_rules! convolutions {
    ($($forward:ident $transposed:ident $rank:literal $x:literal $kernel:literal $y:literal;)*) => {
        impl Tensor {
            $(
                #[doc = concat!("Convolution of numbers: `", $x, "` with a `kernel` of `", $kernel, "` gives `", $y, "`.")]
                /// As [`Tensor::conv`].
                #[track_caller]
                pub fn $forward(&self, kernel: impl Operand, options: &Conv) -> Tensor {
                    let kernel = kernel.tensor(self.known_dtype());
                    let _scope = scope(stringify!($forward));
                    self.convolved(kernel, options, Some($rank))
                }

                #[doc = concat!("The transpose of [`Tensor::", stringify!($forward), "`]. As [`Tensor::conv_transpose`].")]
                #[track_caller]
                pub fn $transposed(&self, kernel: impl Operand, options: &Conv) -> Tensor {
                    let kernel = kernel.tensor(self.known_dtype());
                    let _scope = scope(stringify!($transposed));
                    self.convolved_back(kernel, options, Some($rank))
                }
            )*
        }
    };
}

convolutions! {
    conv1d conv_transpose1d 1 "[N, C, L]" "[O, C / groups, k]" "[N, O, l]";
    conv2d conv_transpose2d 2 "[N, C, H, W]" "[O, C / groups, k, k]" "[N, O, h, w]";
    conv3d conv_transpose3d 3 "[N, C, D, H, W]" "[O, C / groups, k, k, k]" "[N, O, d, h, w]";
}

impl Tensor {
    /// Convolution of numbers over any number of dimensions, at least one: `[N, C, extents…]` with a `kernel` of
    /// `[O, C / groups, sizes…]` gives `[N, O, windows…]`. Element `w` of output channel `o` sums up the elements of
    /// window `w` times `kernel[o]`, which is not turned around, over the channels of its group. Along a dimension
    /// there are `(extent + padding - dilation · (size - 1) - 1) / stride + 1` windows, rounded down.
    ///
    /// f32 is IEEE f32; f16 and bf16 accumulate in f32 and round once; integers wrap. Padding is zeros, which take
    /// part: a kernel that is not finite gives NaN there. A bias of `[O, 1, …]` is added behind, and fused.
    ///
    /// An error where dtypes or channels differ, `groups` does not divide the channels, or no window fits.
    ///
    /// ```
    /// use monograph_compiler::trace::{Conv, trace};
    /// use monograph_ir::Element;
    ///
    /// let specs = (f32::spec([2, 3, 32, 32]), f32::spec([8, 3, 5, 5]), f32::spec([8, 1, 1]));
    /// let program = trace(|(x, kernel, bias)| x.conv(kernel, &Conv::new().stride(2).padding(2)) + bias, specs)?;
    /// assert_eq!(program.output_form().to_string(), "f32[2, 8, 16, 16]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn conv(&self, kernel: impl Operand, options: &Conv) -> Tensor {
        let kernel = kernel.tensor(self.known_dtype());
        let _scope = scope("conv");
        self.convolved(kernel, options, None)
    }

    /// The transpose of [`Tensor::conv`] with the same options and kernel: `[N, O, extents…]` with a `kernel` of
    /// `[O, C / groups, sizes…]` gives `[N, C, …]`, with `(extent - 1) · stride - padding + dilation · (size - 1) + 1 +
    /// output_padding` elements along a dimension. It is what takes a gradient of a convolution's result to one of its
    /// input.
    ///
    /// An error where dtypes or channels differ, `groups` does not divide the channels, or nothing is left.
    ///
    /// ```
    /// use monograph_compiler::trace::{Conv, trace};
    /// use monograph_ir::Element;
    ///
    /// let twice = Conv::new().stride(2).padding(1).output_padding(1);
    /// let specs = (f32::spec([2, 8, 16, 16]), f32::spec([8, 3, 3, 3]));
    /// let program = trace(|(x, kernel)| x.conv_transpose2d(kernel, &twice), specs)?;
    /// assert_eq!(program.output_form().to_string(), "f32[2, 3, 32, 32]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn conv_transpose(&self, kernel: impl Operand, options: &Conv) -> Tensor {
        let kernel = kernel.tensor(self.known_dtype());
        let _scope = scope("conv_transpose");
        self.convolved_back(kernel, options, None)
    }

    /// The gradient with respect to the input of [`Tensor::conv`] with these options and this kernel, for an input whose
    /// last dimensions are `extents` and this gradient of its result, `[N, O, windows…]`. A building block of
    /// differentiation; the output padding of the options means nothing here.
    ///
    /// An error where such a convolution has no result of this tensor's spec.
    ///
    /// ```
    /// use monograph_compiler::trace::{Conv, trace};
    /// use monograph_ir::Element;
    ///
    /// let halved = Conv::new().stride(2).padding(1);
    /// let specs = (f32::spec([2, 8, 16, 16]), f32::spec([8, 3, 3, 3]));
    /// let program = trace(|(gradient, kernel)| gradient.conv_input_gradient(kernel, &[32, 31], &halved), specs)?;
    /// assert_eq!(program.output_form().to_string(), "f32[2, 3, 32, 31]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn conv_input_gradient(&self, kernel: impl Operand, extents: &[usize], options: &Conv) -> Tensor {
        let kernel = kernel.tensor(self.known_dtype());
        let _scope = scope("conv_input_gradient");
        let (Some(y), Some(k)) = (self.known(), kernel.known()) else { return self.unknown(kernel) };
        let rank = match self.windowed(&y, kernel, &k, None) {
            Ok(rank) => rank,
            Err(poison) => return poison,
        };
        if extents.len() != rank {
            let message = format!("`conv_input_gradient`: {} extents for {rank} dimensions", extents.len());
            return reject(codes::OPERANDS, message, "not one for each dimension", &[*self], &[]);
        }
        match options.windows(self, rank) {
            Ok(windows) => self.input_gradient(kernel, [&y, &k], windows, options.group_count(), extents),
            Err(poison) => poison,
        }
    }

    /// The gradient with respect to the kernel of [`Tensor::conv`] of this input with these options, for a kernel whose
    /// last dimensions are `sizes` and `gradient` of its result, `[N, O, windows…]`: `[O, C / groups, sizes…]`. A
    /// building block of differentiation; the output padding of the options means nothing here.
    ///
    /// An error where such a convolution has no result of the gradient's spec.
    ///
    /// ```
    /// use monograph_compiler::trace::{Conv, trace};
    /// use monograph_ir::Element;
    ///
    /// let same = Conv::new().padding(1);
    /// let specs = (f32::spec([2, 3, 32, 32]), f32::spec([2, 8, 32, 32]));
    /// let program = trace(|(x, gradient)| x.conv_weight_gradient(gradient, &[3, 3], &same), specs)?;
    /// assert_eq!(program.output_form().to_string(), "f32[8, 3, 3, 3]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn conv_weight_gradient(&self, gradient: impl Operand, sizes: &[usize], options: &Conv) -> Tensor {
        let gradient = gradient.tensor(self.known_dtype());
        let _scope = scope("conv_weight_gradient");
        let (Some(x), Some(y)) = (self.known(), gradient.known()) else { return self.unknown(gradient) };
        let rank = match self.windowed(&x, gradient, &y, None) {
            Ok(rank) => rank,
            Err(poison) => return poison,
        };
        if sizes.len() != rank {
            let message = format!("`conv_weight_gradient`: {} sizes for {rank} dimensions", sizes.len());
            return reject(codes::OPERANDS, message, "not one for each dimension", &[*self], &[]);
        }
        let windows = match options.windows(self, rank) {
            Ok(windows) => windows,
            Err(poison) => return poison,
        };
        let (groups, extents) = (options.group_count(), &x.shape[2..]);
        let (batch, channels, outputs) = (x.shape[0], x.shape[1], y.shape[1]);
        let each = channels / groups.max(1);
        let k = Spec::new(x.dtype, [&[outputs, each], sizes].concat());
        if let Err(poison) = check_forward(&[*self, gradient], [&x, &k, &y], &windows, groups) {
            return poison;
        }
        // Channels of a group are its batch, the batch is its channels, and the gradient is its kernel.
        let split = self.reshape([&[batch, groups, each], extents].concat());
        let turned = split.permute(&swapped([2, 1, 0], rank)[..]).reshape([&[each, groups * batch], extents].concat());
        let kernel = gradient.permute(&swapped([1, 0], rank)[..]);
        let windows = Box::new(windows.of_kernel(extents, sizes));
        let product = record(Op::Convolution { windows, groups }, &[turned, kernel]);
        product.permute(&swapped([1, 0], rank)[..])
    }

    #[track_caller]
    fn convolved(&self, kernel: Tensor, options: &Conv, rank: Option<usize>) -> Tensor {
        let (Some(x), Some(k)) = (self.known(), kernel.known()) else { return self.unknown(kernel) };
        let rank = match self.windowed(&x, kernel, &k, rank) {
            Ok(rank) => rank,
            Err(poison) => return poison,
        };
        match options.windows(self, rank) {
            Ok(windows) => {
                let op = Op::Convolution { windows: Box::new(windows), groups: options.group_count() };
                record(op, &[*self, kernel])
            }
            Err(poison) => poison,
        }
    }

    #[track_caller]
    fn convolved_back(&self, kernel: Tensor, options: &Conv, rank: Option<usize>) -> Tensor {
        let (Some(y), Some(k)) = (self.known(), kernel.known()) else { return self.unknown(kernel) };
        let rank = match self.windowed(&y, kernel, &k, rank) {
            Ok(rank) => rank,
            Err(poison) => return poison,
        };
        let (windows, more) = match (options.windows(self, rank), options.output_paddings(self, rank)) {
            (Ok(windows), Ok(more)) => (windows, more),
            (Err(poison), _) | (_, Err(poison)) => return poison,
        };
        let mut extents = Vec::with_capacity(more.len());
        for (d, &more) in more.iter().enumerate() {
            if more >= windows.strides[d].max(windows.dilation[d]) {
                let message = format!(
                    "`{}`: an output padding of {more} along dimension {d}, where the stride is {} and the dilation {}",
                    scope_or("conv_transpose"),
                    windows.strides[d],
                    windows.dilation[d]
                );
                let help = "it must be less than the greater of the two".to_string();
                return reject(codes::OPERANDS, message, "too much", &[*self], &[help]);
            }
            let of = |extent, by| dilated(extent, by) as i128;
            let span = of(y.shape[d + 2], windows.strides[d]) + of(k.shape[d + 2], windows.dilation[d]) - 1;
            let extent = span - i128::from(windows.low[d]) - i128::from(windows.high[d]) + more as i128;
            match usize::try_from(extent) {
                Ok(extent @ 1..) if y.shape[d + 2] > 0 => extents.push(extent),
                _ => {
                    let name = scope_or("conv_transpose");
                    let message = format!("`{name}`: {y} with {k} leaves {extent} elements along dimension {d}");
                    return reject(codes::OPERANDS, message, "nothing is left", &[*self, kernel], &[]);
                }
            }
        }
        self.input_gradient(kernel, [&y, &k], windows, options.group_count(), &extents)
    }

    /// The transposed convolution to an input of `extents`.
    #[track_caller]
    fn input_gradient(
        &self,
        kernel: Tensor,
        [y, k]: [&Spec; 2],
        windows: Windows,
        groups: usize,
        extents: &[usize],
    ) -> Tensor {
        let (outputs, each, sizes) = (k.shape[0], k.shape[1], &k.shape[2..]);
        let rank = extents.len();
        let x = Spec::new(y.dtype, [&[y.shape[0], groups * each], extents].concat());
        if let Err(poison) = check_forward(&[*self, kernel], [&x, k, y], &windows, groups) {
            return poison;
        }
        if extents.contains(&0) {
            return zeros(x.dtype, x.shape);
        }
        // In each group, outputs become channels and the other way round.
        let split = kernel.reshape([&[groups, outputs / groups, each], sizes].concat());
        let turned = split.permute(&swapped([0, 2, 1], rank)[..]);
        let turned = turned.reshape([&[groups * each, outputs / groups], sizes].concat());
        let last: Vec<usize> = (2..2 + rank).collect();
        let windows = Box::new(windows.transposed(extents, sizes));
        record(Op::Convolution { windows, groups }, &[*self, turned.flip(&last[..])])
    }

    /// The number of dimensions that windows have, of a tensor and a kernel (or gradient) of these specs.
    #[track_caller]
    fn windowed(&self, x: &Spec, other: Tensor, k: &Spec, wanted: Option<usize>) -> Result<usize, Tensor> {
        let (rank_x, rank_k) = (x.shape.rank(), k.shape.rank());
        let fits = wanted.map_or(rank_x >= 3, |rank| rank_x == rank + 2);
        if fits && rank_x == rank_k {
            return Ok(rank_x - 2);
        }
        let name = scope_or("conv");
        let needed =
            wanted.map_or("the same number of dimensions, at least 3".to_string(), |r| format!("{} dimensions", r + 2));
        let message = format!("`{name}`: {x} with {k}: both need {needed}");
        let help = "an input is `[N, C, …]`, a kernel `[O, C / groups, …]`; `.unsqueeze(0)` makes a batch of one";
        Err(reject(codes::OPERANDS, message, "wrong number of dimensions", &[*self, other], &[help.to_string()]))
    }

    /// The result over an operand of which too little is known.
    #[track_caller]
    fn unknown(&self, other: Tensor) -> Tensor {
        if self.known().is_none() { self.absorb() } else { other.absorb() }
    }
}

/// Whether a convolution of an input of this spec with a kernel of that one gives a result of `y`'s spec, or the poison of
/// a diagnostic about the tensors.
#[track_caller]
fn check_forward(about: &[Tensor], [x, k, y]: [&Spec; 3], windows: &Windows, groups: usize) -> Result<(), Tensor> {
    let name = scope_or("conv");
    let op = Op::Convolution { windows: Box::new(windows.clone()), groups };
    match infer(&op, &[&Type::Tensor(x.clone()), &Type::Tensor(k.clone())]) {
        Err(error) => {
            let message = format!("`{name}`: a convolution of {x} with {k}: {}", error.message);
            Err(reject(codes::OPERANDS, message, "no such convolution", about, &Vec::from_iter(error.help)))
        }
        Ok(results) if results[..] == [Type::Tensor(y.clone())] => Ok(()),
        Ok(results) => {
            let message = format!("`{name}`: a convolution of {x} with {k} gives {}, not {y}", results[0]);
            Err(reject(codes::OPERANDS, message, "not its result", about, &[]))
        }
    }
}

/// `first`, then the other axes of `rank` windows in their order.
fn swapped<const N: usize>(first: [usize; N], rank: usize) -> Vec<usize> {
    first.into_iter().chain(N..N + rank).collect()
}
