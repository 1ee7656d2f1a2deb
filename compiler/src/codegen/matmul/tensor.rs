//! Tiles of `f16` and `bf16` with tensor cores: as [`tiled`](super::tiled), but the warps of a block multiply 16 × 16 by
//! 16 × 8 elements at a time, accumulating in `float`.

use super::tiled::{Load, Loaded, THREADS, guard};
use super::{Probe, Product};
use crate::codegen::Request;
use crate::codegen::emit::{Emit, Emitter};
use crate::index::{Index, linear};
use monograph_ir::DType;

/// Extent of a slice along the inner dimension: two steps of the tensor cores.
const SLICE: usize = 32;
/// The inner extent of one step.
const STEP: usize = 16;
/// Elements between the rows of shared memory, so that eight rows of eight lie in different banks.
const GAP: usize = 8;
/// Warps along the sides of the tile.
const WARPS: [usize; 2] = [2, 4];
/// Statements of the epilogues of one thread.
const EPILOGUE_STATEMENTS: usize = 2_500;

/// Whether the target has the tensor cores and the product fits them.
pub(super) fn serves(request: &Request<'_>, product: &Product) -> bool {
    let number = request.target.arch.trim_start_matches("sm_").trim_end_matches(|c: char| c.is_alphabetic());
    let modern = number.parse::<u32>().is_ok_and(|n| n >= 80);
    modern && matches!(product.dtype, DType::F16 | DType::BF16)
}

/// The greatest tile that still gives every multiprocessor a block.
fn tile(request: &Request<'_>, product: &Product, probe: &Probe) -> [usize; 2] {
    let fits = |[m, n]: &[usize; 2]| {
        let blocks = product.m.div_ceil(*m) * product.n.div_ceil(*n) * product.batches;
        let enough = blocks >= request.target.multiprocessors as usize;
        enough && m * n / THREADS * probe.epilogue <= EPILOGUE_STATEMENTS
    };
    [[128, 128], [128, 64], [64, 64]].into_iter().find(fits).unwrap_or([32, 64])
}

/// Elements of the shared array between neighbours along the outer and the inner dimension, for one buffer its size.
struct Layout {
    outer: usize,
    inner: usize,
    size: usize,
}

impl Layout {
    fn of(load: &Load<'_>) -> Layout {
        match load.inner_contiguous {
            true => Layout { outer: SLICE + GAP, inner: 1, size: load.tile * (SLICE + GAP) },
            false => Layout { outer: 1, inner: load.tile + GAP, size: SLICE * (load.tile + GAP) },
        }
    }
}

fn keep(emit: &mut Emitter<'_>, load: &Load<'_>, array: &str, buffer: &Index, runs: &[Vec<Loaded>]) {
    let layout = Layout::of(load);
    for run in runs {
        let Some(first) = run.first() else { continue };
        let at = buffer
            .times(layout.size as i64)
            .add(&first.outer.times(layout.outer as i64))
            .add(&first.inner.times(layout.inner as i64));
        let at = emit.index(&at);
        let elements: Vec<String> = run.iter().map(|l| emit.raw(load.product.dtype, &l.value)).collect();
        match &elements[..] {
            [one] => emit.line(format!("{array}[{at}] = {one};")),
            many => {
                let lanes = many.len();
                let list = many.join(", ");
                emit.line(format!("mg_store<{lanes}>({array} + {at}, mg_vec<unsigned short, {lanes}>{{{{{list}}}}});"));
            }
        }
    }
}

pub(super) fn generate(request: &Request<'_>, product: &Product, probe: &Probe) -> Emit<(String, usize, [u32; 3])> {
    let tile = tile(request, product, probe);
    let tiles = [product.m.div_ceil(tile[0]), product.n.div_ceil(tile[1])];
    let name = product.dtype.name();
    let mut emit = request.emitter();
    let index = emit.index_type();
    let loads: Vec<Load<'_>> = (0..2)
        .map(|side| {
            let inner_contiguous = probe.inner_contiguous[side];
            let extent = if inner_contiguous { product.k } else { product.extent(side) };
            let mut lanes = (tile[side] * SLICE / THREADS).min(8);
            while extent % lanes != 0 || (lanes > 1 && lanes * probe.prologue > 500) {
                lanes /= 2;
            }
            Load { product, side, tile: tile[side], slice: SLICE, inner_contiguous, lanes }
        })
        .collect();
    let layouts: Vec<Layout> = loads.iter().map(Layout::of).collect();

    let arrays = ["sa", "sb"];
    for side in 0..2 {
        emit.line(format!("__shared__ __align__(16) unsigned short {}[{}];", arrays[side], 2 * layouts[side].size));
    }
    emit.line("int t = threadIdx.x;");
    emit.line("unsigned z = blockIdx.x;");
    emit.line(format!("{index} gn = z % {}u;", tiles[1]));
    emit.line(format!("{index} gm = z / {}u % {}u;", tiles[1], tiles[0]));
    emit.line(format!("{index} b = z / {}u;", tiles[0] * tiles[1]));
    let blocks = [emit.variable("gm", tiles[0]), emit.variable("gn", tiles[1])];
    let batch = emit.variable("b", product.batches);
    let thread = emit.variable("t", THREADS);

    // Of each warp: its part of the tile, and where its lane's row of the matrices to load begins.
    let part = [tile[0] / WARPS[0], tile[1] / WARPS[1]];
    let across = [part[0] / 16, part[1] / 8];
    emit.line(format!("int wm = t / 32 / {}, wn = t / 32 % {};", WARPS[1], WARPS[1]));
    let start = |side: usize| {
        // Of the second operand, two 16 x 8 matrices are loaded as one 16 x 16.
        let (outer, inner) = match side {
            0 => ("(t % 8 + t / 8 % 2 * 8)", "(t % 32 / 16 * 8)"),
            _ => ("(t % 8 + t % 32 / 16 * 8)", "(t / 8 % 2 * 8)"),
        };
        let (outer, inner) = match (loads[side].inner_contiguous, side) {
            (true, _) => (outer, inner),
            (false, 0) => ("(t / 8 % 2 * 8)", "(t % 8 + t % 32 / 16 * 8)"),
            (false, _) => ("(t % 32 / 16 * 8)", "(t % 8 + t / 8 % 2 * 8)"),
        };
        let warp = ["wm", "wn"][side];
        format!("({warp} * {} + {outer}) * {} + {inner} * {}", part[side], layouts[side].outer, layouts[side].inner)
    };
    emit.line(format!("const unsigned short* pa = sa + {};", start(0)));
    emit.line(format!("const unsigned short* pb = sb + {};", start(1)));
    for i in 0..across[0] {
        for j in 0..across[1] {
            emit.line(format!("float c{i}_{j}[4] = {{0.0f, 0.0f, 0.0f, 0.0f}};"));
        }
    }

    let slices = product.k.div_ceil(SLICE);
    emit.open("");
    for load in &loads {
        let runs = load.emit(&mut emit, &batch, &blocks[load.side], &Index::default(), &thread)?;
        keep(&mut emit, load, arrays[load.side], &Index::default(), &runs);
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
    emit.open(format!("for (int k = 0; k < {SLICE}; k += {STEP})"));
    for (side, count) in [(0, across[0]), (1, across[1] / 2)] {
        let layout = &layouts[side];
        let function = if loads[side].inner_contiguous { "mg_ldmatrix" } else { "mg_ldmatrix_trans" };
        let letter = ["a", "b"][side];
        for i in 0..count {
            emit.line(format!("unsigned {letter}{i}[4];"));
            let at = format!("(int)(s % 2) * {} + k * {} + {}", layout.size, layout.inner, i * 16 * layout.outer);
            emit.line(format!("{function}({letter}{i}, p{letter} + {at});"));
        }
    }
    for i in 0..across[0] {
        for j in 0..across[1] {
            let (b, first) = (j / 2, j % 2 * 2);
            emit.line(format!("mg_mma_{name}(c{i}_{j}, a{i}, b{b}[{first}], b{b}[{}]);", first + 1));
        }
    }
    emit.close();
    if slices > 1 {
        let buffer = slice.plus(1).rem(2);
        for (load, runs) in loads.iter().zip(&next) {
            keep(&mut emit, load, arrays[load.side], &buffer, runs);
        }
        emit.line("__syncthreads();");
    }
    emit.close();

    // A lane has pairs of neighbours, in a row and in the eighth row below.
    let lane = thread.rem(32);
    let warp = thread.div(32);
    let pairs = product.n.is_multiple_of(2);
    emit.lanes = if pairs { 2 } else { 1 };
    for i in 0..across[0] {
        for half in 0..2 {
            let m =
                linear(&[blocks[0].clone(), warp.div(WARPS[1] as i64), lane.div(4)], &[tiles[0], WARPS[0], part[0]]);
            // The lane's row is within the warp's part: 16 rows a matrix.
            let m = m.plus((i * 16 + half * 8) as i64);
            let m = guard(&mut emit, m, product.m);
            for j in 0..across[1] {
                let unit = linear(
                    &[blocks[1].clone(), warp.rem(WARPS[1] as i64), lane.rem(4)],
                    &[tiles[1], WARPS[1], part[1] / 2],
                );
                let unit = unit.plus((j * 4) as i64);
                let sum = |e: usize| format!("c{i}_{j}[{}]", half * 2 + e);
                if pairs {
                    let unit = guard(&mut emit, unit, product.n / 2);
                    let elements: Vec<_> = (0..2).map(|e| (unit.times(2).plus(e as i64), sum(e))).collect();
                    product.finish(request, &mut emit, &batch, &m, &elements)?;
                    emit.close();
                    continue;
                }
                for e in 0..2 {
                    let n = guard(&mut emit, unit.times(2).plus(e as i64), product.n);
                    product.finish(request, &mut emit, &batch, &m, &[(n, sum(e))])?;
                    emit.close();
                }
            }
            emit.close();
        }
    }
    Ok((emit.finish(), product.batches * tiles[0] * tiles[1], [THREADS as u32, 1, 1]))
}
