//! `regions`: graphs inside ops become part of the graph around them.
//!
//! A `cond` runs both branches, which are pure, and selects; a `fori_loop` is unrolled. Regions nest, so the pass
//! keeps a stack of its own: the depth of a program is no depth of calls.

use super::rebuild::{Operands, defect};
use monograph_ir::{DType, Error, Graph, Literal, Node, NodeId, Op, Origin, Type, ValueId, ValueMap};

/// The greatest number of nodes that are visited while unrolling.
pub const NODE_LIMIT: usize = 1_000_000;

/// Inlines every `cond` and `fori_loop`, nested ones too.
///
/// # Errors
/// [`Error::TooManyNodes`] if the unrolled program has more than [`NODE_LIMIT`] nodes; [`Error::Internal`] for an op
/// that must have been rejected before (`while_loop`, dynamic and host ops).
pub fn regions(graph: &Graph) -> Result<Graph, Error> {
    let (mut new, map) = graph.rebuild();
    let mut visited = 0;
    let mut stack = vec![Frame { graph, next: 0, map, origin: None, then: Then::Finish }];
    loop {
        let frame = stack.last_mut().expect("the outermost frame returns");
        if let Some(node) = frame.graph.nodes().get(frame.next) {
            let id = NodeId(frame.next as u32);
            frame.next += 1;
            visited += 1;
            if visited > NODE_LIMIT {
                return Err(Error::TooManyNodes { nodes: visited, limit: NODE_LIMIT });
            }
            if let Some(inner) = frame.enter(&mut new, id, node)? {
                stack.push(inner);
            }
            continue;
        }
        let frame = stack.pop().expect("it was there");
        let results = frame.map.all(&frame.graph.outputs().iter().map(|o| o.value).collect::<Operands>());
        let Some(outer) = stack.last_mut() else {
            for (output, &value) in graph.outputs().iter().zip(&results) {
                new.output(output.name.clone(), value, output.kind);
            }
            return Ok(new);
        };
        if let Some(next) = frame.leave(&mut new, outer, results)? {
            visited += 1;
            stack.push(next);
        }
    }
}

/// A graph that is being copied into the new one.
struct Frame<'a> {
    graph: &'a Graph,
    /// The next node to visit.
    next: usize,
    map: ValueMap,
    /// The op around it, for nodes of unknown origin.
    origin: Option<&'a Origin>,
    then: Then<'a>,
}

/// What happens to the results of a frame.
enum Then<'a> {
    /// They are the program's.
    Finish,
    /// They are those of the true branch; the other branch comes next.
    Otherwise { node: NodeId, predicate: ValueId, operands: Operands, graph: &'a Graph },
    /// They are those of the false branch, and meet those of the true one.
    Select { node: NodeId, predicate: ValueId, chosen: Operands },
    /// They are the state of the next round.
    Round { node: NodeId, round: u64, count: u64, state: Operands },
}

impl<'a> Frame<'a> {
    fn region(graph: &'a Graph, arguments: &[ValueId], origin: &'a Origin, then: Then<'a>) -> Frame<'a> {
        let mut map = ValueMap::default();
        for (i, &argument) in arguments.iter().enumerate() {
            map.insert(graph.param_value(i), argument);
        }
        Frame { graph, next: 0, map, origin: Some(origin), then }
    }

    fn origin(&self, id: NodeId) -> &'a Origin {
        let own = self.graph.origin(id);
        self.origin.filter(|_| !own.is_known()).unwrap_or(own)
    }

    /// Copies one node, or returns the frame of the graph inside it.
    fn enter(&mut self, new: &mut Graph, id: NodeId, node: &'a Node) -> Result<Option<Frame<'a>>, Error> {
        if matches!(node.op, Op::Parameter(_)) {
            return Ok(None);
        }
        let operands = self.map.all(&node.operands);
        let origin = self.origin(id);
        match &node.op {
            Op::Cond { then, otherwise } => {
                let (predicate, operands) = (operands[0], Operands::from_slice(&operands[1..]));
                let arguments = operands.clone();
                let next = Then::Otherwise { node: id, predicate, operands, graph: &otherwise.0 };
                Ok(Some(Frame::region(&then.0, &arguments, origin, next)))
            }
            Op::For { count: 0, .. } => {
                operands.iter().enumerate().for_each(|(i, &v)| self.map.insert(result(id, i), v));
                Ok(None)
            }
            Op::For { count, body } => {
                round(new, &body.0, origin, Then::Round { node: id, round: 0, count: *count, state: operands })
            }
            Op::While { .. } | Op::Dynamic(_) | Op::Host(_) => {
                Err(Error::Internal(format!("`{}` was not rejected", node.op.name())))
            }
            _ => {
                let copy = new.add(node.op.clone(), &operands, origin.clone()).map_err(|e| defect("regions", e))?;
                self.map.insert_node(id, node.results.len(), copy);
                Ok(None)
            }
        }
    }

    /// Hands the results to the frame around this one, or returns the frame that comes next.
    fn leave(self, new: &mut Graph, outer: &mut Frame<'a>, results: Operands) -> Result<Option<Frame<'a>>, Error> {
        match self.then {
            Then::Finish => Err(Error::Internal("the outermost graph has no graph around it".into())),
            Then::Otherwise { node, predicate, operands, graph } => {
                let next = Then::Select { node, predicate, chosen: results };
                Ok(Some(Frame::region(graph, &operands, outer.origin(node), next)))
            }
            Then::Select { node, predicate, chosen } => {
                let origin = outer.origin(node);
                for (i, (&a, &b)) in chosen.iter().zip(&results).enumerate() {
                    let value = select(new, predicate, a, b, origin)?;
                    outer.map.insert(result(node, i), value);
                }
                Ok(None)
            }
            Then::Round { node, round: last, count, state } => {
                // A round that neither counts nor changes anything repeats itself; so a long loop over nothing ends.
                let counter = self.graph.param_value(0).node;
                let fixed = results == state && self.graph.use_counts()[counter.index()] == 0;
                if last + 1 < count && !fixed {
                    let next = Then::Round { node, round: last + 1, count, state: results };
                    return round(new, self.graph, outer.origin(node), next);
                }
                results.iter().enumerate().for_each(|(i, &v)| outer.map.insert(result(node, i), v));
                Ok(None)
            }
        }
    }
}

fn result(node: NodeId, i: usize) -> ValueId {
    ValueId { node, result: i as u32 }
}

/// The frame of the next round of a loop.
fn round<'a>(new: &mut Graph, body: &'a Graph, origin: &'a Origin, then: Then<'a>) -> Result<Option<Frame<'a>>, Error> {
    let Then::Round { round, state, .. } = &then else {
        return Err(Error::Internal("only loops have rounds".into()));
    };
    let counter = Op::Constant(Literal::from_i64(DType::I64, *round as i64));
    let counter = new.apply(counter, &[], origin.clone()).map_err(|e| defect("regions", e))?;
    let arguments: Operands = std::iter::once(counter).chain(state.iter().copied()).collect();
    Ok(Some(Frame::region(body, &arguments, origin, then)))
}

fn select(new: &mut Graph, predicate: ValueId, a: ValueId, b: ValueId, origin: &Origin) -> Result<ValueId, Error> {
    if a == b {
        return Ok(a);
    }
    let Type::Tensor(spec) = new.ty(a) else {
        return Err(Error::Internal("a branch of a `cond` has a dynamic result that was not rejected".into()));
    };
    let shape = spec.shape.clone();
    let mask = match shape.rank() {
        0 => Ok(predicate),
        _ => new.apply(Op::Broadcast(shape), &[predicate], origin.clone()),
    };
    mask.and_then(|mask| new.apply(Op::Select, &[mask, a, b], origin.clone())).map_err(|e| defect("regions", e))
}
