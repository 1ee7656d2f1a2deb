//! `Graph`: the arena of nodes.

use crate::infer::{InferError, infer};
use crate::{DType, Op, Origin, Spec, VerifyError, verify};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A node of one graph, by its index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The index in [`Graph::nodes`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The first result of the node.
    pub const fn value(self) -> ValueId {
        ValueId { node: self, result: 0 }
    }
}

/// One result of a node. Displays as it is written in the textual form: `%7`, and `%7.1` for a later result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ValueId {
    /// The node.
    pub node: NodeId,
    /// Which of its results.
    pub result: u32,
}

impl fmt::Display for ValueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.result {
            0 => write!(f, "%{}", self.node.0),
            r => write!(f, "%{}.{r}", self.node.0),
        }
    }
}

/// What is known of a value before it exists.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// A tensor of static dtype and shape.
    Tensor(Spec),
    /// A tensor whose shape depends on data. Only rejected programs have one.
    Dynamic(DType),
}

impl Type {
    /// The dtype.
    pub const fn dtype(&self) -> DType {
        match self {
            Type::Tensor(spec) => spec.dtype,
            Type::Dynamic(dtype) => *dtype,
        }
    }

    /// The spec of a static tensor.
    pub const fn spec(&self) -> Option<&Spec> {
        match self {
            Type::Tensor(spec) => Some(spec),
            Type::Dynamic(_) => None,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Tensor(spec) => spec.fmt(f),
            Type::Dynamic(dtype) => write!(f, "{dtype}[?]"),
        }
    }
}

/// An op applied to values that come before it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Node {
    /// What it computes.
    pub op: Op,
    /// From what.
    pub operands: SmallVec<[ValueId; 3]>,
    /// The types of its results.
    pub results: SmallVec<[Type; 1]>,
}

/// How an input reaches the device at a replay.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Binding {
    /// Copied into a resident buffer.
    #[default]
    Copied,
    /// Read where it lies on the device; only the launches that read it are patched.
    Bound,
}

/// What a parameter stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParamKind {
    /// Given at each replay.
    Input(Binding),
    /// Lives on the device from one replay to the next; an output of kind `State` updates it.
    State,
    /// Data that never changes, kept outside the IR.
    Constant,
}

/// A parameter of a graph.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Param {
    /// Its name, unique in the graph: a path such as `0.layers.1.w`, or what the user called it.
    pub name: String,
    /// Dtype and shape.
    pub spec: Spec,
    /// What it stands for.
    pub kind: ParamKind,
}

/// Why a graph's result is computed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputKind {
    /// It is returned.
    Result,
    /// It becomes the state parameter of that number.
    State(u32),
    /// A named value to look at.
    Probe,
}

/// A result of a graph.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// The value.
    pub value: ValueId,
    /// Why it is computed.
    pub kind: OutputKind,
}

/// A function over tensors in static single assignment form.
///
/// Append-only: operands come before users, so index order is a topological order and a cycle cannot be written
/// down. Equal pure nodes are one node. Origins are in a side table and never part of identity; neither is the name.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Graph {
    /// The name in the textual form.
    pub name: String,
    nodes: Vec<Node>,
    params: Vec<Param>,
    /// The node of each parameter.
    param_nodes: Vec<NodeId>,
    outputs: Vec<Output>,
    /// Index into `origin_table`, one a node.
    origins: Vec<u32>,
    origin_table: Vec<Origin>,
    origin_index: FxHashMap<Origin, u32>,
    memo: FxHashMap<Node, NodeId>,
}

/// What is stored of a graph; the rest follows from it.
#[derive(Serialize, Deserialize)]
struct Stored {
    name: String,
    nodes: Vec<Node>,
    params: Vec<Param>,
    outputs: Vec<Output>,
    origins: Vec<u32>,
    origin_table: Vec<Origin>,
}

impl From<Graph> for Stored {
    fn from(graph: Graph) -> Stored {
        let Graph { name, nodes, params, outputs, origins, origin_table, .. } = graph;
        Stored { name, nodes, params, outputs, origins, origin_table }
    }
}

impl TryFrom<Stored> for Graph {
    type Error = VerifyError;

    /// Takes nothing on trust: the graph that comes out was verified.
    fn try_from(stored: Stored) -> Result<Graph, VerifyError> {
        let Stored { name, nodes, params, outputs, origins, origin_table } = stored;
        let fail = |message: &str| VerifyError { graph: name.clone(), node: None, message: message.into() };
        if origins.len() != nodes.len() || origins.iter().any(|&o| o as usize >= origin_table.len()) {
            return Err(fail("the table of origins does not fit the nodes"));
        }
        let mut param_nodes = vec![NodeId(u32::MAX); params.len()];
        for (i, node) in nodes.iter().enumerate() {
            if let Op::Parameter(number) = node.op {
                *param_nodes.get_mut(number as usize).ok_or_else(|| fail("a parameter is not declared"))? =
                    NodeId(i as u32);
            }
        }
        let memo = nodes.iter().enumerate().filter(|(_, n)| n.op.is_pure()).map(|(i, n)| (n.clone(), NodeId(i as u32)));
        let memo = memo.collect();
        let origin_index = origin_table.iter().enumerate().map(|(i, o)| (o.clone(), i as u32)).collect();
        let graph = Graph { name, nodes, params, param_nodes, outputs, origins, origin_table, origin_index, memo };
        verify(&graph).map(|()| graph)
    }
}

impl Graph {
    /// An empty graph of that name.
    pub fn new(name: impl Into<String>) -> Graph {
        Graph { name: name.into(), ..Graph::default() }
    }

    /// Declares the next parameter and returns its value.
    pub fn parameter(&mut self, name: impl Into<String>, spec: Spec, kind: ParamKind, origin: Origin) -> ValueId {
        let number = self.params.len() as u32;
        self.params.push(Param { name: name.into(), spec: spec.clone(), kind });
        let node = Node {
            op: Op::Parameter(number),
            operands: SmallVec::new(),
            results: smallvec::smallvec![Type::Tensor(spec)],
        };
        let id = self.append(node, origin);
        self.param_nodes.push(id);
        id.value()
    }

    /// Appends a node, or finds the equal one that is there. Use [`Graph::parameter`] for parameters.
    ///
    /// # Errors
    /// What [`infer`] says of the op and its operands.
    pub fn add(&mut self, op: impl Into<Op>, operands: &[ValueId], origin: Origin) -> Result<NodeId, InferError> {
        let op = op.into();
        let results = {
            let types: SmallVec<[&Type; 4]> = operands.iter().map(|&v| self.ty(v)).collect();
            infer(&op, &types)?
        };
        let node = Node { op, operands: SmallVec::from_slice(operands), results };
        if !node.op.is_pure() {
            return Ok(self.append(node, origin));
        }
        if let Some(&id) = self.memo.get(&node) {
            return Ok(id);
        }
        let id = self.append(node.clone(), origin);
        self.memo.insert(node, id);
        Ok(id)
    }

    /// [`Graph::add`] for an op with one result.
    ///
    /// # Errors
    /// As [`Graph::add`].
    pub fn apply(&mut self, op: impl Into<Op>, operands: &[ValueId], origin: Origin) -> Result<ValueId, InferError> {
        self.add(op, operands, origin).map(NodeId::value)
    }

    fn append(&mut self, node: Node, origin: Origin) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        let next = self.origin_table.len() as u32;
        let origin = *self.origin_index.entry(origin.clone()).or_insert_with(|| {
            self.origin_table.push(origin);
            next
        });
        self.nodes.push(node);
        self.origins.push(origin);
        id
    }

    /// Declares a result.
    pub fn output(&mut self, name: impl Into<String>, value: ValueId, kind: OutputKind) {
        self.outputs.push(Output { name: name.into(), value, kind });
    }

    /// Every node, operands before users.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Every node with its handle.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (NodeId, &Node)> + ExactSizeIterator {
        self.nodes.iter().enumerate().map(|(i, n)| (NodeId(i as u32), n))
    }

    /// One node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The parameters in order.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// The value of a parameter.
    pub fn param_value(&self, number: usize) -> ValueId {
        self.param_nodes[number].value()
    }

    /// The results in order.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The type of a value.
    pub fn ty(&self, value: ValueId) -> &Type {
        &self.nodes[value.node.index()].results[value.result as usize]
    }

    /// Dtype and shape of a value of a program that was accepted.
    ///
    /// # Panics
    /// If the value is dynamic: the rejection passes leave none, and nothing behind them may make one.
    pub fn spec(&self, value: ValueId) -> &Spec {
        self.ty(value).spec().expect("dynamic values do not outlive the rejection passes")
    }

    /// Where a node came from.
    pub fn origin(&self, id: NodeId) -> &Origin {
        &self.origin_table[self.origins[id.index()] as usize]
    }

    /// For each node, how often its results are used by nodes and outputs.
    pub fn use_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.nodes.len()];
        for operand in self.nodes.iter().flat_map(|n| &n.operands) {
            counts[operand.node.index()] += 1;
        }
        for output in &self.outputs {
            counts[output.value.node.index()] += 1;
        }
        counts
    }

    /// For each node, the nodes that use it, ascending, each once.
    pub fn users(&self) -> Vec<Vec<NodeId>> {
        let mut users: Vec<Vec<NodeId>> = vec![Vec::new(); self.nodes.len()];
        for (id, node) in self.iter() {
            for operand in &node.operands {
                let list = &mut users[operand.node.index()];
                if list.last() != Some(&id) {
                    list.push(id);
                }
            }
        }
        users
    }

    /// A graph with the same name and parameters and nothing else: where a pass that rebuilds starts. Returns the
    /// map from old to new values too, filled for the parameters.
    pub fn rebuild(&self) -> (Graph, ValueMap) {
        let mut graph = Graph::new(self.name.clone());
        let mut map = ValueMap::default();
        for (param, &node) in self.params.iter().zip(&self.param_nodes) {
            let origin = self.origin(node).clone();
            let value = graph.parameter(param.name.clone(), param.spec.clone(), param.kind, origin);
            map.insert(node.value(), value);
        }
        (graph, map)
    }

    fn identity(&self) -> (&[Node], &[Param], &[Output]) {
        (&self.nodes, &self.params, &self.outputs)
    }
}

/// From the values of one graph to those of another.
#[derive(Clone, Debug, Default)]
pub struct ValueMap(FxHashMap<ValueId, ValueId>);

impl ValueMap {
    /// Records what a value became.
    pub fn insert(&mut self, old: ValueId, new: ValueId) {
        self.0.insert(old, new);
    }

    /// Records what all results of a node became.
    pub fn insert_node(&mut self, old: NodeId, results: usize, new: NodeId) {
        for result in 0..results as u32 {
            self.insert(ValueId { node: old, result }, ValueId { node: new, result });
        }
    }

    /// What a value became, if it was visited.
    pub fn get(&self, old: ValueId) -> Option<ValueId> {
        self.0.get(&old).copied()
    }

    /// What a value became.
    ///
    /// # Panics
    /// If the value was not visited; visiting in index order makes that impossible for operands.
    pub fn at(&self, old: ValueId) -> ValueId {
        self.0[&old]
    }

    /// [`ValueMap::at`] for a list of operands.
    pub fn all(&self, old: &[ValueId]) -> SmallVec<[ValueId; 3]> {
        old.iter().map(|&v| self.at(v)).collect()
    }
}

impl PartialEq for Graph {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Graph {}

impl PartialOrd for Graph {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Graph {
    fn cmp(&self, other: &Self) -> Ordering {
        self.identity().cmp(&other.identity())
    }
}

impl Hash for Graph {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}
