//! Inference of the ops over windows: convolutions and poolings.

use super::{Wrong, check_indices, reduction_takes, same_dtype, wrong, wrong_help};
use crate::{DType, Reduction, Shape, Spec, Windows, dilated};

/// What positions of windows may be at most, so that index arithmetic in 64 bits cannot overflow.
const FAR: i128 = 1 << 48;

pub(super) fn convolution([x, kernel]: [&Spec; 2], windows: &Windows, groups: usize) -> Result<Spec, Wrong> {
    same_dtype(x, kernel)?;
    if x.dtype == DType::Bool {
        return wrong_help("takes numbers, not bool", "convert it first: `.cast(DType::I32)`");
    }
    let rank = x.shape.rank();
    if rank < 3 || kernel.shape.rank() != rank {
        return wrong(format!(
            "{x} with {kernel}: both need the same number of dimensions, at least 3: [N, C, …] with [O, C / groups, …]"
        ));
    }
    let (channels, outputs) = (x.shape[1], kernel.shape[0]);
    if groups == 0 || !channels.is_multiple_of(groups) || !outputs.is_multiple_of(groups) {
        return wrong(format!(
            "{groups} groups do not divide the {channels} channels of {x} and the {outputs} of {kernel}"
        ));
    }
    if kernel.shape[1] != channels / groups {
        return wrong(format!(
            "{x} with {kernel}: a kernel for {channels} channels in {groups} groups has {} in dimension 1, not {}",
            channels / groups,
            kernel.shape[1]
        ));
    }
    let counts = counts(windows, &x.shape[2..], &kernel.shape[2..])?;
    Ok(Spec::new(x.dtype, [x.shape[0], outputs].into_iter().chain(counts).collect::<Shape>()))
}

pub(super) fn reduce([x]: [&Spec; 1], kind: Reduction, sizes: &[usize], windows: &Windows) -> Result<Spec, Wrong> {
    reduction_takes(kind, x.dtype)?;
    Ok(Spec::new(x.dtype, windowed(x, sizes, windows)?))
}

pub(super) fn arg([x]: [&Spec; 1], sizes: &[usize], windows: &Windows) -> Result<Spec, Wrong> {
    Ok(Spec::new(DType::I64, windowed(x, sizes, windows)?))
}

pub(super) fn scatter(
    [updates, indices]: [&Spec; 2],
    extents: &[usize],
    sizes: &[usize],
    windows: &Windows,
) -> Result<Spec, Wrong> {
    check_indices(indices)?;
    reduction_takes(Reduction::Sum, updates.dtype)?;
    if updates.shape != indices.shape {
        return wrong(format!("updates {updates} at {indices}: the shapes differ"));
    }
    let counts = counts(windows, extents, sizes)?;
    let Some(leading) = updates.shape.rank().checked_sub(extents.len()) else {
        return wrong(format!("{updates} has fewer dimensions than the {} of the windows", extents.len()));
    };
    let (before, last) = updates.shape.split_at(leading);
    if *last != counts[..] {
        return wrong(format!(
            "there are {} windows over {}, but the updates are {updates}",
            Shape::from(counts),
            Shape::from(extents)
        ));
    }
    Ok(Spec::new(updates.dtype, before.iter().chain(extents).copied().collect::<Shape>()))
}

/// The shape of one element a window over the last dimensions of `x`.
fn windowed(x: &Spec, sizes: &[usize], windows: &Windows) -> Result<Shape, Wrong> {
    let Some(leading) = x.shape.rank().checked_sub(sizes.len()) else {
        return wrong(format!("windows with {} dimensions over {x}", sizes.len()));
    };
    let (before, last) = x.shape.split_at(leading);
    let counts = counts(windows, last, sizes)?;
    Ok(before.iter().copied().chain(counts).collect())
}

/// The number of windows along each dimension, at least one.
fn counts(windows: &Windows, extents: &[usize], sizes: &[usize]) -> Result<Vec<usize>, Wrong> {
    let rank = extents.len();
    let Windows { strides, low, high, input_dilation, dilation } = windows;
    let lengths = [strides.len(), low.len(), high.len(), input_dilation.len(), dilation.len(), sizes.len()];
    if lengths.iter().any(|&n| n != rank) {
        return wrong(format!(
            "one size, stride, padding and dilation for each of the {rank} dimensions of the windows"
        ));
    }
    let mut counts = Vec::with_capacity(rank);
    for i in 0..rank {
        if strides[i] == 0 || dilation[i] == 0 || input_dilation[i] == 0 {
            return wrong(format!("a stride or dilation of dimension {i} of the windows is 0; 1 is the least"));
        }
        if sizes[i] == 0 {
            return wrong(format!("the windows have no elements along dimension {i}"));
        }
        let span = dilated(sizes[i], dilation[i]);
        let positions = windows.positions(i, extents[i]);
        let reach = dilated(extents[i], input_dilation[i]).saturating_add(span).saturating_add(strides[i] as u128);
        let padding = i128::from(low[i].unsigned_abs().max(high[i].unsigned_abs()));
        if reach > FAR as u128 || padding > FAR {
            return wrong(format!("the windows along dimension {i} reach further than 2^48"));
        }
        match windows.count(i, extents[i], sizes[i]) {
            Some(count) => counts.push(count),
            None => {
                return wrong_help(
                    format!(
                        "a window of {span} along dimension {i} does not fit into {} with padding ({}, {}): {positions}",
                        extents[i], low[i], high[i]
                    ),
                    "make the kernel smaller, or the padding greater",
                );
            }
        }
    }
    Ok(counts)
}
