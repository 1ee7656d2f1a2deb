//! `Options`: what a user can choose about a compilation.

/// Choices of a compilation. The defaults are what most programs want.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Whether ops are fused into common kernels. Off, each op is a launch of its own: for debugging.
    pub fuse: bool,
    /// Whether the graph is simplified before fusion. Off, what was traced is what runs.
    pub optimize: bool,
    /// Whether rules that are wrong for NaN, infinities or signed zeros may be used (`x * 0 = 0`).
    pub fast_math: bool,
    /// Whether a fused kernel may keep f32 where the graph says f16 or bf16. Off, fused and unfused agree to the bit.
    pub excess_precision: bool,
    /// Whether launches may wait for each other only to share memory, where that makes the arena much smaller and
    /// the longest path no longer. Off, nothing waits but for what it needs.
    pub order_for_memory: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { fuse: true, optimize: true, fast_math: false, excess_precision: false, order_for_memory: true }
    }
}
