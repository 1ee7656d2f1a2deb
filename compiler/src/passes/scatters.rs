//! `scatters`: a scatter of many indices sorts them first.
//!
//! The kernel of a scatter looks through all indices for each place. Where that is more than sorting them, their
//! order is made first, and each place finds its own by a search. The sort is stable, so that updates of one place
//! meet in the order of the indices all the same.

use super::rebuild::{Operands, rebuild};
use super::sorts::{Builder, sorted};
use monograph_ir::{DType, Elementwise, Error, Graph, InferError, Literal, Op, Shape, ValueId};

/// So many comparisons of an index with a place take about as long as a launch that sorts.
const COMPARISONS: usize = 1 << 22;
/// So many indices are looked through for even one place as long as sorting them takes.
const INDICES: usize = 1 << 15;
/// Fewer indices are not worth a sort whatever the number of places: one block looks at all of them at once.
const FEW: usize = 64;

/// Replaces scatters of many indices.
///
/// # Errors
/// [`Error::Internal`] if a replacement is ill-typed.
pub fn scatters(graph: &Graph) -> Result<Graph, Error> {
    rebuild(graph, "scatters", |new, node, operands: Operands, origin| {
        if let Op::Scatter { axis, kind } = node.op {
            let count = new.spec(operands[1]).shape.size();
            let places = new.spec(operands[0]).shape[axis];
            if is_worth_sorting(count, places) {
                let mut b = Builder { graph: new, origin };
                let entries = entries(&mut b, operands[1], places)?;
                return b.op(Op::ScatterSorted { axis, kind }, &[operands[0], entries, operands[2]]);
            }
        }
        new.apply(node.op.clone(), &operands, origin.clone())
    })
}

fn is_worth_sorting(count: usize, places: usize) -> bool {
    let fits = i32::try_from(count).is_ok() && u32::try_from(places).is_ok_and(|p| p < u32::MAX);
    fits && places > 0 && (count > FEW && count.saturating_mul(places) >= COMPARISONS || count >= INDICES)
}

/// Indices above the places of their updates, ascending; those outside are at the end.
fn entries(b: &mut Builder<'_>, indices: ValueId, places: usize) -> Result<ValueId, InferError> {
    let count = b.graph.spec(indices).shape.size();
    let row = b.op(Op::Reshape([1, count].into()), &[indices])?;
    let wide = if b.graph.spec(row).dtype == DType::I64 { row } else { b.op(Op::Cast(DType::I64), &[row])? };
    let behind = b.like(wide, Literal::from_i64(DType::I64, places as i64))?;
    let zero = b.like(wide, Literal::zero(DType::I64))?;
    let low = b.op(Elementwise::Lt, &[wide, zero])?;
    let limited = b.op(Elementwise::Minimum, &[wide, behind])?;
    let key = b.op(Op::Select, &[low, behind, limited])?;
    let bits = usize::BITS - places.leading_zeros();
    let sorted = sorted(b, key, bits.div_ceil(8))?;
    b.op(Op::Reshape(Shape::from([count])), &[sorted])
}
