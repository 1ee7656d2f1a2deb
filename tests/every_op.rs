//! Every op has every part: inference, textual form, a place in its grammar page, reference semantics, a kernel or a
//! reason to be rejected.

use monograph::ir::interp::{self, Tensor};
use monograph::ir::text;
use monograph::ir::{
    Amounts, Axes, Binding, DType, DynamicOp, Elementwise, Extreme, Graph, HostOp, Literal, Op, Origin, OutputKind,
    ParamKind, Reduction, Region, ScatterKind, Spec, Windows,
};
use monograph::{Options, Target};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What becomes of an op after the rejection passes.
enum Fate {
    /// It runs.
    Runs,
    /// It is recorded and rejected with this code.
    Rejected(u16),
}

struct Sample {
    op: Op,
    operands: Vec<Spec>,
    fate: Fate,
}

fn runs(op: impl Into<Op>, operands: &[Spec]) -> Sample {
    Sample { op: op.into(), operands: operands.to_vec(), fate: Fate::Runs }
}

fn rejected(op: Op, operands: &[Spec], code: u16) -> Sample {
    Sample { op, operands: operands.to_vec(), fate: Fate::Rejected(code) }
}

/// A body that returns its parameters from number `first` on.
fn identity(params: &[Spec], first: usize) -> Region {
    let mut graph = Graph::new("body");
    for (i, spec) in params.iter().enumerate() {
        let value = graph.parameter(format!("p{i}"), spec.clone(), ParamKind::Input(Binding::Copied), Origin::Unknown);
        if i >= first {
            graph.output(format!("o{i}"), value, OutputKind::Result);
        }
    }
    Region(Arc::new(graph))
}

/// A body that returns a constant bool.
fn truth(params: &[Spec]) -> Region {
    let mut graph = Graph::clone(&identity(params, usize::MAX).0);
    let value = graph.apply(Op::Constant(Literal::one(DType::Bool)), &[], Origin::Unknown).expect("a constant");
    graph.output("again", value, OutputKind::Result);
    Region(Arc::new(graph))
}

/// Windows over one dimension with every attribute: three of them, of three elements, over six.
fn windows() -> Box<Windows> {
    Box::new(Windows {
        strides: Axes::from_slice(&[4]),
        low: Amounts::from_slice(&[1]),
        high: Amounts::from_slice(&[2]),
        input_dilation: Axes::from_slice(&[2]),
        dilation: Axes::from_slice(&[2]),
    })
}

fn samples() -> Vec<Sample> {
    let f = |shape: &[usize]| Spec::new(DType::F32, shape);
    let b = |shape: &[usize]| Spec::new(DType::Bool, shape);
    let i = |shape: &[usize]| Spec::new(DType::I32, shape);
    let axes = Axes::from_slice;
    let x = f(&[4, 6]);
    let mut all: Vec<Sample> = Vec::new();
    for &op in Elementwise::ALL {
        let dtype = DType::ALL.into_iter().rev().find(|&d| op.domain().contains(d)).expect("a dtype");
        all.push(runs(op, &vec![Spec::new(dtype, [4, 6]); op.arity()]));
    }
    all.extend([
        runs(Op::Constant(Literal::one(DType::F32)), &[]),
        runs(Op::Iota { dtype: DType::I32, shape: [3, 5].into(), axis: 1 }, &[]),
        runs(Op::RandomBits { shape: [3, 5].into() }, &[Spec::new(DType::I64, [3])]),
        runs(Op::Select, &[b(&[4, 6]), x.clone(), x.clone()]),
        runs(Op::Cast(DType::BF16), std::slice::from_ref(&x)),
        runs(Op::Bitcast(DType::I32), std::slice::from_ref(&x)),
        runs(Op::Reshape([3, 8].into()), std::slice::from_ref(&x)),
        runs(Op::Permute(axes(&[1, 0])), std::slice::from_ref(&x)),
        runs(Op::Broadcast([2, 4, 6].into()), std::slice::from_ref(&x)),
        runs(
            Op::Slice { starts: axes(&[1, 0]), limits: axes(&[4, 6]), strides: axes(&[1, 2]) },
            std::slice::from_ref(&x),
        ),
        runs(Op::Pad { low: Amounts::from_slice(&[1, -1]), high: Amounts::from_slice(&[0, 2]) }, &[x.clone(), f(&[])]),
        runs(Op::Concat { axis: 0 }, &[x.clone(), x.clone()]),
        runs(Op::Reverse(axes(&[1])), std::slice::from_ref(&x)),
        runs(Op::Matmul { transpose_a: false, transpose_b: true }, &[x.clone(), x.clone()]),
        runs(Op::Argsort { axis: 1, descending: true }, std::slice::from_ref(&x)),
        runs(Op::SortPacked, &[Spec::new(DType::I64, [4, 6])]),
        runs(Op::DigitCounts { shift: 32, tile: 256 }, &[Spec::new(DType::I64, [4, 6])]),
        runs(
            Op::PlaceByDigit { shift: 32, tile: 256 },
            &[Spec::new(DType::I64, [4, 6]), Spec::new(DType::I32, [4, 256, 1])],
        ),
        runs(Op::Convolution { windows: windows(), groups: 2 }, &[f(&[1, 4, 6]), f(&[2, 2, 3])]),
        runs(
            Op::WindowScatter { extents: axes(&[6]), sizes: axes(&[3]), windows: windows() },
            &[f(&[4, 3]), i(&[4, 3])],
        ),
        runs(Op::Take { axis: 0 }, &[x.clone(), i(&[3])]),
        runs(Op::TakeAlong { axis: 1 }, &[x.clone(), i(&[4, 2])]),
        runs(Op::DynamicSlice { sizes: [2, 3].into() }, &[x.clone(), i(&[]), i(&[])]),
        runs(Op::DynamicUpdateSlice, &[x.clone(), f(&[2, 3]), i(&[]), i(&[])]),
        runs(
            Op::Cond { then: identity(std::slice::from_ref(&x), 0), otherwise: identity(std::slice::from_ref(&x), 0) },
            &[b(&[]), x.clone()],
        ),
        runs(
            Op::For { count: 3, body: identity(&[Spec::new(DType::I64, []), x.clone()], 1) },
            std::slice::from_ref(&x),
        ),
        rejected(
            Op::While { condition: truth(std::slice::from_ref(&x)), body: identity(std::slice::from_ref(&x), 0) },
            std::slice::from_ref(&x),
            4,
        ),
    ]);
    for &kind in Reduction::ALL {
        let operand = if kind.takes(DType::F32) { x.clone() } else { b(&[4, 6]) };
        all.push(runs(Op::Reduce { kind, axes: axes(&[1]) }, std::slice::from_ref(&operand)));
        all.push(runs(Op::Scan { kind, axis: 1 }, std::slice::from_ref(&operand)));
        let op = Op::WindowReduce { kind, sizes: axes(&[3]), windows: windows() };
        all.push(runs(op, std::slice::from_ref(&operand)));
    }
    for &kind in Extreme::ALL {
        all.push(runs(Op::ArgReduce { kind, axis: 1 }, std::slice::from_ref(&x)));
        let op = Op::WindowArg { kind, sizes: axes(&[3]), windows: windows() };
        all.push(runs(op, std::slice::from_ref(&x)));
    }
    for &kind in ScatterKind::ALL {
        all.push(runs(Op::Scatter { axis: 0, kind }, &[x.clone(), i(&[2]), f(&[2, 6])]));
        all.push(runs(Op::ScatterSorted { axis: 0, kind }, &[x.clone(), Spec::new(DType::I64, [2]), f(&[2, 6])]));
    }
    for &op in DynamicOp::ALL {
        let operands = match op {
            DynamicOp::Nonzero | DynamicOp::Unique => vec![x.clone()],
            DynamicOp::MaskedSelect => vec![x.clone(), b(&[4, 6])],
            DynamicOp::RepeatInterleave => vec![x.clone(), i(&[4])],
            DynamicOp::DynamicRange => vec![i(&[])],
        };
        all.push(rejected(Op::Dynamic(op), &operands, 3));
    }
    for &op in HostOp::ALL {
        all.push(rejected(Op::Host(op), std::slice::from_ref(&x), 5));
    }
    all
}

fn graph_of(sample: &Sample) -> Graph {
    let mut graph = Graph::new("sample");
    let operands: Vec<_> = sample
        .operands
        .iter()
        .enumerate()
        .map(|(i, s)| graph.parameter(format!("p{i}"), s.clone(), ParamKind::Input(Binding::Copied), Origin::Unknown))
        .collect();
    let node = graph.add(sample.op.clone(), &operands, Origin::Unknown).expect("inference takes the sample");
    for result in 0..graph.node(node).results.len() as u32 {
        let value = monograph::ir::ValueId { node, result };
        graph.output(format!("out{result}"), value, OutputKind::Result);
    }
    graph
}

#[test]
fn every_op_has_every_part() {
    let samples = samples();
    let sampled: BTreeSet<&str> = samples.iter().map(|s| s.op.name()).collect();
    let named: BTreeSet<&str> = text::op_names().filter(|n| *n != "parameter").collect();
    assert_eq!(sampled, named, "an op without a sample in this test, or without a name in the textual form");

    let page = include_str!("../ir/TEXT.md");
    for sample in &samples {
        let name = sample.op.name();
        assert!(page.contains(&format!("`{name}`")), "ir/TEXT.md does not name `{name}`");
        let graph = graph_of(sample);
        let printed = text::print(&graph);
        assert_eq!(text::parse(&printed, "sample").expect("the print parses"), graph, "{printed}");

        match sample.fate {
            Fate::Runs => {
                let zeros = |s: &Spec| Tensor::full(s.clone(), Literal::zero(s.dtype)).expect("a small tensor");
                let inputs: Vec<Tensor> = sample.operands.iter().map(zeros).collect();
                interp::evaluate(&graph, &inputs)
                    .unwrap_or_else(|e| panic!("`{name}` has no reference semantics: {e}"));
                monograph_compiler::compile(&graph, &Target::default(), &Options::default())
                    .unwrap_or_else(|e| panic!("`{name}` has no kernel: {e}"));
            }
            Fate::Rejected(family) => {
                let diagnostics = monograph_compiler::reject::check(&graph).expect_err("it is rejected");
                assert_eq!(diagnostics[0].code.0 / 100, family, "`{name}` is rejected as {}", diagnostics[0].code);
                assert!(!diagnostics[0].help.is_empty(), "the rejection of `{name}` names no alternative");
            }
        }
    }
}
