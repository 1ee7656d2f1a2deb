//! A window of a graph: into an e-graph, and back into the new graph.

use super::extract::extract;
use super::rule::{Limits, Rule, saturate, splat};
use super::term::{Head, Term, Terms, Types, add};
use crate::passes::rebuild::{defect, splat_of};
use egg::Id;
use monograph_ir::{Error, Graph, NodeId, ValueId, ValueMap};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Copies a node as it is.
pub(crate) fn copy(graph: &Graph, id: NodeId, new: &mut Graph, map: &mut ValueMap) -> Result<(), Error> {
    let node = graph.node(id);
    let operands = map.all(&node.operands);
    let made = new.add(node.op.clone(), &operands, graph.origin(id).clone()).map_err(|e| defect("rewrite", e))?;
    map.insert_node(id, node.results.len(), made);
    Ok(())
}

/// Rewrites consecutive nodes with one result each, and records what became of those that are used behind them.
/// `last_use` has, for each node of the graph, the index of the last node that reads it.
pub(crate) fn rewrite(
    graph: &Graph,
    nodes: &[NodeId],
    last_use: &[usize],
    rules: &[&Rule],
    new: &mut Graph,
    map: &mut ValueMap,
) -> Result<(), Error> {
    let Some(end) = nodes.last() else { return Ok(()) };
    let mut window = Window::new(graph, nodes);
    let roots: Vec<NodeId> = nodes.iter().copied().filter(|id| last_use[id.index()] > end.index()).collect();
    let size = |w: &Window<'_>| (w.terms.total_size(), w.terms.number_of_classes());
    let before = size(&window);
    saturate(&mut window.terms, rules, Limits { rounds: 16 + nodes.len() / 8, terms: 1000 + 8 * nodes.len() });
    if size(&window) == before {
        return nodes.iter().try_for_each(|&id| copy(graph, id, new, map));
    }
    window.emit(nodes, &roots, new, map)
}

struct Window<'a> {
    graph: &'a Graph,
    terms: Terms,
    /// The class that each value was at first, in and outside the window.
    classes: FxHashMap<ValueId, Id>,
    /// What the numbered leaves stand for.
    leaves: Vec<ValueId>,
}

impl<'a> Window<'a> {
    fn new(graph: &'a Graph, nodes: &[NodeId]) -> Window<'a> {
        let terms = Terms::new(Types);
        let mut window = Window { graph, terms, classes: FxHashMap::default(), leaves: Vec::new() };
        for &id in nodes {
            let node = graph.node(id);
            let operands: SmallVec<[Id; 3]> = node.operands.iter().map(|&v| window.class(v)).collect();
            let class = add(&mut window.terms, node.op.clone(), &operands);
            window.classes.insert(id.value(), class);
        }
        window.terms.rebuild();
        window
    }

    /// The class of an operand; a value from outside becomes a leaf, or is written out where it is a splat.
    fn class(&mut self, value: ValueId) -> Id {
        if let Some(&id) = self.classes.get(&value) {
            return id;
        }
        let spec = self.graph.spec(value);
        let id = match splat_of(self.graph, value) {
            Some(literal) => splat(&mut self.terms, literal, &spec.shape),
            None => {
                self.leaves.push(value);
                self.terms.add(Term::outside(self.leaves.len() as u32 - 1, spec.clone()))
            }
        };
        self.classes.insert(value, id);
        id
    }

    /// The class of a node of the window, now.
    fn now(&self, id: NodeId) -> Id {
        self.terms.find(self.classes[&id.value()])
    }

    /// Writes the cheapest equal program in the order of the old one, each class with its earliest node's origin.
    fn emit(&self, nodes: &[NodeId], roots: &[NodeId], new: &mut Graph, map: &mut ValueMap) -> Result<(), Error> {
        let classes: Vec<Id> = roots.iter().map(|&id| self.now(id)).collect();
        let choice = extract(&self.terms, &classes);
        let live = choice.live(&self.terms, &classes);
        let mut earliest: FxHashMap<Id, NodeId> = FxHashMap::default();
        nodes.iter().for_each(|&id| _ = earliest.entry(self.now(id)).or_insert(id));
        let mut made: FxHashMap<Id, ValueId> = FxHashMap::default();
        for &id in nodes.iter().filter(|&&id| live.contains(&self.now(id))) {
            // Each entry is a class and the node whose origin it has where it is in no old node's place itself.
            let mut stack = vec![(self.now(id), id)];
            while let Some(&(class, origin)) = stack.last() {
                if made.contains_key(&class) {
                    stack.pop();
                    continue;
                }
                let term = choice.term(&self.terms, class);
                let origin = earliest.get(&class).copied().unwrap_or(origin);
                let value = if let Head::Leaf(number, _) = term.head {
                    map.at(self.leaves[number as usize])
                } else {
                    let operands: SmallVec<[Id; 3]> = term.operands().iter().map(|&o| self.terms.find(o)).collect();
                    let missing = operands.iter().copied().filter(|o| !made.contains_key(o));
                    let open = stack.len();
                    stack.extend(missing.rev().map(|o| (o, origin)));
                    if stack.len() > open {
                        continue;
                    }
                    let op = term.to_op(&self.terms).ok_or_else(|| defect("rewrite", "a term is no op"))?;
                    let operands: SmallVec<[ValueId; 3]> = operands.iter().map(|o| made[o]).collect();
                    new.apply(op, &operands, self.graph.origin(origin).clone()).map_err(|e| defect("rewrite", e))?
                };
                made.insert(class, value);
                stack.pop();
            }
        }
        roots.iter().for_each(|&id| map.insert(id.value(), made[&self.now(id)]));
        Ok(())
    }
}
