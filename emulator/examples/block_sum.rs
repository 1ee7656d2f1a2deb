//! Runs a kernel of your own text, and shows what the emulator finds: a barrier is missing in this one.
//!
//! `cargo run -p monograph-emulator --example block_sum`, with `fixed` behind `--` for the right kernel, and with
//! `debugger` to step through it.

use monograph_emulator::{Emulator, EmulatorOptions, KernelRun, Parameter};
use monograph_ir::{DType, Error};

const SOURCE: &str = r#"
extern "C" __global__ void block_sum(const float* x, float* sum) {
    __shared__ float partial[256];
    partial[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (threadIdx.x < width) partial[threadIdx.x] += partial[threadIdx.x + width];
    }
    if (threadIdx.x == 0) {
        printf("the sum is %g\n", partial[0]);
        sum[0] = partial[0];
    }
}
"#;

fn main() -> Result<(), Error> {
    let wanted = |word: &str| std::env::args().any(|argument| argument == word);
    let fixed = SOURCE.replace("+ width];\n", "+ width];\n        __syncthreads();\n");
    let source = if wanted("fixed") { fixed.as_str() } else { SOURCE };
    let options = EmulatorOptions { debugger: wanted("debugger"), ..EmulatorOptions::default() };
    let emulator = Emulator::find(options, Some(std::env::temp_dir().join("block-sum")))?;
    let x: Vec<u8> = (0..256).flat_map(|i| (i as f32).to_ne_bytes()).collect();
    let parameters = vec![Parameter::Read(&x, DType::F32, "x"), Parameter::Write(4, DType::F32, "sum")];
    let run = KernelRun { symbol: "block_sum", grid: [1; 3], block: [256, 1, 1], shared: 0, parameters };
    match emulator.run_kernel(source, &run) {
        Ok(results) => println!("{} bytes are written", results[0].len()),
        Err(Error::Finding(finding)) => println!("{finding}"),
        Err(error) => return Err(error),
    }
    Ok(())
}
