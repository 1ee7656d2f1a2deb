//! `scans`: long rows are scanned in parts.
//!
//! A kernel scans a row in one block, part after part. Where there are too few rows to keep a device busy, the parts
//! become rows, and what the parts before it sum up to is added to each.

use super::rebuild::{Operands, rebuild, splat};
use super::sorts::Builder;
use crate::codegen::identity;
use monograph_ir::{Amounts, Axes, Error, Graph, InferError, Op, Reduction, Shape, ValueId};

/// Rows at least this long are cut up, into parts of `PART` elements.
const LONG: usize = 1 << 14;
const PART: usize = 1 << 12;
/// So many rows keep a device busy as they are.
const ENOUGH_ROWS: usize = 512;

/// Cuts up long scans.
///
/// # Errors
/// [`Error::Internal`] if a replacement is ill-typed.
pub fn scans(graph: &Graph) -> Result<Graph, Error> {
    rebuild(graph, "scans", |new, node, operands: Operands, origin| {
        if let Op::Scan { kind, axis } = node.op {
            let shape = new.spec(operands[0]).shape.clone();
            let (rows, n) = (shape[..axis].iter().product::<usize>(), shape[axis]);
            let is_last = shape[axis + 1..].iter().all(|&d| d == 1);
            if is_last && n >= LONG && rows < ENOUGH_ROWS {
                let mut b = Builder { graph: new, origin };
                let x = b.op(Op::Reshape([rows, n].into()), &[operands[0]])?;
                let scanned = long(&mut b, x, kind)?;
                return b.op(Op::Reshape(shape), &[scanned]);
            }
        }
        new.apply(node.op.clone(), &operands, origin.clone())
    })
}

/// The scan of `[rows, n]` along its rows.
fn long(b: &mut Builder<'_>, x: ValueId, kind: Reduction) -> Result<ValueId, InferError> {
    let spec = b.graph.spec(x).clone();
    let (rows, n) = (spec.shape[0], spec.shape[1]);
    if n < LONG {
        return b.op(Op::Scan { kind, axis: 1 }, &[x]);
    }
    // Sums of half precision are kept in the precision that a scan has inside.
    let inside = match kind {
        Reduction::Sum | Reduction::Prod => spec.dtype.accumulator(),
        _ => spec.dtype,
    };
    let x = if inside == spec.dtype { x } else { b.op(Op::Cast(inside), &[x])? };
    let parts = n.div_ceil(PART);
    let neutral = splat(b.graph, identity(kind, inside), &Shape::scalar(), b.origin)?;
    let whole = if parts * PART == n {
        x
    } else {
        let high = Amounts::from_slice(&[0, (parts * PART - n) as i64]);
        b.op(Op::Pad { low: Amounts::from_slice(&[0, 0]), high }, &[x, neutral])?
    };
    let cut = b.op(Op::Reshape([rows, parts, PART].into()), &[whole])?;
    let scanned = b.op(Op::Scan { kind, axis: 2 }, &[cut])?;
    let totals = slice(b, scanned, [0, 0, PART - 1], [rows, parts, PART])?;
    let totals = b.op(Op::Reshape([rows, parts].into()), &[totals])?;
    let sums = long(b, totals, kind)?;
    // Each part gets the sum of those before it.
    let low = Amounts::from_slice(&[0, 1]);
    let before = b.op(Op::Pad { low, high: Amounts::from_slice(&[0, -1]) }, &[sums, neutral])?;
    let before = b.op(Op::Reshape([rows, parts, 1].into()), &[before])?;
    let before = b.op(Op::Broadcast([rows, parts, PART].into()), &[before])?;
    let all = b.op(kind.combine(), &[before, scanned])?;
    let mut row = b.op(Op::Reshape([rows, parts * PART].into()), &[all])?;
    if parts * PART != n {
        row = slice(b, row, [0, 0], [rows, n])?;
    }
    if inside == spec.dtype { Ok(row) } else { b.op(Op::Cast(spec.dtype), &[row]) }
}

fn slice<const N: usize>(
    b: &mut Builder<'_>,
    x: ValueId,
    starts: [usize; N],
    limits: [usize; N],
) -> Result<ValueId, InferError> {
    let (starts, limits) = (Axes::from_slice(&starts), Axes::from_slice(&limits));
    b.op(Op::Slice { starts, limits, strides: Axes::from_elem(1, N) }, &[x])
}
