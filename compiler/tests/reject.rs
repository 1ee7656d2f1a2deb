//! Rendered diagnostics of functions that are rejected, compared whole with `tests/snapshots/`.
//!
//! After a wanted change, `INSTA_UPDATE=always cargo test -p monograph-compiler --test reject` writes them anew.

#![allow(
    clippy::needless_borrows_for_generic_args,
    clippy::op_ref,
    reason = "references are operands too, and remedies are followed as printed"
)]

use monograph_compiler::diagnostics::{Sources, explain, from_parse_error, render, render_all};
use monograph_compiler::reject;
use monograph_compiler::trace::{
    Tensor, concat, cond, cross_entropy, dynamic_range, fori_loop, ones, probe, trace, trace_step, while_loop, zeros,
};
use monograph_ir::{Array, DType, Diagnostic, Element, Error, Spec, text};

fn f(shape: &[usize]) -> Spec {
    f32::spec(shape)
}

/// The diagnostics of a rejected trace, rendered with their source lines; every code has an explanation.
#[track_caller]
fn rendered<T>(traced: Result<T, Error>) -> String {
    let Err(Error::Rejected(diagnostics)) = traced else { panic!("accepted, or another error") };
    assert!(diagnostics.iter().all(|d| explain(d.code).is_some()));
    render_all(&diagnostics, &Sources::disk(), false)
}

macro_rules! rejected {
    ($($name:ident: $traced:expr;)*) => {$(
        #[test]
        fn $name() {
            let mut settings = insta::Settings::clone_current();
            settings.set_prepend_module_to_snapshot(false);
            settings.set_omit_expression(true);
            settings.bind(|| insta::assert_snapshot!(stringify!($name), rendered($traced)));
        }
    )*};
}

rejected! {
    nonzero_and_its_uses: trace(
        |x: Tensor| {
            let positive = x.relu();
            let indices = positive.nonzero();
            let shifted = indices + 1;
            let chosen = x.take(shifted, 0);
            let total = chosen.mean(0) * 2;
            total + total.sum(0)
        },
        f(&[100]).named("scores"),
    );

    masked_select: trace(
        |(x, y)| {
            let mask = x.gt(&y);
            x.masked_select(&mask).sum(0)
        },
        (f(&[8]).named("x"), f(&[8]).named("y")),
    );

    unique_of_an_input: trace(|x: Tensor| x.unique(), i32::spec([16]));

    repeat_interleave: trace(|(x, n)| x.repeat_interleave(n * 2), (f(&[3]), i64::spec([3])));

    range_to_a_traced_value: trace(|n: Tensor| dynamic_range(&n), i64::spec([]));

    two_dynamic_ops_in_a_row: trace(
        |x: Tensor| {
            let chosen = x.masked_select(&x.gt(0.0));
            chosen.unique()
        },
        f(&[8]),
    );

    dynamic_in_a_branch: trace(
        |x: Tensor| {
            cond(
                &x.sum(..).gt(0.0),
                || x.take(x.nonzero(), 0).sum(0),
                || x.sum(0),
            )
        },
        f(&[8]),
    );

    while_loop_over_data: trace(
        |x: Tensor| while_loop(x, |x| x.sum(..).lt(100.0), |x| x * 2.0),
        f(&[4]).named("start"),
    );

    item_of_a_sum: trace(
        |x: Tensor| {
            let total: f32 = (x * 2.0).sum(..).item()?;
            Ok(x / total)
        },
        f(&[3]).named("x"),
    );

    to_vec: trace(
        |x: Tensor| {
            let values = x.to_vec::<f32>()?;
            Ok(x * values[0])
        },
        f(&[3]),
    );

    print_and_assert: trace(
        |x: Tensor| {
            x.print();
            let y = x.log();
            y.is_finite().assert();
            y
        },
        f(&[3]),
    );

    print_inside_a_loop: trace(
        |x: Tensor| fori_loop(3, x, |_, s| { s.print(); s * 2.0 }),
        f(&[3]),
    );

    shapes_do_not_broadcast: trace(
        |(x, y)| {
            let z = x.exp();
            z + y
        },
        (f(&[3, 4]), f(&[3])),
    );

    dtypes_differ: trace(|(x, n)| x * n, (f(&[3]), i32::spec([3]).named("count")));

    inner_dimensions_differ: trace(|(x, w)| x.matmul(w), (f(&[8, 3]).named("x"), f(&[4, 3]).named("w")));

    no_such_axis: trace(|x: Tensor| x.softmax(2), f(&[3, 4]));

    a_composite_is_named: trace(|n: Tensor| n.softmax(0), i32::spec([3]));

    a_fraction_beside_integers: trace(|n: Tensor| n * 0.5, i32::spec([3]));

    a_mask_that_is_no_mask: trace(|x: Tensor| x.select(x, 0.0), f(&[3]));

    an_empty_axis_has_no_maximum: trace(|x: Tensor| x.max(0), f(&[0, 3]));

    a_slice_outside: trace(|x: Tensor| x.slice(0, 2..9), f(&[4]));

    a_reshape_of_another_size: trace(|x: Tensor| x.reshape([5]), f(&[2, 3]));

    concat_of_different_shapes: trace(|(x, y)| concat(&[x, y], 0), (f(&[2, 3]), f(&[2, 4])));

    targets_of_another_shape: trace(
        |(logits, targets)| cross_entropy(&logits, &targets),
        (f(&[8, 10]), i64::spec([7])),
    );

    too_many_elements: trace(|x: Tensor| x + zeros(DType::F32, [1 << 40, 1 << 40]), f(&[]));

    branches_of_different_shapes: trace(
        |x: Tensor| cond(&x.sum(..).gt(0.0), || x, || x.sum_keep(..)),
        f(&[3]),
    );

    a_state_that_grows: trace_step(
        &Array::scalar(0.0f32),
        f(&[5]).named("x"),
        |count, x| (count + x, ()),
    );

    a_state_of_another_structure: trace_step(
        &vec![Array::scalar(0.0f32), Array::scalar(0.0f32)],
        (),
        |mut state, ()| {
            state.pop();
            (state, ())
        },
    );

    a_probe_in_a_body: trace(|x: Tensor| fori_loop(3, x, |_, s| probe("s", &(s * 2.0))), f(&[3]));

    an_input_name_twice: trace(|(x, y)| x + y, (f(&[3]).named("x"), f(&[3]).named("x")));

    a_probe_name_twice: trace(|x: Tensor| probe("x", &probe("x", &x)), f(&[3]));

    a_tensor_of_another_trace: {
        let mut leaked = None;
        trace(|x: Tensor| { leaked = Some(x.exp()); x }, f(&[3])).unwrap();
        trace(|x: Tensor| x + leaked.unwrap(), f(&[3]))
    };

    a_tensor_of_no_trace: {
        let one = ones(DType::F32, [3]);
        trace(|x: Tensor| x + one, f(&[3]))
    };

    a_tensor_that_left_its_body: trace(
        |x: Tensor| {
            let mut leaked = x;
            let y = fori_loop(3, x, |_, s| { leaked = s * 2.0; leaked });
            y + leaked
        },
        f(&[3]),
    );
}

/// The diagnostics of textual IR.
fn of_text(source: &str) -> Vec<Diagnostic> {
    let graph = text::parse(source, "model.mg").unwrap();
    reject::check(&graph).unwrap_err()
}

#[test]
fn textual_ir_is_rejected_at_its_line() {
    let source = "graph @main(input %0 \"x\": f32[8]) {\n  %1 = neg %0 : f32[8]\n  %2 = nonzero %1 : i64[?]\n  print %0\n  return \"i\" = %2\n}\n";
    let diagnostics = of_text(source);
    let rendered = render_all(&diagnostics, &Sources::none().with_text("model.mg", source), false);
    assert_eq!(
        rendered,
        "\
error[MG0301]: the shape of `nonzero` depends on data, so it cannot be part of a CUDA graph
 --> model.mg:3:8
  |
3 |   %2 = nonzero %1 : i64[?]
  |        ^^^^^^^^^^^^^^^^^^^ how many elements this gives is known only at run time
  |
note: a tensor of type f32[8] is made here, from input `x`
 --> model.mg:2:8
  |
2 |   %1 = neg %0 : f32[8]
  |        ---------------
help: `nonzero_padded(size, fill)` gives the first `size` indices, then `fill`
help: if the indices only choose elements, a mask does: `x.ne(0.0).select(&x, 0.0)`

error[MG0503]: `print` reads a tensor on the host, but inside a trace there is no value yet
 --> model.mg:4:3
  |
4 |   print %0
  |   ^^^^^^^^ needs the values now
  |
note: input `x` is of type f32[8]
help: `probe(\"name\", &x)` makes it readable after each replay, with `exe.probe(\"name\")`"
    );
    // Without the text, the place alone.
    let plain = render(&diagnostics[1], &Sources::none(), false);
    assert!(plain.contains("\n--> model.mg:4:3\n"), "{plain}");
    assert!(render(&diagnostics[1], &Sources::none(), true).contains("\u{1b}["));
}

#[test]
fn parse_errors_are_rendered_at_their_place() {
    let source = "graph @main(input %0 \"x\": f32[8]) {\n  %1 = nag %0 : f32[8]\n  return \"y\" = %1\n}\n";
    let error = text::parse(source, "model.mg").unwrap_err();
    let rendered = render(&from_parse_error(&error), &Sources::none().with_text("model.mg", source), false);
    let expected =
        "error[MG0006]: the textual IR does not parse\n --> model.mg:2:8\n  |\n2 |   %1 = nag %0 : f32[8]\n  |        ";
    assert!(rendered.starts_with(expected), "{rendered}");
}
