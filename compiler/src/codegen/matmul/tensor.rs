//! Tiles of `f16` and `bf16` with tensor cores: as [`tiled`](super::tiled), but the warps of a block multiply 16 × 16 by
//! 16 × 8 elements at a time, accumulating in `float`.

use super::stage::{Place, SLICE, Stage, stages};
use super::tiled::{THREADS, guard};
use super::{Probe, Product};
use crate::codegen::Request;
use crate::codegen::emit::{Emit, Emitter};
use crate::index::{Index, linear};
use monograph_ir::DType;

/// The inner extent of one step.
const STEP: usize = 16;
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

pub(super) fn generate(request: &Request<'_>, product: &Product, probe: &Probe) -> Emit<(String, usize, [u32; 3])> {
    let tile = tile(request, product, probe);
    let tiles = [product.m.div_ceil(tile[0]), product.n.div_ceil(tile[1])];
    let stages = stages(request, product, probe, tile)?;
    let mut emit = request.emitter();
    let index = emit.index_type();

    for stage in &stages {
        stage.declare(&mut emit);
    }
    emit.line("int t = threadIdx.x;");
    emit.line("unsigned z = blockIdx.x;");
    emit.line(format!("{index} gn = z % {}u;", tiles[1]));
    emit.line(format!("{index} gm = z / {}u % {}u;", tiles[1], tiles[0]));
    emit.line(format!("{index} b = z / {}u;", tiles[0] * tiles[1]));
    let blocks = [emit.variable("gm", tiles[0]), emit.variable("gn", tiles[1])];
    let batch = emit.variable("b", product.batches);
    let thread = emit.variable("t", THREADS);

    // Each warp has a part of the tile.
    let part = [tile[0] / WARPS[0], tile[1] / WARPS[1]];
    let across = [part[0] / 16, part[1] / 8];
    stages[0].declare_fragments(&mut emit, &format!("t / {} * {}", 32 * WARPS[1], part[0]));
    stages[1].declare_fragments(&mut emit, &format!("t / 32 % {} * {}", WARPS[1], part[1]));
    for i in 0..across[0] {
        for j in 0..across[1] {
            emit.line(format!("float c{i}_{j}[4] = {{0.0f, 0.0f, 0.0f, 0.0f}};"));
        }
    }

    let places = blocks.each_ref().map(|block| Place { batch: &batch, block });
    slices(product, &mut emit, &stages, &places, &thread, across)?;

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

/// The loop over the slices of the inner dimension. One barrier a slice: behind it all threads see the slice, and none
/// reads the one before any more, whose buffers are filled next.
fn slices(
    product: &Product,
    emit: &mut Emitter<'_>,
    stages: &[Stage<'_>; 2],
    places: &[Place<'_>; 2],
    thread: &Index,
    across: [usize; 2],
) -> Emit<()> {
    let index = emit.index_type();
    let slices = product.k.div_ceil(SLICE);
    let copied: Vec<_> = stages.iter().zip(places).filter(|(stage, _)| stage.copied).collect();
    let loaded: Vec<_> = stages.iter().zip(places).filter(|(stage, _)| !stage.copied).collect();
    let ahead = copied.first().map_or(0, |(stage, _)| stage.ahead());

    // Each slice is a group of copies, one behind the last slice an empty group.
    for slice in 0..ahead {
        if slice < slices {
            for (stage, place) in &copied {
                stage.copy(emit, place, &Index::constant(slice as i64))?;
            }
        }
        emit.line("mg_async_commit();");
    }
    for (stage, place) in &loaded {
        emit.open("");
        let runs = stage.load(emit, place, &Index::default(), thread)?;
        stage.keep(emit, &Index::default(), &runs);
        emit.close();
    }

    // Written out, the few slices of a short inner dimension would take more registers than there are.
    emit.line("#pragma unroll 1");
    emit.open(format!("for ({index} s = 0; s < {slices}; ++s)"));
    let slice = emit.variable("s", slices);
    if ahead > 0 {
        emit.line(format!("mg_async_wait<{}>();", ahead - 1));
    }
    emit.line("__syncthreads();");
    if slices > ahead && ahead > 0 {
        emit.open(format!("if (s + {ahead} < {slices})"));
        emit.line(format!("{index} n = s + {ahead};"));
        let next = emit.variable("n", slices);
        for (stage, place) in &copied {
            stage.copy(emit, place, &next)?;
        }
        emit.close();
    }
    if ahead > 0 {
        emit.line("mg_async_commit();");
    }
    let mut next = Vec::new();
    if slices > 1 {
        for (stage, place) in &loaded {
            // Behind the last slice it is loaded once more, and not used.
            next.push(stage.load(emit, place, &slice.plus(1).limit(slices), thread)?);
        }
    }
    let buffers = stages.each_ref().map(|stage| stage.buffer(emit, &slice));
    emit.line("#pragma unroll");
    emit.open(format!("for (int k = 0; k < {SLICE}; k += {STEP})"));
    for j in 0..across[1] / 2 {
        stages[1].fragment(emit, j, &buffers[1]);
    }
    let name = product.dtype.name();
    for i in 0..across[0] {
        stages[0].fragment(emit, i, &buffers[0]);
        for j in 0..across[1] {
            let (b, first) = (j / 2, j % 2 * 2);
            emit.line(format!("mg_mma_{name}(c{i}_{j}, a{i}, b{b}[{first}], b{b}[{}]);", first + 1));
        }
    }
    emit.close();
    for ((stage, _), runs) in loaded.iter().zip(&next) {
        stage.keep(emit, &slice.plus(1), runs);
    }
    emit.close();
    Ok(())
}
