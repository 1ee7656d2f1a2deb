//! The compiler, what it makes, and the process that executes it.

use crate::tool::{emulator, f32s, to_f32s};
use monograph_emulator::{Emulator, EmulatorOptions, KernelRun, Parameter};
use monograph_ir::{DType, DeviceErrorKind, Error};
use std::fs;
use std::path::Path;
use std::time::SystemTime;

const SOURCE: &str = "\
extern \"C\" __global__ void twice(const float* x, float* y) {
    y[threadIdx.x] = 2.0f * x[threadIdx.x];
}
";

fn twice(emulator: &Emulator, source: &str) -> Result<Vec<f32>, Error> {
    let x = f32s([1.0, 2.0, 3.0]);
    let parameters = vec![Parameter::Read(&x, DType::F32, "x"), Parameter::Write(12, DType::F32, "y")];
    let run = KernelRun { symbol: "twice", grid: [1; 3], block: [3, 1, 1], shared: 0, parameters };
    Ok(to_f32s(&emulator.run_kernel(source, &run)?[0]))
}

/// Unchecked, which compiles fastest.
fn unchecked() -> EmulatorOptions {
    EmulatorOptions { checked: false, ..EmulatorOptions::default() }
}

/// What was compiled, and when. Locks are no part of it.
fn files(folder: &Path) -> Vec<(String, SystemTime)> {
    let entry = |e: fs::DirEntry| (e.file_name().into_string().unwrap(), e.metadata().unwrap().modified().unwrap());
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|e| entry(e.unwrap())).collect();
    files.retain(|(name, _)| name != "locks");
    files.sort();
    files
}

#[test]
fn without_a_compiler_it_is_said_how_to_get_one() {
    let error = Emulator::find_among(&["/nonsense/c++".into()], EmulatorOptions::default(), None).unwrap_err();
    assert!(matches!(error, Error::Toolchain { .. }));
    for words in ["/nonsense/c++", "apt install g++", "CXX"] {
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn a_program_that_does_not_compile_is_shown_with_its_lines() {
    let Some(emulator) = emulator() else { return };
    let error = twice(emulator, &SOURCE.replace("2.0f *", "2.0f * nonsense *")).unwrap_err();
    assert!(matches!(error, Error::Toolchain { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("program:2:") && text.contains("nonsense"), "{text}");
}

#[test]
fn what_was_compiled_is_used_again_and_in_two_threads_at_once() {
    let Some(shared) = emulator() else { return };
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("deep/cache");
    let find = || Emulator::find(unchecked(), Some(cache.clone())).unwrap();
    let emulators = [find(), find()];
    std::thread::scope(|scope| {
        let runs = emulators.each_ref().map(|emulator| scope.spawn(|| twice(emulator, SOURCE).unwrap()));
        for run in runs {
            assert_eq!(run.join().unwrap(), [2.0, 4.0, 6.0]);
        }
    });
    let before = files(&cache);
    assert_eq!(before.iter().filter(|(name, _)| name.ends_with(".exe")).count(), 1, "{before:?}");
    assert!(before.iter().all(|(name, _)| !name.starts_with('.')), "nothing temporary is left: {before:?}");
    assert_eq!(twice(&find(), SOURCE).unwrap(), [2.0, 4.0, 6.0]);
    assert_eq!(files(&cache), before, "nothing was compiled");
    // Another program is one more object and one more executable.
    assert_eq!(twice(&find(), &SOURCE.replace("2.0f", "3.0f")).unwrap(), [3.0, 6.0, 9.0]);
    assert_eq!(files(&cache).len(), before.len() + 2);
    // Checked and unchecked results agree.
    assert_eq!(twice(shared, SOURCE).unwrap(), [2.0, 4.0, 6.0]);
}

#[test]
fn launches_that_every_device_refuses_are_errors() {
    let Some(emulator) = emulator() else { return };
    let program = emulator.program(SOURCE, &["twice"]);
    let run = |symbol, grid: [u32; 3], block: [u32; 3], shared| {
        program.run(&KernelRun { symbol, grid, block, shared, parameters: Vec::new() }).unwrap_err()
    };
    for (grid, block, shared) in
        [([0, 1, 1], [1; 3], 0), ([1; 3], [1, 0, 1], 0), ([1; 3], [32, 33, 1], 0), ([1; 3], [1; 3], 300_000)]
    {
        let error = run("twice", grid, block, shared);
        assert!(matches!(&error, Error::Device(e) if e.kind == DeviceErrorKind::Driver), "{error}");
    }
    let error = run("thrice", [1; 3], [1; 3], 0);
    assert!(matches!(&error, Error::Unknown { what: "kernel", .. }), "{error}");
    let error = emulator.program(SOURCE, &["a b"]);
    let error = error
        .run(&KernelRun { symbol: "a b", grid: [1; 3], block: [1; 3], shared: 0, parameters: Vec::new() })
        .unwrap_err();
    assert!(error.to_string().contains("`a b` is no name"), "{error}");
}
