//! What the operations compute, by the reference interpreter, against numbers worked out by hand.

use half::f16;
use monograph_compiler::trace::{
    Program, Tensor, arange, concat, cond, constant, cross_entropy, fori_loop, full, iota, mse_loss, ones, stack,
    trace, where_, zeros,
};
use monograph_ir::{Array, DType, Element, ParamKind, interp};
use std::f64::consts::LN_2;

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

fn vector<T: Element>(values: &[T]) -> Array {
    Array::from_slice([values.len()], values).unwrap()
}

fn matrix<const N: usize>(rows: &[[f32; N]]) -> Array {
    Array::from_slice([rows.len(), N], rows.as_flattened()).unwrap()
}

/// The outputs of a program for the values of its inputs.
fn run<S, I, O>(program: &Program<S, I, O>, inputs: &[&Array]) -> Vec<interp::Tensor> {
    let (mut inputs, mut states, mut constants) =
        (inputs.iter().copied(), program.initial().iter(), program.constants().iter());
    let params = program.graph().params().iter().map(|param| {
        let array = match param.kind {
            ParamKind::Input(_) => inputs.next(),
            ParamKind::State => states.next(),
            ParamKind::Constant => constants.next(),
        };
        let array = array.unwrap_or_else(|| panic!("no value for `{}`", param.name));
        interp::Tensor::from_bytes(array.spec().clone(), &array.bytes().unwrap()).unwrap()
    });
    let params: Vec<_> = params.collect();
    interp::evaluate(program.graph(), &params).unwrap()
}

/// The only output of `f` of one array, as f64.
fn of(x: &Array, f: impl FnOnce(Tensor) -> Tensor) -> Vec<f64> {
    run(&trace(f, x).unwrap(), &[x])[0].to_f64_vec()
}

/// The same of two arrays.
fn of2(x: &Array, y: &Array, f: impl FnOnce(Tensor, Tensor) -> Tensor) -> Vec<f64> {
    run(&trace(|(x, y)| f(x, y), (x, y)).unwrap(), &[x, y])[0].to_f64_vec()
}

#[track_caller]
fn close(found: Vec<f64>, expected: &[f64]) {
    let near = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 3e-7 * b.abs().max(1e-3);
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?} is not {expected:?}");
}

#[test]
fn activations() {
    let x = vector(&[0.0f32, 1.0, -1.0]);
    close(of(&x, |x| x.relu()), &[0.0, 1.0, 0.0]);
    close(of(&x, |x| x.sigmoid()), &[0.5, 0.731_058_578_630_004_9, 0.268_941_421_369_995_1]);
    close(of(&x, |x| x.silu()), &[0.0, 0.731_058_578_630_004_9, -0.268_941_421_369_995_1]);
    close(of(&x, |x| x.gelu()), &[0.0, 0.841_344_746_068_542_9, -0.158_655_253_931_457_1]);
    close(of(&x, |x| x.gelu_tanh()), &[0.0, 0.841_191_990_608_276_1, -0.158_808_009_391_723_9]);
    close(of(&x, |x| x.softplus()), &[LN_2, 1.313_261_687_518_222_8, 0.313_261_687_518_222_8]);
    close(of(&vector(&[1000.0f32, -1000.0]), |x| x.softplus()), &[1000.0, 0.0]);
    close(of(&vector(&[4.0f32, 0.5]), |x| x.reciprocal() + x.square()), &[16.25, 2.25]);
    close(of(&vector(&[NAN, 5.0, -5.0]), |x| x.clamp(-1.0, 2)), &[f64::NAN, 2.0, -1.0]);
    // 0.26894 is 1101.58 steps of 2^-12.
    close(of(&vector(&[f16::from_f32(-1.0)]), |x| x.sigmoid()), &[1102.0 / 4096.0]);
}

#[test]
fn means_do_not_overflow_and_variances_are_not_negative() {
    close(of(&vector(&[f16::from_f32(60000.0); 2]), |x| x.mean(..)), &[60000.0]);
    close(of(&vector(&[3e38f32; 3]), |x| x.mean(0)), &[3e38f32 as f64]);
    close(of(&vector(&[1.0f32, 2.0, 4.0]), |x| x.mean(..)), &[7.0 / 3.0]);
    close(of(&matrix(&[[1.0, 2.0], [5.0, 8.0]]), |x| x.mean(-1)), &[1.5, 6.5]);
    close(of(&matrix(&[[1.0, 2.0], [5.0, 8.0]]), |x| x.mean_keep(0)), &[3.0, 5.0]);
    close(of(&vector::<f32>(&[]), |x| x.mean(..)), &[f64::NAN]);
    close(of(&vector(&[1.0f32, 2.0, 4.0]), |x| x.var(..)), &[14.0 / 9.0]);
    close(of(&vector(&[1.0f32, 2.0, 4.0]), |x| x.std(..)), &[1.247_219_128_924_647]);
    close(of(&vector(&[996.5f32; 7]), |x| x.var(..)), &[0.0]);
    let near = of(&vector(&[996.5f32, 996.5001, 996.4999]), |x| x.var(..))[0];
    assert!((0.0..1e-7).contains(&near), "{near}");
    close(of(&vector(&[f16::from_f32(300.0), f16::from_f32(-300.0)]), |x| x.var(..)), &[f64::INFINITY]);
    close(of(&vector(&[f16::from_f32(300.0), f16::from_f32(-300.0)]), |x| x.std(..)), &[300.0]);
}

#[test]
fn softmax_family() {
    let ln = |v: f32| v.ln();
    let x = vector(&[0.0, ln(2.0), ln(3.0)]);
    close(of(&x, |x| x.softmax(0)), &[1.0 / 6.0, 1.0 / 3.0, 0.5]);
    close(of(&x, |x| x.log_softmax(-1)), &[-1.791_759_469_228_055, -1.098_612_288_668_11, -LN_2]);
    close(of(&vector(&[1000.0f32, 1000.0]), |x| x.softmax(0)), &[0.5, 0.5]);
    close(of(&vector(&[-INF, -INF]), |x| x.softmax(0)), &[f64::NAN, f64::NAN]);
    close(of(&vector(&[-INF, 0.0]), |x| x.softmax(0)), &[0.0, 1.0]);
    close(of(&vector(&[1000.0f32, 1000.0]), |x| x.logsumexp(..)), &[1_000.693_147_180_56]);
    close(of(&vector(&[-INF, -INF]), |x| x.logsumexp(0)), &[f64::NEG_INFINITY]);
    close(of(&vector(&[INF, 0.0]), |x| x.logsumexp(0)), &[f64::INFINITY]);
    close(of(&vector(&[NAN, 0.0]), |x| x.logsumexp(0)), &[f64::NAN]);
    let (logits, targets) = (matrix(&[[0.0, ln(3.0)], [ln(3.0), 0.0]]), vector(&[1i64, 1]));
    let expected = (0.287_682_072_451_780_9 + 1.386_294_361_119_890_6) / 2.0;
    close(of2(&logits, &targets, |x, t| cross_entropy(&x, &t)), &[expected]);
    close(of2(&vector(&[1.0f32, 4.0]), &vector(&[2.0f32, 2.0]), |a, b| mse_loss(&a, b)), &[2.5]);
}

#[test]
fn normalizations() {
    let root = 1.224_744_871_391_589;
    let x = vector(&[1.0f32, 2.0, 3.0]);
    close(of(&x, |x| x.layer_norm(ones(DType::F32, [3]), zeros(DType::F32, [3]), 0.0)), &[-root, 0.0, root]);
    close(of(&x, |x| x.layer_norm(2.0, 1.0, 0.0)), &[1.0 - 2.0 * root, 1.0, 1.0 + 2.0 * root]);
    close(of(&vector(&[3.0f32, 4.0]), |x| x.rms_norm(1.0, 0.0)), &[0.848_528_137_423_857, 1.131_370_849_898_476]);
}

#[test]
fn reductions_and_scans() {
    let x = matrix(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    close(of(&x, |x| x.sum(..)), &[21.0]);
    close(of(&x, |x| x.sum([1, 0])), &[21.0]);
    close(of(&x, |x| x.prod(0)), &[4.0, 10.0, 18.0]);
    close(of(&x, |x| x.max_keep(-1)), &[3.0, 6.0]);
    close(of(&x, |x| x.min(1)), &[1.0, 4.0]);
    close(of(&x, |x| x.gt(5.5).any(1).cast(DType::I32)), &[0.0, 1.0]);
    close(of(&x, |x| x.gt(0.5).all(..).cast(DType::I32)), &[1.0]);
    close(of(&x, |x| x.gt(2.5).count(..)), &[4.0]);
    close(of(&x, |x| x.cumsum(1)), &[1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
    close(of(&x, |x| x.cumprod(0)), &[1.0, 2.0, 3.0, 4.0, 10.0, 18.0]);
    close(of(&vector(&[1.0f32, 3.0, 2.0]), |x| x.cummax(0)), &[1.0, 3.0, 3.0]);
    close(of(&vector(&[0.0, NAN, 5.0, NAN]), |x| x.argmax(0)), &[1.0]);
    close(of(&vector(&[7.0f32; 16]), |x| x.argmin(0)), &[0.0]);
    close(of(&vector(&[3u8, 255]), |x| x.sum(..)), &[2.0]);
    close(of(&vector(&[3u8, 255]), |x| x.sum_as(DType::I64, ..)), &[258.0]);
}

#[test]
fn products() {
    let (a, b) = (matrix(&[[1.0, 2.0], [3.0, 4.0]]), matrix(&[[5.0, 6.0], [7.0, 8.0]]));
    close(of2(&a, &b, |a, b| a.matmul(b)), &[19.0, 22.0, 43.0, 50.0]);
    close(of2(&a, &b, |a, b| a.t().matmul(b.t())), &[23.0, 31.0, 34.0, 46.0]);
    let v = vector(&[1.0f32, 10.0]);
    close(of2(&a, &v, |a, v| a.matmul(v)), &[21.0, 43.0]);
    close(of2(&v, &a, |v, a| v.matmul(a)), &[31.0, 42.0]);
    close(of2(&v, &v, |v, w| v.matmul(w)), &[101.0]);
    let batch = Array::from_slice([2, 1, 2], &[1.0f32, 0.0, 0.0, 1.0]).unwrap();
    close(of2(&batch, &a, |x, a| x.matmul(a)), &[1.0, 2.0, 3.0, 4.0]);
    let empty = Array::zeros::<f32>([2, 0]).unwrap();
    close(of2(&empty, &empty, |a, b| a.matmul(b.t())), &[0.0; 4]);
}

#[test]
fn rearrangements() {
    let x = matrix(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    close(of(&x, |x| x.t()), &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    close(of(&x, |x| x.permute([1, 0])), &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    close(of(&x, |x| x.slice(1, 1..).flatten()), &[2.0, 3.0, 5.0, 6.0]);
    close(of(&x, |x| x.slice_step(-1, .., 2)), &[1.0, 3.0, 4.0, 6.0]);
    close(of(&x, |x| x.slice(0, 1..=1).squeeze(0)), &[4.0, 5.0, 6.0]);
    close(of(&x, |x| x.flip(1)), &[3.0, 2.0, 1.0, 6.0, 5.0, 4.0]);
    close(of(&x, |x| concat(&[x, x.slice(1, ..1)], 1)), &[1.0, 2.0, 3.0, 1.0, 4.0, 5.0, 6.0, 4.0]);
    close(of(&x, |x| stack(&[x, -x], -1).slice(0, ..1)), &[1.0, -1.0, 2.0, -2.0, 3.0, -3.0]);
    close(of(&vector(&[1.0f32, 2.0, 3.0]), |x| x.pad(&[-1], &[1], 9)), &[2.0, 3.0, 9.0]);
    close(of(&x, |x| x.tril(0)), &[1.0, 0.0, 0.0, 4.0, 5.0, 0.0]);
    close(of(&x, |x| x.triu(1)), &[0.0, 2.0, 3.0, 0.0, 0.0, 6.0]);
    close(of(&x, |x| x.unsqueeze(1).broadcast_to([2, 2, 3]).sum(1)), &[2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    close(of(&vector(&[1.0f32]), |x| x.bitcast(DType::I32)), &[1_065_353_216.0]);
    close(of(&vector(&[NAN, INF, -2.7]), |x| x.cast(DType::I32)), &[0.0, 2_147_483_647.0, -2.0]);
}

#[test]
fn gathers_and_scatters() {
    let x = matrix(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let i = vector(&[2i64, 0, 7]);
    close(of2(&x, &i, |x, i| x.take(i, 1)), &[3.0, 1.0, 0.0, 6.0, 4.0, 0.0]);
    close(of2(&x, &i, |x, i| x.index_select(0, i.slice(0, 1..))), &[1.0, 2.0, 3.0, 0.0, 0.0, 0.0]);
    close(of2(&x, &vector(&[1i32, 0]), |x, i| x.take_along(i.unsqueeze(1), 1)), &[2.0, 4.0]);
    // The backward pass of an embedding of ids [0, 0, 2].
    let ids = vector(&[0i64, 0, 2]);
    close(of(&ids, |ids| zeros(DType::F32, [3, 1]).scatter_add(ids, ones(DType::F32, [3, 1]), 0)), &[2.0, 0.0, 1.0]);
    close(
        of2(&vector(&[1.0f32, 2.0]), &vector(&[1i64, 5]), |x, i| x.scatter_set(i, &vector(&[8.0f32, 9.0]), 0)),
        &[1.0, 8.0],
    );
    close(of2(&x, &vector(&[1i32]), |x, ids| x.embedding(ids)), &[4.0, 5.0, 6.0]);
    close(of(&vector(&[1i32, 5]), |x| x.one_hot(3, DType::F32)), &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    let start = vector(&[1i64]);
    close(
        of2(&x, &start, |x, s| {
            let s = s.reshape([]);
            x.dynamic_slice(&[s, s], [1, 2])
        }),
        &[5.0, 6.0],
    );
    let updated = of2(&x, &start, |x, s| {
        let s = s.reshape([]);
        x.dynamic_update_slice(full(DType::F32, [1, 1], 9.0), &[s - 1, s])
    });
    close(updated, &[1.0, 9.0, 3.0, 4.0, 5.0, 6.0]);
    close(of(&x, |x| x.masked_fill(&x.gt(4.5), -1.0)), &[1.0, 2.0, 3.0, 4.0, -1.0, -1.0]);
    close(of(&x, |x| where_(&x.lt(2.5), 0.0, x)), &[0.0, 0.0, 3.0, 4.0, 5.0, 6.0]);
    close(of(&x, |_| iota(DType::I32, [2, 2], 1) + arange(DType::I32, 2).unsqueeze(1)), &[0.0, 1.0, 1.0, 2.0]);
}

#[test]
fn sorting_is_stable_and_puts_nan_last() {
    close(of(&vector(&[3.0, NAN, 1.0, NAN, 2.0]), |x| x.argsort(0)), &[2.0, 4.0, 0.0, 1.0, 3.0]);
    close(of(&vector(&[3.0, NAN, 1.0, NAN, 2.0]), |x| x.sort(0)), &[1.0, 2.0, 3.0, f64::NAN, f64::NAN]);
    close(of(&vector(&[0.0f32, -0.0, 0.0]), |x| x.argsort(0)), &[0.0, 1.0, 2.0]);
    close(of(&vector(&[0.0f32, -0.0, 0.0]), |x| x.argsort_descending(0)), &[0.0, 1.0, 2.0]);
    close(of(&vector(&[2i32, 9, 2, -1]), |x| x.sort_descending(0)), &[9.0, 2.0, 2.0, -1.0]);
    let x = matrix(&[[3.0, 1.0], [2.0, 5.0], [1.0, 4.0]]);
    close(of(&x, |x| x.sort(0)), &[1.0, 1.0, 2.0, 4.0, 3.0, 5.0]);
    close(of(&x, |x| x.sort(1)), &[1.0, 3.0, 2.0, 5.0, 1.0, 4.0]);
    close(of(&x, |x| x.argsort(0)), &[2.0, 0.0, 1.0, 2.0, 0.0, 1.0]);
    close(of(&x, |x| x.topk(2, 0).0), &[3.0, 5.0, 2.0, 4.0]);
    close(of(&x, |x| x.topk(2, 0).1), &[0.0, 1.0, 1.0, 2.0]);
    close(of(&vector(&[1.0, NAN, 7.0, 7.0]), |x| x.topk(3, -1).1), &[1.0, 2.0, 3.0]);
    close(of(&vector::<f32>(&[]), |x| x.sort(0)), &[]);
    close(of(&vector(&[true, false]), |x| x.argsort(0)), &[1.0, 0.0]);
}

#[test]
fn fixed_sizes_fill_and_drop() {
    let x = vector(&[0.0f32, 3.0, 0.0, -1.0, 5.0]);
    close(of(&x, |x| x.nonzero_padded(4, -1)), &[1.0, 3.0, 4.0, -1.0]);
    close(of(&x, |x| x.nonzero_padded(2, -1)), &[1.0, 3.0]);
    close(of(&x, |x| x.nonzero_padded(0, -1)), &[]);
    close(of(&x, |x| x.masked_select_padded(&x.gt(0.0), 3, 9.5)), &[3.0, 5.0, 9.5]);
    let y = vector(&[2.0, NAN, 1.0, 2.0, NAN, 1.0]);
    close(of(&y, |y| y.unique_padded(5, -7)), &[1.0, 2.0, f64::NAN, -7.0, -7.0]);
    close(of(&vector(&[4i32, 4, 3]), |x| x.unique_padded(1, 0)), &[3.0]);
    close(of(&vector::<i32>(&[]), |x| x.unique_padded(2, 6)), &[6.0, 6.0]);
    let two = matrix(&[[0.0, 1.0], [1.0, 0.0]]);
    close(of(&two, |x| x.nonzero_padded(3, 99)), &[1.0, 2.0, 99.0]);
}

#[test]
fn control_flow() {
    let branch = |x: Tensor| cond(&x.sum(..).gt(0.0), || x * 2.0, || x - 1.0);
    close(of(&vector(&[1.0f32, 2.0]), branch), &[2.0, 4.0]);
    close(of(&vector(&[-1.0f32, -2.0]), branch), &[-2.0, -3.0]);
    let k = vector(&[2.0f32]);
    close(of(&vector(&[1.0f32]), |x| fori_loop(3, x, |i, s| s * constant(&k) + i.cast(DType::F32))), &[12.0]);
    let nested = of(&vector(&[1.0f32]), |x| {
        let y = x * 10.0;
        fori_loop(2, (x, y), |_, (a, b)| (a + y, cond(&a.sum(..).gt(5.0), || b + a, || b))).1
    });
    // Round 0: a = 1, b = 10. Round 1: a = 11, b = 10 + 11.
    close(nested, &[21.0]);
    close(of(&vector(&[4.0f32]), |x| fori_loop(0, x, |_, s| s * 2.0)), &[4.0]);
}

#[test]
fn integers_and_bools() {
    let (a, b) = (vector(&[-7i32, 7, 5, i32::MIN]), vector(&[2i32, -3, 0, -1]));
    close(of2(&a, &b, |a, b| a / b), &[-3.0, -2.0, -1.0, i32::MIN as f64]);
    close(of2(&a, &b, |a, b| a.div_floor(b)), &[-4.0, -3.0, -1.0, i32::MIN as f64]);
    close(of2(&a, &b, |a, b| a % b), &[-1.0, 1.0, 5.0, 0.0]);
    close(of2(&a, &b, |a, b| a.mod_floor(b)), &[1.0, -2.0, 5.0, 0.0]);
    close(of(&vector(&[48u8]), |x| x.shift_left(4).shift_right(4)), &[0.0]);
    close(of(&vector(&[6i32]), |x| (x & 3) | (x ^ 5) & !x), &[3.0]);
    close(of(&vector(&[true, false]), |x| (x ^ true).select(1, 2)), &[2.0, 1.0]);
}
