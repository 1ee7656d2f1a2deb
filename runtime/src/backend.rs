//! What a device must be able to do, so that [`Device`](crate::Device) and [`Executable`](crate::Executable) need
//! not know which one they have.

use crate::{BareLaunches, ReplayCost, View};
use monograph_ir::plan::{Plan, Slot};
use monograph_ir::{Array, DeviceError, DeviceErrorKind, Error, Target};
use std::sync::Arc;

/// A device: the host, the emulator, or one GPU.
pub(crate) trait DeviceBackend: Send + Sync {
    /// Where arrays of the device lie: `host`, `emulated`, `cuda:0`.
    fn place(&self) -> String;

    /// The name for people: `NVIDIA H200 (cuda:0, sm_90a)`.
    fn describe(&self) -> String;

    /// What the compiler should generate code for.
    fn target(&self) -> Target;

    /// A copy of the array in the device's memory; the array itself if it lies there.
    fn upload(&self, array: &Array) -> Result<Array, Error>;

    /// Allocates the plan's memory, fills constants and states, and makes the plan ready to launch. The plan was
    /// verified, and the arrays fit its tables.
    fn load(&self, plan: Arc<Plan>, constants: &[Array], states: &[Array])
    -> Result<Box<dyn ExecutableBackend>, Error>;
}

/// Bytes for a copied input.
#[derive(Clone, Copy)]
pub(crate) enum Bytes<'a> {
    /// On the host.
    Host(&'a [u8]),
    /// In a storage of some device.
    Array(&'a Array),
    /// An output of another executable.
    View(&'a View),
}

/// One plan, loaded on one device. What it is given was checked against the plan.
pub(crate) trait ExecutableBackend: Send {
    /// Puts bytes into the resident buffer of a copied input, in order with launches before and after.
    fn write(&mut self, input: usize, bytes: Bytes<'_>) -> Result<(), Error>;

    /// Whether the array lies in this device's memory, where a bound input can read it.
    fn owns(&self, array: &Array) -> bool;

    /// Lets a bound input read the array where it lies; keeps it alive as long as a launch may read it.
    fn bind(&mut self, input: usize, array: &Array) -> Result<(), Error>;

    /// Forgets inputs that were written for a replay which does not take place.
    fn discard(&mut self) {}

    /// Runs the plan once. May return before it is complete.
    fn launch(&mut self) -> Result<(), Error>;

    /// Waits for all launches. Where a launch returns when it is complete, there is nothing to wait for.
    fn synchronize(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Waits, and copies bytes out of the plan's memory.
    fn read(&self, slot: Slot, bytes: &mut [u8]) -> Result<(), Error>;

    /// Replaces the contents of a state, in order with launches before and after.
    fn write_state(&mut self, state: usize, bytes: Bytes<'_>) -> Result<(), Error>;

    /// A place in the plan's memory that another executable can read, and that arrays on the device can be copied
    /// from.
    fn view(&self, slot: Slot, bytes: u64) -> View;

    /// A copy of the slot in an array on the device.
    fn to_device_array(&self, slot: Slot, spec: &monograph_ir::Spec) -> Result<Array, Error>;

    /// What the last replay cost, and starts counting anew.
    fn take_cost(&mut self) -> ReplayCost;

    /// Launches the plan as it stands, without looking at inputs, so many times, and measures that.
    fn measure_bare_launches(&mut self, _launches: u32) -> Result<BareLaunches, Error> {
        Err(Error::Device(DeviceError {
            kind: DeviceErrorKind::Unavailable,
            call: None,
            code: None,
            message: "this device launches no graph that could be measured".into(),
        }))
    }

    /// Compares what the device was told with the plan.
    fn compare_with_plan(&self) -> Result<(), Error> {
        Ok(())
    }

    /// The CUDA graph in DOT, as the driver prints it; `None` where there is none.
    fn driver_dot(&self) -> Result<Option<String>, Error> {
        Ok(None)
    }
}
