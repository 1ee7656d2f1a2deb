//! What every device refuses to launch, and what the emulator cannot check.

use crate::image::Image;
use monograph_ir::{DeviceError, DeviceErrorKind, Error};

/// The most dynamic shared memory that any CUDA device gives to a block, with the static arrays: room for it is there in
/// every executable that uses some.
pub(crate) const DYNAMIC_BYTES: u64 = 227 << 10;

/// The most static shared memory of a kernel; more is refused by CUDA's compiler.
const STATIC_BYTES: u64 = 48 << 10;

/// The most threads of a block on any CUDA device: in all, and in each direction.
const THREADS: u64 = 1024;
const BLOCK: [u32; 3] = [1024, 1024, 64];

/// The most blocks of a grid in each direction.
const GRID: [u32; 3] = [(1 << 31) - 1, 65535, 65535];

/// A checked launch numbers its threads, and these for each block that perform copies, with 32 bits.
const COPYING_THREADS: u64 = 8;

/// How a kernel is launched.
#[derive(Clone, Copy)]
pub(crate) struct Shape<'a> {
    pub(crate) symbol: &'a str,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub(crate) shared: u32,
}

impl Shape<'_> {
    /// Refuses what every device refuses, and, where the launch is to be checked, a grid that cannot be.
    pub(crate) fn check(&self, checked: bool) -> Result<(), Error> {
        let Shape { symbol, grid, block, shared } = *self;
        match self.problem(checked) {
            None => Ok(()),
            Some(problem) => Err(refused(format!(
                "kernel {symbol} cannot be launched as {grid:?} blocks of {block:?} threads with {shared} bytes: {problem}"
            ))),
        }
    }

    fn problem(&self, checked: bool) -> Option<String> {
        let Shape { grid, block, shared, .. } = *self;
        let over = |counts: [u32; 3], most: [u32; 3]| counts.iter().zip(most).any(|(&count, most)| count > most);
        let threads: u64 = block.iter().map(|&n| u64::from(n)).product();
        let blocks: u128 = grid.iter().map(|&n| u128::from(n)).product();
        if grid.contains(&0) || block.contains(&0) {
            Some("a grid and a block have at least one member in each direction".into())
        } else if over(grid, GRID) {
            Some(format!("a grid has at most {GRID:?} blocks in each direction"))
        } else if over(block, BLOCK) {
            Some(format!("a block has at most {BLOCK:?} threads in each direction"))
        } else if threads > THREADS {
            Some(format!("a block has at most {THREADS} threads"))
        } else if u64::from(shared) > DYNAMIC_BYTES {
            Some(format!("no device gives more than {DYNAMIC_BYTES} bytes of dynamic shared memory to a block"))
        } else if checked && blocks > u128::from(u64::from(u32::MAX) / (threads + COPYING_THREADS)) {
            Some("the grid is too large to be checked; emulate it without checks, or with fewer blocks".into())
        } else {
            None
        }
    }

    /// Refuses a launch that does not fit the kernel, as it was compiled.
    pub(crate) fn check_kernel(&self, image: &Image, parameters: usize) -> Result<(), Error> {
        let symbol = self.symbol;
        if let Some(takes) = image.parameters(symbol)
            && takes as usize != parameters
        {
            return Err(refused(format!("kernel {symbol} takes {takes} parameters, but was given {parameters}")));
        }
        let fixed = image.static_bytes(symbol);
        if fixed > STATIC_BYTES {
            return Err(refused(format!(
                "kernel {symbol} has {fixed} bytes of static shared memory, and CUDA compiles none with more than \
                 {STATIC_BYTES}; declare it `extern __shared__` and give its size at the launch"
            )));
        }
        if fixed + u64::from(self.shared) > DYNAMIC_BYTES {
            return Err(refused(format!(
                "kernel {symbol} cannot be launched with {fixed} bytes of static and {} bytes of dynamic shared memory: \
                 no device gives more than {DYNAMIC_BYTES} to a block",
                self.shared
            )));
        }
        Ok(())
    }
}

fn refused(message: String) -> Error {
    Error::Device(DeviceError { kind: DeviceErrorKind::Driver, call: None, code: None, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_of_any_device_pass() {
        let fine = Shape { symbol: "f", grid: [1; 3], block: [1; 3], shared: 0 };
        for shape in [
            fine,
            Shape { grid: [4_000_000, 1, 1], block: [1024, 1, 1], ..fine },
            Shape { block: [2, 8, 64], shared: 227 << 10, ..fine },
        ] {
            assert!(shape.check(true).is_ok(), "{:?} {:?}", shape.grid, shape.block);
        }
        assert!(Shape { grid: [(1 << 31) - 1, 65535, 65535], ..fine }.check(false).is_ok());
    }

    #[test]
    fn what_no_device_launches_is_refused() {
        let fine = Shape { symbol: "f", grid: [1; 3], block: [1; 3], shared: 0 };
        for (shape, words) in [
            (Shape { grid: [1 << 31, 1, 1], ..fine }, "blocks in each direction"),
            (Shape { grid: [1, 65536, 1], ..fine }, "blocks in each direction"),
            (Shape { grid: [1, 1, 65536], ..fine }, "blocks in each direction"),
            (Shape { block: [1, 1, 65], ..fine }, "threads in each direction"),
            (Shape { block: [2048, 1, 1], ..fine }, "threads in each direction"),
            (Shape { block: [32, 33, 1], ..fine }, "at most 1024 threads"),
            (Shape { block: [1, 0, 1], ..fine }, "at least one"),
            (Shape { shared: (227 << 10) + 1, ..fine }, "dynamic shared memory"),
        ] {
            let error = shape.check(false).unwrap_err();
            assert!(matches!(&error, Error::Device(e) if e.kind == DeviceErrorKind::Driver), "{error}");
            assert!(error.to_string().contains(words), "{error}");
        }
        let large = Shape { grid: [5_000_000, 1, 1], block: [1024, 1, 1], ..fine };
        assert!(large.check(false).is_ok());
        assert!(large.check(true).unwrap_err().to_string().contains("too large to be checked"));
    }
}
