//! `Finding`: what a checked execution of a kernel found to be wrong with it.

use crate::{DType, Origin};
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! kinds {
    ($($(#[$meta:meta])* $kind:ident $name:literal $help:literal,)*) => {
        /// The kinds of findings.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum FindingKind {
            $($(#[$meta])* $kind,)*
        }

        impl FindingKind {
            /// All kinds.
            pub const ALL: &[FindingKind] = &[$(FindingKind::$kind),*];

            /// The name in messages and in JSON: `out-of-bounds`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(FindingKind::$kind => $name,)*
                }
            }

            /// What it means, and where to look, in a sentence.
            pub const fn help(self) -> &'static str {
                match self {
                    $(FindingKind::$kind => $help,)*
                }
            }
        }
    };
}

kinds! {
    /// Two threads touch the same bytes, one of them writes, and nothing orders them.
    Race "race"
        "nothing orders these two accesses: put a barrier between them, or give each thread bytes of its own",
    /// A flag was seen, but the data behind it is not ordered by it.
    UnorderedFlag "unordered-flag"
        "the flag was seen, but does not order the data behind it: store it with release and load it with acquire",
    /// An access outside of everything that the kernel was given.
    OutOfBounds "out-of-bounds"
        "the address is outside of what the launch was given: look at the index and the guard around the access",
    /// A read of bytes that nobody wrote.
    Uninitialised "uninitialised"
        "nobody has written these bytes: the launch that should is missing or comes later, or the index is wrong",
    /// A write to what the launch only reads.
    ReadOnly "read-only"
        "the launch declares this tensor as read only: write to one of its outputs",
    /// An access whose address is not a multiple of its size.
    Misaligned "misaligned"
        "a GPU faults where an address is not a multiple of the access's size: use narrower accesses or align the start",
    /// An element of an output that the launch did not write.
    NotWritten "not-written"
        "a launch writes every element of its outputs: look at the grid's size and at the guards around the writes",
    /// Threads wait at different barriers, or one that should wait has ended.
    DivergentBarrier "divergent-barrier"
        "all threads that a barrier counts must reach the same one: move it out of the branch, and return after it",
    /// The mask of a warp operation does not name the lanes that take part.
    InvalidMask "invalid-mask"
        "the mask must name exactly the lanes that reach this operation, and every one of them must pass the same mask",
    /// No thread can go on.
    Hang "hang"
        "every thread waits for something that no thread will do: look at who waits where",
    /// The launch took longer than it may.
    Timeout "timeout"
        "the launch took longer than the time limit: it loops for ever, or it needs a greater limit",
    /// The process that ran the launch died.
    Crash "crash"
        "the kernel cannot go on, for the reason that is given: look at the pointers, divisions and recursion of the line",
    /// The kernel gave up by itself.
    Trap "trap"
        "the kernel reached a trap or an assertion that does not hold",
    /// Use of memory that an asynchronous copy may still read or write.
    PendingCopy "pending-copy"
        "an asynchronous copy is under way: wait for its group or its barrier before the memory is touched",
    /// Something else that a GPU would refuse or leave undefined.
    Misuse "misuse"
        "a GPU leaves undefined what this does",
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a checked execution found. Its `Display` is several lines: what it is, the user's place, the kernel's line,
/// the threads, the memory, and what to do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The kernel's symbol; empty where no kernel ran.
    pub kernel: String,
    /// The launch of the plan, where a plan was run.
    pub launch: Option<String>,
    /// The places in the user's program that the launch computes.
    pub origins: Vec<Origin>,
    /// The line of the kernel, where it is known.
    pub at: Option<KernelLine>,
    /// The thread that was found doing it.
    pub thread: Option<KernelThread>,
    /// How the thread touched memory.
    pub access: Option<Touch>,
    /// The earlier access of another thread that it conflicts with.
    pub other: Option<OtherAccess>,
    /// The memory that was touched, or left untouched.
    pub memory: Option<MemoryPlace>,
    /// Who waits where, when nothing goes on.
    pub waits: Vec<Wait>,
    /// More about it, in a line; may be empty.
    pub message: String,
}

/// A line of a program's source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KernelLine {
    /// The line, from 1, within the program's source.
    pub line: u32,
    /// Its text, without the spaces around it.
    pub text: String,
    /// The line inside a function that the kernel's line calls, if the access is in one.
    pub inner: Option<InnerLine>,
}

/// A line inside a function that a kernel calls.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct InnerLine {
    /// The function.
    pub function: String,
    /// The line, from 1, within the program's source.
    pub line: u32,
    /// Its text, without the spaces around it.
    pub text: String,
}

/// A thread of a launch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct KernelThread {
    /// `blockIdx`: x, y, z.
    pub block: [u32; 3],
    /// `threadIdx`: x, y, z.
    pub thread: [u32; 3],
}

/// How memory is touched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessKind {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is read or written atomically.
    Atomic,
}

/// An access to memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Touch {
    /// How.
    pub kind: AccessKind,
    /// How many bytes.
    pub bytes: u32,
}

/// An access of another thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OtherAccess {
    /// The line, where it is known.
    pub at: Option<KernelLine>,
    /// The thread, where it is known.
    pub thread: Option<KernelThread>,
    /// How it touched the memory, where it is known.
    pub access: Option<Touch>,
}

/// What a piece of memory is to the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryKind {
    /// An input.
    Input,
    /// An output.
    Output,
    /// A state.
    State,
    /// A constant.
    Constant,
    /// A buffer of the arena that holds an intermediate value.
    Arena,
    /// A parameter of a kernel that runs outside of any plan.
    Parameter,
    /// A shared array of a block.
    Shared,
    /// An address that belongs to nothing.
    Wild,
}

impl MemoryKind {
    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            MemoryKind::Input => "input",
            MemoryKind::Output => "output",
            MemoryKind::State => "state",
            MemoryKind::Constant => "constant",
            MemoryKind::Arena => "arena buffer",
            MemoryKind::Parameter => "parameter",
            MemoryKind::Shared => "shared array",
            MemoryKind::Wild => "address",
        }
    }
}

/// A place in memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MemoryPlace {
    /// What it is.
    pub what: MemoryKind,
    /// Its name; for a wild address, the address.
    pub name: String,
    /// Which element, row-major from the start, below 0 or behind the end if it is outside; which byte where there is
    /// no dtype.
    pub element: i64,
    /// The dtype of the elements; unknown for shared arrays and wild addresses.
    pub dtype: Option<DType>,
}

/// Threads that wait, and where.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Wait {
    /// The line, where it is known.
    pub at: Option<KernelLine>,
    /// Who, and for what.
    pub text: String,
}

impl std::error::Error for Finding {}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        for origin in &self.origins {
            write!(f, "\n  --> {origin}")?;
        }
        if !self.kernel.is_empty() {
            write!(f, "\n  in kernel `{}`", self.kernel)?;
        }
        if let Some(launch) = &self.launch {
            write!(f, "\n  of launch `{launch}`")?;
        }
        if let Some(at) = &self.at {
            write!(f, "\n  at {at}")?;
        }
        if let Some(done) = deed(self.access, self.thread) {
            write!(f, "\n  {done}")?;
        }
        if let Some(other) = &self.other {
            write!(f, "\n  after the {}", deed(other.access, other.thread).unwrap_or_else(|| "other access".into()))?;
            if let Some(at) = &other.at {
                write!(f, "\n    at {at}")?;
            }
        }
        if let Some(memory) = &self.memory {
            write!(f, "\n  {}: {memory}", if self.access.is_some() { "of" } else { "memory" })?;
        }
        for wait in &self.waits {
            write!(f, "\n  waiting: {}", wait.text)?;
            if let Some(at) = &wait.at {
                write!(f, "\n    at {at}")?;
            }
        }
        write!(f, "\n  help: {}", self.kind.help())
    }
}

/// `4-byte write by thread …`, of what is known.
fn deed(access: Option<Touch>, thread: Option<KernelThread>) -> Option<String> {
    match (access, thread) {
        (Some(access), Some(thread)) => Some(format!("{access} by {thread}")),
        (Some(access), None) => Some(access.to_string()),
        (None, Some(thread)) => Some(format!("by {thread}")),
        (None, None) => None,
    }
}

impl fmt::Display for KernelLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.text)?;
        match &self.inner {
            Some(inner) => write!(f, "\n    inside `{}`, line {}: {}", inner.function, inner.line, inner.text),
            None => Ok(()),
        }
    }
}

impl fmt::Display for KernelThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([tx, ty, tz], [bx, by, bz]) = (self.thread, self.block);
        write!(f, "thread ({tx}, {ty}, {tz}) of block ({bx}, {by}, {bz})")
    }
}

impl fmt::Display for Touch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Atomic => "atomic access",
        };
        write!(f, "{}-byte {what}", self.bytes)
    }
}

impl fmt::Display for MemoryPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, name, element) = (self.what.name(), &self.name, self.element);
        match (self.what, self.dtype) {
            (MemoryKind::Wild, _) => write!(f, "{what} {name}, which belongs to nothing that the launch was given"),
            (_, Some(dtype)) => write!(f, "{what} `{name}`, element {element} ({dtype})"),
            (_, None) => write!(f, "{what} `{name}`, byte {element}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn sample() -> Finding {
        let line = |line, text: &str| KernelLine { line, text: text.into(), inner: None };
        let thread = |x| KernelThread { block: [0; 3], thread: [x, 0, 0] };
        Finding {
            kind: FindingKind::Race,
            kernel: "sum".into(),
            launch: Some("sum.0".into()),
            origins: vec![Origin::Text { file: "a.mg".into(), line: 3, column: 5 }],
            at: Some(KernelLine {
                inner: Some(InnerLine { function: "load".into(), line: 2, text: "return *p;".into() }),
                ..line(9, "y[0] = load(s);")
            }),
            thread: Some(thread(1)),
            access: Some(Touch { kind: AccessKind::Read, bytes: 4 }),
            other: Some(OtherAccess {
                at: Some(line(8, "s[i] = x[i];")),
                thread: Some(thread(0)),
                access: Some(Touch { kind: AccessKind::Write, bytes: 4 }),
            }),
            memory: Some(MemoryPlace { what: MemoryKind::Shared, name: "s".into(), element: 12, dtype: None }),
            waits: Vec::new(),
            message: String::new(),
        }
    }

    #[test]
    fn a_finding_reads_from_the_users_place_to_the_remedy() {
        let expected = "\
race
  --> a.mg:3:5
  in kernel `sum`
  of launch `sum.0`
  at line 9: y[0] = load(s);
    inside `load`, line 2: return *p;
  4-byte read by thread (1, 0, 0) of block (0, 0, 0)
  after the 4-byte write by thread (0, 0, 0) of block (0, 0, 0)
    at line 8: s[i] = x[i];
  of: shared array `s`, byte 12
  help: nothing orders these two accesses: put a barrier between them, or give each thread bytes of its own";
        assert_eq!(sample().to_string(), expected);
    }

    #[test]
    fn names_are_those_of_the_serialized_form_and_all_have_help() {
        for kind in FindingKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert!(kind.help().len() > 20, "{kind}");
        }
    }

    #[test]
    fn findings_survive_serialization() {
        let text = serde_json::to_string(&sample()).unwrap();
        assert_eq!(serde_json::from_str::<Finding>(&text).unwrap(), sample());
    }

    #[test]
    fn an_error_prints_its_finding_and_stays_small() {
        let error = Error::from(sample());
        assert_eq!(format!("{error:?}"), sample().to_string());
        assert!(size_of::<Error>() < 128, "{}", size_of::<Error>());
    }
}
