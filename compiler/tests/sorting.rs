//! Sorts and scatters of many indices: what they become computes the same, to the bit, and what it becomes.

use monograph_compiler::passes::optimize;
use monograph_compiler::trace::{Tensor, trace};
use monograph_compiler::{Options, compile};
use monograph_ir::interp::{self, evaluate};
use monograph_ir::plan::{Plan, Region};
use monograph_ir::testing::Random;
use monograph_ir::{
    Binding, DType, Graph, Literal, Op, Origin, OutputKind, ParamKind, Reduction, ScatterKind, Spec, Target,
};

fn graph(op: &Op, operands: &[&interp::Tensor]) -> Graph {
    let mut graph = Graph::new("test");
    let parameter = |(i, x): (usize, &&interp::Tensor)| {
        graph.parameter(format!("x{i}"), x.spec().clone(), ParamKind::Input(Binding::Copied), Origin::Unknown)
    };
    let operands: Vec<_> = operands.iter().enumerate().map(parameter).collect();
    let value = graph.apply(op.clone(), &operands, Origin::Unknown).expect("a well-typed op");
    graph.output("y", value, OutputKind::Result);
    graph
}

fn names(graph: &Graph) -> Vec<&'static str> {
    graph.nodes().iter().map(|n| n.op.name()).collect()
}

/// Runs an op as it is and as it is compiled. Returns the ops that it became.
#[track_caller]
fn same(op: &Op, operands: &[&interp::Tensor]) -> Vec<&'static str> {
    let graph = graph(op, operands);
    let inputs: Vec<interp::Tensor> = operands.iter().map(|&x| x.clone()).collect();
    let expected = evaluate(&graph, &inputs).unwrap();
    let lowered = optimize(&graph, &Options::default()).unwrap();
    let found = evaluate(&lowered, &inputs).unwrap();
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found.spec(), expected.spec());
        assert!(found.bytes() == expected.bytes(), "{op:?} of {}", inputs[0].spec());
    }
    names(&lowered)
}

/// Elements among which many are equal, and all that are special.
fn elements(seed: u64, spec: &Spec) -> interp::Tensor {
    let mut random = Random::new(seed);
    let special = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        1e-40,
        -1e-40,
        6e-8,
        -6e-8,
        65504.0,
        -65504.0,
        1e-310,
        -1e-310,
        f64::MAX,
        f64::MIN,
    ];
    let integers = [i64::MIN, i64::MAX, i64::from(i32::MIN), i64::from(u32::MAX), 0, -1, 1 << 32, 128, -128];
    let mut bytes = Vec::new();
    for _ in 0..spec.shape.size() {
        let small = random.below(9) as f64 - 4.0;
        let literal = match (random.below(4), spec.dtype) {
            (_, DType::Bool) => Literal::from_bits(DType::Bool, random.bits() & 1),
            (0, d) if d.is_float() => Literal::from_f64(d, special[random.below(special.len())]),
            (0, d) => Literal::from_i64(d, integers[random.below(integers.len())]),
            (1, d) => Literal::from_bits(d, random.bits() & (u64::MAX >> (64 - 8 * d.size()))),
            (_, d) => Literal::from_f64(d, small),
        };
        bytes.extend_from_slice(&literal.to_le_bytes()[..spec.dtype.size()]);
    }
    interp::Tensor::from_bytes(spec.clone(), &bytes).unwrap()
}

#[test]
fn a_sort_is_what_it_becomes() {
    for dtype in DType::ALL {
        for (shape, axis) in [
            (&[1][..], 0),
            (&[2], 0),
            (&[3, 31], 1),
            (&[33, 2], 0),
            (&[2, 257], 1),
            (&[3, 40, 2], 1),
            (&[1000], 0),
            (&[4096], 0),
            (&[4097], 0),
            (&[9000, 2], 0),
            (&[20_000], 0),
        ] {
            for descending in [false, true] {
                let x = elements(shape[0] as u64 + u64::from(descending), &Spec::new(dtype, shape));
                let ops = same(&Op::Argsort { axis, descending }, &[&x]);
                assert!(!ops.contains(&"argsort"));
                let long = shape[axis] > 4096;
                assert_eq!(ops.contains(&"place_by_digit"), long, "{dtype}{shape:?}");
                assert_eq!(ops.contains(&"sort_packed"), !long && shape[axis] > 1, "{dtype}{shape:?}");
            }
        }
    }
}

#[test]
fn equal_elements_keep_their_order_and_nothing_is_lost() {
    for n in [4096, 4097, 12_289] {
        let x = elements(n as u64, &Spec::new(DType::F16, [n]));
        for descending in [false, true] {
            let graph = optimize(&graph(&Op::Argsort { axis: 0, descending }, &[&x]), &Options::default()).unwrap();
            let order = evaluate(&graph, std::slice::from_ref(&x)).unwrap().remove(0).to_f64_vec();
            let values = x.to_f64_vec();
            let mut seen = vec![false; n];
            for pair in order.windows(2) {
                let (a, b) = (values[pair[0] as usize], values[pair[1] as usize]);
                let (a, b) = if descending { (b, a) } else { (a, b) };
                assert!(a <= b || b.is_nan(), "{a} is before {b}");
                assert!(!(a == b || a.is_nan()) || pair[0] < pair[1], "the order of equal elements");
            }
            order.iter().for_each(|&i| assert!(!std::mem::replace(&mut seen[i as usize], true)));
        }
    }
}

#[test]
fn sorted_integers_are_read_off_their_keys() {
    for dtype in [DType::Bool, DType::I8, DType::U8, DType::I32, DType::U32, DType::I64, DType::F32] {
        for shape in [&[3, 50][..], &[2, 5000]] {
            let x = elements(5, &Spec::new(dtype, shape));
            let sort = |x: Tensor| (x.sort(1), x.sort_descending(1), x.sort(0));
            let program = trace(sort, Spec::new(dtype, shape)).unwrap();
            let inputs = std::slice::from_ref(&x);
            let lowered = optimize(program.graph(), &Options::default()).unwrap();
            let (found, expected) = (evaluate(&lowered, inputs).unwrap(), evaluate(program.graph(), inputs).unwrap());
            for (found, expected) in found.iter().zip(&expected) {
                assert!(found.bytes() == expected.bytes(), "{dtype}{shape:?}");
            }
            let gathers = dtype.is_float() || dtype.size() == 8;
            assert_eq!(names(&lowered).contains(&"take_along"), gathers, "{dtype}");
        }
    }
}

/// Random indices, some of them outside, most of them more than once.
fn indices(seed: u64, dtype: DType, count: usize, places: usize) -> interp::Tensor {
    let mut random = Random::new(seed);
    let bytes: Vec<u8> = (0..count)
        .flat_map(|_| {
            let index = match random.below(8) {
                0 => -1,
                1 => places as i64,
                2 => i64::from(i32::MIN),
                3 => i64::from(i32::MAX),
                _ => random.below(places.min(count / 2).max(1)) as i64,
            };
            Literal::from_i64(dtype, index).to_le_bytes()[..dtype.size()].to_vec()
        })
        .collect();
    interp::Tensor::from_bytes(Spec::new(dtype, [count]), &bytes).unwrap()
}

#[test]
fn a_scatter_of_many_indices_is_the_same_to_the_bit() {
    let mut number = 0;
    for (shape, axis, count) in [
        (&[70_000][..], 0, 100),
        (&[3, 50_257, 2], 1, 300),
        (&[2100, 3], 0, 2111),
        (&[5, 7], 1, 40_000),
        (&[70_001], 0, 5000),
    ] {
        for dtype in [DType::Bool, DType::U8, DType::I32, DType::I64, DType::F16, DType::BF16, DType::F32, DType::F64] {
            for &kind in ScatterKind::ALL.iter().filter(|&&k| k == ScatterKind::Set || dtype != DType::Bool) {
                number += 1;
                let at = indices(number, if number % 2 == 0 { DType::I32 } else { DType::I64 }, count, shape[axis]);
                let updates: Vec<usize> =
                    shape.iter().enumerate().map(|(d, &e)| if d == axis { count } else { e }).collect();
                let mut random = Random::new(number);
                let mut tensor = |shape: &[usize]| {
                    let spec = Spec::new(dtype, shape);
                    let literal = |r: &mut Random| match dtype {
                        d if d.is_float() => Literal::from_f64(d, r.below(1 << 20) as f64 / 1000.0 - 500.0),
                        d => Literal::from_i64(d, r.below(200) as i64 - 100),
                    };
                    let bytes: Vec<u8> = (0..spec.shape.size())
                        .flat_map(|_| literal(&mut random).to_le_bytes()[..dtype.size()].to_vec())
                        .collect();
                    interp::Tensor::from_bytes(spec, &bytes).unwrap()
                };
                let (base, updates) = (tensor(shape), tensor(&updates));
                let ops = same(&Op::Scatter { axis, kind }, &[&base, &at, &updates]);
                let sorted = Op::ScatterSorted { axis, kind }.name();
                assert!(ops.contains(&sorted), "{kind} of {count} into {shape:?} became {ops:?}");
            }
        }
    }
}

#[test]
fn scatters_of_few_indices_stay() {
    for (places, count) in [(50_257, 4), (1000, 1000), (10, 20_000), (1 << 30, 64)] {
        let mut graph = Graph::new("test");
        let mut parameter =
            |name: &str, spec| graph.parameter(name, spec, ParamKind::Input(Binding::Copied), Origin::Unknown);
        let base = parameter("base", Spec::new(DType::F32, [places]));
        let at = parameter("at", Spec::new(DType::I32, [count]));
        let updates = parameter("updates", Spec::new(DType::F32, [count]));
        let op = Op::Scatter { axis: 0, kind: ScatterKind::Add };
        let value = graph.apply(op, &[base, at, updates], Origin::Unknown).unwrap();
        graph.output("y", value, OutputKind::Result);
        let ops = names(&optimize(&graph, &Options::default()).unwrap());
        assert!(ops.contains(&"scatter_add"), "{count} into {places} became {ops:?}");
    }
}

#[test]
fn long_scans_are_cut_up_and_give_the_same() {
    for dtype in DType::ALL {
        for &kind in Reduction::ALL.iter().filter(|k| k.takes(dtype)) {
            // Sums of whole numbers, which no order rounds.
            let sums = matches!(kind, Reduction::Sum | Reduction::Prod) && dtype.is_float();
            for shape in [&[16_384][..], &[2, 20_001]] {
                let spec = Spec::new(dtype, shape);
                let x =
                    if sums { interp::Tensor::full(spec, Literal::one(dtype)).unwrap() } else { elements(3, &spec) };
                let ops = same(&Op::Scan { kind, axis: shape.len() - 1 }, &[&x]);
                assert_eq!(ops.iter().filter(|name| name.starts_with("scan_")).count(), 2, "{ops:?}");
            }
        }
    }
}

fn plan(f: impl FnOnce(Tensor) -> Tensor, spec: Spec) -> Plan {
    let program = trace(f, spec).unwrap();
    compile(program.graph(), &Target::default(), &Options::default()).unwrap()
}

fn launches(plan: &Plan) -> Vec<String> {
    let short = |name: &str| name.rsplit_once('_').map_or(name, |(ops, _)| ops).to_string();
    plan.launches.iter().map(|l| short(&l.name)).collect()
}

#[test]
fn a_short_sort_is_one_launch() {
    assert_eq!(plan(|x| x.argsort(-1), Spec::new(DType::F32, [64, 1000])).launches.len(), 1);
    assert_eq!(plan(|x| x.sort(-1), Spec::new(DType::I32, [64, 1000])).launches.len(), 1);
    assert_eq!(plan(|x| x.sort(-1), Spec::new(DType::F32, [64, 1000])).launches.len(), 1);
}

#[test]
fn a_long_sort_has_three_launches_a_pass_and_little_scratch() {
    let n = 16 << 20;
    let sort = plan(|x| x.argsort(0), Spec::new(DType::I32, [n]));
    let names = launches(&sort);
    assert_eq!(names.len(), 13, "{names:?}");
    for what in ["digit_counts", "scan_sum", "place_by_digit"] {
        assert_eq!(names.iter().filter(|name| name.starts_with(what)).count(), 4, "{names:?}");
    }
    // Packed elements twice, counts, sums, and the result.
    let bytes = sort.region_bytes(Region::Arena);
    let expected = 2 * 8 * n as u64 + 2 * 4 * n as u64 / 16 + 8 * n as u64;
    assert!(bytes <= expected + (1 << 20), "{bytes} bytes where {expected} are needed");
}

#[test]
fn an_embedding_backward_is_two_launches() {
    let gradient = |ids: Tensor| {
        let updates =
            monograph_compiler::trace::ones(DType::F32, [2048, 768]) * ids.cast(DType::F32).reshape([2048, 1]);
        monograph_compiler::trace::zeros(DType::F32, [50_257, 768]).scatter_add(ids, updates, 0)
    };
    let names = launches(&plan(gradient, Spec::new(DType::I64, [2048])));
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[0].starts_with("sort_packed") && names[1].starts_with("scatter_sorted_add"), "{names:?}");
}

#[test]
fn compaction_and_order_statistics_by_hand() {
    let run = |f: &dyn Fn(Tensor) -> Tensor, values: &[f32]| {
        let spec = Spec::new(DType::F32, [values.len()]);
        let program = trace(f, spec.clone()).unwrap();
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let x = interp::Tensor::from_bytes(spec, &bytes).unwrap();
        evaluate(&optimize(program.graph(), &Options::default()).unwrap(), &[x]).unwrap().remove(0).to_f64_vec()
    };
    let x = [3.0, 0.0, -1.0, 3.0, 0.0];
    assert_eq!(run(&|x| x.nonzero_padded(2, -7), &x), [0.0, 2.0]);
    assert_eq!(run(&|x| x.nonzero_padded(5, -7), &x), [0.0, 2.0, 3.0, -7.0, -7.0]);
    assert_eq!(run(&|x| x.unique_padded(4, 9), &x), [-1.0, 0.0, 3.0, 9.0]);
    assert_eq!(run(&|x| x.kthvalue(1, 0).0, &x), [-1.0]);
    assert_eq!(run(&|x| x.kthvalue(4, 0).1.cast(DType::F32), &x), [0.0]);
    assert_eq!(run(&|x| x.median(0), &x), [0.0]);
    assert_eq!(run(&|x| x.quantile(0.875, 0), &x), [3.0]);
    assert_eq!(run(&|x| x.quantile(0.25, 0), &[1.0, 2.0, 4.0, 8.0]), [1.75]);
    assert_eq!(run(&|x| x.median(0), &[1.0, f32::INFINITY, 4.0, f32::INFINITY]), [f64::INFINITY]);
    assert!(run(&|x| x.quantile(0.0, 0), &[1.0, f32::NAN, 4.0])[0].is_nan());

    // Of many elements, where the search has many steps.
    let many: Vec<f32> = (0..40_000).map(|i| f32::from(i % 3 == 2) * i as f32).collect();
    let found = run(&|x| x.nonzero_padded(20_000, -1), &many);
    let expected = (0..20_000).map(|j| if j < 13_333 { 3.0 * f64::from(j) + 2.0 } else { -1.0 });
    assert_eq!(found, expected.collect::<Vec<_>>());
    let names = launches(&plan(|x| x.nonzero_padded(20_000, -1), Spec::new(DType::F32, [40_000])));
    assert!(names.len() <= 5, "{names:?}");
}

#[test]
fn parts_and_numbers_that_do_not_exist_are_refused() {
    let refused = |f: fn(Tensor) -> Tensor| match trace(f, Spec::new(DType::F32, [3])) {
        Err(monograph_ir::Error::Rejected(diagnostics)) => diagnostics[0].message.clone(),
        other => panic!("{}", other.is_ok()),
    };
    assert_eq!(refused(|x| x.kthvalue(0, 0).0), "`kthvalue`: element 0 of axis 0 of f32[3]");
    assert_eq!(refused(|x| x.kthvalue(4, 0).0), "`kthvalue`: 4 of the 3 elements of axis 0 of f32[3]");
    assert_eq!(refused(|x| x.topk(4, 0).0), "`topk`: 4 of the 3 elements of axis 0 of f32[3]");
    assert_eq!(refused(|x| x.quantile(1.5, 0)), "`quantile`: a part of 1.5");
}
