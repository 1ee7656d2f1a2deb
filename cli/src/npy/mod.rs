//! NumPy's file format, read and written: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.
//!
//! Nothing in a file is taken on trust: sizes are computed with checks and compared with the file's length before
//! memory is allocated, and the header, a Python literal, is read without recursion. Both byte orders and both element
//! orders are read; what is written is row-major in this machine's byte order.
//!
//! NumPy has no bfloat16. The package `ml_dtypes` writes it as `'<V2'`, two opaque bytes, and so does this module.

mod header;

use header::Header;
use monograph_ir::{AlignedBytes, Array, DType, Spec};
use std::io::{self, Read, Write};

/// The first bytes of every file.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// A file whose header was read; the data comes next.
pub(crate) struct Npy<R> {
    spec: Spec,
    fortran: bool,
    swapped: bool,
    data: R,
    /// Bytes after the header, where the file's length is known.
    left: Option<u64>,
}

impl<R: Read> Npy<R> {
    /// Reads the header. `length` is the length of the file, if it is known.
    ///
    /// # Errors
    /// A message that fits behind the file's name.
    pub(crate) fn open(mut reader: R, length: Option<u64>) -> Result<Npy<R>, String> {
        let (header, size) = Header::read(&mut reader, length)?;
        let (dtype, swapped) = dtype_of(&header.descr)?;
        let shape = header.shape.iter().map(|&d| usize::try_from(d));
        let shape = shape.collect::<Result<Vec<usize>, _>>().map_err(|_| "has a shape beyond this machine's memory")?;
        let spec = Spec::new(dtype, shape);
        let Some(bytes) = spec.bytes() else {
            return Err(format!("says that it holds {spec}, which has more bytes than 2^63"));
        };
        let left = length.map(|l| l.saturating_sub(size));
        if left.is_some_and(|left| left < bytes) {
            let left = left.unwrap_or(0);
            return Err(format!("is truncated: {spec} has {bytes} bytes, but only {left} follow the header"));
        }
        if left.is_some_and(|left| left > bytes) {
            let left = left.unwrap_or(0);
            return Err(format!("is too long: {spec} has {bytes} bytes, but {left} follow the header"));
        }
        Ok(Npy { spec, fortran: header.fortran, swapped, data: reader, left })
    }

    /// What the file holds.
    pub(crate) fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Reads the data.
    ///
    /// # Errors
    /// A message that fits behind the file's name.
    pub(crate) fn read(mut self) -> Result<Array, String> {
        let length = self.spec.bytes().unwrap_or(0) as usize;
        let mut bytes = match self.left {
            Some(_) => {
                let mut bytes = AlignedBytes::zeroed(length).map_err(|e| format!("cannot be loaded: {e}"))?;
                self.data.read_exact(&mut bytes).map_err(|e| match e.kind() {
                    io::ErrorKind::UnexpectedEof => "became shorter while it was read".to_string(),
                    _ => format!("cannot be read: {e}"),
                })?;
                bytes
            }
            None => self.read_stream(length)?,
        };
        let size = self.spec.dtype.size();
        if self.swapped {
            bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        if self.fortran {
            bytes = row_major(&bytes, self.spec.shape.dims(), size).map_err(|e| format!("cannot be loaded: {e}"))?;
        }
        Array::from_aligned(self.spec, bytes).map_err(|e| format!("holds no valid data: {e}"))
    }

    /// A stream may end early, so memory grows with what arrives and not with what the header says.
    fn read_stream(&mut self, length: usize) -> Result<AlignedBytes, String> {
        let mut bytes = Vec::new();
        let mut limited = (&mut self.data).take(length as u64 + 1);
        limited.read_to_end(&mut bytes).map_err(|e| format!("cannot be read: {e}"))?;
        let spec = &self.spec;
        match bytes.len() {
            found if found < length => {
                Err(format!("is truncated: {spec} has {length} bytes, but only {found} follow the header"))
            }
            found if found > length => {
                Err(format!("is too long: {spec} has {length} bytes, but more follow the header"))
            }
            _ => AlignedBytes::copy_of(&bytes).map_err(|e| format!("cannot be loaded: {e}")),
        }
    }
}

/// The elements of a column-major array in row-major order.
fn row_major(source: &[u8], dims: &[usize], size: usize) -> Result<AlignedBytes, monograph_ir::ArrayError> {
    let mut target = AlignedBytes::zeroed(source.len())?;
    let mut index = vec![0usize; dims.len()];
    let mut strides = vec![size; dims.len()];
    for axis in 1..dims.len() {
        // An empty array has no element to place, so a stride too large to count is never used.
        strides[axis] = strides[axis - 1].saturating_mul(dims[axis - 1]);
    }
    let mut from = 0;
    for element in target.chunks_exact_mut(size) {
        element.copy_from_slice(&source[from..from + size]);
        for axis in (0..dims.len()).rev() {
            index[axis] += 1;
            from += strides[axis];
            if index[axis] < dims[axis] {
                break;
            }
            from -= strides[axis] * dims[axis];
            index[axis] = 0;
        }
    }
    Ok(target)
}

/// The dtype of a type string such as `<f4`, and whether its bytes must be swapped on this machine.
fn dtype_of(descr: &str) -> Result<(DType, bool), String> {
    let (order, kind) = match descr.chars().next() {
        Some(order @ ('<' | '>' | '=' | '|')) => (order, &descr[1..]),
        _ => ('=', descr),
    };
    let dtype = match kind {
        "b1" | "?" => DType::Bool,
        "i1" => DType::I8,
        "u1" => DType::U8,
        "i4" => DType::I32,
        "u4" => DType::U32,
        "i8" => DType::I64,
        "f2" => DType::F16,
        "V2" => DType::BF16,
        "f4" => DType::F32,
        "f8" => DType::F64,
        _ => return Err(unsupported(descr, kind)),
    };
    Ok((dtype, order == if cfg!(target_endian = "little") { '>' } else { '<' }))
}

fn unsupported(descr: &str, kind: &str) -> String {
    let (what, remedy) = match kind {
        "i2" => ("int16", "convert it in Python: x.astype('int32')"),
        "u2" => ("uint16", "convert it: x.astype('int32'), or x.view('V2') if these are the bits of bfloat16"),
        "u8" => ("uint64", "convert it in Python: x.astype('int64')"),
        "f16" | "f12" => ("long double", "convert it in Python: x.astype('float64')"),
        _ => match kind.chars().next() {
            Some('c') => ("complex numbers", "save real and imaginary part as two arrays"),
            Some('O') => ("Python objects", "save an array of numbers"),
            Some('S' | 'a' | 'U') => ("strings", "save an array of numbers"),
            Some('M' | 'm') => ("times", "convert it in Python: x.astype('int64')"),
            _ => ("elements that are no numbers", "save an array of numbers"),
        },
    };
    format!("holds {what} ({descr:?}), which is none of the dtypes of programs; {remedy}")
}

/// The type string of a dtype in this machine's byte order.
fn descr_of(dtype: DType) -> String {
    let order = if cfg!(target_endian = "little") { '<' } else { '>' };
    match dtype {
        DType::Bool => "|b1".into(),
        DType::I8 => "|i1".into(),
        DType::U8 => "|u1".into(),
        DType::I32 => format!("{order}i4"),
        DType::U32 => format!("{order}u4"),
        DType::I64 => format!("{order}i8"),
        DType::F16 => format!("{order}f2"),
        DType::BF16 => format!("{order}V2"),
        DType::F32 => format!("{order}f4"),
        DType::F64 => format!("{order}f8"),
    }
}

/// Writes a tensor's elements, row-major and in this machine's byte order, behind the header of its spec.
///
/// # Errors
/// What the writer says.
pub(crate) fn write(out: &mut dyn Write, spec: &Spec, bytes: &[u8]) -> io::Result<()> {
    out.write_all(&header::bytes(&descr_of(spec.dtype), spec.shape.dims()))?;
    out.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_rows() {
        // [[1, 2, 3], [4, 5, 6]] lies column by column as 1 4 2 5 3 6.
        assert_eq!(row_major(&[1, 4, 2, 5, 3, 6], &[2, 3], 1).unwrap()[..], [1, 2, 3, 4, 5, 6]);
        assert_eq!(row_major(&[7], &[], 1).unwrap()[..], [7]);
        assert!(row_major(&[], &[usize::MAX, 0, usize::MAX], 4).unwrap().is_empty());
    }

    #[test]
    fn every_dtype_reads_what_it_writes() {
        for dtype in DType::ALL {
            assert_eq!(dtype_of(&descr_of(dtype)), Ok((dtype, false)));
        }
        assert_eq!(dtype_of(">f4"), Ok((DType::F32, cfg!(target_endian = "little"))));
        assert!(dtype_of("<c8").is_err_and(|e| e.contains("complex")));
        assert!(dtype_of("").is_err());
        assert!(dtype_of("é").is_err());
    }
}
