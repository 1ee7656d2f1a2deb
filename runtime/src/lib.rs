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
mod executable;
mod host;
mod view;

pub use cost::{BareLaunches, ReplayCost};
pub use device::Device;
pub use doctor::{CacheReport, DeviceReport, NvrtcReport, Report, doctor};
pub use executable::{Executable, Output};
pub use host::HostOptions;
pub use view::View;
