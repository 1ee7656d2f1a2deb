//! `EmulatedProgram`: kernels that run on given buffers, outside of any plan.

use crate::build::{Executable, Source};
use crate::emulator::Emulator;
use crate::explain::{Named, Scene, explain};
use crate::limits::Shape;
use crate::memory::Memory;
use crate::options::EmulatorOptions;
use crate::session::{Call, Failure, Mode, Range, Session};
use monograph_ir::{DType, Error, MemoryKind};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The alignment of a buffer's start: the widest access of a thread.
const ALIGNMENT: u64 = 16;

/// One launch of a kernel on its own.
#[derive(Clone, Debug)]
pub struct KernelRun<'a> {
    /// The kernel.
    pub symbol: &'a str,
    /// Blocks of the grid: x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block: x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared: u32,
    /// What the kernel's parameters, all pointers, point to.
    pub parameters: Vec<Parameter<'a>>,
}

/// A buffer that a parameter points to, the dtype of its elements, and its name for findings. Each buffer ends where
/// the memory that can be touched ends.
#[derive(Clone, Debug)]
pub enum Parameter<'a> {
    /// These bytes, only to be read.
    Read(&'a [u8], DType, &'a str),
    /// So many bytes that nobody has written; the kernel writes each of them.
    Write(u64, DType, &'a str),
    /// These bytes, to be read and written. In a checked run, the kernel writes each of them.
    ReadWrite(&'a [u8], DType, &'a str),
}

impl Parameter<'_> {
    fn bytes(&self) -> u64 {
        match self {
            Parameter::Read(bytes, ..) | Parameter::ReadWrite(bytes, ..) => bytes.len() as u64,
            Parameter::Write(bytes, ..) => *bytes,
        }
    }

    fn initial(&self) -> Option<&[u8]> {
        match self {
            Parameter::Read(bytes, ..) | Parameter::ReadWrite(bytes, ..) => Some(bytes),
            Parameter::Write(..) => None,
        }
    }

    fn mode(&self) -> Mode {
        match self {
            Parameter::Read(..) => Mode::Read,
            Parameter::Write(..) => Mode::Write,
            Parameter::ReadWrite(..) => Mode::ReadWrite,
        }
    }

    fn named(&self) -> Named {
        let (Parameter::Read(_, dtype, name) | Parameter::Write(_, dtype, name) | Parameter::ReadWrite(_, dtype, name)) =
            self;
        Named { what: MemoryKind::Parameter, name: name.to_string(), dtype: *dtype }
    }
}

/// A program whose kernels can be run one by one. It is compiled once for checked and once for unchecked runs, with a
/// debugger and without, each at the first of them.
#[derive(Debug)]
pub struct EmulatedProgram {
    emulator: Emulator,
    source: String,
    symbols: Vec<String>,
    /// Unchecked and checked, and the same for a debugger.
    built: [Mutex<Option<Arc<Executable>>>; 4],
}

impl EmulatedProgram {
    pub(crate) fn new(emulator: Emulator, source: &str, symbols: &[&str]) -> EmulatedProgram {
        let symbols: BTreeSet<String> = symbols.iter().map(|s| s.to_string()).collect();
        let symbols = symbols.into_iter().collect();
        EmulatedProgram { emulator, source: source.into(), symbols, built: Default::default() }
    }

    /// Runs a kernel in fresh memory and a process of its own. Returns the buffers that the kernel may write, in the
    /// order of the parameters.
    ///
    /// # Errors
    /// [`Error::Finding`] for what is wrong with the kernel, [`Error::Toolchain`] where the program does not compile,
    /// [`Error::Unknown`] for a kernel that is not among the program's, [`Error::Device`] for a launch that every
    /// device refuses, that does not fit the kernel or is too large to be checked, or where there is not enough memory,
    /// [`Error::Io`] where the process that runs the kernel is killed.
    pub fn run(&self, run: &KernelRun<'_>) -> Result<Vec<Vec<u8>>, Error> {
        self.run_with(run, self.emulator.options())
    }

    /// [`EmulatedProgram::run`] with other options than the emulator's.
    ///
    /// # Errors
    /// As [`EmulatedProgram::run`].
    pub fn run_with(&self, run: &KernelRun<'_>, options: &EmulatorOptions) -> Result<Vec<Vec<u8>>, Error> {
        if !self.symbols.iter().any(|s| s == run.symbol) {
            return Err(Error::Unknown { what: "kernel", name: run.symbol.into(), known: self.symbols.clone() });
        }
        let shape = Shape { symbol: run.symbol, grid: run.grid, block: run.block, shared: run.shared };
        shape.check(options.checked)?;
        let executable = self.executable(options)?;
        shape.check_kernel(&executable.image, run.parameters.len())?;
        let memory = Arc::new(Memory::new(run.parameters.iter().map(Parameter::bytes))?);
        let mut session = Session::new(executable, memory.clone(), options);
        let mut parameters = Vec::new();
        for (segment, parameter) in run.parameters.iter().enumerate() {
            let bytes = parameter.bytes();
            let offset = (memory.segments()[segment].bytes - bytes) / ALIGNMENT * ALIGNMENT;
            let range = Range { segment, offset, bytes };
            if let Some(initial) = parameter.initial() {
                memory.write(segment, offset, initial)?;
                session.written(range);
            }
            parameters.push((range, parameter.mode()));
        }
        let call = Call {
            symbol: run.symbol,
            grid: run.grid,
            block: run.block,
            dynamic: run.shared.into(),
            schedule: options.schedule,
            seed: options.schedule.seed(0, 0),
            parameters,
        };
        let result = session.begin().and_then(|()| session.launch(&call));
        result.map_err(|failure| match failure {
            Failure::Failed(error) => error,
            Failure::Found(report) => {
                let named = run.parameters.iter().map(Parameter::named).collect();
                let scene = Scene { kernel: Some((run.symbol, &self.source)), parameters: named, ..Scene::default() };
                explain(*report, &session.executable, &scene).into()
            }
        })?;
        let written = call.parameters.iter().filter(|(_, mode)| *mode != Mode::Read);
        written
            .map(|(range, _)| {
                let mut bytes = vec![0; range.bytes as usize];
                memory.read(range.segment, range.offset, &mut bytes)?;
                Ok(bytes)
            })
            .collect()
    }

    /// Builds it if that was not done yet. Who asks meanwhile waits.
    fn executable(&self, options: &EmulatorOptions) -> Result<Arc<Executable>, Error> {
        let number = usize::from(options.checked) + 2 * usize::from(options.debugger);
        let mut built = self.built[number].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(executable) = &*built {
            return Ok(executable.clone());
        }
        let symbols = self.symbols.iter().map(String::as_str).collect();
        let source = Source { name: "program", text: &self.source, symbols };
        let executable = Arc::new(self.emulator.build(options, &[source])?);
        *built = Some(executable.clone());
        Ok(executable)
    }
}
