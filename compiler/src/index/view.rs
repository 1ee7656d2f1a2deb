//! The index map of each op that only renames indices.

use super::{Index, delinear, linear};
use monograph_ir::{Op, Shape};

/// The index into the operand that the result's element at `index` is, for an op with one operand that only renames
/// indices (and for element-wise ops, where it is the same); `None` for every other op.
pub fn through(op: &Op, operand: &Shape, index: &[Index]) -> Option<Vec<Index>> {
    match op {
        Op::Elementwise(_) | Op::Select | Op::Cast(_) | Op::Bitcast(_) => Some(index.to_vec()),
        Op::Reshape(shape) => Some(delinear(&linear(index, shape), operand)),
        Op::Permute(axes) => {
            let mut inner = vec![Index::default(); axes.len()];
            for (i, &axis) in axes.iter().enumerate() {
                inner[axis] = index[i].clone();
            }
            Some(inner)
        }
        Op::Broadcast(shape) => {
            let skip = shape.rank() - operand.rank();
            let stretch = |i: &Index, extent: &usize| if *extent == 1 { Index::default() } else { i.clone() };
            Some(index[skip..].iter().zip(operand.iter()).map(|(i, e)| stretch(i, e)).collect())
        }
        Op::Slice { starts, strides, .. } => {
            Some(index.iter().enumerate().map(|(d, i)| i.times(strides[d] as i64).plus(starts[d] as i64)).collect())
        }
        Op::Reverse(axes) => {
            let turn = |(d, i): (usize, &Index)| match axes.contains(&d) {
                true => i.times(-1).plus(operand[d] as i64 - 1),
                false => i.clone(),
            };
            Some(index.iter().enumerate().map(turn).collect())
        }
        _ => None,
    }
}
