//! NVRTC: CUDA C++ text to machine code, with a disk cache.
//!
//! [`Nvrtc::find`] looks for the library, [`Nvrtc::compile`] compiles (several threads at a time may), and
//! [`Nvrtc::compile_cached`] asks a [`Cache`] first.

mod cache;
mod compile;
mod error;
mod locate;
mod report;

pub use cache::{Cache, CacheKey};
pub use compile::{CompileRequest, Compiled, DEFAULT_OPTIONS, ImageKind};
pub use error::NvrtcError;
pub use locate::{Candidate, Nvrtc, SearchPaths};
pub use report::KernelResources;
