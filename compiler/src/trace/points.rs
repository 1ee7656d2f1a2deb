//! Reading and writing at several index tensors at once, and into a mask: `take_at`, `index_put`, `index_add`,
//! `masked_scatter`.

use super::create::filled;
use super::normalize::INDEX;
use super::tracer::{reject, scope};
use super::{AxisIndex, Operand, Tensor};
use crate::diagnostics::codes;
use monograph_ir::{DType, Literal, Shape, Spec};

/// What [`Tensor::index_put`] does with what is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Put {
    /// Overwrites it; the last of several updates of one place wins.
    Set,
    /// Adds to it; several updates of one place add up in their order.
    Add,
}

/// Index tensors of the leading dimensions as one index of these dimensions flattened.
struct Flat {
    /// Row-major; one that is outside in any dimension is outside of the flattened ones.
    index: Tensor,
    /// The shape that the index tensors broadcast to.
    points: Shape,
    /// The number of places: the product of the leading extents.
    places: usize,
    /// The dimensions behind the leading ones.
    rest: Vec<usize>,
}

impl Tensor {
    /// The elements at the points that `indices` give together, as NumPy's `x[i, j]`: integer tensors (i32 or i64), one
    /// for each leading dimension, which broadcast. The result has their shape, then the dimensions without an index.
    /// A point outside reads zeros.
    ///
    /// ```
    /// # use monograph_compiler::trace::trace;
    /// # use monograph_ir::Element;
    /// let program = trace(|(x, i, j)| x.take_at(&[i, j]), (f32::spec([5, 6, 7]), i64::spec([4]), i64::spec([4])))?;
    /// assert_eq!(program.output_form().to_string(), "f32[4, 7]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn take_at(&self, indices: &[Tensor]) -> Tensor {
        let _scope = scope("take_at");
        match self.flat("take_at", indices) {
            Ok(flat) => self.reshape([&[flat.places], &flat.rest[..]].concat()).take(flat.index, 0),
            Err(poison) => poison,
        }
    }

    /// This tensor with `values` put at the points that `indices` give together, as NumPy's `x[i, j] = values`: see
    /// [`Tensor::take_at`]. `values` broadcast to the shape of `x.take_at(indices)`. A point outside is dropped.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Put, Tensor, trace};
    /// # use monograph_ir::Element;
    /// let put = |(x, i, j): (Tensor, Tensor, Tensor)| x.index_put(&[i, j], 1.0, Put::Add);
    /// let program = trace(put, (f32::spec([5, 6]), i64::spec([4]), i64::spec([4])))?;
    /// assert_eq!(program.output_form().to_string(), "f32[5, 6]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn index_put(&self, indices: &[Tensor], values: impl Operand, put: Put) -> Tensor {
        let values = values.tensor(self.known_dtype());
        let _scope = scope("index_put");
        let flat = match self.flat("index_put", indices) {
            Ok(flat) => flat,
            Err(poison) => return poison,
        };
        let slices = [&flat.points[..], &flat.rest[..]].concat();
        let rows = [&[flat.points.size()], &flat.rest[..]].concat();
        let updates = values.broadcast_to(slices);
        if values.known().is_none() || updates.known().is_none() {
            return updates;
        }
        let (base, updates) = (self.reshape([&[flat.places], &flat.rest[..]].concat()), updates.reshape(rows));
        let put = match put {
            Put::Set => base.scatter_set(flat.index.flatten(), updates, 0),
            Put::Add => base.scatter_add(flat.index.flatten(), updates, 0),
        };
        put.reshape(self.shape())
    }

    /// [`Tensor::scatter_add`] with the arguments in PyTorch's order: the slices of `values` added at `indices` (a
    /// vector of i32 or i64) along `axis`.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let add = |(x, at, rows): (Tensor, Tensor, Tensor)| x.index_add(0, at, rows);
    /// let program = trace(add, (f32::spec([5, 6]), i64::spec([2]), f32::spec([2, 6])))?;
    /// assert_eq!(program.output_form().to_string(), "f32[5, 6]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn index_add(&self, axis: impl AxisIndex, indices: impl Operand, values: impl Operand) -> Tensor {
        let indices = indices.tensor(Some(DType::I64));
        let values = values.tensor(self.known_dtype());
        let _scope = scope("index_add");
        self.scatter_add(indices, values, axis)
    }

    /// This tensor with the elements where `mask` (which broadcasts to its shape) is true replaced by those of
    /// `source`, in row-major order: the first true place takes the first element. Places beyond the end of `source`
    /// become 0. PyTorch's `masked_scatter`; [`Tensor::masked_fill`] writes one value.
    ///
    /// ```
    /// # use monograph_compiler::trace::{Tensor, trace};
    /// # use monograph_ir::Element;
    /// let assign = |(x, new): (Tensor, Tensor)| x.masked_scatter(&x.lt(0.0), new);
    /// let program = trace(assign, (f32::spec([4, 5]), f32::spec([20])))?;
    /// assert_eq!(program.output_form().to_string(), "f32[4, 5]");
    /// # Ok::<(), monograph_ir::Error>(())
    /// ```
    #[track_caller]
    pub fn masked_scatter(&self, mask: &Tensor, source: impl Operand) -> Tensor {
        let source = source.tensor(self.known_dtype());
        let _scope = scope("masked_scatter");
        let Some(spec) = self.known() else { return self.absorb() };
        let (Some(of_mask), Some(_)) = (mask.known(), source.known()) else { return mask.beside(&source) };
        if of_mask.dtype != DType::Bool {
            let message = format!("`masked_scatter`: the mask is {of_mask}, not bool");
            let help = "make it a condition, such as `.ne(0)`".to_string();
            return reject(codes::OPERANDS, message, "needs a bool mask", &[*mask], &[help]);
        }
        let mask = mask.broadcast_to(spec.shape.clone());
        if mask.known().is_none() {
            return mask;
        }
        let one = filled(Literal::one(INDEX), Shape::scalar());
        let place = mask.flatten().cast(INDEX).cumsum(0) - one;
        mask.select(source.flatten().take(place, 0).reshape(spec.shape), self)
    }

    /// The index tensors of the leading dimensions as one.
    #[track_caller]
    fn flat(&self, name: &str, indices: &[Tensor]) -> Result<Flat, Tensor> {
        let Some(spec) = self.known() else { return Err(self.absorb()) };
        let mut specs: Vec<Spec> = Vec::with_capacity(indices.len());
        for index in indices {
            match index.known() {
                Some(of_index) => specs.push(of_index),
                None => return Err(index.absorb()),
            }
        }
        if indices.is_empty() || indices.len() > spec.shape.rank() {
            let message = format!("`{name}`: {spec} with {} index tensors", indices.len());
            let help = "give one for each leading dimension, at least one".to_string();
            return Err(reject(codes::OPERANDS, message, "not one a dimension", &[*self], &[help]));
        }
        if let Some(wrong) = specs.iter().find(|s| !matches!(s.dtype, DType::I32 | DType::I64)) {
            let message = format!("`{name}`: the indices are {wrong}, not i32 or i64");
            let help = "convert them first: `.cast(DType::I64)`".to_string();
            return Err(reject(codes::OPERANDS, message, "cannot index", indices, &[help]));
        }
        let mut points = Shape::scalar();
        for of_index in &specs {
            let Some(shape) = points.broadcast_with(&of_index.shape) else {
                let shapes: Vec<String> = specs.iter().map(Spec::to_string).collect();
                let message = format!("`{name}`: {}: the indices do not broadcast", shapes.join(" with "));
                return Err(reject(codes::BROADCAST, message, "shapes do not fit", indices, &[]));
            };
            points = shape;
        }
        let (leading, rest) = spec.shape.split_at(indices.len());
        let places: usize = leading.iter().product();
        let number = |value: usize| Literal::from_i64(INDEX, value as i64);
        let zero = filled(number(0), Shape::scalar());
        let (mut flat, mut inside) = (filled(number(0), points.clone()), super::ones(DType::Bool, points.clone()));
        for (index, &extent) in indices.iter().zip(leading) {
            let (index, extent) = (index.cast(INDEX), filled(number(extent), Shape::scalar()));
            inside &= index.ge(zero) & index.lt(extent);
            flat = flat * extent + index;
        }
        let index = inside.select(flat, filled(number(places), Shape::scalar()));
        Ok(Flat { index, points, places, rest: rest.to_vec() })
    }
}
