//! Kernels with a scatter of sorted indices: a block owns some places of the axis, finds for each the entries that
//! hit it by two searches, and combines their updates in the order of the entries. Places without an entry cost no
//! more than their element of the base.

use super::emit::{Emit, Emitter, refuse};
use super::scatter::combined;
use super::types::register;
use super::{Code, Request};
use crate::index::{Index, delinear, linear};
use monograph_ir::plan::IndexMap;
use monograph_ir::{DType, Op, ScatterKind, Shape, ValueId};

const THREADS: usize = 256;
/// What a block computes, in vectors of adjacent elements: several for each thread, so that the searches, which only
/// some threads do, are a small part.
const UNITS: usize = 2048;
/// Entries of a place whose updates are loaded together, so that a place with many waits less often.
const TOGETHER: usize = 4;

/// The scatter of a body.
struct Scatter {
    value: ValueId,
    operands: [ValueId; 3],
    kind: ScatterKind,
    dtype: DType,
    shape: Shape,
    axis: usize,
    /// Elements before, along and behind the axis.
    outer: usize,
    extent: usize,
    inner: usize,
    /// Number of entries.
    count: usize,
}

impl Scatter {
    fn of(request: &Request<'_>) -> Emit<Scatter> {
        let body = request.body;
        let mut found = body.iter().filter(|(_, n)| matches!(n.op, Op::ScatterSorted { .. }));
        let (Some((id, node)), None) = (found.next(), found.next()) else { return refuse("not exactly one scatter") };
        let Op::ScatterSorted { axis, kind } = node.op else { return refuse("no scatter") };
        let spec = body.spec(id.value());
        let operands = [node.operands[0], node.operands[1], node.operands[2]];
        let count = body.spec(operands[1]).shape.size();
        if spec.shape.is_empty() || count == 0 {
            return refuse("a scatter of no elements");
        }
        if i32::try_from(count).is_err() || u32::try_from(spec.shape[axis]).is_err() {
            return refuse("a scatter of more entries or places than 32 bits count");
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
    fn index(&self, at: &Index, element: &Index) -> Vec<Index> {
        let around = delinear(element, &[self.outer, self.inner]);
        let mut index = delinear(&around[0], &self.shape[..self.axis]);
        index.push(at.clone());
        index.extend(delinear(&around[1], &self.shape[self.axis + 1..]));
        index
    }

    /// Combines the updates of so many entries from number `q` on into adjacent elements, in the order of the entries.
    fn combine(&self, emit: &mut Emitter<'_>, entries: usize, elements: &[Index], sums: &[String]) -> Emit<()> {
        let index = emit.index_type();
        let mut updates = Vec::new();
        for number in 0..entries {
            let at = emit.define("int", "q", format!("q + {number}"));
            let at = emit.integer(&at, self.count);
            let entry = emit.value(self.operands[1], &[at])?;
            let source = emit.define("unsigned", "s", format!("(unsigned){entry}"));
            let exists = emit.define("bool", "c", format!("{source} < {}u", self.count));
            let source = emit.define(index, "i", format!("{exists} ? ({index}){source} : 0"));
            let source = emit.integer(&source, self.count);
            for element in elements {
                updates.push((exists.clone(), emit.value(self.operands[2], &self.index(&source, element))?));
            }
        }
        for ((exists, update), sum) in updates.iter().zip(sums.iter().cycle()) {
            emit.line(format!("{sum} = {exists} ? {} : {sum};", combined(self.kind, sum, update)));
        }
        Ok(())
    }

    /// Announces adjacent scattered elements, and computes and stores the outputs there.
    fn store(
        &self,
        request: &Request<'_>,
        emit: &mut Emitter<'_>,
        at: &Index,
        elements: &[Index],
        sums: &[String],
    ) -> Emit<()> {
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
            outputs.push((spec.dtype, values));
        }
        for (number, (dtype, values)) in outputs.iter().enumerate() {
            emit.store(number, *dtype, &positions[0], values);
        }
        Ok(())
    }
}

/// Whether the body has code of this family, by computing each of its values once.
pub(super) fn check(request: &Request<'_>) -> Emit<()> {
    let scatter = Scatter::of(request)?;
    let mut emit = request.emitter();
    let at = emit.variable("p", scatter.extent);
    let element = emit.variable("e", scatter.outer * scatter.inner);
    let which = emit.variable("i", scatter.count);
    emit.value(scatter.operands[0], &scatter.index(&at, &element))?;
    emit.value(scatter.operands[1], std::slice::from_ref(&which))?;
    emit.value(scatter.operands[2], &scatter.index(&which, &element))?;
    scatter.store(request, &mut emit, &at, &[element], &["held".to_string()])
}

pub(super) fn generate(request: &Request<'_>) -> Emit<Code> {
    let scatter = Scatter::of(request)?;
    let sizes = request.outputs().map(|(_, s)| s.dtype.size()).chain([scatter.dtype.accumulator().size()]);
    let mut lanes = 16 / sizes.max().unwrap_or(4).max(4);
    while scatter.inner % lanes != 0 {
        lanes /= 2;
    }
    // A block has whole places, or a part of one.
    let units = scatter.outer * scatter.inner / lanes;
    let places = (UNITS / units).clamp(1, scatter.extent);
    let chunk = units.min(UNITS);
    let chunks = units.div_ceil(chunk);
    let blocks = scatter.extent.div_ceil(places) * chunks;
    let Some(grid) = u32::try_from(blocks).ok().filter(|&g| g <= i32::MAX as u32) else {
        return refuse("more places than a grid has blocks");
    };
    let mut emit = request.emitter();
    emit.lanes = lanes as i64;
    let index = emit.index_type();
    emit.line(format!("__shared__ int bounds[{}];", places + 1));
    emit.line("int t = threadIdx.x;");
    emit.line("unsigned z = blockIdx.x;");
    emit.line(format!("{index} g = z % {chunks}u;"));
    emit.line(format!("{index} b = z / {chunks}u;"));
    let (part, block) = (emit.variable("g", chunks), emit.variable("b", scatter.extent.div_ceil(places)));
    let thread = emit.variable("t", THREADS);

    // The first entry of each place, and of the one behind the last.
    emit.open(format!("for (int m = t; m <= {places}; m += {THREADS})"));
    emit.line(format!("mg_u64 key = ((mg_u64)b * {places}ull + (mg_u64)m) << 32;"));
    emit.line("int low = 0;");
    emit.line(format!("int high = {};", scatter.count));
    // The bounds close in on each other: they meet after as many steps as the count has bits.
    emit.open(format!("for (int q = 0; q < {}; ++q)", usize::BITS - scatter.count.leading_zeros()));
    emit.line(format!("int middle = low < high ? low + (high - low) / 2 : {};", scatter.count - 1));
    let middle = emit.integer("middle", scatter.count);
    let entry = emit.value(scatter.operands[1], &[middle])?;
    emit.line(format!("bool before = (mg_u64){entry} < key;"));
    emit.line("bool open = low < high;");
    emit.line("low = open && before ? middle + 1 : low;");
    emit.line("high = open && !before ? middle : high;");
    emit.close();
    emit.line("bounds[m] = low;");
    emit.close();
    emit.line("__syncthreads();");

    let rounds = (places * chunk).div_ceil(THREADS);
    emit.open(format!("for (int u = 0; u < {rounds}; ++u)"));
    let round = emit.variable("u", rounds);
    let number = round.times(THREADS as i64).add(&thread);
    let within = delinear(&number, &[places, chunk]);
    // Behind the last place of the block the quotient goes on.
    let place = if places * chunk % THREADS == 0 { within[0].clone() } else { within[0].limit(places) };
    let at = block.times(places as i64).add(&place);
    let unit = part.times(chunk as i64).add(&within[1]);
    let mut exists =
        vec![emit.within(&number, places * chunk), emit.within(&at, scatter.extent), emit.within(&unit, units)];
    exists.retain(|c| c != "true");
    emit.open(if exists.is_empty() { String::new() } else { format!("if ({})", exists.join(" && ")) });
    let at = at.limit(scatter.extent);
    let unit = unit.limit(units);
    let elements: Vec<Index> = (0..lanes as i64).map(|j| unit.times(lanes as i64).plus(j)).collect();
    let mut sums = Vec::new();
    for element in &elements {
        let base = emit.value(scatter.operands[0], &scatter.index(&at, element))?;
        sums.push(emit.define(register(scatter.dtype), "a", base));
    }
    let place = emit.index(&place);
    let end = emit.define("int", "n", format!("bounds[{place} + 1]"));
    emit.line(format!("int q = bounds[{place}];"));
    emit.open(format!("for (; q + {TOGETHER} <= {end}; q += {TOGETHER})"));
    scatter.combine(&mut emit, TOGETHER, &elements, &sums)?;
    emit.close();
    emit.open(format!("for (; q < {end}; ++q)"));
    scatter.combine(&mut emit, 1, &elements, &sums)?;
    emit.close();
    scatter.store(request, &mut emit, &at, &elements, &sums)?;
    emit.close();
    emit.close();
    Ok(Code {
        domain: scatter.shape.clone(),
        reads: vec![IndexMap::Any; request.body.params().len()],
        writes: vec![IndexMap::Any; request.body.outputs().len()],
        text: emit.finish(),
        grid,
        block: [THREADS as u32, 1, 1],
    })
}
