//! Finding the emulator, and turning numbers into bytes.

use monograph_emulator::{Emulator, EmulatorOptions};
use monograph_ir::Error;
use std::path::PathBuf;
use std::sync::OnceLock;

/// An emulator that all tests share, with what earlier runs compiled. `None`, and a message, only where there is no C++
/// compiler; where `MONOGRAPH_REQUIRE_EMULATOR` is 1, that is a failure.
pub(crate) fn emulator() -> Option<&'static Emulator> {
    static EMULATOR: OnceLock<Option<Emulator>> = OnceLock::new();
    let find = || match Emulator::find(EmulatorOptions::default(), Some(folder())) {
        Ok(emulator) => Some(emulator),
        Err(error @ Error::Toolchain { .. }) => {
            assert!(
                std::env::var("MONOGRAPH_REQUIRE_EMULATOR").as_deref() != Ok("1"),
                "the emulator is required: {error}"
            );
            println!("skipped, without the emulator: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    };
    EMULATOR.get_or_init(find).as_ref()
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("emulator")
}

pub(crate) fn f32s(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_ne_bytes).collect()
}

pub(crate) fn u32s(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_ne_bytes).collect()
}

pub(crate) fn to_f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
}
