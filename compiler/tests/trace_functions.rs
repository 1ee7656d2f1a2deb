//! Functions made of rows: what they refuse, and that f16 is computed in f32 and rounded once.

use monograph_compiler::trace::{Tensor, trace};
use monograph_ir::{DType, Element, Elementwise, Error, Op, Spec};

/// A method of two tensors.
type Method = fn(Tensor, Tensor) -> Tensor;

/// The messages of the diagnostics of `f` over two inputs.
fn rejected(a: Spec, b: Spec, f: impl FnOnce(Tensor, Tensor) -> Tensor) -> Vec<String> {
    match trace(|(a, b)| f(a, b), (a, b)) {
        Err(Error::Rejected(diagnostics)) => diagnostics.into_iter().map(|d| d.message).collect(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was accepted"),
    }
}

#[test]
fn floats_are_asked_for_by_the_name_of_the_method() {
    let methods: &[(&str, Method)] = &[
        ("logaddexp", |a, b| a.logaddexp(b)),
        ("logaddexp2", |a, b| a.logaddexp2(b)),
        ("sinc", |a, _| a.sinc()),
        ("deg2rad", |a, _| a.deg2rad()),
        ("rad2deg", |a, _| a.rad2deg()),
        ("nan_to_num_with", |a, b| a.nan_to_num_with(b, b, b)),
        ("is_close", |a, b| a.is_close(b, 0.0, 0.0)),
        ("all_close", |a, b| a.all_close(b, 0.0, 0.0)),
        ("leaky_relu", |a, _| a.leaky_relu(0.5)),
        ("elu", |a, _| a.elu(1.0)),
        ("celu", |a, _| a.celu(1.0)),
        ("selu", |a, _| a.selu()),
        ("hard_tanh", |a, _| a.hard_tanh()),
        ("hard_sigmoid", |a, _| a.hard_sigmoid()),
        ("hard_swish", |a, _| a.hard_swish()),
        ("mish", |a, _| a.mish()),
        ("softsign", |a, _| a.softsign()),
        ("log_sigmoid", |a, _| a.log_sigmoid()),
    ];
    for (name, method) in methods {
        let messages = rejected(i32::spec([4]), i32::spec([4]), method);
        assert_eq!(messages, [format!("`{name}` takes a float dtype (f16, bf16, f32, f64), not i32")]);
    }
    let messages = rejected(f32::spec([4]), f32::spec([4]), |a, _| a.count_ones());
    assert!(messages.len() == 1 && messages[0].contains("count_ones"), "{messages:?}");
}

#[test]
fn operands_of_two_dtypes_or_of_shapes_that_do_not_fit_are_one_error() {
    let methods: &[(&str, Method)] = &[
        ("fmax", |a, b| a.fmax(b)),
        ("fmin", |a, b| a.fmin(b)),
        ("logaddexp", |a, b| a.logaddexp(b)),
        ("logaddexp2", |a, b| a.logaddexp2(b)),
        ("heaviside", |a, b| a.heaviside(b)),
        ("nan_to_num_with", |a, b| a.nan_to_num_with(b, 0.0, 0.0)),
        ("is_close", |a, b| a.is_close(b, 0.0, 0.0)),
        ("hypot", |a, b| a.hypot(b)),
        ("copysign", |a, b| a.copysign(b)),
        ("nextafter", |a, b| a.nextafter(b)),
    ];
    for (name, method) in methods {
        for (a, b) in [(f32::spec([4]), f64::spec([4])), (f32::spec([4]), f32::spec([3]))] {
            let messages = rejected(a, b, method);
            assert_eq!(messages.len(), 1, "{name}: {messages:?}");
            assert!(messages[0].contains(&format!("`{name}`")), "{name}: {messages:?}");
        }
    }
}

#[test]
fn halves_are_computed_in_f32_and_rounded_once() {
    let methods: &[fn(Tensor) -> Tensor] = &[
        |x| x.sinc(),
        |x| x.logaddexp(x),
        |x| x.deg2rad(),
        |x| x.mish(),
        |x| x.selu(),
        |x| x.hard_swish(),
        |x| x.log_sigmoid(),
    ];
    for method in methods {
        let program = trace(|x: Tensor| method(x), half::f16::spec([4])).unwrap();
        let narrowed = program.graph().nodes().iter().filter(|n| n.op == Op::Cast(DType::F16)).count();
        assert_eq!(narrowed, 1);
        let last = program.graph().outputs()[0].value.node;
        assert_eq!(program.graph().node(last).op, Op::Cast(DType::F16));
    }
    // A row is one op in the dtype itself.
    let program = trace(|x: Tensor| x.lgamma(), half::f16::spec([4])).unwrap();
    let last = program.graph().outputs()[0].value.node;
    assert_eq!(program.graph().node(last).op, Op::Elementwise(Elementwise::Lgamma));
}
