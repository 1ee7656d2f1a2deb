//! Other names and forms of reshapes and permutations: `flatten_axes`, `unflatten`, `movedim`, `swapaxes`,
//! `expand_dims`, `rot90`.

use super::tracer::{record, reject, scope};
use super::{AxisIndex, AxisList, Tensor};
use crate::diagnostics::codes;
use monograph_ir::{Axes, Op};

impl Tensor {
    /// The dimensions from `first` to `last`, both included, as one.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.flatten_axes(1, -1), f32::spec([8, 3, 4, 5]))?;
    /// assert_eq!(program.output_form().to_string(), "f32[8, 60]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn flatten_axes(&self, first: impl AxisIndex, last: impl AxisIndex) -> Tensor {
        let _scope = scope("flatten_axes");
        let Some(spec) = self.known() else { return self.absorb() };
        let (first, last) = match (self.axis(&spec, first), self.axis(&spec, last)) {
            (Ok(first), Ok(last)) => (first, last),
            (Err(poison), _) | (_, Err(poison)) => return poison,
        };
        if first > last {
            let message = format!("`flatten_axes`: axis {first} of {spec} lies behind axis {last}");
            let help = format!("exchange them: `.flatten_axes({last}, {first})`");
            return reject(codes::AXIS, message, "first axis behind the last", &[*self], &[help]);
        }
        let mut dims = spec.shape[..first].to_vec();
        dims.push(spec.shape[first..=last].iter().product());
        dims.extend_from_slice(&spec.shape[last + 1..]);
        self.reshape(dims)
    }

    /// Dimension `axis` as several of these extents, whose product is its extent: the inverse of
    /// [`Tensor::flatten_axes`].
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let heads = trace(|x: Tensor| x.unflatten(-1, &[12, 64]), f32::spec([8, 768]))?;
    /// assert_eq!(heads.output_form().to_string(), "f32[8, 12, 64]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn unflatten(&self, axis: impl AxisIndex, extents: &[usize]) -> Tensor {
        let _scope = scope("unflatten");
        let Some(spec) = self.known() else { return self.absorb() };
        let axis = match self.axis(&spec, axis) {
            Ok(axis) => axis,
            Err(poison) => return poison,
        };
        let product = extents.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent));
        if product != Some(spec.shape[axis]) {
            let extent = spec.shape[axis];
            let message = format!("`unflatten`: the product of {extents:?} is not {extent}, axis {axis} of {spec}");
            return reject(codes::OPERANDS, message, "extents do not fit", &[*self], &[]);
        }
        self.reshape([&spec.shape[..axis], extents, &spec.shape[axis + 1..]].concat())
    }

    /// The dimensions `from` moved to the places `to`, the others keeping their order. Both lists are of one length,
    /// and neither repeats an axis.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let channels_last = trace(|x: Tensor| x.movedim(1, -1), f32::spec([8, 3, 32, 48]))?;
    /// assert_eq!(channels_last.output_form().to_string(), "f32[8, 32, 48, 3]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn movedim(&self, from: impl AxisList, to: impl AxisList) -> Tensor {
        let _scope = scope("movedim");
        let Some(spec) = self.known() else { return self.absorb() };
        let (from, to) = match (self.ordered_axes(&spec, from), self.ordered_axes(&spec, to)) {
            (Ok(from), Ok(to)) => (from, to),
            (Err(poison), _) | (_, Err(poison)) => return poison,
        };
        let repeats = |axes: &Axes| (1..axes.len()).any(|i| axes[..i].contains(&axes[i]));
        if from.len() != to.len() || repeats(&from) || repeats(&to) {
            let message = format!("`movedim`: axes {from:?} of {spec} cannot move to {to:?}");
            let help = "give as many places as axes, each once".to_string();
            return reject(codes::AXIS, message, "not a move of axes", &[*self], &[help]);
        }
        let mut others = (0..spec.shape.rank()).filter(|axis| !from.contains(axis));
        let mut order = Axes::new();
        for place in 0..spec.shape.rank() {
            let axis = match to.iter().position(|&t| t == place) {
                Some(number) => Some(from[number]),
                None => others.next(),
            };
            order.extend(axis);
        }
        if order.is_sorted() { *self } else { record(Op::Permute(order), &[*self]) }
    }

    /// NumPy's name of [`Tensor::transpose`]: two dimensions exchanged.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.swapaxes(0, 2), f32::spec([2, 3, 4]))?;
    /// assert_eq!(program.output_form().to_string(), "f32[4, 3, 2]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn swapaxes(&self, a: impl AxisIndex, b: impl AxisIndex) -> Tensor {
        let _scope = scope("swapaxes");
        self.transpose(a, b)
    }

    /// NumPy's name of [`Tensor::unsqueeze`]: a dimension of extent 1 before dimension `axis` of the result.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let program = trace(|x: Tensor| x.expand_dims(-1), f32::spec([2, 3]))?;
    /// assert_eq!(program.output_form().to_string(), "f32[2, 3, 1]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn expand_dims(&self, axis: impl AxisIndex) -> Tensor {
        let _scope = scope("expand_dims");
        self.unsqueeze(axis)
    }

    /// The plane of dimensions `from` and `to` turned by `times` quarters, from the first towards the second; negative
    /// ones turn back. NumPy's `rot90`.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::{Element, interp};
    /// let program = trace(|x: Tensor| x.rot90(1, 0, 1), f32::spec([2, 2]))?;
    /// let x = interp::Tensor::from_vec([2, 2], vec![1.0f32, 2.0, 3.0, 4.0]).unwrap();
    /// assert_eq!(interp::evaluate(program.graph(), &[x]).unwrap()[0].to_f64_vec(), [2.0, 4.0, 1.0, 3.0]);
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn rot90(&self, times: i64, from: impl AxisIndex, to: impl AxisIndex) -> Tensor {
        let _scope = scope("rot90");
        let Some(spec) = self.known() else { return self.absorb() };
        let (from, to) = match (self.axis(&spec, from), self.axis(&spec, to)) {
            (Ok(from), Ok(to)) => (from, to),
            (Err(poison), _) | (_, Err(poison)) => return poison,
        };
        if from == to {
            let message = format!("`rot90`: axis {from} of {spec} is given twice");
            return reject(codes::AXIS, message, "a plane has two axes", &[*self], &[]);
        }
        match times.rem_euclid(4) {
            0 => *self,
            1 => self.flip(to).transpose(from, to),
            2 => self.flip([from, to]),
            _ => self.transpose(from, to).flip(to),
        }
    }
}
