//! The order of accesses that the checker knows, against a slow and simple one, in random programs.

#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../kernels/tool.rs"]
mod tool;

use std::env;
use std::path::Path;
use std::process::{Command, Output};

const TRIALS: &str = "10000";

fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|e| panic!("{command:?} could not be started: {e}"))
}

#[test]
fn accesses_are_ordered_as_by_an_oracle() {
    let Some(emulator) = tool::emulator() else { return };
    // `CXX` may have arguments behind it; a name is `g++ 12.2.0`.
    let chosen = env::var("CXX").ok().filter(|c| !c.is_empty());
    let named = || emulator.compiler().split(' ').next().map(String::from);
    let command = chosen.or_else(named).unwrap();
    let mut words = command.split_whitespace();
    let folder = tempfile::tempdir().unwrap();
    let executable = folder.path().join("oracle");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built = run(Command::new(words.next().unwrap())
        .args(words)
        .args(["-std=c++17", "-O1", "-I"])
        .arg(root.join("cpp"))
        .arg(root.join("tests/oracle/oracle.cpp"))
        .arg("-o")
        .arg(&executable));
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let output = run(Command::new(&executable).arg(TRIALS));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    // Some trials end with a race and some without: else it is no test.
    let numbers: Vec<u32> = text.split(' ').filter_map(|word| word.parse().ok()).collect();
    assert!(matches!(numbers[..], [races, clean] if races > 1000 && clean > 1000), "{text}");
}
