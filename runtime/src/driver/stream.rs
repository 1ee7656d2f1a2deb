//! A queue of work on a device.

use std::sync::Arc;

use cudarc::driver::sys::{self, CUresult, CUstream, CUstream_flags};

use super::{Context, DriverError, Event};

/// A stream that does not wait for the legacy default stream.
///
/// `Send` and `Sync`: the driver serializes what several threads enqueue.
#[derive(Debug)]
pub(crate) struct Stream {
    raw: CUstream,
    context: Arc<Context>,
}

// SAFETY: `raw` is a handle that this value owns; the driver's stream calls are thread-safe.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    /// Creates a stream.
    pub(crate) fn new(context: &Arc<Context>) -> Result<Stream, DriverError> {
        let mut raw = std::ptr::null_mut();
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: `raw` outlives the call; the new `Stream` owns the handle and keeps the context alive.
        context.call("cuStreamCreate", || unsafe { sys::cuStreamCreate(&mut raw, flags) })?;
        Ok(Stream { raw, context: context.clone() })
    }

    /// The device that runs this stream's work.
    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The handle, valid while `self` is borrowed.
    #[inline]
    pub(super) fn raw(&self) -> CUstream {
        self.raw
    }

    /// Blocks until everything enqueued so far is done.
    pub(crate) fn synchronize(&self) -> Result<(), DriverError> {
        // SAFETY: `self.raw` is owned by `self`.
        self.context.call("cuStreamSynchronize", || unsafe { sys::cuStreamSynchronize(self.raw) })
    }

    /// Whether everything enqueued so far is done.
    pub(crate) fn is_done(&self) -> Result<bool, DriverError> {
        // SAFETY: `self.raw` is owned by `self`.
        match self.context.call_raw("cuStreamQuery", || unsafe { sys::cuStreamQuery(self.raw) })? {
            CUresult::CUDA_SUCCESS => Ok(true),
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            failed => Err(DriverError::from_result("cuStreamQuery", failed)),
        }
    }

    /// Makes work enqueued from now on wait for an event's last recording. An event never recorded is no wait.
    pub(crate) fn wait(&self, event: &Event) -> Result<(), DriverError> {
        // SAFETY: both handles are owned by borrowed values; the driver keeps what the wait needs of the event.
        self.context.call("cuStreamWaitEvent", || unsafe { sys::cuStreamWaitEvent(self.raw, event.raw(), 0) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the handle is owned here and used no more. The driver finishes enqueued work before it frees it.
        self.context.destroy("cuStreamDestroy_v2", || unsafe { sys::cuStreamDestroy_v2(self.raw) });
    }
}
