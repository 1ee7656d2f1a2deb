//! How long tracing and compiling take, without NVRTC, for programs of several sizes and shapes.
//!
//! `cargo bench --bench compile`. The times are of this machine; what should hold everywhere is that they grow with the
//! size and not faster.

use monograph::prelude::*;
use monograph::{Options, Target};
use std::time::Instant;

const ROUNDS: usize = 3;

/// One long chain of element-wise ops.
fn chain(x: Tensor, nodes: usize) -> Tensor {
    (0..nodes / 2).fold(x, |x, i| (x * (1.0 + i as f64 * 1e-3)).tanh())
}

/// Layers of a matrix product, a bias, an activation and a normalization: some 20 nodes each.
fn layers(x: Tensor, nodes: usize) -> Tensor {
    let w = iota_like(x);
    (0..nodes / 20).fold(x, |x, _| (x.matmul(w).gelu() + x).softmax(-1))
}

/// A square matrix that is not constant.
fn iota_like(x: Tensor) -> Tensor {
    x.t().matmul(x)
}

/// Many short chains that meet in one sum.
fn wide(x: Tensor, nodes: usize) -> Tensor {
    let branches: Vec<Tensor> = (0..nodes / 10).map(|i| ((x + i as f64).exp() * 0.5).max(0) - x).collect();
    branches.into_iter().reduce(|a, b| a + b).unwrap_or(x)
}

fn main() -> monograph::Result<()> {
    type Kind = (&'static str, fn(Tensor, usize) -> Tensor);
    let kinds: [Kind; 3] = [("chain", chain), ("layers", layers), ("wide", wide)];
    println!(
        "{:>8} {:>8} {:>8} {:>9} {:>10} {:>10} {:>12}",
        "program", "asked", "nodes", "launches", "trace ms", "compile ms", "µs per node"
    );
    for (name, build) in kinds {
        for size in [200, 2_000, 20_000] {
            let mut best: Option<(f64, f64)> = None;
            let (mut nodes, mut launches) = (0, 0);
            for _ in 0..ROUNDS {
                let started = Instant::now();
                let program = trace(|x| build(x, size), f32::spec([16, 16]))?;
                let traced = started.elapsed().as_secs_f64() * 1e3;
                let started = Instant::now();
                let plan = monograph_compiler::compile(program.graph(), &Target::default(), &Options::default())?;
                let compiled = started.elapsed().as_secs_f64() * 1e3;
                (nodes, launches) = (program.graph().len(), plan.launches.len());
                if best.is_none_or(|(t, c)| traced + compiled < t + c) {
                    best = Some((traced, compiled));
                }
            }
            let (traced, compiled) = best.unwrap_or_default();
            let per_node = (traced + compiled) * 1e3 / nodes as f64;
            println!("{name:>8} {size:>8} {nodes:>8} {launches:>9} {traced:>10.1} {compiled:>10.1} {per_node:>12.2}");
        }
    }
    Ok(())
}
