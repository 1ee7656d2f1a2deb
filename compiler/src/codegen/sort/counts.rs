//! The first kernel of a pass of a radix sort: each block counts the digits of its tile, each warp for itself by
//! looking for equal digits among its lanes, so that no counter has two writers at a time.

use super::{Pass, THREADS, WARPS, anchor, store};
use crate::codegen::emit::{Emit, refuse};
use crate::codegen::{Code, Request};
use crate::index::linear;
use monograph_ir::plan::IndexMap;
use monograph_ir::{Op, ValueId};

struct Counts {
    value: ValueId,
    operand: ValueId,
    pass: Pass,
}

impl Counts {
    fn of(request: &Request<'_>) -> Emit<Counts> {
        let (value, node) = anchor(request, |op| matches!(op, Op::DigitCounts { .. }))?;
        let Op::DigitCounts { shift, tile } = node.op else { return refuse("no counts") };
        Ok(Counts { value, operand: node.operands[0], pass: Pass::of(request, node, shift, tile)? })
    }
}

/// Whether the body has code of this family, by computing each of its values once.
pub(in crate::codegen) fn check(request: &Request<'_>) -> Emit<()> {
    let counts = Counts::of(request)?;
    let mut emit = request.emitter();
    let shape = &request.body.spec(counts.value).shape;
    let (row, column) = (emit.variable("r", counts.pass.rows), emit.variable("c", counts.pass.n));
    let (digit, tile) = (emit.variable("t", 256), emit.variable("g", counts.pass.tiles));
    emit.value(counts.operand, &[row.clone(), column])?;
    store(request, &mut emit, counts.value, &linear(&[row, digit, tile], shape), "held")
}

pub(in crate::codegen) fn generate(request: &Request<'_>) -> Emit<Code> {
    let Counts { value, operand, pass } = Counts::of(request)?;
    let mut emit = request.emitter();
    let place = pass.place(&mut emit);
    let elements = pass.load(&mut emit, operand, &place)?;
    pass.clear(&mut emit);
    for element in &elements {
        pass.count(&mut emit, element, false);
    }
    emit.line("__syncthreads();");
    let sum = emit.define("unsigned", "n", "0");
    emit.open(format!("for (int v = 0; v < {WARPS}; ++v)"));
    emit.line(format!("{sum} += counts[v * 256 + t];"));
    emit.close();
    let [digit, row, tile] = place;
    let shape = request.body.spec(value).shape.clone();
    let count = emit.define("int", "n", format!("(int){sum}"));
    store(request, &mut emit, value, &linear(&[row, digit, tile], &shape), &count)?;
    Ok(Code {
        grid: pass.grid()?,
        domain: shape,
        reads: vec![IndexMap::Any; request.body.params().len()],
        writes: vec![IndexMap::Any; request.body.outputs().len()],
        text: emit.finish(),
        block: [THREADS as u32, 1, 1],
    })
}
