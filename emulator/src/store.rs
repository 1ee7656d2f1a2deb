//! Keeps what was compiled: a folder of files whose names are the hash of everything they depend on.

use monograph_ir::Error;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Counts the versions of what is kept.
const VERSION: &[u8] = b"monograph-emulator 2";

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
    _temporary: Option<TempDir>,
}

impl Store {
    /// A store in this folder, which is made if it is not there; in a temporary one without.
    pub(crate) fn new(folder: Option<PathBuf>) -> Result<Store, Error> {
        match folder {
            Some(folder) => {
                make_private(&folder).map_err(|e| failed(&folder, &e))?;
                // Compilers run in folders of their own, so paths must not depend on where this process is.
                let folder = folder.canonicalize().map_err(|e| failed(&folder, &e))?;
                Ok(Store { folder, _temporary: None })
            }
            None => {
                let temporary = temporary_in(&std::env::temp_dir())?;
                Ok(Store { folder: temporary.path().to_path_buf(), _temporary: Some(temporary) })
            }
        }
    }

    /// The file of that name. Where it is not there, `make` writes it to the path that it is given, and it is moved to
    /// its place as a whole, so that processes can share a folder; while one makes it, others wait for it.
    pub(crate) fn file(&self, name: &str, make: impl FnOnce(&Path) -> Result<(), Error>) -> Result<PathBuf, Error> {
        let file = self.folder.join(name);
        if file.is_file() {
            return Ok(file);
        }
        let _lock = self.lock(name)?;
        if file.is_file() {
            return Ok(file);
        }
        let workshop = temporary_in(&self.folder)?;
        let made = workshop.path().join(name);
        make(&made)?;
        fs::rename(&made, &file).map_err(|e| failed(&file, &e))?;
        Ok(file)
    }

    /// A folder of that name with one file of that name and text, to be read by others than this program. The folder's name
    /// says what the text is.
    pub(crate) fn keep(&self, folder: &str, file: &str, text: &str) -> Result<PathBuf, Error> {
        let folder = self.folder.join(folder);
        make_private(&folder).map_err(|e| failed(&folder, &e))?;
        let path = folder.join(file);
        if fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
            return Ok(folder);
        }
        let workshop = temporary_in(&self.folder)?;
        let made = workshop.path().join(file);
        fs::write(&made, text).and_then(|()| fs::rename(&made, &path)).map_err(|e| failed(&path, &e))?;
        Ok(folder)
    }

    /// Held while the file of that name is made. A few locks serve all names, so that they need not be removed.
    fn lock(&self, name: &str) -> Result<File, Error> {
        let folder = self.folder.join("locks");
        make_private(&folder).map_err(|e| failed(&folder, &e))?;
        let path = folder.join(name.get(..2).unwrap_or(name));
        let lock = File::create(&path).map_err(|e| failed(&path, &e))?;
        if let Err(error) = lock.lock() {
            // Some file systems have none: then a file may be made twice, which is only slower.
            tracing::debug!(path = %path.display(), %error, "the emulator's cache cannot be locked");
        }
        Ok(lock)
    }
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
        assert_eq!(fs::read_to_string(&file).unwrap(), "first");
        assert_eq!(names(&store), ["a.o", "locks"], "nothing temporary is left");
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&store.folder).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o700);
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
            assert_eq!(fs::read(store.file("a.o", make).unwrap()).unwrap(), b"made");
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
