//! Arrays in the memory of a GPU.

use crate::driver::{DeviceMemory, Stream};
use monograph_ir::{ArrayError, Storage};
use std::sync::Arc;

/// A range of device memory that holds an array. Copies into it are ordered on the device's stream.
#[derive(Debug)]
pub(super) struct CudaStorage {
    /// The allocation.
    pub(super) memory: Arc<DeviceMemory>,
    /// First byte.
    pub(super) offset: usize,
    /// Number of bytes.
    pub(super) bytes: usize,
    /// The device's stream.
    pub(super) stream: Arc<Stream>,
}

impl CudaStorage {
    /// The device address of the first byte.
    pub(super) fn pointer(&self) -> u64 {
        self.memory.pointer() + self.offset as u64
    }
}

impl Storage for CudaStorage {
    fn host_bytes(&self) -> Option<&[u8]> {
        None
    }

    fn len(&self) -> usize {
        self.bytes
    }

    fn download(&self) -> Result<Vec<u8>, ArrayError> {
        let mut bytes = vec![0; self.bytes];
        self.memory
            .read(self.offset, &mut bytes, &self.stream)
            .map_err(|error| ArrayError::Device { place: self.place(), source: Arc::new(error) })?;
        Ok(bytes)
    }

    fn place(&self) -> String {
        super::place(self.memory.context())
    }
}

impl Drop for CudaStorage {
    fn drop(&mut self) {
        // A copy that uses the memory may still run. Launches do not: executables keep the arrays they read.
        if let Err(error) = self.stream.synchronize() {
            tracing::error!(%error, "could not wait for an array's last use");
        }
    }
}
