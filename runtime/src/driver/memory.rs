//! Device memory, and host memory that the device can read and write.
//!
//! The copies that return before they are done say `async` in their name; the caller keeps both ends alive, and does
//! not touch them, until an event or a synchronization of the stream says that the copy is done.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use cudarc::driver::sys;

use super::error::{DriverError, check_range};
use super::{Context, Stream};

/// An allocation on the device, freed on drop. Its bytes are not initialized.
///
/// `Send` and `Sync`: a device address is a number to the host.
#[derive(Debug)]
pub(crate) struct DeviceMemory {
    pointer: u64,
    bytes: usize,
    context: Arc<Context>,
}

impl DeviceMemory {
    /// Allocates device memory, aligned to 256 bytes at least. None is taken for 0 bytes, whose address is 0.
    pub(crate) fn new(context: &Arc<Context>, bytes: usize) -> Result<DeviceMemory, DriverError> {
        let mut pointer = 0;
        if bytes > 0 {
            // SAFETY: `pointer` outlives the call; the new `DeviceMemory` owns the allocation.
            context.call("cuMemAlloc_v2", || unsafe { sys::cuMemAlloc_v2(&mut pointer, bytes) })?;
        }
        Ok(DeviceMemory { pointer, bytes, context: context.clone() })
    }

    /// The device address of the first byte.
    pub(crate) fn pointer(&self) -> u64 {
        self.pointer
    }

    /// The size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The device of this memory.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Writes `data` at byte `offset` after all earlier work of `stream`, and waits until it is there.
    pub(crate) fn write(&self, offset: usize, data: &[u8], stream: &Stream) -> Result<(), DriverError> {
        let Some(to) = self.enter("write", offset, data.len(), stream)? else { return Ok(()) };
        let from = data.as_ptr().cast();
        // SAFETY: the range lies inside this allocation; `data` is borrowed until the synchronization below, after
        // which the driver reads it no more.
        self.context.call("cuMemcpyHtoDAsync_v2", || unsafe {
            sys::cuMemcpyHtoDAsync_v2(to, from, data.len(), stream.raw())
        })?;
        stream.synchronize()
    }

    /// Reads `out.len()` bytes from byte `offset` after all earlier work of `stream`, and waits for them.
    pub(crate) fn read(&self, offset: usize, out: &mut [u8], stream: &Stream) -> Result<(), DriverError> {
        let Some(from) = self.enter("read", offset, out.len(), stream)? else { return Ok(()) };
        let (to, bytes) = (out.as_mut_ptr().cast(), out.len());
        // SAFETY: the range lies inside this allocation; `out` is borrowed mutably until the synchronization below,
        // after which the driver writes it no more.
        self.context
            .call("cuMemcpyDtoHAsync_v2", || unsafe { sys::cuMemcpyDtoHAsync_v2(to, from, bytes, stream.raw()) })?;
        stream.synchronize()
    }

    /// Enqueues a copy of `bytes` bytes from pinned memory to byte `offset`.
    pub(crate) fn write_async(
        &self,
        offset: usize,
        source: &PinnedMemory,
        source_offset: usize,
        bytes: usize,
        stream: &Stream,
    ) -> Result<(), DriverError> {
        check_range("write: source", source_offset, bytes, source.bytes)?;
        let Some(to) = self.enter("write", offset, bytes, stream)? else { return Ok(()) };
        let from = source.host(source_offset);
        // SAFETY: both ranges lie inside their allocations, which the caller keeps until the copy is done.
        self.context
            .call("cuMemcpyHtoDAsync_v2", || unsafe { sys::cuMemcpyHtoDAsync_v2(to, from, bytes, stream.raw()) })
    }

    /// Enqueues a copy of `bytes` bytes from byte `offset` to pinned memory.
    pub(crate) fn read_async(
        &self,
        offset: usize,
        target: &PinnedMemory,
        target_offset: usize,
        bytes: usize,
        stream: &Stream,
    ) -> Result<(), DriverError> {
        check_range("read: target", target_offset, bytes, target.bytes)?;
        let Some(from) = self.enter("read", offset, bytes, stream)? else { return Ok(()) };
        let to = target.host(target_offset);
        // SAFETY: both ranges lie inside their allocations, which the caller keeps until the copy is done, and it
        // holds no view of the target meanwhile.
        self.context
            .call("cuMemcpyDtoHAsync_v2", || unsafe { sys::cuMemcpyDtoHAsync_v2(to, from, bytes, stream.raw()) })
    }

    /// Enqueues a copy of `bytes` bytes from other device memory to byte `offset`.
    pub(crate) fn copy_async(
        &self,
        offset: usize,
        source: &DeviceMemory,
        source_offset: usize,
        bytes: usize,
        stream: &Stream,
    ) -> Result<(), DriverError> {
        let Some(from) = source.enter("copy: source", source_offset, bytes, stream)? else { return Ok(()) };
        let Some(to) = self.enter("copy", offset, bytes, stream)? else { return Ok(()) };
        // SAFETY: both ranges lie inside their allocations, which the caller keeps until the copy is done.
        self.context
            .call("cuMemcpyDtoDAsync_v2", || unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes, stream.raw()) })
    }

    /// Enqueues that every byte becomes `byte`: poison for tests. Programs clear memory with a kernel, which keeps a
    /// graph's launch cheap.
    pub(crate) fn poison_async(&self, byte: u8, stream: &Stream) -> Result<(), DriverError> {
        let Some(to) = self.enter("poison", 0, self.bytes, stream)? else { return Ok(()) };
        // SAFETY: the whole allocation and no more, which the caller keeps until the fill is done.
        self.context.call("cuMemsetD8Async", || unsafe { sys::cuMemsetD8Async(to, byte, self.bytes, stream.raw()) })
    }

    /// Checks a range and the stream's device: the address of the first byte, or nothing to do.
    fn enter(&self, what: &'static str, at: usize, bytes: usize, stream: &Stream) -> Result<Option<u64>, DriverError> {
        check_range(what, at, bytes, self.bytes)?;
        self.context.same("the stream", stream.context())?;
        Ok((bytes > 0).then(|| self.pointer + at as u64))
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if self.pointer != 0 {
            // SAFETY: owned here and used no more by the host; whoever enqueued device work on it waited for that.
            self.context.destroy("cuMemFree_v2", || unsafe { sys::cuMemFree_v2(self.pointer) });
        }
    }
}

/// Page-locked host memory, which the device can also reach at [`device_pointer`](Self::device_pointer). Zeroed.
#[derive(Debug)]
pub(crate) struct PinnedMemory {
    host: NonNull<u8>,
    device: u64,
    bytes: usize,
    context: Arc<Context>,
}

// SAFETY: the allocation is owned by this value alone, and page-locked memory may be used and freed on any thread.
unsafe impl Send for PinnedMemory {}
// SAFETY: `&self` gives the host shared reads only; `&mut self` is needed to write.
unsafe impl Sync for PinnedMemory {}

impl PinnedMemory {
    /// Allocates page-locked memory, mapped into the device's address space.
    pub(crate) fn new(context: &Arc<Context>, bytes: usize) -> Result<PinnedMemory, DriverError> {
        let mut memory = PinnedMemory { host: NonNull::dangling(), device: 0, bytes: 0, context: context.clone() };
        if bytes == 0 {
            return Ok(memory);
        }
        let mut host: *mut c_void = std::ptr::null_mut();
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP | sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: `host` outlives the call; `memory` owns the allocation from here on.
        context.call("cuMemHostAlloc", || unsafe { sys::cuMemHostAlloc(&mut host, bytes, flags) })?;
        memory.host = NonNull::new(host.cast()).expect("a successful allocation has an address");
        memory.bytes = bytes;
        // SAFETY: the allocation has `bytes` bytes, and nobody else knows it yet.
        unsafe { memory.host.as_ptr().write_bytes(0, bytes) };
        // SAFETY: `host` was allocated with DEVICEMAP, and the field outlives the call.
        context.call("cuMemHostGetDevicePointer_v2", || unsafe {
            sys::cuMemHostGetDevicePointer_v2(&mut memory.device, host, 0)
        })?;
        Ok(memory)
    }

    /// The size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The address under which kernels reach the first byte.
    pub(crate) fn device_pointer(&self) -> u64 {
        self.device
    }

    /// The bytes. No enqueued work may be writing them.
    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: `bytes` bytes, initialized by `new`, owned by `self` and borrowed with it. Whoever enqueued device
        // work that writes them has waited for it.
        unsafe { std::slice::from_raw_parts(self.host.as_ptr(), self.bytes) }
    }

    /// The bytes, to write. No enqueued work may be reading or writing them.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, and `&mut self` makes this the only view of the host.
        unsafe { std::slice::from_raw_parts_mut(self.host.as_ptr(), self.bytes) }
    }

    /// The host address of a byte that was checked to be inside (or at the end).
    fn host(&self, offset: usize) -> *mut c_void {
        self.host.as_ptr().wrapping_add(offset).cast()
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        if self.bytes > 0 {
            let host = self.host.as_ptr().cast();
            // SAFETY: owned here and used no more; whoever enqueued device work on it has waited for that.
            self.context.destroy("cuMemFreeHost", || unsafe { sys::cuMemFreeHost(host) });
        }
    }
}
