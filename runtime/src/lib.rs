//! The runtime of Monograph: devices, NVRTC and its cache, the emitter of CUDA graphs, and replay.
//!
//! A [`Device`] loads a [`Plan`](monograph_ir::plan::Plan), after verifying it anew, into an [`Executable`]; replays
//! of it leave [`Output`]s. This crate knows nothing of tracing. All `unsafe` is in the private module `driver`.

#![deny(unsafe_code)]

mod backend;
mod cost;
mod cuda;
mod device;
mod doctor;
#[allow(unsafe_code, reason = "the one module that talks to the CUDA libraries")]
#[allow(dead_code, unused_imports, reason = "a complete layer: some calls serve diagnostics and tests only")]
mod driver;
mod emulated;
mod executable;
mod host;
pub mod nvrtc;
mod toolchain;
mod view;

pub use cost::{BareLaunches, ReplayCost};
pub use device::Device;
pub use doctor::{CacheReport, DeviceReport, NvrtcReport, Report, doctor};
pub use driver::{DeviceInfo, DriverError, DriverVersion, device_count, driver_version};
pub use executable::{Executable, Output};
pub use host::HostOptions;
pub use monograph_emulator::{EmulatorOptions, Schedule, UnknownSchedule};
pub use toolchain::NvrtcToolchain;
pub use view::View;
