//! The memory that kernels see: segments of one file, which this process reads and writes and the child maps.

use crate::store::failed;
use monograph_ir::{DeviceError, DeviceErrorKind, Error};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};

/// Segments start and end at multiples of this, which is a multiple of every page size of the supported machines.
const GRANULE: u64 = 64 << 10;

/// More than any of the supported machines can map.
const MOST: u64 = 1 << 46;

/// What fresh memory is filled with: NaN in every float dtype.
const POISON: u8 = 0xff;

/// A range of the file that the child maps between two pages that fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Segment {
    /// Where it starts in the file.
    pub(crate) start: u64,
    /// How long it is.
    pub(crate) bytes: u64,
}

/// The file, which goes with this.
#[derive(Debug)]
pub(crate) struct Memory {
    file: File,
    path: PathBuf,
    /// Removes the file, where it has a name.
    _name: Option<TempPath>,
    segments: Vec<Segment>,
}

impl Memory {
    /// Segments of at least these sizes, all bytes `0xff`. In shared memory where the system has that and it is large
    /// enough, else on disk.
    ///
    /// # Errors
    /// [`Error::Device`] (`OutOfMemory`) where no place holds them, [`Error::Io`] where no file can be made.
    pub(crate) fn new(sizes: impl IntoIterator<Item = u64>) -> Result<Memory, Error> {
        let mut segments = Vec::new();
        let mut start: u64 = 0;
        for size in sizes {
            let bytes = size.max(1).checked_next_multiple_of(GRANULE);
            let end = bytes.and_then(|b| start.checked_add(b)).filter(|&end| end <= MOST);
            let end = end.ok_or_else(|| out_of_memory(size, "no process can map so much"))?;
            segments.push(Segment { start, bytes: end - start });
            start = end;
        }
        let shared = Some(PathBuf::from("/dev/shm")).filter(|p| p.is_dir());
        let mut last = None;
        for folder in shared.into_iter().chain([std::env::temp_dir()]) {
            match reserve(&folder, start) {
                Ok(file) => return Ok(Memory::of(file, segments)),
                Err(error) => {
                    tracing::debug!(folder = %folder.display(), bytes = start, %error, "no room for emulated memory");
                    last = Some((folder, error));
                }
            }
        }
        Err(last.map_or_else(
            || Error::Internal("there is always a temporary folder".into()),
            |(folder, error)| refused(&folder, start, &error),
        ))
    }

    /// The file loses its name where it can be opened without one, so that nothing is left of it when this process is
    /// killed.
    fn of(file: NamedTempFile, segments: Vec<Segment>) -> Memory {
        let (file, name) = file.into_parts();
        match nameless(&file) {
            Some(path) => Memory { file, path, _name: None, segments },
            None => Memory { file, path: name.to_path_buf(), _name: Some(name), segments },
        }
    }

    /// Where other processes can open the file while this process has it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Reads bytes of a segment.
    pub(crate) fn read(&self, segment: usize, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let at = self.segments[segment].start + offset;
        read_at(&self.file, bytes, at).map_err(|e| failed(self.path(), &e))
    }

    /// Replaces bytes of a segment.
    pub(crate) fn write(&self, segment: usize, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let at = self.segments[segment].start + offset;
        write_at(&self.file, bytes, at).map_err(|e| failed(self.path(), &e))
    }
}

/// A file of that many poisoned bytes. They are written, because a mapped file that has no room faults at use.
fn reserve(folder: &Path, bytes: u64) -> io::Result<NamedTempFile> {
    let file = tempfile::Builder::new().prefix("monograph-").tempfile_in(folder)?;
    let block = vec![POISON; GRANULE.min(bytes) as usize];
    file.as_file().set_len(bytes)?;
    (0..bytes).step_by(block.len().max(1)).try_for_each(|at| write_at(file.as_file(), &block, at))?;
    Ok(file)
}

/// A path of an open file that needs no name, where the system has such paths and they lead to this file.
#[cfg(unix)]
fn nameless(file: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;
    let path = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()));
    let opened = File::options().read(true).write(true).open(&path).ok()?;
    let identity = |file: &File| file.metadata().map(|m| (m.dev(), m.ino()));
    (identity(file).ok()? == identity(&opened).ok()?).then_some(path)
}

#[cfg(not(unix))]
fn nameless(_: &File) -> Option<PathBuf> {
    None
}

fn refused(folder: &Path, bytes: u64, error: &io::Error) -> Error {
    use io::ErrorKind::{FileTooLarge, OutOfMemory, QuotaExceeded, StorageFull};
    match error.kind() {
        StorageFull | FileTooLarge | QuotaExceeded | OutOfMemory => out_of_memory(bytes, &error.to_string()),
        _ => failed(folder, error),
    }
}

fn out_of_memory(bytes: u64, why: &str) -> Error {
    let folder = std::env::temp_dir();
    Error::Device(DeviceError {
        kind: DeviceErrorKind::OutOfMemory,
        call: None,
        code: None,
        message: format!(
            "the emulator needs a file of {bytes} bytes as memory, and neither /dev/shm nor {} holds it: {why}; make the \
             program smaller, or set TMPDIR to a folder with more room",
            folder.display()
        ),
    })
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(not(unix))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
fn write_at(_: &File, _: &[u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn segments_do_not_share_pages_and_start_poisoned() {
        let memory = Memory::new([1, GRANULE, 0, GRANULE + 1]).unwrap();
        let expected = [(0, 1), (1, 1), (2, 1), (3, 2)];
        let found: Vec<_> = memory.segments().iter().map(|s| (s.start / GRANULE, s.bytes / GRANULE)).collect();
        assert_eq!(found, expected);
        let mut bytes = [0; 3];
        memory.read(3, GRANULE, &mut bytes).unwrap();
        assert_eq!(bytes, [0xff; 3]);
        memory.write(3, GRANULE, &[1, 2, 3]).unwrap();
        memory.read(3, GRANULE, &mut bytes).unwrap();
        assert_eq!(bytes, [1, 2, 3]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_file_has_no_name_and_can_be_opened() {
        let memory = Memory::new([1]).unwrap();
        memory.write(0, 5, &[7]).unwrap();
        assert_eq!(std::fs::read(memory.path()).unwrap()[5], 7);
        assert!(std::fs::read_link(memory.path()).unwrap().to_string_lossy().ends_with(" (deleted)"));
    }

    #[test]
    fn what_no_file_holds_is_out_of_memory() {
        for size in [u64::MAX, 1 << 62] {
            match Memory::new([size]) {
                Err(Error::Device(error)) => assert_eq!(error.kind, DeviceErrorKind::OutOfMemory, "{error}"),
                other => panic!("{other:?}"),
            }
        }
    }
}
