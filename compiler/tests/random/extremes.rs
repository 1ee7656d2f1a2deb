//! Distributions of the least and the greatest words: finite, and within their bounds.

use monograph_compiler::trace::{Rng, Tensor, trace};
use monograph_ir::{Binding, DType, Graph, Op, Origin, ParamKind, ValueId, interp};
use std::collections::BTreeMap;

const EDGES: [u32; 8] = [0, 1, 0xff, 0x100, 0x7fff_ffff, 0x8000_0000, u32::MAX - 1, u32::MAX];

/// The graph with each draw replaced by an input, which takes the words.
fn with_words(graph: &Graph) -> Graph {
    let mut new = Graph::new("words");
    let mut values: BTreeMap<ValueId, ValueId> = BTreeMap::new();
    for (id, node) in graph.iter() {
        let input = |new: &mut Graph| {
            let spec = graph.spec(id.value()).clone();
            new.parameter(format!("p{}", id.0), spec, ParamKind::Input(Binding::Copied), Origin::Unknown)
        };
        let value = match node.op {
            Op::Parameter(_) | Op::RandomBits { .. } => input(&mut new),
            _ => {
                let operands: Vec<ValueId> = node.operands.iter().map(|v| values[v]).collect();
                new.apply(node.op.clone(), &operands, Origin::Unknown).unwrap()
            }
        };
        values.insert(id.value(), value);
    }
    for output in graph.outputs() {
        new.output(output.name.clone(), values[&output.value], output.kind);
    }
    new
}

/// What `f` makes of `words` each.
fn of(words: &[Vec<u32>], f: impl FnOnce(&mut Rng<Tensor>) -> Tensor) -> Vec<f64> {
    let program = trace(|mut rng: Rng<Tensor>| f(&mut rng), &Rng::seed(0)).unwrap();
    let graph = with_words(program.graph());
    let inputs = graph.params().iter().map(|param| match param.spec.dtype {
        DType::U32 => interp::Tensor::from_vec(param.spec.shape.clone(), words.concat()).unwrap(),
        _ => interp::Tensor::from_vec([3], vec![0i64; 3]).unwrap(),
    });
    let inputs: Vec<_> = inputs.collect();
    interp::evaluate(&graph, &inputs).unwrap().remove(0).to_f64_vec()
}

/// Every combination of edges for `count` words.
fn combinations(count: u32) -> Vec<Vec<u32>> {
    let n = EDGES.len();
    (0..n.pow(count)).map(|i| (0..count).map(|j| EDGES[i / n.pow(j) % n]).collect()).collect()
}

#[test]
fn no_word_gives_an_infinity_or_leaves_the_bounds() {
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let words = if dtype == DType::F64 { 2 } else { 1 };
        let (one, two) = (combinations(words), combinations(2 * words));
        for x in of(&one, |rng| rng.uniform(dtype, [one.len()])) {
            assert!((0.0..1.0).contains(&x), "{dtype} {x}");
        }
        for x in of(&one, |rng| rng.uniform_between(dtype, [one.len()], 0.9, 1.0)) {
            assert!((0.89..1.0).contains(&x), "{dtype} {x}");
        }
        for x in of(&two, |rng| rng.normal(dtype, [two.len()])) {
            assert!(x.abs() <= if dtype == DType::F64 { 8.66 } else { 6.78 }, "{dtype} {x}");
        }
        for x in of(&one, |rng| rng.exponential(dtype, [one.len()], 1.0)) {
            assert!(x.is_sign_positive() && x <= if dtype == DType::F64 { 37.5 } else { 22.9 }, "{dtype} {x}");
        }
        for x in of(&one, |rng| rng.gumbel(dtype, [one.len()])) {
            assert!((-3.7..37.5).contains(&x), "{dtype} {x}");
        }
    }
    let two = combinations(2);
    for (found, words) in of(&two, |rng| rng.randint(DType::I32, [two.len()], -3..4)).iter().zip(&two) {
        assert!((-3.0..4.0).contains(found));
        let bits = u128::from(words[0]) << 32 | u128::from(words[1]);
        assert_eq!(*found, ((bits * 7) >> 64) as f64 - 3.0);
    }
    for (found, words) in of(&two, |rng| rng.randint(DType::I64, [two.len()], 0..i64::MAX)).iter().zip(&two) {
        let bits = u128::from(words[0]) << 32 | u128::from(words[1]);
        assert_eq!(*found, ((bits * i64::MAX as u128) >> 64) as i64 as f64);
    }
}
