//! Kernels with reductions: a group of threads a row, where a row is what the reductions combine.
//!
//! All reductions of a body combine the same rows. Those that need no other's result run together in one pass over
//! the row, then those that need theirs, and a last pass computes the outputs of every element. A short row is unrolled
//! in the text, so that what one pass loaded or computed stays in registers for the next.

use super::emit::{Emit, Emitter, refuse};
use super::types::{identity, literal, register};
use super::{Code, Request, SHARED_BYTES};
use crate::index::{Index, delinear, linear};
use monograph_ir::plan::IndexMap;
use monograph_ir::{Axes, DType, Extreme, Op, Reduction, Shape, Spec, ValueId};

/// Greatest number of elements of a row that one thread keeps in registers.
const KEPT_ELEMENTS: usize = 32;

/// Statements of an unrolled row beyond which a loop is written.
const UNROLLED_STATEMENTS: usize = 1_500;

/// The rows of a body.
struct Rows {
    /// The shape of what is reduced.
    shape: Shape,
    axes: Axes,
    kept: Vec<usize>,
    reduced: Vec<usize>,
    rows: usize,
    length: usize,
    /// The reductions of each pass.
    passes: Vec<Vec<ValueId>>,
    /// At most so many bytes are the partial results of all reductions.
    partials: usize,
}

/// How threads share the work.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Schedule {
    /// A thread a row.
    Thread,
    /// Blocks of adjacent rows, whose elements at one place of the row are adjacent in memory.
    Columns { adjacent: usize, threads: usize },
    /// A warp a row, some rows a block.
    Warp { rows: usize },
    /// A block a row.
    Block { threads: usize },
}

impl Schedule {
    /// Threads that share a row.
    fn threads(self) -> usize {
        match self {
            Schedule::Thread => 1,
            Schedule::Columns { threads, .. } | Schedule::Block { threads } => threads,
            Schedule::Warp { .. } => 32,
        }
    }
}

/// How elements of a row are dealt out: thread `t` of `threads` handles the units `t`, `t + threads`, …, each of
/// `lanes` adjacent elements.
struct Deal {
    threads: usize,
    lanes: usize,
    units: usize,
    /// Rounds that are written out; 0 for a loop.
    unrolled: usize,
    /// Units of one round of the loop.
    ways: usize,
}

/// One unit of the thread: its elements' places in the row, and the condition under which it exists.
struct Unit {
    columns: Vec<Index>,
    exists: Option<String>,
}

impl Rows {
    fn of(request: &Request<'_>) -> Emit<Rows> {
        let body = request.body;
        let mut found: Option<(Shape, Axes)> = None;
        let mut depth = vec![0usize; body.len()];
        let mut passes: Vec<Vec<ValueId>> = Vec::new();
        let mut partials = 0;
        for (id, node) in body.iter() {
            let below = node.operands.iter().map(|v| depth[v.node.index()]).max().unwrap_or(0);
            let axes = match &node.op {
                Op::Reduce { axes, .. } => axes.clone(),
                Op::ArgReduce { axis, .. } => Axes::from_slice(&[*axis]),
                _ => {
                    depth[id.index()] = below;
                    continue;
                }
            };
            let Spec { dtype, shape } = body.spec(node.operands[0]);
            // An extreme's place is a `long long`.
            partials += dtype.size().max(4) + if matches!(node.op, Op::ArgReduce { .. }) { 8 } else { 0 };
            match &found {
                Some((s, a)) if s != shape || *a != axes => {
                    return refuse("reductions over different rows");
                }
                _ => found = Some((shape.clone(), axes)),
            }
            depth[id.index()] = below + 1;
            passes.resize_with(passes.len().max(below + 1), Vec::new);
            passes[below].push(id.value());
        }
        let Some((shape, axes)) = found else { return refuse("no reduction") };
        if shape.is_empty() {
            return refuse("a reduction of no elements");
        }
        let part = |reduced: bool| -> Vec<usize> {
            shape.iter().enumerate().filter(|(d, _)| axes.contains(d) == reduced).map(|(_, &e)| e).collect()
        };
        let (kept, reduced) = (part(false), part(true));
        let rows = kept.iter().product();
        let length = reduced.iter().product();
        for (_, spec) in request.outputs() {
            let n = spec.shape.size();
            if n != rows && n != rows * length {
                return refuse("an output has neither an element a row nor all elements of the rows");
            }
        }
        Ok(Rows { shape, axes, kept, reduced, rows, length, passes, partials })
    }

    /// The index into the shape that is reduced.
    fn element(&self, row: &Index, column: &Index) -> Vec<Index> {
        let mut kept = delinear(row, &self.kept).into_iter();
        let mut reduced = delinear(column, &self.reduced).into_iter();
        let next = |d| if self.axes.contains(&d) { reduced.next() } else { kept.next() };
        (0..self.shape.rank()).map_while(next).collect()
    }

    /// Whether the output has one element a row.
    fn is_row(&self, spec: &Spec) -> bool {
        spec.shape.size() == self.rows
    }

    /// Where the element of a row lies in an output that has all elements.
    fn position(&self, row: &Index, column: &Index) -> Index {
        linear(&self.element(row, column), &self.shape)
    }

    fn schedule(&self, request: &Request<'_>, lanes: usize) -> Schedule {
        let multiprocessors = request.target.multiprocessors as usize;
        if self.length <= 16 {
            return Schedule::Thread;
        }
        let innermost = (0..self.shape.rank()).rev().find(|&d| self.shape[d] > 1);
        if innermost.is_some_and(|d| !self.axes.contains(&d) && self.shape[d] >= 8) {
            let fills = |adjacent: &usize| self.rows.div_ceil(*adjacent) >= multiprocessors;
            let adjacent = [32, 16].into_iter().find(fills).unwrap_or(8);
            let block = if self.rows.div_ceil(adjacent) >= 2 * multiprocessors { 256 } else { 512 };
            let mut threads = (block / adjacent).min((self.length / 2).next_power_of_two());
            while threads > 1 && threads * adjacent * self.partials > SHARED_BYTES {
                threads /= 2;
            }
            return Schedule::Columns { adjacent, threads };
        }
        let units = self.length / lanes;
        if self.length <= 256 || (self.length <= 1024 && self.rows >= 2 * multiprocessors) {
            return Schedule::Warp { rows: if self.rows >= 4 * multiprocessors { 4 } else { 1 } };
        }
        let threads = match units {
            4096.. => 1024,
            2048.. => 512,
            512.. => 256,
            _ => 128,
        };
        Schedule::Block { threads }
    }

    /// Elements of a unit: those that fill 16 bytes, where rows are contiguous and the number divides them.
    fn lanes(&self, request: &Request<'_>) -> usize {
        let Some(last) = self.shape.rank().checked_sub(1).filter(|last| self.axes.contains(last)) else { return 1 };
        let whole = |spec: &&Spec| spec.shape.size() >= self.rows * self.length;
        let specs = request.body.params().iter().map(|p| &p.spec).chain(request.outputs().map(|(_, spec)| spec));
        let widest = specs.filter(whole).map(|s| s.dtype.size()).max().unwrap_or(4);
        let mut lanes = (16 / widest).min(8);
        while lanes > 1 && (!self.shape[last].is_multiple_of(lanes) || self.length / lanes < 32) {
            lanes /= 2;
        }
        lanes
    }

    fn deal(&self, schedule: Schedule, lanes: usize, statements: usize) -> Deal {
        let threads = schedule.threads();
        let units = self.length / lanes;
        let rounds = units.div_ceil(threads);
        let kept = if threads == 1024 { KEPT_ELEMENTS / 2 } else { KEPT_ELEMENTS };
        let fits = rounds * lanes <= kept && rounds * lanes * statements <= UNROLLED_STATEMENTS;
        let ways = if lanes * statements <= UNROLLED_STATEMENTS / 4 { (4 / lanes).max(1).min(rounds) } else { 1 };
        Deal { threads, lanes, units, unrolled: if fits { rounds } else { 0 }, ways }
    }
}

impl Deal {
    /// Writes `each` for every unit of the thread, in a loop or written out. `slot` tells units apart that can be
    /// accumulated side by side.
    fn units(
        &self,
        emit: &mut Emitter<'_>,
        lane: &Index,
        mut each: impl FnMut(&mut Emitter<'_>, Unit, usize) -> Emit<()>,
    ) -> Emit<()> {
        let columns = |unit: &Index| (0..self.lanes as i64).map(|j| unit.times(self.lanes as i64).plus(j)).collect();
        if self.unrolled > 0 {
            for round in 0..self.unrolled {
                let unit = lane.plus((round * self.threads) as i64);
                let inside = unit.within(self.units);
                let exists = if inside { None } else { Some(emit.within(&unit, self.units)) };
                each(emit, Unit { columns: columns(&unit.limit(self.units)), exists }, round % self.ways)?;
            }
            return Ok(());
        }
        let stride = self.threads * self.ways;
        let exact = self.units.is_multiple_of(stride);
        let extent = if exact { self.units - (self.ways - 1) * self.threads } else { self.units };
        let name = emit.fresh("u");
        let start = emit.index(lane);
        let ty = emit.index_type();
        emit.open(format!("for ({ty} {name} = {start}; {name} < {}; {name} += {stride})", self.units));
        let first = emit.variable(name, extent);
        for way in 0..self.ways {
            let unit = first.plus((way * self.threads) as i64);
            let inside = unit.within(self.units);
            let exists = if inside { None } else { Some(emit.within(&unit, self.units)) };
            each(emit, Unit { columns: columns(&unit.limit(self.units)), exists }, way)?;
        }
        emit.close();
        Ok(())
    }
}

/// What a reduction combines, and how.
#[derive(Clone, Copy)]
enum Combine {
    Reduce(Reduction),
    Arg(Extreme),
}

/// A partial result: names of variables, the second for the place of an extreme.
#[derive(Clone)]
struct Partial {
    value: String,
    place: String,
}

impl Combine {
    fn of(op: &Op) -> Combine {
        match op {
            Op::ArgReduce { kind, .. } => Combine::Arg(*kind),
            Op::Reduce { kind, .. } => Combine::Reduce(*kind),
            _ => unreachable!("only reductions are passes"),
        }
    }

    fn start(self, emit: &mut Emitter<'_>, dtype: DType, length: usize) -> Partial {
        let ty = register(dtype);
        match self {
            Combine::Reduce(kind) => {
                let value = emit.define(ty, "a", literal(identity(kind, dtype)));
                Partial { value, place: String::new() }
            }
            Combine::Arg(kind) => {
                // Loses against every element, as its place is behind all.
                let kind = if kind == Extreme::Max { Reduction::Max } else { Reduction::Min };
                let value = emit.define(ty, "a", literal(identity(kind, dtype)));
                let place = emit.define("long long", "p", format!("{length}ll"));
                Partial { value, place }
            }
        }
    }

    /// Combines `other` into `into`, if the condition holds.
    fn merge(self, emit: &mut Emitter<'_>, into: &Partial, other: &Partial, condition: Option<&str>) {
        let a = &into.value;
        match self {
            Combine::Reduce(kind) => {
                let combined = kind.combine().cuda().replace("$0", a).replace("$1", &other.value);
                emit.line(match condition {
                    Some(c) => format!("{a} = {c} ? {combined} : {a};"),
                    None => format!("{a} = {combined};"),
                });
            }
            Combine::Arg(kind) => {
                let test = format!("mg_{}_before({a}, {}, {}, {})", kind.name(), into.place, other.value, other.place);
                let test = condition.map_or(test.clone(), |c| format!("{c} && {test}"));
                emit.line(format!("if ({test}) {{ {a} = {}; {} = {}; }}", other.value, into.place, other.place));
            }
        }
    }

    /// What the warp's lanes have, in each of its lanes. The lanes are combined in pairs, the same on both sides.
    fn across_warp(self, emit: &mut Emitter<'_>, partial: &Partial, dtype: DType, lanes: usize) {
        let mut offset = lanes / 2;
        while offset > 0 {
            let value = emit.define(register(dtype), "o", format!("mg_shfl_xor({}, {offset})", partial.value));
            let place = match self {
                Combine::Arg(_) => emit.define("long long", "o", format!("mg_shfl_xor({}, {offset})", partial.place)),
                Combine::Reduce(_) => String::new(),
            };
            self.merge(emit, partial, &Partial { value, place }, None);
            offset /= 2;
        }
    }
}

/// Whether the body has code of this family, by computing each of its values once.
pub(super) fn check(request: &Request<'_>) -> Emit<()> {
    probe(request, &Rows::of(request)?).map(drop)
}

/// Statements for one element.
fn probe(request: &Request<'_>, rows: &Rows) -> Emit<usize> {
    let mut emit = request.emitter();
    let row = emit.variable("r", rows.rows);
    let column = emit.variable("c", rows.length);
    for &value in rows.passes.iter().flatten() {
        emit.value(request.body.node(value.node).operands[0], &rows.element(&row, &column))?;
        emit.hold(value, row.clone(), "held");
    }
    for (value, spec) in request.outputs() {
        let position = if rows.is_row(spec) { row.clone() } else { rows.position(&row, &column) };
        emit.value(value, &delinear(&position, &spec.shape))?;
    }
    Ok(emit.statements().max(1))
}

pub(super) fn generate(request: &Request<'_>) -> Emit<Code> {
    let body = request.body;
    let rows = Rows::of(request)?;
    let statements = probe(request, &rows)?;
    let lanes = rows.lanes(request);
    let schedule = rows.schedule(request, lanes);
    let lanes = if matches!(schedule, Schedule::Warp { .. } | Schedule::Block { .. }) { lanes } else { 1 };
    let deal = rows.deal(schedule, lanes, statements);

    let mut emit = request.emitter();
    emit.lanes = lanes as i64;
    let ty = emit.index_type();
    let last = rows.rows;
    let (block, grid, live) = match schedule {
        Schedule::Thread => {
            emit.line(format!("{ty} r = ({ty})blockIdx.x * 128 + threadIdx.x;"));
            emit.line(format!("if (r >= {last}) return;"));
            ([128, 1, 1], rows.rows.div_ceil(128), None)
        }
        Schedule::Columns { adjacent, threads } => {
            emit.line(format!("{ty} r = ({ty})blockIdx.x * {adjacent} + threadIdx.x;"));
            emit.line("int t = threadIdx.y;");
            let whole = rows.rows % adjacent == 0;
            if !whole {
                // Threads without a row of their own take part in the barriers, with the last row.
                emit.line(format!("bool live = r < {last};"));
                emit.line(format!("r = live ? r : {};", last - 1));
            }
            let live = if whole { None } else { Some("live") };
            ([adjacent as u32, threads as u32, 1], rows.rows.div_ceil(adjacent), live)
        }
        Schedule::Warp { rows: together } => {
            emit.line(format!("{ty} r = ({ty})blockIdx.x * {together} + threadIdx.y;"));
            emit.line("int t = threadIdx.x;");
            if rows.rows % together != 0 {
                emit.line(format!("if (r >= {last}) return;"));
            }
            ([32, together as u32, 1], rows.rows.div_ceil(together), None)
        }
        Schedule::Block { threads } => {
            emit.line(format!("{ty} r = blockIdx.x;"));
            emit.line("int t = threadIdx.x;");
            ([threads as u32, 1, 1], rows.rows, None)
        }
    };
    let Some(grid) = u32::try_from(grid).ok().filter(|&g| g <= i32::MAX as u32) else {
        return refuse("more rows than a grid has blocks");
    };
    let row = emit.variable("r", rows.rows);
    let lane = emit.variable("t", deal.threads);

    for pass in &rows.passes {
        let dtype = |value: &ValueId| body.spec(body.node(value.node).operands[0]).dtype;
        let mut partials: Vec<Vec<Partial>> = Vec::new();
        for value in pass {
            let combine = Combine::of(&body.node(value.node).op);
            let slots = deal.ways * deal.lanes;
            partials.push((0..slots).map(|_| combine.start(&mut emit, dtype(value), rows.length)).collect());
        }
        deal.units(&mut emit, &lane, |emit, unit, way| {
            for (j, column) in unit.columns.iter().enumerate() {
                for (value, partials) in pass.iter().zip(&partials) {
                    let node = body.node(value.node);
                    let combine = Combine::of(&node.op);
                    let element = emit.value(node.operands[0], &rows.element(&row, column))?;
                    let place = match combine {
                        Combine::Arg(_) => format!("(long long){}", emit.index(column)),
                        Combine::Reduce(_) => String::new(),
                    };
                    let element = Partial { value: element, place };
                    combine.merge(emit, &partials[way * deal.lanes + j], &element, unit.exists.as_deref());
                }
            }
            Ok(())
        })?;
        let mut results = Vec::new();
        for (value, partials) in pass.iter().zip(&partials) {
            let combine = Combine::of(&body.node(value.node).op);
            let mut step = 1;
            while step < partials.len() {
                for i in (0..partials.len() - step).step_by(2 * step) {
                    combine.merge(&mut emit, &partials[i], &partials[i + step], None);
                }
                step *= 2;
            }
            results.push((combine, dtype(value), partials[0].clone()));
        }
        share(&mut emit, schedule, &results);
        for (value, (combine, dtype, partial)) in pass.iter().zip(&results) {
            let name = match combine {
                Combine::Reduce(_) => emit.settled(*dtype, &partial.value),
                Combine::Arg(_) => partial.place.clone(),
            };
            emit.hold(*value, row.clone(), name);
        }
    }

    if request.outputs().any(|(_, spec)| !rows.is_row(spec)) {
        deal.units(&mut emit, &lane, |emit, unit, _| {
            let mut stores = Vec::new();
            for (number, (value, spec)) in request.outputs().enumerate().filter(|(_, (_, spec))| !rows.is_row(spec)) {
                let positions: Vec<Index> = unit.columns.iter().map(|column| rows.position(&row, column)).collect();
                let mut elements = Vec::new();
                for position in &positions {
                    elements.push(emit.value(value, &delinear(position, &spec.shape))?);
                }
                stores.push((number, spec.dtype, positions, elements));
            }
            let conditions: Vec<&str> = unit.exists.as_deref().into_iter().chain(live).collect();
            if !conditions.is_empty() {
                emit.open(format!("if ({})", conditions.join(" && ")));
            }
            for (number, dtype, positions, elements) in stores {
                emit.store(number, dtype, &positions[0], &elements);
            }
            if !conditions.is_empty() {
                emit.close();
            }
            Ok(())
        })?;
    }
    if request.outputs().any(|(_, spec)| rows.is_row(spec)) {
        let first = if deal.threads > 1 { Some("t == 0") } else { None };
        let conditions: Vec<&str> = first.into_iter().chain(live).collect();
        if !conditions.is_empty() {
            emit.open(format!("if ({})", conditions.join(" && ")));
        }
        for (number, (value, spec)) in request.outputs().enumerate().filter(|(_, (_, spec))| rows.is_row(spec)) {
            let element = emit.value(value, &delinear(&row, &spec.shape))?;
            emit.store(number, spec.dtype, &row, &[element]);
        }
        if !conditions.is_empty() {
            emit.close();
        }
    }
    Ok(Code {
        domain: vec![rows.rows, rows.length].into(),
        reads: vec![IndexMap::Any; body.params().len()],
        writes: vec![IndexMap::Any; body.outputs().len()],
        text: emit.finish(),
        grid,
        block,
    })
}

/// Combines what the threads of a row have, and gives all of them the result.
fn share(emit: &mut Emitter<'_>, schedule: Schedule, results: &[(Combine, DType, Partial)]) {
    // Each reduction has scratch of its own, so that one barrier between writing and reading is enough.
    let variables = |combine: &Combine, dtype: &DType, partial: &Partial| match combine {
        Combine::Reduce(_) => vec![(register(*dtype), partial.value.clone())],
        Combine::Arg(_) => vec![(register(*dtype), partial.value.clone()), ("long long", partial.place.clone())],
    };
    let scratch = |emit: &mut Emitter<'_>, size: usize| -> Vec<Vec<String>> {
        let mut all = Vec::new();
        for (combine, dtype, partial) in results {
            let mut names = Vec::new();
            for (ty, _) in variables(combine, dtype, partial) {
                let name = emit.fresh("s");
                emit.line(format!("__shared__ {ty} {name}[{size}];"));
                names.push(name);
            }
            all.push(names);
        }
        all
    };
    match schedule {
        Schedule::Thread => {}
        Schedule::Warp { .. } => {
            for (combine, dtype, partial) in results {
                combine.across_warp(emit, partial, *dtype, 32);
            }
        }
        Schedule::Block { threads } => {
            for (combine, dtype, partial) in results {
                combine.across_warp(emit, partial, *dtype, 32);
            }
            let warps = threads / 32;
            let scratch = scratch(emit, warps);
            emit.open("if (t % 32 == 0)");
            for ((combine, dtype, partial), names) in results.iter().zip(&scratch) {
                for ((_, variable), name) in variables(combine, dtype, partial).iter().zip(names) {
                    emit.line(format!("{name}[t / 32] = {variable};"));
                }
            }
            emit.close();
            emit.line("__syncthreads();");
            for ((combine, dtype, partial), names) in results.iter().zip(&scratch) {
                for ((_, variable), name) in variables(combine, dtype, partial).iter().zip(names) {
                    emit.line(format!("{variable} = {name}[t % {warps}];"));
                }
                combine.across_warp(emit, partial, *dtype, warps);
            }
        }
        Schedule::Columns { adjacent, threads } => {
            let scratch = scratch(emit, adjacent * threads);
            for ((combine, dtype, partial), names) in results.iter().zip(&scratch) {
                for ((_, variable), name) in variables(combine, dtype, partial).iter().zip(names) {
                    emit.line(format!("{name}[t * {adjacent} + threadIdx.x] = {variable};"));
                }
            }
            emit.line("__syncthreads();");
            for ((combine, dtype, partial), names) in results.iter().zip(&scratch) {
                let all = variables(combine, dtype, partial);
                for ((_, variable), name) in all.iter().zip(names) {
                    emit.line(format!("{variable} = {name}[threadIdx.x];"));
                }
                let k = emit.fresh("k");
                emit.line("#pragma unroll 4");
                emit.open(format!("for (int {k} = 1; {k} < {threads}; ++{k})"));
                let read = |name: &String| format!("{name}[{k} * {adjacent} + threadIdx.x]");
                let value = read(&names[0]);
                let place = names.get(1).map(read).unwrap_or_default();
                combine.merge(emit, partial, &Partial { value, place }, None);
                emit.close();
            }
        }
    }
}
