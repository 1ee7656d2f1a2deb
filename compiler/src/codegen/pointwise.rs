//! Kernels that compute each element of their outputs from elements alone: a thread an element, or a thread a vector.

use super::emit::{Emit, Emitter, refuse};
use super::{Code, Request};
use crate::index::{Index, delinear};
use monograph_ir::plan::IndexMap;

/// Blocks of a grid's x dimension.
const MAX_GRID_X: usize = i32::MAX as usize;

/// Statements of all lanes together beyond which a thread handles fewer elements.
const LANE_STATEMENTS: usize = 1_200;

/// Whether the body has pointwise code, by writing it for one element.
pub(super) fn check(request: &Request<'_>) -> Emit<()> {
    scalar(request).map(drop)
}

/// The number of points: the size of every output.
fn points(request: &Request<'_>) -> Emit<usize> {
    let mut sizes = request.outputs().map(|(_, spec)| spec.shape.size());
    let Some(first) = sizes.next() else { return refuse("a kernel without an output") };
    if sizes.any(|n| n != first) {
        return refuse("the outputs differ in their number of elements");
    }
    if first == 0 { refuse("an output without elements") } else { Ok(first) }
}

/// The code for one element: what it costs, and where it reads.
fn scalar<'a>(request: &Request<'a>) -> Emit<(usize, Emitter<'a>)> {
    let n = points(request)?;
    let mut emit = request.emitter();
    let point = emit.variable("n", n);
    for (value, spec) in request.outputs() {
        emit.value(value, &delinear(&point, &spec.shape))?;
    }
    Ok((n, emit))
}

pub(super) fn generate(request: &Request<'_>) -> Emit<Code> {
    let (n, probe) = scalar(request)?;
    let reads = probe.positions.iter().map(|positions| match positions.first() {
        Some(position) if positions.len() == 1 => match position.affine(1) {
            // A vector of lanes that starts elsewhere than at its own points reads those of other threads.
            Some((0, strides)) => IndexMap::Affine { offset: 0, strides },
            _ => IndexMap::Any,
        },
        _ => IndexMap::Any,
    });
    let reads: Vec<IndexMap> = reads.collect();
    let lanes = lanes(request, n, probe.statements());

    let mut emit = request.emitter();
    emit.lanes = lanes as i64;
    let vectors = n / lanes;
    let block = if vectors >= 256 * request.target.multiprocessors as usize { 256 } else { 128 };
    let blocks = vectors.div_ceil(block);
    let grid = blocks.min(MAX_GRID_X);
    let (ty, unsigned) = match emit.index_type() {
        "int" => ("int", "unsigned"),
        wide => (wide, "mg_u64"),
    };
    emit.line(format!("{ty} n = ({ty})(({unsigned})blockIdx.x * {block}u + threadIdx.x);"));
    let again = grid < blocks;
    if again {
        emit.open(format!("for (; n < {vectors}ll; n += ({ty}){grid} * {block})"));
    } else if !vectors.is_multiple_of(block) {
        emit.line(format!("if (n >= {vectors}) return;"));
    }
    let first = emit.variable("n", vectors).times(lanes as i64);
    let mut elements = vec![Vec::with_capacity(lanes); request.body.outputs().len()];
    for lane in 0..lanes {
        for ((value, spec), elements) in request.outputs().zip(&mut elements) {
            let point = if vectors == 1 { Index::constant(lane as i64) } else { first.plus(lane as i64) };
            elements.push(emit.value(value, &delinear(&point, &spec.shape))?);
        }
    }
    // All loads come before the first store: an output may lie where an input lay.
    for (number, ((_, spec), elements)) in request.outputs().zip(&elements).enumerate() {
        emit.store(number, spec.dtype, &first, elements);
    }
    if again {
        emit.close();
    }
    let line = IndexMap::Affine { offset: 0, strides: vec![if n == 1 { 0 } else { 1 }] };
    Ok(Code {
        domain: vec![n].into(),
        reads,
        writes: vec![line; request.body.outputs().len()],
        text: emit.finish(),
        grid: grid as u32,
        block: [block as u32, 1, 1],
    })
}

/// Elements of a thread: as many as fill 16 bytes of the widest tensor that the domain walks through, where their
/// number divides the domain, and fewer for long bodies.
fn lanes(request: &Request<'_>, n: usize, statements: usize) -> usize {
    let size = |spec: &monograph_ir::Spec| spec.dtype.size();
    let outputs = request.outputs().map(|(_, spec)| size(spec));
    let inputs = request.body.params().iter().filter(|p| p.spec.shape.size() >= n).map(|p| size(&p.spec));
    let widest = outputs.chain(inputs).max().unwrap_or(4);
    let mut lanes = (16 / widest).min(8);
    while lanes > 1 && (!n.is_multiple_of(lanes) || lanes * statements > LANE_STATEMENTS) {
        lanes /= 2;
    }
    lanes
}
