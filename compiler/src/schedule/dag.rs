//! The launches as a petgraph, and as a picture.

use super::Waits;
use monograph_ir::Origin;
use monograph_ir::plan::{EdgeKind, Launch, Plan, Work};
use petgraph::graph::DiGraph;
use std::fmt::Write;

/// The DAG: node `i` is launch `i`, edges go from what comes first to what waits.
pub fn to_petgraph(waits: &Waits) -> DiGraph<(), ()> {
    let edges = waits.iter().map(Vec::len).sum();
    let mut graph = DiGraph::with_capacity(waits.len(), edges);
    let nodes: Vec<_> = waits.iter().map(|_| graph.add_node(())).collect();
    for (i, wait) in waits.iter().enumerate() {
        for &w in wait {
            graph.add_edge(nodes[w as usize], nodes[i], ());
        }
    }
    graph
}

/// The launches of a plan in DOT: names, bytes and origins on the nodes, what is programmatic dashed.
pub fn plan_dot(plan: &Plan) -> String {
    let mut graph: DiGraph<&Launch, EdgeKind> = DiGraph::new();
    let nodes: Vec<_> = plan.launches.iter().map(|launch| graph.add_node(launch)).collect();
    for edge in &plan.edges {
        graph.add_edge(nodes[edge.from.index()], nodes[edge.to.index()], edge.kind);
    }
    let label = |text: String| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let mut dot = format!("digraph \"{}\" {{\n    node [shape=box]\n", label(plan.name.clone()));
    for node in graph.node_indices() {
        let launch = graph[node];
        let footprint = plan.footprint(launch);
        let sum = |slots: &[(_, u64)]| slots.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let mut text = format!("{}\nreads {} B", launch.name, sum(&footprint.reads));
        let _ = write!(text, ", writes {} B", sum(&footprint.writes));
        for origin in first_places(&launch.origins) {
            let _ = write!(text, "\n{origin}");
        }
        let shape = if matches!(launch.work, Work::Copy { .. }) { ", style=rounded" } else { "" };
        let _ = writeln!(dot, "    n{} [label=\"{}\"{shape}]", node.index(), label(text));
    }
    for edge in graph.edge_references() {
        use petgraph::visit::EdgeRef;
        let style = if *edge.weight() == EdgeKind::Programmatic { " [style=dashed]" } else { "" };
        let _ = writeln!(dot, "    n{} -> n{}{style}", edge.source().index(), edge.target().index());
    }
    dot.push_str("}\n");
    dot
}

/// A few places to show of many.
pub(crate) fn first_places(origins: &[Origin]) -> impl Iterator<Item = String> {
    const SHOWN: usize = 3;
    let more = origins.len().saturating_sub(SHOWN);
    let rest = (more > 0).then(|| format!("and {more} more"));
    origins.iter().take(SHOWN).map(Origin::to_string).chain(rest)
}
