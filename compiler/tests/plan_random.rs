//! Random graphs: their plans verify, and replaying them in any allowed order computes what the interpreter says.

mod executor;

use monograph_compiler::{Options, compile};
use monograph_ir::Target;
use monograph_ir::testing::{self, random_graph};

fn run(seeds: std::ops::Range<u64>, fuse: bool, nodes: usize) {
    for seed in seeds {
        let graph = random_graph(seed, &testing::Options { nodes, ..testing::Options::default() });
        let mut options = Options::default();
        options.fuse = fuse;
        let plan = match compile(&graph, &Target::default(), &options) {
            Ok(plan) => plan,
            Err(e) => panic!("seed {seed}: {e}"),
        };
        executor::check(&graph, &plan, seed);
    }
}

#[test]
fn unfused_plans_compute_the_graph() {
    run(0..80, false, 24);
}

#[test]
fn fused_plans_compute_the_graph() {
    run(100..180, true, 24);
}

#[test]
fn larger_graphs_too() {
    run(1000..1010, true, 150);
    run(1000..1005, false, 150);
}
