//! Evaluation of whole graphs, and of the ops that hold graphs.

use super::{EvalError, Tensor, apply};
use crate::{Graph, Op, Origin, ValueId};

/// How long an evaluation may run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The most rounds of one `while_loop`.
    pub rounds: u64,
}

impl Default for Limits {
    /// 2³² rounds: far beyond what ends within minutes, so that a loop that never ends is an error in the end.
    fn default() -> Limits {
        Limits { rounds: 1 << 32 }
    }
}

/// The outputs of a graph, in order, for the values of its parameters.
///
/// A value is freed after its last use, and nodes that no output needs are not computed.
///
/// # Errors
/// Where the parameters are not those declared, where the graph holds an op that would be rejected (needed or not),
/// and where memory runs out or a `while_loop` does not end.
pub fn evaluate(graph: &Graph, params: &[Tensor]) -> Result<Vec<Tensor>, EvalError> {
    evaluate_with(graph, params, &Limits::default())
}

/// [`evaluate`] within other limits.
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_with(graph: &Graph, params: &[Tensor], limits: &Limits) -> Result<Vec<Tensor>, EvalError> {
    Program::new(graph)?.run(params.to_vec(), limits)
}

/// A graph with what is needed to run it: a slot for each value, and how often each is used.
struct Program<'a> {
    graph: &'a Graph,
    /// The first slot of each node.
    slots: Vec<usize>,
    /// For each slot, uses by nodes that are needed and by outputs.
    uses: Vec<u32>,
    /// Whether an output needs the node.
    needed: Vec<bool>,
}

impl<'a> Program<'a> {
    fn new(graph: &'a Graph) -> Result<Program<'a>, EvalError> {
        let mut slots = Vec::with_capacity(graph.len());
        let mut count = 0;
        for (id, node) in graph.iter() {
            if matches!(node.op, Op::Dynamic(_) | Op::Host(_)) {
                return Err(EvalError::Rejected { op: node.op.name(), origin: graph.origin(id).clone() });
            }
            slots.push(count);
            count += node.results.len();
        }
        let mut program = Program { graph, slots, uses: vec![0; count], needed: vec![false; graph.len()] };
        for output in graph.outputs() {
            let value = output.value;
            let results = graph.nodes().get(value.node.index()).map_or(0, |node| node.results.len());
            if value.result as usize >= results {
                return Err(EvalError::Invalid(format!("output `{}` is {value}, no result of a node", output.name)));
            }
            program.count(value);
        }
        for (id, node) in graph.iter().rev() {
            if program.needed[id.index()] {
                node.operands.iter().for_each(|&v| program.count(v));
            }
        }
        Ok(program)
    }

    fn slot(&self, value: ValueId) -> usize {
        self.slots[value.node.index()] + value.result as usize
    }

    fn count(&mut self, value: ValueId) {
        let slot = self.slot(value);
        self.uses[slot] += 1;
        self.needed[value.node.index()] = true;
    }

    /// The outputs for these parameters.
    fn run(&self, params: Vec<Tensor>, limits: &Limits) -> Result<Vec<Tensor>, EvalError> {
        self.check(&params)?;
        let mut params: Vec<Option<Tensor>> = params.into_iter().map(Some).collect();
        let mut uses = self.uses.clone();
        let mut values: Vec<Option<Tensor>> = vec![None; uses.len()];
        for (id, node) in self.graph.iter() {
            if !self.needed[id.index()] {
                continue;
            }
            let results = match node.op {
                Op::Parameter(number) => vec![take(params.get_mut(number as usize))?],
                _ => {
                    let operands = node.operands.iter().map(|&v| self.read(&mut values, &mut uses, v));
                    let operands = operands.collect::<Result<_, _>>()?;
                    apply(&node.op, operands, &node.results, limits).map_err(|e| e.at(self.graph.origin(id)))?
                }
            };
            for (slot, value) in (self.slots[id.index()]..).zip(results) {
                values[slot] = (uses[slot] > 0).then_some(value);
            }
        }
        self.graph.outputs().iter().map(|o| self.read(&mut values, &mut uses, o.value)).collect()
    }

    /// One use of a value: the last one takes it out.
    fn read(&self, values: &mut [Option<Tensor>], uses: &mut [u32], value: ValueId) -> Result<Tensor, EvalError> {
        let slot = self.slot(value);
        uses[slot] -= 1;
        if uses[slot] == 0 {
            return take(values.get_mut(slot));
        }
        values[slot].clone().ok_or_else(missing)
    }

    fn check(&self, params: &[Tensor]) -> Result<(), EvalError> {
        let declared = self.graph.params();
        if declared.len() != params.len() {
            let (expected, found) = (declared.len(), params.len());
            return Err(EvalError::ParamCount { graph: self.graph.name.clone(), expected, found });
        }
        for (param, given) in declared.iter().zip(params) {
            if param.spec != *given.spec() {
                let (expected, found) = (Box::new(param.spec.clone()), Box::new(given.spec().clone()));
                return Err(EvalError::Param { name: param.name.clone(), expected, found });
            }
        }
        Ok(())
    }
}

fn take(slot: Option<&mut Option<Tensor>>) -> Result<Tensor, EvalError> {
    slot.and_then(Option::take).ok_or_else(missing)
}

fn missing() -> EvalError {
    EvalError::Invalid("a value is used before it exists".into())
}

/// The value of a `bool` scalar.
fn truth(x: &Tensor) -> Result<bool, EvalError> {
    x.cells::<bool>()?.first().copied().ok_or_else(missing)
}

/// The results of one of two graphs.
pub(super) fn cond(
    then: &Graph,
    otherwise: &Graph,
    mut operands: Vec<Tensor>,
    limits: &Limits,
) -> Result<Vec<Tensor>, EvalError> {
    if operands.is_empty() {
        return Err(missing());
    }
    let chosen = if truth(&operands.remove(0))? { then } else { otherwise };
    Program::new(chosen)?.run(operands, limits)
}

/// Repeats `body` while `condition` holds.
pub(super) fn while_loop(
    condition: &Graph,
    body: &Graph,
    mut state: Vec<Tensor>,
    limits: &Limits,
) -> Result<Vec<Tensor>, EvalError> {
    let (condition, body) = (Program::new(condition)?, Program::new(body)?);
    let mut rounds = 0;
    loop {
        let holds = condition.run(state.clone(), limits)?;
        if !truth(holds.first().ok_or_else(missing)?)? {
            return Ok(state);
        }
        if rounds == limits.rounds {
            return Err(EvalError::Rounds { limit: limits.rounds, origin: Origin::Unknown });
        }
        rounds += 1;
        state = body.run(state, limits)?;
    }
}

/// `body(i, state…)` for each `i` below `count`.
pub(super) fn fori_loop(
    count: u64,
    body: &Graph,
    mut state: Vec<Tensor>,
    limits: &Limits,
) -> Result<Vec<Tensor>, EvalError> {
    let body = Program::new(body)?;
    for i in 0..count {
        state.insert(0, Tensor::scalar(i as i64));
        state = body.run(state, limits)?;
    }
    Ok(state)
}
