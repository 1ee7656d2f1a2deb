//! Programs that do not compile, and what the compiler says to their authors.
//!
//! `TRYBUILD=overwrite cargo test --test compile_fail` writes the messages anew.

use std::path::Path;
use std::process::Command;

/// The compiler that wrote the messages in `tests/ui/`; others word them differently.
const COMPILER: &str = "rustc 1.95.";

#[test]
fn messages() {
    if let Some(reason) = obstacle() {
        println!("skipped: {reason}");
        return;
    }
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

/// Why the messages cannot be compared here.
fn obstacle() -> Option<String> {
    // A machine may have been handed the test's binary alone.
    if !Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui").is_dir() {
        return Some("the sources are not on this machine".into());
    }
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = match Command::new(rustc).arg("--version").output() {
        Ok(output) => output,
        Err(error) => return Some(format!("there is no compiler: {error}")),
    };
    let version = String::from_utf8_lossy(&output.stdout);
    (!version.starts_with(COMPILER)).then(|| format!("the messages are those of {COMPILER}x, and this is {version}"))
}
