//! The heat equation on the unit square: many time steps in one graph, compared with the analytic solution.
//!
//! `u_t = u_xx + u_yy` with `u = 0` at the border and `u = sin(πx) sin(πy)` at the start is
//! `exp(-2π²t) sin(πx) sin(πy)`. Explicit Euler in time, the five-point stencil in space.

use monograph::prelude::*;
use std::f64::consts::PI;

const N: usize = 33;
const STEPS_PER_REPLAY: usize = 8;
const REPLAYS: usize = 25;

/// One step of explicit Euler on the inner points; the border stays zero.
fn step(u: &Tensor, ratio: f64) -> Tensor {
    let inner = |rows: std::ops::Range<usize>, columns| u.slice(0, rows).slice(1, columns);
    let (low, mid, high) = (0..N - 2, 1..N - 1, 2..N);
    let neighbours = inner(low.clone(), mid.clone())
        + inner(high.clone(), mid.clone())
        + inner(mid.clone(), low)
        + inner(mid.clone(), high);
    let centre = inner(mid.clone(), mid);
    (centre + (neighbours - centre * 4.0) * ratio).pad(&[1, 1], &[1, 1], 0.0)
}

fn main() -> monograph::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::WARN).init();
    let device = if std::env::args().any(|a| a == "--host") { Device::host() } else { Device::best()? };
    println!("device      {}", device.describe());

    let h = 1.0 / (N - 1) as f64;
    // A quarter is the greatest stable ratio of the time step to h².
    let ratio = 0.2;
    let mode = |i: usize| (PI * (i % N) as f64 * h).sin() * (PI * (i / N) as f64 * h).sin();
    let u = Array::from_fn([N, N], |i| mode(i) as f32)?;

    let program = trace_step(&u, (), |u, ()| {
        let u = (0..STEPS_PER_REPLAY).fold(u, |u, _| step(&u, ratio));
        (u, u.max(..))
    })?;
    let mut exe = device.compile(&program)?;
    println!("graph       {} nodes for {STEPS_PER_REPLAY} steps", exe.plan().launches.len());

    for replay in 1..=REPLAYS {
        let hottest: f32 = exe.replay(())?.item()?;
        if replay % 5 == 0 {
            let t = (replay * STEPS_PER_REPLAY) as f64 * ratio * h * h;
            println!("t = {t:.4}  hottest {hottest:.5}, analytic {:.5}", (-2.0 * PI * PI * t).exp());
        }
    }

    let t = (REPLAYS * STEPS_PER_REPLAY) as f64 * ratio * h * h;
    let found = exe.state()?.to_vec::<f32>()?;
    let error =
        (0..N * N).map(|i| (f64::from(found[i]) - (-2.0 * PI * PI * t).exp() * mode(i)).abs()).fold(0.0, f64::max);
    println!("error       {error:.2e} against the analytic solution");
    // The scheme's own error: second order in h, with this ratio of the steps.
    assert!(error < 1e-3, "the solution is off by {error:e}");
    Ok(())
}
