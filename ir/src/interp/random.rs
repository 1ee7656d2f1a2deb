//! Random words.

use super::tensor::room;
use super::{Cell, Data, EvalError, Tensor};
use crate::philox;

/// `elements` words of the sequence that starts at a state: word `i % 4` of block `i / 4`.
pub(super) fn random_bits(state: &Tensor, elements: usize) -> Result<Data, EvalError> {
    let wrong = |_| EvalError::Invalid("the state of `random_bits` has three elements".into());
    let state: [i64; philox::STATE] = state.cells()?.try_into().map_err(wrong)?;
    let mut out: Vec<u32> = room(elements)?;
    for offset in 0..elements.div_ceil(philox::WORDS) as u64 {
        let left = elements - out.len();
        out.extend(philox::block(state, offset).iter().take(left));
    }
    Ok(Cell::data(out))
}
