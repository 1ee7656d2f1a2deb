//! The running trace: the graph under construction, what its tensors stand for, and what went wrong so far.
//!
//! One [`Tracer`] belongs to each running `trace` call. They are found through a thread-local stack, so that a
//! [`Tensor`] can be a small `Copy` handle and operators need no context argument.

use super::Tensor;
use super::frozen::{Frozen, FrozenNumbers};
use crate::diagnostics::{Sources, codes};
use crate::reject::provenance;
use monograph_ir::{
    Array, Code, Diagnostic, Graph, InferError, Note, Op, Origin, OutputKind, ParamKind, Spec, StorageId, Type,
    ValueId, infer,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::panic::Location;

thread_local! {
    /// The running traces of this thread, innermost last: a traced function may itself call `trace`.
    static STACK: RefCell<Vec<Tracer>> = const { RefCell::new(Vec::new()) };
    /// The number of the next trace. 0 stands for "no trace"; a number is never given twice on one thread, and
    /// handles cannot leave their thread.
    static NEXT: Cell<u32> = const { Cell::new(1) };
}

/// Calls `f` with the innermost running trace, if there is one. `f` must not call the user's code.
pub(super) fn with<R>(f: impl FnOnce(&mut Tracer) -> R) -> Option<R> {
    STACK.with_borrow_mut(|stack| stack.last_mut().map(f))
}

/// What a handle stands for.
#[derive(Clone)]
enum Slot {
    /// A value of the graph of that frame.
    Value { frame: u32, value: ValueId },
    /// The result of a bad operation, with its type where that is clear all the same.
    Poison(Option<Spec>),
}

/// A graph under construction: the trace's own, or the body of a `cond` or a loop.
struct Frame {
    /// Unique in the trace, so that a handle of a finished body is recognised.
    id: u32,
    graph: Graph,
    /// The tensors of the surrounding frame that became parameters, in the order of those parameters.
    captures: Vec<(ValueId, ValueId)>,
}

/// A finished body: its graph, and the handles of the surrounding frame behind its last parameters.
pub(super) struct Body {
    pub(super) graph: Graph,
    pub(super) captures: Vec<Tensor>,
}

/// What a trace leaves behind.
pub(super) struct Recorded {
    pub(super) graph: Graph,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) frozen: Vec<Frozen>,
    pub(super) constants: Vec<Array>,
}

/// One running trace.
pub(super) struct Tracer {
    id: u32,
    frames: Vec<Frame>,
    /// The bodies that an unwind left; what they hold to be rejected is reported at the end.
    abandoned: Vec<Graph>,
    next_frame: u32,
    slots: Vec<Slot>,
    diagnostics: Vec<Diagnostic>,
    frozen: FrozenNumbers,
    /// Captured arrays by identity of their storage (and spec: several arrays may view one storage).
    captured: FxHashMap<(StorageId, Spec), Tensor>,
    constants: Vec<Array>,
    /// The public operations that are being recorded, outermost first: messages name what the user wrote.
    scopes: Vec<&'static str>,
    sources: Sources,
    /// The caller of `trace`, for places that the user cannot open.
    fallback: Origin,
}

/// Starts a trace on this thread.
pub(super) fn begin(name: &str, caller: &Location<'_>) {
    let id = NEXT.get();
    NEXT.set(id + 1);
    let frame = Frame { id: 0, graph: Graph::new(name), captures: Vec::new() };
    let tracer = Tracer {
        id,
        frames: vec![frame],
        abandoned: Vec::new(),
        next_frame: 1,
        slots: Vec::new(),
        diagnostics: Vec::new(),
        frozen: FrozenNumbers::default(),
        captured: FxHashMap::default(),
        constants: Vec::new(),
        scopes: Vec::new(),
        sources: Sources::disk(),
        fallback: Origin::rust(caller),
    };
    STACK.with_borrow_mut(|stack| stack.push(tracer));
}

/// Ends the innermost trace. The bodies that an unwind left are handed over, because what they contain may have to be
/// rejected.
pub(super) fn end() -> Option<(Recorded, Vec<Graph>)> {
    let mut tracer = STACK.with_borrow_mut(Vec::pop)?;
    let abandoned = std::mem::take(&mut tracer.abandoned);
    let graph = tracer.frames.pop()?.graph;
    let Tracer { diagnostics, frozen, constants, .. } = tracer;
    Some((Recorded { graph, diagnostics, frozen: frozen.into_list(), constants }, abandoned))
}

/// Runs the user's code for an open body. Should it unwind, the body and those inside it are abandoned, so that a trace
/// that catches the panic goes on outside of them.
pub(super) fn inside<R>(body: impl FnOnce() -> R) -> R {
    let depth = with(|t| t.depth());
    let guard = Unwinding { depth };
    let result = body();
    std::mem::forget(guard);
    result
}

/// Abandons the bodies from that depth on when it is dropped, which only an unwind does.
struct Unwinding {
    depth: Option<usize>,
}

impl Drop for Unwinding {
    fn drop(&mut self) {
        if let Some(depth @ 1..) = self.depth {
            with(|t| t.abandoned.extend(t.frames.drain(depth..).map(|f| f.graph)));
        }
    }
}

/// Names the public operation that is being recorded, until it is dropped.
pub(super) struct Scope(());

/// Enters the public operation of that name. It must end before any code of the user's runs.
pub(super) fn scope(name: &'static str) -> Scope {
    with(|t| t.scopes.push(name));
    Scope(())
}

impl Drop for Scope {
    fn drop(&mut self) {
        with(|t| {
            t.scopes.pop();
        });
    }
}

/// Records an op with one result.
#[track_caller]
pub(super) fn record(op: impl Into<Op>, operands: &[Tensor]) -> Tensor {
    record_all(op, operands).first().copied().unwrap_or_else(poison)
}

/// Records an op; the handles of its results, or none if something was wrong.
#[track_caller]
pub(super) fn record_all(op: impl Into<Op>, operands: &[Tensor]) -> SmallVec<[Tensor; 1]> {
    let location = Location::caller();
    with(|t| t.apply(op.into(), operands, location)).unwrap_or_default()
}

/// Records a diagnostic at the caller, about some tensors, and gives a poisoned tensor.
#[track_caller]
pub(super) fn reject(code: Code, message: String, label: &str, about: &[Tensor], help: &[String]) -> Tensor {
    let location = Location::caller();
    with(|t| {
        let origin = t.origin(location);
        t.report(code, message, label, origin, about, help);
        t.poison(None)
    })
    .unwrap_or_else(Tensor::nowhere)
}

/// A poisoned tensor of the running trace.
pub(super) fn poison() -> Tensor {
    with(|t| t.poison(None)).unwrap_or_else(Tensor::nowhere)
}

/// The name to use in messages: that of the public operation, else `name`.
pub(super) fn scope_or(name: &'static str) -> &'static str {
    with(|t| t.scopes.first().copied()).flatten().unwrap_or(name)
}

/// The operands of an op in the current frame.
enum Operands {
    Values(SmallVec<[ValueId; 4]>),
    /// One of them is poison; the types, if all are known.
    Poison(Option<Vec<Type>>),
}

impl Tracer {
    /// Where a user finds the call: the caller of `trace` where the location is not in their sources.
    pub(super) fn origin(&self, location: &Location<'_>) -> Origin {
        let origin = Origin::rust(location);
        if origin.is_known() { origin } else { self.fallback.clone() }
    }

    pub(super) fn scope(&self) -> Option<&'static str> {
        self.scopes.first().copied()
    }

    fn handle(&mut self, slot: Slot) -> Tensor {
        self.slots.push(slot);
        Tensor::new(self.id, self.slots.len() as u32 - 1)
    }

    /// A poisoned tensor, of that type where it is known.
    pub(super) fn poison(&mut self, spec: Option<Spec>) -> Tensor {
        self.handle(Slot::Poison(spec))
    }

    fn slot(&self, tensor: Tensor) -> Option<&Slot> {
        if tensor.trace() == self.id { self.slots.get(tensor.index()) } else { None }
    }

    fn frame(&self, id: u32) -> Option<&Frame> {
        self.frames.iter().find(|f| f.id == id)
    }

    /// The type of a tensor, if it is one of this trace and known.
    pub(super) fn ty(&self, tensor: Tensor) -> Option<Type> {
        match self.slot(tensor)? {
            Slot::Value { frame, value } => self.frame(*frame).map(|f| f.graph.ty(*value).clone()),
            Slot::Poison(spec) => spec.clone().map(Type::Tensor),
        }
    }

    fn current(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the outermost frame stays until the trace ends")
    }

    /// A handle for a value of the current frame.
    fn value_handle(&mut self, value: ValueId) -> Tensor {
        let frame = self.current().id;
        self.handle(Slot::Value { frame, value })
    }

    /// Declares a parameter of the trace's own graph under a name that is not taken yet.
    pub(super) fn parameter(&mut self, name: &str, spec: Spec, kind: ParamKind, location: &Location<'_>) -> Tensor {
        let origin = self.origin(location);
        let graph = &mut self.frames[0].graph;
        let name = free_name(graph, name);
        let value = graph.parameter(name, spec, kind, origin);
        self.handle(Slot::Value { frame: 0, value })
    }

    /// The captured array as a constant parameter, one for each array.
    pub(super) fn constant(&mut self, array: &Array, location: &Location<'_>) -> Tensor {
        let key = (array.storage_id(), array.spec().clone());
        if let Some(&tensor) = self.captured.get(&key) {
            return tensor;
        }
        let name = format!("constant_{}", self.constants.len());
        let tensor = self.parameter(&name, array.spec().clone(), ParamKind::Constant, location);
        // Keeping the array alive keeps its identity from being given to another storage.
        self.constants.push(array.clone());
        self.captured.insert(key, tensor);
        tensor
    }

    /// Lists a host number that became part of the graph.
    pub(super) fn freeze(&mut self, value: &str, rust_type: &'static str, literal: bool, location: &Location<'_>) {
        let origin = self.origin(location);
        self.frozen.add(value, rust_type, literal, location, origin, &self.sources);
    }

    /// Whether the trace's own graph has a parameter of that name.
    pub(super) fn has_parameter(&self, name: &str) -> bool {
        self.frames[0].graph.params().iter().any(|p| p.name == name)
    }

    /// The value behind a handle in the current frame; tensors of surrounding frames become parameters.
    fn resolve(&mut self, tensor: Tensor, name: &str, origin: &Origin) -> Result<ValueId, Option<Type>> {
        let Some(slot) = self.slot(tensor).cloned() else {
            self.report_alien(tensor, name, origin);
            return Err(None);
        };
        let (frame, value) = match slot {
            Slot::Poison(spec) => return Err(spec.map(Type::Tensor)),
            Slot::Value { frame, value } => (frame, value),
        };
        let Some(depth) = self.frames.iter().position(|f| f.id == frame) else {
            let help = "return it from the body, so that it is a result of the `cond` or loop";
            let message = format!("`{name}` was given a tensor of a `cond` branch or loop body that has ended");
            self.report(codes::ENDED_BODY, message, "used outside of its body", origin.clone(), &[], &[help.into()]);
            return Err(None);
        };
        self.capture(depth, value, origin)
    }

    /// Carries a value of the frame at `depth` into the current one, through each frame between.
    fn capture(&mut self, depth: usize, mut value: ValueId, origin: &Origin) -> Result<ValueId, Option<Type>> {
        for inner in depth + 1..self.frames.len() {
            let (outer, rest) = self.frames.split_at_mut(inner);
            let (outer, frame) = (&outer[inner - 1].graph, &mut rest[0]);
            if let Some((_, known)) = frame.captures.iter().find(|(v, _)| *v == value) {
                value = *known;
                continue;
            }
            // A dynamic tensor cannot enter a body; its root is in the outer graph and will be rejected.
            let Some(spec) = outer.ty(value).spec().cloned() else { return Err(None) };
            let name = match outer.node(value.node).op {
                Op::Parameter(number) => outer.params()[number as usize].name.clone(),
                _ => format!("captured_{}", frame.captures.len()),
            };
            let name = free_name(&frame.graph, &name);
            let parameter = frame.graph.parameter(name, spec, ParamKind::Input(Default::default()), origin.clone());
            frame.captures.push((value, parameter));
            value = parameter;
        }
        Ok(value)
    }

    fn report_alien(&mut self, tensor: Tensor, name: &str, origin: &Origin) {
        let (code, whose, help) = match tensor.trace() {
            0 => (codes::NO_TRACE, "that was made outside of any trace", "make it inside the traced function"),
            _ => (
                codes::OTHER_TRACE,
                "of another trace",
                "return it from that trace, and pass what the replay gives as an input of this one",
            ),
        };
        let message = format!("`{name}` was given a tensor {whose}");
        self.report(code, message, "given here", origin.clone(), &[], &[help.into()]);
    }

    fn operands(&mut self, tensors: &[Tensor], name: &str, origin: &Origin) -> Operands {
        let mut values = SmallVec::new();
        let mut types = Vec::new();
        let (mut all_known, mut poisoned) = (true, false);
        for &tensor in tensors {
            match self.resolve(tensor, name, origin) {
                Ok(value) => {
                    types.push(self.current().graph.ty(value).clone());
                    values.push(value);
                }
                Err(Some(ty)) => {
                    poisoned = true;
                    types.push(ty);
                }
                Err(None) => (poisoned, all_known) = (true, false),
            }
        }
        if poisoned { Operands::Poison(all_known.then_some(types)) } else { Operands::Values(values) }
    }

    fn apply(&mut self, op: Op, tensors: &[Tensor], location: &Location<'_>) -> SmallVec<[Tensor; 1]> {
        let origin = self.origin(location);
        let name = self.scope().unwrap_or(op.name());
        let values = match self.operands(tensors, name, &origin) {
            Operands::Values(values) => values,
            Operands::Poison(types) => return self.poison_results(&op, types),
        };
        let frame = self.current();
        match frame.graph.add(op.clone(), &values, origin.clone()) {
            Ok(node) => {
                let results = frame.graph.node(node).results.len() as u32;
                (0..results).map(|result| self.value_handle(ValueId { node, result })).collect()
            }
            Err(error) => {
                self.report_infer(&op, name, &error, origin, tensors);
                SmallVec::from_elem(self.poison(None), 1)
            }
        }
    }

    /// The results of an op over poison: poison, of the types that sound operands would have given.
    fn poison_results(&mut self, op: &Op, types: Option<Vec<Type>>) -> SmallVec<[Tensor; 1]> {
        let results = types.and_then(|types| infer(op, &types.iter().collect::<Vec<_>>()).ok());
        match results {
            Some(types) => types.iter().map(|ty| self.poison(ty.spec().cloned())).collect(),
            None => SmallVec::from_elem(self.poison(None), 1),
        }
    }

    fn report_infer(&mut self, op: &Op, name: &str, error: &InferError, origin: Origin, about: &[Tensor]) {
        let too_large = match op {
            Op::Broadcast(shape) | Op::Iota { shape, .. } | Op::RandomBits { shape } => shape.elements().is_none(),
            _ => false,
        };
        let code = if too_large { codes::TOO_LARGE } else { codes::OPERANDS };
        let help: SmallVec<[String; 1]> = error.help.iter().filter(|h| !h.is_empty()).cloned().collect();
        self.report(code, format!("`{name}`: {}", error.message), "cannot be recorded", origin, about, &help);
    }

    /// Records a diagnostic, with notes on where the tensors it is about came from.
    pub(super) fn report(
        &mut self,
        code: Code,
        message: String,
        label: &str,
        origin: Origin,
        about: &[Tensor],
        help: &[String],
    ) {
        let mut notes: Vec<Note> = Vec::new();
        for &tensor in about {
            if let Some(Slot::Value { frame, value }) = self.slot(tensor)
                && let Some(frame) = self.frame(*frame)
            {
                let note = provenance::made(&frame.graph, *value);
                // A literal's own place is the operation itself, which says nothing new.
                if note.origin.as_ref() != Some(&origin) && !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        let diagnostic = Diagnostic { code, message, origin, label: label.into(), notes, help: help.to_vec() };
        // A loop on the host repeats a bad line; once is enough.
        if !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Declares an output of the trace's own graph; its type, if the tensor is sound.
    pub(super) fn output(&mut self, name: &str, tensor: Tensor, kind: OutputKind, origin: &Origin) -> Option<Spec> {
        let value = self.resolve(tensor, "return", origin).ok()?;
        let graph = &mut self.frames[0].graph;
        let is_same = match kind {
            // The old state is the new one: there is nothing to update.
            OutputKind::State(number) => graph.param_value(number as usize) == value,
            OutputKind::Result | OutputKind::Probe => false,
        };
        if !is_same {
            graph.output(name, value, kind);
        }
        graph.ty(value).spec().cloned()
    }

    /// The names of the outputs of that kind so far.
    pub(super) fn has_output(&self, name: &str, kind: OutputKind) -> bool {
        self.frames[0].graph.outputs().iter().any(|o| o.kind == kind && o.name == name)
    }

    /// How deep in bodies the trace is: 0 outside of all.
    pub(super) fn depth(&self) -> usize {
        self.frames.len() - 1
    }

    /// Opens a body with these parameters, after which `captures` of the surrounding frame are parameters too.
    pub(super) fn open_body(
        &mut self,
        name: &str,
        parameters: &[(String, Spec)],
        captures: &[Tensor],
        location: &Location<'_>,
    ) -> Vec<Tensor> {
        let origin = self.origin(location);
        let id = self.next_frame;
        self.next_frame += 1;
        self.frames.push(Frame { id, graph: Graph::new(name), captures: Vec::new() });
        let mut handles = Vec::new();
        for (name, spec) in parameters {
            let graph = &mut self.current().graph;
            let name = free_name(graph, name);
            let value = graph.parameter(name, spec.clone(), ParamKind::Input(Default::default()), origin.clone());
            handles.push(self.value_handle(value));
        }
        self.extend_captures(captures, &origin);
        handles
    }

    fn extend_captures(&mut self, captures: &[Tensor], origin: &Origin) {
        for &tensor in captures {
            // Captures are values of the surrounding frame by construction, so this resolves.
            let _ = self.resolve(tensor, "cond", origin);
        }
    }

    /// Closes the innermost body, of the op `of`, with these results, and the captured parameters as further results if a loop must
    /// hand them on. `None` if a result is poison.
    pub(super) fn close_body(
        &mut self,
        of: &str,
        results: &[Tensor],
        hand_on: bool,
        location: &Location<'_>,
    ) -> Option<Body> {
        let origin = self.origin(location);
        let values: Vec<_> = results.iter().map(|&t| self.resolve(t, "return", &origin)).collect();
        let mut frame = self.frames.pop()?;
        let is_static = |v: &ValueId| frame.graph.ty(*v).spec().is_some();
        let values: Option<Vec<ValueId>> = values.into_iter().map(|v| v.ok().filter(is_static)).collect();
        if values.is_none() {
            // The body will not be part of the graph, so what it holds to be rejected is reported now.
            let mut lost = crate::reject::check(&frame.graph).err().unwrap_or_default();
            for diagnostic in &mut lost {
                diagnostic.notes.push(crate::reject::inside(of, &origin));
            }
            self.diagnostics.extend(lost);
        }
        let handed_on = frame.captures.iter().map(|(_, inner)| *inner).filter(|_| hand_on);
        for (i, value) in values?.into_iter().chain(handed_on.collect::<Vec<_>>()).enumerate() {
            frame.graph.output(i.to_string(), value, OutputKind::Result);
        }
        let captures = frame.captures.iter().map(|(outer, _)| *outer).collect::<Vec<_>>();
        let captures = captures.into_iter().map(|outer| self.value_handle(outer)).collect();
        Some(Body { graph: frame.graph, captures })
    }
}

/// `name`, or with a number after it if the graph has such a parameter already.
fn free_name(graph: &Graph, name: &str) -> String {
    let taken = |name: &str| graph.params().iter().any(|p| p.name == name);
    if !name.is_empty() && !taken(name) {
        return name.to_string();
    }
    let stem = if name.is_empty() { "value" } else { name };
    let mut number = 1;
    loop {
        let candidate = format!("{stem}_{number}");
        if !taken(&candidate) {
            return candidate;
        }
        number += 1;
    }
}
