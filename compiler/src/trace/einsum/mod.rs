//! `einsum`: products of tensors summed over named dimensions.

mod contract;
mod notation;

pub(super) use contract::{Labelled, contract};
pub(super) use notation::Label;

use super::Tensor;
use super::tracer::{reject, scope};
use crate::diagnostics::codes;
use monograph_ir::{DType, Spec};

/// Products of the elements of any number of tensors, summed, in NumPy's notation: each letter names a dimension, and
/// what is not in the result is summed over.
///
/// - `"ij,jk->ik"`: subscripts of the operands, separated by commas, and of the result. Spaces mean nothing.
/// - Without `->` the result has the letters that occur once, in alphabetical order, after the dimensions of `...`.
/// - `...` stands for the dimensions without letters. They are aligned at the right and broadcast.
/// - A letter that an operand repeats takes the diagonal: `"ii->i"`, and `"ii"` sums it.
/// - A letter has one extent everywhere; an extent of 1 repeats.
///
/// Operands are numbers of one dtype. A contraction of two operands is one matrix product with batch dimensions, a
/// product without a sum one multiplication. More operands are contracted pair by pair: next is the pair that shares a
/// letter and whose result exceeds its operands least, the first of equals. Each step rounds to the dtype, and its sum
/// accumulates as that of [`Tensor::matmul`] or [`Tensor::sum`].
///
/// ```
/// # use monograph_compiler::trace::{einsum, trace};
/// # use monograph_ir::Element;
/// let attention = |(q, k)| einsum("bhqd,bhkd->bhqk", &[q, k]);
/// let program = trace(attention, (f32::spec([2, 8, 5, 64]), f32::spec([2, 8, 7, 64])))?;
/// assert_eq!(program.output_form().to_string(), "f32[2, 8, 5, 7]");
///
/// let trace_of_each = trace(|x| einsum("...ii", &[x]), f32::spec([4, 3, 3]))?;
/// assert_eq!(trace_of_each.output_form().to_string(), "f32[4]");
/// # Ok::<(), monograph_ir::Error>(())
/// ```
#[track_caller]
pub fn einsum(subscripts: &str, operands: &[Tensor]) -> Tensor {
    let _scope = scope("einsum");
    let mut specs: Vec<Spec> = Vec::with_capacity(operands.len());
    for operand in operands {
        match operand.known() {
            Some(spec) => specs.push(spec),
            None => return operand.absorb(),
        }
    }
    let ranks: Vec<usize> = specs.iter().map(|spec| spec.shape.rank()).collect();
    let notation = match notation::parse(subscripts, &ranks) {
        Ok(notation) => notation,
        Err(mistake) => {
            let message = format!("`einsum`: {}", mistake.message);
            return reject(codes::OPERANDS, message, "cannot be read", operands, &[mistake.help.to_string()]);
        }
    };
    if let Err(poison) = one_number_dtype(operands, &specs) {
        return poison;
    }
    let extents = match extents(&notation.operands, &specs) {
        Ok(extents) => extents,
        Err(message) => {
            let message = format!("`einsum`: {message}");
            let help = "a letter has one extent everywhere, or 1, which repeats between operands".to_string();
            return reject(codes::OPERANDS, message, "extents differ", operands, &[help]);
        }
    };
    let mut terms = Vec::with_capacity(operands.len());
    for (&tensor, labels) in operands.iter().zip(notation.operands) {
        terms.push(prepared(Labelled { tensor, labels }, &extents));
    }
    let last = contracted(terms, &notation.result);
    last.summed(&notation.result).ordered(&notation.result).tensor
}

/// Refuses bools and operands of different dtypes.
#[track_caller]
fn one_number_dtype(operands: &[Tensor], specs: &[Spec]) -> Result<(), Tensor> {
    let Some(first) = specs.first() else { return Ok(()) };
    if first.dtype == DType::Bool {
        let help = "convert it first: `.cast(DType::I32)`".to_string();
        let message = "`einsum` takes numbers, not bool".to_string();
        return Err(reject(codes::OPERANDS, message, "needs numbers", operands, &[help]));
    }
    match specs.iter().find(|spec| spec.dtype != first.dtype) {
        None => Ok(()),
        Some(other) => {
            let message = format!("`einsum`: {first} with {other}: the dtypes differ");
            let help = format!("there is no implicit promotion; convert one side: `.cast(DType::{:?})`", first.dtype);
            Err(reject(codes::DTYPES, message, "dtypes differ", operands, &[help]))
        }
    }
}

/// The extent of each label, or what does not agree.
fn extents(operands: &[Vec<Label>], specs: &[Spec]) -> Result<Vec<(Label, usize)>, String> {
    // Label, extent, and the operand that has it.
    let mut known: Vec<(Label, usize, usize)> = Vec::new();
    for (number, (labels, spec)) in operands.iter().zip(specs).enumerate() {
        for (axis, &label) in labels.iter().enumerate() {
            let extent = spec.shape[axis];
            if let Some(first) = labels[..axis].iter().position(|&l| l == label)
                && spec.shape[first] != extent
            {
                return Err(format!("{label} is {} and {extent} in operand {number}, {spec}", spec.shape[first]));
            }
            match known.iter_mut().find(|(l, ..)| *l == label) {
                None => known.push((label, extent, number)),
                Some((_, before, of)) if *before == 1 => (*before, *of) = (extent, number),
                Some((_, before, of)) if extent != *before && extent != 1 => {
                    let other = &specs[*of];
                    return Err(format!(
                        "{label} is {before} in operand {of}, {other}, and {extent} in operand {number}, {spec}"
                    ));
                }
                Some(_) => {}
            }
        }
    }
    Ok(known.into_iter().map(|(label, extent, _)| (label, extent)).collect())
}

/// An operand with distinct labels, whose extents are those of the labels: dimensions of 1 that another operand
/// stretches leave.
#[track_caller]
fn prepared(term: Labelled, extents: &[(Label, usize)]) -> Labelled {
    let mut term = term.without_repeats();
    let stretched = |term: &Labelled| {
        let differs = |&label: &Label| extents.iter().any(|&(l, d)| l == label && d != term.extent(label));
        term.labels.iter().position(differs)
    };
    while let Some(axis) = stretched(&term) {
        term.tensor = term.tensor.squeeze(axis);
        term.labels.remove(axis);
    }
    term
}

/// All operands contracted into one, pair by pair.
#[track_caller]
fn contracted(mut terms: Vec<Labelled>, result: &[Label]) -> Labelled {
    while terms.len() > 1 {
        let (first, second) = next_pair(&terms, result);
        let b = terms.remove(second);
        let a = terms.remove(first);
        let kept = needed(&terms, result);
        let wanted: &[Label] = if terms.is_empty() { result } else { &[] };
        terms.insert(first, contract(a, b, &kept, wanted));
    }
    terms.pop().expect("a notation has at least one operand, and as many are given")
}

/// The labels that the result and these operands still need.
fn needed(terms: &[Labelled], result: &[Label]) -> Vec<Label> {
    let mut labels = result.to_vec();
    labels.extend(terms.iter().flat_map(|term| term.labels.iter().copied()));
    labels
}

/// The two operands to contract next.
fn next_pair(terms: &[Labelled], result: &[Label]) -> (usize, usize) {
    let size = |term: &Labelled| term.labels.iter().map(|&l| term.extent(l) as f64).product::<f64>();
    let mut best = (0, 1);
    let mut least = (true, f64::INFINITY);
    for first in 0..terms.len() {
        for second in first + 1..terms.len() {
            let (a, b) = (&terms[first], &terms[second]);
            let rest: Vec<Labelled> =
                (0..terms.len()).filter(|i| ![first, second].contains(i)).map(|i| terms[i].clone()).collect();
            let kept = needed(&rest, result);
            let of_a = a.labels.iter().filter(|l| kept.contains(l)).map(|&l| a.extent(l) as f64);
            let of_b = b.labels.iter().filter(|l| kept.contains(l) && !a.labels.contains(l));
            let grown = of_a.product::<f64>() * of_b.map(|&l| b.extent(l) as f64).product::<f64>() - size(a) - size(b);
            let cost = (!a.labels.iter().any(|l| b.labels.contains(l)), grown);
            if cost < least {
                (best, least) = ((first, second), cost);
            }
        }
    }
    best
}
