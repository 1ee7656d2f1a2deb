//! `Target`: the device that code is generated for, as numbers.

use serde::{Deserialize, Serialize};

/// What the compiler knows of a device. The same target gives the same plan on any machine.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Target {
    /// The architecture as NVRTC calls it: `sm_90a`.
    pub arch: String,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Greatest shared memory of one block, in bytes, with the opt-in above 48 KiB.
    pub shared_per_block: u32,
    /// Level-2 cache, in bytes.
    pub l2_bytes: u64,
}

impl Target {
    /// The numbers of a typical device of an architecture (`sm_80`: A100, `sm_89`: L40, `sm_90a`: H100 and H200,
    /// `sm_100a`: B200); other architectures that NVRTC may know get those of the nearest older one.
    pub fn of_arch(arch: &str) -> Target {
        let number: u32 =
            arch.trim_start_matches("sm_").trim_end_matches(|c: char| c.is_alphabetic()).parse().unwrap_or(80);
        let (multiprocessors, shared_kib, l2_mib) = match number {
            100.. => (148, 227, 126),
            90..100 => (132, 227, 50),
            89 => (142, 99, 96),
            86..89 => (84, 99, 6),
            80..86 => (108, 163, 40),
            _ => (40, 64, 4),
        };
        Target { arch: arch.to_string(), multiprocessors, shared_per_block: shared_kib << 10, l2_bytes: l2_mib << 20 }
    }
}

impl Default for Target {
    /// That of an H100 or H200.
    fn default() -> Target {
        Target::of_arch("sm_90a")
    }
}
