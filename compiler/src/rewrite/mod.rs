//! The egg stage: equal terms are collected, and the cheapest program over them is taken out again.
//!
//! A graph is cut into windows of consecutive nodes, and each becomes an e-graph of its own whose leaves are the
//! values that come from outside. So the work is linear in the graph, whatever its size, and nothing depends on time.
//!
//! - `term`: the language, and what is known of each class;
//! - `rule`: what a rule is, and saturation; `algebra` and `layout` are the table of rules;
//! - `extract` and `cost`: the choice of terms;
//! - `window`: the way there and back.

mod algebra;
mod cost;
mod extract;
mod layout;
mod rule;
mod term;
#[cfg(test)]
mod tests;
mod window;

use crate::Options;
use crate::passes::rebuild::outputs;
use monograph_ir::{Error, Graph, Op};
use rule::Rule;
use std::sync::LazyLock;

/// Nodes in one window. The price of extraction grows with its square, and what rules can see with its size.
const WINDOW: usize = 400;

/// Applies the rules of the table and takes the cheapest equal program that is found; the same graph where there is
/// none. Equal to the bit (payloads of NaN aside), unless `options.fast_math`.
///
/// # Errors
/// [`Error::Internal`] if a rule made something ill-typed.
pub fn rewrite(graph: &Graph, options: &Options) -> Result<Graph, Error> {
    let rules: Vec<&Rule> = RULES.iter().filter(|r| options.fast_math || !r.fast_math).collect();
    let (mut new, mut map) = graph.rebuild();
    let last_use = last_use(graph);
    let mut window = Vec::new();
    for (id, node) in graph.iter() {
        if matches!(node.op, Op::Parameter(_)) {
            continue;
        }
        let opaque = node.results.len() != 1 || !node.op.is_pure() || !node.op.regions().is_empty();
        if window.len() == WINDOW || (opaque && !window.is_empty()) {
            window::rewrite(graph, &std::mem::take(&mut window), &last_use, &rules, &mut new, &mut map)?;
        }
        if opaque {
            window::copy(graph, id, &mut new, &mut map)?;
        } else {
            window.push(id);
        }
    }
    window::rewrite(graph, &window, &last_use, &rules, &mut new, &mut map)?;
    outputs(graph, &mut new, &map);
    Ok(new)
}

/// For each node the index of the last node that reads it, or [`usize::MAX`] where an output does.
fn last_use(graph: &Graph) -> Vec<usize> {
    let mut last_use = vec![0; graph.len()];
    for (id, node) in graph.iter() {
        node.operands.iter().for_each(|v| last_use[v.node.index()] = id.index());
    }
    graph.outputs().iter().for_each(|o| last_use[o.value.node.index()] = usize::MAX);
    last_use
}

/// The table of rules. It never changes; it is kept because parsing it takes longer than a small graph.
static RULES: LazyLock<Vec<Rule>> =
    LazyLock::new(|| algebra::rows().into_iter().chain(layout::rows()).map(rule::Row::parse).collect());
