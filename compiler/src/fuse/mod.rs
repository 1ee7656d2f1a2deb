//! Fusion: from nodes to groups, each of which becomes one kernel.
//!
//! Constants, iotas and views are *free*: they belong to no group, and every group that needs one evaluates it by
//! index. Everything else belongs to exactly one group. What a group reads is a parameter of the graph, what another
//! group computes, or a reshape of either, which is the same bytes.

mod body;

use crate::Options;
use monograph_ir::{Graph, NodeId, Op, ValueId};

/// Nodes that one kernel computes.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// The nodes, operands before users; copies of free ones (constants, views) included.
    pub nodes: Vec<NodeId>,
    /// What it reads, one a parameter of the body: parameters of the graph, outputs of other groups, and reshapes of
    /// them; [`storage`] says whose bytes these are.
    pub inputs: Vec<ValueId>,
    /// What it writes, one an output of the body.
    pub outputs: Vec<ValueId>,
    /// What it computes.
    pub body: Graph,
}

/// A view that is this many views away from memory is materialized, so that no kernel's index arithmetic (and no
/// compile time) grows without bound.
const MAX_FREE_DEPTH: u32 = 24;

/// The value whose bytes a value is: reshapes share them.
pub fn storage(graph: &Graph, value: ValueId) -> ValueId {
    let mut root = value;
    while let Op::Reshape(_) = graph.node(root.node).op {
        root = graph.node(root.node).operands[0];
    }
    root
}

/// Which group computes each node.
pub(crate) struct Assignment(Vec<u32>);

impl Assignment {
    const NONE: u32 = u32::MAX;

    /// The group of a node; none for parameters, free nodes and what has no elements.
    pub(crate) fn group(&self, id: NodeId) -> Option<u32> {
        Some(self.0[id.index()]).filter(|&g| g != Assignment::NONE)
    }
}

/// What becomes of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    /// A parameter of the graph.
    Parameter,
    /// Evaluated by index wherever it is needed.
    Free,
    /// Has no elements: nothing to compute.
    Empty,
    /// Computed by one group.
    Computed,
}

/// The class of each node. Views that are asked for by the graph itself, or lie too deep, are computed.
fn classify(graph: &Graph) -> Vec<Class> {
    let mut classes = Vec::with_capacity(graph.len());
    let mut depth = vec![0u32; graph.len()];
    for (id, node) in graph.iter() {
        classes.push(match node.op {
            Op::Parameter(_) => Class::Parameter,
            _ if node.results.iter().all(|t| t.spec().is_some_and(|s| s.shape.is_empty())) => Class::Empty,
            Op::Constant(_) | Op::Iota { .. } => Class::Free,
            _ if node.op.is_view() => {
                let below = node.operands[0].node.index();
                depth[id.index()] = depth[below] + u32::from(classes[below] == Class::Free);
                if depth[id.index()] > MAX_FREE_DEPTH {
                    depth[id.index()] = 0;
                    Class::Computed
                } else {
                    Class::Free
                }
            }
            _ => Class::Computed,
        });
    }
    for output in graph.outputs() {
        let root = storage(graph, output.value).node.index();
        if classes[root] == Class::Free {
            classes[root] = Class::Computed;
        }
    }
    classes
}

/// For each node, whether its value must be in memory for something beside the groups that read it: it is an output.
fn asked_for(graph: &Graph) -> Vec<bool> {
    let mut asked = vec![false; graph.len()];
    for output in graph.outputs() {
        asked[storage(graph, output.value).node.index()] = true;
    }
    asked
}

/// Groups the nodes of an optimized graph (pure tensor ops only, no regions) into kernels, producers before users.
pub fn fuse(graph: &Graph, _options: &Options) -> Vec<Group> {
    let classes = classify(graph);
    let live = live(graph);
    let mut assignment = Assignment(vec![Assignment::NONE; graph.len()]);
    let mut members: Vec<Vec<NodeId>> = Vec::new();
    for (id, _) in graph.iter() {
        if classes[id.index()] == Class::Computed && live[id.index()] {
            assignment.0[id.index()] = members.len() as u32;
            members.push(vec![id]);
        }
    }
    finish(graph, &assignment, &members)
}

/// Whether an output needs the node.
fn live(graph: &Graph) -> Vec<bool> {
    let mut live = vec![false; graph.len()];
    for output in graph.outputs() {
        live[output.value.node.index()] = true;
    }
    for (id, node) in graph.iter().rev() {
        if live[id.index()] {
            node.operands.iter().for_each(|v| live[v.node.index()] = true);
        }
    }
    live
}

/// The groups with their bodies; `members` has the computed nodes of each, ascending.
fn finish(graph: &Graph, assignment: &Assignment, members: &[Vec<NodeId>]) -> Vec<Group> {
    let asked = asked_for(graph);
    let needed = needed_elsewhere(graph, assignment);
    let mut groups = Vec::with_capacity(members.len());
    for (g, members) in members.iter().enumerate() {
        let is_output = |id: &&NodeId| asked[id.index()] || needed[id.index()];
        let outputs: Vec<ValueId> = members.iter().filter(is_output).map(|id| id.value()).collect();
        if outputs.is_empty() {
            continue;
        }
        let (nodes, inputs, body) = body::build(graph, assignment, g as u32, &outputs);
        groups.push(Group { nodes, inputs, outputs, body });
    }
    groups
}

/// Whether a node of another group needs the node, directly or through free nodes.
fn needed_elsewhere(graph: &Graph, assignment: &Assignment) -> Vec<bool> {
    // For each node, the one group that needs it, if there is only one.
    #[derive(Clone, Copy, PartialEq)]
    enum Needs {
        Nobody,
        One(u32),
        Many,
    }
    let mut needs = vec![Needs::Nobody; graph.len()];
    let live = live(graph);
    for (id, node) in graph.iter().rev().filter(|(id, _)| live[id.index()]) {
        let by = match assignment.group(id) {
            Some(g) => Needs::One(g),
            None => needs[id.index()],
        };
        for operand in &node.operands {
            let slot = &mut needs[operand.node.index()];
            *slot = match (*slot, by) {
                (Needs::Nobody, by) => by,
                (before, Needs::Nobody) => before,
                (Needs::One(a), Needs::One(b)) if a == b => Needs::One(a),
                _ => Needs::Many,
            };
        }
    }
    graph
        .iter()
        .map(|(id, _)| match (needs[id.index()], assignment.group(id)) {
            (Needs::Nobody, _) | (_, None) => false,
            (Needs::One(by), Some(own)) => by != own,
            (Needs::Many, Some(_)) => true,
        })
        .collect()
}
