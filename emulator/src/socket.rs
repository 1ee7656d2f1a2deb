//! The connection to the child: a pair of sockets, one of which is the child's standard input.

use std::io;
use std::process::{Child, Command};

/// This process's end of the connection.
#[cfg(unix)]
pub(crate) type Connection = std::os::unix::net::UnixStream;

/// There is none on this system; [`spawn`] says so.
#[cfg(not(unix))]
pub(crate) type Connection = std::net::TcpStream;

/// Starts the command with one end of a new connection as its standard input. What it prints goes to standard error,
/// because standard output is the program's that embeds this.
#[cfg(unix)]
pub(crate) fn spawn(command: &mut Command) -> io::Result<(Child, Connection)> {
    use std::os::fd::OwnedFd;
    use std::process::Stdio;
    let (ours, theirs) = Connection::pair()?;
    let child = command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(io::stderr()).spawn()?;
    Ok((child, ours))
}

#[cfg(not(unix))]
pub(crate) fn spawn(_: &mut Command) -> io::Result<(Child, Connection)> {
    Err(io::ErrorKind::Unsupported.into())
}
