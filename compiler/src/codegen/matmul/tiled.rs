//! Tiles: a block computes a tile of the result, a thread some of its elements in registers, from slices of the
//! operands in shared memory. While a slice is used, the next one is loaded.

use super::{Probe, Product};
use crate::codegen::emit::{Emit, Emitter};
use crate::codegen::types::{literal, register};
use crate::codegen::{Request, SHARED_BYTES};
use crate::index::{Index, linear};
use monograph_ir::{DType, Literal, Shape};

/// Least extent of a slice along the inner dimension.
const SLICE: usize = 16;
/// Greatest extent. Small tiles have small slices; the deeper they are, the fewer barriers, and the more loads are under
/// way at once, which is what a kernel of few blocks waits for.
const DEEPEST: usize = 64;
/// Threads along each side of the tile.
const SIDE: usize = 16;
pub(super) const THREADS: usize = SIDE * SIDE;
/// Elements between the rows of shared memory, so that they begin in different banks.
const GAP: usize = 4;
/// Statements of the epilogues of one thread.
const EPILOGUE_STATEMENTS: usize = 1_500;

/// Elements of a thread along the sides of its tile.
type PerThread = [usize; 2];

/// The greatest tile that still gives every multiprocessor a block.
fn per_thread(request: &Request<'_>, product: &Product, probe: &Probe) -> PerThread {
    let blocks = |[m, n]: PerThread| product.m.div_ceil(m * SIDE) * product.n.div_ceil(n * SIDE) * product.batches;
    let fits = |tile: &PerThread| {
        let slices = 2 * SLICE * ((tile[0] + tile[1]) * SIDE + 2 * GAP) * product.dtype.accumulator().size();
        let small = slices <= SHARED_BYTES;
        let enough = blocks(*tile) >= request.target.multiprocessors as usize;
        small && enough && tile[0] * tile[1] * probe.epilogue <= EPILOGUE_STATEMENTS
    };
    [[8, 8], [8, 4], [4, 4]].into_iter().find(fits).unwrap_or([2, 2])
}

/// Extent of a slice along the inner dimension: deep where the tile is small.
fn depth(product: &Product, per_thread: PerThread) -> usize {
    if per_thread != [2, 2] {
        return SLICE;
    }
    // Both double-buffered slices stay below the 48 KiB of static shared memory.
    let deepest = DEEPEST * 4 / product.dtype.accumulator().size().max(4);
    deepest.min(product.k.next_power_of_two()).max(SLICE)
}

/// Elements that a thread reads from shared memory, and stores, together.
fn group(request: &Request<'_>, product: &Product, per_thread: PerThread) -> usize {
    let outputs = request.outputs().map(|(_, spec)| spec.dtype.size());
    let widest = outputs.chain([product.dtype.accumulator().size()]).max().unwrap_or(4);
    (16 / widest).min(4).min(per_thread[0]).min(per_thread[1])
}

/// The place of an element in the shared slice, and the name of its value.
pub(super) struct Loaded {
    pub(super) inner: Index,
    pub(super) outer: Index,
    pub(super) value: String,
}

/// The elements of a slice of an operand that the threads of a block load: runs of some lanes along what is contiguous
/// in memory.
pub(super) struct Load<'a> {
    pub(super) product: &'a Product,
    /// Which operand.
    pub(super) side: usize,
    /// Extent of the tile along the operand's outer dimension.
    pub(super) tile: usize,
    /// Extent of the slice along the inner dimension.
    pub(super) slice: usize,
    pub(super) inner_contiguous: bool,
    pub(super) lanes: usize,
}

impl Load<'_> {
    pub(super) fn emit(
        &self,
        emit: &mut Emitter<'_>,
        batch: &Index,
        block: &Index,
        slice: &Index,
        thread: &Index,
    ) -> Emit<Vec<Vec<Loaded>>> {
        let Load { product, side, tile, lanes, .. } = *self;
        let depth = self.slice;
        let line = if self.inner_contiguous { depth } else { tile } / lanes;
        let mut runs = Vec::new();
        let before = std::mem::replace(&mut emit.lanes, lanes as i64);
        for round in 0..tile * depth / (THREADS * lanes) {
            let unit = thread.plus((round * THREADS) as i64);
            let (along, across) = (unit.rem(line as i64), unit.div(line as i64));
            // The extent and the tile along and across the lines, the places of this unit there.
            let (outer_extent, inner_extent) = (product.extent(side), product.k);
            let place = |first: &Index, size: usize, unit: &Index, extent: usize| {
                first.times(size as i64).add(unit).limit(extent)
            };
            let mut run = Vec::new();
            for lane in 0..lanes as i64 {
                let widen = |unit: Index| unit.times(lanes as i64).plus(lane);
                let (outer, inner, exists, at) = if self.inner_contiguous {
                    let inside = slice.times((depth / lanes) as i64).add(&along);
                    (
                        place(block, tile, &across, outer_extent),
                        widen(inside.limit(inner_extent / lanes)),
                        emit.inside(&[inside], &Shape::from([inner_extent / lanes])),
                        (widen(along.clone()), across.clone()),
                    )
                } else {
                    let inside = slice.times(depth as i64).add(&across);
                    (
                        widen(place(block, tile / lanes, &along, outer_extent / lanes)),
                        inside.limit(inner_extent),
                        emit.inside(&[inside], &Shape::from([inner_extent])),
                        (across.clone(), widen(along.clone())),
                    )
                };
                let value = product.element(emit, side, batch, &outer, &inner)?;
                let value = match exists.as_str() {
                    "true" => value,
                    // Both operands are zero there: an infinity of one alone would give NaN.
                    test => {
                        let zero = literal(Literal::zero(product.dtype));
                        emit.define(register(product.dtype), "t", format!("{test} ? {value} : {zero}"))
                    }
                };
                run.push(Loaded { inner: at.0, outer: at.1, value });
            }
            runs.push(run);
        }
        emit.lanes = before;
        Ok(runs)
    }

    /// Writes what was loaded into buffer `buffer` of the shared array.
    fn keep(&self, emit: &mut Emitter<'_>, array: &str, buffer: &Index, runs: &[Vec<Loaded>]) {
        let row = self.tile + GAP;
        let ty = register(self.product.dtype);
        for run in runs {
            let at = |l: &Loaded| linear(&[buffer.clone(), l.inner.clone(), l.outer.clone()], &[2, self.slice, row]);
            if !self.inner_contiguous && self.lanes > 1 {
                let at = emit.index(&at(&run[0]));
                let values: Vec<&str> = run.iter().map(|l| l.value.as_str()).collect();
                let lanes = self.lanes;
                emit.line(format!(
                    "mg_store<{lanes}>({array} + {at}, mg_vec<{ty}, {lanes}>{{{{{}}}}});",
                    values.join(", ")
                ));
                continue;
            }
            for loaded in run {
                let at = emit.index(&at(loaded));
                emit.line(format!("{array}[{at}] = {};", loaded.value));
            }
        }
    }
}

pub(super) fn generate(request: &Request<'_>, product: &Product, probe: &Probe) -> Emit<(String, usize, [u32; 3])> {
    let per_thread = per_thread(request, product, probe);
    let group = group(request, product, per_thread);
    let depth = depth(product, per_thread);
    let tile = per_thread.map(|e| e * SIDE);
    let tiles = [product.m.div_ceil(tile[0]), product.n.div_ceil(tile[1])];
    let ty = register(product.dtype);
    let mut emit = request.emitter();
    let index = emit.index_type();

    let arrays = ["sa", "sb"];
    for side in 0..2 {
        emit.line(format!("__shared__ __align__(16) {ty} {}[{}];", arrays[side], 2 * depth * (tile[side] + GAP)));
    }
    emit.line("int t = threadIdx.x;");
    let grid = product.batches * tiles[0] * tiles[1];
    emit.line("unsigned z = blockIdx.x;");
    emit.line(format!("{index} gn = z % {}u;", tiles[1]));
    emit.line(format!("{index} gm = z / {}u % {}u;", tiles[1], tiles[0]));
    emit.line(format!("{index} b = z / {}u;", tiles[0] * tiles[1]));
    let blocks = [emit.variable("gm", tiles[0]), emit.variable("gn", tiles[1])];
    let batch = emit.variable("b", product.batches);
    let thread = emit.variable("t", THREADS);

    let loads: Vec<Load<'_>> = (0..2)
        .map(|side| {
            let inner_contiguous = probe.inner_contiguous[side];
            let extent = if inner_contiguous { product.k } else { product.extent(side) };
            let widest = if product.dtype == DType::F64 || product.dtype == DType::I64 { 2 } else { 4 };
            let mut lanes = widest.min(per_thread[side]);
            while extent % lanes != 0 {
                lanes /= 2;
            }
            Load { product, side, tile: tile[side], slice: depth, inner_contiguous, lanes }
        })
        .collect();

    let sums: Vec<Vec<String>> =
        (0..per_thread[0]).map(|i| (0..per_thread[1]).map(|j| format!("c{i}_{j}")).collect()).collect();
    for row in &sums {
        emit.line(format!("{ty} {};", row.iter().map(|c| format!("{c} = 0")).collect::<Vec<_>>().join(", ")));
    }
    let slices = product.k.div_ceil(depth);
    emit.open("");
    for load in &loads {
        let runs = load.emit(&mut emit, &batch, &blocks[load.side], &Index::default(), &thread)?;
        load.keep(&mut emit, arrays[load.side], &Index::default(), &runs);
    }
    emit.close();
    emit.line("__syncthreads();");
    emit.open(format!("for ({index} s = 0; s < {slices}; ++s)"));
    let slice = emit.variable("s", slices);
    let mut next = Vec::new();
    if slices > 1 {
        for load in &loads {
            // Behind the last slice it is loaded once more, and not used.
            let following = slice.plus(1).limit(slices);
            next.push(load.emit(&mut emit, &batch, &blocks[load.side], &following, &thread)?);
        }
    }
    emit.line("#pragma unroll");
    emit.open(format!("for (int k = 0; k < {depth}; ++k)"));
    for side in 0..2 {
        let row = tile[side] + GAP;
        let lane = if side == 0 { format!("t / {SIDE}") } else { format!("t % {SIDE}") };
        for g in 0..per_thread[side] / group {
            let at = format!("((int)(s % 2) * {depth} + k) * {row} + {} + {lane} * {group}", g * SIDE * group);
            emit.line(format!(
                "mg_vec<{ty}, {group}> {}{g} = mg_load<{group}>({} + {at});",
                ["a", "b"][side],
                arrays[side]
            ));
        }
    }
    for (i, row) in sums.iter().enumerate() {
        for (j, sum) in row.iter().enumerate() {
            let (a, b) = (format!("a{}.x[{}]", i / group, i % group), format!("b{}.x[{}]", j / group, j % group));
            emit.line(format!("{sum} = mg_fma({a}, {b}, {sum});"));
        }
    }
    emit.close();
    if slices > 1 {
        let buffer = slice.plus(1).rem(2);
        for (load, runs) in loads.iter().zip(&next) {
            load.keep(&mut emit, arrays[load.side], &buffer, runs);
        }
        emit.line("__syncthreads();");
    }
    emit.close();

    emit.lanes = group as i64;
    for (i, row) in sums.iter().enumerate() {
        let m = blocks[0].times(tile[0] as i64).add(&thread.div(SIDE as i64).times(group as i64));
        let m = m.plus((i / group * SIDE * group + i % group) as i64);
        let m = guard(&mut emit, m, product.m);
        for (g, group_sums) in row.chunks(group).enumerate() {
            let unit = blocks[1].times((tile[1] / group) as i64).add(&thread.rem(SIDE as i64)).plus((g * SIDE) as i64);
            if product.n.is_multiple_of(group) {
                let unit = guard(&mut emit, unit, product.n / group);
                let at = |j: usize| unit.times(group as i64).plus(j as i64);
                let elements: Vec<_> = group_sums.iter().enumerate().map(|(j, sum)| (at(j), sum.clone())).collect();
                product.finish(request, &mut emit, &batch, &m, &elements)?;
                emit.close();
                continue;
            }
            for (j, sum) in group_sums.iter().enumerate() {
                let n = guard(&mut emit, unit.times(group as i64).plus(j as i64), product.n);
                product.finish(request, &mut emit, &batch, &m, &[(n, sum.clone())])?;
                emit.close();
            }
        }
        emit.close();
    }
    Ok((emit.finish(), grid, [THREADS as u32, 1, 1]))
}

/// Opens a block in which the index, as a variable, lies in `0..extent`.
pub(in crate::codegen) fn guard(emit: &mut Emitter<'_>, index: Index, extent: usize) -> Index {
    let name = emit.fresh("g");
    let text = emit.index(&index);
    let ty = emit.index_type();
    emit.line(format!("{ty} {name} = {text};"));
    emit.open(if index.within(extent) { String::new() } else { format!("if ({name} < {extent})") });
    emit.variable(name, extent)
}
