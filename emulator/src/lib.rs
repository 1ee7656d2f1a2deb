//! The emulator: executes the CUDA C++ text of kernels on the CPU, unchanged, and checks what a GPU does not.
//!
//! An [`Emulator`] compiles programs with the system's C++ compiler, together with a small runtime that gives each
//! CUDA thread a fiber, into an executable. The executable runs as a child process, so that a kernel that crashes or
//! loops for ever takes nothing with it; the memory that kernels see is a file that both processes use. Three things
//! can be run:
//!
//! - a whole [`Plan`](monograph_ir::plan::Plan), launch by launch: [`Emulator::load`];
//! - one kernel text on given buffers: [`Emulator::run_kernel`];
//! - many kernels of one program, compiled once: [`Emulator::program`].
//!
//! With [`EmulatorOptions::checked`] every access to memory is checked against what the launch was given, against
//! what was written before, and against the accesses of all other threads; what is wrong comes back as an
//! [`Error::Finding`](monograph_ir::Error::Finding) with the kernel's line, the threads, and the element. Results are a
//! pure function of the program, the data and the [`Schedule`].
//!
//! ```no_run
//! // Not run as a test, because it needs a C++ compiler.
//! use monograph_emulator::{Emulator, EmulatorOptions, KernelRun, Parameter};
//! use monograph_ir::DType;
//!
//! let source = "extern \"C\" __global__ void count(int* y) { y[threadIdx.x] = threadIdx.x; }";
//! let emulator = Emulator::find(EmulatorOptions::default(), None)?;
//! let parameters = vec![Parameter::Write(16, DType::I32, "y")];
//! let run = KernelRun { symbol: "count", grid: [1; 3], block: [4, 1, 1], shared: 0, parameters };
//! let results = emulator.run_kernel(source, &run)?;
//! assert_eq!(results[0][4..8], 1i32.to_ne_bytes());
//! # Ok::<(), monograph_ir::Error>(())
//! ```

#![forbid(unsafe_code)]

mod answer;
mod assembly;
mod build;
mod child;
mod compiler;
mod debugger;
mod emulator;
mod entry;
mod explain;
mod image;
mod jobs;
mod limits;
mod lines;
mod memory;
mod options;
mod plan;
mod program;
mod session;
mod socket;
mod sources;
mod store;
mod waits;

pub use emulator::Emulator;
pub use entry::{Stored, stored};
pub use options::{EmulatorOptions, Schedule, UnknownSchedule};
pub use plan::{EmulatedPlan, PlanMemory};
pub use program::{EmulatedProgram, KernelRun, Parameter};
