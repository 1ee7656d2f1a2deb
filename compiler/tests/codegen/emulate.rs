//! Kernels in the emulator, and what comes out of them.

use monograph_compiler::codegen::Generated;
use monograph_emulator::{EmulatedProgram, Emulator, EmulatorOptions, KernelRun, Parameter};
use monograph_ir::interp::Tensor;
use monograph_ir::{DType, Error};
use std::path::PathBuf;

/// The emulator; none where there is no C++ compiler, which is said, or is an error if `MONOGRAPH_REQUIRE_EMULATOR` is 1.
pub(crate) fn emulator(what: &str) -> Option<Emulator> {
    let required = std::env::var_os("MONOGRAPH_REQUIRE_EMULATOR").is_some_and(|v| v == "1");
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("emulator");
    match Emulator::find(EmulatorOptions::default(), Some(cache)) {
        Ok(emulator) => Some(emulator),
        Err(why @ (Error::Toolchain { .. } | Error::Device(_))) if !required => {
            eprintln!("skipped: the kernels of `{what}` are not run: {why}");
            None
        }
        Err(why) => panic!("the kernels of `{what}` cannot be run: {why}"),
    }
}

/// The outputs of a kernel, one behind the other. Without checks, outputs are filled with `fill` before.
pub(crate) fn launch(
    program: &EmulatedProgram,
    symbol: &str,
    generated: &Generated,
    inputs: &[Tensor],
    options: &EmulatorOptions,
    fill: u8,
) -> Result<Vec<Vec<u8>>, Error> {
    let names: Vec<String> = (0..inputs.len()).map(|i| format!("x{i}")).collect();
    let reads = inputs.iter().zip(&names).map(|(t, name)| Parameter::Read(t.bytes(), t.dtype(), name));
    let sizes: Vec<u64> = generated.writes.iter().map(|w| w.spec.bytes().expect("small")).collect();
    let filled: Vec<Vec<u8>> = sizes.iter().map(|&bytes| vec![fill; bytes as usize]).collect();
    let names: Vec<String> = (0..sizes.len()).map(|i| format!("y{i}")).collect();
    let writes = generated.writes.iter().enumerate().map(|(i, write)| match options.checked {
        true => Parameter::Write(sizes[i], write.spec.dtype, &names[i]),
        false => Parameter::ReadWrite(&filled[i], write.spec.dtype, &names[i]),
    });
    let run = KernelRun {
        symbol,
        grid: generated.grid,
        block: generated.block,
        shared: generated.shared,
        parameters: reads.chain(writes).collect(),
    };
    program.run_with(&run, options)
}

/// Compares an output with what is expected, to a tolerance as that of a case. A NaN equals a NaN, and nothing else.
///
/// # Errors
/// Where they differ first.
pub(crate) fn compare(found: &[u8], expected: &Tensor, tolerance: f64) -> Result<(), String> {
    let dtype = expected.dtype();
    let bytes = found.chunks(dtype.size()).zip(expected.bytes().chunks(dtype.size()));
    let found = Tensor::from_bytes(expected.spec().clone(), found).map_err(|e| e.to_string())?;
    let (a, b) = (found.to_f64_vec(), expected.to_f64_vec());
    let scale = b.iter().filter(|x| x.is_finite()).fold(0.0, |m: f64, x| m.max(x.abs()));
    let step = match dtype {
        DType::F16 => 2.0f64.powi(-10),
        DType::BF16 => 2.0f64.powi(-7),
        _ => 0.0,
    };
    for (at, ((&a, &b), (a_bytes, b_bytes))) in a.iter().zip(&b).zip(bytes).enumerate() {
        // Where nothing is tolerated, every bit counts but those of a NaN.
        let close = match tolerance {
            0.0 => a_bytes == b_bytes,
            t => a == b || (a - b).abs() <= t * scale + (step * b.abs()).min(1e30),
        };
        let both_nan = a.is_nan() && b.is_nan();
        if !(close || both_nan) {
            return Err(format!("({}) at {at} is {a}, not {b} (scale {scale})", expected.spec()));
        }
    }
    Ok(())
}
