//! The child process that executes kernels: starting it, asking it, and noticing how it ended.

use crate::answer::{self, Answer, Report};
use crate::socket::{self, Connection};
use crate::store::{failed, unusable};
use monograph_ir::{DeviceError, DeviceErrorKind, Error, FindingKind};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child as Process, Command, ExitStatus};
use std::time::Duration;

/// How much longer than the child's own time limit an answer may take before the child is ended.
pub(crate) const GRACE: Duration = Duration::from_secs(10);

/// A running child. It is ended with this.
#[derive(Debug)]
pub(crate) struct Child {
    process: Process,
    connection: BufReader<Connection>,
}

impl Child {
    /// Starts an executable on a file of memory. It ends a launch that takes longer than the limit, and is ended itself
    /// if an answer takes longer than both durations. Without a limit, both take as long as they take.
    pub(crate) fn start(
        executable: &Path,
        memory: &Path,
        limit: Option<Duration>,
        grace: Duration,
    ) -> Result<Child, Error> {
        let mut command = Command::new(executable);
        // 0 stands for no limit.
        let milliseconds = limit.map_or(0, |limit| limit.as_millis().clamp(1, u128::from(u32::MAX)));
        command.arg(memory).arg(milliseconds.to_string());
        let (process, connection) = socket::spawn(&mut command).map_err(|error| match error.kind() {
            io::ErrorKind::OutOfMemory => out_of_memory(&error.to_string()),
            io::ErrorKind::NotFound => Error::Io {
                path: executable.display().to_string(),
                message: "the emulator's cache had this executable, and it is gone; compile the program again".into(),
            },
            _ => unusable(executable, &error),
        })?;
        let child = Child { process, connection: BufReader::new(connection) };
        child
            .connection
            .get_ref()
            .set_read_timeout(limit.map(|limit| limit.saturating_add(grace)))
            .map_err(|e| failed(executable, &e))?;
        Ok(child)
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Asks for something and waits for the answer. A child that is silent for too long, or is ended by the kernel that it
    /// runs, answers with a finding. After any answer but `Done` the child is of no use.
    ///
    /// # Errors
    /// [`Error::Device`] (`OutOfMemory`) for a child that has not enough memory, [`Error::Io`] for one that is ended by
    /// anything else than a kernel.
    pub(crate) fn ask(&mut self, request: &str) -> Result<Answer, Error> {
        // A child that is gone is noticed at the answer, where there may still be one.
        let _ = self.connection.get_mut().write_all(format!("{request}\n").as_bytes());
        match answer::read(|| line(&mut self.connection)) {
            Ok(Some(Answer::Refused(text))) if text.contains(NO_MEMORY) => Err(out_of_memory(&text)),
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => self.ended(request),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                let message = "the process that ran the launch did not answer in time, and was ended";
                Ok(Answer::Found(Box::new(Report::new(FindingKind::Timeout, message))))
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => self.ended(request),
            Err(error) => Err(broken(error.to_string())),
        }
    }

    /// What is known of a child that closed its connection.
    fn ended(&mut self, request: &str) -> Result<Answer, Error> {
        // It may have closed the connection and go on.
        let _ = self.process.kill();
        let status = self.process.wait().map_err(|e| broken(e.to_string()))?;
        verdict(status, request.starts_with("launch ")).map(|report| Answer::Found(Box::new(report)))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Both fail only for a child that is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The next line without its end; `None` at the end of the stream.
fn line(connection: &mut BufReader<Connection>) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    loop {
        match connection.read_until(b'\n', &mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(_) => break,
        }
    }
    if bytes.is_empty() {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_string()))
}

/// What the system says where there is not enough memory; the child says the same.
const NO_MEMORY: &str = "Cannot allocate memory";

/// The status of a child that has not enough memory or address space, and could not answer.
const GAVE_UP: i32 = 2;

fn out_of_memory(why: &str) -> Error {
    Error::Device(DeviceError {
        kind: DeviceErrorKind::OutOfMemory,
        call: None,
        code: None,
        message: format!(
            "the process that runs kernels has not enough memory or address space: {why}; make the program smaller, or \
             raise its limit (`ulimit -v`)"
        ),
    })
}

fn broken(message: String) -> Error {
    Error::Io { path: "the emulator's process".into(), message }
}

/// What a child's end means: a defect of the kernel that it ran, or of what is around it.
fn verdict(status: ExitStatus, launching: bool) -> Result<Report, Error> {
    let signal = signal(status);
    match (signal, status.code()) {
        (None, Some(GAVE_UP)) => Err(out_of_memory("it said why on standard error")),
        (Some(number), _) if !FAULTS.contains(&number) => Err(broken(format!(
            "it was ended from outside, by {}; that is no defect of a kernel, and the next replay starts it again",
            describe(status)
        ))),
        _ if !launching => Err(broken(format!(
            "it ended before it ran a kernel, with {}; is there enough memory, and address space (`ulimit -v`)?",
            describe(status)
        ))),
        (None, _) => {
            let message = "the process that ran the launch ended without an answer: the kernel called `exit` or its like, \
                           which no device has";
            Ok(Report::new(FindingKind::Misuse, format!("{message} ({})", describe(status))))
        }
        (Some(_), _) => {
            let message = format!("the process that ran the launch ended without an answer: {}", describe(status));
            Ok(Report::new(FindingKind::Crash, message))
        }
    }
}

/// SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV and SIGSYS: what a kernel leads to.
const FAULTS: [i32; 7] = [4, 5, 6, 7, 8, 11, 31];

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}

fn describe(status: ExitStatus) -> String {
    let Some(signal) = signal(status) else { return status.to_string() };
    let name = match signal {
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL; the system may have been short of memory)",
        11 => " (SIGSEGV)",
        15 => " (SIGTERM)",
        _ => "",
    };
    format!("signal {signal}{name}")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// What a program that knows nothing of the emulator answers.
    fn answer(program: &str, argument: &str) -> Box<Report> {
        let short = Duration::from_millis(50);
        let mut child = Child::start(Path::new(program), Path::new(argument), Some(short), short).unwrap();
        match child.ask("launch f") {
            Ok(Answer::Found(report)) => report,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_silent_process_is_ended_in_time() {
        let report = answer("/bin/sleep", "1000");
        assert_eq!(report.kind, FindingKind::Timeout);
    }

    #[test]
    fn a_kernel_that_ends_its_process_is_said_to() {
        let report = answer("/bin/true", "");
        assert_eq!(report.kind, FindingKind::Misuse);
        assert!(report.message.contains("ended without an answer"), "{}", report.message);
    }

    #[test]
    fn only_what_a_kernel_does_is_a_finding() {
        use std::os::unix::process::ExitStatusExt;
        let status = |raw: i32| ExitStatus::from_raw(raw);
        assert_eq!(verdict(status(11), true).unwrap().kind, FindingKind::Crash);
        assert_eq!(verdict(status(6), true).unwrap().kind, FindingKind::Crash);
        assert_eq!(verdict(status(3 << 8), true).unwrap().kind, FindingKind::Misuse);
        for (raw, launching) in [(9, true), (15, true), (9, false), (11, false), (127 << 8, false)] {
            assert!(matches!(verdict(status(raw), launching), Err(Error::Io { .. })), "{raw}");
        }
        for launching in [true, false] {
            match verdict(status(2 << 8), launching) {
                Err(Error::Device(error)) => assert_eq!(error.kind, DeviceErrorKind::OutOfMemory),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_process_that_is_killed_is_an_error() {
        let mut child = Child::start(Path::new("/bin/sleep"), Path::new("1000"), None, GRACE).unwrap();
        child.process.kill().unwrap();
        match child.ask("launch f") {
            Err(Error::Io { message, .. }) => assert!(message.contains("SIGKILL") && message.contains("from outside")),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_executable_that_is_not_there_is_an_error() {
        let missing = Child::start(Path::new("/nonsense/exe"), Path::new(""), Some(GRACE), GRACE);
        assert!(matches!(missing, Err(Error::Io { path, .. }) if path == "/nonsense/exe"));
    }
}
