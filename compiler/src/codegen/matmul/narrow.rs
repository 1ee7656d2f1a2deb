//! Results with a short side, matrix times vector among them: every element of the greater operand is read once, by
//! the thread that multiplies it with all elements of the other that it meets.

use super::{Probe, Product};
use crate::codegen::Request;
use crate::codegen::emit::Emit;
use crate::codegen::types::register;
use monograph_ir::DType;

/// Threads of a block.
const THREADS: usize = 256;

pub(super) fn generate(request: &Request<'_>, product: &Product, probe: &Probe) -> Emit<(String, usize, [u32; 3])> {
    let long = usize::from(product.m <= product.n);
    let short = 1 - long;
    let (extent, count) = (product.extent(long), product.extent(short));
    let inner_contiguous = probe.inner_contiguous[long];
    let ty = register(product.dtype);
    let mut emit = request.emitter();
    let index = emit.index_type();

    // Adjacent elements of a thread: along the inner dimension or along the long side.
    let along = if inner_contiguous { product.k } else { extent };
    let mut lanes = match product.dtype {
        DType::F64 | DType::I64 => 2,
        DType::F16 | DType::BF16 if inner_contiguous => 8,
        _ => 4,
    };
    while along % lanes != 0 || (lanes > 1 && lanes * count * probe.prologue > 1_000) {
        lanes /= 2;
    }
    // Units of the long side in a block, and threads that share the inner dimension of each.
    let multiprocessors = request.target.multiprocessors as usize;
    let units = match inner_contiguous {
        true if product.batches * extent >= 8 * multiprocessors => 8,
        true if product.batches * extent >= 2 * multiprocessors => 2,
        true => 1,
        false => 8,
    };
    let sharing = THREADS / units;
    let inner_units = product.k / if inner_contiguous { lanes } else { 1 };
    let columns = if inner_contiguous { 1 } else { lanes };
    let blocks = extent.div_ceil(units * columns);

    emit.lanes = lanes as i64;
    emit.line("int t = threadIdx.x;");
    emit.line("unsigned z = blockIdx.x;");
    emit.line(format!("{index} g = z % {blocks}u;"));
    emit.line(format!("{index} b = z / {blocks}u;"));
    let block = emit.variable("g", blocks);
    let batch = emit.variable("b", product.batches);
    let thread = emit.variable("t", THREADS);
    // Neighbours along what is contiguous are neighbours in a warp.
    let (unit, lane) = match inner_contiguous {
        true => (thread.div(sharing as i64), thread.rem(sharing as i64)),
        false => (thread.rem(units as i64), thread.div(units as i64)),
    };
    let outer = block.times(units as i64).add(&unit).limit(extent / columns);

    let sums: Vec<Vec<String>> = (0..count).map(|q| (0..columns).map(|j| format!("c{q}_{j}")).collect()).collect();
    for row in &sums {
        emit.line(format!("{ty} {};", row.iter().map(|c| format!("{c} = 0")).collect::<Vec<_>>().join(", ")));
    }
    let start = emit.index(&lane);
    emit.line(if count * lanes <= 16 { "#pragma unroll 4" } else { "#pragma unroll 1" });
    emit.open(format!("for ({index} u = {start}; u < {inner_units}; u += {sharing})"));
    let inner_unit = emit.variable("u", inner_units);
    let inner_lanes = if inner_contiguous { lanes } else { 1 };
    for i in 0..inner_lanes as i64 {
        let inner = inner_unit.times(inner_lanes as i64).plus(i);
        for j in 0..columns as i64 {
            let outer = outer.times(columns as i64).plus(j);
            let x = product.element(&mut emit, long, &batch, &outer, &inner)?;
            for (q, row) in sums.iter().enumerate() {
                let y = product.element(&mut emit, short, &batch, &crate::index::Index::constant(q as i64), &inner)?;
                let sum = &row[j as usize];
                emit.line(format!("{sum} = mg_fma({x}, {y}, {sum});"));
            }
        }
    }
    emit.close();

    // Lanes of a warp that share a unit: all, or every eighth. Then the warps meet in shared memory.
    let offsets: &[usize] = if inner_contiguous { &[16, 8, 4, 2, 1] } else { &[16, 8] };
    for sum in sums.iter().flatten() {
        for offset in offsets {
            emit.line(format!("{sum} = mg_add({sum}, mg_shfl_xor({sum}, {offset}));"));
        }
    }
    let warps = THREADS / 32;
    let parts = if inner_contiguous { sharing / 32 } else { warps };
    let outputs = count * units * columns;
    emit.line(format!("__shared__ {ty} s[{}];", parts * outputs));
    let (writer, place) = match inner_contiguous {
        true => ("t % 32 == 0".to_string(), format!("t / 32 % {parts} * {outputs} + t / {sharing}")),
        false => (format!("t % 32 < {units}"), format!("t / 32 * {outputs} + t % {units} * {columns}")),
    };
    emit.open(format!("if ({writer})"));
    for (q, row) in sums.iter().enumerate() {
        for (j, sum) in row.iter().enumerate() {
            emit.line(format!("s[{place} + {}] = {sum};", q * units * columns + j));
        }
    }
    emit.close();
    emit.line("__syncthreads();");
    emit.lanes = 1;
    emit.open(format!("for (int e = t; e < {outputs}; e += {THREADS})"));
    emit.line(format!("{index} p = g * {} + e % {};", units * columns, units * columns));
    emit.line(format!("{index} q = e / {};", units * columns));
    let within = extent % (units * columns) == 0;
    emit.open(if within { String::new() } else { format!("if (p < {extent})") });
    emit.line(format!("{ty} sum = s[e];"));
    emit.line(format!("for (int w = 1; w < {parts}; ++w) sum = mg_add(sum, s[w * {outputs} + e]);"));
    let (p, q) = (emit.variable("p", extent), emit.variable("q", count));
    let (m, n) = if long == 0 { (p, q) } else { (q, p) };
    product.finish(request, &mut emit, &batch, &m, &[(n, "sum".to_string())])?;
    emit.close();
    emit.close();
    Ok((emit.finish(), product.batches * blocks, [THREADS as u32, 1, 1]))
}
