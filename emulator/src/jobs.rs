//! Compiling translation units: each once, kept under the hash of everything in it, several at the same time.

use crate::compiler::{Compiler, Unit};
use crate::options::EmulatorOptions;
use crate::sources;
use crate::store::{Key, Store, failed, temporary_in};
use monograph_ir::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use tempfile::TempDir;

/// One thing to compile.
pub(crate) struct Job {
    /// What it is, for messages.
    pub(crate) what: String,
    pub(crate) unit: Unit,
    /// The file's name.
    pub(crate) file: String,
    pub(crate) text: String,
    /// The folder to compile it in, if that matters: where a debugger looks for the text that it was made of.
    pub(crate) folder: Option<PathBuf>,
}

/// Where jobs are done.
pub(crate) struct Workshop<'a> {
    compiler: &'a Compiler,
    store: &'a Store,
    options: EmulatorOptions,
    /// The hash of the runtime's files, any of which a unit may include.
    runtime: String,
    /// A folder with these files, made when something is compiled.
    folder: Mutex<Option<TempDir>>,
}

impl<'a> Workshop<'a> {
    pub(crate) fn new(compiler: &'a Compiler, store: &'a Store, options: EmulatorOptions) -> Workshop<'a> {
        let mut runtime = Key::new("runtime");
        for (name, text) in sources::FILES {
            runtime.add(name).add(text);
        }
        Workshop { compiler, store, options, runtime: runtime.name("h"), folder: Mutex::new(None) }
    }

    /// The objects of these jobs, in their order: from the store, or compiled on all cores.
    pub(crate) fn compile(&self, jobs: &[Job]) -> Result<Vec<PathBuf>, Error> {
        let next = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<Result<PathBuf, Error>>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
        let work = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = jobs.get(number) else { break };
                *results[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(self.object(job));
            }
        };
        let threads = thread::available_parallelism().map_or(1, |n| n.get()).min(jobs.len());
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
        let results = results.into_iter().map(|r| r.into_inner().unwrap_or_else(PoisonError::into_inner));
        results.map(|r| r.unwrap_or_else(|| Err(Error::Internal("a unit was never compiled".into())))).collect()
    }

    /// The object of one job.
    fn object(&self, job: &Job) -> Result<PathBuf, Error> {
        let options = self.compiler.options(job.unit, &self.options)?;
        let mut key = Key::new("object");
        key.add(self.compiler.identity()).add(&job.file).add(&job.text);
        for option in &options {
            key.add(option);
        }
        if job.unit != Unit::Assembly {
            key.add(&self.runtime);
        }
        if let Some(folder) = &job.folder {
            key.add(folder.to_string_lossy().as_bytes());
        }
        self.store.file(&key.name("o"), |object| {
            tracing::debug!(what = job.what, checked = self.options.checked, "compiling for the emulator");
            let headers = self.headers()?;
            if matches!(job.unit, Unit::Runtime | Unit::Types) {
                return self.compiler.compile(&job.what, &options, [&headers; 2], Path::new(&job.file), object);
            }
            // Units of one name are compiled at the same time, so each lies beside its own object.
            let file = object.with_file_name(&job.file);
            fs::write(&file, &job.text).map_err(|e| failed(&file, &e))?;
            let folder = job.folder.as_deref().unwrap_or(&headers);
            self.compiler.compile(&job.what, &options, [folder, &headers], &file, object)
        })
    }

    fn headers(&self) -> Result<PathBuf, Error> {
        let mut folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = &*folder {
            return Ok(folder.path().into());
        }
        let made = temporary_in(&std::env::temp_dir())?;
        for (name, text) in sources::FILES {
            let file = made.path().join(name);
            fs::write(&file, text).map_err(|e| failed(&file, &e))?;
        }
        let path = made.path().into();
        *folder = Some(made);
        Ok(path)
    }
}
