//! Sorts, the backward pass of an embedding, and a prefix sum, on a CUDA device.
//!
//! Prints one line of JSON for each, with the device's name and the device time of one replay in microseconds: median,
//! lowest and highest of several rounds. Without a CUDA device it says so and measures nothing.
//! `cargo bench --bench sort`; `bench/peers/sort.py` measures PyTorch under the same names.

use monograph::prelude::*;

const ROUNDS: usize = 11;
const LAUNCHES: u32 = 20;

fn main() -> monograph::Result<()> {
    let device = match Device::cuda(0) {
        Ok(device) => device,
        Err(error) => {
            println!("nothing to measure: {error}");
            return Ok(());
        }
    };
    for (size, n) in [("1m", 1 << 20), ("16m", 16 << 20)] {
        sorts(&device, size, n)?;
    }
    embedding_backward(&device)?;
    cumsum(&device, 16 << 20)
}

/// A number that looks random.
fn mixed(i: usize) -> u32 {
    let x = (i as u32).wrapping_mul(0x9e37_79b9);
    (x ^ x >> 15).wrapping_mul(0x85eb_ca6b).rotate_left(13) ^ x
}

/// Measures replays over the inputs of the last one, and prints the line.
fn report(device: &Device, name: &str, exe: &mut monograph_runtime::Executable) -> monograph::Result<()> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        exe.synchronize()?;
        times.push(exe.measure_bare_launches(LAUNCHES)?.device.as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    println!(
        r#"{{"name":"{name}","device":"{}","us":{:.2},"low_us":{:.2},"high_us":{:.2},"launches":{}}}"#,
        device.describe(),
        times[ROUNDS / 2],
        times[0],
        times[ROUNDS - 1],
        exe.plan().launches.len()
    );
    Ok(())
}

fn sorts(device: &Device, size: &str, n: usize) -> monograph::Result<()> {
    let elements: Vec<i32> = (0..n).map(|i| mixed(i) as i32).collect();
    let mut expected: Vec<i64> = (0..n as i64).collect();
    expected.sort_by_key(|&i| elements[i as usize]);
    let x = device.upload(&Array::from_slice([n], &elements)?)?;

    let program = trace(|x: Tensor| x.argsort(0), i32::spec([n]).bound())?;
    let mut exe = device.compile(&program)?;
    assert!(exe.replay(&x)?.to_vec::<i64>()? == expected, "the order is another");
    report(device, &format!("argsort_{size}_i32"), exe.untyped_mut())?;

    let program = trace(|x: Tensor| (x.sort(0), x.argsort(0)), i32::spec([n]).bound())?;
    let mut exe = device.compile(&program)?;
    let (values, order) = exe.replay(&x)?;
    assert!(order.to_vec::<i64>()? == expected, "the order is another");
    let sorted = values.to_vec::<i32>()?;
    assert!(sorted.iter().zip(&expected).all(|(&v, &i)| v == elements[i as usize]), "the elements are others");
    report(device, &format!("sort_{size}_i32"), exe.untyped_mut())
}

fn embedding_backward(device: &Device) -> monograph::Result<()> {
    const ROWS: usize = 50_257;
    const COUNT: usize = 2048;
    const WIDTH: usize = 768;
    let ids: Vec<i64> = (0..COUNT).map(|i| i64::from(mixed(i)) % ROWS as i64).collect();
    let updates: Vec<f32> = (0..COUNT * WIDTH).map(|i| (mixed(i) % 1000) as f32 * 1e-3).collect();
    let program = trace(
        |(ids, updates): (Tensor, Tensor)| zeros(DType::F32, [ROWS, WIDTH]).scatter_add(ids, updates, 0),
        (i64::spec([COUNT]).bound(), f32::spec([COUNT, WIDTH]).bound()),
    )?;
    let mut exe = device.compile(&program)?;
    let given = (
        device.upload(&Array::from_slice([COUNT], &ids)?)?,
        device.upload(&Array::from_slice([COUNT, WIDTH], &updates)?)?,
    );
    let found = exe.replay((&given.0, &given.1))?.to_vec::<f32>()?;
    let mut expected = vec![0.0f32; ROWS * WIDTH];
    for (i, &id) in ids.iter().enumerate() {
        for c in 0..WIDTH {
            expected[id as usize * WIDTH + c] += updates[i * WIDTH + c];
        }
    }
    assert!(found == expected, "the gradient is another");
    report(device, "embedding_backward_2048x768_into_50257", exe.untyped_mut())
}

fn cumsum(device: &Device, n: usize) -> monograph::Result<()> {
    let program = trace(|x: Tensor| x.cumsum(0), f32::spec([n]).bound())?;
    let mut exe = device.compile(&program)?;
    let x = device.upload(&Array::from_fn([n], |_| 1.0f32)?)?;
    let sums = exe.replay(&x)?.to_vec::<f32>()?;
    assert!(sums.iter().enumerate().all(|(i, &s)| s == (i + 1) as f32), "the sums are others");
    report(device, "cumsum_16m_f32", exe.untyped_mut())
}
