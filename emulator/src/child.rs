//! The child process that executes kernels: starting it, asking it, and noticing how it ended.

use crate::answer::{self, Answer, Report};
use crate::socket::{self, Connection};
use crate::store::failed;
use monograph_ir::{Error, FindingKind};
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
        let (process, connection) = socket::spawn(&mut command).map_err(|e| failed(executable, &e))?;
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

    /// Asks for something and waits for the answer. A child that dies or is silent for too long answers with a finding.
    /// After any answer but `Done` the child is of no use.
    pub(crate) fn ask(&mut self, request: &str) -> Result<Answer, Error> {
        // A child that is gone is noticed at the answer, where there may still be one.
        let _ = self.connection.get_mut().write_all(format!("{request}\n").as_bytes());
        match answer::read(|| line(&mut self.connection)) {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => Ok(Answer::Found(Box::new(self.ended()?))),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                let message = "the process that ran the launch did not answer in time, and was ended";
                Ok(Answer::Found(Box::new(Report::new(FindingKind::Timeout, message))))
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(Answer::Found(Box::new(self.ended()?))),
            Err(error) => Err(Error::Io { path: "the emulator's process".into(), message: error.to_string() }),
        }
    }

    /// What is known of a child that closed its connection.
    fn ended(&mut self) -> Result<Report, Error> {
        // It may have closed the connection and go on.
        let _ = self.process.kill();
        let status = self.process.wait();
        let status = status.map_err(|e| Error::Io { path: "the emulator's process".into(), message: e.to_string() })?;
        let message = format!("the process that ran the launch ended without an answer: {}", describe(status));
        Ok(Report::new(FindingKind::Crash, message))
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

fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
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
        return format!("signal {signal}{name}");
    }
    status.to_string()
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
    fn a_process_that_ends_is_a_crash() {
        let report = answer("/bin/true", "");
        assert_eq!(report.kind, FindingKind::Crash);
        assert!(report.message.contains("ended without an answer"), "{}", report.message);
    }

    #[test]
    fn an_executable_that_is_not_there_is_an_error() {
        let missing = Child::start(Path::new("/nonsense/exe"), Path::new(""), Some(GRACE), GRACE);
        assert!(matches!(missing, Err(Error::Io { path, .. }) if path == "/nonsense/exe"));
    }
}
