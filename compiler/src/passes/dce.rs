//! `dce`: dead code goes.

use super::rebuild::{defect, outputs};
use monograph_ir::{Error, Graph, Op};

/// Drops every pure node that no output needs. Parameters stay: they are the graph's signature.
///
/// # Errors
/// [`Error::Internal`] if the graph is ill-typed.
pub fn dce(graph: &Graph) -> Result<Graph, Error> {
    let mut live = vec![false; graph.len()];
    for output in graph.outputs() {
        live[output.value.node.index()] = true;
    }
    for (id, node) in graph.iter().rev() {
        if live[id.index()] || !node.op.is_pure() {
            live[id.index()] = true;
            node.operands.iter().for_each(|v| live[v.node.index()] = true);
        }
    }
    let (mut new, mut map) = graph.rebuild();
    for (id, node) in graph.iter().filter(|(id, n)| live[id.index()] && !matches!(n.op, Op::Parameter(_))) {
        let operands = map.all(&node.operands);
        let copy = new.add(node.op.clone(), &operands, graph.origin(id).clone()).map_err(|e| defect("dce", e))?;
        map.insert_node(id, node.results.len(), copy);
    }
    outputs(graph, &mut new, &map);
    Ok(new)
}
