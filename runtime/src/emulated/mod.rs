//! The emulated device: the code of a plan's kernels, executed on the CPU with checks.
//!
//! Arrays lie on the host. A plan's memory is the emulator's, laid out as the planner chose, so that a wrong plan gives
//! wrong numbers, or a finding, here too.

use crate::backend::{Bytes, DeviceBackend, ExecutableBackend};
use crate::nvrtc::Cache;
use crate::{ReplayCost, View};
use monograph_emulator::{EmulatedPlan, Emulator, EmulatorOptions, PlanMemory};
use monograph_ir::plan::{BufferId, Plan, Slot};
use monograph_ir::{AlignedBytes, Array, Error, Spec, Target};
use std::any::Any;
use std::sync::Arc;

/// Where arrays of the device are said to lie.
pub(crate) const PLACE: &str = "emulated";

/// The emulator as a device.
pub(crate) struct Emulated {
    emulator: Emulator,
}

impl Emulated {
    /// Finds a C++ compiler; what it makes is kept beside what NVRTC makes.
    pub(crate) fn new(options: EmulatorOptions) -> Result<Emulated, Error> {
        Ok(Emulated { emulator: find(options)? })
    }
}

/// An emulator that keeps what it compiles in the user's cache.
pub(crate) fn find(options: EmulatorOptions) -> Result<Emulator, Error> {
    Emulator::find(options, Cache::from_env().folder().map(|folder| folder.join("emulator")))
}

impl DeviceBackend for Emulated {
    fn place(&self) -> String {
        PLACE.into()
    }

    fn describe(&self) -> String {
        self.emulator.describe()
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
        let mut emulated = self.emulator.load(plan.clone())?;
        let constants = plan.constants.iter().map(|c| c.buffer).zip(constants);
        let states = plan.states.iter().map(|s| s.buffer).zip(states);
        for (buffer, array) in constants.chain(states) {
            emulated.write(Slot { buffer, offset: 0 }, &array.bytes()?)?;
        }
        let bound = vec![None; plan.inputs.len()];
        Ok(Box::new(EmulatedExecutable { plan, emulated, bound, cost: ReplayCost::default() }))
    }
}

struct EmulatedExecutable {
    plan: Arc<Plan>,
    emulated: EmulatedPlan,
    /// For each bound input, the array whose bytes lie in its buffer.
    bound: Vec<Option<Array>>,
    cost: ReplayCost,
}

impl EmulatedExecutable {
    fn put(&mut self, buffer: BufferId, bytes: Bytes<'_>) -> Result<u64, Error> {
        let slot = Slot { buffer, offset: 0 };
        match bytes {
            Bytes::Host(bytes) => self.emulated.write(slot, bytes).map(|()| bytes.len() as u64),
            Bytes::Array(array) => {
                let bytes = array.bytes()?;
                self.emulated.write(slot, &bytes).map(|()| bytes.len() as u64)
            }
            Bytes::View(view) => {
                let bytes = read_view(view)?;
                self.emulated.write(slot, &bytes).map(|()| bytes.len() as u64)
            }
        }
    }
}

impl ExecutableBackend for EmulatedExecutable {
    fn write(&mut self, input: usize, bytes: Bytes<'_>) -> Result<(), Error> {
        self.cost.bytes_copied += self.put(self.plan.inputs[input].buffer, bytes)?;
        self.cost.copies += 1;
        Ok(())
    }

    fn owns(&self, array: &Array) -> bool {
        array.host_bytes().is_some()
    }

    fn bind(&mut self, input: usize, array: &Array) -> Result<(), Error> {
        // Arrays never change, so one that was bound before is there already.
        if self.bound[input].as_ref().is_some_and(|bound| bound.same_storage(array)) {
            return Ok(());
        }
        self.bound[input] = None;
        self.put(self.plan.inputs[input].buffer, Bytes::Array(array))?;
        self.bound[input] = Some(array.clone());
        Ok(())
    }

    fn launch(&mut self) -> Result<(), Error> {
        self.emulated.replay()?;
        self.cost.launches += 1;
        Ok(())
    }

    fn read(&self, slot: Slot, bytes: &mut [u8]) -> Result<(), Error> {
        self.emulated.read(slot, bytes)
    }

    fn write_state(&mut self, state: usize, bytes: Bytes<'_>) -> Result<(), Error> {
        self.put(self.plan.states[state].buffer, bytes).map(|_| ())
    }

    fn view(&self, slot: Slot, bytes: u64) -> View {
        let memory: Arc<dyn Any + Send + Sync> =
            Arc::new(EmulatedView { memory: self.emulated.memory().clone(), slot });
        View { place: PLACE.into(), memory, offset: 0, bytes }
    }

    fn to_device_array(&self, slot: Slot, spec: &Spec) -> Result<Array, Error> {
        let mut bytes = AlignedBytes::zeroed(spec.bytes().unwrap_or(0) as usize)?;
        self.read(slot, &mut bytes)?;
        Ok(Array::from_aligned(spec.clone(), bytes)?)
    }

    fn take_cost(&mut self) -> ReplayCost {
        std::mem::take(&mut self.cost)
    }
}

/// What a view of an emulated executable refers to.
struct EmulatedView {
    memory: Arc<PlanMemory>,
    slot: Slot,
}

/// The bytes that a view of an emulated executable shows.
fn read_view(view: &View) -> Result<Vec<u8>, Error> {
    let place = || format!("an output on {} reached the emulator without being copied", view.place);
    let emulated = view.memory.downcast_ref::<EmulatedView>().ok_or_else(|| Error::Internal(place()))?;
    let mut bytes = vec![0; view.bytes as usize];
    emulated.memory.read(emulated.slot, &mut bytes)?;
    Ok(bytes)
}
