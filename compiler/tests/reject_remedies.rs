//! Each remedy that a rejection names, followed: the program is accepted and computes what was meant.

#![allow(
    clippy::needless_borrows_for_generic_args,
    clippy::op_ref,
    reason = "references are operands too, and remedies are followed as printed"
)]

use monograph_compiler::reject;
use monograph_compiler::trace::{Program, Tensor, arange, cond, fori_loop, probe, trace};
use monograph_ir::{Array, DType, Element, Spec, interp, verify};

/// The outputs, each as f64, of an accepted program for the values of its inputs.
fn run<S, I, O>(program: &Program<S, I, O>, inputs: &[Array]) -> Vec<Vec<f64>> {
    verify(program.graph()).unwrap();
    reject::check(program.graph()).unwrap();
    let value = |a: &Array| interp::Tensor::from_bytes(a.spec().clone(), &a.bytes().unwrap()).unwrap();
    let inputs: Vec<_> = inputs.iter().map(value).collect();
    interp::evaluate(program.graph(), &inputs).unwrap().iter().map(interp::Tensor::to_f64_vec).collect()
}

fn v<T: Element>(values: &[T]) -> Array {
    Array::from_slice([values.len()], values).unwrap()
}

fn one<R>(f: impl FnOnce(Tensor) -> R, x: Array) -> Vec<Vec<f64>>
where
    R: monograph_ir::Returned,
    R::Value: monograph_ir::Outputs<Tensor>,
{
    run(&trace(f, &x).unwrap(), &[x])
}

#[test]
fn nonzero() {
    let x = || v(&[0.0f32, 3.0, 4.0]);
    assert_eq!(one(|x| x.nonzero_padded(4, -1), x()), [[1.0, 2.0, -1.0, -1.0]]);
    assert_eq!(one(|x| x.ne(0.0).select(&x, 0.0), x()), [[0.0, 3.0, 4.0]]);
}

#[test]
fn masked_select() {
    let x = || v(&[-1.0f32, 3.0, 4.0]);
    assert_eq!(one(|x| x.masked_select_padded(&x.gt(0.0), 3, 0.5), x()), [[3.0, 4.0, 0.5]]);
    assert_eq!(one(|x| x.gt(0.0).select(&x, 0.0).sum(..), x()), [[7.0]]);
}

#[test]
fn unique() {
    assert_eq!(one(|x| x.unique_padded(3, -1), v(&[5i32, 2, 5])), [[2.0, 5.0, -1.0]]);
}

#[test]
fn repeat_interleave() {
    // Element `i` goes to the places from the number of copies before it: place `p` reads how many ends lie at or
    // before it.
    let program = trace(
        |(x, counts)| {
            let ends = counts.cumsum(0);
            let places = arange(DType::I64, 6).unsqueeze(1);
            let indices = ends.le(places).count(1);
            x.take(&indices, 0)
        },
        (f32::spec([3]), i64::spec([3])),
    )
    .unwrap();
    let found = run(&program, &[v(&[7.0f32, 8.0, 9.0]), v(&[2i64, 0, 3])]);
    assert_eq!(found, [[7.0, 7.0, 9.0, 9.0, 9.0, 0.0]]);
}

#[test]
fn dynamic_range() {
    let f = |end: Tensor| {
        let i = arange(DType::I64, 10);
        i.lt(&end).select(&i, 0).sum(0)
    };
    assert_eq!(one(f, Array::scalar(4i64)), [[6.0]]);
}

#[test]
fn while_loop() {
    let f = |x: Tensor| {
        fori_loop(20, x, |_, x| {
            let goes_on = x.sum(..).lt(100.0);
            goes_on.select(&(x * 2.0), &x)
        })
    };
    assert_eq!(one(f, v(&[1.0f32, 2.0])), [[64.0, 128.0]]);
}

#[test]
fn item() {
    assert_eq!(one(|x| (x, x.sum(..)), v(&[1.0f32, 3.0])), [vec![1.0, 3.0], vec![4.0]]);
    assert_eq!(one(|x| x / x.sum(..), v(&[1.0f32, 3.0])), [[0.25, 0.75]]);
    let chosen = |x: Tensor| {
        let mask = x.sum(..).gt(0.0);
        (mask.select(&x, &-x), cond(&mask, || x * 2.0, || x))
    };
    assert_eq!(one(chosen, v(&[-1.0f32, -3.0])), [[1.0, 3.0], [-1.0, -3.0]]);
}

#[test]
fn print_assert_and_to_vec() {
    let f = |x: Tensor| {
        probe("x", &x);
        probe("all finite", &x.log().is_finite().all(..));
        x + 1.0
    };
    assert_eq!(one(f, v(&[1.0f32, 0.0])), [vec![1.0, 0.0], vec![0.0], vec![2.0, 1.0]]);
}

#[test]
fn structural_errors() {
    let two = |x: Spec, y: Spec, f: fn((Tensor, Tensor)) -> Tensor| trace(f, (x, y)).unwrap().output_form().to_string();
    assert_eq!(two(f32::spec([3, 4]), f32::spec([3]), |(x, y)| x + y.unsqueeze(-1)), "f32[3, 4]");
    assert_eq!(two(f32::spec([3]), i32::spec([3]), |(x, n)| x * n.cast(DType::F32)), "f32[3]");
    assert_eq!(two(f32::spec([8, 3]), f32::spec([4, 3]), |(x, w)| x.matmul(w.t())), "f32[8, 4]");
    let y = trace(|n: Tensor| n.cast(DType::F32) * 0.5, i32::spec([3])).unwrap();
    assert_eq!(y.output_form().to_string(), "f32[3]");
}
