//! The host device: runs a plan launch by launch, in the plan's own memory, through the reference interpreter.
//!
//! It is the default where there is no GPU, and a test of the plan everywhere: intermediate values live at the
//! offsets that the planner chose, so a wrong plan gives wrong numbers here too. [`HostOptions`] makes it strict:
//! launches in a random order that the edges allow, in an arena full of NaN.

mod memory;

use crate::backend::{Bytes, DeviceBackend, ExecutableBackend};
use crate::{ReplayCost, View};
use memory::Memory;
use monograph_ir::interp::{self, EvalError, Tensor};
use monograph_ir::plan::{Orders, Plan, Region, Slot, Work};
use monograph_ir::{Array, DeviceError, DeviceErrorKind, Error, Spec, Target};
use std::any::Any;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard};

/// Choices of the host device that find wrong plans.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostOptions {
    /// Launches run in a random order that the edges allow, another one at each replay, drawn from this seed.
    pub shuffle: Option<u64>,
    /// The arena is filled with bytes `0xff`, NaN in every float dtype, before each replay.
    pub poison: bool,
}

/// The host as a device.
pub(crate) struct Host {
    options: HostOptions,
}

impl Host {
    pub(crate) fn new(options: HostOptions) -> Host {
        Host { options }
    }
}

impl DeviceBackend for Host {
    fn place(&self) -> String {
        "host".into()
    }

    fn describe(&self) -> String {
        "host (reference interpreter)".into()
    }

    fn target(&self) -> Target {
        Target::default()
    }

    fn upload(&self, array: &Array) -> Result<Array, Error> {
        Ok(array.host()?)
    }

    fn load(
        &self,
        plan: Arc<Plan>,
        constants: &[Array],
        states: &[Array],
    ) -> Result<Box<dyn ExecutableBackend>, Error> {
        let mut memory = Memory::new(&plan)?;
        for (constant, array) in plan.constants.iter().zip(constants) {
            memory.write(Slot { buffer: constant.buffer, offset: 0 }, &plan, &array.bytes()?);
        }
        for (state, array) in plan.states.iter().zip(states) {
            memory.write(Slot { buffer: state.buffer, offset: 0 }, &plan, &array.bytes()?);
        }
        Ok(Box::new(HostExecutable {
            bound: vec![None; plan.buffers.len()],
            memory: Arc::new(Mutex::new(memory)),
            orders: Orders::new(&plan, self.options.shuffle),
            poison: self.options.poison,
            cost: ReplayCost::default(),
            plan,
        }))
    }
}

struct HostExecutable {
    plan: Arc<Plan>,
    /// Shared with the views of outputs; locked for a whole replay.
    memory: Arc<Mutex<Memory>>,
    /// The array of each bound buffer.
    bound: Vec<Option<Array>>,
    orders: Orders,
    poison: bool,
    cost: ReplayCost,
}

/// A lock that a panic elsewhere cannot spoil: the memory is plain bytes.
fn lock(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl HostExecutable {
    fn put(&mut self, buffer: monograph_ir::plan::BufferId, bytes: Bytes<'_>) -> Result<u64, Error> {
        let slot = Slot { buffer, offset: 0 };
        let owned;
        let bytes: &[u8] = match bytes {
            Bytes::Host(bytes) => bytes,
            Bytes::Array(array) => {
                owned = array.bytes()?.into_owned();
                &owned
            }
            Bytes::View(view) => {
                owned = read_view(view)?;
                &owned
            }
        };
        lock(&self.memory).write(slot, &self.plan, bytes);
        Ok(bytes.len() as u64)
    }

    /// The bytes at a slot of any region.
    fn bytes<'a>(&'a self, memory: &'a Memory, slot: Slot, length: usize) -> Result<Cow<'a, [u8]>, Error> {
        if self.plan.buffers[slot.buffer.index()].region != Region::Bound || length == 0 {
            return Ok(memory.read(slot, &self.plan, length).into());
        }
        let array = self.bound[slot.buffer.index()].as_ref();
        let array = array.ok_or_else(|| Error::Internal("a bound input was never given".into()))?;
        let range = slot.offset as usize..slot.offset as usize + length;
        Ok(match array.bytes()? {
            Cow::Borrowed(bytes) => bytes[range].into(),
            Cow::Owned(bytes) => bytes[range].to_vec().into(),
        })
    }

    fn tensor(&self, memory: &Memory, slot: Slot, spec: &Spec) -> Result<Tensor, Error> {
        let bytes = self.bytes(memory, slot, spec.bytes().unwrap_or(0) as usize)?;
        Tensor::from_bytes(spec.clone(), &bytes)
            .map_err(|e| Error::Internal(format!("a launch reads what is no {spec}: {e}")))
    }

    fn run(&self, memory: &mut Memory, work: &Work) -> Result<(), Error> {
        match work {
            Work::Kernel { kernel, reads, writes } => {
                let kernel = &self.plan.kernels[kernel.index()];
                let inputs = reads.iter().zip(&kernel.reads).map(|(&s, a)| self.tensor(memory, s, &a.spec));
                let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
                let results = interp::evaluate(&kernel.body, &inputs).map_err(|e| failed(&kernel.name, &e))?;
                for (&slot, result) in writes.iter().zip(&results) {
                    memory.write(slot, &self.plan, result.bytes());
                }
                Ok(())
            }
            Work::Copy { source, target, bytes } => {
                let copied = self.bytes(memory, *source, *bytes as usize)?.into_owned();
                memory.write(*target, &self.plan, &copied);
                Ok(())
            }
            Work::Conditional { .. } | Work::Collective { .. } => {
                Err(Error::Internal("the plan verifier accepts no such launch".into()))
            }
        }
    }
}

impl ExecutableBackend for HostExecutable {
    fn write(&mut self, input: usize, bytes: Bytes<'_>) -> Result<(), Error> {
        self.cost.bytes_copied += self.put(self.plan.inputs[input].buffer, bytes)?;
        self.cost.copies += 1;
        Ok(())
    }

    fn owns(&self, array: &Array) -> bool {
        array.host_bytes().is_some()
    }

    fn bind(&mut self, input: usize, array: &Array) -> Result<(), Error> {
        self.bound[self.plan.inputs[input].buffer.index()] = Some(array.clone());
        Ok(())
    }

    fn launch(&mut self) -> Result<(), Error> {
        let order = self.orders.next(&self.plan);
        let mut memory = lock(&self.memory);
        if self.poison {
            memory.poison_arena();
        }
        for launch in order {
            self.run(&mut memory, &self.plan.launches[launch].work)?;
        }
        self.cost.launches += 1;
        Ok(())
    }

    fn read(&self, slot: Slot, bytes: &mut [u8]) -> Result<(), Error> {
        let length = bytes.len();
        bytes.copy_from_slice(lock(&self.memory).read(slot, &self.plan, length));
        Ok(())
    }

    fn write_state(&mut self, state: usize, bytes: Bytes<'_>) -> Result<(), Error> {
        self.put(self.plan.states[state].buffer, bytes).map(|_| ())
    }

    fn view(&self, slot: Slot, bytes: u64) -> View {
        let memory: Arc<dyn Any + Send + Sync> =
            Arc::new(HostView { memory: self.memory.clone(), plan: self.plan.clone(), slot });
        View { place: "host".into(), memory, offset: 0, bytes }
    }

    fn to_device_array(&self, slot: Slot, spec: &Spec) -> Result<Array, Error> {
        let mut bytes = monograph_ir::array::AlignedBytes::zeroed(spec.bytes().unwrap_or(0) as usize)?;
        self.read(slot, &mut bytes)?;
        Ok(Array::from_aligned(spec.clone(), bytes)?)
    }

    fn take_cost(&mut self) -> ReplayCost {
        std::mem::take(&mut self.cost)
    }
}

/// The interpreter's error as that of a device.
fn failed(kernel: &str, error: &EvalError) -> Error {
    match error {
        EvalError::OutOfMemory { .. } => Error::Device(DeviceError {
            kind: DeviceErrorKind::OutOfMemory,
            call: None,
            code: None,
            message: format!("the host ran kernel {kernel} out of memory: {error}; make the program smaller"),
        }),
        _ => Error::Internal(format!("kernel {kernel} cannot be interpreted: {error}")),
    }
}

/// What a view of a host executable refers to.
struct HostView {
    memory: Arc<Mutex<Memory>>,
    plan: Arc<Plan>,
    slot: Slot,
}

/// The bytes that a view of a host executable shows.
fn read_view(view: &View) -> Result<Vec<u8>, Error> {
    let host = view
        .memory
        .downcast_ref::<HostView>()
        .ok_or_else(|| Error::Internal(format!("an output on {} reached the host without being copied", view.place)))?;
    Ok(lock(&host.memory).read(host.slot, &host.plan, view.bytes as usize).to_vec())
}
