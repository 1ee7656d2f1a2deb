//! `verify`: checks that a graph is what the rest of the compiler relies on.
//!
//! The invariants, in the order they are checked:
//! 1. operands are results of nodes that come before their user;
//! 2. `Parameter(i)` occurs once for each declared parameter, and its type is the declared spec;
//! 3. parameter names are not empty and differ; output names are not empty and differ within a kind;
//! 4. every node's result types are what [`infer`] says;
//! 5. outputs are results of nodes; a state output has the spec of its state parameter, and a state has one at most;
//! 6. the graphs inside ops obey 1 to 5, and declare no state.

use crate::{Graph, NodeId, Op, OutputKind, ParamKind, Type, ValueId, infer};
use std::collections::BTreeSet;
use std::mem::discriminant;

/// An invariant that a graph breaks.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("graph `{graph}`{}: {message}", node.map(|n| format!(", node %{}", n.0)).unwrap_or_default())]
pub struct VerifyError {
    /// The graph's name.
    pub graph: String,
    /// The node, where it is about one.
    pub node: Option<NodeId>,
    /// The invariant that is broken, and how.
    pub message: String,
}

/// Checks every invariant listed in the module's documentation.
///
/// # Errors
/// The first that does not hold.
pub fn verify(graph: &Graph) -> Result<(), VerifyError> {
    let fail = |node, message: String| Err(VerifyError { graph: graph.name.clone(), node, message });
    let exists = |v: ValueId, before: usize| {
        v.node.index() < before && (v.result as usize) < graph.nodes()[v.node.index()].results.len()
    };
    let mut declared = vec![false; graph.params().len()];
    for (id, node) in graph.iter() {
        if let Some(v) = node.operands.iter().find(|v| !exists(**v, id.index())) {
            return fail(Some(id), format!("operand {v} is no result of an earlier node"));
        }
        if let Op::Parameter(number) = node.op {
            let Some(param) = graph.params().get(number as usize) else {
                return fail(Some(id), format!("parameter {number} is not declared"));
            };
            if std::mem::replace(&mut declared[number as usize], true) {
                return fail(Some(id), format!("parameter {number} occurs twice"));
            }
            if node.results[..] != [Type::Tensor(param.spec.clone())]
                || graph.param_value(number as usize) != id.value()
            {
                return fail(Some(id), format!("parameter `{}` is not what was declared, {}", param.name, param.spec));
            }
            if param.spec.bytes().is_none() {
                return fail(Some(id), format!("parameter `{}`: {} has more bytes than 2^63", param.name, param.spec));
            }
            continue;
        }
        let types: Vec<&Type> = node.operands.iter().map(|&v| graph.ty(v)).collect();
        match infer(&node.op, &types) {
            Err(e) => return fail(Some(id), e.to_string()),
            Ok(results) if results != node.results => {
                return fail(Some(id), format!("`{}` has other result types than inferred", node.op.name()));
            }
            Ok(_) => {}
        }
        for region in node.op.regions() {
            verify(&region.0)?;
            if region.0.params().iter().any(|p| p.kind == ParamKind::State) {
                return fail(Some(id), "a graph inside an op declares state".into());
            }
        }
    }
    if let Some(missing) = declared.iter().position(|d| !d) {
        return fail(None, format!("parameter {missing} has no node"));
    }
    let mut names = BTreeSet::new();
    for param in graph.params() {
        if param.name.is_empty() || !names.insert(&param.name) {
            return fail(None, format!("parameter name `{}` is empty or taken", param.name));
        }
    }
    let mut names = std::collections::HashSet::new();
    let mut updated = BTreeSet::new();
    for output in graph.outputs() {
        if !exists(output.value, graph.len()) {
            return fail(None, format!("output `{}` is {}, no result of a node", output.name, output.value));
        }
        let name = (discriminant(&output.kind), &output.name);
        if output.name.is_empty() || !names.insert(name) {
            return fail(None, format!("output name `{}` is empty or taken", output.name));
        }
        if let OutputKind::State(number) = output.kind {
            let Some(param) = graph.params().get(number as usize).filter(|p| p.kind == ParamKind::State) else {
                return fail(None, format!("output `{}` updates parameter {number}, which is no state", output.name));
            };
            if graph.ty(output.value).spec() != Some(&param.spec) || !updated.insert(number) {
                return fail(
                    None,
                    format!("output `{}` cannot update state `{}`, {}", output.name, param.name, param.spec),
                );
            }
        }
    }
    Ok(())
}
