//! A whole training step in one graph: forward, hand-written gradients, and SGD with momentum. The weights live on
//! the device and are updated in place; the learning rate is an input and changes from replay to replay.
//!
//! The task is exclusive or of two signs, which no linear model learns.

use monograph::prelude::*;

#[derive(Tree, Clone)]
struct Mlp<T> {
    w1: T,
    b1: T,
    w2: T,
    b2: T,
}

#[derive(Tree)]
struct Train<T> {
    model: Mlp<T>,
    momentum: Mlp<T>,
}

const BATCH: usize = 32;
const HIDDEN: usize = 16;

/// The mean squared error and its gradients.
fn loss_and_gradients(m: &Mlp<Tensor>, x: &Tensor, y: &Tensor) -> (Tensor, Mlp<Tensor>) {
    let hidden = (x.matmul(m.w1) + m.b1).tanh();
    let difference = hidden.matmul(m.w2) + m.b2 - y;
    let loss = difference.square().mean(..);

    let d_output = difference * (2.0 / BATCH as f64);
    let d_hidden = d_output.matmul(m.w2.t()) * (1.0 - hidden.square());
    let gradients =
        Mlp { w1: x.t().matmul(d_hidden), b1: d_hidden.sum(0), w2: hidden.t().matmul(d_output), b2: d_output.sum(0) };
    (loss, gradients)
}

/// Momentum first, then the weight: `v ← 0.9 v + g`, `w ← w − lr · v`.
fn update(weight: &mut Tensor, velocity: &mut Tensor, gradient: &Tensor, rate: &Tensor) {
    *velocity = *velocity * 0.9 + gradient;
    *weight -= *velocity * rate;
}

fn main() -> monograph::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::WARN).init();
    let device = if std::env::args().any(|a| a == "--host") { Device::host() } else { Device::best()? };
    println!("device      {}", device.describe());

    let mut random = Numbers(7);
    let zeros = || -> monograph::Result<Mlp<Array>> {
        Ok(Mlp {
            w1: Array::zeros::<f32>([2, HIDDEN])?,
            b1: Array::zeros::<f32>([HIDDEN])?,
            w2: Array::zeros::<f32>([HIDDEN, 1])?,
            b2: Array::zeros::<f32>([1])?,
        })
    };
    let model =
        Mlp { w1: random.array([2, HIDDEN])?, b1: random.array([HIDDEN])?, w2: random.array([HIDDEN, 1])?, ..zeros()? };
    let state = Train { model, momentum: zeros()? };

    let inputs = (f32::spec([BATCH, 2]).named("x"), f32::spec([BATCH, 1]).named("y"), f32::spec([]).named("rate"));
    let program = trace_step(&state, inputs, |mut s: Train<Tensor>, (x, y, rate)| {
        let (loss, g) = loss_and_gradients(&s.model, &x, &y);
        update(&mut s.model.w1, &mut s.momentum.w1, &g.w1, &rate);
        update(&mut s.model.b1, &mut s.momentum.b1, &g.b1, &rate);
        update(&mut s.model.w2, &mut s.momentum.w2, &g.w2, &rate);
        update(&mut s.model.b2, &mut s.momentum.b2, &g.b2, &rate);
        (s, loss)
    })?;
    let mut exe = device.compile(&program)?;
    println!("graph       {} nodes", exe.plan().launches.len());

    let mut losses = Vec::new();
    for step in 0..300 {
        let x = random.array([BATCH, 2])?;
        let points = x.to_vec::<f32>()?;
        let sign = |p: &[f32]| if (p[0] > 0.0) == (p[1] > 0.0) { -1.0f32 } else { 1.0 };
        let y = Array::new([BATCH, 1], points.chunks(2).map(sign).collect())?;
        let rate = if step < 200 { 0.1 } else { 0.02 };
        losses.push(exe.replay((&x, &y, rate))?.item::<f32>()?);
        if step % 50 == 49 {
            let recent = losses[losses.len() - 10..].iter().sum::<f32>() / 10.0;
            println!("step {:3}    loss {recent:.4}, rate {rate}", step + 1);
        }
    }
    let mean = |l: &[f32]| l.iter().sum::<f32>() / l.len() as f32;
    let (first, last) = (mean(&losses[..10]), mean(&losses[290..]));
    assert!(last < 0.5 * first, "the loss went from {first} to {last}");
    let trained: Train<Array> = exe.state()?;
    println!("trained     loss {first:.3} → {last:.3}; output bias {:+.3}", trained.model.b2.item::<f32>()?);
    Ok(())
}

/// A linear congruential generator (Knuth, MMIX), uniform in [-1, 1): the same numbers on every machine.
struct Numbers(u64);

impl Numbers {
    fn array<const N: usize>(&mut self, shape: [usize; N]) -> monograph::Result<Array> {
        Ok(Array::from_fn(shape, |_| {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        })?)
    }
}
