//! Control flow inside a graph: `cond`, `fori_loop`, and `while_loop`, which is recorded to be rejected.
//!
//! A body is an ordinary closure over tensors. Tensors of the surrounding trace that it uses become operands of the
//! op by themselves.

use super::Tensor;
use super::tracer::{Body, inside, poison, record_all, reject, with};
use crate::diagnostics::codes;
use monograph_ir::{DType, Graph, Op, Origin, ParamKind, Path, Region, Spec, Tree, leaves, map, paths};
use std::panic::Location;
use std::sync::Arc;

/// The results of `then()` where the bool scalar `condition` is true, else those of `otherwise()`; both return the
/// same structure, dtypes and shapes.
///
/// Both branches are recorded. A branch without effects becomes a [`Tensor::select`]: both sides are computed.
#[track_caller]
pub fn cond<R: Tree<Leaf = Tensor>>(
    condition: &Tensor,
    then: impl FnOnce() -> R,
    otherwise: impl FnOnce() -> R,
) -> R::Map<Tensor> {
    let location = Location::caller();
    open("then", &[], &[], location);
    let yes = inside(then);
    let yes_body = close("cond", &yes, false, location);
    let captures = yes_body.as_ref().map_or_else(Vec::new, |b| b.captures.clone());
    open("otherwise", &[], &captures, location);
    let no = inside(otherwise);
    let no_body = close("cond", &no, false, location);
    let (Some(mut yes_body), Some(no_body)) = (yes_body, no_body) else { return poisoned(&yes) };
    if !same_structure("cond", "the branches return", &yes, &no) {
        return poisoned(&yes);
    }
    take_as_many(&mut yes_body.graph, &no_body.graph);
    let mut operands = vec![*condition];
    operands.extend_from_slice(&no_body.captures);
    let op = Op::Cond { then: region(yes_body.graph), otherwise: region(no_body.graph) };
    structured(&yes, record_all(op, &operands).as_slice())
}

/// `state` after `count` rounds of `body(i, state)`, where `i` is an i64 scalar that counts from 0. The structure,
/// dtypes and shapes of the state stay. The loop is unrolled when the program is compiled, so its length costs compile
/// time and launches: for thousands of rounds, make the state that of a step, and replay it.
#[track_caller]
pub fn fori_loop<S: Tree<Leaf = Tensor>>(
    count: usize,
    state: S,
    body: impl FnOnce(Tensor, S::Map<Tensor>) -> S::Map<Tensor>,
) -> S::Map<Tensor> {
    let location = Location::caller();
    let Some(mut parameters) = parameters(&state) else { return poisoned(&state) };
    parameters.insert(0, ("i".to_string(), Spec::new(DType::I64, [])));
    let entered = open("body", &parameters, &[], location);
    let Some((&i, entered)) = entered.split_first() else { return poisoned(&state) };
    let after = inside(|| body(i, structured(&state, entered)));
    let Some(body) = close("fori_loop", &after, true, location) else { return poisoned(&state) };
    if !same_structure("fori_loop", "the state and what the body returns are", &state, &after) {
        return poisoned(&state);
    }
    let mut operands: Vec<Tensor> = leaves(&state).into_iter().copied().collect();
    operands.extend_from_slice(&body.captures);
    let op = Op::For { count: count as u64, body: region(body.graph) };
    structured(&state, record_all(op, &operands).as_slice())
}

/// Rejected: repeats `body(state)` while `condition(state)`, a bool scalar, holds. The number of rounds would depend
/// on data; use [`fori_loop`] with a bound, and [`Tensor::select`] to keep the state once the condition fails.
#[track_caller]
pub fn while_loop<S: Tree<Leaf = Tensor>>(
    state: S,
    condition: impl FnOnce(S::Map<Tensor>) -> Tensor,
    body: impl FnOnce(S::Map<Tensor>) -> S::Map<Tensor>,
) -> S::Map<Tensor> {
    let location = Location::caller();
    let Some(parameters) = parameters(&state) else { return poisoned(&state) };
    let entered = open("condition", &parameters, &[], location);
    let holds = inside(|| condition(structured(&state, &entered)));
    let condition = close("while_loop", &holds, false, location);
    let captures = condition.as_ref().map_or_else(Vec::new, |b| b.captures.clone());
    let entered = open("body", &parameters, &captures, location);
    let after = inside(|| body(structured(&state, &entered)));
    let (Some(mut condition), Some(body)) = (condition, close("while_loop", &after, true, location)) else {
        return poisoned(&state);
    };
    if !same_structure("while_loop", "the state and what the body returns are", &state, &after) {
        return poisoned(&state);
    }
    take_as_many(&mut condition.graph, &body.graph);
    let mut operands: Vec<Tensor> = leaves(&state).into_iter().copied().collect();
    operands.extend_from_slice(&body.captures);
    let op = Op::While { condition: region(condition.graph), body: region(body.graph) };
    structured(&state, record_all(op, &operands).as_slice())
}

fn region(graph: Graph) -> Region {
    Region(Arc::new(graph))
}

/// Names and specs of a loop's state; `None` if one is poison or dynamic, which a diagnostic elsewhere is about.
fn parameters<S: Tree<Leaf = Tensor>>(state: &S) -> Option<Vec<(String, Spec)>> {
    let name = |path: &Path| if path.is_root() { "state".to_string() } else { format!("state.{path}") };
    let all = paths(state).into_iter().zip(leaves(state));
    all.map(|(path, leaf)| leaf.known().map(|spec| (name(&path), spec))).collect()
}

fn open(name: &str, parameters: &[(String, Spec)], captures: &[Tensor], location: &Location<'_>) -> Vec<Tensor> {
    let entered = with(|t| t.open_body(name, parameters, captures, location));
    entered.unwrap_or_else(|| vec![Tensor::nowhere(); parameters.len()])
}

fn close<R: Tree<Leaf = Tensor>>(of: &str, results: &R, hand_on: bool, location: &Location<'_>) -> Option<Body> {
    let results: Vec<Tensor> = leaves(results).into_iter().copied().collect();
    with(|t| t.close_body(of, &results, hand_on, location)).flatten()
}

/// The structure of `like` with these tensors as leaves; poison where they run out, which only errors do.
fn structured<S: Tree<Leaf = Tensor>>(like: &S, tensors: &[Tensor]) -> S::Map<Tensor> {
    let mut tensors = tensors.iter();
    map(like, |_, _| tensors.next().copied().unwrap_or_else(poison))
}

fn poisoned<S: Tree<Leaf = Tensor>>(like: &S) -> S::Map<Tensor> {
    map(like, |_, leaf| {
        with(|t| t.poison(t.ty(*leaf).and_then(|ty| ty.spec().cloned()))).unwrap_or_else(Tensor::nowhere)
    })
}

/// Whether both trees have the same leaves; else records a diagnostic.
#[track_caller]
fn same_structure<A, B>(name: &str, what: &str, a: &A, b: &B) -> bool
where
    A: Tree<Leaf = Tensor>,
    B: Tree<Leaf = Tensor>,
{
    let (a, b) = (paths(a), paths(b));
    if a == b {
        return true;
    }
    let message = format!("`{name}`: {what} trees of {} and {} tensors of different structure", a.len(), b.len());
    let help = "return the same `Vec` lengths and `Option`s".to_string();
    reject(codes::STRUCTURE, message, "structures differ", &[], &[help]);
    false
}

/// Declares the captured parameters that `other` has beyond those of `graph`.
fn take_as_many(graph: &mut Graph, other: &Graph) {
    for param in &other.params()[graph.params().len()..] {
        let origin: Origin = other.origin(other.param_value(graph.params().len()).node).clone();
        graph.parameter(param.name.clone(), param.spec.clone(), ParamKind::Input(Default::default()), origin);
    }
}
