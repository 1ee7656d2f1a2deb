//! What is no defect of a kernel: too little memory, a damaged cache, launches that do not fit; and kernels that end the
//! process.

use crate::tool::{emulator, f32s, to_f32s};
use monograph_emulator::{Emulator, EmulatorOptions, KernelRun, Parameter, stored};
use monograph_ir::{DType, DeviceErrorKind, Error, FindingKind};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const SOURCE: &str = r#"
extern "C" [[noreturn]] void exit(int status);
extern "C" [[noreturn]] void abort();

extern "C" __global__ void fill(float* y, const float* a) { y[threadIdx.x] = a[0]; }
extern "C" __global__ void exits(float* y, const float* a) { if (threadIdx.x == 3) exit(0); y[threadIdx.x] = a[0]; }
extern "C" __global__ void aborts(float* y, const float* a) { if (threadIdx.x == 3) abort(); y[threadIdx.x] = a[0]; }
extern "C" __global__ void large(float* y, const float* a) {
    __shared__ float s[12 * 1024 + 1];
    s[threadIdx.x] = a[0];
    y[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void both(float* y, const float* a) {
    __shared__ float s[1024];
    extern __shared__ float dynamic[];
    s[threadIdx.x] = dynamic[threadIdx.x] = a[0];
    y[threadIdx.x] = s[threadIdx.x] + dynamic[threadIdx.x];
}
"#;

const SYMBOLS: [&str; 5] = ["fill", "exits", "aborts", "large", "both"];

fn run(emulator: &Emulator, symbol: &str, shared: u32, parameters: usize) -> Result<Vec<f32>, Error> {
    let a = f32s([7.0]);
    let mut given = vec![Parameter::Write(16, DType::F32, "y")];
    given.resize(parameters, Parameter::Read(&a, DType::F32, "a"));
    let run = KernelRun { symbol, grid: [1; 3], block: [4, 1, 1], shared, parameters: given };
    Ok(to_f32s(&emulator.program(SOURCE, &SYMBOLS).run(&run)?[0]))
}

fn refused(emulator: &Emulator, symbol: &str, shared: u32, parameters: usize, words: &str) {
    let error = run(emulator, symbol, shared, parameters).unwrap_err();
    assert!(matches!(&error, Error::Device(e) if e.kind == DeviceErrorKind::Driver), "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn a_launch_must_fit_its_kernel() {
    let Some(emulator) = emulator() else { return };
    assert_eq!(run(emulator, "fill", 0, 2).unwrap(), [7.0; 4]);
    refused(emulator, "fill", 0, 1, "takes 2 parameters, but was given 1");
    refused(emulator, "fill", 0, 3, "takes 2 parameters, but was given 3");
    refused(emulator, "large", 0, 2, "49156 bytes of static shared memory");
    assert_eq!(run(emulator, "both", 223 << 10, 2).unwrap(), [14.0; 4]);
    refused(emulator, "both", (223 << 10) + 1, 2, "4096 bytes of static and 228353 bytes of dynamic");
}

#[test]
fn a_kernel_that_ends_the_process_is_told_what_it_did() {
    let Some(emulator) = emulator() else { return };
    for (symbol, kind, word) in [("exits", FindingKind::Misuse, "`exit`"), ("aborts", FindingKind::Crash, "SIGABRT")] {
        match run(emulator, symbol, 0, 2) {
            Err(Error::Finding(finding)) => {
                assert_eq!(finding.kind, kind, "{finding}");
                assert!(finding.message.contains(word) && finding.kernel == symbol, "{finding}");
            }
            other => panic!("{symbol}: {other:?}"),
        }
    }
}

/// The entries of a cache with one of these extensions.
fn entries(folder: &std::path::Path, extensions: &[&str]) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path());
    files.filter(|f| f.extension().is_some_and(|e| extensions.iter().any(|x| e == *x))).collect()
}

#[test]
fn damaged_entries_are_made_again() {
    if emulator().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let options = EmulatorOptions { checked: false, ..EmulatorOptions::default() };
    let fill = || run(&Emulator::find(options, Some(folder.path().into())).unwrap(), "fill", 0, 2).unwrap();
    assert_eq!(fill(), [7.0; 4]);
    let before = stored(folder.path());
    for file in entries(folder.path(), &["exe"]) {
        fs::write(file, "").unwrap();
    }
    assert_eq!(fill(), [7.0; 4]);
    let damaged: Vec<PathBuf> = entries(folder.path(), &["o", "exe"]);
    for file in damaged.iter().filter(|f| f.extension().is_some_and(|e| e == "exe")).chain(damaged.iter().take(2)) {
        let bytes = fs::read(file).unwrap();
        fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
    }
    assert_eq!(fill(), [7.0; 4]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for file in entries(folder.path(), &["exe"]) {
            fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
        }
        assert_eq!(fill(), [7.0; 4]);
    }
    assert_eq!(stored(folder.path()), before);
}

#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_no_finding() {
    let Some(emulator) = emulator() else { return };
    // Compiled before there is a limit.
    run(emulator, "fill", 0, 2).unwrap();
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 1000000 && exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["environment::under_a_limit", "--exact", "--ignored", "--nocapture"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let log = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && log.contains("1 passed"), "{log}");
}

#[test]
#[ignore = "run by another test, with little memory"]
fn under_a_limit() {
    match run(emulator().unwrap(), "fill", 0, 2) {
        Err(Error::Device(error)) => assert_eq!(error.kind, DeviceErrorKind::OutOfMemory, "{error}"),
        other => panic!("{other:?}"),
    }
}
