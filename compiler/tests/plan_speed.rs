//! Compile time grows with the program, not with its square.

use monograph_compiler::{Options, Stages, compile_timed, summary};
use monograph_ir::{
    Axes, DType, Elementwise, Graph, Op, Origin, OutputKind, ParamKind, Reduction, Spec, Target, ValueId,
};
use std::time::Duration;

fn apply(graph: &mut Graph, op: impl Into<Op>, operands: &[ValueId]) -> ValueId {
    graph.apply(op, operands, Origin::Unknown).unwrap()
}

/// Layers of a residual network with a softmax in each, and a momentum update of every weight: about 30 nodes each.
fn layers(count: usize) -> Graph {
    let mut graph = Graph::new("layers");
    let spec = |dims: &[usize]| Spec::new(DType::F32, dims);
    let input = ParamKind::Input(Default::default());
    let mut x = graph.parameter("x", spec(&[16, 64]), input, Origin::Unknown);
    for layer in 0..count {
        let state = |graph: &mut Graph, name: &str| {
            let name = format!("{name}{layer}");
            (graph.params().len() as u32, graph.parameter(name, spec(&[64, 64]), ParamKind::State, Origin::Unknown))
        };
        let (number, w) = state(&mut graph, "w");
        let (momentum_number, momentum) = state(&mut graph, "m");
        let g = &mut graph;
        let h = apply(g, Op::Matmul { transpose_a: false, transpose_b: false }, &[x, w]);
        let h = apply(g, Elementwise::Tanh, &[h]);
        let reduce = |kind| Op::Reduce { kind, axes: Axes::from_slice(&[1]) };
        let wide = |g: &mut Graph, r: ValueId| {
            let column = apply(g, Op::Reshape([16, 1].into()), &[r]);
            apply(g, Op::Broadcast([16, 64].into()), &[column])
        };
        let m = apply(g, reduce(Reduction::Max), &[h]);
        let m = wide(g, m);
        let d = apply(g, Elementwise::Sub, &[h, m]);
        let e = apply(g, Elementwise::Exp, &[d]);
        let s = apply(g, reduce(Reduction::Sum), &[e]);
        let s = wide(g, s);
        let p = apply(g, Elementwise::Div, &[e, s]);
        let next = apply(g, Elementwise::Add, &[x, p]);
        let grad = apply(g, Op::Matmul { transpose_a: true, transpose_b: false }, &[x, p]);
        let new_momentum = apply(g, Elementwise::Add, &[momentum, grad]);
        let new_w = apply(g, Elementwise::Sub, &[w, new_momentum]);
        let gate = apply(g, Op::Permute(Axes::from_slice(&[1, 0])), &[next]);
        let gate = apply(g, Elementwise::Sin, &[gate]);
        let gate = apply(g, Op::Permute(Axes::from_slice(&[1, 0])), &[gate]);
        x = apply(g, Elementwise::Mul, &[next, gate]);
        graph.output(format!("w{layer}"), new_w, OutputKind::State(number));
        graph.output(format!("m{layer}"), new_momentum, OutputKind::State(momentum_number));
    }
    graph.output("x", x, OutputKind::Result);
    graph
}

/// Everything but the optimizing passes, which have tests of their own.
fn time(graph: &Graph, fuse: bool) -> Stages {
    let mut options = Options::default();
    options.fuse = fuse;
    options.optimize = false;
    let (plan, stages) = compile_timed(graph, &Target::default(), &options, None).unwrap();
    let head: String = summary(&plan).lines().take(3).collect::<Vec<_>>().join("; ");
    println!("{} nodes, fuse {fuse}: {head}\n{stages}", graph.len());
    stages
}

#[test]
fn ten_times_the_nodes_take_about_ten_times_as_long() {
    for fuse in [true, false] {
        let small = time(&layers(90), fuse).total();
        let large = time(&layers(900), fuse).total();
        // Bitsets grow with the square but are tiny; the rest is linear.
        assert!(large < small * 40 + Duration::from_millis(200), "{small:?}, then {large:?}");
    }
}
