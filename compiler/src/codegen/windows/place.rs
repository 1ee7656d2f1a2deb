//! Where the elements of a window lie, as indices.

use crate::codegen::emit::Emitter;
use crate::index::Index;
use monograph_ir::{Shape, Windows, dilated};

/// Windows over a tensor's last dimensions.
pub(in crate::codegen) struct Place {
    pub(in crate::codegen) windows: Windows,
    /// Of the tensor.
    pub(in crate::codegen) extents: Shape,
    /// Of a window.
    pub(in crate::codegen) sizes: Shape,
}

impl Place {
    /// Opens loops over the elements of a window, in row-major order, and gives their variables.
    pub(in crate::codegen) fn open(&self, emit: &mut Emitter<'_>) -> Vec<Index> {
        self.sizes.iter().map(|&size| open_loop(emit, size)).collect()
    }

    /// Closes what [`Place::open`] opened.
    pub(in crate::codegen) fn close(&self, emit: &mut Emitter<'_>) {
        self.sizes.iter().for_each(|_| emit.close());
    }

    /// The element of the tensor that element `tap` of window `at` is, limited to the tensor, and a condition that holds
    /// where it is one at all: not padding, and no hole.
    pub(in crate::codegen) fn element(
        &self,
        emit: &mut Emitter<'_>,
        at: &[Index],
        tap: &[Index],
    ) -> (Vec<Index>, String) {
        let Windows { strides, low, input_dilation, dilation, .. } = &self.windows;
        let (mut element, mut conditions) = (Vec::new(), Vec::new());
        for d in 0..self.extents.rank() {
            let by = input_dilation[d] as i64;
            let across = at[d].times(strides[d] as i64).add(&tap[d].times(dilation[d] as i64));
            let position = across.plus(-low[d]);
            // Inference keeps positions far below the limits of 64 bits.
            let positions = dilated(self.extents[d], input_dilation[d]) as usize;
            conditions.push(emit.inside(std::slice::from_ref(&position), &Shape::from([positions])));
            let position = position.limit(positions);
            let hole = position.rem(by);
            if hole.terms.is_empty() {
                conditions.push(if hole.constant == 0 { "true".into() } else { "false".into() });
            } else {
                conditions.push(format!("{} == 0", emit.index(&hole)));
            }
            element.push(position.div(by));
        }
        conditions.retain(|c| c != "true");
        let condition = if conditions.is_empty() { "true".to_string() } else { conditions.join(" && ") };
        (element, if condition.contains("&&") { format!("({condition})") } else { condition })
    }
}

/// Opens a loop over `0..extent`, or a block where that is one round.
pub(in crate::codegen) fn open_loop(emit: &mut Emitter<'_>, extent: usize) -> Index {
    if extent == 1 {
        emit.open("");
        return Index::default();
    }
    let name = emit.fresh("k");
    let ty = emit.index_type();
    emit.open(format!("for ({ty} {name} = 0; {name} < {extent}; ++{name})"));
    emit.variable(name, extent)
}
