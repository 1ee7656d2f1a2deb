//! Reading and writing files, with errors that name them.

use crate::failure::Failure;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

/// Whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// The name of a path in messages.
pub(crate) fn name(path: &Path) -> String {
    if is_stdin(path) { "<stdin>".into() } else { path.display().to_string() }
}

/// A file, or standard input; and its size, where that is known before reading.
///
/// # Errors
/// A file that is not there, is a directory, or may not be read.
pub(crate) fn open(path: &Path) -> Result<(Box<dyn Read>, Option<u64>), Failure> {
    if is_stdin(path) {
        return Ok((Box::new(io::stdin()), None));
    }
    let file = File::open(path).map_err(|e| unreadable(path, &e))?;
    let metadata = file.metadata().map_err(|e| unreadable(path, &e))?;
    if metadata.is_dir() {
        return Err(Failure::usage(format!("{} is a directory, not a file", name(path))));
    }
    Ok((Box::new(file), metadata.is_file().then_some(metadata.len())))
}

/// Why a file cannot be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::usage(match error.kind() {
        io::ErrorKind::NotFound => format!("there is no file {}", name(path)),
        _ => format!("{} cannot be read: {error}", name(path)),
    })
}

/// Writes a file as a whole or not at all: what was there before stays until the new content is complete.
///
/// # Errors
/// What the system says, with the file's name.
pub(crate) fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let failed = |e: io::Error| Failure::usage(format!("{} cannot be written: {e}", path.display()));
    // A device or pipe, /dev/stdout for one, takes bytes but cannot be replaced.
    if fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return File::options().write(true).open(path).and_then(|mut f| write(&mut f)).map_err(failed);
    }
    let Some(file_name) = path.file_name() else {
        return Err(Failure::usage(format!("{} is not the name of a file", path.display())));
    };
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(file_name);
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(temporary);
    let written = File::create(&temporary).and_then(|file| {
        let mut out = io::BufWriter::new(file);
        write(&mut out)?;
        out.flush()?;
        drop(out);
        fs::rename(&temporary, path)
    });
    written.map_err(|error| {
        let _ = fs::remove_file(&temporary);
        failed(error)
    })
}
