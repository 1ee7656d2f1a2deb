//! `AlignedBytes`: memory of the host whose address suits every dtype and 16-byte accesses.

use super::{ArrayError, Storage};
use crate::Element;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Bytes on the host at an address that is a multiple of 16; dereferences to `[u8]`.
#[derive(Clone, Default)]
pub struct AlignedBytes {
    /// The alignment comes from the type of the words.
    words: Vec<u128>,
    len: usize,
}

const WORD: usize = size_of::<u128>();
const _: () = assert!(align_of::<u128>() >= 16, "16-byte alignment of host arrays rests on that of u128");

impl AlignedBytes {
    /// That many zero bytes.
    ///
    /// # Errors
    /// [`ArrayError::OutOfMemory`] where the allocator has not that many.
    pub fn zeroed(len: usize) -> Result<AlignedBytes, ArrayError> {
        let mut words = Vec::new();
        let count = len.div_ceil(WORD);
        words.try_reserve_exact(count).map_err(|_| ArrayError::OutOfMemory { bytes: len })?;
        words.resize(count, 0);
        Ok(AlignedBytes { words, len })
    }

    /// A copy of some bytes.
    ///
    /// # Errors
    /// As [`AlignedBytes::zeroed`].
    pub fn copy_of(bytes: &[u8]) -> Result<AlignedBytes, ArrayError> {
        let mut copy = AlignedBytes::zeroed(bytes.len())?;
        copy.copy_from_slice(bytes);
        Ok(copy)
    }

    /// The bytes of one element.
    pub(super) fn of_element<T: Element>(value: T) -> AlignedBytes {
        let mut bytes = AlignedBytes { words: vec![0], len: size_of::<T>() };
        bytes.copy_from_slice(bytemuck::bytes_of(&value));
        bytes
    }
}

impl Deref for AlignedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }
}

impl DerefMut for AlignedBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len]
    }
}

impl fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AlignedBytes({} bytes)", self.len)
    }
}

impl Storage for AlignedBytes {
    fn host_bytes(&self) -> Option<&[u8]> {
        Some(self)
    }

    fn len(&self) -> usize {
        <[u8]>::len(self)
    }

    fn download(&self) -> Result<Vec<u8>, ArrayError> {
        Ok(self.to_vec())
    }

    fn place(&self) -> String {
        "host".to_string()
    }
}
