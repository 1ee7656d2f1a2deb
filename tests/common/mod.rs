//! Which devices the tests run on.

use monograph::{Device, EmulatorOptions, HostOptions, Schedule};

/// The host, strict: shuffled launches and a poisoned arena; the emulator, checked, under a random schedule; and the
/// first CUDA device. Where one is missing the tests say so, and fail where it is required.
pub(crate) fn devices() -> Vec<Device> {
    let host = Device::host_with(HostOptions { shuffle: Some(7), poison: true });
    let options = EmulatorOptions { schedule: Schedule::Seeded(7), ..EmulatorOptions::default() };
    let emulated = emulated().map(|_| Device::emulated_with(options).expect("it was there a moment ago"));
    std::iter::once(host).chain(emulated).chain(cuda()).collect()
}

/// The first CUDA device, if it can be used. Without one the tests say so, and fail where `MONOGRAPH_REQUIRE_CUDA` is
/// set.
pub(crate) fn cuda() -> Option<Device> {
    match Device::cuda(0) {
        Ok(device) => Some(device),
        Err(error) if std::env::var_os("MONOGRAPH_REQUIRE_CUDA").is_some() => panic!("CUDA is required: {error}"),
        Err(error) => {
            println!("skipped on CUDA: {error}");
            None
        }
    }
}

/// The emulator, if it can be used: it needs a C++ compiler. Without one the tests say so, and fail where
/// `MONOGRAPH_REQUIRE_EMULATOR` is set.
pub(crate) fn emulated() -> Option<Device> {
    match Device::emulated() {
        Ok(device) => Some(device),
        Err(error) if std::env::var_os("MONOGRAPH_REQUIRE_EMULATOR").is_some() => {
            panic!("the emulator is required: {error}")
        }
        Err(error) => {
            println!("skipped in the emulator: {error}");
            None
        }
    }
}
