//! The egg stage as a whole: sharing, depth, size, determinism, origins.

use monograph_compiler::Options;
use monograph_compiler::passes::{dce, optimize};
use monograph_compiler::rewrite::rewrite;
use monograph_ir::interp::{Tensor, evaluate};
use monograph_ir::{
    Binding, DType, Elementwise, Graph, Literal, Op, Origin, OutputKind, ParamKind, Shape, Spec, ValueId, text, verify,
};
use std::time::Instant;

fn input(graph: &mut Graph, name: &str, shape: &[usize]) -> ValueId {
    graph.parameter(name, Spec::new(DType::F32, shape), ParamKind::Input(Binding::Copied), Origin::Unknown)
}

fn apply(graph: &mut Graph, op: impl Into<Op>, operands: &[ValueId]) -> ValueId {
    graph.apply(op, operands, Origin::Unknown).unwrap()
}

fn finish(mut graph: Graph, value: ValueId) -> Graph {
    graph.output("r", value, OutputKind::Result);
    graph
}

/// `x + x` of it, and so on: 2^`levels` paths lead to the parameter.
fn doublings(graph: &mut Graph, x: ValueId, levels: usize) -> ValueId {
    (0..levels).fold(x, |x, _| apply(graph, Elementwise::Add, &[x, x]))
}

#[test]
fn sharing_does_not_hide_what_is_cheaper() {
    // A tree's price would be 2^100 on both sides, and a rounded sum of such prices sees no difference.
    let mut before = Graph::new("g");
    let x = input(&mut before, "x", &[4]);
    let shared = doublings(&mut before, x, 100);
    let neg = apply(&mut before, Elementwise::Neg, &[shared]);
    let neg = apply(&mut before, Elementwise::Neg, &[neg]);
    let before = finish(before, neg);

    let mut after = Graph::new("g");
    let x = input(&mut after, "x", &[4]);
    let shared = doublings(&mut after, x, 100);
    let after = finish(after, shared);
    let result = rewrite(&before, &Options::default()).unwrap();
    assert!(dce(&result).unwrap() == after, "{}", text::print(&result));

    // The value is used twice, so that it must not be computed in two ways either.
    let mut before = Graph::new("g");
    let x = input(&mut before, "x", &[4]);
    let one = apply(&mut before, Op::Constant(Literal::one(DType::F32)), &[]);
    let ones = apply(&mut before, Op::Broadcast(Shape::from([4])), &[one]);
    let mut value = x;
    for _ in 0..100 {
        let same = apply(&mut before, Elementwise::Mul, &[value, ones]);
        value = apply(&mut before, Elementwise::Add, &[value, same]);
    }
    let result = rewrite(&finish(before, value), &Options::default()).unwrap();
    assert!(dce(&result).unwrap() == after, "{}", text::print(&result));
}

#[test]
fn alternatives_that_share_are_preferred() {
    // `exp(a) - (-b)` may be an addition, but `-b` is computed anyway: one op less either way, never one more.
    let mut graph = Graph::new("g");
    let (a, b) = (input(&mut graph, "a", &[8]), input(&mut graph, "b", &[8]));
    let neg = apply(&mut graph, Elementwise::Neg, &[b]);
    let sub = apply(&mut graph, Elementwise::Sub, &[a, neg]);
    graph.output("neg", neg, OutputKind::Result);
    graph.output("sub", sub, OutputKind::Result);
    let result = rewrite(&graph, &Options::default()).unwrap();
    assert_eq!(result.len(), 4);
}

#[test]
fn work_moves_below_a_broadcast_through_a_long_chain() {
    let mut graph = Graph::new("g");
    let x = input(&mut graph, "x", &[4]);
    let mut value = apply(&mut graph, Op::Broadcast(Shape::from([1000, 4])), &[x]);
    for i in 0..100 {
        value = apply(&mut graph, if i % 2 == 0 { Elementwise::Exp } else { Elementwise::Tanh }, &[value]);
    }
    let result = optimize(&finish(graph, value), &Options::default()).unwrap();
    let last = result.node(result.outputs()[0].value.node);
    assert_eq!(last.op, Op::Broadcast(Shape::from([1000, 4])), "{}", text::print(&result));
    assert_eq!(result.len(), 102);
}

#[test]
fn fast_math_is_asked_for() {
    let mut graph = Graph::new("g");
    let x = input(&mut graph, "x", &[]);
    let difference = apply(&mut graph, Elementwise::Sub, &[x, x]);
    let graph = finish(graph, difference);
    assert!(optimize(&graph, &Options::default()).unwrap() == graph);
    let mut options = Options::default();
    options.fast_math = true;
    let result = optimize(&graph, &options).unwrap();
    assert_eq!(result.node(result.outputs()[0].value.node).op, Op::Constant(Literal::zero(DType::F32)));
}

#[test]
fn a_class_has_the_origin_of_its_earliest_node() {
    let at = |line| Origin::Text { file: "test".into(), line, column: 1 };
    let mut graph = Graph::new("g");
    let x = input(&mut graph, "x", &[4]);
    let exp = graph.apply(Elementwise::Exp, &[x], at(1)).unwrap();
    let neg = graph.apply(Elementwise::Neg, &[exp], at(2)).unwrap();
    let back = graph.apply(Elementwise::Neg, &[neg], at(3)).unwrap();
    let sum = graph.apply(Elementwise::Add, &[x, neg], at(4)).unwrap();
    graph.output("back", back, OutputKind::Result);
    graph.output("sum", sum, OutputKind::Result);
    let result = dce(&rewrite(&graph, &Options::default()).unwrap()).unwrap();
    let found: Vec<String> =
        result.iter().skip(1).map(|(id, n)| format!("{} {}", n.op.name(), result.origin(id))).collect();
    assert_eq!(found, ["exp test:1:1", "sub test:4:1"]);
}

/// A chain of steps of ten nodes each, as the layers of a network: products, broadcasts, things to simplify.
fn layers(steps: usize) -> Graph {
    let mut graph = Graph::new("g");
    let mut x = input(&mut graph, "x", &[8, 16]);
    let w = input(&mut graph, "w", &[16, 16]);
    let b = input(&mut graph, "b", &[16]);
    let one = apply(&mut graph, Op::Constant(Literal::one(DType::F32)), &[]);
    let ones = apply(&mut graph, Op::Broadcast(Shape::from([8, 16])), &[one]);
    for step in 0..steps {
        let scale = Literal::from_f64(DType::F32, step as f64 + 0.5);
        let scale = apply(&mut graph, Op::Constant(scale), &[]);
        let scale = apply(&mut graph, Op::Broadcast(Shape::from([16])), &[scale]);
        let bias = apply(&mut graph, Elementwise::Mul, &[b, scale]);
        let bias = apply(&mut graph, Op::Broadcast(Shape::from([8, 16])), &[bias]);
        let product = apply(&mut graph, Op::Matmul { transpose_a: false, transpose_b: false }, &[x, w]);
        let sum = apply(&mut graph, Elementwise::Add, &[product, bias]);
        let scaled = apply(&mut graph, Elementwise::Mul, &[sum, ones]);
        let tanh = apply(&mut graph, Elementwise::Tanh, &[scaled]);
        let neg = apply(&mut graph, Elementwise::Neg, &[tanh]);
        x = apply(&mut graph, Elementwise::Sub, &[x, neg]);
    }
    finish(graph, x)
}

#[test]
fn large_graphs_take_linear_time() {
    for steps in [20, 200, 2000] {
        let graph = layers(steps);
        let start = Instant::now();
        let result = rewrite(&graph, &Options::default()).unwrap();
        let rewriting = start.elapsed();
        let start = Instant::now();
        let all = optimize(&graph, &Options::default()).unwrap();
        println!("{} nodes: rewrite {rewriting:?}, optimize {:?}, {} left", graph.len(), start.elapsed(), all.len());
        verify(&result).unwrap();
        // `* 1` and `- -` are gone in every window.
        let left = dce(&result).unwrap().len();
        assert!(left <= graph.len() - 2 * steps, "{left} of {} nodes are left", graph.len());
    }
    let small = layers(3);
    let x = Tensor::from_vec([8, 16], (0..128).map(|i| i as f32 / 64.0 - 1.0).collect()).unwrap();
    let w = Tensor::from_vec([16, 16], (0..256).map(|i| (i * 7 % 31) as f32 / 31.0 - 0.5).collect()).unwrap();
    let b = Tensor::from_vec([16], (0..16).map(|i| i as f32).collect()).unwrap();
    let run = |g: &Graph| evaluate(g, &[x.clone(), w.clone(), b.clone()]).unwrap()[0].bytes().to_vec();
    assert_eq!(run(&small), run(&optimize(&small, &Options::default()).unwrap()));
}

#[test]
fn deep_chains_do_not_overflow_the_stack() {
    let mut graph = Graph::new("g");
    let x = input(&mut graph, "x", &[4]);
    let mut value = x;
    for i in 0..5000 {
        let op = [Elementwise::Exp, Elementwise::Neg, Elementwise::Neg, Elementwise::Tanh, Elementwise::Abs][i % 5];
        value = apply(&mut graph, op, &[value]);
    }
    let graph = finish(graph, value);
    let small = std::thread::Builder::new().stack_size(256 * 1024);
    let result = small.spawn(move || optimize(&graph, &Options::default()).unwrap()).unwrap().join().unwrap();
    // Two windows may part a pair of negations each.
    assert!(result.len() <= 3001 + 2 * 13, "{}", result.len());
}
