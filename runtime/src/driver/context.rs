//! A device's primary context, shared by everything that lives on the device.

use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUcontext, CUdevice, CUdevice_attribute, CUresult};

use super::error::{DriverError, check, log_drop};
use super::fault::{Fault, FaultHook};
use super::library;

/// What a CUDA device is and how large it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The device's number among those the driver shows this process.
    pub ordinal: u32,
    /// The product's name.
    pub name: String,
    /// Compute capability: major and minor, (9, 0) for Hopper.
    pub compute_capability: (u32, u32),
    /// Number of streaming multiprocessors.
    pub sm_count: u32,
    /// Size of the L2 cache in bytes.
    pub l2_bytes: usize,
    /// The most shared memory one block can get (by opting in), in bytes.
    pub shared_per_block: usize,
    /// Shared memory of one multiprocessor, in bytes.
    pub shared_per_sm: usize,
    /// Registers of one multiprocessor.
    pub registers_per_sm: u32,
    /// The most threads of one block.
    pub max_threads_per_block: u32,
    /// The most resident threads of one multiprocessor.
    pub max_threads_per_sm: u32,
    /// The most blocks along x, y and z.
    pub max_grid: [u32; 3],
    /// Device memory in bytes, free or not.
    pub total_memory: usize,
}

impl DeviceInfo {
    /// NVRTC's name of this architecture, with the architecture-specific instructions where there are some: `sm_80`,
    /// `sm_90a`.
    pub fn arch(&self) -> String {
        let (major, minor) = self.compute_capability;
        format!("sm_{major}{minor}{}", if major >= 9 { "a" } else { "" })
    }
}

/// The primary context of one device, retained while any object on the device lives.
///
/// `Send` and `Sync`: the driver synchronizes a context's calls itself. Each method makes the context current on the
/// calling thread first.
#[derive(Debug)]
pub(crate) struct Context {
    raw: CUcontext,
    device: CUdevice,
    info: DeviceInfo,
    faults: FaultHook,
}

// SAFETY: `raw` is a handle, not memory that we touch; the driver's context calls are thread-safe, and the fault hook
// is behind a mutex. The context is retained until the last `Arc` is dropped, on whichever thread that happens.
unsafe impl Send for Context {}
// SAFETY: as above; no method hands out references to unsynchronized state.
unsafe impl Sync for Context {}

impl Context {
    /// Retains the primary context of a device.
    pub(crate) fn new(ordinal: u32) -> Result<Arc<Context>, DriverError> {
        let count = library::device_count()?;
        let number = c_int::try_from(ordinal).ok().filter(|_| ordinal < count);
        let number = number.ok_or(DriverError::NoSuchDevice { ordinal, count })?;
        let mut device = 0;
        // SAFETY: the driver is loaded, `device` outlives the call.
        check("cuDeviceGet", unsafe { sys::cuDeviceGet(&mut device, number) })?;
        let info = describe(device, ordinal)?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: `device` is valid and `raw` outlives the call. The new `Context` owns this one retention.
        check("cuDevicePrimaryCtxRetain", unsafe { sys::cuDevicePrimaryCtxRetain(&mut raw, device) })?;
        let context = Context { raw, device, info, faults: FaultHook::default() };
        context.bind()?;
        Ok(Arc::new(context))
    }

    /// What the device is.
    pub(crate) fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// The handle, for calls that take one. Valid while `self` is borrowed.
    pub(super) fn raw(&self) -> CUcontext {
        self.raw
    }

    /// Makes this the calling thread's context. Asks the driver rather than a cache of our own, which another library
    /// on the same thread would make stale; that takes some ten nanoseconds.
    #[inline]
    pub(super) fn bind(&self) -> Result<(), DriverError> {
        let mut current = std::ptr::null_mut();
        // SAFETY: `current` outlives the call, which concerns the calling thread alone.
        let result = unsafe { sys::cuCtxGetCurrent(&mut current) };
        if result == CUresult::CUDA_SUCCESS && current == self.raw {
            return Ok(());
        }
        // SAFETY: `self.raw` is retained until `self` is dropped.
        check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(self.raw) })
    }

    /// Runs one driver call on this context: the seam that all calls pass.
    #[inline]
    pub(super) fn call(&self, name: &'static str, f: impl FnOnce() -> CUresult) -> Result<(), DriverError> {
        check(name, self.call_raw(name, f)?)
    }

    /// As [`call`](Self::call), for callers to whom some failures are answers.
    #[inline]
    pub(super) fn call_raw(&self, name: &'static str, f: impl FnOnce() -> CUresult) -> Result<CUresult, DriverError> {
        self.bind()?;
        Ok(self.faults.intercept(name).unwrap_or_else(f))
    }

    /// Runs the destruction of an object and logs its failure. Never intercepted by a planned fault: a handle that is
    /// not destroyed would be leaked.
    pub(super) fn destroy(&self, name: &'static str, f: impl FnOnce() -> CUresult) {
        log_drop(self.bind().and_then(|()| check(name, f())));
    }

    /// Errors unless `other` is this very context.
    pub(super) fn same(&self, what: &'static str, other: &Context) -> Result<(), DriverError> {
        if self.raw == other.raw {
            return Ok(());
        }
        Err(DriverError::WrongDevice { what, found: other.info.ordinal, wanted: self.info.ordinal })
    }

    /// Free device memory in bytes, now.
    pub(crate) fn free_memory(&self) -> Result<usize, DriverError> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both counters outlive the call.
        self.call("cuMemGetInfo_v2", || unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) })?;
        Ok(free)
    }

    /// Waits for all work of the device's context.
    pub(crate) fn synchronize(&self) -> Result<(), DriverError> {
        // SAFETY: takes no argument; the context was made current on this thread by `call`.
        self.call("cuCtxSynchronize", || unsafe { sys::cuCtxSynchronize() })
    }

    /// Gives memory that the driver keeps for graphs, and no graph uses, back to the device.
    pub(crate) fn trim_graph_memory(&self) -> Result<(), DriverError> {
        // SAFETY: the device number is valid as long as the process lives.
        self.call("cuDeviceGraphMemTrim", || unsafe { sys::cuDeviceGraphMemTrim(self.device) })
    }

    /// Plans the failure of a driver call on this context (for tests).
    pub(crate) fn inject_fault(&self, fault: Fault) {
        self.faults.plan(fault);
    }

    /// Forgets all planned failures.
    pub(crate) fn clear_faults(&self) {
        self.faults.clear();
    }

    /// Starts to list the driver calls made on this context (for tests).
    pub(crate) fn record_calls(&self) {
        self.faults.record();
    }

    /// Ends the list, and returns the calls in order.
    pub(crate) fn recorded_calls(&self) -> Vec<&'static str> {
        self.faults.recorded()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: releases the one retention that `new` took; nothing on the device holds this context any more.
        log_drop(check("cuDevicePrimaryCtxRelease_v2", unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) }));
    }
}

/// Asks the driver for a device's attributes.
fn describe(device: CUdevice, ordinal: u32) -> Result<DeviceInfo, DriverError> {
    use CUdevice_attribute as A;
    let attribute = |which: CUdevice_attribute| -> Result<u32, DriverError> {
        let mut value = 0;
        // SAFETY: `device` is valid, `value` outlives the call.
        check("cuDeviceGetAttribute", unsafe { sys::cuDeviceGetAttribute(&mut value, which, device) })?;
        Ok(u32::try_from(value).unwrap_or(0))
    };
    let mut name = [MaybeUninit::<std::ffi::c_char>::zeroed(); 256];
    // SAFETY: the driver writes at most the given number of bytes, with a final NUL, into `name`, which outlives it.
    let result = unsafe { sys::cuDeviceGetName(name.as_mut_ptr().cast(), name.len() as c_int, device) };
    check("cuDeviceGetName", result)?;
    // SAFETY: `name` was all zero, and the driver ended its text with a NUL inside it.
    let name = unsafe { CStr::from_ptr(name.as_ptr().cast()) }.to_string_lossy().into_owned();
    let mut total_memory = 0;
    // SAFETY: `device` is valid, `total_memory` outlives the call.
    check("cuDeviceTotalMem_v2", unsafe { sys::cuDeviceTotalMem_v2(&mut total_memory, device) })?;
    Ok(DeviceInfo {
        ordinal,
        name,
        compute_capability: (
            attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        sm_count: attribute(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        l2_bytes: attribute(A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)? as usize,
        shared_per_block: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as usize,
        shared_per_sm: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)? as usize,
        registers_per_sm: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
        max_threads_per_block: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        max_threads_per_sm: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        max_grid: [
            attribute(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
            attribute(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
            attribute(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
        ],
        total_memory,
    })
}
