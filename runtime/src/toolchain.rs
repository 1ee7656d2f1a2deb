//! `NvrtcToolchain`: the [`Toolchain`] of this machine: NVRTC behind a disk cache, several programs at a time.

use crate::nvrtc::{Cache, CompileRequest, Compiled, Nvrtc};
use monograph_ir::plan::Program;
use monograph_ir::{Binary, Error, Resources, Target, Toolchain};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// NVRTC as it was found on this machine, and the cache of what it compiled.
pub struct NvrtcToolchain {
    nvrtc: &'static Nvrtc,
    cache: Cache,
}

impl NvrtcToolchain {
    /// Looks for NVRTC in the usual places; the cache is where the environment says.
    ///
    /// # Errors
    /// [`Error::Toolchain`] with the places that were searched and how to get NVRTC.
    pub fn open() -> Result<NvrtcToolchain, Error> {
        NvrtcToolchain::with_cache(Cache::from_env())
    }

    /// [`NvrtcToolchain::open`] with another cache.
    ///
    /// # Errors
    /// As [`NvrtcToolchain::open`].
    pub fn with_cache(cache: Cache) -> Result<NvrtcToolchain, Error> {
        let nvrtc = Nvrtc::find().map_err(|e| Error::Toolchain { message: e.to_string() })?;
        Ok(NvrtcToolchain { nvrtc, cache })
    }

    /// The library.
    pub fn nvrtc(&self) -> &'static Nvrtc {
        self.nvrtc
    }

    fn compile_one(&self, program: &Program, target: &Target) -> Result<Binary, Error> {
        let request = CompileRequest {
            name: &program.name,
            source: &program.source,
            arch: &target.arch,
            options: program.options.clone(),
            ptx_fallback: true,
        };
        let compiled = self.nvrtc.compile_cached(&request, &self.cache);
        compiled.map(binary).map_err(|e| Error::Toolchain { message: e.to_string() })
    }
}

fn binary(compiled: Compiled) -> Binary {
    let resources = compiled.kernels.into_iter().map(|(symbol, r)| Resources {
        symbol,
        registers: r.registers,
        shared: r.static_shared_bytes,
        stack: r.stack_bytes,
        spill_stores: r.spill_store_bytes,
        spill_loads: r.spill_load_bytes,
    });
    Binary { cubin: compiled.image, resources: resources.collect() }
}

impl Toolchain for NvrtcToolchain {
    fn compile(&self, programs: &[Program], target: &Target) -> Result<Vec<Binary>, Error> {
        let next = AtomicUsize::new(0);
        let slots: Vec<Mutex<Option<Result<Binary, Error>>>> = programs.iter().map(|_| Mutex::new(None)).collect();
        let worker = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let (Some(program), Some(slot)) = (programs.get(index), slots.get(index)) else { break };
                let result = self.compile_one(program, target);
                *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(programs.len());
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(worker);
            }
            worker();
        });
        slots
            .into_iter()
            .map(|slot| {
                let result = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
                result.unwrap_or_else(|| Err(Error::Internal("a program was not compiled".into())))
            })
            .collect()
    }
}
