//! Composite operations: values worked out by hand, properties against plain loops, and what wrong uses are told.

mod arithmetic;
mod data;
mod einsum;
mod losses;
mod resample;
mod scans;
mod shaping;

use monograph_compiler::Options;
use monograph_compiler::passes::optimize;
use monograph_compiler::trace::{
    ClassLoss, Interpolation, LossReduction, Norm, PadMode, Program, ScanForm, Side, Tensor, bce_with_logits,
    cross_entropy_with, einsum, eye, huber_loss, segment_mean, trace,
};
use monograph_ir::{Array, Element, Error, Outputs, ParamKind, Returned, Spec, interp, verify};

/// The outputs of a program for the values of its inputs, which the passes do not change.
fn run<S, I, O>(program: &Program<S, I, O>, inputs: &[Array]) -> Vec<interp::Tensor> {
    verify(program.graph()).unwrap();
    let mut inputs = inputs.iter();
    let params: Vec<_> = program
        .graph()
        .params()
        .iter()
        .map(|param| {
            assert!(matches!(param.kind, ParamKind::Input(_)), "`{}` is no input", param.name);
            let array = inputs.next().unwrap_or_else(|| panic!("no value for `{}`", param.name));
            interp::Tensor::from_bytes(array.spec().clone(), &array.bytes().unwrap()).unwrap()
        })
        .collect();
    let outputs = interp::evaluate(program.graph(), &params).unwrap();
    let optimized = optimize(program.graph(), &Options::default()).unwrap();
    for (before, after) in outputs.iter().zip(interp::evaluate(&optimized, &params).unwrap()) {
        let mut elements = before.to_f64_vec().into_iter().zip(after.to_f64_vec());
        let same = |(a, b): (f64, f64)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        assert!(before.spec() == after.spec() && elements.all(same), "{before:?} became {after:?}");
    }
    outputs
}

/// Shape and elements of the only output of `f` of arrays.
fn of(arrays: &[Array], f: impl FnOnce(&[Tensor]) -> Tensor) -> (Vec<usize>, Vec<f64>) {
    let specs: Vec<Spec> = arrays.iter().map(|a| a.spec().clone()).collect();
    let program = trace(|x: Vec<Tensor>| f(&x), &specs).unwrap();
    let output = run(&program, arrays).remove(0);
    (output.shape().to_vec(), output.to_f64_vec())
}

/// The same of one array.
fn of1(array: Array, f: impl FnOnce(Tensor) -> Tensor) -> (Vec<usize>, Vec<f64>) {
    of(&[array], |x| f(x[0]))
}

/// An array with those elements.
fn array<T: Element>(shape: &[usize], elements: &[T]) -> Array {
    Array::from_slice(shape, elements).unwrap()
}

/// 0, 1, 2, … in f32.
fn counting(shape: &[usize]) -> Array {
    let elements: Vec<f32> = (0..shape.iter().product::<usize>()).map(|i| i as f32).collect();
    array(shape, &elements)
}

/// Whether shape and elements are those, NaN being NaN.
#[track_caller]
fn is((shape, elements): (Vec<usize>, Vec<f64>), expected_shape: &[usize], expected: &[f64]) {
    assert_eq!(shape, expected_shape, "{elements:?}");
    let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
    let all = elements.len() == expected.len() && elements.iter().zip(expected).all(same);
    assert!(all, "{elements:?} is not {expected:?}");
}

/// The same within some roundings of f32.
#[track_caller]
fn is_near((shape, elements): (Vec<usize>, Vec<f64>), expected_shape: &[usize], expected: &[f64]) {
    assert_eq!(shape, expected_shape, "{elements:?}");
    let near = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 4e-7 * b.abs().max(1e-3);
    let all = elements.len() == expected.len() && elements.iter().zip(expected).all(near);
    assert!(all, "{elements:?} is not {expected:?}");
}

/// The messages of the diagnostics of a trace over f32 tensors of those shapes, and their remedies.
fn wrong<R>(shapes: &[&[usize]], f: impl FnOnce(&[Tensor]) -> R) -> Vec<String>
where
    R: Returned,
    R::Value: Outputs<Tensor>,
{
    let specs: Vec<Spec> = shapes.iter().map(|&shape| f32::spec(shape)).collect();
    wrong_of(&specs, f)
}

/// The same over tensors of those specs.
fn wrong_of<R>(specs: &[Spec], f: impl FnOnce(&[Tensor]) -> R) -> Vec<String>
where
    R: Returned,
    R::Value: Outputs<Tensor>,
{
    match trace(|x: Vec<Tensor>| f(&x), &specs.to_vec()) {
        Ok(program) => panic!("it was accepted: {}", monograph_ir::text::print(program.graph())),
        Err(Error::Rejected(diagnostics)) => {
            for diagnostic in &diagnostics {
                assert!(diagnostic.origin.to_string().contains("composites"), "{:?}", diagnostic.origin);
            }
            diagnostics.into_iter().map(|d| d.message).collect()
        }
        Err(other) => panic!("{other}"),
    }
}

/// The constants of a composite are its own: none is listed as a number that the host froze.
#[test]
fn no_number_of_a_composite_is_the_users() {
    let composites = |(x, ids): (Tensor, Tensor)| {
        let how = ClassLoss { label_smoothing: 0.1, ignore_index: Some(-100), ..ClassLoss::default() };
        let resized = x.interpolate(&[9, 5], Interpolation::Linear { align_corners: false });
        [
            einsum("ij,kj", &[x, x]),
            x.diag(1) + eye(x.dtype(), 1, 4, 1).sum(..),
            x.pad_with(&[3, 1], &[0, 2], PadMode::Reflect).roll(1, 0),
            x.cumprod_with(0, ScanForm { exclusive: true, reverse: true }),
            x.logcumsumexp(1),
            x.histogram(3, 0.0, 1.0) + ids.bincount(3) + x.searchsorted(x, Side::Left).sum(..),
            segment_mean(&x, &ids, 3) + x.take_at(&[ids]).sum(..),
            x.normalize(Norm::P(1.5), 1, 1e-6) + x.cosine_similarity(x, 0, 1e-6),
            resized.adaptive_avg_pool(&[2, 2]) + resized.adaptive_max_pool(&[2, 2]),
            huber_loss(&x, x, 1.0, LossReduction::Mean) + bce_with_logits(&x, x, LossReduction::Sum),
            cross_entropy_with(&x, &ids, how) + x.unique_inverse().cast(x.dtype()).mean(..),
        ]
    };
    let program = trace(composites, (f32::spec([4, 4]), i64::spec([4]))).unwrap();
    assert_eq!(program.numbers(), []);
}
