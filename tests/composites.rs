//! Composite operations on every device: what the generated kernels compute is what the interpreter does.

mod common;

use monograph::ir::interp;
use monograph::prelude::*;
use monograph::{
    ClassLoss, GridOrder, HasSpec, Interpolation, LossReduction, Norm, PadMode, Put, ScanForm, Side, bce_with_logits,
    concat, cross_entropy_with, einsum, eye, huber_loss, kl_div, linspace, meshgrid, nll_loss, segment_mean,
    segment_sum,
};

/// What all composites here are computed from.
#[derive(Clone, Copy)]
struct Operands {
    /// f32[4, 6]
    x: Tensor,
    /// f32[6, 5]
    y: Tensor,
    /// f32[2, 3, 4]
    cube: Tensor,
    /// f32[4, 4]
    square: Tensor,
    /// i64[4], of which some lie outside of 0..4
    ids: Tensor,
}

type Composite = (&'static str, fn(Operands) -> Tensor);

const CENTRES: Interpolation = Interpolation::Linear { align_corners: false };
const CORNERS: Interpolation = Interpolation::Linear { align_corners: true };

const PRODUCTS: &[Composite] = &[
    ("a product", |o| einsum("ij,jk->ik", &[o.x, o.y])),
    ("a transposed product", |o| einsum("ij,kj->ki", &[o.x, o.x])),
    ("batches", |o| einsum("bij,bkj->bik", &[o.cube, o.cube])),
    ("a diagonal", |o| einsum("ii,ij->j", &[o.square, o.x])),
    ("a chain", |o| einsum("ij,jk,il->kl", &[o.x, o.y, o.square])),
    ("a broadcast", |o| einsum("...j,jk->k...", &[o.x, o.y])),
    ("outer", |o| o.x.slice(0, 0..1).outer(o.y.slice(1, 0..1))),
    ("dot", |o| o.x.dot(o.y)),
    ("tensordot", |o| o.cube.tensordot(o.cube, [0, 2], [0, 2])),
    ("cross", |o| o.cube.transpose(1, 2).cross(o.cube.slice(0, 0..1).transpose(1, 2), -1)),
    ("kron", |o| o.square.kron(o.y)),
    ("norm", |o| o.x.norm(Norm::P(3.0), 1)),
    ("normalize", |o| o.x.normalize(Norm::L2, -1, 1e-12)),
    ("cosine_similarity", |o| o.x.unsqueeze(1).cosine_similarity(o.x, -1, 1e-8)),
    ("cdist", |o| o.x.cdist(o.x, Norm::L1)),
];

const MOVES: &[Composite] = &[
    ("tile", |o| o.x.tile(&[2, 1, 2])),
    ("repeat", |o| o.x.repeat(3, 0)),
    ("roll", |o| o.x.roll(-2, 1)),
    ("pieces", |o| concat(&[o.x.split(4, 1)[1], o.x.chunk(3, 1)[0], o.x.array_split(4, 1)[3]], 1)),
    ("reflected", |o| o.x.pad_with(&[1, 7], &[5, 0], PadMode::Reflect)),
    ("symmetric", |o| o.x.pad_with(&[1, 7], &[5, 0], PadMode::Symmetric)),
    ("replicated", |o| o.x.pad_with(&[1, 7], &[5, 0], PadMode::Replicate)),
    ("circular", |o| o.x.pad_with(&[1, 7], &[5, 0], PadMode::Circular)),
    ("diagonal", |o| o.cube.diagonal(1, 1, 2)),
    ("diag_embed", |o| o.x.diag_embed(-1)),
    ("eye", |o| eye(DType::F32, 4, 6, 1) + o.x),
    ("meshgrid", |o| meshgrid(&[o.x.flatten(), o.ids.cast(DType::F32)], GridOrder::Cartesian)[1]),
    ("movedim", |o| o.cube.movedim([0, 1], [2, 0])),
    ("exclusive sums", |o| o.x.cumsum_with(1, ScanForm { exclusive: true, reverse: false })),
    ("reverse maxima", |o| o.x.cummax_with(0, ScanForm { exclusive: true, reverse: true })),
    ("logcumsumexp", |o| o.x.logcumsumexp(0)),
    ("rot90", |o| o.cube.rot90(-1, 0, 2)),
    ("diff", |o| o.x.diff(2, 1)),
    ("linspace", |_| linspace(DType::F32, -1.0, 2.0, 9)),
    ("take_at", |o| o.x.take_at(&[o.ids, o.ids])),
    ("index_put", |o| o.x.index_put(&[o.ids.unsqueeze(1), o.ids], 2.0, Put::Add)),
    ("index_set", |o| o.x.index_put(&[o.ids], 2.0, Put::Set)),
    ("masked_scatter", |o| o.x.masked_scatter(&o.x.gt(0.0), o.y)),
];

const COUNTS: &[Composite] = &[
    ("segment_sum", |o| segment_sum(&o.x, &o.ids, 3)),
    ("segment_mean", |o| segment_mean(&o.x, &o.ids, 3)),
    ("bincount", |o| o.ids.bincount(3)),
    ("bincount_weighted", |o| o.ids.bincount_weighted(o.x.slice(1, 0..1).flatten(), 3)),
    ("unique_counts", |o| o.ids.unique_counts_padded(4, 9).1),
    ("unique_inverse", |o| o.ids.unique_inverse()),
    ("argwhere", |o| o.x.gt(0.2).argwhere_padded(9, -1)),
    ("histogram", |o| o.x.histogram(5, -1.0, 1.0)),
    ("searchsorted", |o| o.x.sort(1).searchsorted(o.x, Side::Left)),
    ("bucketize", |o| o.x.bucketize(linspace(DType::F32, -1.0, 1.0, 5), Side::Right)),
];

const LOSSES: &[Composite] = &[
    ("nearest", |o| o.cube.interpolate(&[7, 2], Interpolation::Nearest)),
    ("bilinear", |o| o.cube.interpolate(&[7, 3], CENTRES)),
    ("bilinear, corners", |o| o.cube.interpolate(&[2, 9], CORNERS)),
    ("adaptive means", |o| o.cube.adaptive_avg_pool(&[2, 3])),
    ("adaptive maxima", |o| o.cube.adaptive_max_pool(&[2, 3])),
    ("block means", |o| o.x.block_mean(&[2, 3])),
    ("softmin", |o| o.x.softmin(1)),
    ("huber", |o| huber_loss(&o.x, 0.25, 0.5, LossReduction::Mean)),
    ("binary", |o| bce_with_logits(&o.x, o.x.sigmoid(), LossReduction::Sum)),
    ("divergence", |o| kl_div(&o.x.log_softmax(1), o.x.softmin(1), LossReduction::Sum)),
    ("classes", |o| nll_loss(&o.x.log_softmax(1), &o.ids, ClassLoss::default())),
    ("smoothed classes", |o| {
        let how = ClassLoss { label_smoothing: 0.1, ignore_index: Some(-1), ..ClassLoss::default() };
        cross_entropy_with(&o.x, &o.ids, how)
    }),
];

/// Replays the composites together, twice, on every device.
fn check(composites: &[Composite]) {
    let numbers = |shape: &[usize], factor: f32| {
        Array::from_fn(shape, |i| ((i * 7 + 3) % 23) as f32 * factor - 1.0).expect("it is small")
    };
    let arrays = vec![
        numbers(&[4, 6], 0.1),
        numbers(&[6, 5], 0.07),
        numbers(&[2, 3, 4], 0.09),
        numbers(&[4, 4], 0.08),
        Array::from_slice([4], &[2i64, 0, -1, 2]).expect("it is small"),
    ];
    let program = trace(
        |t: Vec<Tensor>| {
            let operands = Operands { x: t[0], y: t[1], cube: t[2], square: t[3], ids: t[4] };
            composites.iter().map(|(_, composite)| composite(operands)).collect::<Vec<_>>()
        },
        &arrays,
    )
    .expect("the composites are right");
    let params: Vec<_> = arrays
        .iter()
        .map(|a| interp::Tensor::from_bytes(a.spec().clone(), &a.bytes().expect("on the host")).expect("its bytes"))
        .collect();
    let expected = interp::evaluate(program.graph(), &params).expect("it was traced");
    for device in common::devices().into_iter().chain(common::emulated()) {
        let mut exe = device.compile(&program).expect("it compiles");
        for _ in 0..2 {
            let outputs = exe.replay(&arrays).expect("it runs");
            assert_eq!(outputs.len(), expected.len());
            for ((output, expected), (name, _)) in outputs.iter().zip(&expected).zip(composites) {
                let place = device.place();
                assert_eq!(output.spec(), expected.spec(), "{name} on {place}");
                let array = output.to_array().expect("it can be read");
                let found = interp::Tensor::from_bytes(array.spec().clone(), &array.bytes().expect("on the host"));
                let found = found.expect("its bytes").to_f64_vec();
                let near =
                    |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 2e-6 + 4e-6 * b.abs();
                let expected = expected.to_f64_vec();
                let same = found.len() == expected.len() && found.iter().zip(&expected).all(near);
                assert!(same, "{name} on {place}: {found:?} is not {expected:?}");
            }
        }
    }
}

#[test]
fn products_and_norms() {
    check(PRODUCTS);
}

#[test]
fn moves() {
    check(MOVES);
}

#[test]
fn groups_and_searches() {
    check(COUNTS);
}

#[test]
fn resampling_and_losses() {
    check(LOSSES);
}
