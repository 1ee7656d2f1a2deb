//! Coordinates of a grid.

use super::Tensor;
use super::tracer::{reject, scope};
use crate::diagnostics::codes;

/// Which dimension of the grid belongs to the first vector of [`meshgrid`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GridOrder {
    /// The first: element `[i, j]` is of the first vector's `i` and the second one's `j`. `"ij"` elsewhere.
    Matrix,
    /// The second, and the second vector the first: element `[y, x]`. `"xy"` elsewhere.
    Cartesian,
}

/// For each vector the tensor that holds, at every point of the grid that all of them span, its coordinate there.
///
/// ```
/// # use monograph_compiler::trace::{GridOrder, Tensor, meshgrid, trace};
/// # use monograph_ir::Element;
/// let program = trace(|(x, y): (Tensor, Tensor)| meshgrid(&[x, y], GridOrder::Cartesian), (f32::spec([3]), f32::spec([2])))?;
/// assert_eq!(**program.output_form(), [f32::spec([2, 3]), f32::spec([2, 3])]);
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn meshgrid(vectors: &[Tensor], order: GridOrder) -> Vec<Tensor> {
    let _scope = scope("meshgrid");
    let mut extents = Vec::with_capacity(vectors.len());
    for vector in vectors {
        let Some(spec) = vector.known() else { return vec![vector.absorb(); vectors.len()] };
        if spec.shape.rank() != 1 {
            let message = format!("`meshgrid` takes vectors, not {spec}");
            let poison = reject(codes::OPERANDS, message, "is no vector", &[*vector], &[]);
            return vec![poison; vectors.len()];
        }
        extents.push(spec.shape[0]);
    }
    let mut axes: Vec<usize> = (0..vectors.len()).collect();
    if order == GridOrder::Cartesian && axes.len() >= 2 {
        axes.swap(0, 1);
    }
    let grid: Vec<usize> = axes.iter().map(|&vector| extents[vector]).collect();
    let mut coordinates = Vec::with_capacity(vectors.len());
    for (number, vector) in vectors.iter().enumerate() {
        let mut thin = vec![1; grid.len()];
        thin[axes[number]] = extents[number];
        coordinates.push(vector.reshape(thin).broadcast_to(grid.as_slice()));
    }
    coordinates
}
