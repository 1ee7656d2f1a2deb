//! Every pass on random graphs: the interpreter gives the same before and after, to the bit.

use monograph_compiler::Options;
use monograph_compiler::passes::{canonicalize, cse, dce, empty, fold, optimize, regions};
use monograph_compiler::rewrite::rewrite;
use monograph_ir::interp::{Tensor, evaluate};
use monograph_ir::testing::{self, Random, random_graph};
use monograph_ir::{Error, Graph, Literal, Op, Spec, text, verify};

type Pass = (&'static str, fn(&Graph) -> Result<Graph, Error>);

const PASSES: &[Pass] = &[
    ("regions", regions),
    ("empty", empty),
    ("canonicalize", canonicalize),
    ("fold", fold),
    ("cse", cse),
    ("dce", dce),
    // Runs behind the first two, on which it relies.
    ("rewrite", |g| rewrite(&dce(&empty(&regions(g)?)?)?, &Options::default())),
    ("optimize", |g| optimize(g, &Options::default())),
];

/// Numbers, among them many that arithmetic treats in a way of its own.
fn tensor(random: &mut Random, spec: &Spec) -> Tensor {
    let specials = [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 3e38, 1e-40, 0.5];
    let mut bytes = Vec::new();
    for _ in 0..spec.shape.size() {
        let literal = match random.below(4) {
            0 => Literal::from_f64(spec.dtype, specials[random.below(specials.len())]),
            1 => Literal::from_bits(spec.dtype, random.bits()),
            _ => Literal::from_i64(spec.dtype, random.below(9) as i64 - 4),
        };
        bytes.extend_from_slice(&literal.to_le_bytes()[..spec.dtype.size()]);
    }
    Tensor::from_bytes(spec.clone(), &bytes).unwrap()
}

/// Equal to the bit, all NaNs being one.
fn agree(a: &Tensor, b: &Tensor) -> bool {
    let size = a.dtype().size();
    let elements = a.bytes().chunks_exact(size).zip(b.bytes().chunks_exact(size));
    let nan = |x: &Tensor, i| x.get_f64(i).is_some_and(f64::is_nan);
    a.spec() == b.spec() && elements.enumerate().all(|(i, (x, y))| x == y || (nan(a, i) && nan(b, i)))
}

/// Runs passes on the graph of a seed, each on the result of none or all before it.
fn unchanged(seed: u64, options: &testing::Options) {
    let graph = random_graph(seed, options);
    let mut random = Random::new(seed ^ 0x9e37_79b9);
    let params: Vec<Tensor> = graph.params().iter().map(|p| tensor(&mut random, &p.spec)).collect();
    let before = evaluate(&graph, &params).unwrap();
    for (name, pass) in PASSES {
        let result = pass(&graph).unwrap_or_else(|e| panic!("{name}: {e}\n{}", text::print(&graph)));
        let fail = |what: String| -> ! {
            panic!("seed {seed}, {name}: {what}\n{}\nbecame\n{}", text::print(&graph), text::print(&result))
        };
        if let Err(e) = verify(&result) {
            fail(e.to_string());
        }
        if result.params() != graph.params() || result.outputs().len() != graph.outputs().len() {
            fail("the signature changed".into());
        }
        let after = evaluate(&result, &params).unwrap();
        for ((a, b), output) in before.iter().zip(&after).zip(graph.outputs()) {
            if !agree(a, b) {
                fail(format!("output `{}` was {a:?} and is {b:?}", output.name));
            }
        }
        if result != pass(&graph).unwrap() {
            fail("another run gives another graph".into());
        }
    }
    legal(seed, &optimize(&graph, &Options::default()).unwrap());
}

/// What later stages rely on.
fn legal(seed: u64, graph: &Graph) {
    for node in graph.nodes() {
        let banned =
            matches!(node.op, Op::Cond { .. } | Op::For { .. } | Op::While { .. } | Op::Dynamic(_) | Op::Host(_));
        let reads_empty = node.operands.iter().any(|&v| graph.spec(v).shape.is_empty());
        assert!(!banned && !reads_empty, "seed {seed}: `{}` is left\n{}", node.op.name(), text::print(graph));
    }
}

#[test]
fn passes_keep_every_value() {
    for seed in 0..200 {
        unchanged(seed, &testing::Options::default());
    }
}

#[test]
fn passes_keep_every_value_of_larger_graphs() {
    let options = testing::Options { nodes: 200, elements: 24, ..testing::Options::default() };
    for seed in 1000..1020 {
        unchanged(seed, &options);
    }
}

#[test]
fn optimizing_twice_changes_little() {
    for seed in 0..50 {
        let graph = random_graph(seed, &testing::Options::default());
        let once = optimize(&graph, &Options::default()).unwrap();
        let twice = optimize(&once, &Options::default()).unwrap();
        assert!(twice.len() <= once.len(), "seed {seed}: {} nodes became {}", once.len(), twice.len());
    }
}
