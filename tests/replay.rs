//! Whole programs through the facade, on the host, in the emulator and, where there is one, on the first CUDA device.

mod common;

use common::devices;
use monograph::prelude::*;
use monograph::{HostOptions, Options};

#[derive(Tree, Clone)]
struct Linear<T> {
    w: T,
    b: T,
}

#[derive(Tree)]
struct Counter<T> {
    count: T,
    total: T,
}

fn vector(values: &[f32]) -> Array {
    Array::from_slice([values.len()], values).expect("a vector")
}

#[test]
fn a_thousand_replays_each_read_their_own_input() {
    for device in devices() {
        let program = trace(|(x, y)| (x * y + 1.0, x.sum(..)), (f32::spec([5]), f32::spec([5]))).unwrap();
        let mut exe = device.compile(&program).unwrap();
        for i in 0..1000 {
            let (x, y) = ([i as f32; 5], [2.0, 0.5, -1.0, 0.0, i as f32]);
            let (product, sum) = exe.replay((&x[..], &y[..])).unwrap();
            let expected: Vec<f32> = x.iter().zip(y).map(|(x, y)| x * y + 1.0).collect();
            assert_eq!(product.to_vec::<f32>().unwrap(), expected, "replay {i} on {}", device.place());
            assert_eq!(sum.item::<f32>().unwrap(), 5.0 * i as f32, "replay {i} on {}", device.place());
        }
    }
}

#[test]
fn state_is_updated_in_place_and_compiling_leaves_it_alone() {
    for device in devices() {
        let state = Counter { count: Array::scalar(0i64), total: vector(&[0.0, 10.0]) };
        let program = trace_step(&state, f32::spec([2]), |s: Counter<Tensor>, x| {
            let total = s.total + x;
            (Counter { count: s.count + 1, total }, total * 2.0)
        })
        .unwrap();
        let mut exe = device.compile(&program).unwrap();
        let before = exe.state().unwrap();
        assert_eq!(before.count.item::<i64>().unwrap(), 0);
        assert_eq!(before.total.to_vec::<f32>().unwrap(), [0.0, 10.0]);
        for step in 1..=5 {
            let doubled = exe.replay(&[1.0f32, -1.0][..]).unwrap().to_vec::<f32>().unwrap();
            assert_eq!(doubled, [2.0 * step as f32, 2.0 * (10.0 - step as f32)]);
        }
        assert_eq!(exe.state().unwrap().count.item::<i64>().unwrap(), 5);
        exe.set_state(&Counter { count: Array::scalar(7i64), total: vector(&[1.0, 1.0]) }).unwrap();
        exe.replay(&[0.0f32, 0.0][..]).unwrap();
        let after = exe.state().unwrap();
        assert_eq!(after.count.item::<i64>().unwrap(), 8);
        assert_eq!(after.total.to_vec::<f32>().unwrap(), [1.0, 1.0]);
    }
}

#[test]
fn states_swap_and_old_ones_are_returned() {
    for device in devices() {
        let state = (vector(&[1.0, 2.0]), vector(&[3.0, 4.0]));
        let program = trace_step(&state, (), |(a, b), ()| ((b, a), a)).unwrap();
        let mut exe = device.compile(&program).unwrap();
        assert_eq!(exe.replay(()).unwrap().to_vec::<f32>().unwrap(), [1.0, 2.0]);
        assert_eq!(exe.replay(()).unwrap().to_vec::<f32>().unwrap(), [3.0, 4.0]);
        let (a, b) = exe.state().unwrap();
        assert_eq!(a.to_vec::<f32>().unwrap(), [1.0, 2.0]);
        assert_eq!(b.to_vec::<f32>().unwrap(), [3.0, 4.0]);
    }
}

#[test]
fn weights_are_bound_once_and_can_be_replaced() {
    for device in devices() {
        let model = Linear { w: Array::from_slice([2, 2], &[1.0f32, 2.0, 3.0, 4.0]).unwrap(), b: vector(&[0.5, -0.5]) };
        let program = trace_with(&model, f32::spec([1, 2]), |m, x| x.matmul(m.w) + m.b).unwrap();
        let mut exe = device.compile(&program).unwrap();
        assert_eq!(exe.replay(&[1.0f32, 1.0][..]).unwrap().to_vec::<f32>().unwrap(), [4.5, 5.5]);
        exe.set_state(&Linear { b: vector(&[0.0, 0.0]), ..model.clone() }).unwrap();
        assert_eq!(exe.replay(&[1.0f32, 1.0][..]).unwrap().to_vec::<f32>().unwrap(), [4.0, 6.0]);
        let captured = trace(|x: Tensor| x.matmul(&model.w), f32::spec([1, 2])).unwrap();
        assert_eq!(captured.constants().len(), 1);
        let mut exe = device.compile(&captured).unwrap();
        assert_eq!(exe.replay(&[0.0f32, 1.0][..]).unwrap().to_vec::<f32>().unwrap(), [3.0, 4.0]);
    }
}

#[test]
fn an_output_feeds_another_executable_and_its_own_next_replay() {
    for device in devices() {
        let mut double = device.compile(&trace(|x: Tensor| x * 2.0, f32::spec([3])).unwrap()).unwrap();
        let mut sum = device.compile(&trace(|x: Tensor| x.sum(..), f32::spec([3])).unwrap()).unwrap();
        let doubled = double.replay(&[1.0f32, 2.0, 3.0][..]).unwrap();
        assert_eq!(sum.replay(&doubled).unwrap().item::<f32>().unwrap(), 12.0);
        let mut x = vector(&[1.0, 2.0, 3.0]);
        for _ in 0..5 {
            x = double.replay(&x).unwrap().to_array().unwrap();
        }
        assert_eq!(x.to_vec::<f32>().unwrap(), [32.0, 64.0, 96.0]);
    }
}

#[test]
fn a_gpu_that_is_opened_twice_is_one_device() {
    let Some(first) = common::cuda() else { return };
    let second = Device::cuda(0).unwrap();
    let grow = trace(|x: Tensor| (0..50).fold(x, |x, _| x * 1.01 + 1.0), f32::spec([1 << 20])).unwrap();
    let mut options = Options::default();
    options.fuse = false;
    options.optimize = false;
    let mut slow = first.compile_with(&grow, &options).unwrap();
    let mut read = second.compile(&trace(|x: Tensor| x.max(..), f32::spec([1 << 20])).unwrap()).unwrap();
    for start in [0.0f32, 1.0, 2.0] {
        let x = Array::full([1 << 20], start).unwrap();
        let expected = (0..50).fold(start, |x, _| x * 1.01 + 1.0);
        let grown = slow.replay(&x).unwrap();
        assert_eq!(read.replay(&grown).unwrap().item::<f32>().unwrap(), expected);
    }
}

#[test]
fn bound_inputs_are_read_where_they_lie() {
    for device in devices() {
        let program = trace(|(x, y)| (x + y).sum(..), (f32::spec([4]).bound(), f32::spec([4]))).unwrap();
        let mut exe = device.compile(&program).unwrap();
        let a = device.upload(&vector(&[1.0; 4])).unwrap();
        let b = device.upload(&vector(&[10.0; 4])).unwrap();
        let y = vector(&[0.5; 4]);
        for (x, expected) in [(&a, 6.0), (&b, 42.0), (&b, 42.0), (&a, 6.0)] {
            assert_eq!(exe.replay((x, &y)).unwrap().item::<f32>().unwrap(), expected);
        }
        if !device.is_host() && !device.is_emulated() {
            exe.replay((&a, &y)).unwrap();
            assert_eq!(exe.cost().patched_nodes, 0, "an unchanged pointer costs nothing");
            exe.replay((&b, &y)).unwrap();
            assert_eq!(exe.cost().patched_nodes, 1, "only the node that reads it is patched");
            let error = exe.replay((&vector(&[1.0; 4]), &y)).unwrap_err();
            assert!(error.to_string().contains("device.upload"), "{error}");
        }
    }
}

#[test]
fn inputs_constants_and_reshapes_can_be_outputs() {
    for device in devices() {
        let c = vector(&[7.0, 8.0]);
        let inputs = (f32::spec([2]), f32::spec([2, 1]).bound());
        let program = trace(|(x, y)| (x, y, constant(&c), x.reshape([2, 1]), y.t(), x), inputs).unwrap();
        let mut exe = device.compile(&program).unwrap();
        for round in [1.0f32, 2.0] {
            let y = device.upload(&Array::from_slice([2, 1], &[3.0 * round, 4.0 * round]).unwrap()).unwrap();
            let out = exe.replay((&[round, 2.0 * round][..], &y)).unwrap();
            let read = |o: monograph::Output<'_>| o.to_vec::<f32>().unwrap();
            assert_eq!(read(out.0), [round, 2.0 * round]);
            assert_eq!(read(out.1), [3.0 * round, 4.0 * round]);
            assert_eq!(read(out.2), [7.0, 8.0]);
            assert_eq!(read(out.3), [round, 2.0 * round]);
            assert_eq!(read(out.4), [3.0 * round, 4.0 * round]);
            assert_eq!(read(out.5), [round, 2.0 * round]);
            let mut feed = device.compile(&trace(|x: Tensor| x.sum(..), f32::spec([2, 1])).unwrap()).unwrap();
            assert_eq!(feed.replay(&out.1).unwrap().item::<f32>().unwrap(), 7.0 * round);
        }
    }
}

#[test]
fn what_does_not_fit_is_an_error_and_runs_nothing() {
    for device in devices() {
        let program = trace(|(x, n)| x * n, (f32::spec([3]).named("x"), f32::spec([]).named("n"))).unwrap();
        let mut exe = device.compile(&program).unwrap();
        exe.replay((&[1.0f32, 2.0, 3.0][..], 2.0)).unwrap();
        let error = exe.replay((&vector(&[1.0, 2.0]), 1.0)).unwrap_err();
        assert_eq!(error.to_string(), "input `x` takes f32[3], but was given f32[2]");
        let error = exe.replay((&Array::zeros::<f64>([3]).unwrap(), 1.0)).unwrap_err();
        assert_eq!(error.to_string(), "input `x` takes f32[3], but was given f64[3]");
        let out = exe.replay((&[1.0f32, 2.0, 3.0][..], 3)).unwrap();
        assert_eq!(out.to_vec::<f32>().unwrap(), [3.0, 6.0, 9.0]);
        let error = out.to_vec::<f64>().unwrap_err();
        assert!(matches!(error, Error::Array(_)), "{error}");
    }
}

#[derive(Tree, Clone, Debug)]
struct Layer<T> {
    w: T,
    bias: Option<T>,
    eps: f64,
}

fn layer(w: f32, bias: Option<f32>, eps: f64) -> Layer<Array> {
    Layer { w: Array::scalar(w), bias: bias.map(Array::scalar), eps }
}

#[test]
fn a_tree_of_another_structure_is_an_error() {
    for device in devices() {
        let traced = vec![layer(1.0, Some(2.0), 0.5), layer(3.0, None, 0.5)];
        let sum = |m: &[Layer<Tensor>]| m[0].w * 100.0 + m[0].bias.unwrap() * 10.0 + m[1].w + m[0].eps;
        let program = trace(|m: Vec<Layer<Tensor>>| sum(&m), &traced).unwrap();
        let mut exe = device.compile(&program).unwrap();
        assert_eq!(exe.replay(&traced).unwrap().item::<f32>().unwrap(), 123.5);
        let moved = vec![layer(1.0, None, 0.5), layer(3.0, Some(2.0), 0.5)];
        let error = exe.replay(&moved).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the inputs differ in structure from what was traced: 0.bias: was some, is none; trace again for another structure"
        );
        let error = exe.replay(&vec![layer(1.0, Some(2.0), 9.5), layer(3.0, None, 0.5)]).unwrap_err();
        assert!(error.to_string().contains("0.eps: was 0.5, is 9.5"), "{error}");

        let program = trace_with(&traced, (), |m, ()| sum(&m)).unwrap();
        let mut exe = device.compile(&program).unwrap();
        let error = exe.set_state(&moved).unwrap_err();
        assert!(error.to_string().contains("0.bias: was some, is none"), "{error}");
        assert_eq!(exe.replay(()).unwrap().item::<f32>().unwrap(), 123.5);
    }
}

#[test]
fn a_static_field_of_the_state_cannot_change() {
    let error = trace_step(&layer(0.0, None, 0.5), (), |mut s: Layer<Tensor>, ()| {
        s.eps += 1.0;
        (s, ())
    })
    .unwrap_err();
    assert!(
        error.to_string().contains("static field `eps` of the state is 0.5, but the step returns it as 1.5"),
        "{error}"
    );
}

#[test]
fn one_hot_counts_in_a_dtype_that_holds_the_classes() {
    for device in devices() {
        let program = trace(|x: Tensor| x.one_hot(300, DType::I32).sum(-1), u8::spec([4])).unwrap();
        let mut exe = device.compile(&program).unwrap();
        assert_eq!(exe.replay(&[0u8, 44, 43, 255][..]).unwrap().to_vec::<i32>().unwrap(), [1, 1, 1, 1]);
    }
    let error = trace(|x: Tensor| x.one_hot(3, DType::F32), f32::spec([4])).unwrap_err();
    assert!(error.to_string().contains("`one_hot` takes an integer dtype, not f32"), "{error}");
}

#[test]
fn probes_are_read_after_the_replay() {
    for device in devices() {
        let program = trace(
            |x: Tensor| {
                let squared = x * x;
                probe("squared", &squared);
                squared.sum(..)
            },
            f32::spec([3]),
        )
        .unwrap();
        let mut exe = device.compile(&program).unwrap();
        exe.replay(&[1.0f32, 2.0, 3.0][..]).unwrap();
        assert_eq!(exe.probe("squared").unwrap().to_vec::<f32>().unwrap(), [1.0, 4.0, 9.0]);
        let error = exe.probe("cubed").unwrap_err();
        assert_eq!(error.to_string(), "there is no probe `cubed`; there is `squared`");
    }
}

#[test]
fn executables_and_arrays_drop_in_any_order_on_any_thread() {
    for device in devices() {
        let program = trace(|x: Tensor| x + 1.0, f32::spec([1000])).unwrap();
        let mut a = device.compile(&program).unwrap();
        let b = device.compile(&program).unwrap();
        let x = device.upload(&Array::zeros::<f32>([1000]).unwrap()).unwrap();
        drop(b);
        std::thread::scope(|s| {
            s.spawn(|| {
                let ones = a.replay(&x).unwrap().to_vec::<f32>().unwrap();
                assert_eq!(ones, [1.0; 1000]);
            });
        });
        drop(device);
        std::thread::spawn(move || drop(a)).join().unwrap();
        assert_eq!(x.to_vec::<f32>().unwrap(), [0.0; 1000]);
    }
}

#[test]
fn a_chain_is_one_node_fused_and_one_kernel_unfused() {
    let program = trace(|x: Tensor| (0..1000).fold(x, |x, _| x + 1.0), f32::spec([64])).unwrap();
    for device in devices() {
        let mut fused = device.compile(&program).unwrap();
        assert_eq!(fused.plan().launches.len(), 1);
        let mut options = Options::default();
        options.fuse = false;
        options.optimize = false;
        let mut unfused = device.compile_with(&program, &options).unwrap();
        assert_eq!((unfused.plan().launches.len(), unfused.plan().kernels.len()), (1000, 1));
        let x = vector(&(0..64).map(|i| i as f32).collect::<Vec<_>>());
        let expected: Vec<f32> = (0..64).map(|i| 1000.0 + i as f32).collect();
        assert_eq!(fused.replay(&x).unwrap().to_vec::<f32>().unwrap(), expected);
        assert_eq!(unfused.replay(&x).unwrap().to_vec::<f32>().unwrap(), expected);
    }
}

#[test]
fn zero_size_tensors_pass_through_everything() {
    for device in devices() {
        let program =
            trace(|(x, y)| (x + y, x.sum(0), x.t().matmul(y), x.exp()), (f32::spec([0, 3]), f32::spec([0, 3])))
                .unwrap();
        let mut exe = device.compile(&program).unwrap();
        let empty = Array::zeros::<f32>([0, 3]).unwrap();
        let (sum, columns, product, exponential) = exe.replay((&empty, &empty)).unwrap();
        assert_eq!(sum.to_vec::<f32>().unwrap(), [0.0f32; 0]);
        assert_eq!(columns.to_vec::<f32>().unwrap(), [0.0; 3]);
        assert_eq!(product.to_vec::<f32>().unwrap(), [0.0; 9]);
        assert_eq!(exponential.to_vec::<f32>().unwrap(), [0.0f32; 0]);
    }
}

#[test]
fn too_many_launches_are_refused() {
    let program = trace(|x: Tensor| (0..65_600).fold(x, |x, _| x + 1.0), f32::spec([2])).unwrap();
    let mut options = Options::default();
    options.fuse = false;
    options.optimize = false;
    let error = Device::host().compile_with(&program, &options).unwrap_err();
    assert!(matches!(error, Error::TooManyNodes { nodes: 65_600, limit: 65_536 }), "{error}");
}

#[test]
fn values_that_no_memory_holds_are_refused() {
    let huge = || i8::spec([i64::MAX as usize]);
    let program = trace(|(_a, _b, _c)| monograph::zeros(DType::F32, [1]), (huge(), huge(), huge())).unwrap();
    let error = Device::host().compile(&program).unwrap_err();
    assert!(matches!(error, Error::TooMuchMemory { .. }), "{error}");
}

#[test]
fn a_plan_of_another_program_is_refused() {
    let device = Device::host();
    let one = trace(|x: Tensor| (x + 1.0, x), f32::spec([3])).unwrap();
    let other = trace(|x: Tensor| x + 1.0, f32::spec([4])).unwrap();
    let plan = device.compile(&other).unwrap().plan().clone();
    let error = device.load(&one, plan).unwrap_err();
    assert!(error.to_string().contains("its inputs are not those of the program"), "{error}");
    let plan = device.compile(&one).unwrap().plan().clone();
    assert!(device.load(&one, plan).is_ok());
}

#[test]
fn the_host_agrees_in_any_order_with_a_poisoned_arena() {
    let program = trace(
        |(x, w)| {
            let y = x.matmul(w).softmax(-1);
            let z = x.sum(1).exp();
            (y, z, x.max(0), x.cumsum(1))
        },
        (f32::spec([7, 5]), f32::spec([5, 3])),
    )
    .unwrap();
    let x = Array::from_fn([7, 5], |i| (i as f32 * 0.37).sin()).unwrap();
    let w = Array::from_fn([5, 3], |i| (i as f32 * 0.11).cos()).unwrap();
    let mut plain = Device::host().compile(&program).unwrap();
    let expected = plain.replay((&x, &w)).unwrap().to_arrays().unwrap();
    let mut strict = Device::host_with(HostOptions { shuffle: Some(1), poison: true }).compile(&program).unwrap();
    for _ in 0..10 {
        let found = strict.replay((&x, &w)).unwrap().to_arrays().unwrap();
        assert!(found.0.bitwise_eq(&expected.0).unwrap() && found.1.bitwise_eq(&expected.1).unwrap());
        assert!(found.2.bitwise_eq(&expected.2).unwrap() && found.3.bitwise_eq(&expected.3).unwrap());
    }
}
