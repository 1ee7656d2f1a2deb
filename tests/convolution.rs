//! Convolutions and poolings in whole programs: on the strict host, in the emulator and on the first CUDA device, against
//! the interpreter; and gradients against difference quotients.

#[allow(dead_code, reason = "each test uses a part")]
mod common;

use common::{devices, emulated};
use monograph::ir::Graph;
use monograph::ir::interp::{self, Tensor as Value};
use monograph::prelude::*;
use monograph::{Conv, DType, Pool, Spec, Tensor};

/// Small numbers that look random, the same in each run.
fn values(spec: &Spec, seed: u64) -> Array {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let number = |_: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let numbers: Vec<f32> = (0..spec.shape.size()).map(number).collect();
    let wide = Value::from_vec(spec.shape.clone(), numbers).expect("as many as the shape has");
    let cast = interp::evaluate_op(&monograph::ir::Op::Cast(spec.dtype), &[wide]).expect("a cast").remove(0);
    Array::from_bytes(spec.clone(), cast.bytes()).expect("as many bytes as the spec has")
}

fn value(array: &Array) -> Value {
    Value::from_bytes(array.spec().clone(), &array.bytes().expect("bytes")).expect("a tensor")
}

/// Runs a function over tensors of these specs everywhere, and compares with the interpreter.
fn everywhere(what: &str, specs: &[Spec], tolerance: f64, f: impl Fn(&[Tensor]) -> Vec<Tensor>) {
    let program = trace(|inputs: Vec<Tensor>| f(&inputs), &specs.to_vec()).unwrap_or_else(|e| panic!("{what}: {e}"));
    let inputs: Vec<Array> = specs.iter().enumerate().map(|(i, s)| values(s, i as u64 + 1)).collect();
    let operands: Vec<Value> = inputs.iter().map(value).collect();
    let expected = interp::evaluate(program.graph(), &operands).expect("the interpreter runs it");
    for device in devices().into_iter().chain(emulated()) {
        let mut exe = device.compile(&program).unwrap_or_else(|e| panic!("{what} on {}: {e}", device.place()));
        for replay in 0..2 {
            let found = exe.replay(&inputs).unwrap_or_else(|e| panic!("{what} on {}: {e}", device.place()));
            for (expected, found) in expected.iter().zip(found) {
                let found = value(&found.to_array().expect("an array"));
                let what = format!("{what} on {}, replay {replay}", device.place());
                compare(&what, expected, &found, tolerance);
            }
        }
    }
}

fn compare(what: &str, expected: &Value, found: &Value, tolerance: f64) {
    assert_eq!(expected.spec(), found.spec(), "{what}");
    let (expected, found) = (expected.to_f64_vec(), found.to_f64_vec());
    let greatest = expected.iter().filter(|v| v.is_finite()).fold(0.0f64, |a, b| a.max(b.abs()));
    for (i, (e, f)) in expected.iter().zip(&found).enumerate() {
        let close = e == f || (e.is_nan() && f.is_nan()) || (e - f).abs() <= tolerance * greatest;
        assert!(close, "{what}: element {i} is {f}, not {e}");
    }
}

fn specs(dtype: DType, shapes: &[&[usize]]) -> Vec<Spec> {
    shapes.iter().map(|&s| Spec::new(dtype, s)).collect()
}

#[test]
fn a_residual_block() {
    let same = Conv::new().padding(1);
    for (dtype, tolerance) in [(DType::F32, 4e-6), (DType::F16, 4e-3), (DType::BF16, 3e-2)] {
        let specs = specs(dtype, &[&[2, 20, 10, 12], &[24, 20, 3, 3], &[24, 1, 1], &[24, 24, 3, 3], &[24, 20, 1, 1]]);
        everywhere(&format!("a block of {dtype}"), &specs, tolerance, |t| {
            let inner = (t[0].conv2d(t[1], &same.clone().stride(2)) + t[2]).relu();
            let around = t[0].conv2d(t[4], &Conv::new().stride(2));
            let y = (inner.conv2d(t[3], &same) + around).relu();
            vec![y.max_pool2d(&Pool::new(3).stride(2).padding(1)), y.avg_pool2d(&Pool::new([5, 6]))]
        });
    }
}

#[test]
fn forward_and_gradients_of_every_kind() {
    for (name, options) in [
        ("plain", Conv::new()),
        ("strides", Conv::new().stride([2, 3]).padding(2)),
        ("dilation", Conv::new().dilation([2, 1]).padding([(3, 0), (-1, 1)])),
        ("groups", Conv::new().groups(2).padding(1)),
        ("depthwise", Conv::new().groups(6).stride(2)),
    ] {
        for outputs in [6, 36] {
            let groups = match name {
                "groups" => 2,
                "depthwise" => 6,
                _ => 1,
            };
            let (x, k) = ([2, 6, 9, 11], [outputs, 6 / groups, 3, 2]);
            let y = trace(|(x, k)| x.conv2d(k, &options), (f32::spec(x), f32::spec(k))).expect("it is taken");
            let y = y.output_form().to_string();
            let y: Vec<usize> = y[4..y.len() - 1].split(", ").map(|d| d.parse().expect("an extent")).collect();
            everywhere(&format!("{name} to {outputs}"), &specs(DType::F32, &[&x, &k, &y]), 4e-6, |t| {
                let forward = t[0].conv2d(t[1], &options);
                let input = t[2].conv_input_gradient(t[1], &x[2..], &options);
                let kernel = t[0].conv_weight_gradient(t[2], &k[2..], &options);
                vec![forward, input, kernel]
            });
        }
    }
}

#[test]
fn more_shapes() {
    let doubled = Conv::new().stride(2).padding(1).output_padding(1);
    everywhere("a transposed convolution", &specs(DType::F32, &[&[2, 18, 7, 9], &[18, 5, 3, 3]]), 4e-6, |t| {
        vec![t[0].conv_transpose2d(t[1], &doubled)]
    });
    everywhere("one dimension", &specs(DType::F64, &[&[3, 4, 50], &[17, 4, 7]]), 1e-14, |t| {
        vec![t[0].conv1d(t[1], &Conv::new().padding(3))]
    });
    everywhere("three dimensions", &specs(DType::F32, &[&[1, 3, 6, 7, 8], &[16, 3, 3, 3, 3]]), 4e-6, |t| {
        vec![t[0].conv3d(t[1], &Conv::new().padding(1)), t[0].max_pool3d(&Pool::new(2)), t[0].avg_pool3d(&Pool::new(2))]
    });
    everywhere("no batch", &specs(DType::F32, &[&[0, 3, 6, 6], &[4, 3, 3, 3]]), 0.0, |t| {
        vec![t[0].conv2d(t[1], &Conv::new()), t[0].max_pool2d(&Pool::new(2))]
    });
    everywhere("nothing but padding", &specs(DType::F32, &[&[2, 1, 0], &[4, 1, 3]]), 0.0, |t| {
        let around = Pool::new(3).padding(2);
        let (most, at) = t[0].max_pool1d_with_indices(&around);
        vec![t[0].conv1d(t[1], &Conv::new().padding(2)), most, at]
    });
    everywhere("no channel", &specs(DType::F32, &[&[2, 0, 5], &[4, 0, 3]]), 0.0, |t| {
        vec![t[0].conv1d(t[1], &Conv::new())]
    });
}

#[test]
fn the_way_back_from_a_maximum() {
    let pool = Pool::new(3).stride(2).padding(1);
    let shapes = specs(DType::F32, &[&[2, 3, 9, 8], &[2, 3, 5, 4]]);
    everywhere("a maximum and back", &shapes, 1e-6, |t| {
        let (most, at) = t[0].max_pool2d_with_indices(&pool);
        vec![most, at, t[1].max_unpool2d(at, [9, 8], &pool)]
    });
}

/// The results of a graph.
fn evaluated(graph: &Graph, inputs: &[Value]) -> Vec<Vec<f64>> {
    let found = interp::evaluate(graph, inputs).expect("the interpreter runs it");
    found.iter().map(Value::to_f64_vec).collect()
}

#[test]
fn special_values_in_windows() {
    let pool = Pool::new(3).padding(1).stride(2);
    let nan = f32::NAN;
    let numbers = [1.0, nan, -1.0, 0.0, -0.0, f32::NEG_INFINITY, f32::NEG_INFINITY, f32::INFINITY, 2.0, 2.0, -3.0, nan];
    let x = Array::from_fn([2, 12, 11], |i| numbers[i * 7 % 12]).expect("an array");
    let program = trace(|x: Tensor| x.max_pool2d_with_indices(&pool), f32::spec([2, 12, 11])).expect("it is taken");
    let expected = interp::evaluate(program.graph(), &[value(&x)]).expect("the interpreter runs it");
    for device in devices().into_iter().chain(emulated()) {
        let mut exe = device.compile(&program).expect("it compiles");
        let (most, at) = exe.replay(&x).expect("a replay");
        compare(&device.place(), &expected[0], &value(&most.to_array().expect("an array")), 0.0);
        compare(&device.place(), &expected[1], &value(&at.to_array().expect("an array")), 0.0);
    }
}

#[test]
fn gradients_are_the_slopes() {
    let options = Conv::new().stride([2, 1]).padding([(1, 2), (0, 1)]).dilation([1, 2]).groups(2);
    let pool = Pool::new(2).stride(1).padding(1);
    let shapes = specs(DType::F64, &[&[2, 4, 5, 6], &[6, 2, 2, 3]]);
    let pooled = trace(
        |t: Vec<Tensor>| {
            let y = t[0].conv2d(t[1], &options);
            let (most, at) = y.max_pool2d_with_indices(&pool);
            // The loss is the sum of the products with fixed numbers.
            let weights = most * 0.0 + 1.5;
            let back = weights.max_unpool2d(at, [4, 3], &pool);
            let input = back.conv_input_gradient(t[1], &[5, 6], &options);
            let kernel = t[0].conv_weight_gradient(back, &[2, 3], &options);
            vec![(most * weights).sum(..), input, kernel]
        },
        &shapes,
    )
    .unwrap_or_else(|e| panic!("{e}"));
    let inputs: Vec<Value> = shapes.iter().enumerate().map(|(i, s)| value(&values(s, i as u64 + 3))).collect();
    let gradients = evaluated(pooled.graph(), &inputs);
    for number in 0..2 {
        for element in 0..inputs[number].spec().shape.size() {
            let moved = |by: f64| {
                let mut numbers = inputs[number].to_f64_vec();
                numbers[element] += by;
                let mut inputs = inputs.clone();
                inputs[number] = Value::from_vec(inputs[number].shape().clone(), numbers).expect("the same shape");
                evaluated(pooled.graph(), &inputs)[0][0]
            };
            let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            let found = gradients[number + 1][element];
            assert!((slope - found).abs() <= 1e-6, "element {element} of input {number}: {found}, not {slope}");
        }
    }
}
