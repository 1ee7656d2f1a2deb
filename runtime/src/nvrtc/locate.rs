//! Finds the NVRTC library.

use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

use super::error::NvrtcError;
use crate::driver::nvrtc::{self as calls, Api};

/// The library's names, the preferred first. The first has no version: a toolkit's link for developers.
const LOADER_NAMES: [&str; 3] = ["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"];

/// The versions that are looked for in folders.
const FILE_NAMES: [&str; 2] = ["libnvrtc.so.13", "libnvrtc.so.12"];

/// Where to look. [`SearchPaths::from_env`] describes this process; tests describe a made-up machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchPaths {
    /// The library itself, from `MONOGRAPH_NVRTC`. Nothing else is tried if it is set.
    pub explicit: Option<PathBuf>,
    /// Whether to ask the dynamic loader (`LD_LIBRARY_PATH`, `ld.so.conf`).
    pub loader: bool,
    /// Toolkits, with the name of the variable that gave them: `CUDA_HOME`, `CUDA_PATH`.
    pub toolkits: Vec<(String, PathBuf)>,
    /// Python environments, with the name of the variable that gave them: `VIRTUAL_ENV`, `CONDA_PREFIX`.
    pub pythons: Vec<(String, PathBuf)>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The folders of `PATH`, searched for `python3`.
    pub path: Vec<PathBuf>,
    /// The root of the file system.
    pub root: PathBuf,
}

impl SearchPaths {
    /// What this process's environment says.
    pub fn from_env() -> SearchPaths {
        let folder = |name: &str| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let named = |names: &[&str]| -> Vec<(String, PathBuf)> {
            names.iter().filter_map(|n| Some((n.to_string(), folder(n)?))).collect()
        };
        SearchPaths {
            explicit: folder("MONOGRAPH_NVRTC"),
            loader: true,
            toolkits: named(&["CUDA_HOME", "CUDA_PATH"]),
            pythons: named(&["VIRTUAL_ENV", "CONDA_PREFIX"]),
            home: dirs::home_dir(),
            path: env::var_os("PATH").map(|p| env::split_paths(&p).collect()).unwrap_or_default(),
            root: PathBuf::from("/"),
        }
    }

    /// Every library found, in the order in which they are tried.
    pub fn candidates(&self) -> Vec<Candidate> {
        if let Some(file) = &self.explicit {
            return vec![Candidate { file: file.clone(), origin: "MONOGRAPH_NVRTC".into() }];
        }
        let mut found = Found::default();
        if self.loader {
            for name in LOADER_NAMES {
                found.candidates.push(Candidate { file: name.into(), origin: "the dynamic loader's path".into() });
            }
        }
        for (variable, toolkit) in &self.toolkits {
            found.toolkit(variable, toolkit);
        }
        for toolkit in expand(&self.root, "usr/local/cuda*") {
            found.toolkit("CUDA toolkit", &toolkit);
        }
        for (variable, python) in &self.pythons {
            found.wheels(variable, python, "lib/python3*/site-packages");
        }
        for python in self.path.iter().flat_map(|p| [p.join("python3"), p.join("python")]) {
            // A virtual environment's `python3` links to that of the installation: look beside both.
            for executable in [Some(python.clone()), fs::canonicalize(&python).ok()].into_iter().flatten() {
                if let Some(prefix) = executable.parent().and_then(Path::parent).filter(|_| executable.is_file()) {
                    found.wheels("python3 on PATH", prefix, "lib/python3*/site-packages");
                }
            }
        }
        if let Some(home) = &self.home {
            found.wheels("the user's Python packages", home, ".local/lib/python3*/site-packages");
            found.wheels("pyenv", home, ".pyenv/versions/*/lib/python3*/site-packages");
        }
        for pattern in [
            "usr/lib/python3/dist-packages",
            "usr/local/lib/python3*/site-packages",
            "usr/local/lib/python3*/dist-packages",
        ] {
            found.wheels("the system's Python packages", &self.root, pattern);
        }
        found.wheels("a Python environment in /opt", &self.root, "opt/*/.venv/lib/python3*/site-packages");
        found.candidates
    }
}

/// A library to try, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its full path, or a bare name for the dynamic loader.
    pub file: PathBuf,
    /// Why it was looked for there.
    pub origin: String,
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (from {})", self.file.display(), self.origin)
    }
}

/// The candidates so far, each file once.
#[derive(Default)]
struct Found {
    candidates: Vec<Candidate>,
}

impl Found {
    fn toolkit(&mut self, origin: &str, toolkit: &Path) {
        for folder in ["lib64", "lib", "targets/x86_64-linux/lib"] {
            self.folder(origin, &toolkit.join(folder));
        }
    }

    /// The folders of NVIDIA's wheels under site-packages: `nvidia/cuda_nvrtc/lib`, `nvidia/cu13/lib`.
    fn wheels(&mut self, origin: &str, prefix: &Path, site_packages: &str) {
        for folder in expand(prefix, &format!("{site_packages}/nvidia/*/lib")) {
            self.folder(origin, &folder);
        }
    }

    fn folder(&mut self, origin: &str, folder: &Path) {
        for name in FILE_NAMES {
            let file = folder.join(name);
            if file.is_file() && !self.candidates.iter().any(|c| same_file(&c.file, &file)) {
                self.candidates.push(Candidate { file, origin: origin.to_owned() });
            }
        }
    }
}

/// Whether two existing paths lead to one file.
fn same_file(a: &Path, b: &Path) -> bool {
    a == b || fs::canonicalize(a).ok().is_some_and(|a| fs::canonicalize(b).ok() == Some(a))
}

/// The existing paths under `base` that match a pattern, in which `*` stands for any text inside one component.
/// Sorted from the greatest name to the least, so that newer versions tend to come first.
fn expand(base: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut paths = vec![base.to_owned()];
    for component in pattern.split('/') {
        let Some((before, after)) = component.split_once('*') else {
            paths = paths.into_iter().map(|p| p.join(component)).filter(|p| p.exists()).collect();
            continue;
        };
        let matches =
            |name: &str| name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after);
        paths = paths
            .iter()
            .flat_map(|folder| {
                let names = fs::read_dir(folder).into_iter().flatten().flatten();
                let mut names: Vec<_> = names.filter_map(|e| e.file_name().into_string().ok()).collect();
                names.retain(|name| matches(name));
                names.sort_by(|a, b| b.cmp(a));
                names.into_iter().map(|name| folder.join(name))
            })
            .collect();
    }
    paths
}

/// A loaded NVRTC. Safe to use on several threads at a time.
#[derive(Debug, Clone)]
pub struct Nvrtc {
    pub(super) api: Api,
    file: PathBuf,
    origin: String,
    version: (u32, u32),
    archs: Vec<u32>,
}

impl Nvrtc {
    /// The process's NVRTC, looked for at the first call. It stays loaded for the life of the process, like any
    /// library; a failure is tried anew each time.
    ///
    /// # Errors
    /// [`NvrtcError::Missing`] with all that was tried, or [`NvrtcError::Explicit`].
    pub fn find() -> Result<&'static Nvrtc, NvrtcError> {
        static FOUND: OnceLock<Nvrtc> = OnceLock::new();
        if let Some(found) = FOUND.get() {
            return Ok(found);
        }
        let nvrtc = Nvrtc::open_first(&SearchPaths::from_env())?;
        Ok(FOUND.get_or_init(|| nvrtc))
    }

    /// Opens the first candidate that can be used.
    fn open_first(paths: &SearchPaths) -> Result<Nvrtc, NvrtcError> {
        let mut tried = Vec::new();
        for candidate in paths.candidates() {
            match Nvrtc::open(&candidate, paths.explicit.is_some()) {
                Ok(nvrtc) => return Ok(nvrtc),
                Err(reason) if paths.explicit.is_some() => {
                    return Err(NvrtcError::Explicit { file: candidate.file, reason });
                }
                Err(reason) => tried.push((candidate, reason)),
            }
        }
        Err(NvrtcError::Missing { tried })
    }

    fn open(candidate: &Candidate, must_be_this_one: bool) -> Result<Nvrtc, String> {
        open_companions(&candidate.file);
        calls::open(&candidate.file)?;
        let api = calls::api()?;
        let file = api.file().unwrap_or_else(|| candidate.file.clone());
        // A library of another file name on the loader's path is found before the one just opened.
        let shadowed = candidate.file.is_absolute() && !same_file(&candidate.file, &file);
        if shadowed && must_be_this_one {
            return Err(format!("{} on the dynamic loader's path takes precedence over it", file.display()));
        }
        let origin = if shadowed { "the dynamic loader's path".to_owned() } else { candidate.origin.clone() };
        let version = api.version().map_err(|e| e.to_string())?;
        let archs = api.supported_archs().map_err(|e| e.to_string())?;
        tracing::debug!(file = %file.display(), %origin, ?version, "loaded NVRTC");
        Ok(Nvrtc { api, file, origin, version, archs })
    }

    /// The file that was loaded.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Why the file was looked for where it was found.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Major and minor version.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// The architectures it compiles for, 80 for `sm_80`.
    pub fn supported_archs(&self) -> &[u32] {
        &self.archs
    }

    /// What tells this build from another of the same version: the size and time of its file.
    pub(super) fn build(&self) -> (u64, u64) {
        let Ok(metadata) = fs::metadata(&self.file) else { return (0, 0) };
        let modified = metadata.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
        (metadata.len(), modified.map_or(0, |t| t.as_nanos() as u64))
    }
}

/// Opens `libnvrtc-builtins.so*` beside a library: NVRTC asks the loader for it by name only when it compiles, and
/// does not look beside itself.
fn open_companions(file: &Path) {
    let Some(folder) = file.parent().filter(|f| f.is_absolute()) else { return };
    for companion in expand(folder, "libnvrtc-builtins.so*") {
        if let Err(reason) = calls::open(&companion) {
            tracing::debug!(file = %companion.display(), %reason, "could not open a part of NVRTC");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes empty files under a new folder.
    fn machine(files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        root
    }

    /// The candidates as `origin: path below the root`.
    fn found(paths: &SearchPaths) -> Vec<String> {
        let relative = |c: &Candidate| {
            let file = c.file.strip_prefix(&paths.root).unwrap_or(&c.file);
            format!("{}: {}", c.origin, file.display())
        };
        paths.candidates().iter().map(relative).collect()
    }

    #[test]
    fn every_usual_place_is_searched_in_order() {
        let root = machine(&[
            "mine/cuda/lib64/libnvrtc.so.12",
            "mine/cuda/targets/x86_64-linux/lib/libnvrtc.so.13",
            "usr/local/cuda-12.6/lib64/libnvrtc.so.12",
            "usr/local/cuda-13.0/lib64/libnvrtc.so.13",
            "mine/venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
            "py/bin/python3",
            "py/lib/python3.10/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
            "py/lib/python3.10/site-packages/nvidia/cu13/lib/libnvrtc.alt.so.13",
            "home/.local/lib/python3.9/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
            "home/.pyenv/versions/3.11.7/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
            "usr/lib/python3/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
            "usr/local/lib/python3.12/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
            "opt/app/.venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
        ]);
        let at = |p: &str| root.path().join(p);
        let paths = SearchPaths {
            explicit: None,
            loader: true,
            toolkits: vec![("CUDA_HOME".into(), at("mine/cuda"))],
            pythons: vec![("VIRTUAL_ENV".into(), at("mine/venv"))],
            home: Some(at("home")),
            path: vec![at("py/bin")],
            root: root.path().into(),
        };
        let expected = [
            "the dynamic loader's path: libnvrtc.so",
            "the dynamic loader's path: libnvrtc.so.13",
            "the dynamic loader's path: libnvrtc.so.12",
            "CUDA_HOME: mine/cuda/lib64/libnvrtc.so.12",
            "CUDA_HOME: mine/cuda/targets/x86_64-linux/lib/libnvrtc.so.13",
            "CUDA toolkit: usr/local/cuda-13.0/lib64/libnvrtc.so.13",
            "CUDA toolkit: usr/local/cuda-12.6/lib64/libnvrtc.so.12",
            "VIRTUAL_ENV: mine/venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
            "python3 on PATH: py/lib/python3.10/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
            "the user's Python packages: home/.local/lib/python3.9/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
            "pyenv: home/.pyenv/versions/3.11.7/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
            "the system's Python packages: usr/lib/python3/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
            "the system's Python packages: usr/local/lib/python3.12/dist-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
            "a Python environment in /opt: opt/app/.venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
        ];
        assert_eq!(found(&paths), expected);
    }

    #[test]
    fn a_linked_python_leads_to_its_installation_and_a_linked_toolkit_counts_once() {
        let root = machine(&[
            "real/bin/python3.11",
            "real/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
            "usr/local/cuda-13.0/lib64/libnvrtc.so.13",
        ]);
        let at = |p: &str| root.path().join(p);
        fs::create_dir_all(at("bin")).unwrap();
        std::os::unix::fs::symlink(at("real/bin/python3.11"), at("bin/python3")).unwrap();
        std::os::unix::fs::symlink(at("usr/local/cuda-13.0"), at("usr/local/cuda")).unwrap();
        let paths = SearchPaths { path: vec![at("bin")], root: root.path().into(), ..SearchPaths::default() };
        let expected = [
            "CUDA toolkit: usr/local/cuda-13.0/lib64/libnvrtc.so.13",
            "python3 on PATH: real/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
        ];
        assert_eq!(found(&paths), expected);
    }

    #[test]
    fn an_explicit_library_that_cannot_be_used_is_an_error_and_nothing_else_is_tried() {
        let root = machine(&["libnvrtc.so.13"]);
        let file = root.path().join("libnvrtc.so.13");
        let paths = SearchPaths { explicit: Some(file.clone()), loader: true, ..SearchPaths::default() };
        match Nvrtc::open_first(&paths) {
            Err(NvrtcError::Explicit { file: named, reason }) => {
                assert_eq!(named, file);
                assert!(!reason.is_empty());
            }
            other => panic!("an empty file is no library: {other:?}"),
        }
    }

    #[test]
    fn where_nothing_is_found_the_error_says_what_was_tried_and_how_to_get_it() {
        let root = machine(&["usr/local/cuda/lib64/libnvrtc.so.13"]);
        let paths = SearchPaths { root: root.path().into(), ..SearchPaths::default() };
        let Err(NvrtcError::Missing { tried }) = Nvrtc::open_first(&paths) else { panic!("an empty file was opened") };
        assert_eq!(tried.len(), 1);
        let text = NvrtcError::Missing { tried }.to_string();
        assert!(text.contains("pip install nvidia-cuda-nvrtc") && text.contains("MONOGRAPH_NVRTC"), "{text}");
        assert!(text.contains("usr/local/cuda/lib64/libnvrtc.so.13 (from CUDA toolkit): "), "{text}");
    }
}
