//! Whole graphs: parameters, order of outputs, loops, limits, errors, cost; and the tensors themselves.

use crate::common::of;
use monograph_ir::interp::{EvalError, Limits, Tensor, cost, evaluate, evaluate_op, evaluate_with};
use monograph_ir::{
    Binding, DType, DynamicOp, Elementwise, Graph, HostOp, Literal, Op, Origin, OutputKind, ParamKind, Reduction,
    Region, Spec, ValueId,
};
use std::sync::Arc;

const INPUT: ParamKind = ParamKind::Input(Binding::Copied);

fn param(g: &mut Graph, name: &str, spec: Spec) -> ValueId {
    g.parameter(name, spec, INPUT, Origin::Unknown)
}

fn apply(g: &mut Graph, op: impl Into<Op>, operands: &[ValueId]) -> ValueId {
    g.apply(op, operands, Origin::Unknown).expect("the op takes these operands")
}

fn returns(mut g: Graph, values: &[ValueId]) -> Graph {
    for (i, &value) in values.iter().enumerate() {
        g.output(i.to_string(), value, OutputKind::Result);
    }
    g
}

fn scalar(dtype: DType) -> Spec {
    Spec::new(dtype, [])
}

fn literal(value: i64) -> Op {
    Op::Constant(Literal::from_i64(DType::I64, value))
}

#[test]
fn outputs_come_in_order_and_may_repeat() {
    let mut g = Graph::new("f");
    let spec = Spec::new(DType::F32, [2]);
    let (x, y) = (param(&mut g, "x", spec.clone()), param(&mut g, "y", spec));
    let sum = apply(&mut g, Elementwise::Add, &[x, y]);
    let square = apply(&mut g, Elementwise::Mul, &[sum, sum]);
    let g = returns(g, &[square, x, sum, square]);
    let (a, b) = (of(DType::F32, [2], &[1., 2.]), of(DType::F32, [2], &[3., 5.]));
    let found = evaluate(&g, &[a.clone(), b]).unwrap();
    let (sum, square) = (of(DType::F32, [2], &[4., 7.]), of(DType::F32, [2], &[16., 49.]));
    assert_eq!(found, [square.clone(), a, sum, square]);
}

#[test]
fn wrong_parameters_are_named() {
    let mut g = Graph::new("f");
    let x = param(&mut g, "left.w", Spec::new(DType::F32, [2]));
    let g = returns(g, &[x]);
    let e = evaluate(&g, &[]).unwrap_err();
    assert_eq!(e.to_string(), "graph `f` takes 1 parameters, but was given 0");
    let e = evaluate(&g, &[of(DType::F16, [3], &[0.; 3])]).unwrap_err();
    assert_eq!(e.to_string(), "parameter `left.w` is f32[2], but was given f16[3]");
}

#[test]
fn rejected_ops_are_errors_even_where_nothing_needs_them() {
    for op in [Op::Host(HostOp::Print), Op::Dynamic(DynamicOp::Nonzero)] {
        let mut g = Graph::new("f");
        let x = param(&mut g, "x", Spec::new(DType::F32, [2]));
        g.add(op.clone(), &[x], Origin::Imported("there".into())).unwrap();
        let g = returns(g, &[x]);
        let e = evaluate(&g, &[of(DType::F32, [2], &[0.; 2])]).unwrap_err();
        assert_eq!(e, EvalError::Rejected { op: op.name(), origin: Origin::Imported("there".into()) });
        let e = evaluate_op(&op, &[of(DType::F32, [2], &[0.; 2])]).unwrap_err();
        assert_eq!(e, EvalError::Rejected { op: op.name(), origin: Origin::Unknown });
    }
}

#[test]
fn operands_that_an_op_does_not_take_are_errors() {
    let (a, b) = (of(DType::F32, [2], &[0.; 2]), of(DType::F32, [3], &[0.; 3]));
    let e = evaluate_op(&Elementwise::Add.into(), &[a.clone(), b]).unwrap_err();
    assert_eq!(e.to_string(), "`add`: f32[2] with f32[3]: the shapes differ");
    assert!(matches!(evaluate_op(&Elementwise::Add.into(), &[a]), Err(EvalError::Infer(_))));
    assert!(matches!(evaluate_op(&Op::Parameter(0), &[]), Err(EvalError::Infer(_))));
}

#[test]
fn what_does_not_fit_into_memory_is_an_error() {
    let mut g = Graph::new("f");
    let op = Op::Iota { dtype: DType::F64, shape: [1 << 59].into(), axis: 0 };
    let x = g.apply(op, &[], Origin::Imported("huge".into())).unwrap();
    let g = returns(g, &[x]);
    let e = evaluate(&g, &[]).unwrap_err();
    assert_eq!(e, EvalError::OutOfMemory { bytes: 1 << 62, origin: Origin::Imported("huge".into()) });
    let spec = Spec::new(DType::F64, [1 << 59]);
    assert!(matches!(Tensor::full(spec, Literal::zero(DType::F64)), Err(EvalError::OutOfMemory { .. })));
}

/// `(x, y) -> (op(x, y), x)`
fn branch(op: Elementwise) -> Region {
    let mut g = Graph::new("branch");
    let (x, y) = (param(&mut g, "x", scalar(DType::I64)), param(&mut g, "y", scalar(DType::I64)));
    let z = apply(&mut g, op, &[x, y]);
    Region(Arc::new(returns(g, &[z, x])))
}

#[test]
fn cond_takes_one_branch() {
    let op = Op::Cond { then: branch(Elementwise::Add), otherwise: branch(Elementwise::Sub) };
    for (truth, expected) in [(true, 10i64), (false, 4)] {
        let found = evaluate_op(&op, &[Tensor::scalar(truth), Tensor::scalar(7i64), Tensor::scalar(3i64)]).unwrap();
        assert_eq!(found, [Tensor::scalar(expected), Tensor::scalar(7i64)]);
    }
}

/// `while n < limit: (n + 1, a + n)`
fn count_up(limit: i64) -> Op {
    let state = |g: &mut Graph| [param(g, "n", scalar(DType::I64)), param(g, "a", scalar(DType::I64))];
    let mut condition = Graph::new("condition");
    let [n, _] = state(&mut condition);
    let end = apply(&mut condition, literal(limit), &[]);
    let holds = apply(&mut condition, Elementwise::Lt, &[n, end]);
    let mut body = Graph::new("body");
    let [n, a] = state(&mut body);
    let one = apply(&mut body, literal(1), &[]);
    let (next, sum) = (apply(&mut body, Elementwise::Add, &[n, one]), apply(&mut body, Elementwise::Add, &[a, n]));
    let condition = Region(Arc::new(returns(condition, &[holds])));
    Op::While { condition, body: Region(Arc::new(returns(body, &[next, sum]))) }
}

#[test]
fn while_runs_until_its_condition_fails_or_its_limit() {
    let zero = Tensor::scalar(0i64);
    let found = evaluate_op(&count_up(10), &[zero.clone(), zero.clone()]).unwrap();
    assert_eq!(found, [Tensor::scalar(10i64), Tensor::scalar(45i64)]);
    let found = evaluate_op(&count_up(0), &[zero.clone(), zero.clone()]).unwrap();
    assert_eq!(found, [zero.clone(), zero.clone()]);

    let mut g = Graph::new("f");
    let x = param(&mut g, "x", scalar(DType::I64));
    let id = g.add(count_up(10), &[x, x], Origin::Imported("loop".into())).unwrap();
    let g = returns(g, &[ValueId { node: id, result: 1 }]);
    let run = |rounds| evaluate_with(&g, std::slice::from_ref(&zero), &Limits { rounds });
    assert_eq!(run(10).unwrap(), [Tensor::scalar(45i64)]);
    assert_eq!(run(9).unwrap_err(), EvalError::Rounds { limit: 9, origin: Origin::Imported("loop".into()) });
}

#[test]
fn for_counts_its_rounds() {
    let mut body = Graph::new("body");
    let i = param(&mut body, "i", scalar(DType::I64));
    let (a, b) = (param(&mut body, "a", scalar(DType::I64)), param(&mut body, "b", scalar(DType::I64)));
    let sum = apply(&mut body, Elementwise::Add, &[a, b]);
    let with = apply(&mut body, Elementwise::Add, &[sum, i]);
    let body = Region(Arc::new(returns(body, &[b, with])));
    let (zero, one) = (Tensor::scalar(0i64), Tensor::scalar(1i64));
    // a, b = b, a + b + i: 0 1, 1 1, 1 3, 3 6, 6 12.
    for (count, a, b) in [(0, 0i64, 1i64), (1, 1, 1), (2, 1, 3), (4, 6, 12)] {
        let op = Op::For { count, body: body.clone() };
        let found = evaluate_op(&op, &[zero.clone(), one.clone()]).unwrap();
        assert_eq!(found, [Tensor::scalar(a), Tensor::scalar(b)], "{count}");
    }
}

#[test]
fn updates_in_a_loop_leave_the_operand_of_the_caller_alone() {
    let mut body = Graph::new("body");
    let i = param(&mut body, "i", scalar(DType::I64));
    let x = param(&mut body, "x", Spec::new(DType::I64, [4]));
    let block = apply(&mut body, Op::Reshape([1].into()), &[i]);
    let next = apply(&mut body, Op::DynamicUpdateSlice, &[x, block, i]);
    let body = Region(Arc::new(returns(body, &[next])));
    let x = Tensor::from_vec([4], vec![9i64; 4]).unwrap();
    let found = evaluate_op(&Op::For { count: 3, body }, std::slice::from_ref(&x)).unwrap();
    assert_eq!(found, [Tensor::from_vec([4], vec![0i64, 1, 2, 9]).unwrap()]);
    assert_eq!(x, Tensor::from_vec([4], vec![9i64; 4]).unwrap());
}

#[test]
fn tensors_are_made_and_read() {
    let x = Tensor::from_vec([2], vec![1.5f32, -0.0]).unwrap();
    assert_eq!(x.bytes(), [0, 0, 0xc0, 0x3f, 0, 0, 0, 0x80]);
    // Bytes may begin at any address.
    let bytes = [0xff, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0x80];
    assert_eq!(Tensor::from_bytes(x.spec().clone(), &bytes[1..]).unwrap(), x);
    assert_ne!(x, Tensor::from_vec([2], vec![1.5f32, 0.0]).unwrap());
    let nan = Tensor::scalar(f64::NAN);
    assert_eq!(nan, nan.clone());
    assert_eq!((x.get_f64(0), x.get_f64(2)), (Some(1.5), None));
    assert_eq!(x.elements::<f32>(), Some(&[1.5, -0.0][..]));
    assert_eq!(x.elements::<f64>(), None);
    let truth = Tensor::from_bytes(Spec::new(DType::Bool, [3]), &[0, 1, 7]).unwrap();
    assert_eq!(truth.bytes(), [0, 1, 1]);
    let full = Tensor::full(Spec::new(DType::BF16, [2, 1]), Literal::from_f64(DType::BF16, -2.0)).unwrap();
    assert_eq!(full, of(DType::BF16, [2, 1], &[-2., -2.]));
    assert_eq!(format!("{x:?}"), "f32[2] [1.5, -0.0]");

    let e = Tensor::from_bytes(Spec::new(DType::I32, [2]), &[0; 7]).unwrap_err();
    assert_eq!(e.to_string(), "i32[2] has 8 bytes, but was given 7");
    let e = Tensor::from_vec([2, 2], vec![0u8; 3]).unwrap_err();
    assert_eq!(e.to_string(), "u8[2, 2] has 4 elements, but was given 3");
    assert!(Tensor::full(Spec::new(DType::F32, [1]), Literal::zero(DType::F64)).is_err());
    assert!(x.reshape([3]).is_err());
}

#[test]
fn every_constant_is_its_literal() {
    for dtype in DType::ALL {
        let value = Literal::from_i64(dtype, 1);
        let found = evaluate_op(&Op::Constant(value), &[]).unwrap();
        assert_eq!(found, [of(dtype, [], &[1.0])]);
    }
}

#[test]
fn cost_counts_scalar_operations() {
    let mut g = Graph::new("f");
    let (a, b) = (param(&mut g, "a", Spec::new(DType::F32, [3, 5])), param(&mut g, "b", Spec::new(DType::F32, [5, 7])));
    assert_eq!(cost(&g), 0);
    let c = apply(&mut g, Op::Matmul { transpose_a: false, transpose_b: false }, &[a, b]);
    assert_eq!(cost(&g), 2 * 3 * 5 * 7);
    apply(&mut g, Op::Reduce { kind: Reduction::Sum, axes: [0usize, 1][..].into() }, &[c]);
    assert_eq!(cost(&g), 2 * 3 * 5 * 7 + 21);
    let at = apply(&mut g, Op::Reshape([5, 3].into()), &[a]);
    let before = cost(&g);
    apply(&mut g, Op::Matmul { transpose_a: true, transpose_b: false }, &[at, b]);
    assert_eq!(cost(&g) - before, 2 * 3 * 5 * 7);

    let mut g = Graph::new("loops");
    let x = param(&mut g, "x", scalar(DType::I64));
    g.add(count_up(10), &[x, x], Origin::Unknown).unwrap();
    assert_eq!(cost(&g), 2 + 3, "one round: a constant and a comparison, a constant and two sums");
    let mut body = Graph::new("body");
    let (i, s) = (param(&mut body, "i", scalar(DType::I64)), param(&mut body, "s", scalar(DType::I64)));
    let s = apply(&mut body, Elementwise::Add, &[i, s]);
    let body = Region(Arc::new(returns(body, &[s])));
    g.add(Op::For { count: u64::MAX, body }, &[x], Origin::Unknown).unwrap();
    assert_eq!(cost(&g), u64::MAX, "saturates");
}
