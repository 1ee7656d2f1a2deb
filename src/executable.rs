//! `Executable`: a program on a device, typed by the trees of its inputs, outputs and state.

use crate::{
    Array, Bind, Error, Form, Output, Path, Program, ReplayCost, Signature, Source, Spec, Structure, Tree, leaves,
};
use monograph_ir::Key;
use monograph_ir::plan::Plan;
use smallvec::SmallVec;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A program that is compiled and loaded. `S`, `I` and `O` are the forms, trees of [`Spec`], of its state, its inputs
/// and its outputs: `Executable<Mlp<Spec>, Spec, Spec>`.
///
/// `Send`, not `Sync`: replays of one executable never overlap.
pub struct Executable<S, I, O> {
    inner: monograph_runtime::Executable,
    state: Arc<S>,
    outputs: Arc<O>,
    structure: Arc<Structure>,
    inputs: PhantomData<fn() -> I>,
}

impl<S, I, O: Form> Executable<S, I, O> {
    pub(crate) fn new(inner: monograph_runtime::Executable, program: &Program<S, I, O>) -> Executable<S, I, O> {
        let (state, outputs) = (program.state_form().clone(), program.output_form().clone());
        Executable { inner, state, outputs, structure: program.structure().clone(), inputs: PhantomData }
    }

    /// Runs the program on these inputs and returns what it computes, in the structure that the traced function
    /// returned. Returns after the launch; reading an output waits.
    ///
    /// The outputs borrow the executable, because the next replay overwrites them: copy out what is to be kept
    /// ([`Output::to_array`], [`TreeExt::to_arrays`](crate::TreeExt::to_arrays)).
    ///
    /// # Errors
    /// [`Error::Input`] for an input of another shape, dtype or device than the program was traced for, and
    /// [`Error::Structure`] for a tree with other lengths, options or static fields; nothing was run then. [`Error::Device`] where the device refuses.
    pub fn replay<A: Bind + Signature<With<Spec> = I>>(&mut self, inputs: A) -> Result<O::With<Output<'_>>, Error> {
        same_structure("the inputs", &self.structure.inputs, &inputs)?;
        let mut sources: SmallVec<[Source<'_>; 8]> = SmallVec::new();
        inputs.bind(&mut Path::root(), &mut |_, source| sources.push(source));
        self.inner.replay(&sources)?;
        let mut number = 0;
        Ok(self.outputs.fill(&mut |_, _| {
            number += 1;
            self.inner.output(number - 1)
        }))
    }

    /// The value that was traced as `probe(name, …)`, as the last replay left it.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the names there are.
    pub fn probe(&self, name: &str) -> Result<Output<'_>, Error> {
        self.inner.probe(name)
    }

    /// Waits until every replay is complete.
    ///
    /// # Errors
    /// [`Error::Device`] where one has failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.inner.synchronize()
    }

    /// The plan it runs: launches, edges, memory, kernels.
    pub fn plan(&self) -> &Plan {
        self.inner.plan()
    }

    /// What the last replay cost: driver calls and bytes.
    pub fn cost(&self) -> ReplayCost {
        self.inner.cost()
    }

    /// The executable below, without the types of trees, to be changed.
    pub fn untyped_mut(&mut self) -> &mut monograph_runtime::Executable {
        &mut self.inner
    }

    /// The executable below, without the types of trees.
    pub fn untyped(&self) -> &monograph_runtime::Executable {
        &self.inner
    }
}

impl<S: Tree<Leaf = Spec>, I, O> Executable<S, I, O> {
    /// A copy of the state on the host. Waits for the last replay.
    ///
    /// # Errors
    /// [`Error::Device`] where a replay has failed.
    pub fn state(&self) -> Result<S::Map<Array>, Error> {
        let mut arrays = self.inner.states()?.into_iter();
        crate::try_map(&*self.state, |_, _| {
            arrays.next().ok_or_else(|| Error::Internal("the plan has fewer states than the program".into()))
        })
    }

    /// Replaces the state. Every leaf is checked before any is written.
    ///
    /// # Errors
    /// [`Error::Input`] for a leaf of another shape or dtype, [`Error::Structure`] for another structure.
    pub fn set_state<T: Tree<Leaf = Array, Map<Spec> = S>>(&mut self, state: &T) -> Result<(), Error> {
        same_structure("the leaves of the state", &self.structure.state, &state)?;
        let arrays: Vec<Array> = leaves(state).into_iter().cloned().collect();
        self.inner.set_states(&arrays)
    }
}

/// Refuses a tree that the type allows but the trace does not.
fn same_structure<T: Signature>(what: &'static str, traced: &Key, given: &T) -> Result<(), Error> {
    match traced.structural_difference(given) {
        None => Ok(()),
        Some(difference) => Err(Error::Structure { what, difference: difference.to_string() }),
    }
}

impl<S, I, O> fmt::Debug for Executable<S, I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
