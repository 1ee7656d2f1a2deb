//! What a driver call can answer besides success.

use std::ffi::CStr;

use cudarc::driver::sys::{self, CUresult};

use super::library::DriverVersion;

/// Why the CUDA driver could not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DriverError {
    /// No `libcuda` on this machine.
    #[error(
        "the CUDA driver library was not found (looked for {}). It comes with the NVIDIA driver: install the driver, \
         or inside a container start it with GPU access (`--gpus all`); or use the host device", tried.join(", ")
    )]
    LibraryMissing {
        /// The file names asked of the dynamic loader, in order.
        tried: Vec<String>,
    },

    /// The installed driver is older than the calls this crate makes.
    #[error(
        "the installed CUDA driver supports CUDA {found} and lacks `{symbol}`; CUDA {required} or newer is needed: \
         update the NVIDIA driver"
    )]
    SymbolMissing {
        /// The first call that the driver does not have.
        symbol: &'static str,
        /// What the installed driver supports.
        found: DriverVersion,
        /// The oldest driver that has every call.
        required: DriverVersion,
    },

    /// There is no device of this number.
    #[error("there is no CUDA device {ordinal}: the driver reports {count}")]
    NoSuchDevice {
        /// The device asked for.
        ordinal: u32,
        /// How many devices the driver reports.
        count: u32,
    },

    /// A driver call failed.
    #[error("{call} failed with {name} ({code}): {detail}")]
    Call {
        /// The driver function.
        call: &'static str,
        /// The driver's numeric code.
        code: i32,
        /// The driver's name of the code, `CUDA_ERROR_OUT_OF_MEMORY` say.
        name: String,
        /// The driver's description of the code.
        detail: String,
    },

    /// A copy or view reaches past the end of an allocation. Nothing was enqueued.
    #[error("{what}: bytes {offset}..{} do not fit into an allocation of {size} bytes", offset.saturating_add(*length))]
    OutOfBounds {
        /// The operation.
        what: &'static str,
        /// First byte.
        offset: usize,
        /// Number of bytes.
        length: usize,
        /// Size of the allocation in bytes.
        size: usize,
    },

    /// A kernel was given other arguments than it declares. Nothing was changed.
    #[error("kernel `{kernel}` takes parameters of {expected:?} bytes, but was given arguments of {given:?} bytes")]
    Arguments {
        /// The kernel's symbol.
        kernel: String,
        /// The size in bytes of every declared parameter.
        expected: Vec<usize>,
        /// The size in bytes of every given argument.
        given: Vec<usize>,
    },

    /// A graph operation named a node of another kind, or none of this graph.
    #[error("{what}: node {node} is not {wanted}")]
    WrongNode {
        /// The operation.
        what: &'static str,
        /// The node's number.
        node: u32,
        /// What the operation needs.
        wanted: &'static str,
    },

    /// Objects of two devices met in one call.
    #[error("{what} belongs to CUDA device {found}, but is used on CUDA device {wanted}")]
    WrongDevice {
        /// The object.
        what: &'static str,
        /// The device it lives on.
        found: u32,
        /// The device it was used on.
        wanted: u32,
    },

    /// A name with a NUL byte cannot be given to the driver.
    #[error("{what} contains a NUL byte: {text:?}")]
    Nul {
        /// What the name is for.
        what: &'static str,
        /// The name.
        text: String,
    },
}

impl DriverError {
    /// The error of a failed call, with the driver's own words.
    pub(super) fn from_result(call: &'static str, result: CUresult) -> DriverError {
        let text = |get: unsafe fn(CUresult, *mut *const std::ffi::c_char) -> CUresult| {
            let mut text = std::ptr::null();
            // SAFETY: `text` outlives the call; on success the driver stores a pointer to one of its own static
            // strings, which lives as long as the library, on any thread.
            unsafe {
                match get(result, &mut text) {
                    CUresult::CUDA_SUCCESS if !text.is_null() => Some(CStr::from_ptr(text).to_string_lossy()),
                    _ => None,
                }
            }
        };
        // Without the library (only a fault injected by a test gets here so) the look-ups would panic.
        let (name, detail) = if super::library::is_loaded() {
            (text(sys::cuGetErrorName), text(sys::cuGetErrorString))
        } else {
            (None, None)
        };
        DriverError::Call {
            call,
            code: result as i32,
            name: name.map_or_else(|| format!("{result:?}"), |n| n.into_owned()),
            detail: detail.map_or_else(|| "the driver gives no description".to_owned(), |d| d.into_owned()),
        }
    }

    /// The driver's numeric code, if a call failed.
    pub fn code(&self) -> Option<i32> {
        match self {
            DriverError::Call { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// Whether memory ran out: freeing some and trying again may help.
    pub fn is_out_of_memory(&self) -> bool {
        self.code() == Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY as i32)
    }

    /// Whether the context is beyond repair: every later call on this device fails too, until the process ends.
    pub fn is_device_lost(&self) -> bool {
        use CUresult as R;
        const STICKY: [CUresult; 13] = [
            R::CUDA_ERROR_ECC_UNCORRECTABLE,
            R::CUDA_ERROR_NVLINK_UNCORRECTABLE,
            R::CUDA_ERROR_CONTAINED,
            R::CUDA_ERROR_ILLEGAL_ADDRESS,
            R::CUDA_ERROR_LAUNCH_TIMEOUT,
            R::CUDA_ERROR_ASSERT,
            R::CUDA_ERROR_HARDWARE_STACK_ERROR,
            R::CUDA_ERROR_ILLEGAL_INSTRUCTION,
            R::CUDA_ERROR_MISALIGNED_ADDRESS,
            R::CUDA_ERROR_INVALID_ADDRESS_SPACE,
            R::CUDA_ERROR_INVALID_PC,
            R::CUDA_ERROR_LAUNCH_FAILED,
            R::CUDA_ERROR_EXTERNAL_DEVICE,
        ];
        self.code().is_some_and(|code| STICKY.iter().any(|r| *r as i32 == code))
    }
}

/// Turns the driver's answer into a `Result`.
#[inline]
pub(super) fn check(call: &'static str, result: CUresult) -> Result<(), DriverError> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        failed => Err(DriverError::from_result(call, failed)),
    }
}

/// Checks that `length` bytes from `offset` lie inside `size` bytes.
pub(super) fn check_range(what: &'static str, offset: usize, length: usize, size: usize) -> Result<(), DriverError> {
    match offset.checked_add(length) {
        Some(end) if end <= size => Ok(()),
        _ => Err(DriverError::OutOfBounds { what, offset, length, size }),
    }
}

/// Logs a failed destruction: a destructor has nobody to return it to.
pub(super) fn log_drop(result: Result<(), DriverError>) {
    if let Err(error) = result {
        tracing::error!(%error, "could not release a CUDA object");
    }
}
