//! Finds the CUDA driver, and checks that it has every call this crate makes.
//!
//! `cudarc` loads each symbol at its first use and panics where it is missing, so everything is probed here first:
//! no other file of this module runs before [`load`] has succeeded (a [`Context`](super::Context) needs it).

use std::ffi::c_int;
use std::fmt;
use std::sync::OnceLock;

use cudarc::driver::sys;

use super::error::{DriverError, check};

/// The newest CUDA version that a driver supports, such as 13.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DriverVersion {
    /// The part before the dot.
    pub major: u32,
    /// The part after it.
    pub minor: u32,
}

impl DriverVersion {
    /// The oldest driver that has every call of [`REQUIRED_SYMBOLS`] (`cuEventElapsedTime_v2` is the newest of them).
    pub(super) const REQUIRED: DriverVersion = DriverVersion { major: 12, minor: 8 };

    /// Takes the driver's number apart: 13000 is 13.0, 12080 is 12.8.
    fn from_number(number: c_int) -> DriverVersion {
        let number = u32::try_from(number).unwrap_or(0);
        DriverVersion { major: number / 1000, minor: number % 1000 / 10 }
    }
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Every driver function that this crate calls. A test compares the list with the sources.
pub(super) const REQUIRED_SYMBOLS: &[&str] = &[
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuCtxSynchronize",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDeviceGraphMemTrim",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceTotalMem_v2",
    "cuDriverGetVersion",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventElapsedTime_v2",
    "cuEventQuery",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuFuncGetAttribute",
    "cuFuncGetName",
    "cuFuncGetParamInfo",
    "cuFuncSetAttribute",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuGraphAddDependencies_v2",
    "cuGraphAddEmptyNode",
    "cuGraphAddEventRecordNode",
    "cuGraphAddKernelNode_v2",
    "cuGraphAddMemcpyNode",
    "cuGraphCreate",
    "cuGraphDebugDotPrint",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuGraphExecKernelNodeSetParams_v2",
    "cuGraphExecMemcpyNodeSetParams",
    "cuGraphGetEdges_v2",
    "cuGraphGetNodes",
    "cuGraphInstantiateWithParams",
    "cuGraphKernelNodeGetParams_v2",
    "cuGraphLaunch",
    "cuGraphMemcpyNodeGetParams",
    "cuGraphNodeGetType",
    "cuGraphUpload",
    "cuInit",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemGetInfo_v2",
    "cuMemHostAlloc",
    "cuMemHostGetDevicePointer_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemsetD8Async",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamQuery",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
];

/// The loaded library is the process's, like any shared library: loaded once, checked once, never unloaded.
static LOADED: OnceLock<DriverVersion> = OnceLock::new();

/// Whether the library was found complete in this process.
pub(super) fn is_loaded() -> bool {
    LOADED.get().is_some()
}

/// Loads, checks and initializes the driver. A failure is tried anew each time.
pub(super) fn load() -> Result<DriverVersion, DriverError> {
    let version = match LOADED.get() {
        Some(version) => *version,
        None => {
            let version = probe()?;
            *LOADED.get_or_init(|| version)
        }
    };
    // SAFETY: `cuInit` was found by `probe`; it takes no pointer, and may be called repeatedly from any thread.
    check("cuInit", unsafe { sys::cuInit(0) })?;
    Ok(version)
}

/// Checks that the library is present and has every call.
fn probe() -> Result<DriverVersion, DriverError> {
    // SAFETY: the probe opens and closes shared libraries by the driver's names. Their initializers are the NVIDIA
    // driver's own, which may run on any thread.
    if !unsafe { sys::is_culib_present() } {
        let tried = cudarc::get_lib_name_candidates("cuda").into_iter().filter(|n| !n.contains("64")).collect();
        return Err(DriverError::LibraryMissing { tried });
    }
    let found = version()?;
    match REQUIRED_SYMBOLS.iter().find(|s| !has_symbol(s)) {
        Some(symbol) => Err(DriverError::SymbolMissing { symbol, found, required: DriverVersion::REQUIRED }),
        None => Ok(found),
    }
}

/// The version, from a library that may lack everything.
fn version() -> Result<DriverVersion, DriverError> {
    let zero = DriverVersion { major: 0, minor: 0 };
    if !has_symbol("cuDriverGetVersion") {
        let (symbol, required) = ("cuDriverGetVersion", DriverVersion::REQUIRED);
        return Err(DriverError::SymbolMissing { symbol, found: zero, required });
    }
    let mut number = 0;
    // SAFETY: the symbol was found, and `number` outlives the call. The call needs no initialization.
    let result = unsafe { sys::cuDriverGetVersion(&mut number) };
    Ok(if result == sys::CUresult::CUDA_SUCCESS { DriverVersion::from_number(number) } else { zero })
}

/// Whether the library, which must be present, exports this symbol.
fn has_symbol(name: &str) -> bool {
    // SAFETY: presence was probed, so `culib` does not panic. The symbol is only looked up, never called through this
    // type, and the library stays loaded for the life of the process.
    unsafe { sys::culib().get::<unsafe extern "C" fn()>(name.as_bytes()).is_ok() }
}

/// The newest CUDA version that the installed driver supports.
///
/// # Errors
/// No driver library, one too old, or one that cannot start (no device, for example).
pub fn driver_version() -> Result<DriverVersion, DriverError> {
    load()
}

/// The number of CUDA devices that the driver shows this process.
///
/// # Errors
/// Those of [`driver_version`].
pub fn device_count() -> Result<u32, DriverError> {
    load()?;
    let mut count = 0;
    // SAFETY: the driver is initialized and `count` outlives the call.
    check("cuDeviceGetCount", unsafe { sys::cuDeviceGetCount(&mut count) })?;
    Ok(u32::try_from(count).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The `sys::cu…` names used in a source text.
    fn used(source: &str) -> impl Iterator<Item = &str> {
        source.split("sys::cu").skip(1).filter_map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
            (rest.starts_with(|c: char| c.is_ascii_uppercase()) || rest.starts_with("Init")).then_some(&rest[..end])
        })
    }

    #[test]
    fn the_list_of_symbols_is_what_the_sources_call() {
        let sources = [
            include_str!("context.rs"),
            include_str!("error.rs"),
            include_str!("event.rs"),
            include_str!("graph/mod.rs"),
            include_str!("graph/exec.rs"),
            include_str!("graph/readback.rs"),
            include_str!("library.rs").split("#[cfg(test)]").next().unwrap(),
            include_str!("memory.rs"),
            include_str!("module.rs"),
            include_str!("stream.rs"),
        ];
        let called: BTreeSet<String> = sources.iter().flat_map(|s| used(s)).map(|n| format!("cu{n}")).collect();
        let listed: BTreeSet<String> = REQUIRED_SYMBOLS.iter().map(|s| s.to_string()).collect();
        assert_eq!(called, listed);
        assert_eq!(listed.len(), REQUIRED_SYMBOLS.len(), "no symbol is listed twice");
    }

    #[test]
    fn the_drivers_number_is_taken_apart() {
        assert_eq!(DriverVersion::from_number(13000), DriverVersion { major: 13, minor: 0 });
        assert_eq!(DriverVersion::from_number(12080), DriverVersion { major: 12, minor: 8 });
        assert!(DriverVersion::from_number(12060) < DriverVersion::REQUIRED);
    }

    #[test]
    fn probing_never_panics_and_a_missing_library_is_a_typed_error() {
        // SAFETY: as in `load`.
        let present = unsafe { sys::is_culib_present() };
        match driver_version() {
            Ok(version) => assert!(present && version >= DriverVersion::REQUIRED, "{version}"),
            Err(DriverError::LibraryMissing { tried }) => {
                assert!(!present);
                assert!(tried.iter().any(|n| n == "libcuda.so.1"), "{tried:?}");
                let text = DriverError::LibraryMissing { tried }.to_string();
                assert!(text.contains("install the driver"), "{text}");
                assert!(matches!(device_count(), Err(DriverError::LibraryMissing { .. })));
            }
            Err(other) => assert!(present, "{other}"),
        }
    }
}
