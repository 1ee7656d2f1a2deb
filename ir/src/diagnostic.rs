//! `Diagnostic`: what is wrong with the user's program, as data. Rendering is the compiler's.

use crate::Origin;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The code of a kind of diagnostic: displays as `MG0301`; `monograph explain MG0301` tells more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Code(pub u16);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MG{:04}", self.0)
    }
}

/// Something else that explains a diagnostic: how a value got there, or what depends on it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Note {
    /// The place it speaks of, if it speaks of one.
    pub origin: Option<Origin>,
    /// The text.
    pub message: String,
}

/// One root error in what the user wrote. Its `Display` is the plain text without source lines.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Its kind.
    pub code: Code,
    /// What is wrong, in one line.
    pub message: String,
    /// Where.
    pub origin: Origin,
    /// The words under the marked place in the source.
    pub label: String,
    /// How it came about.
    pub notes: Vec<Note>,
    /// What to do instead: each is an alternative that works.
    pub help: Vec<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}\n  --> {}", self.code, self.message, self.origin)?;
        for note in &self.notes {
            write!(f, "\n  note: {}", note.message)?;
            if let Some(origin) = &note.origin {
                write!(f, " ({origin})")?;
            }
        }
        for help in &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}
