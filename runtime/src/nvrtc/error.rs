//! Why a kernel could not be compiled.

use std::path::PathBuf;

use super::locate::Candidate;
use crate::driver::nvrtc::CallError;

/// Why NVRTC could not be found, or could not compile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NvrtcError {
    /// No usable NVRTC in any of the usual places.
    #[error(
        "NVRTC (libnvrtc.so.13 or .12) was not found. Install it with `pip install nvidia-cuda-nvrtc` or with the CUDA \
         toolkit, or set MONOGRAPH_NVRTC to the library's full path.{}",
        tried_list(tried)
    )]
    Missing {
        /// What was tried, and why it could not be used.
        tried: Vec<(Candidate, String)>,
    },

    /// `MONOGRAPH_NVRTC` names a file that cannot be used.
    #[error("MONOGRAPH_NVRTC is {}, which cannot be used: {reason}", file.display())]
    Explicit {
        /// The file named.
        file: PathBuf,
        /// Why not.
        reason: String,
    },

    /// The program has errors.
    #[error("NVRTC could not compile {name} for {arch}:\n{log}")]
    Compilation {
        /// The program's name.
        name: String,
        /// The architecture.
        arch: String,
        /// The compiler's log.
        log: String,
    },

    /// This NVRTC does not know the architecture.
    #[error(
        "NVRTC {}.{} does not know the architecture {arch} (it knows {known:?}): install a newer one, or allow PTX, \
         which the driver compiles", version.0, version.1
    )]
    UnknownArch {
        /// The architecture asked for.
        arch: String,
        /// NVRTC's version.
        version: (u32, u32),
        /// The architectures it knows, 80 for `sm_80`.
        known: Vec<u32>,
    },

    /// Text for NVRTC contains a NUL byte.
    #[error("{what} contains a NUL byte")]
    Nul {
        /// Which text.
        what: &'static str,
    },

    /// A call failed for another reason.
    #[error("{call} failed: {detail} ({code}){}{log}", if log.is_empty() { "" } else { "\n" })]
    Call {
        /// The NVRTC function.
        call: &'static str,
        /// NVRTC's numeric code.
        code: i32,
        /// NVRTC's description of the code.
        detail: String,
        /// The compiler's log, empty if there is none.
        log: String,
    },
}

impl From<CallError> for NvrtcError {
    fn from(error: CallError) -> NvrtcError {
        NvrtcError::Call { call: error.call, code: error.code, detail: error.detail, log: String::new() }
    }
}

fn tried_list(tried: &[(Candidate, String)]) -> String {
    tried.iter().map(|(candidate, reason)| format!("\n  {candidate}: {reason}")).collect()
}
