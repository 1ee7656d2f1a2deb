//! Monte Carlo in a step: the value of a European call option, from random paths that are new at every replay.
//!
//! The generator is the state. Under the model of Black and Scholes the price at maturity is
//! `spot · exp((rate - volatility² / 2) · t + volatility · sqrt(t) · z)` with normal `z`, and the value of the option has
//! a closed form to compare with.

use monograph::prelude::*;

const PATHS: usize = 1 << 16;
const REPLAYS: usize = 16;
const SPOT: f64 = 100.0;
const STRIKE: f64 = 105.0;
const RATE: f64 = 0.03;
const VOLATILITY: f64 = 0.2;
const YEARS: f64 = 1.0;
/// The closed form for these numbers.
const VALUE: f64 = 7.128_064_7;

fn main() -> monograph::Result<()> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::WARN).init();
    let device = if std::env::args().any(|a| a == "--host") { Device::host() } else { Device::best()? };
    println!("device      {}", device.describe());

    let drift = (RATE - VOLATILITY * VOLATILITY / 2.0) * YEARS;
    let spread = VOLATILITY * YEARS.sqrt();
    let discount = (-RATE * YEARS).exp();
    let program = trace_step(&Rng::seed(2026), (), |mut rng, ()| {
        let z = rng.normal(DType::F32, [PATHS]);
        let price = (z * spread + drift).exp() * SPOT;
        let payoff = (price - STRIKE).relu() * discount;
        (rng, (payoff.mean(..), payoff.var(..)))
    })?;
    let mut exe = device.compile(&program)?;

    let (mut sum, mut variance) = (0.0, 0.0);
    for replay in 1..=REPLAYS {
        let (mean, spread) = exe.replay(())?;
        sum += f64::from(mean.item::<f32>()?);
        variance += f64::from(spread.item::<f32>()?);
        if replay % 4 == 0 {
            let paths = (replay * PATHS) as f64;
            let error = (variance / replay as f64 / paths).sqrt();
            println!("{paths:>8} paths  {:.4} ± {error:.4}", sum / replay as f64);
        }
    }
    let found = sum / REPLAYS as f64;
    let error = (variance / REPLAYS as f64 / (REPLAYS * PATHS) as f64).sqrt();
    println!("closed form     {VALUE:.4}");
    assert!((found - VALUE).abs() < 4.0 * error, "{found} is more than four standard errors from {VALUE}");
    Ok(())
}
