//! What tracing records: graphs, places, names, frozen numbers, and the ways a trace can end.

#![allow(
    clippy::needless_borrows_for_generic_args,
    clippy::op_ref,
    reason = "references are operands too, and remedies are followed as printed"
)]

use monograph_compiler::trace::{
    Program, Tensor, cond, constant, fori_loop, probe, trace, trace_last, trace_step, trace_with,
};
use monograph_derive::Tree;
use monograph_ir::{Array, Binding, DType, Element, Error, Leaf, OutputKind, ParamKind, Spec, Tree as _, text, verify};

#[derive(Tree, Clone, Copy)]
#[tree(crate = "monograph_ir")]
struct Small<T> {
    w: T,
    b: T,
}

#[derive(Tree, Clone)]
#[tree(crate = "monograph_ir")]
struct Linear<T> {
    w: T,
    b: Option<T>,
}

#[derive(Tree, Clone)]
#[tree(crate = "monograph_ir")]
struct Mlp<T> {
    layers: Vec<Linear<T>>,
    head: [Linear<T>; 2],
    norm: (T, T),
    eps: f64,
}

fn a(shape: &[usize]) -> Array {
    Array::zeros::<f32>(shape).unwrap()
}

fn small() -> Small<Array> {
    Small { w: a(&[784, 10]), b: a(&[10]) }
}

fn mlp() -> Mlp<Array> {
    let layer = || Linear { w: a(&[4, 4]), b: Some(a(&[4])) };
    Mlp {
        layers: vec![layer(), layer()],
        head: [layer(), Linear { b: None, ..layer() }],
        norm: (a(&[4]), a(&[4])),
        eps: 1e-5,
    }
}

fn forward(m: &Small<Tensor>, x: &Tensor) -> Tensor {
    (x.matmul(&m.w) + &m.b).relu()
}

fn forward1((m, x): (Small<Tensor>, Tensor)) -> Tensor {
    forward(&m, &x)
}

fn names<S, I, O>(program: &Program<S, I, O>) -> Vec<&str> {
    program.inputs().map(|(name, _)| name).collect()
}

/// Compares the recorded graph with its text, without indentation.
fn check<S, I, O>(program: &Program<S, I, O>, expected: &str) {
    let lines =
        |text: &str| text.lines().map(str::trim).filter(|l| !l.is_empty()).map(String::from).collect::<Vec<_>>();
    let printed = text::print(program.graph());
    assert_eq!(lines(&printed), lines(expected), "\n{printed}");
    verify(program.graph()).unwrap();
    assert_eq!(text::parse(&printed, "").unwrap(), **program.graph());
}

#[test]
fn types_infer_without_annotations() {
    let (model, batch) = (small(), a(&[64, 784]));
    let x = || f32::spec([64, 784]);
    let by_closure = trace(|(m, x)| forward(&m, &x), (&model, x())).unwrap();
    let by_methods = trace(|(m, x)| (x.matmul(m.w) + m.b).relu(), (&model, &batch)).unwrap();
    let by_function = trace(forward1, (&model, &batch)).unwrap();
    let closure_last = trace_last((&model, x()), |(m, x)| forward(&m, &x)).unwrap();
    let specs: Small<Spec> = Small { w: f32::spec([784, 10]), b: f32::spec([10]) };
    let by_specs = trace(forward1, (&specs, x())).unwrap();
    for other in [&by_methods, &by_function, &closure_last, &by_specs] {
        assert_eq!(other.graph(), by_closure.graph());
    }
    trace(|x| x.relu(), f32::spec([3])).unwrap();
    trace(|(x, rate)| x * rate, (f32::spec([3]), 0.1f32)).unwrap();
    trace(|x: Tensor| x.sum(..) / x.shape()[0], f32::spec([3])).unwrap();
    trace(|()| monograph_compiler::trace::ones(DType::F32, [2]), ()).unwrap();
    trace(|_: Tensor| (), f32::spec([3])).unwrap();
}

#[test]
fn operators_take_tensors_references_arrays_and_numbers() {
    let w = a(&[3]);
    let program = trace(
        |(x, y)| {
            let _ = [x + y, &x + y, x + &y, &x + &y, x + 1.0, &x + 1.0, 1.0 + x, 1.0 + &x, x * 2, 2 * &x, -x, -&x];
            let _ = (1.0 / (1.0 + (-x).exp())).relu();
            let (rate, n): (f32, usize) = (0.1, 3);
            let _ = (x * rate / n).relu();
            let _ = 0.5 * (x + 1.0 / 3.0 * y);
            let mut z = x;
            z += y;
            z *= 2.0;
            z -= &y;
            let _ = z.sum(..).sum([] as [i32; 0]);
            let _ = (z.sum(-1), z.mean([0]), z.sum_keep([0usize]));
            let _ = x.gt(0.0).select(x, 0.0);
            let mask = x.gt(0.0) & y.le(1) | !x.is_nan() ^ true;
            let _ = x % 2.0 + mask.select(&w, constant(&w) + &w);
            let scaled: Vec<Tensor> = (0..3).map(|i| x * i).collect();
            scaled.into_iter().sum::<Tensor>() + x + &w + &w
        },
        (f32::spec([3]), f32::spec([3])),
    )
    .unwrap();
    // The array was captured once, by reference.
    assert_eq!(program.constants().len(), 1);
    assert!(program.constants()[0].same_storage(&w));
}

#[test]
fn arithmetic_is_recorded_with_explicit_broadcasts() {
    let program = trace(|(x, y)| (x * 2.0 + y).relu(), (f32::spec([3, 4]), f32::spec([4]).named("shift"))).unwrap();
    check(
        &program,
        r#"
        graph @main(input %0 "0": f32[3, 4], input %1 "shift": f32[4]) {
          %2 = constant 2.0 : f32[]
          %3 = broadcast %2 {shape = [3, 4]} : f32[3, 4]
          %4 = mul %0, %3 : f32[3, 4]
          %5 = broadcast %1 {shape = [3, 4]} : f32[3, 4]
          %6 = add %4, %5 : f32[3, 4]
          %7 = constant 0.0 : f32[]
          %8 = broadcast %7 {shape = [3, 4]} : f32[3, 4]
          %9 = maximum %6, %8 : f32[3, 4]
          return "output" = %9
        }"#,
    );
}

#[test]
fn composites_of_half_precision_compute_in_f32() {
    let program = trace(|x: Tensor| x.softmax(-1), half::f16::spec([2, 3])).unwrap();
    check(
        &program,
        r#"
        graph @main(input %0 "input": f16[2, 3]) {
          %1 = cast %0 {dtype = f32} : f32[2, 3]
          %2 = reduce_max %1 {axes = [1]} : f32[2]
          %3 = reshape %2 {shape = [2, 1]} : f32[2, 1]
          %4 = broadcast %3 {shape = [2, 3]} : f32[2, 3]
          %5 = sub %1, %4 : f32[2, 3]
          %6 = exp %5 : f32[2, 3]
          %7 = reduce_sum %6 {axes = [1]} : f32[2]
          %8 = reshape %7 {shape = [2, 1]} : f32[2, 1]
          %9 = broadcast %8 {shape = [2, 3]} : f32[2, 3]
          %10 = div %6, %9 : f32[2, 3]
          %11 = cast %10 {dtype = f16} : f16[2, 3]
          return "output" = %11
        }"#,
    );
}

#[test]
fn matmul_follows_numpy() {
    let shape = |a: &[usize], b: &[usize]| {
        let program = trace(|(a, b)| a.matmul(b), (f32::spec(a), f32::spec(b))).unwrap();
        program.output_form().to_string()
    };
    assert_eq!(shape(&[3], &[3]), "f32[]");
    assert_eq!(shape(&[2, 3], &[3]), "f32[2]");
    assert_eq!(shape(&[3], &[3, 4]), "f32[4]");
    assert_eq!(shape(&[2, 3], &[3, 4]), "f32[2, 4]");
    assert_eq!(shape(&[5, 1, 2, 3], &[7, 3, 4]), "f32[5, 7, 2, 4]");
    assert_eq!(shape(&[5, 2, 3], &[3]), "f32[5, 2]");
    assert_eq!(shape(&[4, 0], &[0, 4]), "f32[4, 4]");
}

#[test]
fn bodies_take_what_they_use() {
    let program = trace(
        |(x, y)| {
            let k = y.sum(..);
            fori_loop(3, x, |i, s: Tensor| s * k + i.cast(DType::F32))
        },
        (f32::spec([3]), f32::spec([4])),
    )
    .unwrap();
    check(
        &program,
        r#"
        graph @body(input %0 "i": i64[], input %1 "state": f32[3], input %2 "captured_0": f32[]) {
          %3 = broadcast %2 {shape = [3]} : f32[3]
          %4 = mul %1, %3 : f32[3]
          %5 = cast %0 {dtype = f32} : f32[]
          %6 = broadcast %5 {shape = [3]} : f32[3]
          %7 = add %4, %6 : f32[3]
          return "0" = %7, "1" = %2
        }
        graph @main(input %0 "0": f32[3], input %1 "1": f32[4]) {
          %2 = reduce_sum %1 {axes = [0]} : f32[]
          %3, %3.1 = fori_loop %0, %2 {count = 3, body = @body} : f32[3], f32[]
          return "output" = %3
        }"#,
    );
}

#[test]
fn both_branches_take_the_same_operands() {
    let program = trace(
        |(x, y, z)| cond(&x.sum(..).gt(0.0), || x * y, || z - x),
        (f32::spec([3]), f32::spec([3]), f32::spec([3])),
    )
    .unwrap();
    check(
        &program,
        r#"
        graph @then(input %0 "0": f32[3], input %1 "1": f32[3]) {
          %2 = mul %0, %1 : f32[3]
          %3 = parameter input "2" : f32[3]
          return "0" = %2
        }
        graph @otherwise(input %0 "0": f32[3], input %1 "1": f32[3], input %2 "2": f32[3]) {
          %3 = sub %2, %0 : f32[3]
          return "0" = %3
        }
        graph @main(input %0 "0": f32[3], input %1 "1": f32[3], input %2 "2": f32[3]) {
          %3 = reduce_sum %0 {axes = [0]} : f32[]
          %4 = constant 0.0 : f32[]
          %5 = gt %3, %4 : bool[]
          %6 = cond %5, %0, %1, %2 {then = @then, otherwise = @otherwise} : f32[3]
          return "output" = %6
        }"#,
    );
}

#[test]
fn bodies_nest_and_hold_trees() {
    let w = a(&[2]);
    let program = trace(
        |(x, n): (Tensor, Tensor)| {
            let state = Small { w: x, b: n };
            fori_loop(2, state, |i, s| {
                let inner = fori_loop(3, s.w, |j, t| t + &w + (i * j).cast(DType::F32));
                Small { w: inner, b: cond(&s.b.gt(0), || s.b - 1, || s.b) }
            })
        },
        (f32::spec([2]), i32::spec([])),
    )
    .unwrap();
    verify(program.graph()).unwrap();
    let printed = text::print(program.graph());
    assert_eq!(text::parse(&printed, "").unwrap(), **program.graph(), "{printed}");
    // The captured array reaches the inner loop through the outer one.
    let kinds: Vec<ParamKind> = program.graph().params().iter().map(|p| p.kind).collect();
    let input = ParamKind::Input(Binding::Copied);
    assert_eq!(kinds, [input, input, ParamKind::Constant]);
}

#[test]
fn inputs_are_named_by_their_place() {
    let program = trace(
        |(m, x)| {
            let mut x = x;
            for layer in &m.layers {
                x = x.matmul(layer.w);
                if let Some(b) = &layer.b {
                    x += b;
                }
            }
            x * m.norm.0 / (m.norm.1 + m.eps)
        },
        (&mlp(), f32::spec([2, 4])),
    )
    .unwrap();
    let expected = [
        "0.layers.0.w",
        "0.layers.0.b",
        "0.layers.1.w",
        "0.layers.1.b",
        "0.head.0.w",
        "0.head.0.b",
        "0.head.1.w",
        "0.norm.0",
        "0.norm.1",
        "1",
    ];
    assert_eq!(names(&program), expected);
    let program = trace(|(x, y)| (x, vec![y]), (f32::spec([1]).named("x").bound(), f32::spec([2]).named("1"))).unwrap();
    assert_eq!(names(&program), ["x", "1"]);
    assert_eq!(program.graph().params()[0].kind, ParamKind::Input(Binding::Bound));
    let outputs: Vec<&str> = program.graph().outputs().iter().map(|o| o.name.as_str()).collect();
    assert_eq!(outputs, ["0", "1.0"]);
}

#[test]
fn parameters_are_state_that_nothing_updates() {
    let model = small();
    let program = trace_with(&model, f32::spec([64, 784]), |m, x| forward(&m, &x)).unwrap();
    let params = program.graph().params();
    assert_eq!(params.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["w", "b", "input"]);
    assert_eq!((params[0].kind, params[1].kind), (ParamKind::State, ParamKind::State));
    assert!(program.graph().outputs().iter().all(|o| o.kind == OutputKind::Result));
    assert!(program.initial()[0].same_storage(&model.w) && program.initial().len() == 2);
    let form: &Small<Spec> = program.state_form();
    assert_eq!(form.b, f32::spec([10]));
}

#[test]
fn a_step_updates_its_state() {
    let state = Small { w: a(&[3]), b: a(&[]) };
    let program = trace_step(&state, (f32::spec([3]), 0.1f32), |mut s, (x, rate)| {
        let loss = (s.w * x).sum(..);
        s.w -= x * rate;
        (s, loss)
    })
    .unwrap();
    check(
        &program,
        r#"
        graph @main(state %0 "w": f32[3], state %1 "b": f32[], input %2 "0": f32[3], input %3 "1": f32[]) {
          %4 = mul %0, %2 : f32[3]
          %5 = reduce_sum %4 {axes = [0]} : f32[]
          %6 = broadcast %3 {shape = [3]} : f32[3]
          %7 = mul %2, %6 : f32[3]
          %8 = sub %0, %7 : f32[3]
          return state "w" = %8, "output" = %5
        }"#,
    );
    // Tracing changed nothing, and both states have what they hold at first.
    assert_eq!(state.w.to_vec::<f32>().unwrap(), [0.0; 3]);
    assert_eq!(program.initial().len(), 2);
    trace_step(&state, (), |s, ()| (s, ())).unwrap();
    let failed = trace_step(&state, f32::spec([3]), |s, x: Tensor| {
        let v = x.item::<f32>()?;
        Ok((s, x * v))
    });
    assert!(failed.unwrap_err().to_string().contains("MG0501"));
}

#[test]
fn captured_arrays_are_constants_by_reference() {
    let model = small();
    let program = trace(
        |x: Tensor| {
            let m = constant(&model);
            forward(&m, &x) + &model.b
        },
        f32::spec([64, 784]),
    )
    .unwrap();
    let params = program.graph().params();
    assert_eq!(params.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["input", "constant_0", "constant_1"]);
    assert!(program.constants()[0].same_storage(&model.w) && program.constants()[1].same_storage(&model.b));
}

#[test]
fn probes_are_outputs_of_their_own() {
    let program = trace(|x: Tensor| probe("middle", &(x * 2.0)) + 1.0, f32::spec([3])).unwrap();
    let outputs: Vec<_> = program.graph().outputs().iter().map(|o| (o.name.as_str(), o.kind)).collect();
    assert_eq!(outputs, [("middle", OutputKind::Probe), ("output", OutputKind::Result)]);
}

#[track_caller]
fn tracked_helper(x: Tensor, y: Tensor) -> Tensor {
    x + y
}

fn plain_helper(x: Tensor, y: Tensor) -> Tensor {
    x + y // PLACE plain
}

#[test]
fn every_root_error_has_its_place() {
    let traced = trace(
        |(x, y)| {
            let bad = x + y; // PLACE operator
            let swallowed = (bad * 2.0).relu();
            let multiply = |p: Tensor, q: Tensor| p.matmul(q); // PLACE closure
            let c = multiply(x, y);
            let h = tracked_helper(x, y); // PLACE helper
            let g = plain_helper(x, y);
            let axis = x.sum(3); // PLACE axis
            let dynamic: &dyn Fn(Tensor) -> Tensor = &|t| t * y; // PLACE dyn
            let d = dynamic(x);
            let mut z = x;
            z -= y; // PLACE assign
            let soft = x.softmax(7); // PLACE composite
            // A function pointer reports a place in the standard library: the caller of `trace` is shown instead.
            let indices: Vec<Tensor> = [x].iter().map(Tensor::nonzero).collect();
            drop(indices);
            swallowed + c + h + g + axis + d + z + soft
        },
        (f32::spec([3, 4]), f32::spec([5])),
    ); // the call
    let Err(Error::Rejected(diagnostics)) = traced else { panic!("accepted") };
    let source: Vec<&str> = include_str!("trace.rs").lines().collect();
    let places: Vec<&str> = diagnostics
        .iter()
        .map(|d| {
            let monograph_ir::Origin::Rust { file, line, .. } = &d.origin else { panic!("{d}") };
            assert!(file.ends_with("trace.rs"), "{d}");
            let line = source[*line as usize - 1];
            line.split("PLACE ").nth(1).unwrap_or(line.trim())
        })
        .collect();
    let expected =
        ["operator", "closure", "helper", "plain", "axis", "dyn", "assign", "composite", "let traced = trace("];
    assert_eq!(places, expected);
    let message = &diagnostics[7].message;
    assert_eq!(message, "`softmax`: f32[3, 4] has no axis 7");
}

#[test]
fn poison_keeps_what_is_known() {
    let failed = trace(
        |(x, n)| {
            let bad = n.exp();
            assert_eq!((bad.rank(), bad.dtype()), (0, DType::F32));
            let all_bad = (x + bad).sum(..);
            assert_eq!(all_bad.rank(), 0);
            // Poison of a known type infers as sound tensors do.
            let lost = cond(&bad, || x, || x).unsqueeze(0);
            assert_eq!(lost.rank(), 2);
            lost
        },
        (f32::spec([3]), i32::spec([3])),
    );
    let Err(Error::Rejected(diagnostics)) = failed else { panic!("accepted") };
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
}

#[test]
fn a_question_mark_ends_the_trace_with_its_diagnostic() {
    let by_result = trace(
        |x: Tensor| {
            let v = x.sum(..).item::<f32>()?;
            Ok(x * v)
        },
        f32::spec([3]),
    );
    let by_unwrap = trace(
        |x: Tensor| {
            let v: f32 = x.sum(..).item().unwrap();
            x * v
        },
        f32::spec([3]),
    );
    for error in [by_result.unwrap_err(), by_unwrap.unwrap_err()] {
        let Error::Rejected(diagnostics) = error else { panic!("{error}") };
        assert_eq!(diagnostics.len(), 1);
        assert_eq!(diagnostics[0].code.to_string(), "MG0501");
    }
    let other: Result<Program<(), Spec, Spec>, Error> =
        trace(|_: Tensor| Err::<Tensor, _>(Error::Internal("mine".into())), f32::spec([3]));
    assert!(matches!(other, Err(Error::Internal(text)) if text == "mine"));
}

#[test]
fn panics_go_on_unless_something_was_wrong_before() {
    let panic =
        std::panic::catch_unwind(|| trace(|x: Tensor| if x.rank() == 1 { panic!("mine") } else { x }, f32::spec([3])));
    assert_eq!(panic.err().and_then(|p| p.downcast_ref::<&str>().copied()), Some("mine"));
    // An index that only poison makes wrong: the diagnostic wins.
    let failed = trace(
        |(x, y)| {
            let bad = x + y;
            x * bad.shape()[1]
        },
        (f32::spec([3, 4]), f32::spec([5])),
    );
    assert!(matches!(failed, Err(Error::Rejected(d)) if d.len() == 1));
    // A panic inside a body leaves no trace behind on this thread.
    let failed = std::panic::catch_unwind(|| {
        trace(
            |x: Tensor| fori_loop(2, x, |_, s: Tensor| if s.rank() == 1 { panic!("in a body") } else { s }),
            f32::spec([3]),
        )
    });
    assert!(failed.is_err());
    trace(|x: Tensor| x + 1.0, f32::spec([3])).unwrap();
}

#[test]
fn traces_nest() {
    let program = trace(
        |x: Tensor| {
            let inner = trace(|y: Tensor| y * 2.0, f32::spec([2])).unwrap();
            assert_eq!(inner.graph().len(), 4);
            x + 1.0
        },
        f32::spec([3]),
    );
    assert_eq!(program.unwrap().graph().len(), 4);
}

#[test]
fn frozen_numbers_are_listed_unless_the_source_shows_them() {
    let rate: f32 = 0.1;
    let decay = 1e-3;
    let n = 7usize;
    let program = trace(
        |x: Tensor| {
            let y = x * 2.0 + 1;
            let y = y * rate;
            let y = y - y * decay;
            let y = y / n;
            let y = y * (1.0 / (3f32).sqrt());
            let y = y.maximum(-1_000.5);
            (0..3).fold(y, |y, i| y + i)
        },
        f32::spec([3]),
    )
    .unwrap();
    let frozen: Vec<(&str, &str)> = program.frozen().map(|f| (f.rust_type, f.value.as_str())).collect();
    let expected = [
        ("f32", "0.1"),
        ("f64", "0.001"),
        ("usize", "7"),
        ("f32", "0.57735026"),
        ("i32", "0"),
        ("i32", "1"),
        ("i32", "2"),
    ];
    assert_eq!(frozen, expected);
    assert_eq!(program.numbers().len(), expected.len() + 3);
}

#[test]
fn programs_cross_threads() {
    fn send_and_sync<T: Send + Sync>(_: &T) {}
    send_and_sync(&trace(forward1, (&small(), f32::spec([64, 784]))).unwrap());
    fn leaf<T: Leaf>() {}
    leaf::<Tensor>();
    let _ = small().map_leaves(&mut monograph_ir::Path::root(), &mut |_, array: &Array| array.spec().clone());
}

#[test]
fn a_panic_that_the_function_catches_leaves_no_body_open() {
    let program = trace(
        |x: Tensor| {
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                fori_loop(3, x, |_, s| cond(&s.sum(..).gt(0.0), || panic!("mine"), || s))
            }));
            assert!(caught.is_err());
            fori_loop(2, x, |_, s| s + x)
        },
        f32::spec([3]),
    )
    .unwrap();
    let ops: Vec<&str> = program.graph().nodes().iter().map(|n| n.op.name()).collect();
    assert_eq!(ops, ["parameter", "fori_loop"]);
    assert_eq!(program.output_form().to_string(), "f32[3]");
}

#[test]
fn inputs_that_cannot_exist_are_rejected_whatever_is_done_with_them() {
    for shape in [vec![usize::MAX, usize::MAX], vec![1 << 62, 4], vec![0, 1 << 62, 4]] {
        let rejected = trace(
            |x: Tensor| (x.flatten(), x.mean(..), x.std(0), x.nonzero_padded(4, 0), x.unique_padded(4, 0.0)),
            f32::spec(shape).named("big"),
        );
        let Err(Error::Rejected(diagnostics)) = rejected else { panic!("accepted") };
        let codes: Vec<String> = diagnostics.iter().map(|d| d.code.to_string()).collect();
        assert_eq!(codes, ["MG0004"], "{diagnostics:?}");
        assert!(diagnostics[0].message.contains("`big`"), "{}", diagnostics[0]);
    }
}
