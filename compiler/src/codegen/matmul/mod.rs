//! Kernels with a matrix product: operands and epilogue are evaluated element by element around it.
//!
//! [`tiled`] has blocks compute tiles from shared memory, [`tensor`] too, with tensor cores; [`narrow`] streams the greater operand once where one side of
//! the result is short. Products accumulate in `float` for `f16`, `bf16` and `f32`, in `double` for `f64`, and wrap for
//! integers.

mod narrow;
mod stage;
mod tensor;
mod tiled;

pub(super) use tiled::guard;

use super::emit::{Emit, Emitter, refuse};
use super::{Code, Request};
use crate::index::{Atom, Index, delinear, linear};
use monograph_ir::plan::IndexMap;
use monograph_ir::{DType, Op, Shape, ValueId};

/// A short side up to this length has no tiles of its own.
const NARROW: usize = 16;

/// The product of a body.
struct Product {
    value: ValueId,
    /// The operands, the first one's rows and the second one's columns being the sides of the result.
    operands: [ValueId; 2],
    /// Which operands have the inner dimension last.
    inner_last: [bool; 2],
    /// The leading dimensions.
    batch: Shape,
    batches: usize,
    m: usize,
    n: usize,
    k: usize,
    dtype: DType,
}

/// What the product costs around it, and how its operands lie in memory.
struct Probe {
    /// Statements of one element of each operand.
    prologue: usize,
    /// Statements of one element of the outputs.
    epilogue: usize,
    /// Whether neighbours along the inner dimension are neighbours in memory, of each operand.
    inner_contiguous: [bool; 2],
}

impl Product {
    fn of(request: &Request<'_>) -> Emit<Product> {
        let body = request.body;
        let mut found = body.iter().filter(|(_, n)| matches!(n.op, Op::Matmul { .. }));
        let (Some((id, node)), None) = (found.next(), found.next()) else {
            return refuse("not exactly one matrix product");
        };
        let Op::Matmul { transpose_a, transpose_b } = node.op else { return refuse("no matrix product") };
        if body
            .nodes()
            .iter()
            .any(|n| matches!(n.op, Op::Reduce { .. } | Op::ArgReduce { .. } | Op::Scan { .. } | Op::Scatter { .. }))
        {
            return refuse("a matrix product with another operation that has loops");
        }
        let shape = &body.spec(id.value()).shape;
        let rank = shape.rank();
        let a = &body.spec(node.operands[0]).shape;
        let product = Product {
            value: id.value(),
            operands: [node.operands[0], node.operands[1]],
            inner_last: [!transpose_a, transpose_b],
            batch: shape[..rank - 2].into(),
            batches: shape[..rank - 2].iter().product(),
            m: shape[rank - 2],
            n: shape[rank - 1],
            k: if transpose_a { a[rank - 2] } else { a[rank - 1] },
            dtype: body.spec(id.value()).dtype,
        };
        if product.k == 0 || shape.is_empty() {
            return refuse("a matrix product of no elements");
        }
        if request.outputs().any(|(_, spec)| spec.shape.size() != shape.size()) {
            return refuse("an output that has not as many elements as the matrix product");
        }
        Ok(product)
    }

    /// The extent of the result's side that operand `side` gives.
    fn extent(&self, side: usize) -> usize {
        [self.m, self.n][side]
    }

    /// The index into operand `side` of `outer` of the result's side and `inner` of the inner dimension.
    fn index(&self, side: usize, batch: &Index, outer: &Index, inner: &Index) -> Vec<Index> {
        let mut index = delinear(batch, &self.batch);
        match self.inner_last[side] {
            true => index.extend([outer.clone(), inner.clone()]),
            false => index.extend([inner.clone(), outer.clone()]),
        }
        index
    }

    /// The element of operand `side` there.
    fn element(
        &self,
        emit: &mut Emitter<'_>,
        side: usize,
        batch: &Index,
        outer: &Index,
        inner: &Index,
    ) -> Emit<String> {
        emit.value(self.operands[side], &self.index(side, batch, outer, inner))
    }

    /// Where an element of the result lies.
    fn position(&self, batch: &Index, m: &Index, n: &Index) -> Index {
        linear(&[batch.clone(), m.clone(), n.clone()], &[self.batches, self.m, self.n])
    }

    /// Announces elements of the product and stores those of the outputs, adjacent along the last dimension.
    fn finish(
        &self,
        request: &Request<'_>,
        emit: &mut Emitter<'_>,
        batch: &Index,
        m: &Index,
        elements: &[(Index, String)],
    ) -> Emit<()> {
        let mut positions = Vec::new();
        for (n, sum) in elements {
            let position = self.position(batch, m, n);
            let rounded = emit.settled(self.dtype, sum);
            emit.hold(self.value, position.clone(), rounded);
            positions.push(position);
        }
        let mut stores = Vec::new();
        for (value, spec) in request.outputs() {
            let mut values = Vec::new();
            for position in &positions {
                values.push(emit.value(value, &delinear(position, &spec.shape))?);
            }
            stores.push((spec.dtype, values));
        }
        for (number, (dtype, values)) in stores.iter().enumerate() {
            emit.store(number, *dtype, &positions[0], values);
        }
        Ok(())
    }

    fn probe(&self, request: &Request<'_>) -> Emit<Probe> {
        let mut emit = request.emitter();
        let batch = emit.variable("b", self.batches);
        let sides = [emit.variable("m", self.m), emit.variable("n", self.n)];
        // Numbered behind the three above.
        const INNER: u32 = 3;
        let inner = emit.variable("k", self.k);
        let mut inner_contiguous = [false; 2];
        for side in 0..2 {
            emit.positions.iter_mut().for_each(|p| p.clear());
            self.element(&mut emit, side, &batch, &sides[side], &inner)?;
            let steps = emit.positions.iter().flatten().flat_map(|p| &p.terms);
            let mut along = steps.filter(|(_, c)| **c == 1).map(|(atom, _)| atom);
            inner_contiguous[side] =
                along.any(|atom| matches!(atom, Atom::Var { id: INNER, .. })) || self.extent(side) == 1;
        }
        let prologue = emit.statements();
        let sum = "sum".to_string();
        self.finish(request, &mut emit, &batch, &sides[0], &[(sides[1].clone(), sum)])?;
        Ok(Probe { prologue, epilogue: emit.statements() - prologue, inner_contiguous })
    }
}

pub(super) fn check(request: &Request<'_>) -> Emit<()> {
    Product::of(request)?.probe(request).map(drop)
}

pub(super) fn generate(request: &Request<'_>) -> Emit<Code> {
    let product = Product::of(request)?;
    let probe = product.probe(request)?;
    let (text, grid, block) = if product.m.min(product.n) <= NARROW {
        narrow::generate(request, &product, &probe)?
    } else if tensor::serves(request, &product) {
        tensor::generate(request, &product, &probe)?
    } else {
        tiled::generate(request, &product, &probe)?
    };
    let Some(grid) = u32::try_from(grid).ok().filter(|&g| g <= i32::MAX as u32) else {
        return refuse("more tiles than a grid has blocks");
    };
    Ok(Code {
        domain: vec![product.batches, product.m, product.n].into(),
        reads: vec![IndexMap::Any; request.body.params().len()],
        writes: vec![IndexMap::Any; request.body.outputs().len()],
        text,
        grid,
        block,
    })
}
