//! Loaded machine code and its kernels.

use std::ffi::{CString, c_int};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{self, CUfunction, CUfunction_attribute, CUmodule, CUresult};

use super::{Context, DriverError, cubin};

/// A loaded cubin (or PTX text). `Send` and `Sync`: the driver synchronizes module calls.
#[derive(Debug)]
pub(crate) struct Module {
    raw: CUmodule,
    /// What was loaded, which says more of its kernels than the driver does.
    image: Box<[u8]>,
    context: Arc<Context>,
}

// SAFETY: `raw` is a handle that this value owns; the driver's module calls are thread-safe.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

/// What one kernel takes of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FunctionAttributes {
    /// Registers of one thread.
    pub(crate) registers: u32,
    /// Local memory of one thread in bytes (spills and arrays).
    pub(crate) local_bytes: usize,
    /// Shared memory declared in the source, in bytes.
    pub(crate) static_shared_bytes: usize,
    /// The most threads that a block of it can have.
    pub(crate) max_threads: u32,
}

/// A kernel of a [`Module`], which it keeps loaded.
#[derive(Debug)]
pub(crate) struct Function {
    raw: CUfunction,
    name: String,
    parameter_bytes: Vec<usize>,
    attributes: FunctionAttributes,
    dynamic_shared: Mutex<usize>,
    module: Arc<Module>,
}

// SAFETY: `raw` is a handle into `module`, which outlives it; the driver's function calls are thread-safe.
unsafe impl Send for Function {}
// SAFETY: as above; the one mutable field is behind a mutex.
unsafe impl Sync for Function {}

impl Module {
    /// Loads a cubin, or PTX text for the driver to compile.
    pub(crate) fn load(context: &Arc<Context>, image: &[u8]) -> Result<Arc<Module>, DriverError> {
        // The driver takes no length: an ELF image says its own, text ends at a NUL. The copy adds that NUL, and is
        // made of words because the driver reads the ELF header as such.
        let mut words = vec![0_u64; image.len() / 8 + 1];
        bytemuck::cast_slice_mut(&mut words)[..image.len()].copy_from_slice(image);
        let mut raw = std::ptr::null_mut();
        // SAFETY: `words` and `raw` outlive the call, after which the driver has its own copy of the image. The new
        // `Module` owns the handle and keeps the context alive.
        context.call("cuModuleLoadData", || unsafe { sys::cuModuleLoadData(&mut raw, words.as_ptr().cast()) })?;
        Ok(Arc::new(Module { raw, image: image.into(), context: context.clone() }))
    }

    /// Finds a kernel by its symbol.
    pub(crate) fn function(self: &Arc<Module>, name: &str) -> Result<Arc<Function>, DriverError> {
        let text = CString::new(name).map_err(|_| DriverError::Nul { what: "a kernel's symbol", text: name.into() })?;
        let mut raw = std::ptr::null_mut();
        // SAFETY: `text` and `raw` outlive the call; the handle lives as long as the module, which `Function` holds.
        self.context
            .call("cuModuleGetFunction", || unsafe { sys::cuModuleGetFunction(&mut raw, self.raw, text.as_ptr()) })?;
        let attribute = |which| -> Result<usize, DriverError> {
            let mut value: c_int = 0;
            // SAFETY: the handle is valid while `self` is, and `value` outlives the call.
            self.context.call("cuFuncGetAttribute", || unsafe { sys::cuFuncGetAttribute(&mut value, which, raw) })?;
            Ok(usize::try_from(value).unwrap_or(0))
        };
        use CUfunction_attribute as A;
        let attributes = FunctionAttributes {
            registers: attribute(A::CU_FUNC_ATTRIBUTE_NUM_REGS)? as u32,
            local_bytes: attribute(A::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            static_shared_bytes: attribute(A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            max_threads: attribute(A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)? as u32,
        };
        let dynamic_shared = Mutex::new(attribute(A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?);
        let parameter_bytes = match cubin::parameters(&self.image, name) {
            Some(sizes) => sizes,
            None => parameters(&self.context, raw)?,
        };
        let module = self.clone();
        Ok(Arc::new(Function { raw, name: name.into(), parameter_bytes, attributes, dynamic_shared, module }))
    }
}

/// The size of every parameter that a kernel declares, as the driver says. The last of these calls fails by design.
pub(super) fn parameters(context: &Context, raw: CUfunction) -> Result<Vec<usize>, DriverError> {
    let mut sizes = Vec::new();
    loop {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: `raw` is a function of a loaded module, and both numbers outlive the call.
        let result = context.call_raw("cuFuncGetParamInfo", || unsafe {
            sys::cuFuncGetParamInfo(raw, sizes.len(), &mut offset, &mut size)
        })?;
        match result {
            CUresult::CUDA_SUCCESS => sizes.push(size),
            // The driver's answer to an index past the last parameter.
            CUresult::CUDA_ERROR_INVALID_VALUE => return Ok(sizes),
            failed => return Err(DriverError::from_result("cuFuncGetParamInfo", failed)),
        }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: owned here; every `Function`, graph and graph executable that used it held this value by `Arc`.
        self.context.destroy("cuModuleUnload", || unsafe { sys::cuModuleUnload(self.raw) });
    }
}

impl Function {
    /// The handle, valid while `self` is borrowed.
    pub(super) fn raw(&self) -> CUfunction {
        self.raw
    }

    /// The device of this kernel.
    pub(super) fn context(&self) -> &Arc<Context> {
        &self.module.context
    }

    /// The symbol.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The size in bytes of every declared parameter.
    pub(crate) fn parameter_bytes(&self) -> &[usize] {
        &self.parameter_bytes
    }

    /// What it takes of the device.
    pub(crate) fn attributes(&self) -> FunctionAttributes {
        self.attributes
    }

    /// Allows launches with this much dynamic shared memory. Never lowers what an earlier call allowed, so that
    /// several nodes can use one kernel with different amounts.
    pub(crate) fn allow_dynamic_shared(&self, bytes: usize) -> Result<(), DriverError> {
        // Held during the call, so that a smaller amount of another thread cannot arrive at the driver last.
        let mut allowed = self.dynamic_shared.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes <= *allowed {
            return Ok(());
        }
        let which = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let value = c_int::try_from(bytes).unwrap_or(c_int::MAX);
        // SAFETY: the handle is valid while `self` is.
        self.context().call("cuFuncSetAttribute", || unsafe { sys::cuFuncSetAttribute(self.raw, which, value) })?;
        *allowed = bytes;
        Ok(())
    }

    /// How many blocks of `threads` threads and `dynamic_shared` bytes fit onto one multiprocessor together.
    pub(crate) fn blocks_per_sm(&self, threads: u32, dynamic_shared: usize) -> Result<u32, DriverError> {
        let mut blocks = 0;
        let threads = c_int::try_from(threads).unwrap_or(c_int::MAX);
        // SAFETY: the handle is valid while `self` is, and `blocks` outlives the call.
        self.context().call("cuOccupancyMaxActiveBlocksPerMultiprocessor", || unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, self.raw, threads, dynamic_shared)
        })?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }
}
