//! `Sources`: the text behind the places of diagnostics.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Finds the text of source files, and remembers what it read.
///
/// The paths that `#[track_caller]` reports are relative to the workspace's root, which need not be the working
/// directory; so they are looked for below the working directory and each of its ancestors.
#[derive(Debug, Default)]
pub struct Sources {
    read_files: bool,
    texts: RefCell<BTreeMap<String, Option<Arc<str>>>>,
}

impl Sources {
    /// Texts from files on disk.
    pub fn disk() -> Sources {
        Sources { read_files: true, ..Sources::default() }
    }

    /// No texts but those that are given.
    pub fn none() -> Sources {
        Sources::default()
    }

    /// With the text of a file: of textual IR from standard input, or in tests.
    #[must_use]
    pub fn with_text(self, file: &str, text: &str) -> Sources {
        self.texts.borrow_mut().insert(file.to_string(), Some(text.into()));
        self
    }

    /// The text of a file, if it can be had.
    pub fn text(&self, file: &str) -> Option<Arc<str>> {
        if let Some(known) = self.texts.borrow().get(file) {
            return known.clone();
        }
        let text = if self.read_files { find(file) } else { None };
        self.texts.borrow_mut().insert(file.to_string(), text.clone());
        text
    }
}

fn find(file: &str) -> Option<Arc<str>> {
    let path = Path::new(file);
    let here = std::env::current_dir().unwrap_or_default();
    let candidates: Vec<PathBuf> = here.ancestors().map(|dir| dir.join(path)).collect();
    candidates.iter().find_map(|p| std::fs::read_to_string(p).ok()).map(Into::into)
}
