//! `Device`: where plans run.

use crate::backend::DeviceBackend;
use crate::emulated::Emulated;
use crate::executable::Executable;
use crate::host::{Host, HostOptions};
use monograph_emulator::EmulatorOptions;
use monograph_ir::plan::{Plan, verify_plan};
use monograph_ir::{Array, Error, Spec, Target};
use std::fmt;
use std::sync::Arc;

/// The host, the emulator, or one GPU. Cheap to clone; clones are the same device.
#[derive(Clone)]
pub struct Device(pub(crate) Arc<dyn DeviceBackend>);

impl Device {
    /// The host: runs plans through the reference interpreter, without any GPU.
    pub fn host() -> Device {
        Device::host_with(HostOptions::default())
    }

    /// The host with choices for testing plans.
    pub fn host_with(options: HostOptions) -> Device {
        Device(Arc::new(Host::new(options)))
    }

    /// The emulator: executes the code of the kernels on the CPU, and checks every access to memory. Slow, and needs a
    /// C++ compiler, but no GPU. What is wrong with a kernel is an [`Error::Finding`] of the replay.
    ///
    /// # Errors
    /// [`Error::Toolchain`] where there is no C++ compiler, with how to get one; [`Error::Device`] on a machine that the
    /// emulator does not know; [`Error::Io`] where the cache's folder cannot be made.
    pub fn emulated() -> Result<Device, Error> {
        Device::emulated_with(EmulatorOptions::default())
    }

    /// The emulator with choices: the order of threads and launches, without checks, another time limit.
    ///
    /// # Errors
    /// As [`Device::emulated`].
    pub fn emulated_with(options: EmulatorOptions) -> Result<Device, Error> {
        Ok(Device(Arc::new(Emulated::new(options)?)))
    }

    /// The CUDA device of that number. Who asks twice gets the same device.
    ///
    /// # Errors
    /// [`Error::Device`] or [`Error::Toolchain`] where there is no driver, no such device or no NVRTC, each with how
    /// to get it.
    pub fn cuda(number: u32) -> Result<Device, Error> {
        crate::cuda::device(number).map(|d| Device(Arc::new(d)))
    }

    /// The first CUDA device if it can be used, else the host. Logs which, and why not CUDA, with `tracing`.
    pub fn best() -> Device {
        match Device::cuda(0) {
            Ok(device) => {
                tracing::info!(device = %device.describe(), "using CUDA");
                device
            }
            Err(error) => {
                tracing::warn!(%error, "CUDA cannot be used, so the host runs the program through the interpreter");
                Device::host()
            }
        }
    }

    /// Where arrays of the device lie: `host`, `emulated`, `cuda:0`.
    pub fn place(&self) -> String {
        self.0.place()
    }

    /// The name for people: `NVIDIA H200 (cuda:0, sm_90a)`.
    pub fn describe(&self) -> String {
        self.0.describe()
    }

    /// Whether it is the host.
    pub fn is_host(&self) -> bool {
        self.place() == "host"
    }

    /// Whether it is the emulator.
    pub fn is_emulated(&self) -> bool {
        self.place() == crate::emulated::PLACE
    }

    /// What code for this device is generated for.
    pub fn target(&self) -> Target {
        self.0.target()
    }

    /// A copy of an array in the device's memory; the array itself if it lies there. What a bound input needs.
    ///
    /// # Errors
    /// [`Error::Device`] where there is not enough memory.
    pub fn upload(&self, array: &Array) -> Result<Array, Error> {
        self.0.upload(array)
    }

    /// Verifies a plan and makes it ready to replay. `constants` and `states` are the data of its tables, in order.
    ///
    /// # Errors
    /// [`Error::Plan`] for a plan that is not sound, [`Error::Input`] for data that does not fit it,
    /// [`Error::Toolchain`] where a kernel does not compile, [`Error::Device`] where the device refuses.
    pub fn load(&self, plan: Plan, constants: &[Array], states: &[Array]) -> Result<Executable, Error> {
        verify_plan(&plan)?;
        fits("constant", plan.constants.iter().map(|c| (&c.name, &c.spec)), constants)?;
        fits("state", plan.states.iter().map(|s| (&s.name, &s.spec)), states)?;
        let plan = Arc::new(plan);
        let backend = self.0.load(plan.clone(), constants, states)?;
        Ok(Executable::new(self.clone(), plan, backend))
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.describe())
    }
}

/// Checks data against a table of the plan.
pub(crate) fn fits<'a>(
    what: &'static str,
    table: impl ExactSizeIterator<Item = (&'a String, &'a Spec)>,
    arrays: &[Array],
) -> Result<(), Error> {
    if table.len() != arrays.len() {
        return Err(Error::Count { what, expected: table.len(), found: arrays.len() });
    }
    for ((name, spec), array) in table.zip(arrays) {
        if array.spec() != spec {
            let found = array.spec().to_string();
            return Err(Error::Input { what, name: name.clone(), expected: spec.clone(), found });
        }
    }
    Ok(())
}
