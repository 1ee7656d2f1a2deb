//! Kernels with a scan: a thread a row where rows lie side by side or are short, else a block a row, which scans chunk
//! after chunk and carries the last prefix over.

use super::emit::{Emit, Emitter, refuse};
use super::types::{identity, literal, register};
use super::{Code, Request};
use crate::index::{Index, delinear, linear};
use monograph_ir::plan::IndexMap;
use monograph_ir::{DType, Op, Reduction, Shape, ValueId};

/// Rows up to this length are scanned by one thread.
const SHORT: usize = 32;
/// Adjacent elements of a thread of a block.
const LANES: usize = 4;

/// The scan of a body.
struct Scan {
    value: ValueId,
    operand: ValueId,
    kind: Reduction,
    dtype: DType,
    shape: Shape,
    axis: usize,
    outer: usize,
    length: usize,
    inner: usize,
}

impl Scan {
    fn of(request: &Request<'_>) -> Emit<Scan> {
        let body = request.body;
        let mut found = body.iter().filter(|(_, n)| matches!(n.op, Op::Scan { .. }));
        let (Some((id, node)), None) = (found.next(), found.next()) else { return refuse("not exactly one scan") };
        let Op::Scan { kind, axis } = node.op else { return refuse("no scan") };
        let spec = body.spec(id.value());
        if spec.shape.is_empty() {
            return refuse("a scan of no elements");
        }
        if request.outputs().any(|(_, s)| s.shape.size() != spec.shape.size()) {
            return refuse("an output that has not as many elements as the scan");
        }
        Ok(Scan {
            value: id.value(),
            operand: node.operands[0],
            kind,
            dtype: spec.dtype,
            shape: spec.shape.clone(),
            axis,
            outer: spec.shape[..axis].iter().product(),
            length: spec.shape[axis],
            inner: spec.shape[axis + 1..].iter().product(),
        })
    }

    fn index(&self, row: &Index, column: &Index) -> Vec<Index> {
        let around = delinear(row, &[self.outer, self.inner]);
        let mut index = delinear(&around[0], &self.shape[..self.axis]);
        index.push(column.clone());
        index.extend(delinear(&around[1], &self.shape[self.axis + 1..]));
        index
    }

    fn combine(&self, a: &str, b: &str) -> String {
        self.kind.combine().cuda().replace("$0", a).replace("$1", b)
    }

    /// Announces prefixes at adjacent columns, computes the outputs there, and stores them if the condition holds.
    fn finish(
        &self,
        request: &Request<'_>,
        emit: &mut Emitter<'_>,
        row: &Index,
        columns: &[Index],
        prefixes: &[String],
        condition: &str,
    ) -> Emit<()> {
        let positions: Vec<Index> = columns.iter().map(|c| linear(&self.index(row, c), &self.shape)).collect();
        for (position, prefix) in positions.iter().zip(prefixes) {
            let settled = emit.settled(self.dtype, prefix);
            emit.hold(self.value, position.clone(), settled);
        }
        let mut stores = Vec::new();
        for (value, spec) in request.outputs() {
            let mut values = Vec::new();
            for position in &positions {
                values.push(emit.value(value, &delinear(position, &spec.shape))?);
            }
            stores.push((spec.dtype, values));
        }
        emit.open(if condition == "true" { String::new() } else { format!("if ({condition})") });
        for (number, (dtype, values)) in stores.iter().enumerate() {
            if self.inner == 1 && dtype.size() * values.len() <= 16 {
                emit.store(number, *dtype, &positions[0], values);
            } else {
                for (position, value) in positions.iter().zip(values) {
                    emit.store(number, *dtype, position, std::slice::from_ref(value));
                }
            }
        }
        emit.close();
        Ok(())
    }
}

/// Whether the body has code of this family, by computing each of its values once.
pub(super) fn check(request: &Request<'_>) -> Emit<()> {
    let scan = Scan::of(request)?;
    let mut emit = request.emitter();
    let row = emit.variable("r", scan.outer * scan.inner);
    let column = emit.variable("c", scan.length);
    emit.value(scan.operand, &scan.index(&row, &column))?;
    scan.finish(request, &mut emit, &row, &[column], &["held".to_string()], "true")
}

pub(super) fn generate(request: &Request<'_>) -> Emit<Code> {
    let scan = Scan::of(request)?;
    let rows = scan.outer * scan.inner;
    let (text, grid, block) = match scan.inner > 1 || scan.length <= SHORT {
        true => (by_thread(request, &scan, rows)?, rows.div_ceil(128), 128),
        false => {
            let lanes = if scan.length % LANES == 0 { LANES } else { 1 };
            let threads = (scan.length / lanes).next_power_of_two().clamp(32, 256);
            (by_block(request, &scan, lanes, threads)?, rows, threads)
        }
    };
    let Some(grid) = u32::try_from(grid).ok().filter(|&g| g <= i32::MAX as u32) else {
        return refuse("more rows than a grid has blocks");
    };
    Ok(Code {
        domain: scan.shape.clone(),
        reads: vec![IndexMap::Any; request.body.params().len()],
        writes: vec![IndexMap::Any; request.body.outputs().len()],
        text,
        grid,
        block: [block as u32, 1, 1],
    })
}

fn by_thread(request: &Request<'_>, scan: &Scan, rows: usize) -> Emit<String> {
    let mut emit = request.emitter();
    let index = emit.index_type();
    emit.line(format!("{index} r = ({index})blockIdx.x * 128 + threadIdx.x;"));
    emit.line(format!("if (r >= {rows}) return;"));
    let row = emit.variable("r", rows);
    let carry = emit.define(register(scan.dtype), "a", literal(identity(scan.kind, scan.dtype)));
    emit.open(format!("for ({index} c = 0; c < {}; ++c)", scan.length));
    let column = emit.variable("c", scan.length);
    let element = emit.value(scan.operand, &scan.index(&row, &column))?;
    let combined = scan.combine(&carry, &element);
    emit.line(format!("{carry} = {combined};"));
    scan.finish(request, &mut emit, &row, &[column], &[carry], "true")?;
    emit.close();
    Ok(emit.finish())
}

fn by_block(request: &Request<'_>, scan: &Scan, lanes: usize, threads: usize) -> Emit<String> {
    let mut emit = request.emitter();
    emit.lanes = lanes as i64;
    let index = emit.index_type();
    let ty = register(scan.dtype);
    let neutral = literal(identity(scan.kind, scan.dtype));
    let (warps, units) = (threads / 32, scan.length / lanes);
    let chunks = units.div_ceil(threads);
    emit.line(format!("__shared__ {ty} totals[{warps}];"));
    emit.line("int t = threadIdx.x;");
    emit.line(format!("{index} r = blockIdx.x;"));
    let row = emit.variable("r", scan.outer * scan.inner);
    let thread = emit.variable("t", threads);
    emit.line(format!("{ty} carry = {neutral};"));
    emit.open(format!("for ({index} s = 0; s < {chunks}; ++s)"));
    let unit = emit.variable("s", chunks).times(threads as i64).add(&thread);
    let exists = emit.within(&unit, units);
    let unit = unit.limit(units);
    let columns: Vec<Index> = (0..lanes as i64).map(|j| unit.times(lanes as i64).plus(j)).collect();
    let mut prefixes: Vec<String> = Vec::new();
    for column in &columns {
        let mut element = emit.value(scan.operand, &scan.index(&row, column))?;
        if exists != "true" {
            element = emit.define(ty, "t", format!("{exists} ? {element} : {neutral}"));
        }
        let prefix = prefixes.last().map_or(element.clone(), |before| scan.combine(before, &element));
        prefixes.push(emit.define(ty, "a", prefix));
    }
    // The thread's total, then that of all lanes up to it.
    let total = emit.define(ty, "a", prefixes.last().cloned().unwrap_or_default());
    for offset in [1, 2, 4, 8, 16] {
        let before = emit.define(ty, "o", format!("mg_shfl_up({total}, {offset})"));
        let combined = scan.combine(&before, &total);
        emit.line(format!("{total} = t % 32 >= {offset} ? {combined} : {total};"));
    }
    emit.line(format!("if (t % 32 == 31) totals[t / 32] = {total};"));
    let before = emit.define(ty, "o", format!("mg_shfl_up({total}, 1)"));
    emit.line(format!("{before} = t % 32 == 0 ? {neutral} : {before};"));
    emit.line("__syncthreads();");
    let base = emit.define(ty, "a", "carry");
    emit.open(format!("for (int w = 0; w < {warps}; ++w)"));
    emit.line(format!("{base} = w == t / 32 ? carry : {base};"));
    let combined = scan.combine("carry", "totals[w]");
    emit.line(format!("carry = {combined};"));
    emit.close();
    // The totals are not overwritten before all have read them.
    emit.line("__syncthreads();");
    let combined = scan.combine(&base, &before);
    let base = emit.define(ty, "a", combined);
    let mut whole = Vec::new();
    for prefix in &prefixes {
        let combined = scan.combine(&base, prefix);
        whole.push(emit.define(ty, "a", combined));
    }
    scan.finish(request, &mut emit, &row, &columns, &whole, &exists)?;
    emit.close();
    Ok(emit.finish())
}
