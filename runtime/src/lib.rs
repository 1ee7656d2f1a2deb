//! The runtime of Monograph: devices, NVRTC, graph emission and replay. See `ARCHITECTURE.md`.
#![deny(unsafe_code)]

#[allow(unsafe_code, reason = "the one module that talks to the CUDA libraries")]
#[allow(dead_code, unused_imports, reason = "a complete layer: some calls serve diagnostics and tests only")]
mod driver;
pub mod nvrtc;

pub use driver::{DeviceInfo, DriverError, DriverVersion, device_count, driver_version};
