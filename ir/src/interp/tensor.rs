//! `Tensor`: a value of the interpreter, its elements in a typed vector.

use super::EvalError;
use crate::rounding::{bf16_to_f32, f16_to_f32};
use crate::{DType, Literal, Origin, Shape, Spec};
use half::{bf16, f16};
use std::fmt;
use std::sync::Arc;

/// The elements of a tensor in row-major order, in the Rust type of its dtype. Shared: a clone copies nothing.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names are the dtypes")]
pub enum Data {
    Bool(Arc<Vec<bool>>),
    I8(Arc<Vec<i8>>),
    U8(Arc<Vec<u8>>),
    I32(Arc<Vec<i32>>),
    U32(Arc<Vec<u32>>),
    I64(Arc<Vec<i64>>),
    F16(Arc<Vec<f16>>),
    BF16(Arc<Vec<bf16>>),
    F32(Arc<Vec<f32>>),
    F64(Arc<Vec<f64>>),
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that is the element of one dtype. Sealed: there is one for each [`DType`].
pub trait Cell: sealed::Sealed + Copy + Default + PartialOrd + fmt::Debug + bytemuck::NoUninit + Send + Sync {
    /// The dtype.
    const DTYPE: DType;

    /// The elements, if they are of this type.
    fn of(data: &Data) -> Option<&[Self]>;

    /// Wraps elements.
    fn data(elements: Vec<Self>) -> Data;

    /// The elements if they are of this type: without a copy where nothing else shares them.
    ///
    /// # Errors
    /// Gives the data back where they are of another type.
    fn take(data: Data) -> Result<Vec<Self>, Data>;

    /// The element with these bits, which are those of a [`Literal`].
    fn from_literal_bits(bits: u64) -> Self;

    /// Reads elements from bytes, whose length is a multiple of the size.
    ///
    /// # Errors
    /// [`EvalError::OutOfMemory`].
    fn read(bytes: &[u8]) -> Result<Vec<Self>, EvalError>;

    /// The value; an `i64` beyond 2⁵³ is rounded.
    fn to_f64(self) -> f64;
}

macro_rules! cells {
    ($($variant:ident $cell:ty, |$bits:ident| $from_bits:expr, |$bytes:ident| $read:expr, |$x:ident| $to_f64:expr;)*) => {$(
        impl sealed::Sealed for $cell {}

        impl Cell for $cell {
            const DTYPE: DType = DType::$variant;

            fn of(data: &Data) -> Option<&[$cell]> {
                if let Data::$variant(elements) = data { Some(elements) } else { None }
            }

            fn data(elements: Vec<$cell>) -> Data {
                Data::$variant(Arc::new(elements))
            }

            fn take(data: Data) -> Result<Vec<$cell>, Data> {
                match data {
                    Data::$variant(elements) => Ok(Arc::unwrap_or_clone(elements)),
                    other => Err(other),
                }
            }

            fn from_literal_bits($bits: u64) -> $cell {
                $from_bits
            }

            fn read($bytes: &[u8]) -> Result<Vec<$cell>, EvalError> {
                $read
            }

            fn to_f64(self) -> f64 {
                let $x = self;
                $to_f64
            }
        }
    )*};
}

cells! {
    Bool bool, |b| b != 0, |v| collect(v.iter().map(|&b| b != 0)), |x| f64::from(u8::from(x));
    I8 i8, |b| b as i8, |v| read(v), |x| f64::from(x);
    U8 u8, |b| b as u8, |v| read(v), |x| f64::from(x);
    I32 i32, |b| b as i32, |v| read(v), |x| f64::from(x);
    U32 u32, |b| b as u32, |v| read(v), |x| f64::from(x);
    I64 i64, |b| b as i64, |v| read(v), |x| x as f64;
    F16 f16, |b| f16::from_bits(b as u16), |v| read(v), |x| f64::from(f16_to_f32(x));
    BF16 bf16, |b| bf16::from_bits(b as u16), |v| read(v), |x| f64::from(bf16_to_f32(x));
    F32 f32, |b| f32::from_bits(b as u32), |v| read(v), |x| f64::from(x);
    F64 f64, |b| f64::from_bits(b), |v| read(v), |x| x;
}

/// A copy of bytes, which may lie at any address, as elements.
fn read<T: bytemuck::Pod>(bytes: &[u8]) -> Result<Vec<T>, EvalError> {
    let mut elements = filled(bytes.len() / size_of::<T>(), T::zeroed())?;
    bytemuck::cast_slice_mut(&mut elements).copy_from_slice(bytes);
    Ok(elements)
}

/// Runs `$body` with `$x` as the typed slice of elements, for the named variants of `Data`; other arms follow.
macro_rules! match_data {
    ($data:expr, $x:ident => $body:expr; $($variant:ident)*; $($other:tt)*) => {
        match $data {
            $($crate::interp::Data::$variant(cells) => {
                let $x = cells.as_slice();
                $body
            })*
            $($other)*
        }
    };
}
pub(super) use match_data;

/// Runs `$body` with `$x` as the typed slice of elements, whatever their type.
macro_rules! with_any {
    ($data:expr, $x:ident => $body:expr) => {
        $crate::interp::tensor::match_data!($data, $x => $body; Bool I8 U8 I32 U32 I64 F16 BF16 F32 F64;)
    };
}
pub(super) use with_any;

/// [`with_any`] for numbers; a `bool` is an error of the graph.
macro_rules! with_number {
    ($data:expr, $x:ident => $body:expr) => {
        $crate::interp::tensor::match_data!(
            $data, $x => $body;
            I8 U8 I32 U32 I64 F16 BF16 F32 F64;
            $crate::interp::Data::Bool(_) => Err($crate::interp::EvalError::dtype($crate::DType::Bool)),
        )
    };
}
pub(super) use with_number;

/// Runs `$body` with `$T` as the element type of a dtype.
macro_rules! with_dtype {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::interp::tensor::with_dtype!(
            @arms $dtype, $T => $body;
            Bool bool, I8 i8, U8 u8, I32 i32, U32 u32, I64 i64, F16 half::f16, BF16 half::bf16, F32 f32, F64 f64
        )
    };
    (@arms $dtype:expr, $T:ident => $body:expr; $($variant:ident $element:ty),*) => {
        match $dtype {
            $($crate::DType::$variant => {
                type $T = $element;
                $body
            })*
        }
    };
}
pub(super) use with_dtype;

/// An empty vector with room for `n` elements.
pub(super) fn room<T>(n: usize) -> Result<Vec<T>, EvalError> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(n).map_err(|_| EvalError::OutOfMemory {
        bytes: (n as u64).saturating_mul(size_of::<T>() as u64),
        origin: Origin::Unknown,
    })?;
    Ok(elements)
}

/// `n` copies of an element.
pub(super) fn filled<T: Copy>(n: usize, value: T) -> Result<Vec<T>, EvalError> {
    let mut elements = room(n)?;
    elements.resize(n, value);
    Ok(elements)
}

/// The elements of an iterator whose length is exact.
pub(super) fn collect<T>(elements: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, EvalError> {
    let mut vec = room(elements.len())?;
    vec.extend(elements);
    Ok(vec)
}

/// A tensor with data. Immutable, and shared when cloned.
///
/// Equality is that of dtype, shape and bits: NaN equals itself, -0 is not 0.
#[derive(Clone)]
pub struct Tensor {
    spec: Spec,
    data: Data,
}

impl Tensor {
    /// A tensor of that shape, from its elements in row-major order.
    ///
    /// # Errors
    /// [`EvalError::Length`] where the shape has another number of elements.
    pub fn from_vec<T: Cell>(shape: impl Into<Shape>, elements: Vec<T>) -> Result<Tensor, EvalError> {
        Tensor::new(Spec::new(T::DTYPE, shape), T::data(elements))
    }

    /// A tensor of shape `[]`.
    pub fn scalar<T: Cell>(value: T) -> Tensor {
        Tensor { spec: Spec::new(T::DTYPE, []), data: T::data(vec![value]) }
    }

    /// A tensor from its elements in row-major order.
    ///
    /// # Errors
    /// [`EvalError::Length`] where the shape has another number of elements, [`EvalError::Invalid`] where the dtype
    /// is another.
    pub fn new(spec: Spec, data: Data) -> Result<Tensor, EvalError> {
        if data.dtype() != spec.dtype {
            return Err(EvalError::Invalid(format!("{} elements for a tensor that is {spec}", data.dtype())));
        }
        let expected = spec.shape.elements().map_or(u64::MAX, |n| n as u64);
        let found = data.len() as u64;
        if expected != found {
            return Err(EvalError::Length { spec: Box::new(spec), unit: "elements", expected, found });
        }
        Ok(Tensor { spec, data })
    }

    /// A tensor from the bytes of its elements: row-major, little-endian; a `bool` is true where its byte is not 0.
    ///
    /// # Errors
    /// [`EvalError::Length`] where the spec has another number of bytes.
    pub fn from_bytes(spec: Spec, bytes: &[u8]) -> Result<Tensor, EvalError> {
        let expected = spec.bytes().unwrap_or(u64::MAX);
        if expected != bytes.len() as u64 {
            return Err(EvalError::Length { spec: Box::new(spec), unit: "bytes", expected, found: bytes.len() as u64 });
        }
        let data = with_dtype!(spec.dtype, T => T::data(T::read(bytes)?));
        Ok(Tensor { spec, data })
    }

    /// A tensor whose elements are all the same.
    ///
    /// # Errors
    /// [`EvalError::OutOfMemory`], [`EvalError::Length`] for a shape that cannot exist, and [`EvalError::Invalid`]
    /// where the literal's dtype is another.
    pub fn full(spec: Spec, value: Literal) -> Result<Tensor, EvalError> {
        let n = spec.shape.elements().unwrap_or(usize::MAX);
        let data = with_dtype!(value.dtype(), T => T::data(filled(n, T::from_literal_bits(value.bits()))?));
        Tensor::new(spec, data)
    }

    /// Dtype and shape.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Extents.
    pub fn shape(&self) -> &Shape {
        &self.spec.shape
    }

    /// Type of the elements.
    pub fn dtype(&self) -> DType {
        self.spec.dtype
    }

    /// The elements.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The elements, for taking them out.
    pub(super) fn into_data(self) -> Data {
        self.data
    }

    /// The elements in row-major order, if `T` is the type of the dtype.
    pub fn elements<T: Cell>(&self) -> Option<&[T]> {
        T::of(&self.data)
    }

    /// [`Tensor::elements`] where inference says that `T` is the type.
    pub(super) fn cells<T: Cell>(&self) -> Result<&[T], EvalError> {
        self.elements().ok_or_else(|| EvalError::dtype(self.dtype()))
    }

    /// The bytes of the elements: row-major, in the byte order of the machine (little-endian where CUDA runs).
    pub fn bytes(&self) -> &[u8] {
        with_any!(&self.data, x => bytemuck::cast_slice(x))
    }

    /// One element as a number, by its row-major index; `None` past the end.
    pub fn get_f64(&self, index: usize) -> Option<f64> {
        with_any!(&self.data, x => x.get(index).map(|x| Cell::to_f64(*x)))
    }

    /// Every element as a number, in row-major order.
    pub fn to_f64_vec(&self) -> Vec<f64> {
        with_any!(&self.data, x => x.iter().map(|x| Cell::to_f64(*x)).collect())
    }

    /// The same elements, shared, under another shape.
    ///
    /// # Errors
    /// [`EvalError::Length`] where the shape has another number of elements.
    pub fn reshape(&self, shape: impl Into<Shape>) -> Result<Tensor, EvalError> {
        Tensor::new(Spec::new(self.dtype(), shape), self.data.clone())
    }
}

impl Data {
    /// Type of the elements.
    pub fn dtype(&self) -> DType {
        fn dtype<T: Cell>(_: &[T]) -> DType {
            T::DTYPE
        }
        with_any!(self, x => dtype(x))
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        with_any!(self, x => x.len())
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl PartialEq for Tensor {
    fn eq(&self, other: &Tensor) -> bool {
        self.spec == other.spec && self.bytes() == other.bytes()
    }
}

impl Eq for Tensor {}

impl fmt::Debug for Tensor {
    /// Spec and the first elements.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 32;
        write!(f, "{} ", self.spec)?;
        with_any!(&self.data, x => {
            f.debug_list().entries(&x[..x.len().min(SHOWN)]).finish()?;
            if x.len() > SHOWN { write!(f, " and {} more", x.len() - SHOWN) } else { Ok(()) }
        })
    }
}
