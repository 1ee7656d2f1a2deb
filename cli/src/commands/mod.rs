//! The commands, one file each: from arguments to what is printed.

mod check;
mod compile;
mod doctor;
mod explain;
mod run;

use crate::args::Command;
use crate::failure::Failure;
use std::io::Write;

/// What a command prints on standard output, and its exit code.
pub(crate) struct Output {
    /// Ends with a line break, unless it is empty.
    pub(crate) text: String,
    /// 0 unless the answer itself is bad news.
    pub(crate) code: u8,
}

impl From<String> for Output {
    fn from(text: String) -> Output {
        Output { text, code: 0 }
    }
}

/// Runs a command.
///
/// # Errors
/// Whatever keeps it from its answer.
pub(crate) fn run(command: &Command) -> Result<Output, Failure> {
    match command {
        Command::Check(args) => check::check(args),
        Command::Compile(args) => compile::compile(args),
        Command::Run(args) => run::run(args),
        Command::Explain(args) => explain::explain(args),
        Command::Doctor(args) => Ok(doctor::doctor(args)),
    }
}

/// Says something beside the answer. Where standard error is closed, nobody wants to know.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", text.trim_end());
}
