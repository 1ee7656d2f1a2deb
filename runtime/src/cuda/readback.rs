//! Reads back what the driver built, and compares it with the plan.

use super::error::WithContext as _;
use super::executable::{CudaExecutable, Regions};
use crate::driver::{Edge, NodeId, NodeView};
use monograph_ir::Error;
use monograph_ir::plan::{EdgeKind, Launch, Plan, Work};

/// Compares every node, argument and edge of the graph with the plan.
pub(super) fn compare(executable: &CudaExecutable) -> Result<(), Error> {
    let (plan, regions) = (&executable.plan, &executable.regions);
    let graph = executable.exec.graph();
    let nodes = graph.read_nodes().during("reading the CUDA graph back")?;
    if nodes.len() != plan.launches.len() {
        return different(format!("{} nodes for {} launches", nodes.len(), plan.launches.len()));
    }
    for (i, ((id, found), launch)) in nodes.iter().zip(&plan.launches).enumerate() {
        let expected = expect(plan, regions, launch);
        if *id != NodeId(i as u32) || *found != expected {
            return different(format!("node {i} ({}) is {found:?}, not {expected:?}", launch.name));
        }
    }
    let mut expected: Vec<Edge> = plan
        .edges
        .iter()
        .map(|e| match e.kind {
            EdgeKind::Full => Edge::plain(NodeId(e.from.0), NodeId(e.to.0)),
            EdgeKind::Programmatic => Edge::programmatic(NodeId(e.from.0), NodeId(e.to.0)),
        })
        .collect();
    expected.sort();
    let found = graph.read_edges().during("reading the CUDA graph back")?;
    if found != expected {
        return different(format!("the edges are {found:?}, not {expected:?}"));
    }
    Ok(())
}

fn different(how: String) -> Result<(), Error> {
    Err(Error::Internal(format!("the CUDA graph is not what the plan says: {how}")))
}

/// What the driver should say of a launch.
fn expect(plan: &Plan, regions: &Regions, launch: &Launch) -> NodeView {
    match &launch.work {
        Work::Kernel { kernel, reads, writes } => {
            let variant = &plan.kernels[kernel.index()].variants[0];
            let address = |slot| regions.address(plan, slot).to_ne_bytes().to_vec();
            NodeView::Kernel {
                symbol: variant.symbol.clone(),
                grid: variant.grid,
                block: variant.block,
                shared_bytes: variant.shared,
                args: reads.iter().chain(writes).map(|&s| address(s)).collect(),
            }
        }
        Work::Copy { source, target, bytes } => NodeView::Memcpy(regions.copy(plan, *source, *target, *bytes)),
        Work::Conditional { .. } | Work::Collective { .. } => NodeView::Empty,
    }
}
