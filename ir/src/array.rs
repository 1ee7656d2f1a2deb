//! Arrays.

/// placeholder until the data side is merged
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("array")]
pub struct ArrayError;
