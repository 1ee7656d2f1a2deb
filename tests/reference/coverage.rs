//! Nothing is left out: each op of a table has a case for each dtype it takes, and each closure has a case.

use crate::fixture::{Case, Fixture, Work, folder};
use crate::{FILES, calls};
use monograph::ir::{Elementwise, Extreme, Graph, Op, Reduction, ScatterKind, Windows, text};
use monograph::{DType, Spec};
use std::collections::BTreeSet;

fn cases() -> Vec<Case> {
    FILES.iter().flat_map(|name| Fixture::read(name).cases).collect()
}

/// The ops of all graphs with the dtypes of their operands and of their result.
fn ops() -> BTreeSet<(Op, Vec<DType>, DType)> {
    let mut found = BTreeSet::new();
    let mut visit = |graph: &Graph| {
        for node in graph.nodes() {
            let dtypes = node.operands.iter().filter_map(|&v| graph.ty(v).spec()).map(|s: &Spec| s.dtype).collect();
            if let Some(result) = node.results.first() {
                found.insert((plain(&node.op), dtypes, result.dtype()));
            }
        }
    };
    for case in cases() {
        if let Work::Graph(graph) = &case.work {
            visit(&text::parse(graph, &case.name).unwrap_or_else(|e| panic!("{e}")));
        }
    }
    found
}

fn window_reduce(kind: Reduction) -> Op {
    Op::WindowReduce { kind, sizes: Default::default(), windows: Box::new(Windows::dense(0)) }
}

fn window_arg(kind: Extreme) -> Op {
    Op::WindowArg { kind, sizes: Default::default(), windows: Box::new(Windows::dense(0)) }
}

fn window_scatter() -> Op {
    let (extents, sizes) = Default::default();
    Op::WindowScatter { extents, sizes, windows: Box::new(Windows::dense(0)) }
}

/// The op with its attributes set to one value, so that it can be looked up.
fn plain(op: &Op) -> Op {
    match op {
        Op::Reduce { kind, .. } => Op::Reduce { kind: *kind, axes: Default::default() },
        Op::ArgReduce { kind, .. } => Op::ArgReduce { kind: *kind, axis: 0 },
        Op::Scan { kind, .. } => Op::Scan { kind: *kind, axis: 0 },
        Op::Scatter { kind, .. } => Op::Scatter { kind: *kind, axis: 0 },
        Op::Argsort { descending, .. } => Op::Argsort { axis: 0, descending: *descending },
        Op::ScatterSorted { kind, .. } => Op::ScatterSorted { kind: *kind, axis: 0 },
        Op::Convolution { .. } => Op::Convolution { windows: Box::new(Windows::dense(0)), groups: 1 },
        Op::WindowReduce { kind, .. } => window_reduce(*kind),
        Op::WindowArg { kind, .. } => window_arg(*kind),
        Op::WindowScatter { .. } => window_scatter(),
        other => other.clone(),
    }
}

#[test]
fn every_op_of_a_table_has_a_case_for_every_dtype() {
    let ops = ops();
    let mut missing = Vec::new();
    let mut need = |op: Op, operands: Vec<DType>, result: DType| {
        if !ops.contains(&(op.clone(), operands.clone(), result)) {
            missing.push(format!("{} of {operands:?} to {result}", op.name()));
        }
    };
    for dtype in DType::ALL {
        for &op in Elementwise::ALL.iter().filter(|op| op.domain().contains(dtype)) {
            need(op.into(), vec![dtype; op.arity()], op.result(dtype));
        }
        for to in DType::ALL {
            need(Op::Cast(to), vec![dtype], to);
            if to.size() == dtype.size() && to != DType::Bool {
                need(Op::Bitcast(to), vec![dtype], to);
            }
        }
        for &kind in Reduction::ALL.iter().filter(|kind| kind.takes(dtype)) {
            need(Op::Reduce { kind, axes: Default::default() }, vec![dtype], dtype);
            need(Op::Scan { kind, axis: 0 }, vec![dtype], dtype);
            need(window_reduce(kind), vec![dtype], dtype);
        }
        if dtype != DType::Bool {
            need(Op::Convolution { windows: Box::new(Windows::dense(0)), groups: 1 }, vec![dtype; 2], dtype);
        }
        for &kind in Extreme::ALL {
            need(Op::ArgReduce { kind, axis: 0 }, vec![dtype], DType::I64);
            need(window_arg(kind), vec![dtype], DType::I64);
        }
        for descending in [false, true] {
            need(Op::Argsort { axis: 0, descending }, vec![dtype], DType::I64);
        }
        for &kind in ScatterKind::ALL.iter().filter(|&&kind| kind != ScatterKind::Add || dtype != DType::Bool) {
            need(Op::ScatterSorted { kind, axis: 0 }, vec![dtype, DType::I64, dtype], dtype);
        }
        for index in [DType::I32, DType::I64] {
            if dtype != DType::Bool {
                need(window_scatter(), vec![dtype, index], dtype);
            }
            for &kind in ScatterKind::ALL {
                if kind != ScatterKind::Add || dtype != DType::Bool {
                    need(Op::Scatter { kind, axis: 0 }, vec![dtype, index, dtype], dtype);
                }
            }
        }
    }
    assert!(missing.is_empty(), "no reference values for\n{}", missing.join("\n"));
}

#[test]
fn every_op_has_a_case() {
    let named: BTreeSet<&str> = ops().iter().map(|(op, ..)| op.name()).collect();
    // Recorded only to be rejected.
    let rejected = ["nonzero", "masked_select", "unique", "repeat_interleave", "dynamic_range"];
    let on_the_host = ["item", "to_vec", "print", "assert"];
    let missing: Vec<&str> = text::op_names()
        .filter(|name| !named.contains(name) && !rejected.contains(name) && !on_the_host.contains(name))
        .collect();
    assert!(missing.is_empty(), "no reference values for {missing:?}");
}

#[test]
fn every_closure_and_every_file_is_used() {
    let cases = cases();
    let called = |call: &calls::Call| cases.iter().any(|c| matches!(&c.work, Work::Call(text) if call.is(text)));
    let idle: Vec<&str> = calls::all().filter(|call| !called(call)).map(calls::Call::text).collect();
    assert!(idle.is_empty(), "no case calls {idle:?}");
    let entries = std::fs::read_dir(folder()).expect("the folder of the fixtures");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let unused: Vec<String> = names
        .filter_map(|name| name.strip_suffix(".safetensors").map(str::to_owned))
        .filter(|name| !FILES.contains(&name.as_str()))
        .collect();
    assert!(unused.is_empty(), "no test reads {unused:?}");
}
