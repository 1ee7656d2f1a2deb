//! What a replay costs beside a bare launch of the same graph, and what a node of a chain costs.
//!
//! Prints a table and one line of JSON with the device's name. Without a CUDA device it says so and measures nothing.
//! `cargo bench --bench launch`.

use monograph::Options;
use monograph::prelude::*;
use std::time::Instant;

const ROUNDS: usize = 11;
const LAUNCHES: u32 = 200;

/// Median, smallest and greatest of several rounds, in microseconds.
#[derive(Clone, Copy)]
struct Spread {
    median: f64,
    low: f64,
    high: f64,
}

fn spread(mut times: Vec<f64>) -> Spread {
    times.sort_by(f64::total_cmp);
    Spread { median: times[times.len() / 2], low: times[0], high: times[times.len() - 1] }
}

/// A chain of dependent additions, one node each.
fn chain(device: &Device, nodes: usize) -> monograph::Result<Executable<(), Spec, Spec>> {
    let program = trace(|x: Tensor| (0..nodes).fold(x, |x, _| x + 1.0), f32::spec([64]).bound())?;
    let mut options = Options::default();
    options.fuse = false;
    options.optimize = false;
    device.compile_with(&program, &options)
}

fn main() -> monograph::Result<()> {
    let device = match Device::cuda(0) {
        Ok(device) => device,
        Err(error) => {
            println!("nothing to measure: {error}");
            return Ok(());
        }
    };
    println!("device: {}", device.describe());
    println!("host time of one call over {LAUNCHES} calls, median of {ROUNDS} rounds (lowest, highest), µs");
    println!(
        "{:>6} {:>22} {:>22} {:>7} {:>12} {:>12}",
        "nodes", "replay", "bare launch", "ratio", "device", "per node"
    );
    let x = device.upload(&Array::zeros::<f32>([64])?)?;
    let mut rows = Vec::new();
    for nodes in [1, 10, 100, 1000] {
        let mut exe = chain(&device, nodes)?;
        assert_eq!(exe.plan().launches.len(), nodes);
        assert_eq!(exe.replay(&x)?.to_vec::<f32>()?, vec![nodes as f32; 64], "the chain computes something else");
        let (mut replay, mut bare, mut on_device) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            exe.synchronize()?;
            let started = Instant::now();
            for _ in 0..LAUNCHES {
                exe.replay(&x)?;
            }
            replay.push(started.elapsed().as_secs_f64() * 1e6 / f64::from(LAUNCHES));
            exe.synchronize()?;
            let measured = exe.untyped_mut().measure_bare_launches(LAUNCHES)?;
            bare.push(measured.host.as_secs_f64() * 1e6);
            on_device.push(measured.device.as_secs_f64() * 1e6);
        }
        let (replay, bare, on_device) = (spread(replay), spread(bare), spread(on_device));
        let (ratio, per_node) = (replay.median / bare.median, on_device.median / nodes as f64);
        let show = |s: Spread| format!("{:.2} ({:.2}, {:.2})", s.median, s.low, s.high);
        println!(
            "{nodes:>6} {:>22} {:>22} {ratio:>7.3} {:>12.2} {per_node:>12.3}",
            show(replay),
            show(bare),
            on_device.median
        );
        rows.push(format!(
            r#"{{"nodes":{nodes},"replay_us":{:.3},"bare_us":{:.3},"ratio":{ratio:.3},"device_us":{:.3},"device_us_per_node":{per_node:.4}}}"#,
            replay.median, bare.median, on_device.median
        ));
    }
    println!(r#"{{"device":"{}","rows":[{}]}}"#, device.describe(), rows.join(","));
    Ok(())
}
