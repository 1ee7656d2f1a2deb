//! Where a node came from.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// A place in what the user wrote. Owned, so that it outlives the program that traced and can be stored in a plan.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Nothing is known.
    #[default]
    Unknown,
    /// A line of Rust source, as `#[track_caller]` reports it; line and column count from 1.
    Rust {
        /// The path as the compiler saw it, often relative to the workspace root.
        file: Arc<str>,
        /// Line.
        line: u32,
        /// Column.
        column: u32,
    },
    /// A place in a textual IR file; line and column count from 1.
    Text {
        /// The file's name as given, empty where the text had none.
        file: Arc<str>,
        /// Line.
        line: u32,
        /// Column.
        column: u32,
    },
    /// A node of an imported model, by its name there.
    Imported(Arc<str>),
}

impl Origin {
    /// The place of a `#[track_caller]` call.
    pub fn rust(location: &Location<'_>) -> Origin {
        Origin::Rust { file: location.file().into(), line: location.line(), column: location.column() }
    }

    /// Whether a user can open the place: false for unknown ones and for the standard library's own sources, which
    /// is what a function pointer handed to `map` reports.
    pub fn is_known(&self) -> bool {
        match self {
            Origin::Unknown => false,
            Origin::Rust { file, .. } => !file.starts_with("/rustc/"),
            Origin::Text { .. } | Origin::Imported(_) => true,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Unknown => f.write_str("unknown place"),
            Origin::Rust { file, line, column } | Origin::Text { file, line, column } => {
                write!(f, "{file}:{line}:{column}")
            }
            Origin::Imported(name) => write!(f, "`{name}`"),
        }
    }
}
