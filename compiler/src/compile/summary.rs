//! What a plan amounts to, for people.

use crate::schedule::first_places;
use monograph_ir::plan::{Plan, Region, Work};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Counts and bytes of a plan, and one line a launch: name, bytes read and written, origins.
pub fn summary(plan: &Plan) -> String {
    let mut text = String::new();
    let copies = plan.launches.iter().filter(|l| matches!(l.work, Work::Copy { .. })).count();
    let (launches, edges) = (plan.launches.len(), plan.edges.len());
    let (kernels, programs) = (plan.kernels.len(), plan.programs.len());
    let _ = writeln!(text, "{}: {launches} launches ({copies} copies), {edges} edges", plan.name);
    let _ = writeln!(text, "{kernels} kernels in {programs} programs for {}", plan.target.arch);
    let _ = writeln!(
        text,
        "arena {} B (max live {} B), inputs {} B, constants {} B, states {} B",
        plan.region_bytes(Region::Arena),
        max_live(plan),
        plan.region_bytes(Region::Inputs),
        plan.region_bytes(Region::Constants),
        plan.region_bytes(Region::States),
    );
    for launch in &plan.launches {
        let footprint = plan.footprint(launch);
        let sum = |slots: &[(_, u64)]| slots.iter().map(|(_, bytes)| bytes).sum::<u64>();
        let (reads, writes) = (sum(&footprint.reads), sum(&footprint.writes));
        let places: Vec<String> = first_places(&launch.origins).collect();
        let _ = writeln!(text, "  {}: reads {reads} B, writes {writes} B  {}", launch.name, places.join(", "));
    }
    text
}

/// The most bytes of the arena that are live at a time when the launches run in index order; outputs and probes stay
/// live to the end.
pub fn max_live(plan: &Plan) -> u64 {
    let is_arena = |b: usize| plan.buffers[b].region == Region::Arena;
    let kept: BTreeSet<usize> = plan.outputs.iter().chain(&plan.probes).map(|v| v.slot.buffer.index()).collect();
    let mut first = vec![usize::MAX; plan.buffers.len()];
    let mut last = vec![0usize; plan.buffers.len()];
    for (i, launch) in plan.launches.iter().enumerate() {
        let footprint = plan.footprint(launch);
        for (slot, _) in footprint.reads.iter().chain(&footprint.writes) {
            let b = slot.buffer.index();
            first[b] = first[b].min(i);
            last[b] = i;
        }
    }
    // A buffer that takes over the bytes of another in one launch is not counted beside it.
    let mut changes: Vec<Vec<(u64, u64, bool)>> = vec![Vec::new(); plan.launches.len() + 1];
    for (b, buffer) in plan.buffers.iter().enumerate().filter(|&(b, _)| is_arena(b) && first[b] != usize::MAX) {
        changes[first[b]].push((buffer.offset, buffer.size, true));
        if !kept.contains(&b) {
            changes[last[b] + 1].push((buffer.offset, buffer.size, false));
        }
    }
    let mut live: std::collections::BTreeMap<u64, (u32, u64)> = std::collections::BTreeMap::new();
    let (mut bytes, mut most) = (0u64, 0u64);
    for mut at in changes {
        at.sort_unstable_by_key(|&(offset, _, starts)| (starts, offset));
        for (offset, size, starts) in at {
            let entry = live.entry(offset).or_insert((0, 0));
            if starts {
                entry.0 += 1;
                if entry.0 == 1 {
                    entry.1 = size;
                    bytes += size;
                }
            } else {
                entry.0 -= 1;
                if entry.0 == 0 {
                    bytes -= entry.1;
                }
            }
        }
        most = most.max(bytes);
    }
    most
}
