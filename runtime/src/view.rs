//! `View`: a place in the memory of one executable, as another one sees it.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A range of bytes in the memory of an executable. It is good only while the output it came from is borrowed.
#[derive(Clone)]
pub struct View {
    /// The place of the device, `host`, `emulated` or `cuda:0`.
    pub(crate) place: Arc<str>,
    /// The memory, as its backend knows it.
    pub(crate) memory: Arc<dyn Any + Send + Sync>,
    /// First byte, from the memory's start.
    pub(crate) offset: u64,
    /// Number of bytes.
    pub(crate) bytes: u64,
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes on {}", self.bytes, self.place)
    }
}
