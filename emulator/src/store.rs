//! Keeps what was compiled: a folder of files whose names are the hash of everything they depend on.

use crate::entry;
use monograph_ir::Error;
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;
use tempfile::TempDir;

/// Counts the versions of what is kept.
const VERSION: &[u8] = b"monograph-emulator 3";

/// What to do about a folder that cannot be used.
const ELSEWHERE: &str =
    "set MONOGRAPH_CACHE_DIR to a folder where you can write, or MONOGRAPH_CACHE=off to keep nothing";

/// The name of something by everything that it depends on.
pub(crate) struct Key(blake3::Hasher);

impl Key {
    pub(crate) fn new(kind: &str) -> Key {
        let mut key = Key(blake3::Hasher::new());
        key.0.update(VERSION);
        key.add(kind);
        key
    }

    /// Adds a text. The length keeps apart what would be equal end to end.
    pub(crate) fn add(&mut self, text: impl AsRef<[u8]>) -> &mut Key {
        let text = text.as_ref();
        self.0.update(&(text.len() as u64).to_le_bytes());
        self.0.update(text);
        self
    }

    pub(crate) fn name(&self, extension: &str) -> String {
        format!("{}.{extension}", self.0.finalize().to_hex())
    }

    /// A name that people will see. What it names is compared before it is used.
    pub(crate) fn short_name(&self, extension: &str) -> String {
        format!("{}.{extension}", &self.0.finalize().to_hex()[..12])
    }
}

/// A folder of compiled things: the user's, or a temporary one that goes with this.
#[derive(Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    /// Whether this has looked already if the folder has grown too large.
    trimmed: AtomicBool,
    _temporary: Option<TempDir>,
}

impl Store {
    /// A store in this folder, which is made if it is not there; in a temporary one without, and where nothing can be
    /// written to the folder.
    pub(crate) fn new(folder: Option<PathBuf>) -> Result<Store, Error> {
        let Some(folder) = folder else { return Store::temporary() };
        match open(&folder) {
            Ok(folder) => Ok(Store { folder, trimmed: AtomicBool::new(false), _temporary: None }),
            Err(error) if matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem) => {
                tracing::warn!(folder = %folder.display(), %error, "the emulator's cache is not used: {ELSEWHERE}");
                Store::temporary()
            }
            Err(error) => Err(unusable(&folder, &error)),
        }
    }

    fn temporary() -> Result<Store, Error> {
        let temporary = temporary_in(&std::env::temp_dir())?;
        let folder = temporary.path().to_path_buf();
        Ok(Store { folder, trimmed: AtomicBool::new(false), _temporary: Some(temporary) })
    }

    /// The file of that name. Where it is not there as it was made, `make` writes it to the path that it is given, and it
    /// is moved to its place as a whole, so that processes can share a folder; while one makes it, others wait for it.
    /// A checksum is added at its end, which linkers and the system do not look at.
    pub(crate) fn file(&self, name: &str, make: impl FnOnce(&Path) -> Result<(), Error>) -> Result<PathBuf, Error> {
        let file = self.folder.join(name);
        if entry::is_sound(&file) {
            return Ok(file);
        }
        let _lock = self.lock(name)?;
        if entry::is_sound(&file) {
            return Ok(file);
        }
        if file.exists() {
            tracing::warn!(file = %file.display(), "a damaged entry of the emulator's cache is made anew");
        }
        let workshop = temporary_in(&self.folder).map_err(named)?;
        let made = workshop.path().join(name);
        make(&made)?;
        entry::seal(&made).and_then(|()| fs::rename(&made, &file)).map_err(|e| unusable(&file, &e))?;
        if !self.trimmed.swap(true, Ordering::Relaxed) {
            entry::trim(&self.folder, entry::MOST_BYTES, SystemTime::now());
        }
        Ok(file)
    }

    /// A folder of that name with one file of that name and text, to be read by others than this program. The folder's name
    /// says what the text is.
    pub(crate) fn keep(&self, folder: &str, file: &str, text: &str) -> Result<PathBuf, Error> {
        let folder = self.folder.join(folder);
        make_private(&folder).map_err(|e| unusable(&folder, &e))?;
        let path = folder.join(file);
        if fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
            return Ok(folder);
        }
        let workshop = temporary_in(&self.folder).map_err(named)?;
        let made = workshop.path().join(file);
        fs::write(&made, text).and_then(|()| fs::rename(&made, &path)).map_err(|e| unusable(&path, &e))?;
        Ok(folder)
    }

    /// Held while the file of that name is made. A few locks serve all names, so that they need not be removed.
    fn lock(&self, name: &str) -> Result<File, Error> {
        let folder = self.folder.join("locks");
        make_private(&folder).map_err(|e| unusable(&folder, &e))?;
        let path = folder.join(name.get(..2).unwrap_or(name));
        let lock = File::create(&path).map_err(|e| unusable(&path, &e))?;
        if let Err(error) = lock.lock() {
            // Some file systems have none: then a file may be made twice, which is only slower.
            tracing::debug!(path = %path.display(), %error, "the emulator's cache cannot be locked");
        }
        Ok(lock)
    }
}

/// Makes the folder if it is not there, and tries to write to it. Returns its whole path: compilers run in folders of
/// their own, so paths must not depend on where this process is.
fn open(folder: &Path) -> io::Result<PathBuf> {
    make_private(folder)?;
    let folder = folder.canonicalize()?;
    tempfile::tempfile_in(&folder)?;
    Ok(folder)
}

/// Private to the user: what is in there is executed.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A temporary folder inside another.
pub(crate) fn temporary_in(folder: &Path) -> Result<TempDir, Error> {
    tempfile::Builder::new().prefix(".monograph-").tempdir_in(folder).map_err(|e| failed(folder, &e))
}

/// The failure of something in the cache.
pub(crate) fn unusable(path: &Path, error: &io::Error) -> Error {
    named(failed(path, error))
}

/// Adds what to do about the cache.
fn named(error: Error) -> Error {
    match error {
        Error::Io { path, message } => {
            Error::Io { path, message: format!("{message}; the emulator keeps what it compiled there: {ELSEWHERE}") }
        }
        other => other,
    }
}

pub(crate) fn failed(path: &Path, error: &io::Error) -> Error {
    Error::Io { path: path.display().to_string(), message: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;
    use std::time::Duration;

    fn names(store: &Store) -> Vec<String> {
        let entries = fs::read_dir(&store.folder).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_made_once() {
        let parent = tempfile::tempdir().unwrap();
        let store = Store::new(Some(parent.path().join("deep/folder"))).unwrap();
        let make =
            |text: &'static str| store.file("a.o", move |path| fs::write(path, text).map_err(|e| failed(path, &e)));
        let file = make("first").unwrap();
        assert_eq!(make("second").unwrap(), file);
        assert!(fs::read(&file).unwrap().starts_with(b"first"));
        assert_eq!(names(&store), ["a.o", "locks"], "nothing temporary is left");
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&store.folder).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o700);
        }
    }

    #[test]
    fn a_damaged_file_is_made_again() {
        let store = Store::new(None).unwrap();
        let make = || store.file("a.o", |path| fs::write(path, "made").map_err(|e| failed(path, &e))).unwrap();
        let file = make();
        let sound = fs::read(&file).unwrap();
        let mut damaged = sound.clone();
        damaged[1] ^= 1;
        for content in [&b""[..], b"mad", &damaged, &sound[..sound.len() - 1]] {
            fs::write(&file, content).unwrap();
            assert_eq!(fs::read(make()).unwrap(), sound);
        }
    }

    #[test]
    fn a_folder_that_cannot_be_used_is_an_error_with_a_remedy() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("file");
        fs::write(&file, "").unwrap();
        for folder in [file.clone(), file.join("below")] {
            let error = Store::new(Some(folder)).unwrap_err();
            assert!(matches!(&error, Error::Io { .. }), "{error}");
            for words in ["MONOGRAPH_CACHE_DIR", "MONOGRAPH_CACHE=off"] {
                assert!(error.to_string().contains(words), "{error}");
            }
        }
    }

    #[test]
    fn a_text_is_kept_as_it_is() {
        let store = Store::new(None).unwrap();
        let keep = || store.keep("a.text", "program", "a\n\tb").unwrap();
        let path = keep().join("program");
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\n\tb");
        // What somebody edited there would not be what runs.
        fs::write(&path, "c").unwrap();
        assert_eq!(fs::read_to_string(keep().join("program")).unwrap(), "a\n\tb");
        assert_eq!(names(&store), ["a.text"]);
    }

    #[test]
    fn a_failure_leaves_nothing_behind() {
        let store = Store::new(None).unwrap();
        let fails = store.file("a.o", |_| Err(Error::Internal("no".into())));
        assert!(fails.is_err());
        assert_eq!(names(&store), ["locks"]);
    }

    #[test]
    fn one_makes_and_the_others_wait() {
        let parent = tempfile::tempdir().unwrap();
        let made = AtomicU32::new(0);
        let work = || {
            let store = Store::new(Some(parent.path().into())).unwrap();
            let make = |path: &Path| {
                made.fetch_add(1, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(50));
                fs::write(path, "made").map_err(|e| failed(path, &e))
            };
            assert!(fs::read(store.file("a.o", make).unwrap()).unwrap().starts_with(b"made"));
        };
        thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
        assert_eq!(made.into_inner(), 1);
    }

    #[test]
    fn keys_know_where_texts_end() {
        let key = |texts: &[&str]| {
            let mut key = Key::new("test");
            texts.iter().for_each(|t| {
                key.add(t);
            });
            key.name("o")
        };
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_eq!(key(&["ab", "c"]), key(&["ab", "c"]));
        assert_ne!(key(&[]), Key::new("other").name("o"));
    }
}
