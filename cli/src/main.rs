//! The tool `monograph`: checks, compiles, runs and explains programs written as textual IR.
//!
//! Exit codes: 0 is fine, 1 means that the program is rejected or a kernel is found to be wrong, 2 that the usage or the
//! environment is wrong. Results go to standard output, everything said about them to standard error.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod failure;
mod file;
mod memory;
mod npy;
mod preview;
mod program;
mod random;
mod suggest;
mod values;

use args::{Args, Color};
use clap::Parser;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let _ = writeln!(io::stderr(), "this is a defect of monograph, please report it: {panic}");
    }));
    let args = Args::parse();
    let color = match args.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
    };
    log_to_stderr(args.verbose, color);
    let (text, code) = match commands::run(&args.command) {
        Ok(output) => (output.text, output.code),
        Err(failure) if args.command.json() => (failure.json(), failure.code()),
        Err(failure) => {
            let _ = writeln!(io::stderr(), "{}", failure.render(color));
            (String::new(), failure.code())
        }
    };
    match write_out(&text) {
        Ok(()) => ExitCode::from(code),
        // Whoever reads has seen enough, as `head` has.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(code),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: standard output cannot be written: {error}");
            ExitCode::from(failure::ENVIRONMENT)
        }
    }
}

fn write_out(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Warnings, more with `-v`; `MONOGRAPH_LOG` overrides both.
fn log_to_stderr(verbose: u8, color: bool) {
    let level = ["warn", "info", "debug", "trace"][usize::from(verbose.min(3))];
    let filter = EnvFilter::try_from_env("MONOGRAPH_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    log.without_time().with_target(verbose > 1).with_ansi(color).init();
}
