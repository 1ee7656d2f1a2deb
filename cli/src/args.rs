//! The command line.

use clap::{ArgAction, Parser, Subcommand, ValueEnum};
use monograph_compiler::Options;
use monograph_runtime::{EmulatorOptions, Schedule};
use std::path::PathBuf;

/// Checks, compiles and runs tensor programs that become one CUDA graph.
#[derive(Parser, Debug)]
#[command(name = "monograph", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Say more on standard error; repeat for still more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// When messages are coloured
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

const EXAMPLES: &str = "\
A program is textual IR, described in ir/TEXT.md; `-` reads it from standard input:

  graph @scale(input %x: f32[4], input %by: f32[]) {
    %all = broadcast %by {shape = [4]}
    %y = mul %x, %all
    return \"y\" = %y
  }

Examples:
  monograph check scale.mg                              is it a program that can be one CUDA graph?
  monograph run scale.mg --input x=x.npy --input by=2   run it, on a GPU if there is one
  monograph run scale.mg --random 1 --out results       on random inputs, outputs into results/*.npy
  monograph run scale.mg --random 1 --device emulate    the kernels on the CPU, every access to memory checked
  monograph compile scale.mg                            what it compiles to: launches, memory, kernels
  monograph compile scale.mg --emit cuda --target sm_80
  monograph explain MG0301                              what an error means and what to do
  monograph doctor                                      is everything there that a GPU needs?

Exit codes: 0 fine, 1 the program is rejected or a kernel is found to be wrong, 2 wrong usage or environment.";

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Color {
    /// If standard error is a terminal and NO_COLOR is not set
    Auto,
    Always,
    Never,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Say whether a program can be one CUDA graph, and what is wrong where
    Check(Check),
    /// Compile a program and show what comes out
    #[command(after_help = "\
Examples:
  monograph compile mlp.mg                                      a summary
  monograph compile mlp.mg --emit cuda --output mlp.cu          the kernels' source
  monograph compile mlp.mg --emit dot | dot -Tsvg > mlp.svg     a drawing of the graph
  monograph compile mlp.mg --emit ir,plan,cuda --output mlp     mlp.mg, mlp.json and mlp.cu")]
    Compile(Compile),
    /// Run a program on .npy files, numbers or random data
    #[command(after_help = "\
A VALUE is one of
  FILE.npy      a NumPy file of the parameter's dtype and shape (C or Fortran order, either byte order; bfloat16 is
                '<V2', as the package ml_dtypes writes it); `-` reads it from standard input
  random:SEED   floats uniform in [-1, 1), integers from 0 to 7, bools; the same on every machine, and for an input
                another draw for each replay
  zeros         zeros
  a number      in every element: 0.5, -1, true, inf

States that are not given start as zeros. Inputs and constants must be given, or --random gives what is missing.

Examples:
  monograph run mlp.mg --input x=x.npy --constant w=w.npy --out results
  monograph run mlp.mg --random 1 --replays 1000 --device cuda:0
  monograph run counter.mg --state calls=41 --replays 2 --json
  monograph run mlp.mg --random 1 --device emulate --schedule 7     threads in a random order, drawn from the seed 7
  monograph run mlp.mg --random 1 --device emulate --debugger       wait for gdb, to step through kernels")]
    Run(Run),
    /// Explain the code of an error; without a code, list all
    Explain(Explain),
    /// Look for what a GPU needs (driver, devices, NVRTC, cache) and for what the emulator needs
    Doctor(Doctor),
}

impl Command {
    /// Whether the answer is for a machine.
    pub(crate) fn json(&self) -> bool {
        match self {
            Command::Check(c) => c.json,
            Command::Compile(c) => c.json,
            Command::Run(c) => c.json,
            Command::Explain(c) => c.json,
            Command::Doctor(c) => c.json,
        }
    }
}

#[derive(clap::Args, Debug)]
pub(crate) struct Check {
    /// The program, textual IR; `-` for standard input
    pub(crate) file: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args, Debug)]
pub(crate) struct Compile {
    /// The program, textual IR; `-` for standard input
    pub(crate) file: PathBuf,
    /// What to show; several are separated by commas
    #[arg(short, long, value_delimiter = ',', default_value = "summary")]
    pub(crate) emit: Vec<Emit>,
    /// The GPU architecture to compile for, such as sm_80
    #[arg(short, long, value_name = "ARCH", default_value = "sm_90a", value_parser = target)]
    pub(crate) target: String,
    /// Write into FILE instead of standard output; with several kinds, into FILE.mg, FILE.json, …
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Say on standard error how long each stage took
    #[arg(long)]
    pub(crate) timings: bool,
    #[command(flatten)]
    pub(crate) tuning: Tuning,
    /// Answer in JSON: counts, bytes, times, and what --emit asks for
    #[arg(long, conflicts_with = "output")]
    pub(crate) json: bool,
}

/// What `compile --emit` shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Emit {
    /// The optimized program, as textual IR
    Ir,
    /// The whole plan, as JSON
    Plan,
    /// The kernels' CUDA C++ source
    Cuda,
    /// The launches and their order, for Graphviz
    Dot,
    /// Counts, bytes, and one line a launch
    Summary,
}

impl Emit {
    /// The name on the command line and in JSON.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Emit::Ir => "ir",
            Emit::Plan => "plan",
            Emit::Cuda => "cuda",
            Emit::Dot => "dot",
            Emit::Summary => "summary",
        }
    }

    /// The extension of a file of it.
    pub(crate) const fn extension(self) -> &'static str {
        match self {
            Emit::Ir => "mg",
            Emit::Plan => "json",
            Emit::Cuda => "cu",
            Emit::Dot => "dot",
            Emit::Summary => "txt",
        }
    }
}

/// Choices of the compiler.
#[derive(clap::Args, Debug)]
pub(crate) struct Tuning {
    /// One launch for each op
    #[arg(long)]
    no_fuse: bool,
    /// Compile the program as it is written
    #[arg(long)]
    no_optimize: bool,
    /// Allow rules that are wrong for NaN, infinities and signed zeros
    #[arg(long)]
    fast_math: bool,
    /// Let fused kernels keep f32 where the program says f16 or bf16
    #[arg(long)]
    excess_precision: bool,
}

impl Tuning {
    pub(crate) fn options(&self) -> Options {
        let mut options = Options::default();
        options.fuse = !self.no_fuse;
        options.optimize = !self.no_optimize;
        options.fast_math = self.fast_math;
        options.excess_precision = self.excess_precision;
        options
    }
}

#[derive(clap::Args, Debug)]
pub(crate) struct Run {
    /// The program, textual IR; `-` for standard input
    pub(crate) file: PathBuf,
    /// The data of a parameter: an input, a constant or a state
    #[arg(short, long = "input", value_name = "NAME=VALUE", visible_aliases = ["constant", "state"])]
    pub(crate) inputs: Vec<String>,
    /// Random data for every parameter that is not given, states too
    #[arg(long, value_name = "SEED")]
    pub(crate) random: Option<u64>,
    /// Where to run: best (a GPU if there is one), host, emulate (the kernels on the CPU, checked), cuda or cuda:NUMBER
    #[arg(short, long, default_value = "best", value_parser = place)]
    pub(crate) device: Place,
    #[command(flatten)]
    pub(crate) emulation: Emulation,
    /// How often to run
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) replays: u32,
    /// Write the outputs of the last replay, and the states after it, into DIR as NAME.npy
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) tuning: Tuning,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Choices of the emulator; they are given with `--device emulate` alone.
#[derive(clap::Args, Debug)]
pub(crate) struct Emulation {
    /// The order in which the emulator runs threads: in-order, reverse, or the seed of a random order
    #[arg(long, value_name = "ORDER", value_parser = schedule)]
    schedule: Option<Schedule>,
    /// Let the emulator check barriers and crashes only, which is faster
    #[arg(long)]
    unchecked: bool,
    /// Let the emulator wait for a debugger before the first launch, with kernels that can be stepped through
    #[arg(long)]
    debugger: bool,
}

impl Emulation {
    /// The first option that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given =
            [("--schedule", self.schedule.is_some()), ("--unchecked", self.unchecked), ("--debugger", self.debugger)];
        given.into_iter().find_map(|(name, given)| given.then_some(name))
    }

    pub(crate) fn options(&self) -> EmulatorOptions {
        EmulatorOptions {
            schedule: self.schedule.unwrap_or_default(),
            checked: !self.unchecked,
            debugger: self.debugger,
            ..EmulatorOptions::default()
        }
    }
}

fn schedule(text: &str) -> Result<Schedule, String> {
    text.parse().map_err(|e: monograph_runtime::UnknownSchedule| e.to_string())
}

#[derive(clap::Args, Debug)]
pub(crate) struct Explain {
    /// A code such as MG0301
    pub(crate) code: Option<String>,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args, Debug)]
pub(crate) struct Doctor {
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where a program runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Best,
    Host,
    Emulator,
    Cuda(u32),
}

fn place(text: &str) -> Result<Place, String> {
    let wrong = || "the places are `best`, `host`, `emulate`, `cuda` and `cuda:NUMBER`".to_string();
    match text {
        "best" => Ok(Place::Best),
        "host" | "cpu" => Ok(Place::Host),
        "emulate" | "emulated" => Ok(Place::Emulator),
        "cuda" => Ok(Place::Cuda(0)),
        _ => text.strip_prefix("cuda:").and_then(|n| n.parse().ok()).map(Place::Cuda).ok_or_else(wrong),
    }
}

/// The architectures that NVRTC 13 compiles for.
const TARGETS: [&str; 18] = [
    "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_103", "sm_103a",
    "sm_110", "sm_110a", "sm_120", "sm_120a", "sm_121", "sm_121a",
];

fn target(text: &str) -> Result<String, String> {
    if TARGETS.contains(&text) {
        return Ok(text.to_string());
    }
    let guess = crate::suggest::closest(text, TARGETS).map(|t| format!("did you mean `{t}`? ")).unwrap_or_default();
    Err(format!("{guess}The targets are {}", TARGETS.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn places_and_targets_are_read() {
        assert_eq!(place("cuda:3"), Ok(Place::Cuda(3)));
        assert_eq!(place("cuda"), Ok(Place::Cuda(0)));
        assert_eq!(place("emulate"), Ok(Place::Emulator));
        assert!(place("cuda:-1").is_err() && place("gpu").is_err() && place("").is_err());
        assert_eq!(target("sm_90a"), Ok("sm_90a".into()));
        assert!(target("sm90a").is_err_and(|e| e.contains("did you mean `sm_90a`?")));
        assert!(target("h100").is_err_and(|e| e.contains("sm_75, sm_80")));
    }
}
