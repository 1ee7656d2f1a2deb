//! NVRTC's calls. Finding the library and the meaning of its answers are `crate::nvrtc`'s.
//!
//! `cudarc` finds NVRTC by name once per process. [`open`] makes that look-up succeed: a library that is already
//! loaded is found by its soname. Libraries are never unloaded.

use std::ffi::{CStr, CString, c_char, c_int};
use std::path::{Path, PathBuf};

use cudarc::nvrtc::sys::{self, nvrtcProgram, nvrtcResult};
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

/// Every NVRTC function that this file calls. A test compares the list with the source.
const REQUIRED_SYMBOLS: &[&str] = &[
    "nvrtcCompileProgram",
    "nvrtcCreateProgram",
    "nvrtcDestroyProgram",
    "nvrtcGetCUBIN",
    "nvrtcGetCUBINSize",
    "nvrtcGetErrorString",
    "nvrtcGetNumSupportedArchs",
    "nvrtcGetPTX",
    "nvrtcGetPTXSize",
    "nvrtcGetProgramLog",
    "nvrtcGetProgramLogSize",
    "nvrtcGetSupportedArchs",
    "nvrtcVersion",
];

/// A failed NVRTC call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{call} failed: {detail} ({code})")]
pub(crate) struct CallError {
    /// The NVRTC function.
    pub(crate) call: &'static str,
    /// NVRTC's numeric code.
    pub(crate) code: i32,
    /// NVRTC's description of the code.
    pub(crate) detail: String,
}

impl CallError {
    /// Whether the program itself is at fault: its log says why.
    pub(crate) fn is_compilation(&self) -> bool {
        self.code == nvrtcResult::NVRTC_ERROR_COMPILATION as i32
    }
}

/// Proof that NVRTC is loaded and has every call. Cheap to copy; NVRTC's calls are thread-safe.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Api(());

/// Opens a library by path or by name, for all libraries opened later, and keeps it open for the life of the process.
pub(crate) fn open(file: &Path) -> Result<(), String> {
    // SAFETY: runs the initializers of NVRTC or of its companion, which may run on any thread; the handle is leaked,
    // so that nothing refers to an unloaded library.
    match unsafe { Library::open(Some(file), RTLD_NOW | RTLD_GLOBAL) } {
        Ok(library) => {
            std::mem::forget(library);
            Ok(())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The NVRTC that the process now finds by name, if it has every call, else what is missing.
pub(crate) fn api() -> Result<Api, String> {
    // SAFETY: opens and closes libraries by NVRTC's names, as in `open`.
    if !unsafe { sys::is_culib_present() } {
        return Err("the loader does not find it by the names libnvrtc.so, libnvrtc.so.13 and libnvrtc.so.12".into());
    }
    match REQUIRED_SYMBOLS.iter().find(|s| address(s).is_none()) {
        None => Ok(Api(())),
        Some(symbol) => Err(format!("it lacks `{symbol}`: NVRTC 12 or newer is needed")),
    }
}

/// The address of a symbol of the library that `cudarc` calls, which must be present.
fn address(symbol: &str) -> Option<usize> {
    // SAFETY: presence was probed, so `culib` does not panic; the symbol is looked up, not called.
    let found = unsafe { sys::culib().get::<unsafe extern "C" fn()>(symbol.as_bytes()) };
    found.ok().map(|f| *f as usize)
}

impl Api {
    /// The file that the calls really go to, as the kernel lists it; `None` where there is no such list.
    pub(crate) fn file(self) -> Option<PathBuf> {
        let at = address("nvrtcVersion")?;
        let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
        maps.lines().find_map(|line| mapped_file(line, at))
    }

    /// Major and minor version.
    pub(crate) fn version(self) -> Result<(u32, u32), CallError> {
        let (mut major, mut minor): (c_int, c_int) = (0, 0);
        // SAFETY: `Api` proves that the library is loaded; both numbers outlive the call.
        self.check("nvrtcVersion", unsafe { sys::nvrtcVersion(&mut major, &mut minor) })?;
        Ok((u32::try_from(major).unwrap_or(0), u32::try_from(minor).unwrap_or(0)))
    }

    /// The architectures it compiles for, as numbers: 80 for `sm_80`.
    pub(crate) fn supported_archs(self) -> Result<Vec<u32>, CallError> {
        let mut count: c_int = 0;
        // SAFETY: as above.
        self.check("nvrtcGetNumSupportedArchs", unsafe { sys::nvrtcGetNumSupportedArchs(&mut count) })?;
        let mut archs: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: an array of as many entries as NVRTC said, which outlives the call.
        self.check("nvrtcGetSupportedArchs", unsafe { sys::nvrtcGetSupportedArchs(archs.as_mut_ptr()) })?;
        Ok(archs.into_iter().filter_map(|a| u32::try_from(a).ok()).collect())
    }

    /// Creates a program from source text. `name` is its file name in the log.
    pub(crate) fn program(self, source: &CStr, name: &CStr) -> Result<Program, CallError> {
        let mut raw = std::ptr::null_mut();
        let null = std::ptr::null();
        // SAFETY: both texts and `raw` outlive the call, in which NVRTC copies the texts; there are no headers. The
        // new `Program` owns the handle.
        let result = unsafe { sys::nvrtcCreateProgram(&mut raw, source.as_ptr(), name.as_ptr(), 0, null, null) };
        self.check("nvrtcCreateProgram", result)?;
        Ok(Program { raw, api: self })
    }

    fn check(self, call: &'static str, result: nvrtcResult) -> Result<(), CallError> {
        if result == nvrtcResult::NVRTC_SUCCESS {
            return Ok(());
        }
        // SAFETY: NVRTC returns one of its own static texts for every code.
        let detail = unsafe { CStr::from_ptr(sys::nvrtcGetErrorString(result)) }.to_string_lossy().into_owned();
        Err(CallError { call, code: result as i32, detail })
    }
}

/// The file of a line of `/proc/self/maps` (`start-end rights offset device inode   path`) that covers an address.
fn mapped_file(line: &str, at: usize) -> Option<PathBuf> {
    let (start, rest) = line.split_once('-')?;
    let (end, rest) = rest.split_once(' ')?;
    let range = usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?;
    let path = &rest[rest.find('/')?..];
    range.contains(&at).then(|| PathBuf::from(path))
}

/// A program of NVRTC. `Send`, not `Sync`: one thread at a time compiles it; others compile theirs meanwhile.
#[derive(Debug)]
pub(crate) struct Program {
    raw: nvrtcProgram,
    api: Api,
}

// SAFETY: the handle is owned by this value, which is not `Sync`; NVRTC lets any thread use it, one at a time.
unsafe impl Send for Program {}

impl Program {
    /// Compiles with these options.
    pub(crate) fn compile(&mut self, options: &[CString]) -> Result<(), CallError> {
        let pointers: Vec<*const c_char> = options.iter().map(|o| o.as_ptr()).collect();
        // SAFETY: an array of `pointers.len()` texts that outlive the call, in which NVRTC reads them.
        let result = unsafe { sys::nvrtcCompileProgram(self.raw, pointers.len() as c_int, pointers.as_ptr()) };
        self.api.check("nvrtcCompileProgram", result)
    }

    /// What the compiler said: warnings, errors, and the assembler's report where it was asked for.
    pub(crate) fn log(&self) -> Result<String, CallError> {
        // SAFETY: (for both calls) the handle is owned by `self`; `bytes` is what `read` allocates.
        let log = self.read(
            ("nvrtcGetProgramLogSize", |p, n| unsafe { sys::nvrtcGetProgramLogSize(p, n) }),
            ("nvrtcGetProgramLog", |p, b| unsafe { sys::nvrtcGetProgramLog(p, b) }),
        )?;
        Ok(String::from_utf8_lossy(&log).trim_end_matches('\0').to_owned())
    }

    /// The machine code, an ELF image.
    pub(crate) fn cubin(&self) -> Result<Vec<u8>, CallError> {
        // SAFETY: as in `log`.
        self.read(
            ("nvrtcGetCUBINSize", |p, n| unsafe { sys::nvrtcGetCUBINSize(p, n) }),
            ("nvrtcGetCUBIN", |p, b| unsafe { sys::nvrtcGetCUBIN(p, b) }),
        )
    }

    /// The PTX text, with its final NUL.
    pub(crate) fn ptx(&self) -> Result<Vec<u8>, CallError> {
        // SAFETY: as in `log`.
        self.read(
            ("nvrtcGetPTXSize", |p, n| unsafe { sys::nvrtcGetPTXSize(p, n) }),
            ("nvrtcGetPTX", |p, b| unsafe { sys::nvrtcGetPTX(p, b) }),
        )
    }

    /// Asks for a size, then for that many bytes.
    fn read(
        &self,
        size: (&'static str, fn(nvrtcProgram, *mut usize) -> nvrtcResult),
        bytes: (&'static str, fn(nvrtcProgram, *mut c_char) -> nvrtcResult),
    ) -> Result<Vec<u8>, CallError> {
        let mut length = 0;
        self.api.check(size.0, size.1(self.raw, &mut length))?;
        let mut out = vec![0_u8; length];
        if length > 0 {
            self.api.check(bytes.0, bytes.1(self.raw, out.as_mut_ptr().cast()))?;
        }
        Ok(out)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: owned here and used no more.
        let result = unsafe { sys::nvrtcDestroyProgram(&mut self.raw) };
        if let Err(error) = self.api.check("nvrtcDestroyProgram", result) {
            tracing::error!(%error, "could not release an NVRTC program");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_list_of_symbols_is_what_the_source_calls() {
        let source = include_str!("nvrtc.rs").split("#[cfg(test)]").next().unwrap();
        let called: BTreeSet<&str> = source
            .split("sys::nvrtc")
            .skip(1)
            .filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
            .map(|rest| &rest[..rest.find('(').unwrap()])
            .collect();
        let listed: BTreeSet<&str> = REQUIRED_SYMBOLS.iter().map(|s| s.strip_prefix("nvrtc").unwrap()).collect();
        assert_eq!(called, listed);
    }

    #[test]
    fn a_line_of_the_map_names_its_file() {
        let line = "7f10000-7f20000 r-xp 00000000 08:01 123   /usr/lib/a b/libnvrtc.so.13.0";
        assert_eq!(mapped_file(line, 0x7f1_0000), Some("/usr/lib/a b/libnvrtc.so.13.0".into()));
        assert_eq!(mapped_file(line, 0x7f2_0000), None);
        assert_eq!(mapped_file("7f10000-7f20000 rw-p 00000000 00:00 0", 0x7f1_0000), None);
    }
}
