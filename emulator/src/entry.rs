//! One entry of the store: telling whether it is as it was made, when it was used last, and removing old ones.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The most bytes of all entries.
pub(crate) const MOST_BYTES: u64 = 1 << 30;

/// An entry that was used so short ago is not removed: a process may be about to use it again.
const RECENT: Duration = Duration::from_secs(2 * 3600);
/// How far the time of last use may lag behind: well below [`RECENT`], and long enough that few uses write it.
const LAG: Duration = Duration::from_secs(3600);
/// A temporary folder that is so old was left by a process that was killed.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// Bytes of the checksum at an entry's end.
const CHECKSUM: usize = blake3::OUT_LEN;

/// What is kept in a folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stored {
    /// Objects and executables.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What the emulator keeps in a folder; nothing where there is no such folder.
pub fn stored(folder: &Path) -> Stored {
    let entries = entries(folder);
    Stored { entries: entries.len() as u64, bytes: entries.iter().map(|e| e.bytes).sum() }
}

/// Adds the checksum to a file that was just made.
pub(crate) fn seal(file: &Path) -> io::Result<()> {
    let checksum = blake3::hash(&fs::read(file)?);
    OpenOptions::new().append(true).open(file)?.write_all(checksum.as_bytes())
}

/// Whether the entry is there as it was made, and can be executed if that is what it is for. Notes that it is used.
pub(crate) fn is_sound(file: &Path) -> bool {
    let Ok(bytes) = fs::read(file) else { return false };
    let Some((content, checksum)) = bytes.split_last_chunk::<CHECKSUM>() else { return false };
    let sound = blake3::hash(content) == *checksum && (!is_executable(file) || can_be_executed(file));
    if sound {
        touch(file);
    }
    sound
}

fn is_executable(file: &Path) -> bool {
    file.extension().is_some_and(|e| e == "exe")
}

#[cfg(unix)]
fn can_be_executed(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|m| m.permissions().mode() & 0o100 != 0)
}

#[cfg(not(unix))]
fn can_be_executed(_: &Path) -> bool {
    true
}

/// Sets the time of last use, if it is old. Where that fails, the entry is removed early, and made again.
fn touch(file: &Path) {
    let now = SystemTime::now();
    let old = |used: SystemTime| now.duration_since(used).is_ok_and(|age| age > LAG);
    if let Ok(file) = File::open(file)
        && file.metadata().and_then(|m| m.modified()).is_ok_and(old)
        && let Err(error) = file.set_modified(now)
    {
        tracing::debug!(%error, "the use of an entry of the emulator's cache cannot be noted");
    }
}

struct Entry {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
}

fn entries(folder: &Path) -> Vec<Entry> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = files.filter(|f| f.path().extension().is_some_and(|e| e == "o" || e == "exe"));
    // What another process removes meanwhile is no entry any more.
    let entry = |f: fs::DirEntry| {
        let metadata = f.metadata().ok()?;
        Some(Entry { path: f.path(), bytes: metadata.len(), used: metadata.modified().ok()? })
    };
    files.filter_map(entry).collect()
}

/// Removes the entries that were not used for longest until no more bytes than these are left, and what killed processes
/// left. Several processes may do it at the same time.
pub(crate) fn trim(folder: &Path, most: u64, now: SystemTime) {
    let age = |time: SystemTime| now.duration_since(time).unwrap_or_default();
    let mut entries = entries(folder);
    entries.sort_by_key(|e| e.used);
    let mut bytes: u64 = entries.iter().map(|e| e.bytes).sum();
    for entry in entries.iter().take_while(|e| age(e.used) > RECENT) {
        if bytes <= most {
            break;
        }
        bytes -= entry.bytes;
        remove(&entry.path, fs::remove_file);
    }
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let left = file.file_name().to_string_lossy().starts_with(".monograph-");
        if left && file.metadata().and_then(|m| m.modified()).is_ok_and(|time| age(time) > ABANDONED) {
            remove(&file.path(), fs::remove_dir_all);
        }
    }
}

fn remove<'a>(path: &'a Path, how: impl Fn(&'a Path) -> io::Result<()>) {
    match how(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::debug!(path = %path.display(), %error, "an old entry of the emulator's cache stays");
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn make(folder: &Path, name: &str, bytes: usize, age: Duration) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, vec![0; bytes]).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(SystemTime::now() - age).unwrap();
        path
    }

    #[test]
    fn what_was_not_used_for_longest_is_removed_first() {
        let folder = tempfile::tempdir().unwrap();
        let entries = [("a.o", 5), ("b.exe", 9), ("c.o", 7), ("d.o", 1), ("e.text", 99)];
        let paths = entries.map(|(name, hours)| make(folder.path(), name, 100, hours * HOUR));
        assert_eq!(stored(folder.path()), Stored { entries: 4, bytes: 400 });
        let left = || paths.iter().filter(|p| p.exists()).count();
        trim(folder.path(), 400, SystemTime::now());
        assert_eq!(left(), 5);
        trim(folder.path(), 250, SystemTime::now());
        assert!(!paths[1].exists() && !paths[2].exists() && left() == 3);
        // What was used just now stays, however little may be kept.
        trim(folder.path(), 0, SystemTime::now());
        assert!(paths[3].exists() && paths[4].exists() && left() == 2);
        assert_eq!(stored(&folder.path().join("nonsense")), Stored::default());
    }

    #[test]
    fn use_is_noted() {
        let folder = tempfile::tempdir().unwrap();
        let path = make(folder.path(), "a.o", 10, Duration::ZERO);
        seal(&path).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() - 5 * HOUR).unwrap();
        assert!(is_sound(&path));
        assert!(fs::metadata(&path).unwrap().modified().unwrap() > SystemTime::now() - HOUR);
    }

    #[cfg(unix)]
    #[test]
    fn an_executable_that_must_not_run_is_not_sound() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        for (name, sound) in [("a.exe", false), ("a.o", true)] {
            let path = make(folder.path(), name, 10, Duration::ZERO);
            seal(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            assert_eq!(is_sound(&path), sound, "{name}");
        }
    }
}
