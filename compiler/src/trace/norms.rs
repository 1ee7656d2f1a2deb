//! Lengths of vectors, and what is measured with them: `norm`, `normalize`, `cosine_similarity`, `cdist`.

use super::operators::{align, binary};
use super::tracer::{reject, scope, scope_or};
use super::{AxisIndex, AxisList, Operand, Tensor};
use crate::diagnostics::codes;
use monograph_ir::Elementwise;

/// How long a vector is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Norm {
    /// The sum of the absolute values.
    L1,
    /// The root of the sum of squares: of a vector its Euclidean length, over both axes of a matrix its Frobenius norm.
    L2,
    /// The greatest absolute value: the norm of order infinity.
    Max,
    /// The smallest absolute value: the "norm" of order minus infinity.
    Min,
    /// The `p`-th root of the sum of the absolute values to the power of `p`, a finite number above 0.
    P(f64),
}

impl Tensor {
    /// The norm of floats over axes (`..` for all). f16 and bf16 are computed in f32; squares and powers may overflow
    /// where the norm itself does not. 0 over no elements, but [`Norm::Max`] and [`Norm::Min`] refuse an empty axis.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Norm, Tensor, trace};
    /// # use monograph_ir::{Element, interp};
    /// let program = trace(|x: Tensor| x.norm(Norm::L2, ..), f32::spec([2]))?;
    /// let x = interp::Tensor::from_vec([2], vec![3.0f32, -4.0]).unwrap();
    /// assert_eq!(interp::evaluate(program.graph(), &[x]).unwrap()[0].to_f64_vec(), [5.0]);
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn norm(&self, norm: Norm, axes: impl AxisList) -> Tensor {
        let _scope = scope("norm");
        match self.measured(norm, axes, false) {
            Ok(length) => length.rounded_as(self),
            Err(poison) => poison,
        }
    }

    /// [`Tensor::norm`], the axes staying with extent 1.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Norm, Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.norm_keep(Norm::L1, -1), f32::spec([2, 3]))?;
    /// assert_eq!(program.output_form().to_string(), "f32[2, 1]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn norm_keep(&self, norm: Norm, axes: impl AxisList) -> Tensor {
        let _scope = scope("norm_keep");
        match self.measured(norm, axes, true) {
            Ok(length) => length.rounded_as(self),
            Err(poison) => poison,
        }
    }

    /// The vectors along `axis` divided by their norm, or by `eps` where that is greater.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Norm, Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.normalize(Norm::L2, -1, 1e-12), f32::spec([2, 3]))?;
    /// assert_eq!(program.output_form().to_string(), "f32[2, 3]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn normalize(&self, norm: Norm, axis: impl AxisIndex, eps: f64) -> Tensor {
        let _scope = scope("normalize");
        let Some(spec) = self.known() else { return self.absorb() };
        let axis = match self.axis(&spec, axis) {
            Ok(axis) => axis,
            Err(poison) => return poison,
        };
        match self.measured(norm, axis, true) {
            Ok(length) => (self.widened() / length.maximum(length.constant_like(eps))).rounded_as(self),
            Err(poison) => poison,
        }
    }

    /// The cosine of the angle between the vectors along `axis` of two float tensors, which broadcast: their inner
    /// product divided by both Euclidean lengths, or by `eps` where one is shorter. `axis` counts in the broadcast
    /// shape, and leaves.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let similarity = |(x, y): (Tensor, Tensor)| x.cosine_similarity(y, -1, 1e-8);
    /// let program = trace(similarity, (f32::spec([5, 1, 64]), f32::spec([7, 64])))?;
    /// assert_eq!(program.output_form().to_string(), "f32[5, 7]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn cosine_similarity(&self, rhs: impl Operand, axis: impl AxisIndex, eps: f64) -> Tensor {
        let rhs = rhs.tensor(self.known_dtype());
        let _scope = scope("cosine_similarity");
        let (x, y) = match self.float_pair("cosine_similarity", &rhs) {
            Ok(pair) => pair,
            Err(poison) => return poison,
        };
        let [x, y] = match align("cosine_similarity", [x, y]) {
            Ok(pair) => pair,
            Err(poison) => return poison,
        };
        let axis = match x.axis(&x.spec(), axis) {
            Ok(axis) => axis,
            Err(poison) => return poison,
        };
        let eps = x.constant_like(eps);
        let (length_x, length_y) = ((x * x).sum(axis).sqrt(), (y * y).sum(axis).sqrt());
        ((x * y).sum(axis) / (length_x.maximum(eps) * length_y.maximum(eps))).rounded_as(self)
    }

    /// The distances of all rows of this float tensor (`[…, n, d]`) from all rows of `rhs` (`[…, m, d]`): `[…, n, m]`,
    /// leading dimensions broadcasting. Differences are measured one by one, not by a product, so that near rows keep
    /// their digits; the work is `n * m * d`.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Norm, Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|(x, y): (Tensor, Tensor)| x.cdist(y, Norm::L2), (f32::spec([5, 3]), f32::spec([7, 3])))?;
    /// assert_eq!(program.output_form().to_string(), "f32[5, 7]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn cdist(&self, rhs: impl Operand, norm: Norm) -> Tensor {
        let rhs = rhs.tensor(self.known_dtype());
        let _scope = scope("cdist");
        let (x, y) = match self.float_pair("cdist", &rhs) {
            Ok(pair) => pair,
            Err(poison) => return poison,
        };
        let (of_x, of_y) = (self.spec(), rhs.spec());
        let (rank_x, rank_y) = (of_x.shape.rank(), of_y.shape.rank());
        if rank_x < 2 || rank_y < 2 || of_x.shape[rank_x - 1] != of_y.shape[rank_y - 1] {
            let message = format!("`cdist`: {of_x} with {of_y}: needs rows of one length in both");
            return reject(codes::OPERANDS, message, "rows do not pair", &[*self, rhs], &[]);
        }
        match (x.unsqueeze(-2) - y.unsqueeze(-3)).measured(norm, -1, false) {
            Ok(distance) => distance.rounded_as(self),
            Err(poison) => poison,
        }
    }

    /// The norm in the accumulator's dtype.
    #[track_caller]
    fn measured(&self, norm: Norm, axes: impl AxisList, keep: bool) -> Result<Tensor, Tensor> {
        self.require_float(scope_or("norm"))?;
        let Some(spec) = self.known() else { return Err(self.absorb()) };
        let axes = self.sorted_axes(&spec, axes)?;
        if let Norm::P(p) = norm
            && !(p.is_finite() && p > 0.0)
        {
            let message = format!("`Norm::P({p})` is no norm: the power must be finite and above 0");
            let help = "the greatest absolute value is `Norm::Max`".to_string();
            return Err(reject(codes::OPERANDS, message, "no such norm", &[*self], &[help]));
        }
        let x = self.widened();
        let axes = axes.as_slice();
        let length = match norm {
            Norm::L1 => x.abs().sum_keep(axes),
            Norm::L2 => (x * x).sum_keep(axes).sqrt(),
            Norm::Max => x.abs().max_keep(axes),
            Norm::Min => x.abs().min_keep(axes),
            Norm::P(p) => x.abs().pow(x.constant_like(p)).sum_keep(axes).pow(x.constant_like(1.0 / p)),
        };
        Ok(if keep || length.known().is_none() { length } else { length.squeeze(axes) })
    }

    /// This tensor and another of the same float dtype, in the dtype in which they are computed.
    #[track_caller]
    pub(super) fn float_pair(&self, name: &str, other: &Tensor) -> Result<(Tensor, Tensor), Tensor> {
        self.require_float(name)?;
        let (Some(a), Some(b)) = (self.known(), other.known()) else { return Err(self.beside(other)) };
        if a.dtype != b.dtype {
            // Refused as every operation of two dtypes is.
            return Err(binary(Elementwise::Sub, *self, *other));
        }
        Ok((self.widened(), other.widened()))
    }
}
