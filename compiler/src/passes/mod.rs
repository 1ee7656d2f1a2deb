//! Graph-to-graph passes.

use monograph_ir::{Error, Graph};

/// Placeholder until merged.
pub fn optimize(graph: &Graph, _options: &crate::Options) -> Result<Graph, Error> {
    Ok(graph.clone())
}
