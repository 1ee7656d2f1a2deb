//! Fusion: from nodes to groups, each of which becomes one kernel.
//!
//! Constants, iotas and views are *free*: they belong to no group, and every group that needs one evaluates it by
//! index. Everything else belongs to exactly one group. What a group reads is a parameter of the graph, what another
//! group computes, or a reshape of either, which is the same bytes.

mod body;
mod classify;
mod clusters;
mod grow;
mod reads;

use crate::{Options, codegen};
use classify::{Class, classify};
use monograph_ir::{Graph, NodeId, Op, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

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

/// For each node, whether its value must be in memory for something beside the groups that read it: it is an output.
fn asked_for(graph: &Graph) -> Vec<bool> {
    let mut asked = vec![false; graph.len()];
    for output in graph.outputs() {
        asked[storage(graph, output.value).node.index()] = true;
    }
    asked
}

/// Groups the nodes of an optimized graph (pure tensor ops only, no regions) into kernels, producers before users.
///
/// With `options.fuse`, nodes are fused wherever a kernel family can compute them together; a group that
/// [`codegen::supported`] refuses all the same is taken apart. Without, each computed node is a group of its own.
pub fn fuse(graph: &Graph, options: &Options) -> Vec<Group> {
    let classes = classify(graph, options.fuse);
    let live = live(graph);
    if !options.fuse {
        return unfused(graph, &classes, &live);
    }
    let mut alone = FxHashSet::default();
    let mut known = FxHashMap::default();
    for round in 0.. {
        let (assignment, members) = grow::grow(graph, &classes, &live, &alone);
        let groups = finish(graph, &assignment, &members);
        let before = alone.len();
        for group in &groups {
            let own = || group.nodes.iter().copied().filter(|id| classes[id.index()] == Class::Computed);
            if own().nth(1).is_none() || is_supported(&group.body, &mut known) {
                continue;
            }
            // What the family combines is separated first, then everything.
            let combines =
                |id: &NodeId| grow::is_anchor(&graph.node(*id).op) || grow::is_reduction(&graph.node(*id).op);
            match round {
                0 if own().any(|id| combines(&id)) => alone.extend(own().filter(combines)),
                _ => alone.extend(own()),
            }
        }
        // Every round sets more nodes apart, so this ends.
        if alone.len() == before {
            return groups;
        }
    }
    unreachable!("a round without a change returns")
}

/// Whether there is a kernel for a body. Asked once for equal bodies.
fn is_supported(body: &Graph, known: &mut FxHashMap<Graph, bool>) -> bool {
    if let Some(&answer) = known.get(body) {
        return answer;
    }
    let answer = codegen::supported(body);
    if let Err(reason) = &answer {
        tracing::debug!(%reason, nodes = body.len(), "a group has no kernel and is split");
    }
    known.insert(body.clone(), answer.is_ok());
    answer.is_ok()
}

/// Each computed node by itself.
fn unfused(graph: &Graph, classes: &[Class], live: &[bool]) -> Vec<Group> {
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
