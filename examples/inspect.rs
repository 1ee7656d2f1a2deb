//! A tour of a compilation: the program as it was traced, the plan, the graph of launches, and each kernel's source.
//!
//! `cargo run --example inspect` needs no GPU: everything here happens before anything is launched.

use monograph::inspect::{dot, ir, summary};
use monograph::ir::plan::{Plan, Work};
use monograph::prelude::*;
use monograph::{Options, Target};

fn main() -> monograph::Result<()> {
    let program = trace(
        |(x, w, b): (Tensor, Tensor, Tensor)| (x.matmul(w) + b).softmax(-1),
        (f32::spec([32, 64]).named("x"), f32::spec([64, 10]).named("w"), f32::spec([10]).named("b")),
    )?;

    title("What was traced");
    println!("Each line is a node: its value, the op, the operands and the type.\n");
    print!("{}", ir(program.graph()));

    let target = Target::of_arch("sm_90a");
    let plan = monograph::inspect::plan(program.graph(), &target, &Options::default())?;
    title("The plan");
    println!("Every launch and every byte is decided before there is data.\n");
    print!("{}", summary(&plan));

    title("The graph of launches");
    println!("What waits for what; `dot -Tsvg` draws it. Replaying all of it is one launch.\n");
    print!("{}", dot(&plan));

    for (number, launch) in plan.launches.iter().enumerate() {
        title(&format!("Launch {number}: {}", launch.name));
        describe(&plan, &launch.work);
        let places: Vec<String> = launch.origins.iter().map(ToString::to_string).collect();
        println!("computes  {}", places.join(", "));
        if let Work::Kernel { kernel, .. } = &launch.work {
            let kernel = &plan.kernels[kernel.index()];
            println!("means\n{}", ir(&kernel.body));
            for variant in &kernel.variants {
                let source = &plan.programs[variant.program.index()].source;
                let (grid, block) = (variant.grid, variant.block);
                println!("symbol    {} on {grid:?} blocks of {block:?} threads\n", variant.symbol);
                println!("{}", function(source, &variant.symbol));
            }
        }
    }

    let lines: usize = plan.programs.iter().map(|p| p.source.lines().count()).sum();
    println!("\nWith the functions that all kernels share, NVRTC is given {lines} lines.");
    Ok(())
}

fn title(text: &str) {
    println!("\n{text}\n{}\n", "=".repeat(text.chars().count()));
}

/// Where a launch reads and writes.
fn describe(plan: &Plan, work: &Work) {
    let slot = |slot: &monograph::ir::plan::Slot| {
        let buffer = &plan.buffers[slot.buffer.index()];
        format!("{:?}+{}", buffer.region, buffer.offset + slot.offset)
    };
    match work {
        Work::Kernel { reads, writes, .. } => {
            println!("reads     {}", reads.iter().map(slot).collect::<Vec<_>>().join(", "));
            println!("writes    {}", writes.iter().map(slot).collect::<Vec<_>>().join(", "));
        }
        Work::Copy { source, target, bytes } => {
            println!("copies    {bytes} bytes, {} to {}", slot(source), slot(target))
        }
        other => println!("does      {other:?}"),
    }
}

/// The text of one kernel: from its declaration to the brace that closes it.
fn function<'a>(source: &'a str, symbol: &str) -> &'a str {
    let Some(name) = source.find(&format!("{symbol}(")) else { return source };
    let start = source[..name].rfind("extern \"C\"").unwrap_or(name);
    let end = source[name..].find("\n}").map_or(source.len(), |i| name + i + 2);
    &source[start..end]
}
