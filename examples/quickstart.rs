//! A multi-layer perceptron: traced once, replayed with new inputs, checked against plain Rust.
//!
//! `cargo run --release --example quickstart` uses the first CUDA device, or the host where there is none;
//! `-- --host` asks for the host, `-- --replays 10` for fewer timed replays than 1000.

use monograph::prelude::*;
use std::time::Instant;

#[derive(Tree)]
struct Mlp<T> {
    w1: T,
    b1: T,
    w2: T,
    b2: T,
}

const BATCH: usize = 64;
const SIZES: [usize; 3] = [784, 128, 10];

fn forward(m: &Mlp<Tensor>, x: &Tensor) -> Tensor {
    ((x.matmul(m.w1) + m.b1).relu().matmul(m.w2) + m.b2).softmax(-1)
}

fn main() -> monograph::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::WARN).init();
    let [inputs, hidden, classes] = SIZES;
    let mut numbers = Numbers(1);
    let model = Mlp {
        w1: numbers.array([inputs, hidden], 0.05)?,
        b1: numbers.array([hidden], 0.1)?,
        w2: numbers.array([hidden, classes], 0.1)?,
        b2: numbers.array([classes], 0.1)?,
    };

    let device = if std::env::args().any(|a| a == "--host") { Device::host() } else { Device::best()? };
    println!("device      {}", device.describe());

    let started = Instant::now();
    let program = trace_with(&model, f32::spec([BATCH, inputs]).named("x"), |m, x| forward(&m, &x))?;
    let mut exe = device.compile(&program)?;
    println!("compiled    in {:.1} ms", started.elapsed().as_secs_f64() * 1e3);
    let plan = exe.plan();
    println!("graph       {} nodes, {} edges, {} kernels", plan.launches.len(), plan.edges.len(), plan.kernels.len());
    println!("arena       {} bytes", plan.region_bytes(monograph::ir::plan::Region::Arena));

    for replay in 1..=3 {
        let x = numbers.array([BATCH, inputs], 1.0)?;
        let probabilities = exe.replay(&x)?.to_vec::<f32>()?;
        let expected = reference(&model, &x)?;
        let error = relative_error(&probabilities, &expected);
        println!(
            "replay {replay}    class of row 0: {}, relative error {error:.1e}",
            largest(&probabilities[..classes])
        );
        assert!(error < 1e-5, "the device disagrees with plain Rust by {error:e}");
    }

    let x = device.upload(&numbers.array([BATCH, inputs], 1.0)?)?;
    let asked = std::env::args().skip_while(|a| a != "--replays").nth(1).and_then(|n| n.parse().ok());
    let rounds: u32 = asked.unwrap_or(if device.is_host() { 3 } else { 1000 });
    exe.replay(&x)?;
    exe.synchronize()?;
    let started = Instant::now();
    for _ in 0..rounds.max(1) {
        exe.replay(&x)?;
    }
    exe.synchronize()?;
    println!(
        "time        {:.2} µs per replay over {rounds}",
        started.elapsed().as_secs_f64() * 1e6 / f64::from(rounds)
    );
    Ok(())
}

/// The same network in f64, written out.
fn reference(m: &Mlp<Array>, x: &Array) -> monograph::Result<Vec<f64>> {
    let hidden: Vec<f64> = affine(x, &m.w1, &m.b1)?.into_iter().map(|v| v.max(0.0)).collect();
    let hidden = Array::new([BATCH, SIZES[1]], hidden.into_iter().map(|v| v as f32).collect())?;
    let logits = affine(&hidden, &m.w2, &m.b2)?;
    let softmax = |row: &[f64]| {
        let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let exponentials: Vec<f64> = row.iter().map(|v| (v - max).exp()).collect();
        let sum: f64 = exponentials.iter().sum();
        exponentials.into_iter().map(move |v| v / sum).collect::<Vec<_>>()
    };
    Ok(logits.chunks(SIZES[2]).flat_map(softmax).collect())
}

fn affine(x: &Array, w: &Array, b: &Array) -> monograph::Result<Vec<f64>> {
    let (n, k) = (w.shape()[1], w.shape()[0]);
    let (x, w, b) = (x.to_vec::<f32>()?, w.to_vec::<f32>()?, b.to_vec::<f32>()?);
    let product = |row: &[f32], j: usize| (0..k).map(|i| f64::from(row[i]) * f64::from(w[i * n + j])).sum::<f64>();
    Ok(x.chunks(k).flat_map(|row| (0..n).map(|j| product(row, j) + f64::from(b[j])).collect::<Vec<_>>()).collect())
}

/// The greatest difference, relative to the greatest magnitude.
fn relative_error(found: &[f32], expected: &[f64]) -> f64 {
    let scale = expected.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    found.iter().zip(expected).map(|(f, e)| (f64::from(*f) - e).abs()).fold(0.0, f64::max) / scale
}

fn largest(row: &[f32]) -> usize {
    (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best })
}

/// A linear congruential generator (Knuth, MMIX): the same numbers on every machine.
struct Numbers(u64);

impl Numbers {
    fn array<const N: usize>(&mut self, shape: [usize; N], scale: f32) -> monograph::Result<Array> {
        Ok(Array::from_fn(shape, |_| {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0) * scale
        })?)
    }
}
