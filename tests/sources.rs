//! What the sources promise about themselves: no stream capture, `unsafe` in one folder, a first line that says what
//! a file is for.

use std::fs;
use std::path::{Path, PathBuf};

/// Every Rust source of the workspace, relative to its root.
fn sources() -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder of the workspace") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.ends_with("target") && !path.ends_with("ui") {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["ir", "compiler", "runtime", "derive", "cli", "src", "tests", "examples", "benches"] {
        if root.join(folder).is_dir() {
            walk(&root.join(folder), &mut found);
        }
    }
    found
}

/// The sources are not where the tests run on a machine that was only handed the binaries.
fn present() -> bool {
    let present = Path::new(env!("CARGO_MANIFEST_DIR")).join("ir").is_dir();
    if !present {
        println!("skipped: the sources are not on this machine");
    }
    present
}

#[test]
fn nothing_captures_a_stream() {
    if !present() {
        return;
    }
    // Written in two halves, so that this file does not find itself.
    let words = [concat!("Begin", "Capture"), concat!("Begin", "CaptureToGraph"), concat!("begin", "_capture")];
    let all = sources();
    assert!(all.len() > 50, "only {} sources were found", all.len());
    for path in all {
        let text = fs::read_to_string(&path).expect("a source");
        for word in words {
            assert!(!text.contains(word), "{} speaks of {word}", path.display());
        }
    }
}

#[test]
fn unsafe_code_is_in_one_folder() {
    if !present() {
        return;
    }
    let marks = [concat!("unsafe", " {"), concat!("unsafe", " fn"), concat!("unsafe", " impl")];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("runtime/src/driver");
    for path in sources().into_iter().filter(|p| !p.starts_with(&folder)) {
        let text = fs::read_to_string(&path).expect("a source");
        for mark in marks {
            assert!(!text.contains(mark), "{} has unsafe code", path.display());
        }
    }
}

#[test]
fn every_source_says_what_it_is_for() {
    if !present() {
        return;
    }
    for path in sources() {
        let text = fs::read_to_string(&path).expect("a source");
        assert!(text.starts_with("//!"), "{} does not start with a line of documentation", path.display());
    }
}
