//! A session: one executable, its memory, and a child that is started when it is needed.

use crate::answer::{Answer, Report};
use crate::build::Executable;
use crate::child::{Child, GRACE};
use crate::memory::Memory;
use crate::options::{EmulatorOptions, Schedule};
use monograph_ir::Error;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// Why a request was not done.
pub(crate) enum Failure {
    /// Something is wrong with the kernel.
    Found(Box<Report>),
    /// Something else.
    Failed(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Failed(error)
    }
}

/// A range of a segment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Range {
    pub(crate) segment: usize,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// What a launch may do with the bytes of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Read,
    /// It writes all of them. What is there before counts as never written, unless another parameter reads it.
    Write,
    ReadWrite,
}

impl Mode {
    fn word(self) -> &'static str {
        match self {
            Mode::Read => "r",
            Mode::Write => "w",
            Mode::ReadWrite => "rw",
        }
    }
}

/// One launch of a kernel.
pub(crate) struct Call<'a> {
    pub(crate) symbol: &'a str,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub(crate) dynamic: u64,
    pub(crate) schedule: Schedule,
    pub(crate) seed: u64,
    /// Where each parameter points.
    pub(crate) parameters: Vec<(Range, Mode)>,
}

pub(crate) struct Session {
    pub(crate) executable: Arc<Executable>,
    pub(crate) memory: Arc<Memory>,
    /// Of a launch; none where a debugger is to be attached.
    time_limit: Option<Duration>,
    child: Option<Child>,
    /// Whether the running child has met its debugger, or needs none.
    met: bool,
    /// What this process has written and the child need not doubt: bytes by segment and offset. A new child is told all
    /// of it.
    written: BTreeMap<(usize, u64), u64>,
    /// What the running child has not been told yet.
    news: Vec<Range>,
    /// For each kernel whose shared arrays the child knows, the size of its dynamic memory.
    declared: HashMap<String, u64>,
}

impl Session {
    pub(crate) fn new(executable: Arc<Executable>, memory: Arc<Memory>, options: &EmulatorOptions) -> Session {
        Session {
            executable,
            memory,
            time_limit: (!options.debugger).then_some(options.time_limit),
            child: None,
            met: false,
            written: BTreeMap::new(),
            news: Vec::new(),
            declared: HashMap::new(),
        }
    }

    /// The number of the child's process, if one runs.
    pub(crate) fn process(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// These bytes were written by this process.
    pub(crate) fn written(&mut self, range: Range) {
        let known = self.written.entry((range.segment, range.offset)).or_default();
        // The child marks bytes written for good, but for those of the arena, which this process does not write.
        if range.bytes > *known {
            *known = range.bytes;
            self.news.push(range);
        }
    }

    /// Sees to it that a child runs and knows the memory.
    pub(crate) fn begin(&mut self) -> Result<(), Failure> {
        if self.child.is_none() {
            self.declared.clear();
            self.met = false;
            self.child = Some(Child::start(&self.executable.path, self.memory.path(), self.time_limit, GRACE)?);
            let memory = self.memory.clone();
            for (number, segment) in memory.segments().iter().enumerate() {
                self.ask(&format!("map {number} {} {}", segment.start, segment.bytes))?;
            }
            let written = self.written.iter();
            self.news = written.map(|(&(segment, offset), &bytes)| Range { segment, offset, bytes }).collect();
        }
        for Range { segment, offset, bytes } in std::mem::take(&mut self.news) {
            self.ask(&format!("written {segment} {offset} {bytes}"))?;
        }
        Ok(())
    }

    /// Fills a range with NaN, and forgets that it was written.
    pub(crate) fn poison(&mut self, range: Range) -> Result<(), Failure> {
        self.ask(&format!("poison {} {} {}", range.segment, range.offset, range.bytes))
    }

    /// Copies one range to the start of another.
    pub(crate) fn copy(&mut self, from: Range, to: Range) -> Result<(), Failure> {
        // The target is in front, as with `memcpy`.
        let request = format!("copy {} {} {} {} {}", to.segment, to.offset, from.segment, from.offset, from.bytes);
        self.ask(&request)
    }

    /// Launches a kernel and waits for its end. Before the first launch of a child, a debugger can be attached to it.
    pub(crate) fn launch(&mut self, call: &Call<'_>) -> Result<(), Failure> {
        self.meet_debugger()?;
        if self.declared.get(call.symbol) != Some(&call.dynamic) {
            let arrays = self.executable.image.arrays(call.symbol, call.dynamic);
            let mut request = format!("shared {} {}", call.symbol, arrays.len());
            for array in &arrays {
                let _ = write!(request, " {} {} {}", array.name, array.delta, array.bytes);
            }
            self.ask(&request)?;
            self.declared.insert(call.symbol.into(), call.dynamic);
        }
        let ([gx, gy, gz], [bx, by, bz]) = (call.grid, call.block);
        let (symbol, dynamic, schedule, seed) = (call.symbol, call.dynamic, call.schedule.word(), call.seed);
        let mut request = format!("launch {symbol} {gx} {gy} {gz} {bx} {by} {bz} {dynamic} {schedule} {seed}");
        let _ = write!(request, " {}", call.parameters.len());
        for (range, mode) in &call.parameters {
            let _ = write!(request, " {} {} {} {}", range.segment, range.offset, range.bytes, mode.word());
        }
        self.ask(&request)
    }

    /// Where the executable is meant for a debugger, waits until one is attached to the child.
    fn meet_debugger(&mut self) -> Result<(), Failure> {
        if self.met {
            return Ok(());
        }
        self.met = true;
        let executable = self.executable.clone();
        match (&executable.debugging, self.process()) {
            (Some(debugging), Some(process)) => {
                debugging.invite(process);
                self.ask("debugger")
            }
            _ => Ok(()),
        }
    }

    fn ask(&mut self, request: &str) -> Result<(), Failure> {
        let child = self.child.as_mut();
        let child = child.ok_or_else(|| Error::Internal("the emulator's process was not started".into()))?;
        let answer = child.ask(request);
        if !matches!(answer, Ok(Answer::Done)) {
            self.child = None;
        }
        match answer? {
            Answer::Done => Ok(()),
            Answer::Found(report) => Err(Failure::Found(report)),
            Answer::Refused(text) => {
                let request = request.split(' ').next().unwrap_or_default();
                Err(Error::Internal(format!("the emulator's process refused `{request}`: {text}")).into())
            }
        }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session({})", self.executable.path.display())
    }
}
