//! Pointwise kernels.

use crate::build::{Body, Random};
use crate::suite::Suite;
use monograph_compiler::Options;
use monograph_compiler::codegen::{Family, family, generate};
use monograph_ir::plan::IndexMap;
use monograph_ir::{Amounts, Axes, DType, Elementwise, Graph, Literal, Op, Spec, Target};

/// `relu(x + b) * 2` for a row vector `b`.
fn bias_relu(dtype: DType, rows: usize, columns: usize) -> Graph {
    let mut body = Body::new();
    let x = body.input(dtype, &[rows, columns]);
    let b = body.input(dtype, &[columns]);
    let b = body.broadcast(b, &[rows, columns]);
    let sum = body.binary(Elementwise::Add, x, b);
    let zero = body.full(dtype, 0.0, &[rows, columns]);
    let relu = body.binary(Elementwise::Maximum, sum, zero);
    let two = body.full(dtype, 2.0, &[rows, columns]);
    let y = body.binary(Elementwise::Mul, relu, two);
    body.done(&[y, relu])
}

#[test]
fn vectors_where_they_fit() {
    let mut suite = Suite::new("vectors");
    for (dtype, lanes) in [(DType::F32, 4), (DType::F16, 8), (DType::BF16, 8), (DType::F64, 2), (DType::I8, 8)] {
        let generated = suite.case(format!("{dtype}"), bias_relu(dtype, 6, 64), 0.0);
        assert_eq!(family(&bias_relu(dtype, 6, 64)), Family::Pointwise);
        assert!(generated.source.contains(&format!("mg_load<{lanes}>(x0")), "{}", generated.source);
        assert!(generated.source.contains(&format!("mg_load<{lanes}>(x1")), "{}", generated.source);
        assert!(generated.source.contains(&format!("mg_store<{lanes}>(y1")), "{}", generated.source);
    }
    for (rows, columns) in [(1, 1), (3, 5), (7, 2), (5, 6), (1, 1025), (129, 3)] {
        suite.case(format!("{rows} by {columns}"), bias_relu(DType::F32, rows, columns), 0.0);
        suite.case(format!("{rows} by {columns} of f16"), bias_relu(DType::F16, rows, columns), 0.0);
    }
    suite.run();
}

#[test]
fn every_elementwise_op_for_every_dtype() {
    let mut suite = Suite::new("elementwise");
    for dtype in DType::ALL {
        let mut random = Random::new(dtype as u64);
        let spec = Spec::new(dtype, [4096]);
        let inputs = vec![random.wild(&spec), random.wild(&spec)];
        for op in Elementwise::ALL.iter().filter(|op| op.domain().contains(dtype)) {
            let mut body = Body::new();
            let operands = [body.input(dtype, &[4096]), body.input(dtype, &[4096])];
            let y = body.op(*op, &operands[..op.arity()]);
            let tolerance = if op.is_approximate() { 1e-6 } else { 0.0 };
            suite.with(format!("{op} of {dtype}"), body.done(&[y]), inputs.clone(), tolerance);
        }
    }
    suite.run();
}

#[test]
fn every_cast() {
    let mut suite = Suite::new("casts");
    for from in DType::ALL {
        for to in DType::ALL {
            let inputs = vec![Random::new(from as u64 + 3).wild(&Spec::new(from, [1024]))];
            let mut body = Body::new();
            let x = body.input(from, &[1024]);
            let y = body.op(Op::Cast(to), &[x]);
            suite.with(format!("{from} to {to}"), body.done(&[y]), inputs.clone(), 0.0);
            if from.size() == to.size() && to != DType::Bool && !matches!(from, DType::F16 | DType::BF16) {
                let mut body = Body::new();
                let x = body.input(from, &[1024]);
                let y = body.op(Op::Bitcast(to), &[x]);
                suite.with(format!("bits of {from} as {to}"), body.done(&[y]), inputs, 0.0);
            }
        }
    }
    suite.run();
}

#[test]
fn views_fold_into_indices() {
    let mut suite = Suite::new("views");
    let mut body = Body::new();
    let x = body.input(DType::F32, &[3, 8, 4]);
    let p = body.op(Op::Permute(Axes::from_slice(&[2, 0, 1])), &[x]);
    let p = body.reshape(p, &[12, 8]);
    let r = body.op(Op::Reverse(Axes::from_slice(&[1])), &[x]);
    let r = body.reshape(r, &[12, 8]);
    let sum = body.binary(Elementwise::Sub, p, r);
    let flat = body.reshape(sum, &[4, 24]);
    suite.case("permute, reverse, reshape", body.done(&[flat]), 0.0);

    let mut body = Body::new();
    let x = body.input(DType::F32, &[5, 9]);
    let fill = body.input(DType::F32, &[]);
    let s = body.op(
        Op::Slice {
            starts: Axes::from_slice(&[1, 0]),
            limits: Axes::from_slice(&[5, 9]),
            strides: Axes::from_slice(&[1, 2]),
        },
        &[x],
    );
    let y = body.op(Op::Pad { low: Amounts::from_slice(&[2, -1]), high: Amounts::from_slice(&[0, 3]) }, &[s, fill]);
    suite.case("slice, pad", body.done(&[y]), 0.0);

    let mut body = Body::new();
    let parts: Vec<_> = [3, 4, 1].iter().map(|&n| body.input(DType::F32, &[2, n, 4])).collect();
    let y = body.op(Op::Concat { axis: 1 }, &parts);
    let z = body.unary(Elementwise::Neg, y);
    suite.case("concat", body.done(&[z]), 0.0);

    let mut body = Body::new();
    let i = body.op(Op::Iota { dtype: DType::F16, shape: [3, 2500].into(), axis: 1 }, &[]);
    let j = body.op(Op::Iota { dtype: DType::I8, shape: [3, 2500].into(), axis: 1 }, &[]);
    suite.case("iota", body.done(&[i, j]), 0.0);
    suite.run();
}

#[test]
fn gathers_read_zero_outside() {
    let mut suite = Suite::new("gathers");
    for index in [DType::I32, DType::I64] {
        let indices = |shape: &[usize], low: i64, n: u64| {
            Random::new(n).with(&Spec::new(index, shape), |r| Literal::from_i64(index, low + (r.next() % n) as i64))
        };
        let ids = indices(&[2, 3], -2, 12);
        let mut body = Body::new();
        let x = body.input(DType::F32, &[9, 8]);
        let i = body.input(index, &[2, 3]);
        let y = body.op(Op::Take { axis: 0 }, &[x, i]);
        let z = body.unary(Elementwise::Exp, y);
        let data = Random::new(1).tensor(&Spec::new(DType::F32, [9, 8]));
        let generated = suite.with("embedding", body.done(&[z]), vec![data.clone(), ids.clone()], 1e-6);
        assert!(generated.source.contains("mg_load<4>(x0"), "rows are read as vectors\n{}", generated.source);

        let mut body = Body::new();
        let x = body.input(DType::F32, &[9, 8]);
        let i = body.input(index, &[2, 3]);
        let y = body.op(Op::Take { axis: 1 }, &[x, i]);
        suite.with("take of columns", body.done(&[y]), vec![data.clone(), ids], 0.0);

        let mut body = Body::new();
        let x = body.input(DType::F32, &[9, 8]);
        let i = body.input(index, &[9, 3]);
        let y = body.op(Op::TakeAlong { axis: 1 }, &[x, i]);
        suite.with("take along", body.done(&[y]), vec![data.clone(), indices(&[9, 3], -2, 12)], 0.0);

        for start in [-5, 0, 2, 7, 100] {
            let mut body = Body::new();
            let x = body.input(DType::F32, &[9, 8]);
            let (i, j) = (body.input(index, &[]), body.input(index, &[]));
            let y = body.op(Op::DynamicSlice { sizes: [4, 8].into() }, &[x, i, j]);
            let at = |n: i64| Random::new(1).with(&Spec::new(index, []), |_| Literal::from_i64(index, n));
            suite.with("dynamic slice", body.done(&[y]), vec![data.clone(), at(start), at(-start)], 0.0);

            let mut body = Body::new();
            let x = body.input(DType::F32, &[9, 8]);
            let b = body.input(DType::F32, &[2, 5]);
            let (i, j) = (body.input(index, &[]), body.input(index, &[]));
            let y = body.op(Op::DynamicUpdateSlice, &[x, b, i, j]);
            let block = Random::new(2).tensor(&Spec::new(DType::F32, [2, 5]));
            suite.with("dynamic update", body.done(&[y]), vec![data.clone(), block, at(start), at(1)], 0.0);
        }
    }
    suite.run();
}

#[test]
fn accesses_say_what_may_be_in_place() {
    let generated = generate(&bias_relu(DType::F32, 6, 64), &Target::default(), &Options::default()).unwrap();
    let line = IndexMap::Affine { offset: 0, strides: vec![1] };
    assert_eq!(generated.domain.dims(), [384]);
    assert_eq!(generated.reads[0].map, line);
    assert_eq!(generated.reads[1].map, IndexMap::Any, "a row is read by many points");
    assert!(generated.writes.iter().all(|w| w.map == line));

    let mut body = Body::new();
    let x = body.input(DType::F32, &[8, 8]);
    let t = body.op(Op::Permute(Axes::from_slice(&[1, 0])), &[x]);
    let y = body.binary(Elementwise::Add, x, t);
    let generated = generate(&body.done(&[y]), &Target::default(), &Options::default()).unwrap();
    assert_eq!(generated.reads[0].map, IndexMap::Any, "read at two indices");
}

#[test]
fn indices_are_64_bits_wide_where_needed_and_grids_are_legal() {
    let generated = generate(&bias_relu(DType::F32, 262_144, 8960), &Target::default(), &Options::default()).unwrap();
    assert!(generated.source.contains("long long n = (long long)((mg_u64)blockIdx.x"), "{}", generated.source);
    assert_eq!(generated.grid, [262_144 * 8960 / 4 / 256, 1, 1]);
    let small = generate(&bias_relu(DType::F32, 1024, 8960), &Target::default(), &Options::default()).unwrap();
    assert!(!small.source.contains("long long"), "{}", small.source);
    let odd = generate(&bias_relu(DType::I8, 1 << 20, (1 << 22) + 1), &Target::default(), &Options::default()).unwrap();
    assert_eq!(odd.grid, [i32::MAX as u32, 1, 1], "the rest is in a loop\n{}", odd.source);
}

#[test]
fn names_depend_on_structure_alone() {
    let name = |body: &Graph| generate(body, &Target::default(), &Options::default()).unwrap().name;
    let one = bias_relu(DType::F32, 6, 64);
    let mut named = one.clone();
    named.name = "another".into();
    assert_eq!(name(&one), name(&named));
    assert_ne!(name(&one), name(&bias_relu(DType::F16, 6, 64)));
    assert_ne!(name(&one), name(&bias_relu(DType::F32, 64, 6)));
    assert_eq!(name(&one), "add_maximum_mul_abf615a351fae6fd");
}

#[test]
fn a_long_chain_is_one_kernel() {
    let mut suite = Suite::new("chain");
    let mut body = Body::new();
    let x = body.input(DType::F32, &[64]);
    let y =
        (0..1500).fold(x, |y, i| body.binary(if i % 2 == 0 { Elementwise::Add } else { Elementwise::Maximum }, y, x));
    let generated = suite.case("1500 nodes", body.done(&[y]), 0.0);
    assert_eq!(generated.source.matches("x0[").count(), 1, "one load serves all");
    suite.run();
}
