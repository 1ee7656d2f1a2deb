//! `Failure`: why a command did not do what it was asked, and the exit code that says so.

use monograph_compiler::diagnostics::{Sources, render_all};
use monograph_ir::{Diagnostic, Error, Finding, KernelLine, KernelThread, Origin, Touch};
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
    /// The emulator found a kernel to be wrong.
    Found(Box<Finding>),
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
            Failure::Rejected { .. } | Failure::Unsupported(_) | Failure::Found(_) => REJECTED,
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
            Failure::Found(finding) => format!("error: the emulator found a defect of a kernel: {finding}"),
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
            Failure::Found(finding) => ("finding", vec![found(finding)]),
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

fn found(finding: &Finding) -> Value {
    let memory = finding.memory.as_ref().map(|m| {
        json!({
            "kind": m.what.name(),
            "name": m.name,
            "element": m.element,
            "dtype": m.dtype.map(|d| d.name()),
        })
    });
    let other = finding.other.as_ref().map(|o| {
        json!({
            "line": o.at.as_ref().map(line),
            "thread": o.thread.map(thread),
            "access": o.access.map(touch),
        })
    });
    let waits: Vec<Value> =
        finding.waits.iter().map(|w| json!({ "text": w.text, "line": w.at.as_ref().map(line) })).collect();
    json!({
        "code": finding.kind.name(),
        "message": finding.message,
        "help": [finding.kind.help()],
        "kernel": finding.kernel,
        "launch": finding.launch,
        "places": finding.origins.iter().map(place).collect::<Vec<_>>(),
        "line": finding.at.as_ref().map(line),
        "thread": finding.thread.map(thread),
        "access": finding.access.map(touch),
        "other": other,
        "memory": memory,
        "waits": waits,
    })
}

fn line(line: &KernelLine) -> Value {
    let inner = line.inner.as_ref();
    let inner = inner.map(|i| json!({ "function": i.function, "number": i.line, "text": i.text }));
    json!({ "number": line.line, "text": line.text, "inside": inner })
}

fn thread(thread: KernelThread) -> Value {
    json!({ "block": thread.block, "thread": thread.thread })
}

fn touch(access: Touch) -> Value {
    json!({ "kind": access.kind, "bytes": access.bytes })
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
            Error::Finding(finding) => Failure::Found(finding),
            other => Failure::usage(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use monograph_ir::{AccessKind, DType, FindingKind, MemoryKind, MemoryPlace, OtherAccess};

    #[test]
    fn findings_are_shown_and_told_to_machines() {
        let finding = Finding {
            kind: FindingKind::Race,
            kernel: "sum".into(),
            launch: Some("sum.0".into()),
            origins: vec![Origin::Text { file: "a.mg".into(), line: 3, column: 5 }],
            at: Some(KernelLine { line: 9, text: "y[0] = s[1];".into(), inner: None }),
            thread: Some(KernelThread { block: [2, 0, 0], thread: [1, 0, 0] }),
            access: Some(Touch { kind: AccessKind::Read, bytes: 4 }),
            other: Some(OtherAccess { at: None, thread: None, access: None }),
            memory: Some(MemoryPlace {
                what: MemoryKind::Output,
                name: "y".into(),
                element: 7,
                dtype: Some(DType::F32),
            }),
            waits: Vec::new(),
            message: String::new(),
        };
        let failure = Failure::from(Error::from(finding));
        assert_eq!(failure.code(), 1);
        let text = failure.render(false);
        let words = ["defect of a kernel: race", "a.mg:3:5", "line 9: y[0] = s[1];", "thread (1, 0, 0)", "element 7"];
        for word in words {
            assert!(text.contains(word), "{word} is not in {text}");
        }
        let json: Value = serde_json::from_str(&failure.json()).unwrap();
        assert_eq!((&json["ok"], &json["kind"]), (&json!(false), &json!("finding")));
        let error = &json["errors"][0];
        assert_eq!(error["code"], "race");
        assert_eq!(error["kernel"], "sum");
        assert_eq!(error["line"], json!({ "number": 9, "text": "y[0] = s[1];", "inside": null }));
        assert_eq!(error["places"], json!([{ "file": "a.mg", "line": 3, "column": 5 }]));
        assert_eq!(error["thread"], json!({ "block": [2, 0, 0], "thread": [1, 0, 0] }));
        assert_eq!(error["access"], json!({ "kind": "read", "bytes": 4 }));
        assert_eq!(error["memory"], json!({ "kind": "output", "name": "y", "element": 7, "dtype": "f32" }));
    }
}
