//! `Failure`: why a command did not do what it was asked, and the exit code that says so.

use monograph_compiler::diagnostics::{Sources, render_all};
use monograph_ir::{Diagnostic, Error, Origin};
use serde_json::{Value, json};

/// The exit code of a rejected program.
pub(crate) const REJECTED: u8 = 1;
/// The exit code of wrong usage or a wrong environment.
pub(crate) const ENVIRONMENT: u8 = 2;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The program is wrong, at places that can be shown.
    Rejected {
        /// Every root error.
        diagnostics: Vec<Diagnostic>,
        /// The program's text.
        sources: Sources,
    },
    /// The program cannot be compiled, for a reason without a place.
    Unsupported(String),
    /// The arguments, the data or the machine are wrong.
    Usage {
        /// What is wrong.
        message: String,
        /// What to do.
        help: Vec<String>,
    },
}

impl Failure {
    /// Wrong usage or environment.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::Usage { message: message.into(), help: Vec::new() }
    }

    /// The same with another thing that can be done about it.
    #[must_use]
    pub(crate) fn help(mut self, text: impl Into<String>) -> Failure {
        if let Failure::Usage { help, .. } = &mut self {
            help.push(text.into());
        }
        self
    }

    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Failure::Rejected { .. } | Failure::Unsupported(_) => REJECTED,
            Failure::Usage { .. } => ENVIRONMENT,
        }
    }

    /// For people.
    pub(crate) fn render(&self, color: bool) -> String {
        match self {
            Failure::Rejected { diagnostics, sources } => {
                let count = match diagnostics.len() {
                    1 => String::new(),
                    n => format!("\n\nerror: the program is rejected for {n} errors"),
                };
                render_all(diagnostics, sources, color) + &count
            }
            Failure::Unsupported(message) => format!("error: {message}"),
            Failure::Usage { message, help } => {
                help.iter().fold(format!("error: {message}"), |text, help| text + "\n  help: " + help)
            }
        }
    }

    /// For machines.
    pub(crate) fn json(&self) -> String {
        let (kind, errors) = match self {
            Failure::Rejected { diagnostics, .. } => ("rejected", diagnostics.iter().map(diagnostic).collect()),
            Failure::Unsupported(message) => ("rejected", vec![json!({ "message": message })]),
            Failure::Usage { message, help } => ("usage", vec![json!({ "message": message, "help": help })]),
        };
        pretty(&json!({ "ok": false, "kind": kind, "errors": errors }))
    }
}

/// JSON for a terminal or a file, with a line break at its end.
pub(crate) fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

fn diagnostic(d: &Diagnostic) -> Value {
    let notes: Vec<Value> = d
        .notes
        .iter()
        .map(|n| json!({ "message": n.message, "place": n.origin.as_ref().map_or(Value::Null, place) }))
        .collect();
    json!({
        "code": d.code.to_string(),
        "message": d.message,
        "label": d.label,
        "place": place(&d.origin),
        "notes": notes,
        "help": d.help,
    })
}

fn place(origin: &Origin) -> Value {
    match origin {
        Origin::Unknown => Value::Null,
        Origin::Imported(name) => json!({ "node": &**name }),
        Origin::Rust { file, line, column } | Origin::Text { file, line, column } => {
            json!({ "file": &**file, "line": line, "column": column })
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error {
            Error::Rejected(diagnostics) => Failure::Rejected { diagnostics, sources: Sources::disk() },
            Error::Parse(_) | Error::Verify(_) | Error::TooManyNodes { .. } | Error::TooMuchMemory { .. } => {
                Failure::Unsupported(error.to_string())
            }
            other => Failure::usage(other.to_string()),
        }
    }
}
