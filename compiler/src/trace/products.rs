//! Products of vectors and of tensors along chosen axes: `outer`, `dot`, `inner`, `vdot`, `tensordot`, `kron`, `cross`.

use super::einsum::{Label, Labelled, contract};
use super::operators::{align, binary};
use super::tracer::{reject, scope};
use super::{AxisIndex, AxisList, Operand, Tensor};
use crate::diagnostics::codes;
use monograph_ir::{Elementwise, Spec};

impl Tensor {
    /// Every element times every element of `rhs`, `[n, m]`; both are read as vectors.
    ///
    /// ```
    /// # use monograph_compiler::trace::trace;
    /// # use monograph_ir::Element;
    /// let program = trace(|(x, y)| x.outer(y), (f32::spec([3]), f32::spec([4])))?;
    /// assert_eq!(program.output_form().to_string(), "f32[3, 4]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn outer(&self, rhs: impl Operand) -> Tensor {
        let rhs = rhs.tensor(self.known_dtype());
        let _scope = scope("outer");
        let (Some(_), Some(_)) = (self.known(), rhs.known()) else { return self.beside(&rhs) };
        self.flatten().unsqueeze(1) * rhs.flatten().unsqueeze(0)
    }

    /// NumPy's `dot`: a product with a scalar, else the sum of products over the last axis of this tensor and the
    /// last but one (of a vector the only one) of `rhs`. Of tensors of more than two dimensions
    /// [`Tensor::matmul`] is usually what is meant: here leading dimensions do not pair up.
    ///
    /// ```
    /// # use monograph_compiler::trace::trace;
    /// # use monograph_ir::Element;
    /// let program = trace(|(x, y)| x.dot(y), (f32::spec([5, 2, 3]), f32::spec([7, 3, 4])))?;
    /// assert_eq!(program.output_form().to_string(), "f32[5, 2, 7, 4]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn dot(&self, rhs: impl Operand) -> Tensor {
        let rhs = rhs.tensor(self.known_dtype());
        let _scope = scope("dot");
        match (self.known(), rhs.known()) {
            (Some(a), Some(b)) if a.shape.rank() == 0 || b.shape.rank() == 0 => self * rhs,
            (Some(a), Some(b)) => {
                let (last, before) = (a.shape.rank() - 1, b.shape.rank().saturating_sub(2));
                self.summed_product("dot", rhs, &[last], &[before])
            }
            _ => self.beside(&rhs),
        }
    }

    /// NumPy's `inner`: a product with a scalar, else the sum of products over the last axes of both.
    ///
    /// ```
    /// # use monograph_compiler::trace::trace;
    /// # use monograph_ir::Element;
    /// let program = trace(|(x, y)| x.inner(y), (f32::spec([2, 3]), f32::spec([4, 3])))?;
    /// assert_eq!(program.output_form().to_string(), "f32[2, 4]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn inner(&self, rhs: impl Operand) -> Tensor {
        let rhs = rhs.tensor(self.known_dtype());
        let _scope = scope("inner");
        match (self.known(), rhs.known()) {
            (Some(a), Some(b)) if a.shape.rank() == 0 || b.shape.rank() == 0 => self * rhs,
            (Some(a), Some(b)) => self.summed_product("inner", rhs, &[a.shape.rank() - 1], &[b.shape.rank() - 1]),
            _ => self.beside(&rhs),
        }
    }

    /// The sum of the products of two tensors of one size, both read as vectors: a scalar.
    ///
    /// ```
    /// # use monograph_compiler::trace::trace;
    /// # use monograph_ir::Element;
    /// let program = trace(|(x, y)| x.vdot(y), (f32::spec([2, 3]), f32::spec([6])))?;
    /// assert_eq!(program.output_form().to_string(), "f32[]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn vdot(&self, rhs: impl Operand) -> Tensor {
        let rhs = rhs.tensor(self.known_dtype());
        let _scope = scope("vdot");
        let (Some(_), Some(_)) = (self.known(), rhs.known()) else { return self.beside(&rhs) };
        self.flatten().summed_product("vdot", rhs.flatten(), &[0], &[0])
    }

    /// The sum of products over `axes` of this tensor paired with `rhs_axes` of `rhs`, in their order. The result has
    /// the other dimensions of this tensor, then those of `rhs`. One matrix product.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let product = |(x, y): (Tensor, Tensor)| x.tensordot(y, [1, 2], [1, 0]);
    /// let program = trace(product, (f32::spec([2, 3, 4]), f32::spec([4, 3, 5])))?;
    /// assert_eq!(program.output_form().to_string(), "f32[2, 5]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn tensordot(&self, rhs: impl Operand, axes: impl AxisList, rhs_axes: impl AxisList) -> Tensor {
        let rhs = rhs.tensor(self.known_dtype());
        let _scope = scope("tensordot");
        let (Some(a), Some(b)) = (self.known(), rhs.known()) else { return self.beside(&rhs) };
        let (axes, rhs_axes) = match (self.ordered_axes(&a, axes), rhs.ordered_axes(&b, rhs_axes)) {
            (Ok(axes), Ok(rhs_axes)) => (axes, rhs_axes),
            (Err(poison), _) | (_, Err(poison)) => return poison,
        };
        let repeats = |axes: &[usize]| (1..axes.len()).any(|i| axes[..i].contains(&axes[i]));
        if axes.len() != rhs_axes.len() || repeats(&axes) || repeats(&rhs_axes) {
            let message = format!("`tensordot`: axes {axes:?} of {a} do not pair with axes {rhs_axes:?} of {b}");
            let help = "give as many axes of both, each once".to_string();
            return reject(codes::AXIS, message, "axes do not pair", &[*self, rhs], &[help]);
        }
        self.summed_product("tensordot", rhs, &axes, &rhs_axes)
    }

    /// The Kronecker product: each element times the whole of `rhs`, extents multiplied. Shapes are aligned at the
    /// right.
    ///
    /// ```
    /// # use monograph_compiler::trace::trace;
    /// # use monograph_ir::Element;
    /// let program = trace(|(x, y)| x.kron(y), (f32::spec([2, 3]), f32::spec([4, 5])))?;
    /// assert_eq!(program.output_form().to_string(), "f32[8, 15]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn kron(&self, rhs: impl Operand) -> Tensor {
        let rhs = rhs.tensor(self.known_dtype());
        let _scope = scope("kron");
        let (Some(a), Some(b)) = (self.known(), rhs.known()) else { return self.beside(&rhs) };
        let rank = a.shape.rank().max(b.shape.rank());
        let aligned = |spec: &Spec| [vec![1; rank - spec.shape.rank()], spec.shape.to_vec()].concat();
        let (of_a, of_b) = (aligned(&a), aligned(&b));
        let apart_a: Vec<usize> = of_a.iter().flat_map(|&d| [d, 1]).collect();
        let apart_b: Vec<usize> = of_b.iter().flat_map(|&d| [1, d]).collect();
        let product = self.reshape(apart_a) * rhs.reshape(apart_b);
        match of_a.iter().zip(&of_b).map(|(&a, &b)| a.checked_mul(b)).collect::<Option<Vec<usize>>>() {
            Some(dims) if product.known().is_some() => product.reshape(dims),
            // The product was refused: its elements are more than can be addressed, or the dtypes differ.
            _ => product,
        }
    }

    /// The cross product of the vectors of 3 along `axis` of two tensors, which broadcast; `axis` counts in the
    /// broadcast shape.
    ///
    /// ```
    /// # use monograph_compiler::trace::trace;
    /// # use monograph_ir::Element;
    /// let program = trace(|(x, y)| x.cross(y, -1), (f32::spec([5, 3]), f32::spec([3])))?;
    /// assert_eq!(program.output_form().to_string(), "f32[5, 3]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn cross(&self, rhs: impl Operand, axis: impl AxisIndex) -> Tensor {
        let rhs = rhs.tensor(self.known_dtype());
        let _scope = scope("cross");
        let [a, b] = match align("cross", [*self, rhs]) {
            Ok(pair) => pair,
            Err(poison) => return poison,
        };
        let (Some(spec), Some(_)) = (a.known(), b.known()) else { return self.beside(&rhs) };
        let axis = match a.axis(&spec, axis) {
            Ok(axis) => axis,
            Err(poison) => return poison,
        };
        if spec.shape[axis] != 3 {
            let message = format!("`cross`: axis {axis} of {spec} has extent {}, not 3", spec.shape[axis]);
            return reject(codes::OPERANDS, message, "needs vectors of 3", &[*self, rhs], &[]);
        }
        // Component `i` is a[i + 1] * b[i + 2] - a[i + 2] * b[i + 1], counted modulo 3.
        a.roll(-1, axis) * b.roll(-2, axis) - a.roll(-2, axis) * b.roll(-1, axis)
    }

    /// The sum of products over these axes, as many of both.
    #[track_caller]
    fn summed_product(&self, name: &str, rhs: Tensor, axes: &[usize], rhs_axes: &[usize]) -> Tensor {
        let (a, b) = (self.spec(), rhs.spec());
        if a.dtype != b.dtype {
            // Refused as every operation of two dtypes is.
            return binary(Elementwise::Mul, *self, rhs);
        }
        for (&axis, &rhs_axis) in axes.iter().zip(rhs_axes) {
            let (extent, other) = (a.shape[axis], b.shape[rhs_axis]);
            if extent != other {
                let message = format!(
                    "`{name}`: {a} with {b}: axis {axis} has extent {extent}, and axis {rhs_axis} extent {other}"
                );
                return reject(codes::MATMUL, message, "extents differ", &[*self, rhs], &[]);
            }
        }
        // Labels count the dimensions of both; a paired dimension of `rhs` has that of its partner.
        let rank = a.shape.rank();
        let labels: Vec<Label> = (0..rank).map(Label::Number).collect();
        let of_rhs: Vec<Label> = (0..b.shape.rank())
            .map(|axis| match rhs_axes.iter().position(|&r| r == axis) {
                Some(pair) => labels[axes[pair]],
                None => Label::Number(rank + axis),
            })
            .collect();
        let only = |these: &[Label], others: &[Label]| -> Vec<Label> {
            these.iter().copied().filter(|l| !others.contains(l)).collect()
        };
        let result = [only(&labels, &of_rhs), only(&of_rhs, &labels)].concat();
        let left = Labelled { tensor: *self, labels };
        let right = Labelled { tensor: rhs, labels: of_rhs };
        contract(left, right, &result, &result).ordered(&result).tensor
    }

    /// What an operation of two tensors gives where the shape of one is not known.
    #[track_caller]
    pub(super) fn beside(&self, other: &Tensor) -> Tensor {
        if self.known().is_none() { self.absorb() } else { other.absorb() }
    }
}
