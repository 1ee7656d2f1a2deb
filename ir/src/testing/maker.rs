//! How a random graph is made: one random op after the other over the values that are there.

use super::{Options, Random};
use crate::philox::STATE;
use crate::{
    Amounts, Axes, Binding, DType, Elementwise, Extreme, Graph, Literal, Op, Origin, OutputKind, ParamKind, Reduction,
    Region, ScatterKind, Shape, Spec, Type, ValueId, Windows, infer,
};
use std::sync::Arc;

/// Most graphs inside each other.
const DEPTH: usize = 2;

/// Greatest number of elements that a matrix product or a loop may touch, as a multiple of `Options::elements`.
const WORK: usize = 32;

pub(super) fn graph(seed: u64, options: &Options) -> Graph {
    let mut options = options.clone();
    if options.floats_only {
        options.dtypes.retain(|d| d.is_float());
    }
    if options.dtypes.is_empty() {
        options.dtypes.push(DType::F32);
    }
    let mut maker = Maker {
        random: Random::new(seed),
        options: &options,
        graph: Graph::new("random"),
        values: Vec::new(),
        depth: 0,
    };
    maker.parameters();
    maker.fill(options.nodes);
    maker.outputs();
    maker.graph
}

struct Maker<'o> {
    random: Random,
    options: &'o Options,
    graph: Graph,
    values: Vec<ValueId>,
    /// Graphs around this one.
    depth: usize,
}

impl Maker<'_> {
    fn dtype(&mut self) -> DType {
        *self.random.pick(&self.options.dtypes).unwrap_or(&DType::F32)
    }

    fn shape(&mut self) -> Shape {
        let extents: &[usize] = if self.random.one_in(16) { &[0, 1, 2] } else { &[1, 1, 2, 2, 3, 4, 5, 7, 8] };
        let mut dims = Vec::new();
        let mut elements = 1;
        for _ in 0..self.random.below(5) {
            let d = *self.random.pick(extents).unwrap_or(&1);
            let d = if elements * d > self.options.elements { 1 } else { d };
            elements *= d.max(1);
            dims.push(d);
        }
        Shape::from(dims)
    }

    fn literal(&mut self, dtype: DType) -> Literal {
        const PLAIN: &[f64] = &[0.0, 1.0, -1.0, 2.0, 0.5, 3.25, -2.5, 1e-3, 7.0];
        const SPECIAL: &[f64] = &[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0];
        let special = self.options.specials && self.random.one_in(8);
        Literal::from_f64(dtype, *self.random.pick(if special { SPECIAL } else { PLAIN }).unwrap_or(&0.0))
    }

    fn parameter(&mut self, spec: Spec) {
        let kind = match self.random.below(6) {
            0 => ParamKind::Input(Binding::Bound),
            1 => ParamKind::Constant,
            2 if self.options.states && self.depth == 0 => ParamKind::State,
            _ => ParamKind::Input(Binding::Copied),
        };
        let name = format!("p{}", self.graph.params().len());
        let value = self.graph.parameter(name, spec, kind, Origin::Unknown);
        self.values.push(value);
    }

    fn parameters(&mut self) {
        for _ in 0..1 + self.random.below(4) {
            let spec = Spec::new(self.dtype(), self.shape());
            self.parameter(spec);
        }
    }

    /// Adds ops until the graph has about so many nodes.
    fn fill(&mut self, nodes: usize) {
        // Most attempts succeed; the bound is for options under which few ops can.
        for _ in 0..8 * nodes {
            if self.graph.len() >= nodes {
                return;
            }
            if self.depth == 0 && self.random.one_in(32) {
                let spec = Spec::new(self.dtype(), self.shape());
                self.parameter(spec);
            }
            self.step();
        }
    }

    fn spec(&self, value: ValueId) -> Spec {
        self.graph.spec(value).clone()
    }

    /// The newest values are preferred, so that graphs become deep.
    fn any(&mut self) -> Option<ValueId> {
        let recent = self.values.len().saturating_sub(6);
        let items = if self.random.one_in(2) { &self.values[recent..] } else { &self.values[..] };
        self.random.pick(items).copied()
    }

    fn any_of(&mut self, fits: impl Fn(&Spec) -> bool) -> Option<ValueId> {
        let found: Vec<ValueId> = self.values.iter().copied().filter(|&v| fits(self.graph.spec(v))).collect();
        self.random.pick(&found).copied()
    }

    /// Adds the op if it takes the operands and its results are allowed and small.
    fn node(&mut self, op: impl Into<Op>, operands: &[ValueId]) -> Option<Vec<ValueId>> {
        let op = op.into();
        let types: Vec<&Type> = operands.iter().map(|&v| self.graph.ty(v)).collect();
        let results = infer(&op, &types).ok()?;
        let allowed = |ty: &Type| {
            ty.spec().is_some_and(|s| {
                s.shape.elements().is_some_and(|n| n <= self.options.elements)
                    && s.shape.iter().all(|&d| d <= self.options.elements)
                    && s.shape.rank() <= 4
                    && (!self.options.floats_only || s.dtype.is_float())
            })
        };
        if !results.iter().all(allowed) {
            return None;
        }
        let node = self.graph.add(op, operands, Origin::Unknown).ok()?;
        let values: Vec<ValueId> = (0..results.len() as u32).map(|result| ValueId { node, result }).collect();
        for &value in &values {
            if !self.values.contains(&value) {
                self.values.push(value);
            }
        }
        Some(values)
    }

    fn apply(&mut self, op: impl Into<Op>, operands: &[ValueId]) -> Option<ValueId> {
        self.node(op, operands)?.first().copied()
    }

    /// A value of that spec: one that is there, or a new one.
    fn of_spec(&mut self, spec: &Spec) -> Option<ValueId> {
        if !self.random.one_in(4)
            && let Some(value) = self.any_of(|s| s == spec)
        {
            return Some(value);
        }
        let Spec { dtype, shape } = spec.clone();
        match self.random.below(3) {
            0 if shape.rank() > 0 && dtype != DType::Bool => {
                let axis = self.random.below(shape.rank());
                self.apply(Op::Iota { dtype, shape, axis }, &[])
            }
            1 if let Some(other) = self.any_of(|s| s.shape == shape && s.dtype != dtype) => {
                self.apply(Op::Cast(dtype), &[other])
            }
            _ => {
                let literal = self.literal(dtype);
                let scalar = self.apply(Op::Constant(literal), &[])?;
                if shape.rank() == 0 { Some(scalar) } else { self.apply(Op::Broadcast(shape), &[scalar]) }
            }
        }
    }

    fn indices(&mut self, shape: impl Into<Shape>) -> Option<ValueId> {
        if self.options.floats_only {
            return None;
        }
        let dtype = if self.random.one_in(2) { DType::I32 } else { DType::I64 };
        self.of_spec(&Spec::new(dtype, shape))
    }

    fn axis(&mut self, shape: &Shape) -> Option<usize> {
        (shape.rank() > 0).then(|| self.random.below(shape.rank()))
    }

    /// Tries one random op.
    fn step(&mut self) -> Option<()> {
        match self.random.below(33) {
            0..=7 => self.elementwise(),
            8 => self.select(),
            9 | 10 => {
                let (x, dtype) = (self.any()?, self.dtype());
                let op = if self.random.one_in(3) { Op::Bitcast(dtype) } else { Op::Cast(dtype) };
                self.apply(op, &[x])
            }
            11 | 12 => self.reshape(),
            13 => {
                let x = self.any()?;
                let axes = self.random.permutation(self.spec(x).shape.rank());
                self.apply(Op::Permute(Axes::from_vec(axes)), &[x])
            }
            14 => self.broadcast(),
            15 => self.slice(),
            16 => self.pad(),
            17 => self.concat(),
            18 => {
                let x = self.any()?;
                let axes = self.axes(&self.spec(x).shape);
                self.apply(Op::Reverse(axes), &[x])
            }
            19..=21 => self.reduction(),
            22 | 23 => self.matmul(),
            24 if self.random.one_in(3) => self.sort(),
            24 => self.take(),
            25 => self.scatter(),
            26 | 27 => self.dynamic_slice(),
            28 if self.random.one_in(3) => self.random_bits(),
            28 => {
                let spec = Spec::new(self.dtype(), self.shape());
                self.of_spec(&spec)
            }
            29 => self.convolution(),
            30 | 31 => self.windows(),
            _ => return self.region(),
        }
        .map(|_| ())
    }

    fn random_bits(&mut self) -> Option<ValueId> {
        let shape = self.shape();
        if self.options.floats_only {
            return None;
        }
        let state = self.of_spec(&Spec::new(DType::I64, [STATE]))?;
        self.apply(Op::RandomBits { shape }, &[state])
    }

    fn elementwise(&mut self) -> Option<ValueId> {
        let x = self.any()?;
        let spec = self.spec(x);
        let rows: Vec<Elementwise> =
            Elementwise::ALL.iter().copied().filter(|e| e.domain().contains(spec.dtype)).collect();
        let row = *self.random.pick(&rows)?;
        let mut operands = vec![x];
        while operands.len() < row.arity() {
            operands.push(self.of_spec(&spec)?);
        }
        if self.random.one_in(2) {
            operands.reverse();
        }
        self.apply(row, &operands)
    }

    fn select(&mut self) -> Option<ValueId> {
        let a = self.any()?;
        let spec = self.spec(a);
        let b = self.of_spec(&spec)?;
        if self.options.floats_only {
            return None;
        }
        let mask = self.of_spec(&Spec::new(DType::Bool, &spec.shape))?;
        self.apply(Op::Select, &[mask, a, b])
    }

    /// Splits an extent or joins two, or moves an extent of 1.
    fn reshape(&mut self) -> Option<ValueId> {
        let x = self.any()?;
        let mut dims = self.spec(x).shape.to_vec();
        if dims.len() >= 2 && self.random.one_in(2) {
            let i = self.random.below(dims.len() - 1);
            dims[i] *= dims.remove(i + 1);
        } else {
            let i = self.random.below(dims.len() + 1);
            let divisor = 1 + self.random.below(3);
            match dims.get(i).copied() {
                Some(d) if d % divisor == 0 => {
                    dims[i] = d / divisor;
                    dims.insert(i, divisor);
                }
                _ => dims.insert(i, 1),
            }
        }
        self.apply(Op::Reshape(Shape::from(dims)), &[x])
    }

    fn broadcast(&mut self) -> Option<ValueId> {
        let x = self.any_of(|s| s.shape.contains(&1) || s.shape.rank() < 3)?;
        let mut dims = self.spec(x).shape.to_vec();
        for d in &mut dims {
            if *d == 1 {
                *d = 1 + self.random.below(4);
            }
        }
        if dims.len() < 4 && self.random.one_in(2) {
            dims.insert(0, self.random.below(4));
        }
        self.apply(Op::Broadcast(Shape::from(dims)), &[x])
    }

    fn slice(&mut self) -> Option<ValueId> {
        let x = self.any()?;
        let (mut starts, mut limits, mut strides) = (Axes::new(), Axes::new(), Axes::new());
        for &d in self.spec(x).shape.iter() {
            let start = self.random.below(d + 1);
            starts.push(start);
            limits.push(if self.random.one_in(3) { start + self.random.below(d - start + 1) } else { d });
            strides.push(if self.random.one_in(3) { 1 + self.random.below(3) } else { 1 });
        }
        self.apply(Op::Slice { starts, limits, strides }, &[x])
    }

    fn pad(&mut self) -> Option<ValueId> {
        let x = self.any()?;
        let Spec { dtype, shape } = self.spec(x);
        let value = self.of_spec(&Spec::new(dtype, []))?;
        let mut amounts = || shape.iter().map(|_| self.random.below(4) as i64 - 1).collect::<Amounts>();
        let (low, high) = (amounts(), amounts());
        self.apply(Op::Pad { low, high }, &[x, value])
    }

    fn concat(&mut self) -> Option<ValueId> {
        let x = self.any()?;
        let spec = self.spec(x);
        let axis = self.axis(&spec.shape)?;
        let mut operands = vec![x];
        for _ in 0..self.random.below(3) {
            let mut dims = spec.shape.to_vec();
            if self.random.one_in(2) {
                dims[axis] = self.random.below(4);
            }
            operands.push(self.of_spec(&Spec::new(spec.dtype, dims))?);
        }
        self.apply(Op::Concat { axis }, &operands)
    }

    /// Some of the axes, ascending.
    fn axes(&mut self, shape: &Shape) -> Axes {
        (0..shape.rank()).filter(|_| self.random.one_in(2)).collect()
    }

    fn reduction(&mut self) -> Option<ValueId> {
        let x = self.any()?;
        let Spec { dtype, shape } = self.spec(x);
        let kinds: Vec<Reduction> = Reduction::ALL.iter().copied().filter(|k| k.takes(dtype)).collect();
        let kind = *self.random.pick(&kinds)?;
        match self.random.below(4) {
            0 => {
                let (axis, kind) = (self.axis(&shape)?, *self.random.pick(Extreme::ALL)?);
                self.apply(Op::ArgReduce { kind, axis }, &[x])
            }
            1 => {
                let axis = self.axis(&shape)?;
                self.apply(Op::Scan { kind, axis }, &[x])
            }
            _ => {
                let axes = self.axes(&shape);
                self.apply(Op::Reduce { kind, axes }, &[x])
            }
        }
    }

    fn matmul(&mut self) -> Option<ValueId> {
        let a = self.any_of(|s| s.shape.rank() >= 2 && s.dtype != DType::Bool)?;
        let Spec { dtype, shape } = self.spec(a);
        let (transpose_a, transpose_b) = (self.random.one_in(3), self.random.one_in(3));
        let rank = shape.rank();
        let k = if transpose_a { shape[rank - 2] } else { shape[rank - 1] };
        let n = 1 + self.random.below(5);
        let last = if transpose_b { [n, k] } else { [k, n] };
        let dims: Shape = shape[..rank - 2].iter().copied().chain(last).collect();
        if dims.elements()? > self.options.elements || shape.elements()? * n > WORK * self.options.elements {
            return None;
        }
        let b = self.of_spec(&Spec::new(dtype, dims))?;
        self.apply(Op::Matmul { transpose_a, transpose_b }, &[a, b])
    }

    /// Windows over extents, and the sizes of one; often none fits.
    fn sliding(&mut self, extents: &[usize]) -> (Axes, Box<Windows>) {
        let mut windows = Windows::dense(extents.len());
        let mut sizes = Axes::new();
        for (i, &extent) in extents.iter().enumerate() {
            sizes.push(1 + self.random.below(extent.min(3)));
            windows.strides[i] = 1 + self.random.below(3);
            windows.low[i] = self.random.below(4) as i64 - 1;
            windows.high[i] = self.random.below(4) as i64 - 1;
            windows.input_dilation[i] = if self.random.one_in(3) { 1 + self.random.below(3) } else { 1 };
            windows.dilation[i] = if self.random.one_in(3) { 2 } else { 1 };
        }
        (sizes, Box::new(windows))
    }

    fn convolution(&mut self) -> Option<ValueId> {
        let x = self.any_of(|s| s.shape.rank() >= 3 && s.dtype != DType::Bool)?;
        let Spec { dtype, shape } = self.spec(x);
        let (sizes, windows) = self.sliding(&shape[2..]);
        let groups = if shape[1] > 0 && self.random.one_in(3) { shape[1] } else { 1 };
        let outputs = groups * (1 + self.random.below(3));
        let dims: Shape = [outputs, shape[1] / groups].into_iter().chain(sizes).collect();
        if dims.elements()? > self.options.elements {
            return None;
        }
        let kernel = self.of_spec(&Spec::new(dtype, dims))?;
        self.apply(Op::Convolution { windows, groups }, &[x, kernel])
    }

    fn windows(&mut self) -> Option<ValueId> {
        let x = self.any()?;
        let Spec { dtype, shape } = self.spec(x);
        let leading = self.random.below(shape.rank() + 1);
        let extents = &shape[leading..];
        let (sizes, windows) = self.sliding(extents);
        match self.random.below(3) {
            0 => {
                let kind = *self.random.pick(Extreme::ALL)?;
                self.apply(Op::WindowArg { kind, sizes, windows }, &[x])
            }
            1 if dtype != DType::Bool => {
                let counts: Option<Vec<usize>> =
                    (0..extents.len()).map(|i| windows.count(i, extents[i], sizes[i])).collect();
                let dims: Shape = shape[..leading].iter().copied().chain(counts?).collect();
                if dims.elements()? > self.options.elements {
                    return None;
                }
                let (updates, indices) = (self.of_spec(&Spec::new(dtype, &dims))?, self.indices(dims)?);
                let extents = Axes::from_slice(extents);
                self.apply(Op::WindowScatter { extents, sizes, windows }, &[updates, indices])
            }
            _ => {
                let kinds: Vec<Reduction> = Reduction::ALL.iter().copied().filter(|k| k.takes(dtype)).collect();
                let kind = *self.random.pick(&kinds)?;
                self.apply(Op::WindowReduce { kind, sizes, windows }, &[x])
            }
        }
    }

    fn take(&mut self) -> Option<ValueId> {
        let x = self.any()?;
        let shape = self.spec(x).shape;
        let axis = self.axis(&shape)?;
        if self.random.one_in(2) {
            let mut dims = shape.to_vec();
            dims[axis] = self.random.below(5);
            let indices = self.indices(dims)?;
            return self.apply(Op::TakeAlong { axis }, &[x, indices]);
        }
        let dims: Vec<usize> = (0..self.random.below(3)).map(|_| 1 + self.random.below(3)).collect();
        let indices = self.indices(dims)?;
        self.apply(Op::Take { axis }, &[x, indices])
    }

    fn scatter(&mut self) -> Option<ValueId> {
        let base = self.any_of(|s| s.shape.rank() > 0)?;
        let Spec { dtype, shape } = self.spec(base);
        let axis = self.axis(&shape)?;
        // Adding truth values means nothing.
        let kind = if dtype == DType::Bool { ScatterKind::Set } else { *self.random.pick(ScatterKind::ALL)? };
        let count = self.random.below(5);
        let indices = self.indices([count])?;
        let mut dims = shape.to_vec();
        dims[axis] = count;
        let updates = self.of_spec(&Spec::new(dtype, dims))?;
        self.apply(Op::Scatter { axis, kind }, &[base, indices, updates])
    }

    fn sort(&mut self) -> Option<ValueId> {
        if self.options.floats_only {
            return None;
        }
        if self.random.one_in(3) {
            return self.packed();
        }
        let x = self.any()?;
        let axis = self.axis(&self.spec(x).shape)?;
        let descending = self.random.one_in(2);
        self.apply(Op::Argsort { axis, descending }, &[x])
    }

    /// What the compiler makes of sorts.
    fn packed(&mut self) -> Option<ValueId> {
        if self.random.one_in(2) {
            return self.scatter_sorted();
        }
        let dims = [1 + self.random.below(2), 1 + self.random.below(9)];
        let x = self.of_spec(&Spec::new(DType::I64, dims))?;
        if self.random.one_in(2) {
            return self.apply(Op::SortPacked, &[x]);
        }
        let (shift, tile) = (8 * self.random.below(8) as u32, 256);
        // The counts have more elements than other values may have.
        let counts = self.graph.apply(Op::DigitCounts { shift, tile }, &[x], Origin::Unknown).ok()?;
        let ends = Op::Scan { kind: Reduction::Sum, axis: 2 };
        let ends = self.graph.apply(ends, &[counts], Origin::Unknown).ok()?;
        self.apply(Op::PlaceByDigit { shift, tile }, &[x, ends])
    }

    fn scatter_sorted(&mut self) -> Option<ValueId> {
        let base = self.any_of(|s| s.shape.rank() > 0)?;
        let Spec { dtype, shape } = self.spec(base);
        let axis = self.axis(&shape)?;
        let kind = if dtype == DType::Bool { ScatterKind::Set } else { *self.random.pick(ScatterKind::ALL)? };
        let count = 1 + self.random.below(4);
        // Indices around the extents above places of updates, each place once.
        let number = self.indices([1, count])?;
        let number = self.apply(Op::Cast(DType::I64), &[number])?;
        let bits = self.graph.apply(Op::Constant(Literal::from_i64(DType::I64, 32)), &[], Origin::Unknown).ok()?;
        let bits = self.apply(Op::Broadcast([1, count].into()), &[bits])?;
        let high = self.apply(Elementwise::Shl, &[number, bits])?;
        let place = self.apply(Op::Iota { dtype: DType::I64, shape: [1, count].into(), axis: 1 }, &[])?;
        let entries = self.apply(Elementwise::Or, &[high, place])?;
        let entries = self.apply(Op::SortPacked, &[entries])?;
        let entries = self.apply(Op::Reshape([count].into()), &[entries])?;
        let mut dims = shape.to_vec();
        dims[axis] = count;
        let updates = self.of_spec(&Spec::new(dtype, dims))?;
        self.apply(Op::ScatterSorted { axis, kind }, &[base, entries, updates])
    }

    fn dynamic_slice(&mut self) -> Option<ValueId> {
        let x = self.any()?;
        let Spec { dtype, shape } = self.spec(x);
        let sizes: Shape = shape.iter().map(|&d| self.random.below(d + 1)).collect();
        let starts: Vec<ValueId> = (0..shape.rank()).map(|_| self.indices([])).collect::<Option<_>>()?;
        if self.random.one_in(2) {
            return self.apply(Op::DynamicSlice { sizes }, &[&[x][..], &starts].concat());
        }
        let block = self.of_spec(&Spec::new(dtype, sizes))?;
        self.apply(Op::DynamicUpdateSlice, &[&[x, block][..], &starts].concat())
    }

    /// A `cond` or a `fori_loop` whose state is some of the values.
    fn region(&mut self) -> Option<()> {
        if !self.options.regions || self.depth == DEPTH || self.options.floats_only {
            return None;
        }
        let state: Vec<ValueId> = (0..1 + self.random.below(3)).map(|_| self.any()).collect::<Option<_>>()?;
        let specs: Vec<Spec> = state.iter().map(|&v| self.spec(v)).collect();
        if self.random.one_in(2) {
            let condition = self.of_spec(&Spec::new(DType::Bool, []))?;
            let (then, otherwise) = (self.body("then", &specs, &specs)?, self.body("otherwise", &specs, &specs)?);
            self.node(Op::Cond { then, otherwise }, &[&[condition][..], &state].concat())?;
        } else {
            let given: Vec<Spec> = std::iter::once(Spec::new(DType::I64, [])).chain(specs.iter().cloned()).collect();
            let body = self.body("body", &given, &specs)?;
            let count = self.random.below(4) as u64;
            self.node(Op::For { count, body }, &state)?;
        }
        Some(())
    }

    /// A graph that takes values of some specs and returns values of others.
    fn body(&mut self, name: &str, given: &[Spec], returned: &[Spec]) -> Option<Region> {
        let random = Random::new(self.random.bits());
        let depth = self.depth + 1;
        let mut inner = Maker { random, options: self.options, graph: Graph::new(name), values: Vec::new(), depth };
        for (i, spec) in given.iter().enumerate() {
            let kind = ParamKind::Input(Binding::Copied);
            let value = inner.graph.parameter(format!("a{i}"), spec.clone(), kind, Origin::Unknown);
            inner.values.push(value);
        }
        inner.fill(given.len() + 1 + self.options.nodes / 6);
        for (i, spec) in returned.iter().enumerate() {
            let value = inner.of_spec(spec)?;
            inner.graph.output(format!("r{i}"), value, OutputKind::Result);
        }
        Some(Region(Arc::new(inner.graph)))
    }

    /// Updates most states, returns most values that nothing uses and at least one, and probes some.
    fn outputs(&mut self) {
        for number in 0..self.graph.params().len() {
            let param = self.graph.params()[number].clone();
            if param.kind != ParamKind::State || self.random.one_in(4) {
                continue;
            }
            if let Some(value) = self.of_spec(&param.spec) {
                self.graph.output(param.name, value, OutputKind::State(number as u32));
            }
        }
        let uses = self.graph.use_counts();
        let last = self.values.last().copied();
        let mut count = 0;
        for value in self.values.clone() {
            let unused = uses[value.node.index()] == 0;
            if Some(value) == last || (unused && !self.random.one_in(4)) || self.random.one_in(12) {
                self.graph.output(format!("out{count}"), value, OutputKind::Result);
                count += 1;
            } else if self.random.one_in(12) {
                self.graph.output(format!("probe{}", value), value, OutputKind::Probe);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::random_graph;
    use super::*;
    use crate::verify;
    use std::collections::BTreeSet;

    #[test]
    fn every_graph_verifies_and_every_allowed_op_comes_up() {
        let mut seen = BTreeSet::new();
        let mut dtypes = BTreeSet::new();
        for seed in 0..600 {
            let graph = random_graph(seed, &Options::default());
            verify(&graph).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert!(!graph.outputs().is_empty());
            assert_eq!(graph, random_graph(seed, &Options::default()));
            seen.extend(graph.nodes().iter().map(|n| n.op.name()));
            dtypes.extend(graph.nodes().iter().flat_map(|n| &n.results).map(Type::dtype));
        }
        let missing: Vec<&str> = crate::text::op_names().filter(|n| !seen.contains(n)).collect();
        let rejected =
            "while_loop nonzero masked_select unique repeat_interleave dynamic_range item to_vec print assert";
        assert_eq!(missing, rejected.split(' ').collect::<Vec<_>>());
        assert_eq!(dtypes.len(), DType::ALL.len());
    }

    #[test]
    fn options_are_kept() {
        let options =
            Options { floats_only: true, regions: false, states: false, nodes: 40, elements: 20, ..Options::default() };
        for seed in 0..200 {
            let graph = random_graph(seed, &options);
            assert!(graph.len() >= 5, "seed {seed} has {} nodes", graph.len());
            for spec in graph.nodes().iter().flat_map(|n| &n.results).filter_map(Type::spec) {
                assert!(spec.dtype.is_float() && spec.shape.size() <= 20, "seed {seed}: {spec}");
            }
            assert!(graph.params().iter().all(|p| p.kind != ParamKind::State));
        }
    }
}
