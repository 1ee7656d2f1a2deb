//! Tiles: a block computes a tile of output channels by windows, a thread some of its elements in registers, from slices
//! of the kernel and of the patches in shared memory. While a slice is used, the next one is loaded.

use super::{Convolution, epilogue};
use crate::codegen::emit::{Emit, Emitter};
use crate::codegen::matmul::guard;
use crate::codegen::types::register;
use crate::codegen::windows::code;
use crate::codegen::{Code, Request};
use crate::index::{Index, delinear, linear};

/// Terms of a slice.
const DEPTH: usize = 16;
/// Threads along each side of the tile.
const SIDE: usize = 16;
const THREADS: usize = SIDE * SIDE;
/// Elements between the rows of shared memory, so that they begin in different banks.
const GAP: usize = 4;
/// Statements of the epilogues of one thread.
const EPILOGUE_STATEMENTS: usize = 1_500;

/// How a convolution is cut: sides are output channels and windows.
struct Tiling {
    /// Elements of a thread along each side.
    per_thread: usize,
    /// Adjacent elements that a thread reads from shared memory, and stores, together.
    vector: usize,
    /// Extent of a tile along each side.
    tile: usize,
    /// Tiles along each side.
    tiles: [usize; 2],
    slices: usize,
}

impl Tiling {
    /// The greatest tile that still gives every multiprocessor a block.
    fn of(request: &Request<'_>, convolution: &Convolution) -> Emit<Tiling> {
        let columns = convolution.batch * convolution.area();
        let tiles = |per_thread: usize| {
            let tile = per_thread * SIDE;
            [convolution.outputs.div_ceil(tile), columns.div_ceil(tile)]
        };
        let epilogue = epilogue(request, convolution)?;
        let fits = |&per_thread: &usize| {
            let [rows, columns] = tiles(per_thread);
            let enough = convolution.groups * rows * columns >= request.target.multiprocessors as usize;
            enough && per_thread * per_thread * epilogue <= EPILOGUE_STATEMENTS
        };
        let per_thread = [4, 2].into_iter().find(fits).unwrap_or(1);
        let outputs = request.outputs().map(|(_, spec)| spec.dtype.size());
        let widest = outputs.chain([convolution.dtype.accumulator().size()]).max().unwrap_or(4);
        Ok(Tiling {
            per_thread,
            vector: (16 / widest).min(4).min(per_thread),
            tile: per_thread * SIDE,
            tiles: tiles(per_thread),
            slices: convolution.terms().div_ceil(DEPTH),
        })
    }

    /// The thread's element `j` along a side of a block's tile, counted from the beginning of the tile.
    fn element(&self, thread: &Index, j: usize) -> Index {
        let within = (j / self.vector * SIDE * self.vector + j % self.vector) as i64;
        thread.times(self.vector as i64).plus(within)
    }

    /// Elements of a row of a slice in shared memory.
    fn row(&self) -> usize {
        self.tile + GAP
    }
}

/// What the loads of a block know of their place.
struct Loads<'a> {
    convolution: &'a Convolution,
    tiling: &'a Tiling,
    thread: Index,
    group: Index,
    /// The first output channel of the tile, in its group.
    first_row: Index,
    /// The batch and the window of the one column that the thread loads.
    n: Index,
    at: Vec<Index>,
}

/// Elements of a slice that a thread loads, each with its place in shared memory.
type Loaded = Vec<(Index, String)>;

impl Loads<'_> {
    /// The terms as channel and element of the window, limited to those that are there, and whether they are.
    fn term(&self, emit: &mut Emitter<'_>, term: &Index) -> (Index, Vec<Index>, String) {
        let terms = self.convolution.terms();
        let exists = emit.within(term, terms);
        let mut extents = vec![self.convolution.channels];
        extents.extend(self.convolution.place.sizes.iter());
        let mut index = delinear(&term.limit(terms), &extents);
        (index.remove(0), index, exists)
    }

    /// The kernel's part of a slice. Neighbours load neighbours along the terms, which are so in memory.
    fn kernel(&self, emit: &mut Emitter<'_>, slice: &Index) -> Emit<Loaded> {
        let Loads { convolution, tiling, thread, .. } = self;
        let mut loaded = Vec::new();
        for round in 0..tiling.tile * DEPTH / THREADS {
            let (inner, row) = (thread.rem(DEPTH as i64), thread.div(DEPTH as i64));
            let row = row.plus((round * THREADS / DEPTH) as i64);
            let (c, tap, exists) = self.term(emit, &slice.times(DEPTH as i64).add(&inner));
            let o = self.first_row.add(&row).limit(convolution.outputs);
            let o = self.group.times(convolution.outputs as i64).add(&o);
            let value = convolution.weight(emit, [&o, &c], &tap, &exists)?;
            loaded.push((linear(&[inner, row], &[DEPTH, tiling.row()]), value));
        }
        Ok(loaded)
    }

    /// The patches' part of a slice. Neighbours load neighbouring windows.
    fn patches(&self, emit: &mut Emitter<'_>, slice: &Index) -> Emit<Loaded> {
        let Loads { convolution, tiling, thread, .. } = self;
        let (column, first) = (thread.rem(tiling.tile as i64), thread.div(tiling.tile as i64));
        let mut loaded = Vec::new();
        for round in 0..tiling.tile * DEPTH / THREADS {
            let inner = first.plus((round * (THREADS / tiling.tile)) as i64);
            let (c, tap, exists) = self.term(emit, &slice.times(DEPTH as i64).add(&inner));
            let value = convolution.patch(emit, [&self.n, &self.group, &c], &self.at, &tap, &exists)?;
            loaded.push((linear(&[inner, column.clone()], &[DEPTH, tiling.row()]), value));
        }
        Ok(loaded)
    }
}

/// Writes what was loaded into one of the two buffers of a shared array.
fn keep(emit: &mut Emitter<'_>, tiling: &Tiling, array: &str, buffer: &Index, loaded: &Loaded) {
    for (place, value) in loaded {
        let at = emit.index(&buffer.times((DEPTH * tiling.row()) as i64).add(place));
        emit.line(format!("{array}[{at}] = {value};"));
    }
}

pub(super) fn generate(request: &Request<'_>, convolution: &Convolution) -> Emit<Code> {
    let tiling = Tiling::of(request, convolution)?;
    let Tiling { per_thread, vector, tile, tiles, slices } = tiling;
    let ty = register(convolution.dtype);
    let columns = convolution.batch * convolution.area();
    let mut emit = request.emitter();
    let index = emit.index_type();
    for array in ["sw", "sx"] {
        emit.line(format!("__shared__ __align__(16) {ty} {array}[{}];", 2 * DEPTH * tiling.row()));
    }
    emit.line("int t = threadIdx.x;");
    emit.line("unsigned z = blockIdx.x;");
    emit.line(format!("{index} bn = z % {}u;", tiles[1]));
    emit.line(format!("{index} bm = z / {}u % {}u;", tiles[1], tiles[0]));
    emit.line(format!("{index} g = z / {}u;", tiles[0] * tiles[1]));
    let block = [emit.variable("bm", tiles[0]), emit.variable("bn", tiles[1])];
    let group = emit.variable("g", convolution.groups);
    let thread = emit.variable("t", THREADS);
    let first = block.map(|b| b.times(tile as i64));

    // The column that a thread loads stays the same, so its batch and window are computed once.
    let column = first[1].add(&thread.rem(tile as i64)).limit(columns);
    let column = emit.index(&column);
    emit.line(format!("{index} lc = {column};"));
    let column = emit.variable("lc", columns);
    let mut place = delinear(&column, &[&[convolution.batch][..], &convolution.windows].concat());
    for part in &place {
        emit.index(part);
    }
    let n = place.remove(0);
    let loads = Loads {
        convolution,
        tiling: &tiling,
        thread: thread.clone(),
        group: group.clone(),
        first_row: first[0].clone(),
        n,
        at: place,
    };

    let sums: Vec<Vec<String>> =
        (0..per_thread).map(|i| (0..per_thread).map(|j| format!("c{i}_{j}")).collect()).collect();
    for row in &sums {
        emit.line(format!("{ty} {};", row.iter().map(|c| format!("{c} = 0")).collect::<Vec<_>>().join(", ")));
    }
    emit.open("");
    let start = Index::default();
    let loaded = [("sw", loads.kernel(&mut emit, &start)?), ("sx", loads.patches(&mut emit, &start)?)];
    for (array, loaded) in &loaded {
        keep(&mut emit, &tiling, array, &start, loaded);
    }
    emit.close();
    emit.line("__syncthreads();");
    emit.open(format!("for ({index} s = 0; s < {slices}; ++s)"));
    let slice = emit.variable("s", slices);
    let mut next = Vec::new();
    if slices > 1 {
        // Behind the last slice it is loaded once more, and not used.
        let following = slice.plus(1).limit(slices);
        next.push(("sw", loads.kernel(&mut emit, &following)?));
        next.push(("sx", loads.patches(&mut emit, &following)?));
    }
    multiply(&mut emit, &tiling, ty, &sums);
    if slices > 1 {
        let buffer = slice.plus(1).rem(2);
        for (array, loaded) in &next {
            keep(&mut emit, &tiling, array, &buffer, loaded);
        }
        emit.line("__syncthreads();");
    }
    emit.close();

    // Vectors of windows that lie in one channel of one element of the batch.
    let whole = convolution.area().is_multiple_of(vector);
    let lanes = if whole { vector } else { 1 };
    emit.lanes = lanes as i64;
    let [down, across] = [thread.div(SIDE as i64), thread.rem(SIDE as i64)];
    for (i, row) in sums.iter().enumerate() {
        let m = guard(&mut emit, first[0].add(&tiling.element(&down, i)), convolution.outputs);
        let o = group.times(convolution.outputs as i64).add(&m);
        for j in (0..per_thread).step_by(lanes) {
            let column = first[1].add(&tiling.element(&across, j));
            let unit = guard(&mut emit, column.div(lanes as i64), columns / lanes);
            let units = convolution.area() / lanes;
            let (n, unit) = (unit.div(units as i64), unit.rem(units as i64));
            let window = |lane: usize| unit.times(lanes as i64).plus(lane as i64);
            let elements: Vec<_> = (0..lanes).map(|lane| (window(lane), row[j + lane].clone())).collect();
            convolution.finish(request, &mut emit, [&n, &o], &elements)?;
            emit.close();
        }
        emit.close();
    }
    let domain = request.body.spec(convolution.value).shape.clone();
    code(request, domain, emit, convolution.groups * tiles[0] * tiles[1], THREADS)
}

/// Adds the products of the current slice to a thread's sums.
fn multiply(emit: &mut Emitter<'_>, tiling: &Tiling, ty: &str, sums: &[Vec<String>]) {
    let Tiling { per_thread, vector, .. } = *tiling;
    emit.line("#pragma unroll");
    emit.open(format!("for (int k = 0; k < {DEPTH}; ++k)"));
    for (array, name, lane) in [("sw", 'a', format!("t / {SIDE}")), ("sx", 'b', format!("t % {SIDE}"))] {
        for v in 0..per_thread / vector {
            let row = tiling.row();
            let at = format!("((int)(s % 2) * {DEPTH} + k) * {row} + {} + {lane} * {vector}", v * SIDE * vector);
            emit.line(format!("mg_vec<{ty}, {vector}> {name}{v} = mg_load<{vector}>({array} + {at});"));
        }
    }
    for (i, row) in sums.iter().enumerate() {
        for (j, sum) in row.iter().enumerate() {
            let (a, b) = (format!("a{}.x[{}]", i / vector, i % vector), format!("b{}.x[{}]", j / vector, j % vector));
            emit.line(format!("{sum} = mg_fma({a}, {b}, {sum});"));
        }
    }
    emit.close();
}
