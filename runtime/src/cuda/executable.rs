//! `CudaExecutable`: an instantiated graph with its memory, and what a replay does.

use super::build::view;
use super::error::WithContext as _;
use super::inputs::Staging;
use super::storage::CudaStorage;
use crate::backend::{Bytes, ExecutableBackend};
use crate::driver::{DeviceMemory, DriverError, Event, GraphExec, KernelArgs, Memcpy, NodeId, Stream};
use crate::{BareLaunches, ReplayCost, View};
use monograph_ir::plan::{Plan, Region, Slot, Work};
use monograph_ir::{Array, DeviceError, DeviceErrorKind, Error, Spec};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The memory of a plan on one GPU. Views of outputs share it, so that an output can be copied on the device.
pub(super) struct Regions {
    pub(super) arena: Arc<DeviceMemory>,
    pub(super) inputs: Arc<DeviceMemory>,
    pub(super) constants: Arc<DeviceMemory>,
    pub(super) states: Arc<DeviceMemory>,
}

impl Regions {
    /// The allocation of a region; bound inputs have none here.
    pub(super) fn of(&self, region: Region) -> Option<&Arc<DeviceMemory>> {
        match region {
            Region::Arena => Some(&self.arena),
            Region::Inputs => Some(&self.inputs),
            Region::Constants => Some(&self.constants),
            Region::States => Some(&self.states),
            Region::Bound => None,
        }
    }

    /// A copy as it is when the graph is built. A bound input has no address yet; until it is patched, before the first
    /// launch, the target stands in for it, because the driver checks the addresses of a copy at once.
    pub(super) fn copy(&self, plan: &Plan, source: Slot, target: Slot, bytes: u64) -> Memcpy {
        let target = self.address(plan, target);
        let source = match self.address(plan, source) {
            0 => target,
            source => source,
        };
        Memcpy { target, source, bytes: bytes as usize }
    }

    /// The device address of a slot; 0 for a bound input, which is patched before the first launch.
    pub(super) fn address(&self, plan: &Plan, slot: Slot) -> u64 {
        let buffer = &plan.buffers[slot.buffer.index()];
        self.of(buffer.region).map_or(0, |m| m.pointer() + buffer.offset + slot.offset)
    }
}

/// A bound input: who reads it, and what it reads now.
#[derive(Default)]
pub(super) struct BoundInput {
    /// Launches that read it.
    pub(super) readers: Vec<u32>,
    /// The array that the graph's nodes point to.
    pub(super) array: Option<Array>,
    /// The address of its first byte.
    pub(super) address: u64,
}

/// A plan as an executable CUDA graph.
pub(super) struct CudaExecutable {
    // The executable graph goes before the memory that its nodes point to.
    pub(super) exec: GraphExec,
    pub(super) plan: Arc<Plan>,
    pub(super) regions: Regions,
    pub(super) staging: Staging,
    /// One entry an input, `Some` where it is bound.
    pub(super) bound: Vec<Option<BoundInput>>,
    /// Arrays that were bound before, until the event says that no launch reads them any more.
    pub(super) retired: Vec<(Array, Event)>,
    pub(super) stream: Arc<Stream>,
    pub(super) cost: ReplayCost,
}

impl CudaExecutable {
    fn patch(&mut self, launch: u32) -> Result<(), DriverError> {
        let address = |slot: &Slot| {
            let buffer = &self.plan.buffers[slot.buffer.index()];
            if buffer.region != Region::Bound {
                return self.regions.address(&self.plan, *slot);
            }
            let input = self.plan.inputs.iter().position(|i| i.buffer == slot.buffer);
            let bound = input.and_then(|i| self.bound[i].as_ref());
            bound.map_or(0, |b| b.address + slot.offset)
        };
        let node = NodeId(launch);
        match &self.plan.launches[launch as usize].work {
            Work::Kernel { reads, writes, .. } => {
                let addresses: Vec<u64> = reads.iter().chain(writes).map(address).collect();
                self.exec.set_kernel_args(node, &KernelArgs::pointers(&addresses))
            }
            Work::Copy { source, target, bytes } => {
                let copy = Memcpy { target: address(target), source: address(source), bytes: *bytes as usize };
                self.exec.set_memcpy(node, copy)
            }
            Work::Conditional { .. } | Work::Collective { .. } => Ok(()),
        }
    }

    /// Copies bytes from wherever they are to an offset of a region, in order on the stream.
    fn copy_in(&self, region: &DeviceMemory, offset: usize, bytes: Bytes<'_>) -> Result<u64, Error> {
        const WHAT: &str = "copying data to the device";
        let here = super::place(region.context());
        match bytes {
            Bytes::Host(bytes) => {
                region.write(offset, bytes, &self.stream).during(WHAT)?;
                Ok(bytes.len() as u64)
            }
            Bytes::Array(array) => match array.storage_as::<CudaStorage>() {
                Some(from) if from.memory.context().info().ordinal == region.context().info().ordinal => {
                    let copied = region.copy_async(offset, &from.memory, from.offset, from.bytes, &self.stream);
                    copied.during(WHAT)?;
                    Ok(from.bytes as u64)
                }
                _ => {
                    let bytes = array.bytes()?;
                    region.write(offset, &bytes, &self.stream).during(WHAT)?;
                    Ok(bytes.len() as u64)
                }
            },
            Bytes::View(view) if *view.place == *here => {
                let memory = view.memory.downcast_ref::<DeviceMemory>();
                let memory = memory.ok_or_else(|| Error::Internal("a CUDA view without CUDA memory".into()))?;
                let copied = region.copy_async(offset, memory, view.offset as usize, view.bytes as usize, &self.stream);
                copied.during(WHAT)?;
                Ok(view.bytes)
            }
            Bytes::View(view) => Err(Error::Device(DeviceError {
                kind: DeviceErrorKind::WrongDevice,
                call: None,
                code: None,
                message: format!(
                    "an output on {} cannot feed {here} directly; copy it out: `output.to_array()?`",
                    view.place
                ),
            })),
        }
    }

    fn what(&self) -> String {
        format!("replaying `{}`", self.plan.name)
    }
}

impl ExecutableBackend for CudaExecutable {
    fn write(&mut self, input: usize, bytes: Bytes<'_>) -> Result<(), Error> {
        let offset = self.plan.buffers[self.plan.inputs[input].buffer.index()].offset as usize;
        if let Bytes::Host(bytes) = bytes {
            let waited = self.staging.put(offset, bytes).during(&self.plan.name)?;
            self.cost.waits += u32::from(waited);
            return Ok(());
        }
        let copied = self.copy_in(&self.regions.inputs, offset, bytes)?;
        self.cost.copies += 1;
        self.cost.bytes_copied += copied;
        Ok(())
    }

    fn owns(&self, array: &Array) -> bool {
        let ordinal = self.stream.context().info().ordinal;
        array.storage_as::<CudaStorage>().is_some_and(|s| s.memory.context().info().ordinal == ordinal)
    }

    fn bind(&mut self, input: usize, array: &Array) -> Result<(), Error> {
        let storage = array.storage_as::<CudaStorage>();
        let storage = storage.ok_or_else(|| Error::Internal("a bound array is not in CUDA memory".into()))?;
        let address = storage.pointer();
        let Some(bound) = self.bound[input].as_mut() else {
            return Err(Error::Internal("a copied input cannot be bound".into()));
        };
        let unchanged = bound.array.is_some() && bound.address == address;
        if unchanged && bound.array.as_ref().is_some_and(|a| a.same_storage(array)) {
            return Ok(());
        }
        let alignment = self.plan.buffers[self.plan.inputs[input].buffer.index()].alignment;
        if !address.is_multiple_of(alignment) {
            return Err(Error::Device(DeviceError {
                kind: DeviceErrorKind::Misaligned,
                call: None,
                code: None,
                message: format!("input `{}` must be aligned to {alignment} bytes", self.plan.inputs[input].name),
            }));
        }
        if bound.array.is_some() {
            // Before anything changes: an array that launches may still read is never let go without its event.
            let event = Event::new(self.stream.context()).and_then(|e| e.record(&self.stream).map(|()| e));
            let event = event.during(&format!("binding input `{}`", self.plan.inputs[input].name))?;
            self.retired.retain(|(_, event)| !event.is_done().unwrap_or(false));
            self.retired.extend(bound.array.take().map(|old| (old, event)));
        }
        bound.array = Some(array.clone());
        let previous = std::mem::replace(&mut bound.address, address);
        if previous == address && unchanged {
            return Ok(());
        }
        let readers = self.bound[input].as_ref().map(|b| b.readers.clone()).unwrap_or_default();
        for &launch in &readers {
            if let Err(error) = self.patch(launch) {
                // Nothing points to the new array for sure, so the next replay patches all readers again.
                if let Some(bound) = self.bound[input].as_mut() {
                    bound.address = 0;
                }
                return Err(error).during(&format!("binding input `{}`", self.plan.inputs[input].name));
            }
        }
        self.cost.patched_nodes += readers.len() as u32;
        Ok(())
    }

    fn launch(&mut self) -> Result<(), Error> {
        let flushed = match self.staging.flush(&self.regions.inputs, &self.stream) {
            Ok(flushed) => flushed,
            Err(error) => {
                self.staging.discard();
                return Err(error).during(&self.what());
            }
        };
        self.cost.copies += flushed.copies;
        self.cost.bytes_copied += flushed.bytes;
        if let Err(error) = self.exec.launch(&self.stream) {
            return Err(error).during(&self.what());
        }
        self.cost.launches += 1;
        Ok(())
    }

    fn discard(&mut self) {
        self.staging.discard();
    }

    fn synchronize(&self) -> Result<(), Error> {
        self.stream.synchronize().during(&self.what())
    }

    fn read(&self, slot: Slot, bytes: &mut [u8]) -> Result<(), Error> {
        let buffer = &self.plan.buffers[slot.buffer.index()];
        match self.regions.of(buffer.region) {
            _ if bytes.is_empty() => Ok(()),
            Some(memory) => {
                memory.read((buffer.offset + slot.offset) as usize, bytes, &self.stream).during(&self.what())
            }
            None => Err(Error::Internal("a bound input is no output".into())),
        }
    }

    fn write_state(&mut self, state: usize, bytes: Bytes<'_>) -> Result<(), Error> {
        let offset = self.plan.buffers[self.plan.states[state].buffer.index()].offset as usize;
        self.copy_in(&self.regions.states, offset, bytes).map(|_| ())
    }

    fn view(&self, slot: Slot, bytes: u64) -> View {
        view(&self.plan, &self.regions, slot, bytes)
    }

    fn to_device_array(&self, slot: Slot, spec: &Spec) -> Result<Array, Error> {
        let bytes = spec.bytes().unwrap_or(0);
        let view = self.view(slot, bytes);
        let memory = DeviceMemory::new(self.stream.context(), bytes as usize);
        let memory = Arc::new(memory.during(&format!("allocating {bytes} bytes for an array"))?);
        self.copy_in(&memory, 0, Bytes::View(&view))?;
        let storage = CudaStorage { memory, offset: 0, bytes: bytes as usize, stream: self.stream.clone() };
        Ok(Array::from_storage(spec.clone(), Arc::new(storage))?)
    }

    fn take_cost(&mut self) -> ReplayCost {
        std::mem::take(&mut self.cost)
    }

    fn measure_bare_launches(&mut self, launches: u32) -> Result<BareLaunches, Error> {
        let what = self.what();
        if self.bound.iter().flatten().any(|b| b.array.is_none() || b.address == 0) {
            let message = format!("{what}: its bound inputs point nowhere yet; replay it once first");
            return Err(Error::Device(DeviceError {
                kind: DeviceErrorKind::Unavailable,
                call: None,
                code: None,
                message,
            }));
        }
        let (first, last) = (Event::timed(self.stream.context()), Event::timed(self.stream.context()));
        let (first, last) = (first.during(&what)?, last.during(&what)?);
        self.synchronize()?;
        let started = Instant::now();
        for _ in 0..launches {
            self.exec.launch(&self.stream).during(&what)?;
        }
        let host = started.elapsed() / launches.max(1);
        self.synchronize()?;
        first.record(&self.stream).during(&what)?;
        for _ in 0..launches {
            self.exec.launch(&self.stream).during(&what)?;
        }
        last.record(&self.stream).during(&what)?;
        last.synchronize().during(&what)?;
        let milliseconds = last.elapsed_ms(&first).during(&what)?;
        let device = Duration::from_secs_f64(f64::from(milliseconds) / 1e3 / f64::from(launches.max(1)));
        Ok(BareLaunches { host, device })
    }

    fn compare_with_plan(&self) -> Result<(), Error> {
        super::readback::compare(self)
    }

    fn driver_dot(&self) -> Result<Option<String>, Error> {
        let io = |e: std::io::Error| Error::Io { path: "a temporary file".into(), message: e.to_string() };
        let file = tempfile::NamedTempFile::new().map_err(io)?;
        self.exec.graph().write_dot(file.path()).during("printing the CUDA graph")?;
        std::fs::read_to_string(file.path()).map(Some).map_err(io)
    }
}

impl Drop for CudaExecutable {
    fn drop(&mut self) {
        // Launches that still run read the memory that is about to be freed.
        if let Err(error) = self.stream.synchronize() {
            tracing::error!(%error, plan = %self.plan.name, "could not wait for the last replay");
        }
    }
}
