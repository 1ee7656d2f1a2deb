//! `monograph check`: whether a program can be one CUDA graph.

use super::Output;
use crate::args::Check;
use crate::failure::{Failure, pretty};
use crate::program::Loaded;
use monograph_ir::{Binding, Graph, OutputKind, ParamKind};
use serde_json::{Value, json};
use std::fmt::Write;

/// Reads, parses and checks; says what the program takes and gives.
pub(super) fn check(args: &Check) -> Result<Output, Failure> {
    let program = Loaded::read(&args.file)?;
    Ok(if args.json { describe_json(&program) } else { describe(&program) }.into())
}

fn describe(program: &Loaded) -> String {
    let graph = &program.graph;
    let mut text = format!("{}: fine; @{} has {} nodes\n", program.name, graph.name, graph.len());
    let rows: Vec<[String; 3]> = rows(graph).into_iter().map(|(kind, name, spec)| [kind.into(), name, spec]).collect();
    let width = |column: usize| rows.iter().map(|r| r[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    for [kind, name, spec] in &rows {
        let _ = writeln!(text, "  {kind:<first$}  {name:<second$}  {spec}");
    }
    text
}

fn describe_json(program: &Loaded) -> String {
    let graph = &program.graph;
    let table = |kinds: &[&str]| -> Vec<Value> {
        let rows = rows(graph).into_iter().filter(|(kind, ..)| kinds.contains(kind));
        rows.map(|(_, name, spec)| json!({ "name": name, "type": spec })).collect()
    };
    pretty(&json!({
        "ok": true,
        "graph": graph.name,
        "nodes": graph.len(),
        "inputs": table(&["input", "bound"]),
        "constants": table(&["constant"]),
        "states": table(&["state"]),
        "outputs": table(&["output"]),
        "probes": table(&["probe"]),
    }))
}

/// Parameters and outputs: kind, name, type.
fn rows(graph: &Graph) -> Vec<(&'static str, String, String)> {
    let params = graph.params().iter().map(|p| {
        let kind = match p.kind {
            ParamKind::Input(Binding::Copied) => "input",
            ParamKind::Input(Binding::Bound) => "bound",
            ParamKind::Constant => "constant",
            ParamKind::State => "state",
        };
        (kind, p.name.clone(), p.spec.to_string())
    });
    let outputs = graph.outputs().iter().filter_map(|o| {
        let kind = match o.kind {
            OutputKind::Result => "output",
            OutputKind::Probe => "probe",
            // The state is listed among the parameters.
            OutputKind::State(_) => return None,
        };
        Some((kind, o.name.clone(), graph.ty(o.value).to_string()))
    });
    params.chain(outputs).collect()
}
