//! A kernel is stepped through with gdb.

use crate::apart::apart;
use crate::tool::{emulator, f32s, to_f32s};
use monograph_emulator::{EmulatorOptions, KernelRun, Parameter};
use monograph_ir::{DType, Error};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command};
use std::time::Duration;

/// Says to the part that runs apart whether accesses are checked.
const CHECKED: &str = "MONOGRAPH_TEST_CHECKED";

const SOURCE: &str = "\
__device__ float half_of(float x) {
    return 0.5f * x;
}
extern \"C\" __global__ void fold(const float* x, float* y) {
    __shared__ float tile[64];
    const float mine = half_of(x[threadIdx.x]);
    tile[threadIdx.x] = mine;
    __syncthreads();
    const float other = tile[63 - threadIdx.x];
    y[blockIdx.x * 64 + threadIdx.x] = mine + other + blockIdx.x;
}
extern \"C\" __global__ void outside(const float* x, float* y) {
    extern __shared__ float room[];
    room[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x == 3) room[64] = 1.0f;
    y[threadIdx.x] = room[threadIdx.x];
}
";

fn run(symbol: &str, grid: u32) -> Result<Vec<f32>, Error> {
    let checked = std::env::var(CHECKED).as_deref() == Ok("1");
    // The limit is shorter than the time that a debugger takes, and does not count.
    let time_limit = Duration::from_millis(1);
    let options = EmulatorOptions { debugger: true, checked, time_limit, ..EmulatorOptions::default() };
    let x = f32s((0..64).map(|i| (2 * i) as f32));
    let parameters =
        vec![Parameter::Read(&x, DType::F32, "x"), Parameter::Write(256 * u64::from(grid), DType::F32, "y")];
    let run = KernelRun { symbol, grid: [grid, 1, 1], block: [64, 1, 1], shared: 256, parameters };
    let results = emulator().unwrap().program(SOURCE, &["fold", "outside"]).run_with(&run, &options)?;
    Ok(to_f32s(&results[0]))
}

#[test]
#[ignore = "a part of another test"]
fn folds() {
    let expected: Vec<f32> = (0..128).map(|i| (63 + i / 64) as f32).collect();
    assert_eq!(run("fold", 2).unwrap(), expected);
}

#[test]
#[ignore = "a part of another test"]
fn goes_outside() {
    let error = run("outside", 1).unwrap_err().to_string();
    assert!(error.starts_with("out-of-bounds") && error.contains("room[64] = 1.0f;"), "{error}");
}

/// Ends the process where a test fails.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a test apart, attaches gdb as the emulator says how to, and gives it these commands. Returns what gdb says, or
/// `None`, and a message, where there is no gdb or it may not attach.
fn debug(test: &str, checked: bool, commands: &str) -> Option<String> {
    emulator()?;
    if Command::new("gdb").arg("--version").output().is_err() {
        println!("skipped, without gdb");
        return None;
    }
    let mut process = Ended(apart(test).env(CHECKED, if checked { "1" } else { "0" }).spawn().unwrap());
    let mut lines = BufReader::new(process.0.stderr.take().unwrap()).lines();
    let invitation = lines.find_map(|line| line.unwrap().trim().strip_prefix("gdb ").map(String::from)).unwrap();
    // What else it prints is read, so that it does not wait for that.
    let rest = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>().join("\n"));
    let script = tempfile::NamedTempFile::new().unwrap();
    fs::write(script.path(), format!("set pagination off\nset width 0\n{commands}")).unwrap();
    let mut gdb = Command::new("gdb");
    gdb.arg("-nx").arg("-batch").args(invitation.split(' ')).arg("-x").arg(script.path());
    let output = gdb.env("LC_ALL", "C").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if text.contains("ptrace: Operation not permitted") {
        println!("skipped, because gdb may not attach: {text}");
        return None;
    }
    let succeeded = process.0.wait().unwrap().success();
    assert!(succeeded, "{}\n{text}", rest.join().unwrap());
    Some(text)
}

/// These are in the text, in this order.
fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let Some(at) = rest.find(part) else { panic!("`{part}` is not at its place in\n{text}") };
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn a_kernel_is_stepped_through_in_one_thread() {
    let commands = "\
cuda-break fold 37 1
continue
cuda-thread
info args
step
info args
finish
next
next
info locals
cuda-threads
next
next
info locals
print threadIdx
print blockIdx.x * blockDim.x + threadIdx.x
print gridDim.x
print x[37]
cuda-thread
backtrace
delete
continue
";
    let parts = [
        "Breakpoint 1, fold (x=0x",
        "const float mine = half_of(x[threadIdx.x]);",
        "thread (37, 0, 0) of block (1, 0, 0), kernel fold, 64 threads in a block",
        "x = 0x",
        "half_of (x=74)",
        "return 0.5f * x;",
        "x = 74",
        "Value returned is $1 = 37",
        "tile[threadIdx.x] = mine;",
        "__syncthreads();",
        "mine = 37",
        "    0..36   at __syncthreads",
        "   37..37   runs",
        "   38..63   ended or not begun",
        "const float other = tile[63 - threadIdx.x];",
        "y[blockIdx.x * 64 + threadIdx.x] = mine + other + blockIdx.x;",
        "other = 26",
        "$2 = {x = 37, y = 0, z = 0}",
        "$3 = 101",
        "$4 = 2",
        "$5 = 74",
        "thread (37, 0, 0) of block (1, 0, 0)",
        "#0  fold (x=0x",
    ];
    for checked in [true, false] {
        let Some(text) = debug("debugger::folds", checked, commands) else { return };
        in_order(&text, &parts);
        // No signal but the one that ends the process stopped it.
        assert!(!text.contains("received signal"), "{text}");
    }
}

#[test]
fn gdb_stops_where_a_finding_is_made() {
    let commands = "\
cuda-break-findings
continue
cuda-thread
backtrace
continue
";
    let Some(text) = debug("debugger::goes_outside", true, commands) else { return };
    let parts =
        ["emu::send_finding", "thread (3, 0, 0) of block (0, 0, 0), kernel outside", "outside (x=0x", "program:15"];
    in_order(&text, &parts);
}
