//! Tensors with labelled dimensions, and the product of two of them summed over the labels that end there.

use super::notation::Label;
use crate::trace::Tensor;
use crate::trace::tracer::record;
use monograph_ir::Op;

/// A tensor, and the label of each of its dimensions.
#[derive(Clone)]
pub(in crate::trace) struct Labelled {
    pub(in crate::trace) tensor: Tensor,
    pub(in crate::trace) labels: Vec<Label>,
}

impl Labelled {
    /// The extent of the dimension of that label, which is one of this tensor's.
    pub(super) fn extent(&self, label: Label) -> usize {
        self.labels.iter().position(|&l| l == label).map_or(1, |axis| self.tensor.dim(axis))
    }

    /// Repeated labels once: the diagonal of their dimensions, which have equal extents.
    #[track_caller]
    pub(super) fn without_repeats(mut self) -> Labelled {
        let repeated = |labels: &[Label]| {
            let second = (0..labels.len()).find(|&axis| labels[..axis].contains(&labels[axis]))?;
            let first = labels.iter().position(|l| *l == labels[second])?;
            Some((first, second))
        };
        while let Some((first, second)) = repeated(&self.labels) {
            self.tensor = self.tensor.diagonal(0, first, second);
            self.labels.remove(second);
            let label = self.labels.remove(first);
            self.labels.push(label);
        }
        self
    }

    /// Without the dimensions whose labels are not kept: they are summed.
    #[track_caller]
    pub(super) fn summed(mut self, kept: &[Label]) -> Labelled {
        let axes: Vec<usize> = (0..self.labels.len()).filter(|&axis| !kept.contains(&self.labels[axis])).collect();
        if !axes.is_empty() {
            self.tensor = self.tensor.sum(axes.as_slice());
            self.labels.retain(|label| kept.contains(label));
        }
        self
    }

    /// The dimensions in another order of the same labels.
    #[track_caller]
    pub(in crate::trace) fn ordered(self, labels: &[Label]) -> Labelled {
        if self.labels == labels {
            return self;
        }
        let axes: Vec<usize> = labels.iter().filter_map(|l| self.labels.iter().position(|m| m == l)).collect();
        Labelled { tensor: self.tensor.permute(axes.as_slice()), labels: labels.to_vec() }
    }

    /// The dimensions under a longer list of labels that holds theirs in their order; those that are missing get
    /// extent 1.
    #[track_caller]
    fn spread(self, labels: &[Label]) -> Tensor {
        let dims: Vec<usize> = labels.iter().map(|&label| self.extent(label)).collect();
        self.tensor.reshape(dims)
    }
}

/// What becomes of the labels of two operands.
struct Roles {
    /// In both, and in the result.
    batch: Vec<Label>,
    /// In both, and summed over.
    inner: Vec<Label>,
    /// In the first only.
    left: Vec<Label>,
    /// In the second only.
    right: Vec<Label>,
}

fn roles(a: &[Label], b: &[Label], kept: &[Label]) -> Roles {
    let shared = || a.iter().copied().filter(|l| b.contains(l));
    Roles {
        batch: shared().filter(|l| kept.contains(l)).collect(),
        inner: shared().filter(|l| !kept.contains(l)).collect(),
        left: a.iter().copied().filter(|l| !b.contains(l)).collect(),
        right: b.iter().copied().filter(|l| !a.contains(l)).collect(),
    }
}

fn chained(parts: &[&[Label]]) -> Vec<Label> {
    parts.concat()
}

/// The product of two tensors of one dtype, summed over the labels that are not `kept`. Labels that both have are of
/// one extent. The result has its dimensions in the order of `wanted` where that costs nothing.
///
/// Labels of one operand alone that are not kept are summed first. If labels that both have are to be summed, that is
/// one matrix product; else it is a multiplication.
#[track_caller]
pub(in crate::trace) fn contract(a: Labelled, b: Labelled, kept: &[Label], wanted: &[Label]) -> Labelled {
    let keep_for = |other: &Labelled| chained(&[kept, &other.labels]);
    let (keep_a, keep_b) = (keep_for(&b), keep_for(&a));
    let (a, b) = (a.summed(&keep_a), b.summed(&keep_b));
    let Roles { batch, inner, left, right } = roles(&a.labels, &b.labels, kept);
    if inner.is_empty() {
        return multiply(a, b);
    }
    if chained(&[&batch, &right, &left]) == wanted {
        return product(b, a, &Roles { batch, inner, left: right, right: left });
    }
    product(a, b, &Roles { batch, inner, left, right })
}

/// The product without a sum: each element with each of the other labels.
#[track_caller]
fn multiply(a: Labelled, b: Labelled) -> Labelled {
    let only_b: Vec<Label> = b.labels.iter().copied().filter(|l| !a.labels.contains(l)).collect();
    let labels = chained(&[&a.labels, &only_b]);
    let order: Vec<Label> = labels.iter().copied().filter(|l| b.labels.contains(l)).collect();
    let tensor = a.spread(&labels) * b.ordered(&order).spread(&labels);
    Labelled { tensor, labels }
}

/// One matrix product, of each matrix of a batch.
#[track_caller]
fn product(a: Labelled, b: Labelled, roles: &Roles) -> Labelled {
    let Roles { batch, inner, left, right } = roles;
    // An operand that lies transposed is told so; another order is a permutation.
    let transpose_a = a.labels == chained(&[batch, inner, left]) && !left.is_empty();
    let transpose_b = b.labels == chained(&[batch, right, inner]) && !right.is_empty();
    let a = if transpose_a { a } else { a.ordered(&chained(&[batch, left, inner])) };
    let b = if transpose_b { b } else { b.ordered(&chained(&[batch, inner, right])) };
    let extents = |of: &Labelled, labels: &[Label]| -> Vec<usize> { labels.iter().map(|&l| of.extent(l)).collect() };
    let (batches, rows, columns) = (extents(&a, batch), extents(&a, left), extents(&b, right));
    let size = |extents: &[usize]| extents.iter().product::<usize>();
    let (m, n, k) = (size(&rows), size(&columns), size(&extents(&a, inner)));
    let matrices = |rows: usize, columns: usize| [&batches[..], &[rows, columns]].concat();
    let matrix_a = a.tensor.reshape(if transpose_a { matrices(k, m) } else { matrices(m, k) });
    let matrix_b = b.tensor.reshape(if transpose_b { matrices(n, k) } else { matrices(k, n) });
    let tensor = record(Op::Matmul { transpose_a, transpose_b }, &[matrix_a, matrix_b]);
    let shape = [batches, rows, columns].concat();
    Labelled { tensor: tensor.reshape(shape), labels: chained(&[batch, left, right]) }
}
