//! `Storage`: what holds an array's bytes, so that this crate knows no device.

use super::ArrayError;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// What holds the bytes of an [`Array`](crate::Array). Its bytes never change while an array refers to it.
///
/// A runtime finds its own storages again with [`Array::storage_as`](crate::Array::storage_as).
pub trait Storage: Any + Debug + Send + Sync {
    /// The bytes, if they lie where the host can read them at once.
    fn host_bytes(&self) -> Option<&[u8]>;

    /// Number of bytes.
    fn len(&self) -> usize;

    /// Whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A copy of the bytes on the host; waits until they are written.
    ///
    /// # Errors
    /// [`ArrayError::Device`] where the device fails.
    fn download(&self) -> Result<Vec<u8>, ArrayError>;

    /// Where the bytes lie: `host`, `cuda:0`, …
    fn place(&self) -> String;
}

/// Identity of a storage. It may be given again once all arrays of the storage are gone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StorageId(usize);

impl StorageId {
    pub(super) fn of(storage: &Arc<dyn Storage>) -> StorageId {
        StorageId(Arc::as_ptr(storage).cast::<()>().addr())
    }
}
