//! `Emulator`: a compiler, a folder for what it makes, and options.

use crate::build::{self, Executable, Source};
use crate::compiler::{Compiler, Unit};
use crate::options::EmulatorOptions;
use crate::plan::EmulatedPlan;
use crate::program::{EmulatedProgram, KernelRun};
use crate::store::Store;
use monograph_ir::plan::Plan;
use monograph_ir::{DeviceError, DeviceErrorKind, Error};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// Whether the emulator's runtime is there for this machine: it switches stacks by hand, and reads ELF files.
const SUPPORTED: bool = cfg!(all(
    unix,
    not(target_vendor = "apple"),
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_pointer_width = "64"
));

/// Executes kernels on the CPU. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Emulator {
    tools: Arc<Tools>,
    options: EmulatorOptions,
}

#[derive(Debug)]
struct Tools {
    compiler: Compiler,
    store: Store,
}

impl Emulator {
    /// An emulator with the system's C++ compiler: what the environment variable `CXX` names, else the first of `g++`,
    /// `clang++` and `c++` that there is. What is compiled is kept in the folder `cache`, or goes with the emulator if
    /// there is none.
    ///
    /// # Errors
    /// [`Error::Toolchain`] where there is no compiler that can be used, with how to get one; [`Error::Device`] on a machine that the
    /// emulator does not know; [`Error::Io`] where the folder cannot be made.
    pub fn find(options: EmulatorOptions, cache: Option<PathBuf>) -> Result<Emulator, Error> {
        Emulator::find_among(&Compiler::candidates(), options, cache)
    }

    /// The same with the first of these compilers that there is. Each is a command, with arguments behind it if need
    /// be: `ccache g++`.
    ///
    /// # Errors
    /// As [`Emulator::find`].
    pub fn find_among(
        compilers: &[OsString],
        options: EmulatorOptions,
        cache: Option<PathBuf>,
    ) -> Result<Emulator, Error> {
        if !SUPPORTED {
            return Err(Error::Device(DeviceError {
                kind: DeviceErrorKind::Unavailable,
                call: None,
                code: None,
                message: format!(
                    "the emulator runs on Linux and other Unix systems with ELF executables, on x86-64 and aarch64, and \
                     this is {} on {}; run the program on the host device instead",
                    std::env::consts::OS,
                    std::env::consts::ARCH
                ),
            }));
        }
        let compiler = Compiler::find(compilers)?;
        // A compiler that cannot do what is asked for is refused here, not at the first program.
        compiler.options(Unit::Program, &options)?;
        let tools = Tools { compiler, store: Store::new(cache)? };
        Ok(Emulator { tools: Arc::new(tools), options })
    }

    /// The same compiler and folder with other options.
    #[must_use]
    pub fn with_options(&self, options: EmulatorOptions) -> Emulator {
        Emulator { tools: self.tools.clone(), options }
    }

    /// The options.
    pub fn options(&self) -> &EmulatorOptions {
        &self.options
    }

    /// The compiler: `g++ 12.2.0`.
    pub fn compiler(&self) -> &str {
        self.tools.compiler.name()
    }

    /// The name for people: `emulated (g++ 12.2.0, checked, in-order)`.
    pub fn describe(&self) -> String {
        let checked = if self.options.checked { "checked" } else { "unchecked" };
        let debugger = if self.options.debugger { ", for a debugger" } else { "" };
        format!("emulated ({}, {checked}, {}{debugger})", self.compiler(), self.options.schedule)
    }

    /// Compiles the kernels of a plan and gives it memory; the first variant of each kernel is used.
    ///
    /// # Errors
    /// [`Error::Plan`] for a plan that is not sound or has a kernel without code, [`Error::Toolchain`] where a program
    /// does not compile, [`Error::Device`] where there is not enough memory.
    pub fn load(&self, plan: Arc<Plan>) -> Result<EmulatedPlan, Error> {
        EmulatedPlan::load(self, plan)
    }

    /// A program with these kernels (`extern "C"` functions), to run each on its own. It is compiled at the first run.
    pub fn program(&self, source: &str, symbols: &[&str]) -> EmulatedProgram {
        EmulatedProgram::new(self.clone(), source, symbols)
    }

    /// Compiles a program and runs one of its kernels. Returns the buffers that the kernel may write, in the order of
    /// the parameters.
    ///
    /// # Errors
    /// As [`EmulatedProgram::run`].
    pub fn run_kernel(&self, source: &str, run: &KernelRun<'_>) -> Result<Vec<Vec<u8>>, Error> {
        self.program(source, &[run.symbol]).run(run)
    }

    /// Builds an executable with these programs. Of the options, those count that say how.
    pub(crate) fn build(&self, options: &EmulatorOptions, programs: &[Source<'_>]) -> Result<Executable, Error> {
        build::build(&self.tools.compiler, &self.tools.store, options, programs)
    }
}
