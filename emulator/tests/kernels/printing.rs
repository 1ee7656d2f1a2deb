//! What kernels print.

use crate::apart::apart;
use crate::tool::emulator;
use monograph_emulator::{EmulatorOptions, KernelRun, Parameter, Schedule};
use monograph_ir::DType;

const SOURCE: &str = "\
extern \"C\" __global__ void prints(int* y) {
    printf(\"thread %d of block %d\\n\", threadIdx.x, blockIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) printf(\"unfinished line of block %d, \", blockIdx.x);
    y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
extern \"C\" __global__ void gives_up(int* y) {
    y[0] = 1;
    printf(\"the last line\\n\");
    __trap();
}
";

#[test]
#[ignore = "a part of another test"]
fn prints() {
    let emulator = emulator().unwrap();
    let program = emulator.program(SOURCE, &["prints", "gives_up"]);
    let run = |symbol, count: u64, schedule| {
        let parameters = vec![Parameter::Write(4 * count, DType::I32, "y")];
        let run = KernelRun { symbol, grid: [2, 1, 1], block: [2, 1, 1], shared: 0, parameters };
        program.run_with(&run, &EmulatorOptions { schedule, checked: false, ..EmulatorOptions::default() })
    };
    for schedule in [Schedule::InOrder, Schedule::Reverse] {
        eprintln!("begins");
        run("prints", 4, schedule).unwrap();
        eprintln!("is over");
    }
    eprintln!("finds {}", run("gives_up", 1, Schedule::InOrder).unwrap_err());
}

#[test]
fn what_kernels_print_comes_to_standard_error_in_order() {
    if emulator().is_none() {
        return;
    }
    let output = apart("printing::prints").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    let expected = "\
begins
thread 0 of block 0
thread 1 of block 0
unfinished line of block 0, thread 0 of block 1
thread 1 of block 1
unfinished line of block 1, is over
begins
thread 1 of block 1
thread 0 of block 1
unfinished line of block 1, thread 1 of block 0
thread 0 of block 0
unfinished line of block 0, is over
the last line
finds trap";
    assert!(text.contains(expected), "{text}");
}
