//! Tests that watch a process of their own, because what it prints is what they are about: this executable once more,
//! with one test that is otherwise ignored.

use std::process::{Command, Stdio};

/// Runs that test alone; its standard error can be read.
pub(crate) fn apart(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored", "--nocapture"]).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}
