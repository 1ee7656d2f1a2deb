//! A mark in a stream's work, to wait for and to measure time with.

use std::sync::Arc;

use cudarc::driver::sys::{self, CUevent, CUevent_flags, CUresult};

use super::{Context, DriverError, Stream};

/// An event. `Send` and `Sync`: the driver synchronizes its calls.
#[derive(Debug)]
pub(crate) struct Event {
    raw: CUevent,
    context: Arc<Context>,
}

// SAFETY: `raw` is a handle that this value owns; the driver's event calls are thread-safe.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// Creates an event that only orders work, which is cheaper to record.
    pub(crate) fn new(context: &Arc<Context>) -> Result<Event, DriverError> {
        Event::with_flags(context, CUevent_flags::CU_EVENT_DISABLE_TIMING)
    }

    /// Creates an event that also takes the time.
    pub(crate) fn timed(context: &Arc<Context>) -> Result<Event, DriverError> {
        Event::with_flags(context, CUevent_flags::CU_EVENT_DEFAULT)
    }

    fn with_flags(context: &Arc<Context>, flags: CUevent_flags) -> Result<Event, DriverError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` outlives the call; the new `Event` owns the handle and keeps the context alive.
        context.call("cuEventCreate", || unsafe { sys::cuEventCreate(&mut raw, flags as u32) })?;
        Ok(Event { raw, context: context.clone() })
    }

    /// The device of this event.
    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The handle, valid while `self` is borrowed.
    pub(super) fn raw(&self) -> CUevent {
        self.raw
    }

    /// Marks the end of everything enqueued on `stream` so far. Replaces an earlier mark.
    pub(crate) fn record(&self, stream: &Stream) -> Result<(), DriverError> {
        self.context.same("the stream", stream.context())?;
        // SAFETY: both handles are owned by borrowed values of one context.
        self.context.call("cuEventRecord", || unsafe { sys::cuEventRecord(self.raw, stream.raw()) })
    }

    /// Blocks until the mark is reached. Returns at once if none was set.
    pub(crate) fn synchronize(&self) -> Result<(), DriverError> {
        // SAFETY: `self.raw` is owned by `self`.
        self.context.call("cuEventSynchronize", || unsafe { sys::cuEventSynchronize(self.raw) })
    }

    /// Whether the mark is reached.
    pub(crate) fn is_done(&self) -> Result<bool, DriverError> {
        // SAFETY: `self.raw` is owned by `self`.
        match self.context.call_raw("cuEventQuery", || unsafe { sys::cuEventQuery(self.raw) })? {
            CUresult::CUDA_SUCCESS => Ok(true),
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            failed => Err(DriverError::from_result("cuEventQuery", failed)),
        }
    }

    /// Milliseconds from `earlier` to this mark. Both must be timed, and reached.
    pub(crate) fn elapsed_ms(&self, earlier: &Event) -> Result<f32, DriverError> {
        let mut ms = 0.0;
        // SAFETY: both handles are owned by borrowed values, and `ms` outlives the call.
        self.context
            .call("cuEventElapsedTime_v2", || unsafe { sys::cuEventElapsedTime_v2(&mut ms, earlier.raw, self.raw) })?;
        Ok(ms)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the handle is owned here and used no more; a pending mark is finished by the driver.
        self.context.destroy("cuEventDestroy_v2", || unsafe { sys::cuEventDestroy_v2(self.raw) });
    }
}
