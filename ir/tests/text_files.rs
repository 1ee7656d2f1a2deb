//! Filetests: each file of `filetests/` holds a text and, in comments behind a marker, what comes of it: the canonical
//! print, or the error. `MONOGRAPH_BLESS=1` writes the expectations anew; look at the difference before you keep it.

use monograph_ir::text::{parse, print};
use std::fs;
use std::path::{Path, PathBuf};

const MARKER: &str = "// ==== expected\n";

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|p| p.extension().is_some_and(|e| e == "mg")).collect();
    files.sort();
    files
}

/// What a text gives, as comments.
fn outcome(text: &str) -> String {
    let printed = match parse(text, "") {
        Ok(graph) => {
            let printed = print(&graph);
            assert_eq!(parse(&printed, "").as_ref(), Ok(&graph), "what is printed does not parse back");
            printed
        }
        Err(e) => format!("error {}:{}: {}\n", e.line, e.column, e.message),
    };
    printed.lines().map(|line| if line.is_empty() { "//\n".to_string() } else { format!("// {line}\n") }).collect()
}

#[test]
fn files_give_what_they_say() {
    let bless = std::env::var_os("MONOGRAPH_BLESS").is_some_and(|v| v == "1");
    let files = files();
    assert!(files.len() >= 30, "the folder has {} files", files.len());
    let mut failures = Vec::new();
    for file in &files {
        let content = fs::read_to_string(file).unwrap();
        let (text, expected) = content.split_once(MARKER).unwrap_or((&content, ""));
        let found = outcome(text);
        if bless {
            fs::write(file, format!("{text}{MARKER}{found}")).unwrap();
        } else if found != expected {
            failures.push(format!("{}\nexpected:\n{expected}found:\n{found}", file.display()));
        }
    }
    assert!(failures.is_empty(), "{}\nMONOGRAPH_BLESS=1 writes what was found", failures.join("\n"));
}
