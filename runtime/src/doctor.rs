//! `doctor`: what this machine has of what a CUDA device needs, as plain data.

use crate::Device;
use crate::driver::{self, Context};
use crate::nvrtc::{Cache, Nvrtc};
use monograph_emulator::{Emulator, EmulatorOptions};
use monograph_ir::Error;
use std::fs;
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
    /// The C++ compiler that the emulator uses, `g++ 12.2.0`; or why there is no emulator.
    pub emulator: Result<String, String>,
    /// The folder of compiled programs.
    pub cache: CacheReport,
}

/// One CUDA device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceReport {
    /// `cuda:0`.
    pub place: String,
    /// The product's name, its architecture and memory.
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

/// Looks for driver, devices, NVRTC, the emulator and cache. Changes nothing, and fails never: what fails is in the report.
pub fn doctor() -> Report {
    let driver = driver::driver_version().and_then(|version| driver::device_count().map(|count| (version, count)));
    let count = driver.as_ref().map_or(0, |(_, count)| *count);
    Report {
        driver: driver.map(|(version, _)| version.to_string()).map_err(|error| error.to_string()),
        devices: (0..count).map(device).collect(),
        nvrtc: Nvrtc::find().map(library).map_err(|error| error.to_string()),
        emulator: emulator().map_err(|error| error.to_string()),
        cache: cache(&Cache::from_env()),
    }
}

fn device(number: u32) -> DeviceReport {
    let problem = Device::cuda(number).err().map(|error| error.to_string());
    let name = match Context::new(number) {
        Ok(context) => {
            let info = context.info();
            let gib = info.total_memory as f64 / f64::from(1 << 30);
            format!("{}, {}, {gib:.0} GiB", info.name, info.arch())
        }
        Err(_) => "unknown device".into(),
    };
    DeviceReport { place: format!("cuda:{number}"), name, problem }
}

fn library(nvrtc: &Nvrtc) -> NvrtcReport {
    let (major, minor) = nvrtc.version();
    NvrtcReport {
        version: format!("{major}.{minor}"),
        file: nvrtc.file().to_path_buf(),
        origin: nvrtc.origin().to_string(),
        architectures: nvrtc.supported_archs().iter().map(|number| format!("sm_{number}")).collect(),
    }
}

/// Looks for the compiler; nothing is compiled, and nothing kept.
fn emulator() -> Result<String, Error> {
    Ok(Emulator::find(EmulatorOptions::default(), None)?.compiler().to_string())
}

fn cache(cache: &Cache) -> CacheReport {
    let mut report = CacheReport { folder: cache.folder().map(PathBuf::from), programs: 0, bytes: 0, problem: None };
    // A folder that is not there yet is made when the first program is kept.
    let Some(folder) = report.folder.as_ref().filter(|f| f.exists()) else { return report };
    match fs::read_dir(folder) {
        Ok(entries) => {
            let files = entries.flatten().filter(|e| e.path().extension().is_some_and(|x| x == "cubin"));
            for metadata in files.filter_map(|e| e.metadata().ok()) {
                report.programs += 1;
                report.bytes += metadata.len();
            }
            if fs::metadata(folder).is_ok_and(|m| m.permissions().readonly()) {
                report.problem = Some("nothing can be written there, so every start compiles anew".into());
            }
        }
        Err(error) => report.problem = Some(format!("it cannot be read: {error}")),
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_is_counted_and_a_wrong_one_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        let missing = cache(&Cache::at(folder.path().join("not yet")));
        assert_eq!((missing.programs, missing.problem), (0, None));
        fs::write(folder.path().join("a.cubin"), [0; 10]).unwrap();
        fs::write(folder.path().join("b.cubin"), [0; 5]).unwrap();
        fs::write(folder.path().join("other"), [0; 5]).unwrap();
        let found = cache(&Cache::at(folder.path()));
        assert_eq!((found.programs, found.bytes, found.problem), (2, 15, None));
        let file = cache(&Cache::at(folder.path().join("other")));
        assert!(file.problem.is_some_and(|p| p.starts_with("it cannot be read")));
        assert_eq!(cache(&Cache::disabled()).folder, None);
    }

    #[test]
    fn the_report_agrees_with_the_devices() {
        let report = doctor();
        assert_eq!(report.is_ready(), report.devices.iter().any(|d| d.problem.is_none()) && report.nvrtc.is_ok());
        if report.driver.is_err() {
            assert_eq!(report.devices, []);
            assert!(Device::cuda(0).is_err());
        }
    }
}
