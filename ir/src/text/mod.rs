//! The textual form: what tests, filetests and the command line speak. `ir/TEXT.md` is its reference.
//!
//! [`print()`] writes a graph, [`parse`] reads one, and `parse(print(g)) == g` for every graph that was built: the same
//! nodes with the same numbers, the same parameters and outputs. Origins are not printed; a parsed node's origin is
//! its place in the text. A parameter is numbered by where it stands, which is how a builder numbers it.
//!
//! The parser takes nothing on trust. It is iterative, allocates in proportion to the text, limits how deeply and how
//! often graphs refer to each other, and verifies what comes out; every error has a line and a column.

mod attributes;
mod lex;
mod parse;
mod print;
mod suggest;

use crate::Graph;
use std::fmt;

/// Textual IR that does not parse.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct ParseError {
    /// The file's name as given.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What was found, and what was expected.
    pub message: String,
}

/// The most graphs that may lie inside each other, the outermost included.
pub const MAX_DEPTH: u32 = 64;

/// The most nodes that all references to graphs of one text may stand for, each reference counted in full: a short
/// text could otherwise describe a graph that takes for ever to walk.
pub const MAX_NESTED_NODES: u64 = 1 << 20;

/// The text of a graph, preceded by those of the graphs that its ops hold. Ends with a line break.
pub fn print(graph: &Graph) -> String {
    print::module(graph)
}

/// Reads a text and returns its last graph, verified. `file` is the name that errors and origins carry.
///
/// # Errors
/// The first thing that is wrong, with its place: a text that breaks the grammar, a name that is not defined, an op
/// that does not take its operands, a type other than the inferred one, a graph that does not verify, or graphs
/// nested beyond [`MAX_DEPTH`] or [`MAX_NESTED_NODES`].
pub fn parse(text: &str, file: &str) -> Result<Graph, ParseError> {
    parse::module(text, file)
}

/// The names of all ops that the textual form knows, `parameter` included.
pub fn op_names() -> impl Iterator<Item = &'static str> {
    attributes::names()
}

impl fmt::Display for Graph {
    /// [`print()`]s it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(self))
    }
}
