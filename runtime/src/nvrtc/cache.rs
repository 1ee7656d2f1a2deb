//! Keeps compiled programs on disk.
//!
//! An entry is one file: magic, checksum of what follows, key, header (JSON with its length in front), image. An entry
//! that is cut short, damaged or another's is ignored and written anew. Entries are written to a temporary file and
//! renamed, so that processes can share a folder.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::compile::{CompileRequest, Compiled, ImageKind};
use super::locate::Nvrtc;
use super::report::KernelResources;

/// The start of every entry; its last byte counts the versions of the format.
const MAGIC: [u8; 8] = *b"MONOGRC\x01";

/// Names a compiled program by everything that it depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CacheKey([u8; 32]);

impl CacheKey {
    /// The key of a request compiled by this NVRTC.
    pub fn new(nvrtc: &Nvrtc, request: &CompileRequest<'_>) -> CacheKey {
        CacheKey::from_parts(nvrtc.version(), nvrtc.build(), request)
    }

    fn from_parts(version: (u32, u32), build: (u64, u64), request: &CompileRequest<'_>) -> CacheKey {
        // Taken apart, so that a new field of the request cannot be forgotten here.
        let CompileRequest { name, source, arch, options, ptx_fallback } = request;
        let mut hasher = blake3::Hasher::new();
        hasher.update(&MAGIC);
        for number in [version.0.into(), version.1.into(), build.0, build.1, (*ptx_fallback).into()] {
            hasher.update(&u64::to_le_bytes(number));
        }
        let texts = [*name, *source, *arch].into_iter().chain(options.iter().map(String::as_str));
        for text in texts {
            // The length keeps apart what would be equal end to end.
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        CacheKey(*hasher.finalize().as_bytes())
    }

    fn file_name(&self) -> String {
        format!("{}.cubin", blake3::Hash::from(self.0).to_hex())
    }
}

/// A folder of compiled programs, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    folder: Option<PathBuf>,
}

/// What an entry says besides the image.
#[derive(serde::Serialize, serde::Deserialize)]
struct Header {
    kind: ImageKind,
    log: String,
    kernels: BTreeMap<String, KernelResources>,
}

impl Cache {
    /// The user's cache: the folder `MONOGRAPH_CACHE_DIR`, else `monograph` in the system's folder for caches. None
    /// if `MONOGRAPH_CACHE` is `off`.
    pub fn from_env() -> Cache {
        let variable = |name| std::env::var_os(name);
        Cache::resolve(variable("MONOGRAPH_CACHE"), variable("MONOGRAPH_CACHE_DIR"), dirs::cache_dir())
    }

    fn resolve(switch: Option<OsString>, folder: Option<OsString>, default: Option<PathBuf>) -> Cache {
        if switch.is_some_and(|s| s == "off") {
            return Cache::disabled();
        }
        let folder = folder.filter(|f| !f.is_empty()).map(PathBuf::from);
        Cache { folder: folder.or_else(|| default.map(|d| d.join("monograph"))) }
    }

    /// A cache in this folder, which is made when the first entry is written.
    pub fn at(folder: impl Into<PathBuf>) -> Cache {
        Cache { folder: Some(folder.into()) }
    }

    /// A cache that keeps nothing.
    pub fn disabled() -> Cache {
        Cache { folder: None }
    }

    /// Where the entries are, if any are kept.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The program of this key, if there is a sound entry.
    pub fn get(&self, key: &CacheKey) -> Option<Compiled> {
        let file = self.folder.as_ref()?.join(key.file_name());
        let bytes = match fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::warn!(file = %file.display(), %error, "could not read a compiled program from the cache");
                return None;
            }
        };
        let entry = decode(&bytes, key);
        if entry.is_none() {
            tracing::warn!(file = %file.display(), "ignored a damaged entry of the cache");
        }
        entry
    }

    /// Keeps a program. A failure is logged: the next process compiles again.
    pub fn put(&self, key: &CacheKey, compiled: &Compiled) {
        let Some(folder) = &self.folder else { return };
        if let Err(error) = write(folder, key, compiled) {
            tracing::warn!(folder = %folder.display(), %error, "could not keep a compiled program in the cache");
        }
    }
}

fn write(folder: &Path, key: &CacheKey, compiled: &Compiled) -> io::Result<()> {
    // Private to the user: what is in there is run on their device.
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&encode(key, compiled)?)?;
    file.persist(folder.join(key.file_name()))?;
    Ok(())
}

fn encode(key: &CacheKey, compiled: &Compiled) -> io::Result<Vec<u8>> {
    let Compiled { kind, image, log, kernels } = compiled;
    let header = serde_json::to_vec(&Header { kind: *kind, log: log.clone(), kernels: kernels.clone() })?;
    let mut body = key.0.to_vec();
    body.extend((header.len() as u64).to_le_bytes());
    body.extend(header);
    body.extend(image);
    Ok([&MAGIC, blake3::hash(&body).as_bytes().as_slice(), &body].concat())
}

fn decode(bytes: &[u8], key: &CacheKey) -> Option<Compiled> {
    let rest = bytes.strip_prefix(&MAGIC)?;
    let (checksum, body) = rest.split_first_chunk::<32>()?;
    let (stored_key, rest) = body.split_first_chunk::<32>()?;
    if blake3::hash(body).as_bytes() != checksum || *stored_key != key.0 {
        return None;
    }
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let (header, image) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let Header { kind, log, kernels } = serde_json::from_slice(header).ok()?;
    Some(Compiled { kind, image: image.to_vec(), log, kernels })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn sample() -> Compiled {
        let resources = KernelResources { registers: 32, static_shared_bytes: 512, ..Default::default() };
        Compiled {
            kind: ImageKind::Cubin,
            image: (0..=255).cycle().take(1000).collect(),
            log: "a warning".into(),
            kernels: [("add".to_owned(), resources)].into(),
        }
    }

    fn request() -> CompileRequest<'static> {
        CompileRequest::new("a.cu", "int x;", "sm_80")
    }

    fn key() -> CacheKey {
        CacheKey::from_parts((13, 0), (1, 2), &request())
    }

    #[test]
    fn what_is_put_is_what_is_got() {
        let parent = tempfile::tempdir().unwrap();
        let cache = Cache::at(parent.path().join("deep/cache"));
        assert_eq!(cache.get(&key()), None);
        cache.put(&key(), &sample());
        assert_eq!(cache.get(&key()), Some(sample()));
        let folder = cache.folder().unwrap();
        assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn every_damage_is_noticed_and_repaired() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        cache.put(&key(), &sample());
        let file = folder.path().join(key().file_name());
        let sound = fs::read(&file).unwrap();
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 0x10;
            assert_eq!(decode(&damaged, &key()), None, "byte {at} was changed");
            assert_eq!(decode(&sound[..at], &key()), None, "only {at} bytes are left");
        }
        fs::write(&file, &sound[..sound.len() / 2]).unwrap();
        assert_eq!(cache.get(&key()), None);
        cache.put(&key(), &sample());
        assert_eq!(cache.get(&key()), Some(sample()));
    }

    #[test]
    fn an_entry_of_another_key_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        cache.put(&key(), &sample());
        let other = CacheKey::from_parts((13, 1), (1, 2), &request());
        fs::rename(folder.path().join(key().file_name()), folder.path().join(other.file_name())).unwrap();
        assert_eq!(cache.get(&other), None);
    }

    #[test]
    fn everything_that_matters_is_in_the_key() {
        let change = |f: fn(&mut CompileRequest<'static>)| {
            let mut request = request();
            f(&mut request);
            CacheKey::from_parts((13, 0), (1, 2), &request)
        };
        let others = [
            CacheKey::from_parts((12, 0), (1, 2), &request()),
            CacheKey::from_parts((13, 1), (1, 2), &request()),
            CacheKey::from_parts((13, 0), (9, 2), &request()),
            CacheKey::from_parts((13, 0), (1, 9), &request()),
            change(|r| r.name = "b.cu"),
            change(|r| r.source = "int y;"),
            change(|r| r.arch = "sm_90a"),
            change(|r| r.options.push("-G".into())),
            change(|r| r.options = vec!["--std=c++17--fmad=false".into()]),
            change(|r| r.ptx_fallback = true),
        ];
        for (i, other) in others.iter().enumerate() {
            assert_ne!(*other, key(), "change {i}");
            assert!(!others[..i].contains(other), "change {i}");
        }
        assert_eq!(key(), key());
    }

    #[test]
    fn the_environment_chooses_the_folder() {
        let default = || Some(PathBuf::from("/home/me/.cache"));
        assert_eq!(Cache::resolve(None, None, default()), Cache::at("/home/me/.cache/monograph"));
        assert_eq!(Cache::resolve(None, Some("/fast".into()), default()), Cache::at("/fast"));
        assert_eq!(Cache::resolve(Some("off".into()), Some("/fast".into()), default()), Cache::disabled());
        assert_eq!(Cache::resolve(None, None, None), Cache::disabled());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_no_error() {
        let parent = tempfile::tempdir().unwrap();
        let file = parent.path().join("file");
        fs::write(&file, "").unwrap();
        let cache = Cache::at(file.join("cache"));
        cache.put(&key(), &sample());
        assert_eq!(cache.get(&key()), None);
        Cache::disabled().put(&key(), &sample());
        assert_eq!(Cache::disabled().get(&key()), None);
    }

    #[test]
    fn a_cached_program_is_not_compiled_again() {
        let Some(nvrtc) = super::super::compile::tests::nvrtc() else { return };
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let request = CompileRequest::new("k.cu", "extern \"C\" __global__ void k(int* a) { a[0] = 1; }", "sm_80");
        let compiled = nvrtc.compile_cached(&request, &cache).unwrap();
        assert_eq!(cache.get(&CacheKey::new(nvrtc, &request)).as_ref(), Some(&compiled));
        // An entry that NVRTC could not have made shows that the second request is answered by the cache.
        let forged = Compiled { log: "from the cache".into(), ..compiled };
        cache.put(&CacheKey::new(nvrtc, &request), &forged);
        assert_eq!(nvrtc.compile_cached(&request, &cache).unwrap(), forged);
    }
}
