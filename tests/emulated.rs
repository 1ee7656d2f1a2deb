//! Whole programs in the emulator: the generated kernels' own code, checked, against the interpreter. Skipped, with a
//! message, only where there is no C++ compiler; where `MONOGRAPH_REQUIRE_EMULATOR` is 1, that is a failure.

use monograph::prelude::*;
use monograph::{EmulatorOptions, Error, FindingKind, MemoryKind, Options, Origin, Schedule};

fn emulated(options: EmulatorOptions) -> Option<Device> {
    match Device::emulated_with(options) {
        Ok(device) => Some(device),
        Err(error @ Error::Toolchain { .. }) => {
            let required = std::env::var("MONOGRAPH_REQUIRE_EMULATOR").as_deref() == Ok("1");
            assert!(!required, "the emulator is required: {error}");
            println!("skipped, without the emulator: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The emulator under three schedules, checked.
fn devices() -> Vec<Device> {
    let schedules = [Schedule::InOrder, Schedule::Reverse, Schedule::Seeded(3)];
    let options = schedules.map(|schedule| EmulatorOptions { schedule, ..EmulatorOptions::default() });
    options.into_iter().filter_map(emulated).collect()
}

fn vector(count: usize, factor: f32) -> Array {
    Array::from_fn([count], |i| (i % 17) as f32 * factor - 1.0).unwrap()
}

#[test]
fn a_device_says_what_it_is() {
    let Some(device) = emulated(EmulatorOptions::default()) else { return };
    assert_eq!(device.place(), "emulated");
    assert!(device.is_emulated() && !device.is_host());
    let text = device.describe();
    assert!(text.starts_with("emulated (") && text.ends_with(", checked, in-order)"), "{text}");
    let options = EmulatorOptions { checked: false, schedule: Schedule::Seeded(9), ..EmulatorOptions::default() };
    let text = emulated(options).unwrap().describe();
    assert!(text.ends_with(", unchecked, seed 9)"), "{text}");
}

#[test]
fn elements_are_those_of_the_interpreter() {
    let program = trace(|(x, y)| ((x * y + 1.0).relu(), x.sin()), (f32::spec([1000]), f32::spec([1000]))).unwrap();
    let (x, y) = (vector(1000, 0.3), vector(1000, 0.7));
    let mut host = Device::host().compile(&program).unwrap();
    let (first, second) = host.replay((&x, &y)).unwrap();
    let expected = (first.to_vec::<f32>().unwrap(), second.to_vec::<f32>().unwrap());
    for device in devices() {
        let mut exe = device.compile(&program).unwrap();
        for _ in 0..2 {
            let (first, second) = exe.replay((&x, &y)).unwrap();
            assert_eq!(first.to_vec::<f32>().unwrap(), expected.0);
            for (found, expected) in second.to_vec::<f32>().unwrap().iter().zip(&expected.1) {
                assert!((found - expected).abs() <= 1e-6, "{found} {expected}");
            }
        }
        assert_eq!(exe.cost().launches, 1);
    }
}

#[test]
fn state_stays_and_can_be_replaced() {
    for device in devices() {
        let state = vector(100, 1.0);
        let program = trace_step(&state, f32::spec([100]), |s: Tensor, x| {
            let next = s + x;
            (next, next.sum(..))
        })
        .unwrap();
        let mut exe = device.compile(&program).unwrap();
        let ones = [1.0f32; 100];
        let sum = |array: &Array| array.to_vec::<f32>().unwrap().iter().sum::<f32>();
        for replay in 1..=3 {
            let found = exe.replay(&ones[..]).unwrap().item::<f32>().unwrap();
            assert_eq!(found, sum(&state) + 100.0 * replay as f32);
        }
        assert_eq!(sum(&exe.state().unwrap()), sum(&state) + 300.0);
        exe.set_state(&vector(100, 0.0)).unwrap();
        assert_eq!(exe.replay(&ones[..]).unwrap().item::<f32>().unwrap(), 0.0);
    }
}

#[test]
fn bound_inputs_and_outputs_of_other_executables_are_read() {
    for device in devices() {
        let program = trace(|(x, y)| x * 2.0 + y, (f32::spec([64]).bound(), f32::spec([64]))).unwrap();
        let mut first = device.compile(&program).unwrap();
        let mut second = device.compile(&program).unwrap();
        let (x, y) = (vector(64, 1.0), vector(64, 0.5));
        let bound = device.upload(&x).unwrap();
        let once = first.replay((&bound, &y)).unwrap();
        let twice = second.replay((&bound, &once)).unwrap();
        let expected: Vec<f32> = (0..64).map(|i| 4.0 * ((i % 17) as f32 - 1.0) + (i % 17) as f32 * 0.5 - 1.0).collect();
        assert_eq!(twice.to_vec::<f32>().unwrap(), expected);
        // Another array takes the place of the first.
        let other = device.upload(&vector(64, 0.0)).unwrap();
        let kept = once.to_device_array().unwrap();
        let found = second.replay((&other, &kept)).unwrap().to_vec::<f32>().unwrap();
        let expected: Vec<f32> = once.to_vec::<f32>().unwrap().iter().map(|o| o - 2.0).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn reductions_products_and_rows_agree_with_the_interpreter() {
    let program = trace(
        |(a, b)| {
            let c = a.matmul(b);
            (c, c.softmax(-1), a.sum(0), b.max(..))
        },
        (f32::spec([33, 20]), f32::spec([20, 17])),
    )
    .unwrap();
    let matrix =
        |rows: usize, columns: usize| Array::from_fn([rows, columns], |i| ((i * 7) % 11) as f32 * 0.25 - 1.0).unwrap();
    let (a, b) = (matrix(33, 20), matrix(20, 17));
    let mut host = Device::host().compile(&program).unwrap();
    let expected = host.replay((&a, &b)).unwrap();
    let read = |o: &monograph::Output<'_>| o.to_vec::<f32>().unwrap();
    let expected = [&expected.0, &expected.1, &expected.2, &expected.3].map(read);
    for device in devices() {
        let mut exe = device.compile(&program).unwrap();
        let found = exe.replay((&a, &b)).unwrap();
        for (found, expected) in [&found.0, &found.1, &found.2, &found.3].map(read).iter().zip(&expected) {
            assert_eq!(found.len(), expected.len());
            for (f, e) in found.iter().zip(expected) {
                assert!((f - e).abs() <= 1e-5 * e.abs().max(1.0), "{f} {e}");
            }
        }
    }
}

#[test]
fn many_kernels_in_several_programs_are_one_executable() {
    let Some(device) = emulated(EmulatorOptions::default()) else { return };
    let program = trace(
        |x| {
            // Lengths differ, so that no two kernels are equal.
            let parts: Vec<Tensor> = (1..=20).map(|n| (x.slice(0, 0..n) * n as f32).sum(0)).collect();
            parts.into_iter().reduce(|a, b| a + b).unwrap()
        },
        f32::spec([20]),
    )
    .unwrap();
    let mut options = Options::default();
    options.fuse = false;
    let mut exe = device.compile_with(&program, &options).unwrap();
    assert!(exe.plan().programs.len() > 1, "{} programs", exe.plan().programs.len());
    let x = Array::from_fn([20], |i| i as f32).unwrap();
    let expected: u32 = (1..=20).map(|n| n * (0..n).sum::<u32>()).sum();
    assert_eq!(exe.replay(&x).unwrap().item::<f32>().unwrap(), expected as f32);
}

#[test]
fn a_defect_of_a_kernel_is_found_with_the_line_that_the_user_wrote() {
    let Some(device) = emulated(EmulatorOptions::default()) else { return };
    let line = line!() + 1;
    let program = trace(|x| x * 2.0, f32::spec([32])).unwrap();
    let mut plan = monograph::ir::plan::Plan::clone(device.compile(&program).unwrap().plan());
    let variant = &mut plan.kernels[0].variants[0];
    (variant.grid, variant.block) = ([1; 3], [32, 1, 1]);
    let symbol = variant.symbol.clone();
    plan.programs[0].source = format!(
        "extern \"C\" __global__ void {symbol}(const float* x, float* y) {{\n    \
         y[threadIdx.x + 1] = 2.0f * x[threadIdx.x];\n}}\n"
    );
    let mut exe = device.load(&program, plan).unwrap();
    let found = match exe.replay(&vector(32, 1.0)) {
        Err(Error::Finding(finding)) => finding,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("nothing was found"),
    };
    assert_eq!((found.kind, found.kernel.as_str()), (FindingKind::OutOfBounds, symbol.as_str()), "{found}");
    let place =
        |o: &Origin| matches!(o, Origin::Rust { file, line: l, .. } if file.ends_with("emulated.rs") && *l == line);
    assert!(found.origins.iter().any(place), "{found}");
    let at = found.at.unwrap();
    assert_eq!((at.line, at.text.as_str()), (2, "y[threadIdx.x + 1] = 2.0f * x[threadIdx.x];"));
    assert_eq!(found.thread.unwrap().thread, [31, 0, 0]);
    let memory = found.memory.unwrap();
    assert_eq!((memory.what, memory.element, memory.dtype), (MemoryKind::Output, 32, Some(DType::F32)));
}

#[test]
fn empty_tensors_need_no_launch() {
    for device in devices() {
        let program = trace(|x| (x.exp(), x.sum(0)), f32::spec([0, 3])).unwrap();
        let mut exe = device.compile(&program).unwrap();
        let (all, sum) = exe.replay(&Array::zeros::<f32>([0, 3]).unwrap()).unwrap();
        assert_eq!(all.to_vec::<f32>().unwrap(), [0.0; 0]);
        assert_eq!(sum.to_vec::<f32>().unwrap(), [0.0; 3]);
    }
}
