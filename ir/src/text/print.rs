//! `module`: a graph as text.

use super::attributes;
use super::lex::{is_plain_name, quote};
use crate::{Binding, Graph, Op, OutputKind, Param, ParamKind, Region};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Lists that do not fit into a line of so many characters get a line for each item.
const WIDTH: usize = 100;

/// The names of the graphs that were printed already. Graphs of equal content are printed once.
#[derive(Default)]
struct Names<'a> {
    taken: BTreeSet<String>,
    graphs: BTreeMap<&'a Graph, String>,
}

impl Names<'_> {
    /// A name that no other graph has, made from the graph's own.
    fn unique(&mut self, name: &str) -> String {
        let mut candidate = name.to_string();
        let mut number = 0u64;
        while !self.taken.insert(candidate.clone()) {
            number += 1;
            candidate = format!("{name}.{number}");
        }
        candidate
    }
}

pub(super) fn module(graph: &Graph) -> String {
    let mut names = Names::default();
    // The entry keeps its name whatever its regions are called.
    let name = names.unique(&graph.name);
    let mut out = String::new();
    regions(graph, &mut names, &mut out);
    definition(graph, &name, &names, &mut out);
    out
}

/// Prints the graphs inside the ops of a graph, innermost first.
fn regions<'a>(graph: &'a Graph, names: &mut Names<'a>, out: &mut String) {
    for node in graph.nodes() {
        for Region(inner) in node.op.regions() {
            if names.graphs.contains_key(inner.as_ref()) {
                continue;
            }
            regions(inner, names, out);
            let name = names.unique(&inner.name);
            definition(inner, &name, names, out);
            out.push('\n');
            names.graphs.insert(inner, name);
        }
    }
}

fn graph_name(name: &str) -> String {
    if is_plain_name(name) { format!("@{name}") } else { format!("@{}", quote(name)) }
}

fn definition(graph: &Graph, name: &str, names: &Names<'_>, out: &mut String) {
    // Parameters that stand first are declared in the header, others where they stand.
    let leading = graph.nodes().iter().take_while(|n| matches!(n.op, Op::Parameter(_))).count();
    let header: Vec<String> = (graph.iter().take(leading))
        .map(|(id, node)| match node.op {
            Op::Parameter(number) => parameter(&graph.params()[number as usize], &format!(" {}", id.value()), ":"),
            _ => String::new(),
        })
        .collect();
    let start = format!("graph {}(", graph_name(name));
    let line = format!("{start}{}) {{", header.join(", "));
    if line.chars().count() <= WIDTH {
        let _ = writeln!(out, "{line}");
    } else {
        let _ = writeln!(out, "{start}\n  {},\n) {{", header.join(",\n  "));
    }
    for (id, node) in graph.iter().skip(leading) {
        out.push_str("  ");
        for result in 0..node.results.len() {
            let value = crate::ValueId { node: id, result: result as u32 };
            let _ = write!(out, "{}{value}", if result > 0 { ", " } else { "" });
        }
        if !node.results.is_empty() {
            out.push_str(" = ");
        }
        if let Op::Parameter(number) = node.op {
            let _ = writeln!(out, "parameter {}", parameter(&graph.params()[number as usize], "", " :"));
            continue;
        }
        out.push_str(node.op.name());
        if let Op::Constant(literal) = node.op {
            let _ = write!(out, " {literal}");
        }
        for (i, operand) in node.operands.iter().enumerate() {
            let _ = write!(out, "{}{operand}", if i > 0 { ", " } else { " " });
        }
        let attributes = attributes::print(&node.op, &|Region(inner)| graph_name(&names.graphs[inner.as_ref()]));
        for (i, (name, value)) in attributes.iter().enumerate() {
            let _ = write!(out, "{}{name} = {value}", if i > 0 { ", " } else { " {" });
        }
        if !attributes.is_empty() {
            out.push('}');
        }
        for (i, ty) in node.results.iter().enumerate() {
            let _ = write!(out, "{}{ty}", if i > 0 { ", " } else { " : " });
        }
        out.push('\n');
    }
    outputs(graph, out);
    out.push_str("}\n");
}

/// `input "x": f32[2]`, with what stands between kind and name, and before the type.
fn parameter(param: &Param, value: &str, colon: &str) -> String {
    let kind = match param.kind {
        ParamKind::Input(Binding::Copied) => "input",
        ParamKind::Input(Binding::Bound) => "bound",
        ParamKind::State => "state",
        ParamKind::Constant => "constant",
    };
    format!("{kind}{value} {}{colon} {}", quote(&param.name), param.spec)
}

fn outputs(graph: &Graph, out: &mut String) {
    let items: Vec<String> = (graph.outputs().iter())
        .map(|output| {
            let (name, value) = (quote(&output.name), output.value);
            match output.kind {
                OutputKind::Result => format!("{name} = {value}"),
                OutputKind::Probe => format!("probe {name} = {value}"),
                OutputKind::State(number) => {
                    // An unverified graph may name a state that is not there; printing it must not fail.
                    let state = graph.params().get(number as usize).map_or("", |p| p.name.as_str());
                    let alias = if state == output.name { String::new() } else { format!(" as {name}") };
                    format!("state {} = {value}{alias}", quote(state))
                }
            }
        })
        .collect();
    let line = format!("  return {}", items.join(", "));
    if line.chars().count() <= WIDTH {
        let _ = writeln!(out, "{}", line.trim_end());
    } else {
        let _ = writeln!(out, "  return\n    {}", items.join(",\n    "));
    }
}
