//! What the compiler asks of the machine it runs on: compiling CUDA source, and timing candidates.

use crate::plan::{Kernel, Program};
use crate::{Error, Target};
use std::time::Duration;

/// The resources of a compiled kernel, as the assembler reports them.
#[derive(Clone, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Resources {
    /// The kernel's symbol.
    pub symbol: String,
    /// Registers of one thread.
    pub registers: u32,
    /// Static shared memory of one block, in bytes.
    pub shared: u32,
    /// Stack frame of one thread, in bytes.
    pub stack: u32,
    /// Bytes stored to local memory for want of registers.
    pub spill_stores: u32,
    /// Bytes loaded from there.
    pub spill_loads: u32,
}

/// A program in machine code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binary {
    /// The cubin.
    pub cubin: Vec<u8>,
    /// One entry a kernel, in the order of the source.
    pub resources: Vec<Resources>,
}

/// Turns CUDA source into machine code.
pub trait Toolchain: Send + Sync {
    /// Compiles every program for the target, in parallel where it can; results are in the order given.
    ///
    /// # Errors
    /// [`Error::Toolchain`] with the compiler's log.
    fn compile(&self, programs: &[Program], target: &Target) -> Result<Vec<Binary>, Error>;
}

/// Times candidate kernels on the device.
pub trait Measure: Send + Sync {
    /// The time of one launch of each candidate on buffers of its own, in the order given.
    ///
    /// # Errors
    /// [`Error::Device`] where one cannot be launched.
    fn measure(&self, candidates: &[Kernel], target: &Target) -> Result<Vec<Duration>, Error>;
}
