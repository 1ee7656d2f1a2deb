//! Composites: what other libraries have beside single ops.

use super::{Call, calls};
use monograph::{
    ClassLoss, DType, GridOrder, Interpolation, LossReduction, Norm, PadMode, Put, ScanForm, Side, arange_step,
    bce_loss, bce_with_logits, cross_entropy_soft, cross_entropy_with, einsum, eye, huber_loss, kl_div, l1_loss,
    linspace, meshgrid, nll_loss, segment_mean, segment_sum, smooth_l1_loss,
};

pub(super) const CALLS: &[Call] = calls! {
    |x| x.flatten_axes(0, 1);
    |x| x.flatten_axes(1, -1);
    |x| x.unflatten(1, &[2, 1, 2]);
    |x| x.movedim(0, -1);
    |x| x.movedim([0, 1], [2, 0]);
    |x| x.rot90(1, 0, -1);
    |x| x.rot90(-1, 2, 1);
    |x| x.rot90(2, 0, 1);
    |x| x.swapaxes(0, -1);
    |x| x.expand_dims(-2);
    |x| x.split(3, -1);
    |x| x.split_sizes(&[1, 0, 3], 1);
    |x| x.chunk(4, 2);
    |x| x.array_split(4, 2);
    |x| x.unbind(0);
    |x| x.diagonal(0, 0, 1);
    |x| x.diagonal(2, -1, 0);
    |x| x.diagonal(-1, 1, 2);
    |row| row.diag(0);
    |x| x.diag(0);
    |x| x.diag_embed(0);
    |row| row.diag(2);
    |x| x.diag(2);
    |x| x.diag_embed(2);
    |row| row.diag(-1);
    |x| x.diag(-1);
    |x| x.diag_embed(-1);
    |row, other| meshgrid(&[row, other], GridOrder::Matrix);
    |row, other| meshgrid(&[row, other], GridOrder::Cartesian);
    | | eye(DType::F32, 3, 4, 0);
    | | eye(DType::F32, 3, 4, 1);
    | | eye(DType::F32, 3, 4, -2);
    |x| x.diagonal_sum(0);
    |x| x.diagonal_sum(-1);
    |x| x.tile(&[2]);
    |x| x.tile(&[3, 1]);
    |x| x.tile(&[2, 1, 2]);
    |x| x.repeat(2, 0);
    |x| x.repeat(3, -1);
    |x| x.roll(1, 1);
    |x| x.roll(-5, 0);
    |x| x.pad_with(&[1, 7], &[0, 5], PadMode::Reflect);
    |x| x.pad_with(&[1, 7], &[0, 5], PadMode::Symmetric);
    |x| x.pad_with(&[1, 7], &[0, 5], PadMode::Replicate);
    |x| x.pad_with(&[1, 7], &[0, 5], PadMode::Circular);
    |a, b| einsum("ij,jk->ik", &[a, b]);
    |a, b| einsum("ij,kj", &[a, b]);
    |a, b| einsum("bij,bjk->kbi", &[a, b]);
    |a, b| einsum("bhqd,bhkd->bhqk", &[a, b]);
    |a, b| einsum("...ij,...jk", &[a, b]);
    |a| einsum("ii->i", &[a]);
    |a| einsum("ii", &[a]);
    |a| einsum("ijk->kj", &[a]);
    |a, b| einsum("i,j->ji", &[a, b]);
    |a, b| einsum("iij,ij->j", &[a, b]);
    |a, b| einsum("i...,i->...", &[a, b]);
    |a, b, c| einsum("ab,bc,cd->ad", &[a, b, c]);
    |a, b| a.outer(b);
    |a, b| a.dot(b);
    |a, b| a.inner(b);
    |a, b| a.vdot(b);
    |a, b| a.tensordot(b, 1, 0);
    |a, b| a.tensordot(b, [1, 0], [-2, 0]);
    |a, b| a.kron(b);
    |a, b| a.cross(b, -1);
    |x| x.cumsum_with(1, ScanForm { exclusive: true, reverse: false });
    |x| x.cumsum_with(1, ScanForm { exclusive: false, reverse: true });
    |x| x.cumsum_with(1, ScanForm { exclusive: true, reverse: true });
    |x| x.cumprod_with(1, ScanForm { exclusive: true, reverse: false });
    |x| x.cumprod_with(1, ScanForm { exclusive: false, reverse: true });
    |x| x.cumprod_with(1, ScanForm { exclusive: true, reverse: true });
    |x| x.cummax_with(1, ScanForm { exclusive: true, reverse: false });
    |x| x.cummax_with(1, ScanForm { exclusive: false, reverse: true });
    |x| x.cummax_with(1, ScanForm { exclusive: true, reverse: true });
    |x| x.cummin_with(1, ScanForm { exclusive: true, reverse: false });
    |x| x.cummin_with(1, ScanForm { exclusive: false, reverse: true });
    |x| x.cummin_with(1, ScanForm { exclusive: true, reverse: true });
    |x| x.logcumsumexp(0);
    |x| x.logcumsumexp(-1);
    |x| x.diff(1, -1);
    |x| x.diff(1, 0);
    |x| x.diff(3, -1);
    | | linspace(DType::F64, 0.0, 1.0, 7);
    | | linspace(DType::F64, -2.5, 11.25, 10);
    | | linspace(DType::F64, 3.0, -4.0, 4);
    | | linspace(DType::F64, 2.0, 9.0, 1);
    | | arange_step(DType::F64, 0.0, 5.0, 0.75);
    | | arange_step(DType::F64, 10.0, -3.0, -2.5);
    | | arange_step(DType::F64, 1.0, 1.0, 2.0);
    | | linspace(DType::F32, 0.0, 1.0, 7);
    | | linspace(DType::F32, -2.5, 11.25, 10);
    | | linspace(DType::F32, 3.0, -4.0, 4);
    | | linspace(DType::F32, 2.0, 9.0, 1);
    | | arange_step(DType::F32, 0.0, 5.0, 0.75);
    | | arange_step(DType::F32, 10.0, -3.0, -2.5);
    | | arange_step(DType::F32, 1.0, 1.0, 2.0);
    | | linspace(DType::BF16, 0.0, 1.0, 7);
    | | linspace(DType::BF16, -2.5, 11.25, 10);
    | | linspace(DType::BF16, 3.0, -4.0, 4);
    | | linspace(DType::BF16, 2.0, 9.0, 1);
    | | arange_step(DType::BF16, 0.0, 5.0, 0.75);
    | | arange_step(DType::BF16, 10.0, -3.0, -2.5);
    | | arange_step(DType::BF16, 1.0, 1.0, 2.0);
    | | linspace(DType::I32, 0.0, 1.0, 7);
    | | linspace(DType::I32, -2.5, 11.25, 10);
    | | linspace(DType::I32, 3.0, -4.0, 4);
    | | linspace(DType::I32, 2.0, 9.0, 1);
    | | arange_step(DType::I32, 0.0, 5.0, 0.75);
    | | arange_step(DType::I32, 10.0, -3.0, -2.5);
    | | arange_step(DType::I32, 1.0, 1.0, 2.0);
    |x, ids| segment_sum(&x, &ids, 5);
    |x, ids| segment_mean(&x, &ids, 5);
    |x| x.bincount(6);
    |x, weights| x.bincount_weighted(weights, 6);
    |x| x.histogram(7, -2.0, 3.0);
    |x| x.histogram(6, 0.1, 0.7);
    |row, x| row.searchsorted(x, Side::Left);
    |row, x| x.bucketize(row, Side::Left);
    |row, x| row.searchsorted(x, Side::Right);
    |row, x| x.bucketize(row, Side::Right);
    |x| x.unique_count();
    |x, fill| x.unique_counts_padded(12, fill);
    |x| x.unique_inverse();
    |x| x.argwhere_padded(12, -3);
    |x, i, j| x.take_at(&[i, j]);
    |x, i, j, updates| x.index_put(&[i, j], updates, Put::Set);
    |x, mask, source| x.masked_scatter(&mask, source);
    |x, i, j, updates| x.index_put(&[i, j], updates, Put::Add);
    |x| x.norm(Norm::L1, 1);
    |x| x.norm_keep(Norm::L1, -1);
    |x| x.norm(Norm::L1, ..);
    |x| x.normalize(Norm::L1, 1, 1e-12);
    |x, y| x.cdist(y, Norm::L1);
    |x| x.norm(Norm::L2, 1);
    |x| x.norm_keep(Norm::L2, -1);
    |x| x.norm(Norm::L2, ..);
    |x| x.normalize(Norm::L2, 1, 1e-12);
    |x, y| x.cdist(y, Norm::L2);
    |x| x.norm(Norm::Max, 1);
    |x| x.norm_keep(Norm::Max, -1);
    |x| x.norm(Norm::Max, ..);
    |x| x.normalize(Norm::Max, 1, 1e-12);
    |x, y| x.cdist(y, Norm::Max);
    |x| x.norm(Norm::Min, 1);
    |x| x.norm_keep(Norm::Min, -1);
    |x| x.norm(Norm::Min, ..);
    |x| x.norm(Norm::P(3.0), 1);
    |x| x.norm_keep(Norm::P(3.0), -1);
    |x| x.norm(Norm::P(3.0), ..);
    |x| x.normalize(Norm::P(3.0), 1, 1e-12);
    |x, y| x.cosine_similarity(y, -1, 1e-8);
    |x| x.interpolate(&[8, 7], Interpolation::Nearest);
    |x| x.interpolate(&[3, 9], Interpolation::Nearest);
    |x| x.interpolate(&[1, 2], Interpolation::Nearest);
    |x| x.interpolate(&[8, 7], Interpolation::Linear { align_corners: true });
    |x| x.interpolate(&[3, 9], Interpolation::Linear { align_corners: true });
    |x| x.interpolate(&[1, 2], Interpolation::Linear { align_corners: true });
    |x| x.interpolate(&[8, 7], Interpolation::Linear { align_corners: false });
    |x| x.interpolate(&[3, 9], Interpolation::Linear { align_corners: false });
    |x| x.interpolate(&[1, 2], Interpolation::Linear { align_corners: false });
    |x| x.adaptive_avg_pool(&[2, 3]);
    |x| x.adaptive_max_pool(&[2, 3]);
    |x| x.adaptive_avg_pool(&[5, 1]);
    |x| x.adaptive_max_pool(&[5, 1]);
    |x| x.adaptive_avg_pool(&[7, 2]);
    |x| x.adaptive_max_pool(&[7, 2]);
    |x| x.block_mean(&[2, 3]);
    |x, y| l1_loss(&x, y, LossReduction::None);
    |x, y| l1_loss(&x, y, LossReduction::Sum);
    |x, y| l1_loss(&x, y, LossReduction::Mean);
    |x, y| huber_loss(&x, y, 1.5, LossReduction::None);
    |x, y| huber_loss(&x, y, 1.5, LossReduction::Sum);
    |x, y| huber_loss(&x, y, 1.5, LossReduction::Mean);
    |x, y| smooth_l1_loss(&x, y, 0.5, LossReduction::None);
    |x, y| smooth_l1_loss(&x, y, 0.5, LossReduction::Sum);
    |x, y| smooth_l1_loss(&x, y, 0.5, LossReduction::Mean);
    |x, y| bce_with_logits(&x, y, LossReduction::None);
    |x, y| bce_with_logits(&x, y, LossReduction::Sum);
    |x, y| bce_with_logits(&x, y, LossReduction::Mean);
    |x, y| bce_loss(&x, y, LossReduction::None);
    |x, y| bce_loss(&x, y, LossReduction::Sum);
    |x, y| bce_loss(&x, y, LossReduction::Mean);
    |x, y| kl_div(&x, y, LossReduction::None);
    |x, y| kl_div(&x, y, LossReduction::Sum);
    |x, y| kl_div(&x, y, LossReduction::Mean);
    |x| x.softmin(-1);
    |x, targets|
        cross_entropy_with(&x, &targets,
            ClassLoss { label_smoothing: 0.0, ignore_index: Some(-100), reduction: LossReduction::None });
    |x, targets|
        nll_loss(&x, &targets,
            ClassLoss { label_smoothing: 0.0, ignore_index: Some(-100), reduction: LossReduction::None });
    |x, targets|
        cross_entropy_with(&x, &targets,
            ClassLoss { label_smoothing: 0.0, ignore_index: Some(-100), reduction: LossReduction::Sum });
    |x, targets|
        nll_loss(&x, &targets,
            ClassLoss { label_smoothing: 0.0, ignore_index: Some(-100), reduction: LossReduction::Sum });
    |x, targets|
        cross_entropy_with(&x, &targets,
            ClassLoss { label_smoothing: 0.0, ignore_index: Some(-100), reduction: LossReduction::Mean });
    |x, targets|
        nll_loss(&x, &targets,
            ClassLoss { label_smoothing: 0.0, ignore_index: Some(-100), reduction: LossReduction::Mean });
    |x, targets|
        cross_entropy_with(&x, &targets,
            ClassLoss { label_smoothing: 0.25, ignore_index: Some(-100), reduction: LossReduction::None });
    |x, targets|
        cross_entropy_with(&x, &targets,
            ClassLoss { label_smoothing: 0.25, ignore_index: Some(-100), reduction: LossReduction::Sum });
    |x, targets|
        cross_entropy_with(&x, &targets,
            ClassLoss { label_smoothing: 0.25, ignore_index: Some(-100), reduction: LossReduction::Mean });
    |x, shares| cross_entropy_soft(&x, shares, LossReduction::None);
};
