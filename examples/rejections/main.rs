//! A gallery of functions that cannot be one CUDA graph: what is said about each, and the version that works.
//!
//! `cargo run --example rejections` uses the first CUDA device, or the host where there is none; `-- --host` asks for
//! the host. Every message and every result is checked, so the gallery is also a test. Run it from the root of the
//! repository, where the messages find the source lines.
//!
//! Not shown here is what does not even compile, such as `if x > y`: see `tests/ui/`.

mod control;
mod data;
mod handles;
mod host;
mod operands;
mod state;

use monograph::Code;
use monograph::diagnostics::{Sources, render_all};
use monograph::prelude::*;
use std::io::IsTerminal;

/// A function that is rejected, and the same, corrected.
struct Case {
    /// What the author wanted.
    heading: &'static str,
    /// The codes of all messages, in their order.
    codes: &'static [Code],
    rejected: fn() -> monograph::Result<()>,
    /// Compiles for the device, replays, and prints what came out.
    corrected: fn(&Device) -> monograph::Result<String>,
    /// What has to come out, worked out by hand.
    expected: &'static str,
}

fn main() -> monograph::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::WARN).init();
    let device = if std::env::args().any(|a| a == "--host") { Device::host() } else { Device::best()? };
    println!("device: {}", device.describe());

    let gallery = [
        ("Shapes that depend on data", data::cases()),
        ("Control flow", control::cases()),
        ("Reads on the host", host::cases()),
        ("Shapes and dtypes that do not fit", operands::cases()),
        ("Tensors in the wrong place", handles::cases()),
        ("State", state::cases()),
    ];
    let color = std::io::stdout().is_terminal();
    let mut shown = 0;
    for (section, cases) in gallery {
        println!("\n{}", bold(&section.to_uppercase(), color));
        for case in cases {
            show(&case, &device, color)?;
            shown += 1;
        }
    }
    println!("\n{shown} functions were rejected as expected, and their corrections compute what was meant.");
    Ok(())
}

fn show(case: &Case, device: &Device, color: bool) -> monograph::Result<()> {
    println!("\n{}\n", bold(case.heading, color));
    let diagnostics = match (case.rejected)() {
        Err(Error::Rejected(diagnostics)) => diagnostics,
        Err(error) => return Err(error),
        Ok(()) => panic!("{}: the function was accepted", case.heading),
    };
    println!("{}", render_all(&diagnostics, &Sources::disk(), color));
    let found: Vec<Code> = diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(found, case.codes, "{}: rejected for another reason", case.heading);

    let result = (case.corrected)(device)?;
    println!("\ncorrected, it gives {result}");
    assert_eq!(result, case.expected, "{}: the correction computes something else", case.heading);
    Ok(())
}

fn bold(text: &str, color: bool) -> String {
    if color { format!("\u{1b}[1m{text}\u{1b}[0m") } else { format!("=== {text} ===") }
}
