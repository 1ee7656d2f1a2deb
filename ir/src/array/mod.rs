//! `Array`: immutable tensor data, on the host or behind a device's storage.

mod buffer;
mod error;
mod storage;
#[cfg(test)]
mod tests;

pub use buffer::AlignedBytes;
pub use error::ArrayError;
pub use storage::{Storage, StorageId};

use crate::{DType, Element, Shape, Spec};
use half::{bf16, f16};
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Data of a known [`Spec`]: immutable, row-major, and cheap to clone (clones share their storage).
///
/// The data lies on the host, or on a device behind a [`Storage`] of the runtime's. Reading an array of a device
/// waits for the device and copies. Arrays have no `==`, because NaN leaves open what it should mean:
/// [`Array::bitwise_eq`] compares bytes.
///
/// ```
/// use monograph_ir::{Array, Element};
///
/// let x = Array::new([2, 2], vec![1.0f32, 2.0, 3.0, 4.0])?;
/// assert_eq!(x.spec(), &f32::spec([2, 2]));
/// assert_eq!(x.to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), monograph_ir::ArrayError>(())
/// ```
#[derive(Clone)]
pub struct Array {
    spec: Spec,
    storage: Arc<dyn Storage>,
}

impl Array {
    /// An array on the host with these elements, outermost dimension first.
    ///
    /// # Errors
    /// [`ArrayError::Length`] where `data` has not as many elements as `shape`; [`ArrayError::TooLarge`] and
    /// [`ArrayError::OutOfMemory`] where the shape cannot be held.
    pub fn new<T: Element>(shape: impl Into<Shape>, data: Vec<T>) -> Result<Array, ArrayError> {
        Array::from_slice(shape, &data)
    }

    /// An array on the host with a copy of these elements, outermost dimension first.
    ///
    /// # Errors
    /// As [`Array::new`].
    pub fn from_slice<T: Element>(shape: impl Into<Shape>, data: &[T]) -> Result<Array, ArrayError> {
        let spec = T::spec(shape);
        let want = elements(&spec)?;
        if data.len() != want {
            return Err(ArrayError::Length { spec, want, have: data.len() });
        }
        Ok(Array::on_host(spec, AlignedBytes::copy_of(T::as_bytes(data))?))
    }

    /// A scalar, of shape `[]`.
    pub fn scalar<T: Element>(value: T) -> Array {
        Array::on_host(T::spec([]), AlignedBytes::of_element(value))
    }

    /// An array on the host whose elements are all zero (`false`).
    ///
    /// # Errors
    /// [`ArrayError::TooLarge`] and [`ArrayError::OutOfMemory`] where the shape cannot be held.
    pub fn zeros<T: Element>(shape: impl Into<Shape>) -> Result<Array, ArrayError> {
        let spec = T::spec(shape);
        let bytes = AlignedBytes::zeroed(byte_len(&spec)?)?;
        Ok(Array::on_host(spec, bytes))
    }

    /// An array on the host whose elements are all `value`.
    ///
    /// # Errors
    /// As [`Array::zeros`].
    pub fn full<T: Element>(shape: impl Into<Shape>, value: T) -> Result<Array, ArrayError> {
        Array::from_fn(shape, |_| value)
    }

    /// An array on the host whose element of row-major index `i` is `f(i)`.
    ///
    /// # Errors
    /// As [`Array::zeros`].
    pub fn from_fn<T: Element>(shape: impl Into<Shape>, mut f: impl FnMut(usize) -> T) -> Result<Array, ArrayError> {
        let spec = T::spec(shape);
        let mut bytes = AlignedBytes::zeroed(byte_len(&spec)?)?;
        for (i, element) in bytes.chunks_exact_mut(size_of::<T>()).enumerate() {
            element.copy_from_slice(bytemuck::bytes_of(&f(i)));
        }
        Ok(Array::on_host(spec, bytes))
    }

    /// An array on the host with a copy of these bytes: its elements, row-major, in native byte order.
    ///
    /// # Errors
    /// [`ArrayError::ByteLength`] where their number is not that of the spec; [`ArrayError::InvalidBool`] where a
    /// `bool` is neither 0 nor 1; [`ArrayError::TooLarge`] and [`ArrayError::OutOfMemory`] where the spec cannot be
    /// held.
    pub fn from_bytes(spec: Spec, bytes: impl AsRef<[u8]>) -> Result<Array, ArrayError> {
        let bytes = bytes.as_ref();
        check_bytes(&spec, bytes)?;
        Ok(Array::on_host(spec, AlignedBytes::copy_of(bytes)?))
    }

    /// The same without a copy, from bytes that are aligned already.
    ///
    /// # Errors
    /// As [`Array::from_bytes`].
    pub fn from_aligned(spec: Spec, bytes: AlignedBytes) -> Result<Array, ArrayError> {
        check_bytes(&spec, &bytes)?;
        Ok(Array::on_host(spec, bytes))
    }

    /// An array over a storage that holds the elements of `spec`, row-major. Bytes on a device are counted, and not
    /// looked at.
    ///
    /// # Errors
    /// As [`Array::from_bytes`]; that a bool is 0 or 1 is checked for a storage on the host only.
    pub fn from_storage(spec: Spec, storage: Arc<dyn Storage>) -> Result<Array, ArrayError> {
        match storage.host_bytes() {
            Some(bytes) => check_bytes(&spec, bytes)?,
            None => {
                let want = byte_len(&spec)?;
                if storage.len() != want {
                    return Err(ArrayError::ByteLength { spec, want, have: storage.len() });
                }
            }
        }
        Ok(Array { spec, storage })
    }

    /// Callers have checked that there are as many bytes as the spec says, and that bools are 0 or 1.
    fn on_host(spec: Spec, bytes: AlignedBytes) -> Array {
        Array { spec, storage: Arc::new(bytes) }
    }

    /// Dtype and shape.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Type of the elements.
    pub fn dtype(&self) -> DType {
        self.spec.dtype
    }

    /// Extents, outermost first.
    pub fn shape(&self) -> &Shape {
        &self.spec.shape
    }

    /// Number of elements.
    pub fn elements(&self) -> usize {
        // Every constructor has checked that the size exists.
        self.spec.shape.size()
    }

    /// Where the data lies: `host`, `cuda:0`, …
    pub fn place(&self) -> String {
        self.storage.place()
    }

    /// What holds the data.
    pub fn storage(&self) -> &Arc<dyn Storage> {
        &self.storage
    }

    /// What holds the data, if it is a storage of type `S`: how a runtime knows its own arrays.
    pub fn storage_as<S: Storage>(&self) -> Option<&S> {
        let storage: &dyn Any = &*self.storage;
        storage.downcast_ref()
    }

    /// Identity of the storage, by which a captured array is recognised; it holds while an array of it lives.
    pub fn storage_id(&self) -> StorageId {
        StorageId::of(&self.storage)
    }

    /// Whether both share their data, as clones do.
    pub fn same_storage(&self, other: &Array) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
    }

    /// The bytes of an array on the host; `None` on a device.
    pub fn host_bytes(&self) -> Option<&[u8]> {
        self.storage.host_bytes()
    }

    /// The elements' bytes, row-major, in native byte order; downloaded if they lie on a device.
    ///
    /// # Errors
    /// [`ArrayError::Device`] where the download fails; [`ArrayError::ByteLength`] where it has another size than
    /// the spec says.
    pub fn bytes(&self) -> Result<Cow<'_, [u8]>, ArrayError> {
        if let Some(bytes) = self.host_bytes() {
            return Ok(Cow::Borrowed(bytes));
        }
        let bytes = self.storage.download()?;
        check_len(&self.spec, bytes.len())?;
        Ok(Cow::Owned(bytes))
    }

    /// The array on the host: itself if it is there, else a download.
    ///
    /// # Errors
    /// As [`Array::bytes`] and [`Array::from_bytes`].
    pub fn host(&self) -> Result<Array, ArrayError> {
        match self.bytes()? {
            Cow::Borrowed(_) => Ok(self.clone()),
            Cow::Owned(bytes) => Array::from_bytes(self.spec.clone(), bytes),
        }
    }

    /// The elements of an array on the host, without a copy.
    ///
    /// # Errors
    /// [`ArrayError::Dtype`] where `T` is not their type; [`ArrayError::NotOnHost`] on a device;
    /// [`ArrayError::Misaligned`] where a foreign storage on the host is not aligned for `T`.
    pub fn as_slice<T: Element>(&self) -> Result<&[T], ArrayError> {
        self.check_dtype::<T>()?;
        let bytes = self.host_bytes().ok_or_else(|| ArrayError::NotOnHost { place: self.place() })?;
        T::from_bytes(bytes).ok_or_else(|| ArrayError::Misaligned { spec: self.spec.clone() })
    }

    /// The elements, row-major; downloaded if they lie on a device.
    ///
    /// # Errors
    /// [`ArrayError::Dtype`] where `T` is not their type; the errors of [`Array::bytes`];
    /// [`ArrayError::InvalidBool`] where a device holds a `bool` that is neither 0 nor 1.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, ArrayError> {
        self.check_dtype::<T>()?;
        let bytes = self.bytes()?;
        if let Some(elements) = T::from_bytes(&bytes) {
            return Ok(elements.to_vec());
        }
        let element = |(index, bytes): (usize, &[u8])| {
            // Every bit pattern is an element of every other type, so only a bool can fail here.
            T::read(bytes).ok_or(ArrayError::InvalidBool { index, byte: bytes[0] })
        };
        bytes.chunks_exact(size_of::<T>()).enumerate().map(element).collect()
    }

    /// The only element, of an array of any rank that has one.
    ///
    /// # Errors
    /// [`ArrayError::NotScalar`] where there are none or several; else as [`Array::to_vec`].
    pub fn item<T: Element>(&self) -> Result<T, ArrayError> {
        self.check_dtype::<T>()?;
        if self.elements() != 1 {
            return Err(ArrayError::NotScalar { spec: self.spec.clone() });
        }
        Ok(self.to_vec()?[0])
    }

    /// Whether both have the same spec and the same bytes: NaN equals itself, and -0 differs from +0.
    ///
    /// # Errors
    /// As [`Array::bytes`].
    pub fn bitwise_eq(&self, other: &Array) -> Result<bool, ArrayError> {
        Ok(self.spec == other.spec && (self.same_storage(other) || self.bytes()? == other.bytes()?))
    }

    fn check_dtype<T: Element>(&self) -> Result<(), ArrayError> {
        if T::DTYPE == self.spec.dtype {
            Ok(())
        } else {
            Err(ArrayError::Dtype { have: self.spec.clone(), want: T::DTYPE })
        }
    }
}

/// Number of elements of a spec whose bytes can be counted too.
fn elements(spec: &Spec) -> Result<usize, ArrayError> {
    byte_len(spec).map(|bytes| bytes / spec.dtype.size())
}

fn byte_len(spec: &Spec) -> Result<usize, ArrayError> {
    let bytes = spec.bytes().and_then(|bytes| usize::try_from(bytes).ok());
    bytes.ok_or_else(|| ArrayError::TooLarge { spec: spec.clone() })
}

fn check_len(spec: &Spec, have: usize) -> Result<(), ArrayError> {
    let want = byte_len(spec)?;
    if have == want { Ok(()) } else { Err(ArrayError::ByteLength { spec: spec.clone(), want, have }) }
}

fn check_bytes(spec: &Spec, bytes: &[u8]) -> Result<(), ArrayError> {
    check_len(spec, bytes.len())?;
    if spec.dtype == DType::Bool
        && let Some(index) = bytes.iter().position(|&byte| byte > 1)
    {
        return Err(ArrayError::InvalidBool { index, byte: bytes[index] });
    }
    Ok(())
}

/// Spec, place and the first elements. Those of a device are left out, because printing must not wait for it.
impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array({} on {}", self.spec, self.place())?;
        if let Some(bytes) = self.host_bytes() {
            f.write_str(": ")?;
            fmt_elements(self.spec.dtype, bytes, f)?;
        }
        f.write_str(")")
    }
}

fn fmt_elements(dtype: DType, bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match dtype {
        DType::Bool => fmt_first::<bool>(bytes, f),
        DType::I8 => fmt_first::<i8>(bytes, f),
        DType::U8 => fmt_first::<u8>(bytes, f),
        DType::I32 => fmt_first::<i32>(bytes, f),
        DType::U32 => fmt_first::<u32>(bytes, f),
        DType::I64 => fmt_first::<i64>(bytes, f),
        DType::F16 => fmt_first::<f16>(bytes, f),
        DType::BF16 => fmt_first::<bf16>(bytes, f),
        DType::F32 => fmt_first::<f32>(bytes, f),
        DType::F64 => fmt_first::<f64>(bytes, f),
    }
}

fn fmt_first<T: Element>(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const SHOWN: usize = 8;
    f.write_str("[")?;
    for (i, element) in bytes.chunks_exact(size_of::<T>()).take(SHOWN).enumerate() {
        let separator = if i > 0 { ", " } else { "" };
        match T::read(element) {
            Some(element) => write!(f, "{separator}{element:?}")?,
            None => write!(f, "{separator}invalid")?,
        }
    }
    f.write_str(if bytes.len() / size_of::<T>() > SHOWN { ", …]" } else { "]" })
}
