//! `compile`: the whole pipeline, in order.

mod arrange;
mod assemble;
mod moves;
mod stages;
mod summary;

pub use stages::{Stage, Stages};
pub use summary::{max_live, summary};

use crate::codegen::{Generated, generate};
use crate::fuse::{Group, fuse};
use crate::{Options, passes, reject};
use monograph_ir::plan::{ALIGNMENT, Plan, verify_plan};
use monograph_ir::{Error, Graph, Op, Target, Toolchain, verify};
use rustc_hash::FxHashMap;

/// Compiles an accepted graph for a target, to source.
///
/// # Errors
/// As [`compile_timed`].
pub fn compile(graph: &Graph, target: &Target, options: &Options) -> Result<Plan, Error> {
    compile_timed(graph, target, options, None).map(|(plan, _)| plan)
}

/// Compiles an accepted graph for a target, to machine code where there is a toolchain.
///
/// # Errors
/// As [`compile_timed`].
pub fn compile_with(
    graph: &Graph,
    target: &Target,
    options: &Options,
    toolchain: Option<&dyn Toolchain>,
) -> Result<Plan, Error> {
    compile_timed(graph, target, options, toolchain).map(|(plan, _)| plan)
}

/// [`compile_with`], and how long each stage took.
///
/// # Errors
/// [`Error::Verify`] for a graph that breaks an invariant, [`Error::Rejected`] for what no CUDA graph can hold,
/// [`Error::TooManyNodes`] for a program with more launches than a plan may have, [`Error::TooMuchMemory`] for one whose
/// sizes overflow, what the toolchain refuses, and [`Error::Internal`] and [`Error::Plan`] for defects of this crate.
pub fn compile_timed(
    graph: &Graph,
    target: &Target,
    options: &Options,
    toolchain: Option<&dyn Toolchain>,
) -> Result<(Plan, Stages), Error> {
    let mut stages = Stages::default();
    stages.time("verify", || verify(graph))?;
    stages.time("reject", || reject::check(graph)).map_err(Error::Rejected)?;
    let graph = stages.time("optimize", || passes::optimize(graph, options))?;
    check_ops(&graph)?;
    let groups = stages.time("fuse", || fuse(&graph, options));
    check_bytes(&graph, &groups)?;
    let kernels = stages.time("generate", || Kernels::generate(&groups, target, options))?;
    let arranged = stages.time("schedule", || arrange::arrange(&graph, &groups, &kernels))?;
    let placed = stages.time("memory", || arrange::place(&arranged, options));
    let waits = stages.time("edges", || arrange::edges(&arranged, &placed));
    let mut plan = stages.time("assemble", || assemble::assemble(&graph, target, &kernels, &arranged, &placed, &waits));
    stages.time("verify plan", || verify_plan(&plan))?;
    if let Some(toolchain) = toolchain {
        let binaries = stages.time("toolchain", || toolchain.compile(&plan.programs, target))?;
        for (program, binary) in plan.programs.iter_mut().zip(binaries) {
            program.cubin = Some(binary.cubin);
        }
    }
    Ok((plan, stages))
}

/// Refuses programs whose offsets in memory would overflow: each value fits, but their sum need not.
fn check_bytes(graph: &Graph, groups: &[Group]) -> Result<(), Error> {
    let params = graph.params().iter().map(|p| &p.spec);
    let stored = groups.iter().flat_map(|g| &g.outputs).map(|&v| graph.spec(v));
    // With room for the alignment of each, and for copies of outputs and states.
    let bytes =
        params.chain(stored).map(|s| 2 * (u128::from(s.bytes().unwrap_or(u64::MAX)) + 2 * u128::from(ALIGNMENT)));
    let bytes: u128 = bytes.sum();
    if bytes > 1 << 62 { Err(Error::TooMuchMemory { bytes: u64::try_from(bytes).unwrap_or(u64::MAX) }) } else { Ok(()) }
}

/// Refuses what the passes before must have rejected or replaced.
fn check_ops(graph: &Graph) -> Result<(), Error> {
    for (id, node) in graph.iter() {
        if !node.op.is_pure() || matches!(node.op, Op::Cond { .. } | Op::For { .. }) {
            let (name, origin) = (node.op.name(), graph.origin(id));
            return Err(Error::Internal(format!(
                "`{name}` at {origin} was neither rejected nor replaced before fusion"
            )));
        }
    }
    Ok(())
}

/// The distinct kernels of all groups.
pub(crate) struct Kernels<'a> {
    /// Each with the body it is of.
    pub(crate) kernels: Vec<(&'a Graph, Generated)>,
    /// The kernel of each group.
    pub(crate) of_group: Vec<u32>,
}

impl<'a> Kernels<'a> {
    fn generate(groups: &'a [Group], target: &Target, options: &Options) -> Result<Kernels<'a>, Error> {
        let mut known: FxHashMap<&Graph, u32> = FxHashMap::default();
        let mut result = Kernels { kernels: Vec::new(), of_group: Vec::with_capacity(groups.len()) };
        for group in groups {
            let index = match known.get(&group.body) {
                Some(&index) => index,
                None => {
                    let index = result.kernels.len() as u32;
                    result.kernels.push((&group.body, generate(&group.body, target, options)?));
                    known.insert(&group.body, index);
                    index
                }
            };
            result.of_group.push(index);
        }
        Ok(result)
    }

    /// The kernel of a group.
    pub(crate) fn of(&self, group: usize) -> &Generated {
        &self.kernels[self.of_group[group] as usize].1
    }
}
