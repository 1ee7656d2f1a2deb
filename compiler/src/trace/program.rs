//! `trace` and its sisters, and `Program`, what they give.

use super::Tensor;
use super::frozen::Frozen;
use super::tracer::{Recorded, begin, end, with};
use crate::diagnostics::codes;
use crate::reject;
use monograph_ir::{
    Array, Entry, Error, Graph, HasSpec, Key, Origin, OutputKind, Outputs, ParamKind, Path, Returned, Signature, Spec,
    Tree, leaves, map, paths, verify,
};
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Arc;

/// A traced function: a graph that every later stage accepts, with what its parameters hold at first.
///
/// `S`, `I` and `O` are the forms of state, inputs and outputs: trees of [`Spec`], or `()`.
pub struct Program<S, I, O> {
    graph: Arc<Graph>,
    state: Arc<S>,
    outputs: Arc<O>,
    initial: Vec<Array>,
    constants: Vec<Array>,
    frozen: Vec<Frozen>,
    structure: Arc<Structure>,
    inputs: PhantomData<fn() -> I>,
}

/// The keys of what was traced.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    /// Of the state or the parameters.
    pub state: Key,
    /// Of the inputs.
    pub inputs: Key,
}

impl<S, I, O> Program<S, I, O> {
    /// The graph.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// The form of the state.
    pub fn state_form(&self) -> &Arc<S> {
        &self.state
    }

    /// The form of the outputs.
    pub fn output_form(&self) -> &Arc<O> {
        &self.outputs
    }

    /// The lengths, options and static fields of what was traced, on which the graph depends.
    pub fn structure(&self) -> &Arc<Structure> {
        &self.structure
    }

    /// What each state parameter of the graph holds before the first replay, in the order of those parameters.
    pub fn initial(&self) -> &[Array] {
        &self.initial
    }

    /// What each constant parameter of the graph holds, in the order of those parameters.
    pub fn constants(&self) -> &[Array] {
        &self.constants
    }

    /// Name and spec of each input, in the order in which a replay takes them.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, &Spec)> {
        let inputs = self.graph.params().iter().filter(|p| matches!(p.kind, ParamKind::Input(_)));
        inputs.map(|p| (p.name.as_str(), &p.spec))
    }

    /// Host numbers that were frozen into the graph and whose source does not show them: every replay computes with
    /// these values. Pass what should change as an input.
    pub fn frozen(&self) -> impl Iterator<Item = &Frozen> {
        self.frozen.iter().filter(|f| !f.literal)
    }

    /// Every host number in the graph, the literals of the source included.
    pub fn numbers(&self) -> &[Frozen] {
        &self.frozen
    }
}

// Not derived, which would ask `Clone` and `Debug` of the user's trees.
impl<S, I, O> Clone for Program<S, I, O> {
    fn clone(&self) -> Self {
        Program {
            graph: self.graph.clone(),
            state: self.state.clone(),
            outputs: self.outputs.clone(),
            initial: self.initial.clone(),
            constants: self.constants.clone(),
            frozen: self.frozen.clone(),
            structure: self.structure.clone(),
            inputs: PhantomData,
        }
    }
}

/// Prints the graph in its textual form.
impl<S, I, O> fmt::Debug for Program<S, I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&*self.graph, f)
    }
}

/// What tracing gives.
pub type Traced<S, I, O> = Result<Program<S, I, O>, Error>;

/// The form of a state or of parameters: their tree with specs for leaves.
pub type StateForm<S> = <S as Tree>::Map<Spec>;

/// The form of the inputs that `I` describes.
pub type InputForm<I> = <I as Signature>::With<Spec>;

/// The form of the outputs of a traced function that returns `R`.
pub type OutputForm<R> = <<R as Returned>::Value as Outputs<Tensor>>::Form;

/// Traces `f` over the inputs that `inputs` describes: a spec, a scalar, an array or tree by reference, or a tuple
/// of these.
///
/// `f` runs once, on tensors without data. Arrays that it captures become resident constants, host numbers are
/// frozen (see [`Program::frozen`]).
///
/// # Errors
/// [`Error::Rejected`] with every root error of the trace; else the error that `f` returned. A panic of `f` goes on
/// if nothing was wrong before it.
#[track_caller]
pub fn trace<I, R, F>(f: F, inputs: I) -> Traced<(), InputForm<I>, OutputForm<R>>
where
    I: Signature,
    R: Returned,
    F: FnOnce(I::With<Tensor>) -> R,
    R::Value: Outputs<Tensor>,
{
    let caller = Location::caller();
    let (recorded, form) =
        run(caller, || f(enter_inputs(&inputs, caller)).value(), |outputs| Some(finish(outputs, caller)))?;
    let structure = Structure { state: Key::default(), inputs: Key::of(&inputs) };
    Ok(program(recorded, (), Vec::new(), form, structure))
}

/// [`trace`] with the function last.
///
/// # Errors
/// As [`trace`].
#[track_caller]
pub fn trace_last<I, R, F>(inputs: I, f: F) -> Traced<(), InputForm<I>, OutputForm<R>>
where
    I: Signature,
    R: Returned,
    F: FnOnce(I::With<Tensor>) -> R,
    R::Value: Outputs<Tensor>,
{
    trace(f, inputs)
}

/// Traces `f(parameters, inputs)`, where the parameters stay on the device: they are bound once, and a replay takes
/// the inputs only.
///
/// # Errors
/// As [`trace`].
#[track_caller]
pub fn trace_with<P, I, R, F>(parameters: &P, inputs: I, f: F) -> Traced<StateForm<P>, InputForm<I>, OutputForm<R>>
where
    P: Tree<Leaf = Array>,
    I: Signature,
    R: Returned,
    F: FnOnce(P::Map<Tensor>, I::With<Tensor>) -> R,
    R::Value: Outputs<Tensor>,
{
    let caller = Location::caller();
    let (recorded, form) = run(
        caller,
        || {
            let parameters = enter_state(parameters, caller);
            f(parameters, enter_inputs(&inputs, caller)).value()
        },
        |outputs| Some(finish(outputs, caller)),
    )?;
    let structure = Structure { state: Key::of(&parameters), inputs: Key::of(&inputs) };
    Ok(program(recorded, specs(parameters), arrays(parameters), form, structure))
}

/// Traces a step `f(state, inputs) -> (new state, outputs)`. The state lives on the device and is updated by each
/// replay; `state` is what it holds at first, and tracing does not change it.
///
/// # Errors
/// As [`trace`]; and where the new state differs from the old one in structure, dtype or shape.
#[track_caller]
pub fn trace_step<S, I, O, R, F>(state: &S, inputs: I, f: F) -> Traced<StateForm<S>, InputForm<I>, O::Form>
where
    S: Tree<Leaf = Array>,
    I: Signature,
    O: Outputs<Tensor>,
    R: Stepped<S::Map<Tensor>, O>,
    F: FnOnce(S::Map<Tensor>, I::With<Tensor>) -> R,
{
    let caller = Location::caller();
    let (recorded, form) = run(
        caller,
        || {
            let state = enter_state(state, caller);
            f(state, enter_inputs(&inputs, caller)).pair()
        },
        |(new, outputs)| {
            update_state(state, new, caller);
            Some(finish(outputs, caller))
        },
    )?;
    let structure = Structure { state: Key::of(&state), inputs: Key::of(&inputs) };
    Ok(program(recorded, specs(state), arrays(state), form, structure))
}

/// What a step may return: the new state and the outputs, or a `Result` of them, so that `?` works inside.
#[diagnostic::on_unimplemented(
    message = "a step cannot return `{Self}`",
    note = "return the new state and the outputs, `(state, outputs)`, or a `Result` of them with `monograph::Error`"
)]
pub trait Stepped<S, O> {
    /// The pair, or why there is none.
    ///
    /// # Errors
    /// The one that the function returned.
    fn pair(self) -> Result<(S, O), Error>;
}

impl<S, O> Stepped<S, O> for (S, O) {
    fn pair(self) -> Result<(S, O), Error> {
        Ok(self)
    }
}

impl<S, O> Stepped<S, O> for Result<(S, O), Error> {
    fn pair(self) -> Result<(S, O), Error> {
        self
    }
}

/// Captured data as resident constants: `let m = constant(&model);` inside a traced function.
#[track_caller]
pub fn constant<X: Tree<Leaf = Array>>(tree: &X) -> X::Map<Tensor> {
    let location = Location::caller();
    map(tree, |_, array| with(|t| t.constant(array, location)).unwrap_or_else(Tensor::nowhere))
}

/// Runs a traced function and what follows it in one trace, and gives what was recorded if nothing was wrong.
fn run<V, T>(
    caller: &Location<'_>,
    function: impl FnOnce() -> Result<V, Error>,
    then: impl FnOnce(&V) -> Option<T>,
) -> Result<(Recorded, T), Error> {
    begin("main", caller);
    let result = catch_unwind(AssertUnwindSafe(|| {
        let value = function()?;
        // The outputs are declared while the trace still runs.
        Ok(then(&value))
    }));
    let (recorded, open) = end().ok_or_else(|| Error::Internal("the trace ended early".into()))?;
    let mut diagnostics = recorded.diagnostics.clone();
    for graph in std::iter::once(&recorded.graph).chain(&open) {
        diagnostics.extend(reject::check(graph).err().unwrap_or_default());
    }
    // Whether a state changes is known only of a trace that is whole.
    if diagnostics.is_empty() && matches!(result, Ok(Ok(Some(_)))) {
        diagnostics = reject::repeated_randomness(&recorded.graph);
    }
    if !diagnostics.is_empty() {
        return Err(Error::Rejected(diagnostics));
    }
    match result {
        Err(panic) => resume_unwind(panic),
        Ok(Err(error)) => Err(error),
        Ok(Ok(None)) => Err(Error::Internal("a trace without diagnostics has no outputs".into())),
        Ok(Ok(Some(form))) => {
            verify(&recorded.graph)?;
            Ok((recorded, form))
        }
    }
}

fn program<S, I, O>(
    recorded: Recorded,
    state: S,
    initial: Vec<Array>,
    outputs: O,
    structure: Structure,
) -> Program<S, I, O> {
    let Recorded { graph, frozen, constants, .. } = recorded;
    Program {
        graph: Arc::new(graph),
        state: Arc::new(state),
        outputs: Arc::new(outputs),
        initial,
        constants,
        frozen,
        structure: Arc::new(structure),
        inputs: PhantomData,
    }
}

fn specs<X: Tree<Leaf = Array>>(tree: &X) -> X::Map<Spec> {
    map(tree, |_, array| HasSpec::spec(array).clone())
}

fn arrays<X: Tree<Leaf = Array>>(tree: &X) -> Vec<Array> {
    leaves(tree).into_iter().cloned().collect()
}

/// The place in a tree, or `lone` for a tree that is a leaf itself.
fn name(path: &Path, lone: &str) -> String {
    if path.is_root() { lone.to_string() } else { path.to_string() }
}

fn enter_inputs<I: Signature>(inputs: &I, caller: &Location<'_>) -> I::With<Tensor> {
    inputs.enter(&mut Path::root(), &mut |path, input| {
        let kind = ParamKind::Input(input.binding);
        if let Some(name) = &input.name {
            check_name(name, caller);
        }
        let name = input.name.unwrap_or_else(|| name(path, "input"));
        if input.spec.bytes().is_none() {
            return too_large(&name, &input.spec, caller);
        }
        with(|t| t.parameter(&name, input.spec, kind, caller)).unwrap_or_else(Tensor::nowhere)
    })
}

/// Poison for an input that cannot exist: operations count on the sizes of their operands.
fn too_large(name: &str, spec: &Spec, caller: &Location<'_>) -> Tensor {
    with(|t| {
        let origin = t.origin(caller);
        let message = format!("the input `{name}`, {spec}, has more bytes than 2^63");
        t.report(codes::TOO_LARGE, message, "traced here", origin, &[], &[]);
        t.poison(None)
    })
    .unwrap_or_else(Tensor::nowhere)
}

/// A name that the user gave must be free; one made from a place gives way by a number.
fn check_name(name: &str, caller: &Location<'_>) {
    with(|t| {
        if name.is_empty() || t.has_parameter(name) {
            let origin = t.origin(caller);
            let message = format!("the input name `{name}` is empty or taken");
            t.report(codes::NAME, message, "traced here", origin, &[], &["give each input a name of its own".into()]);
        }
    });
}

fn enter_state<S: Tree<Leaf = Array>>(state: &S, caller: &Location<'_>) -> S::Map<Tensor> {
    map(state, |path, array| {
        let spec = array.spec().clone();
        with(|t| t.parameter(&name(path, "state"), spec, ParamKind::State, caller)).unwrap_or_else(Tensor::nowhere)
    })
}

fn finish<O: Outputs<Tensor>>(outputs: &O, caller: &Location<'_>) -> O::Form {
    outputs.finish(&mut |path, tensor| {
        let declared = with(|t| {
            let origin = t.origin(caller);
            t.output(&name(path, "output"), *tensor, OutputKind::Result, &origin)
        });
        // Poison and dynamic tensors have no spec, but then there is a diagnostic and the form is thrown away.
        declared.flatten().unwrap_or_else(|| tensor.spec())
    })
}

/// Declares the new state, whose structure and types must be those of the old one.
fn update_state<S: Tree<Leaf = Array>>(old: &S, new: &S::Map<Tensor>, caller: &Location<'_>) {
    let (old_paths, new_paths) = (paths(old), paths(new));
    with(|t| {
        let origin = t.origin(caller);
        if let Some(differs) = first_difference(&old_paths, &new_paths) {
            let message = format!("the step returns a state of another structure: {differs}");
            let help = "return the state that came in, with changed tensors".to_string();
            t.report(codes::STRUCTURE, message, "the step", origin, &[], &[help]);
            return;
        }
        let (before, after) = (statics(old), statics(new));
        for ((path, was), (_, now)) in before.iter().zip(&after).filter(|(was, now)| was != now) {
            let message = format!("static field `{path}` of the state is {was}, but the step returns it as {now}");
            let help = "only tensors change from replay to replay: make it a tensor of the state".to_string();
            t.report(codes::STRUCTURE, message, "the step", origin.clone(), &[], &[help]);
        }
        let states = old_paths.iter().zip(leaves(old)).zip(leaves(new)).enumerate();
        for (number, ((path, old), &new)) in states {
            let name = name(path, "state");
            if let Some(spec) = t.ty(new).and_then(|ty| ty.spec().cloned())
                && spec != *old.spec()
            {
                state_changes(t, &name, old.spec(), &spec, new, origin.clone());
                continue;
            }
            // The state's parameters were declared first, in this order.
            t.output(&name, new, OutputKind::State(number as u32), &origin);
        }
    });
}

/// The static fields of a tree, as text.
fn statics<X: Tree>(tree: &X) -> Vec<(Path, String)> {
    let mut found = Vec::new();
    tree.visit(&mut Path::root(), &mut |path, entry| {
        if let Entry::Static(value) = entry {
            found.push((path.clone(), format!("{value:?}")));
        }
    });
    found
}

fn state_changes(t: &mut super::tracer::Tracer, name: &str, old: &Spec, new: &Spec, tensor: Tensor, origin: Origin) {
    let message = format!("state `{name}` is {old}, but the step returns {new}");
    let help = if old.dtype == new.dtype {
        "a state keeps its shape: reduce or broadcast the new value to it".to_string()
    } else {
        format!("a state keeps its dtype: convert the new value, `.cast(DType::{:?})`", old.dtype)
    };
    t.report(codes::STATE_TYPE, message, "the step", origin, &[tensor], &[help]);
}

fn first_difference(old: &[Path], new: &[Path]) -> Option<String> {
    if let Some((old, new)) = old.iter().zip(new).find(|(old, new)| old != new) {
        return Some(format!("`{new}` stands where `{old}` came in"));
    }
    match old.len().cmp(&new.len()) {
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Less => Some(format!("`{}` did not come in", new[old.len()])),
        std::cmp::Ordering::Greater => Some(format!("`{}` is missing", old[new.len()])),
    }
}
