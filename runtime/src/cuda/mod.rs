//! CUDA devices: arrays on a GPU, and plans as CUDA graphs that are built node by node.

mod build;
mod error;
mod executable;
mod inputs;
mod readback;
mod storage;

use crate::NvrtcToolchain;
use crate::backend::{DeviceBackend, ExecutableBackend};
use crate::driver::{Context, DeviceMemory, Stream};
use error::WithContext as _;
use monograph_ir::plan::Plan;
use monograph_ir::{Array, Error, Target, Toolchain};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use storage::CudaStorage;

/// One GPU with the stream on which all of its work is ordered.
pub(crate) struct Cuda {
    context: Arc<Context>,
    stream: Arc<Stream>,
    toolchain: NvrtcToolchain,
}

/// The stream of each device that is in use. Who opens a device twice gets the same one, and so does who opens it while
/// an array of it lives, because work that feeds other work is ordered by the device's one stream.
static STREAMS: Mutex<BTreeMap<u32, Weak<Stream>>> = Mutex::new(BTreeMap::new());

/// The CUDA device of that number, ready to compile and run.
pub(crate) fn device(number: u32) -> Result<Cuda, Error> {
    const WHAT: &str = "opening the CUDA device";
    let mut streams = STREAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let stream = match streams.get(&number).and_then(Weak::upgrade) {
        Some(stream) => stream,
        None => {
            let stream = Arc::new(Stream::new(&Context::new(number).during(WHAT)?).during(WHAT)?);
            streams.insert(number, Arc::downgrade(&stream));
            stream
        }
    };
    Ok(Cuda { context: stream.context().clone(), stream, toolchain: NvrtcToolchain::open()? })
}

impl Cuda {
    fn allocate(&self, bytes: u64, what: &str) -> Result<Arc<DeviceMemory>, Error> {
        let memory = DeviceMemory::new(&self.context, bytes as usize);
        memory.map(Arc::new).during(&format!("allocating {bytes} bytes for {what}"))
    }
}

/// `cuda:0`
fn place(context: &Context) -> String {
    format!("cuda:{}", context.info().ordinal)
}

impl DeviceBackend for Cuda {
    fn place(&self) -> String {
        place(&self.context)
    }

    fn describe(&self) -> String {
        let info = self.context.info();
        format!("{} ({}, {})", info.name, self.place(), info.arch())
    }

    fn target(&self) -> Target {
        let info = self.context.info();
        Target {
            arch: info.arch(),
            multiprocessors: info.sm_count,
            shared_per_block: info.shared_per_block as u32,
            l2_bytes: info.l2_bytes as u64,
        }
    }

    fn upload(&self, array: &Array) -> Result<Array, Error> {
        if array.place() == self.place() {
            return Ok(array.clone());
        }
        let bytes = array.bytes()?;
        let memory = self.allocate(bytes.len() as u64, "an array")?;
        memory.write(0, &bytes, &self.stream).during("uploading an array")?;
        let storage = CudaStorage { memory, offset: 0, bytes: bytes.len(), stream: self.stream.clone() };
        Ok(Array::from_storage(array.spec().clone(), Arc::new(storage))?)
    }

    fn load(
        &self,
        plan: Arc<Plan>,
        constants: &[Array],
        states: &[Array],
    ) -> Result<Box<dyn ExecutableBackend>, Error> {
        let missing: Vec<_> = plan.programs.iter().filter(|p| p.cubin.is_none()).cloned().collect();
        let mut compiled = self.toolchain.compile(&missing, &self.target())?.into_iter();
        let mut cubins = Vec::with_capacity(plan.programs.len());
        for program in &plan.programs {
            cubins.push(match &program.cubin {
                Some(cubin) => cubin.clone(),
                None => compiled
                    .next()
                    .map(|b| b.cubin)
                    .ok_or_else(|| Error::Internal("a program was not compiled".into()))?,
            });
        }
        build::load(self, plan, &cubins, constants, states).map(|e| Box::new(e) as Box<dyn ExecutableBackend>)
    }
}
