//! `doctor`: what this machine has of what a CUDA device needs, as plain data.

use crate::Device;
use std::path::PathBuf;

/// The state of this machine. Every problem is a text that says what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// The newest CUDA version that the driver supports, `13.0`; or why there is no usable driver.
    pub driver: Result<String, String>,
    /// The devices that the driver shows this process.
    pub devices: Vec<DeviceReport>,
    /// The NVRTC library that is used; or why there is none.
    pub nvrtc: Result<NvrtcReport, String>,
    /// Where NVRTC is looked for, in order: file and why it is tried.
    pub searched: Vec<(PathBuf, String)>,
    /// The folder of compiled programs.
    pub cache: CacheReport,
}

/// One CUDA device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceReport {
    /// `cuda:0`.
    pub place: String,
    /// The product's name, its number and architecture.
    pub name: String,
    /// The problem that keeps programs from running on it, if there is one.
    pub problem: Option<String>,
}

/// An NVRTC library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NvrtcReport {
    /// `13.0`.
    pub version: String,
    /// The library's file.
    pub file: PathBuf,
    /// Why it was tried: `the dynamic loader's path`, `CUDA_HOME`, …
    pub origin: String,
    /// The architectures that it compiles for: `sm_80`, …
    pub architectures: Vec<String>,
}

/// The folder of compiled programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheReport {
    /// The folder; `None` where the cache is switched off.
    pub folder: Option<PathBuf>,
    /// Programs in it.
    pub programs: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Why nothing can be kept there, if nothing can.
    pub problem: Option<String>,
}

impl Report {
    /// Whether programs can run on a CUDA device.
    pub fn is_ready(&self) -> bool {
        self.driver.is_ok() && self.nvrtc.is_ok() && self.devices.iter().any(|d| d.problem.is_none())
    }
}

/// Looks for driver, devices, NVRTC and cache. Changes nothing, and fails never.
pub fn doctor() -> Report {
    let problem = match Device::cuda(0) {
        Ok(device) => device.describe(),
        Err(error) => error.to_string(),
    };
    Report {
        driver: Err(problem.clone()),
        devices: Vec::new(),
        nvrtc: Err(problem),
        searched: Vec::new(),
        cache: CacheReport { folder: None, programs: 0, bytes: 0, problem: None },
    }
}
