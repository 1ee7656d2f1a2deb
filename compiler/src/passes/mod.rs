//! Graph-to-graph passes.
