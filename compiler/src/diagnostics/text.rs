//! Errors of textual IR as diagnostics, so that they are rendered like all others.

use super::codes;
use monograph_ir::text::ParseError;
use monograph_ir::{Diagnostic, Graph, Origin, VerifyError};

/// A parse error with its place in the text.
pub fn from_parse_error(error: &ParseError) -> Diagnostic {
    Diagnostic {
        code: codes::PARSE,
        message: "the textual IR does not parse".into(),
        origin: Origin::Text { file: error.file.as_str().into(), line: error.line, column: error.column },
        label: error.message.clone(),
        notes: Vec::new(),
        help: vec!["`ir/TEXT.md` describes the grammar".into()],
    }
}

/// A broken invariant of a graph, at the node's place if the graph has it.
pub fn from_verify_error(error: &VerifyError, graph: &Graph) -> Diagnostic {
    let node = error.node.filter(|node| node.index() < graph.len() && error.graph == graph.name);
    Diagnostic {
        code: codes::INVALID,
        message: error.to_string(),
        origin: node.map_or(Origin::Unknown, |node| graph.origin(node).clone()),
        label: "breaks an invariant".into(),
        notes: Vec::new(),
        help: Vec::new(),
    }
}
