//! `EvalError`: why a graph has no value.

use crate::{DType, InferError, Origin, Spec};

/// Why a graph or an op could not be evaluated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// The graph takes another number of parameters.
    #[error("graph `{graph}` takes {expected} parameters, but was given {found}")]
    ParamCount {
        /// The graph's name.
        graph: String,
        /// Parameters of the graph.
        expected: usize,
        /// Tensors given.
        found: usize,
    },
    /// A parameter has another dtype or shape.
    #[error("parameter `{name}` is {expected}, but was given {found}")]
    Param {
        /// The parameter's name.
        name: String,
        /// What was declared.
        expected: Box<Spec>,
        /// What came.
        found: Box<Spec>,
    },
    /// The bytes or elements for a tensor are not as many as its spec says.
    #[error("{spec} has {expected} {unit}, but was given {found}")]
    Length {
        /// What was asked for.
        spec: Box<Spec>,
        /// `bytes` or `elements`.
        unit: &'static str,
        /// How many it has.
        expected: u64,
        /// How many came.
        found: u64,
    },
    /// The op does not take these operands.
    #[error(transparent)]
    Infer(#[from] InferError),
    /// The op is recorded only so that it can be rejected: its result's shape depends on data, or it reads on the host.
    #[error("`{op}` ({origin}) cannot be evaluated: no graph can hold it; the rejection passes say what to do instead")]
    Rejected {
        /// The op's name.
        op: &'static str,
        /// Where it came from.
        origin: Origin,
    },
    /// A `while_loop` did not end.
    #[error("`while_loop` ({origin}) was still running after {limit} rounds; raise `Limits::rounds` if that is right")]
    Rounds {
        /// The most rounds it may take.
        limit: u64,
        /// Where it came from.
        origin: Origin,
    },
    /// There is not enough memory for a value.
    #[error("there are no {bytes} bytes of memory for a value ({origin})")]
    OutOfMemory {
        /// What was asked for.
        bytes: u64,
        /// Where the op that makes it came from.
        origin: Origin,
    },
    /// A graph that breaks an invariant that [`verify`](crate::verify) checks.
    #[error("the graph is not valid: {0}")]
    Invalid(String),
}

impl EvalError {
    /// Says where the error arose, unless a graph further inside said so already.
    pub(super) fn at(mut self, place: &Origin) -> EvalError {
        if let EvalError::Rejected { origin, .. }
        | EvalError::Rounds { origin, .. }
        | EvalError::OutOfMemory { origin, .. } = &mut self
            && *origin == Origin::Unknown
        {
            *origin = place.clone();
        }
        self
    }

    /// An op met a tensor whose dtype inference does not let through.
    pub(super) fn dtype(found: DType) -> EvalError {
        EvalError::Invalid(format!("an operand is {found}, which inference does not let through"))
    }
}
