//! Kernels with a scatter: a block owns the elements at one place of the axis, looks through the indices in their
//! order, and combines the updates that hit. No two threads write one element, so results repeat to the bit.

use super::emit::{Emit, Emitter, refuse};
use super::types::register;
use super::{Code, Request};
use crate::index::{Index, delinear, linear};
use monograph_ir::plan::IndexMap;
use monograph_ir::{DType, Elementwise, Op, ScatterKind, Shape, ValueId};

/// The scatter of a body, by indices or by sorted entries.
pub(super) struct Scatter {
    pub(super) value: ValueId,
    pub(super) operands: [ValueId; 3],
    pub(super) kind: ScatterKind,
    pub(super) dtype: DType,
    pub(super) shape: Shape,
    pub(super) axis: usize,
    /// Elements before, along and behind the axis.
    pub(super) outer: usize,
    pub(super) extent: usize,
    pub(super) inner: usize,
    /// Number of indices or entries.
    pub(super) count: usize,
}

impl Scatter {
    pub(super) fn of(request: &Request<'_>) -> Emit<Scatter> {
        let body = request.body;
        let mut found = body.iter().filter(|(_, n)| matches!(n.op, Op::Scatter { .. } | Op::ScatterSorted { .. }));
        let (Some((id, node)), None) = (found.next(), found.next()) else { return refuse("not exactly one scatter") };
        let (Op::Scatter { axis, kind } | Op::ScatterSorted { axis, kind }) = node.op else {
            return refuse("no scatter");
        };
        let spec = body.spec(id.value());
        let operands = [node.operands[0], node.operands[1], node.operands[2]];
        let count = body.spec(operands[1]).shape.size();
        if spec.shape.is_empty() || count == 0 {
            return refuse("a scatter of no elements");
        }
        if request.outputs().any(|(_, s)| s.shape.size() != spec.shape.size()) {
            return refuse("an output that has not as many elements as the scatter");
        }
        if kind == ScatterKind::Add && spec.dtype == DType::Bool {
            return refuse("a sum of bool");
        }
        Ok(Scatter {
            value: id.value(),
            operands,
            kind,
            dtype: spec.dtype,
            shape: spec.shape.clone(),
            axis,
            outer: spec.shape[..axis].iter().product(),
            extent: spec.shape[axis],
            inner: spec.shape[axis + 1..].iter().product(),
            count,
        })
    }

    /// The index of the element at place `at` of the axis and at `element` of all that is there.
    pub(super) fn index(&self, at: &Index, element: &Index) -> Vec<Index> {
        let around = delinear(element, &[self.outer, self.inner]);
        let mut index = delinear(&around[0], &self.shape[..self.axis]);
        index.push(at.clone());
        index.extend(delinear(&around[1], &self.shape[self.axis + 1..]));
        index
    }

    /// Announces the scattered elements and computes the outputs: for each the elements.
    pub(super) fn outputs(
        &self,
        request: &Request<'_>,
        emit: &mut Emitter<'_>,
        at: &Index,
        elements: &[Index],
        sums: &[String],
    ) -> Emit<Vec<(DType, Index, Vec<String>)>> {
        let positions: Vec<Index> = elements.iter().map(|e| linear(&self.index(at, e), &self.shape)).collect();
        for (position, sum) in positions.iter().zip(sums) {
            let settled = emit.settled(self.dtype, sum);
            emit.hold(self.value, position.clone(), settled);
        }
        let mut outputs = Vec::new();
        for (value, spec) in request.outputs() {
            let mut values = Vec::new();
            for position in &positions {
                values.push(emit.value(value, &delinear(position, &spec.shape))?);
            }
            outputs.push((spec.dtype, positions[0].clone(), values));
        }
        Ok(outputs)
    }
}

/// An element that an update has met.
pub(super) fn combined(kind: ScatterKind, element: &str, update: &str) -> String {
    let op = match kind {
        ScatterKind::Set => return update.to_string(),
        ScatterKind::Add => Elementwise::Add,
        ScatterKind::Max => Elementwise::Maximum,
        ScatterKind::Min => Elementwise::Minimum,
    };
    op.cuda().replace("$0", element).replace("$1", update)
}

/// Whether the body has code of this family, or of the one for sorted entries, by computing each of its values once.
pub(super) fn check(request: &Request<'_>) -> Emit<()> {
    let scatter = Scatter::of(request)?;
    let mut emit = request.emitter();
    let at = emit.variable("p", scatter.extent);
    let element = emit.variable("e", scatter.outer * scatter.inner);
    let which = emit.variable("i", scatter.count);
    emit.value(scatter.operands[0], &scatter.index(&at, &element))?;
    emit.value(scatter.operands[1], std::slice::from_ref(&which))?;
    emit.value(scatter.operands[2], &scatter.index(&which, &element))?;
    scatter.outputs(request, &mut emit, &at, &[element], &["held".to_string()]).map(drop)
}

pub(super) fn generate(request: &Request<'_>) -> Emit<Code> {
    let scatter = Scatter::of(request)?;
    let mut lanes = 16
        / request
            .outputs()
            .map(|(_, s)| s.dtype.size())
            .chain([scatter.dtype.accumulator().size()])
            .max()
            .unwrap_or(4)
            .max(4);
    while scatter.inner % lanes != 0 {
        lanes /= 2;
    }
    let units = scatter.outer * scatter.inner / lanes;
    // A long list of indices is looked through by more threads than have elements.
    let least = if scatter.count >= 2048 { 256 } else { 32 };
    let threads = units.next_power_of_two().clamp(least, 256);
    let chunks = units.div_ceil(threads);
    let Some(grid) = u32::try_from(scatter.extent * chunks).ok().filter(|&g| g <= i32::MAX as u32) else {
        return refuse("more places than a grid has blocks");
    };
    let mut emit = request.emitter();
    emit.lanes = lanes as i64;
    let index = emit.index_type();
    let ty = register(scatter.dtype);
    let warps = threads / 32;
    emit.line(format!("__shared__ unsigned hits[{warps}];"));
    emit.line("int t = threadIdx.x;");
    emit.line("unsigned z = blockIdx.x;");
    emit.line(format!("{index} g = z % {chunks}u;"));
    emit.line(format!("{index} p = z / {chunks}u;"));
    let chunk = emit.variable("g", chunks);
    let at = emit.variable("p", scatter.extent);
    let thread = emit.variable("t", threads);
    let unit = chunk.times(threads as i64).add(&thread);
    let inside = emit.within(&unit, units);
    let unit = unit.limit(units);
    let elements: Vec<Index> = (0..lanes as i64).map(|j| unit.times(lanes as i64).plus(j)).collect();

    let mut sums = Vec::new();
    for element in &elements {
        let base = emit.value(scatter.operands[0], &scatter.index(&at, element))?;
        sums.push(emit.define(ty, "a", base));
    }
    let tiles = scatter.count.div_ceil(threads);
    if tiles > 1 {
        // Most places are hit by nothing, which one look at all indices and one barrier tell.
        emit.line("int found = 0;");
        emit.open(format!("for ({index} i = t; i < {}; i += {threads})", scatter.count));
        let which = emit.variable("i", scatter.count);
        let target = emit.value(scatter.operands[1], &[which])?;
        emit.line(format!("found |= (long long){target} == (long long)p;"));
        emit.close();
        emit.open("if (__syncthreads_or(found))");
    } else {
        emit.open("");
    }
    emit.open(format!("for ({index} s = 0; s < {tiles}; ++s)"));
    let tile = emit.variable("s", tiles);
    let which = tile.times(threads as i64).add(&thread);
    let exists = emit.within(&which, scatter.count);
    let target = emit.value(scatter.operands[1], &[which.limit(scatter.count)])?;
    let hit = emit.define(
        "unsigned",
        "h",
        format!("__ballot_sync(MG_ALL_LANES, {exists} && (long long){target} == (long long)p)"),
    );
    emit.line(format!("if (t % 32 == 0) hits[t / 32] = {hit};"));
    emit.line("__syncthreads();");
    emit.open(format!("for (int w = 0; w < {warps}; ++w)"));
    // The lowest bit is the first index.
    emit.open("for (unsigned m = hits[w]; m != 0; m &= m - 1)");
    emit.line(format!("{index} i = s * {threads} + w * 32 + __ffs(m) - 1;"));
    let update = emit.variable("i", scatter.count);
    for (element, sum) in elements.iter().zip(&sums) {
        let value = emit.value(scatter.operands[2], &scatter.index(&update, element))?;
        let combined = combined(scatter.kind, sum, &value);
        emit.line(format!("{sum} = {combined};"));
    }
    emit.close();
    emit.close();
    // The list is not overwritten before all have read it.
    emit.line("__syncthreads();");
    emit.close();
    emit.close();

    let outputs = scatter.outputs(request, &mut emit, &at, &elements, &sums)?;
    emit.open(if inside == "true" { String::new() } else { format!("if ({inside})") });
    for (number, (dtype, position, values)) in outputs.iter().enumerate() {
        emit.store(number, *dtype, position, values);
    }
    emit.close();
    Ok(Code {
        domain: scatter.shape.clone(),
        reads: vec![IndexMap::Any; request.body.params().len()],
        writes: vec![IndexMap::Any; request.body.outputs().len()],
        text: emit.finish(),
        grid,
        block: [threads as u32, 1, 1],
    })
}
