//! `Error`: everything a user of Monograph can be told has gone wrong.

use crate::array::ArrayError;
use crate::plan::PlanError;
use crate::text::ParseError;
use crate::{Diagnostic, Finding, Spec, VerifyError};
use std::fmt;

/// The error of every fallible function that users call.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The traced program cannot be one graph: every root error, with the place and a remedy.
    #[error("{}", Rejection(.0))]
    Rejected(Vec<Diagnostic>),
    /// An array cannot be made or read as asked.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// What was given for an input, a state or a constant does not fit it.
    #[error("{what} `{name}` takes {expected}, but was given {found}")]
    Input {
        /// `input`, `state` or `constant`.
        what: &'static str,
        /// Its name.
        name: String,
        /// What the program was traced for.
        expected: Spec,
        /// What came.
        found: String,
    },
    /// A tree has another structure than the one that was traced: the length of a `Vec`, an `Option`, or a static field,
    /// on which the trace depends.
    #[error("{what} differ in structure from what was traced: {difference}; trace again for another structure")]
    Structure {
        /// `the inputs` or `the leaves of the state`.
        what: &'static str,
        /// Where, what was traced, and what came.
        difference: String,
    },
    /// Another number of values was given than the program has inputs, states or constants.
    #[error("the program has {expected} {what}s, but was given {found} values")]
    Count {
        /// `input`, `state` or `constant`.
        what: &'static str,
        /// How many the program has.
        expected: usize,
        /// Values given.
        found: usize,
    },
    /// There is no input, output, state or probe of that name.
    #[error("there is no {what} `{name}`; there is {}", list(known))]
    Unknown {
        /// `input`, `output`, `state` or `probe`.
        what: &'static str,
        /// The name that was asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The program has more launches than a CUDA graph should hold, or more ops, once its loops are unrolled, than are
    /// compiled in one piece.
    #[error(
        "the program has {nodes} nodes, loops unrolled, and at most {limit} are supported; make it smaller or split it"
    )]
    TooManyNodes {
        /// Launches or ops of the program.
        nodes: usize,
        /// The greatest number.
        limit: usize,
    },
    /// The values of the program have more bytes, all together, than addresses can tell apart.
    #[error("the program's values have {bytes} bytes in all, and at most 2^62 are supported; make it smaller")]
    TooMuchMemory {
        /// Bytes of parameters and of values that are stored, `u64::MAX` for more.
        bytes: u64,
    },
    /// Textual IR that does not parse.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// A graph that breaks an invariant.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// A plan that is not sound, or of another version.
    #[error("the plan is not sound: {0}")]
    Plan(#[from] PlanError),
    /// The CUDA compiler is missing or refused a program.
    #[error("{message}")]
    Toolchain {
        /// What is wrong, with the compiler's log where there is one, and what to do.
        message: String,
    },
    /// A device or its driver refused a call.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A checked execution found a defect of a kernel.
    #[error(transparent)]
    Finding(Box<Finding>),
    /// A file cannot be read or written.
    #[error("{path}: {message}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        message: String,
    },
    /// A tensor was read on the host inside a trace; the trace's own diagnostic says where and what to do.
    #[error("`{0}` reads a tensor on the host, but inside a trace there is no value yet")]
    HostRead(&'static str),
    /// A defect of Monograph itself.
    #[error("this is a defect of monograph, please report it: {0}")]
    Internal(String),
}

/// The same text as `Display`, because `fn main() -> monograph::Result<()>` prints the `Debug` form.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Finding> for Error {
    fn from(finding: Finding) -> Error {
        Error::Finding(Box::new(finding))
    }
}

/// What a device or its driver refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceError {
    /// The kind of failure.
    pub kind: DeviceErrorKind,
    /// The driver call that failed, where it was one: `cuMemAlloc_v2`.
    pub call: Option<&'static str>,
    /// The driver's code and name: `2 (CUDA_ERROR_OUT_OF_MEMORY)`.
    pub code: Option<String>,
    /// What was being done, what the driver says, and what to do.
    pub message: String,
}

/// The kinds of device failures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum DeviceErrorKind {
    /// There is no such device, driver or library.
    Unavailable,
    /// There is not enough memory.
    OutOfMemory,
    /// A launch faulted; the device's context is lost and the executable with it.
    Lost,
    /// An array lies on another device.
    WrongDevice,
    /// An address is not aligned as the plan needs it.
    Misaligned,
    /// Any other refusal.
    Driver,
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match (self.call, &self.code) {
            (Some(call), Some(code)) => write!(f, " ({call} returned {code})"),
            (Some(call), None) => write!(f, " ({call})"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for DeviceError {}

struct Rejection<'a>(&'a [Diagnostic]);

impl fmt::Display for Rejection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [one] => write!(f, "{one}"),
            many => {
                write!(f, "{} errors", many.len())?;
                many.iter().try_for_each(|d| write!(f, "\n{d}"))
            }
        }
    }
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none".to_string(),
        names => names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "),
    }
}
