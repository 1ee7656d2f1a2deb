//! The emitter: from a plan to an instantiated CUDA graph, one explicit call a node.

use super::Cuda;
use super::error::WithContext as _;
use super::executable::{BoundInput, CudaExecutable, Regions};
use super::inputs::Staging;
use crate::driver::{Edge, Function, Graph, GraphExec, KernelArgs, KernelNode, Module, NodeId};
use crate::{ReplayCost, View};
use monograph_ir::plan::{EdgeKind, Kernel, Plan, Region, Slot, Work};
use monograph_ir::{Array, Error};
use std::sync::Arc;

/// Loads machine code, allocates and fills memory, builds the graph, instantiates and uploads it.
pub(super) fn load(
    cuda: &Cuda,
    plan: Arc<Plan>,
    cubins: &[Vec<u8>],
    constants: &[Array],
    states: &[Array],
) -> Result<CudaExecutable, Error> {
    let functions = functions(cuda, &plan, cubins)?;
    let regions = Regions {
        arena: cuda.allocate(plan.region_bytes(Region::Arena), "intermediate values and outputs")?,
        inputs: cuda.allocate(plan.region_bytes(Region::Inputs), "inputs")?,
        constants: cuda.allocate(plan.region_bytes(Region::Constants), "constants")?,
        states: cuda.allocate(plan.region_bytes(Region::States), "state")?,
    };
    for (buffer, array) in plan.constants.iter().map(|c| c.buffer).zip(constants) {
        let offset = plan.buffers[buffer.index()].offset as usize;
        regions.constants.write(offset, &array.bytes()?, &cuda.stream).during("uploading a constant")?;
    }
    for (buffer, array) in plan.states.iter().map(|s| s.buffer).zip(states) {
        let offset = plan.buffers[buffer.index()].offset as usize;
        regions.states.write(offset, &array.bytes()?, &cuda.stream).during("uploading state")?;
    }

    let graph = emit(cuda, &plan, &functions, &regions).during("building the CUDA graph")?;
    let exec = instantiate(cuda, graph)?;
    exec.upload(&cuda.stream).during("uploading the CUDA graph")?;
    cuda.stream.synchronize().during("uploading the CUDA graph")?;

    Ok(CudaExecutable {
        staging: Staging::new(&cuda.context, &plan),
        bound: bound_inputs(&plan),
        retired: Vec::new(),
        cost: ReplayCost::default(),
        stream: cuda.stream.clone(),
        regions,
        exec,
        plan,
    })
}

/// The function of each kernel's preferred variant.
fn functions(cuda: &Cuda, plan: &Plan, cubins: &[Vec<u8>]) -> Result<Vec<Arc<Function>>, Error> {
    let modules = cubins.iter().map(|c| Module::load(&cuda.context, c)).collect::<Result<Vec<_>, _>>();
    let modules = modules.during("loading machine code")?;
    let function = |kernel: &Kernel| {
        let variant = kernel.variants.first();
        let variant = variant.ok_or_else(|| Error::Internal(format!("kernel {} has no code", kernel.name)))?;
        modules[variant.program.index()].function(&variant.symbol).during(&format!("loading kernel {}", kernel.name))
    };
    plan.kernels.iter().map(function).collect()
}

/// One node a launch, in order, then all edges.
fn emit(
    cuda: &Cuda,
    plan: &Plan,
    functions: &[Arc<Function>],
    regions: &Regions,
) -> Result<Graph, crate::driver::DriverError> {
    let mut graph = Graph::new(&cuda.context)?;
    for launch in &plan.launches {
        match &launch.work {
            Work::Kernel { kernel, reads, writes } => {
                let variant = &plan.kernels[kernel.index()].variants[0];
                let addresses: Vec<u64> = reads.iter().chain(writes).map(|&s| regions.address(plan, s)).collect();
                graph.add_kernel(KernelNode {
                    function: functions[kernel.index()].clone(),
                    grid: variant.grid,
                    block: variant.block,
                    shared_bytes: variant.shared,
                    args: KernelArgs::pointers(&addresses),
                })?
            }
            Work::Copy { source, target, bytes } => graph.add_memcpy(regions.copy(plan, *source, *target, *bytes))?,
            // The plan verifier accepts neither; an empty node keeps the numbers in step.
            Work::Conditional { .. } | Work::Collective { .. } => graph.add_empty()?,
        };
    }
    let edge = |e: &monograph_ir::plan::Edge| {
        let (from, to) = (NodeId(e.from.0), NodeId(e.to.0));
        match e.kind {
            EdgeKind::Full => Edge::plain(from, to),
            EdgeKind::Programmatic => Edge::programmatic(from, to),
        }
    };
    graph.add_edges(&plan.edges.iter().map(edge).collect::<Vec<_>>())?;
    Ok(graph)
}

/// Instantiates; where memory runs out, gives back what the driver hoards and tries once more.
fn instantiate(cuda: &Cuda, graph: Graph) -> Result<GraphExec, Error> {
    const WHAT: &str = "instantiating the CUDA graph";
    let failed = match graph.instantiate() {
        Ok(exec) => return Ok(exec),
        Err(failed) => failed,
    };
    if !failed.error.is_out_of_memory() {
        tracing::error!(node = ?failed.node, reason = failed.reason, "the CUDA graph was refused");
        return Err(failed.error).during(WHAT);
    }
    cuda.context.trim_graph_memory().during(WHAT)?;
    failed.graph.instantiate().map_err(|again| again.error).during(WHAT)
}

/// For each bound input the launches that read it, with the argument that holds its address.
fn bound_inputs(plan: &Plan) -> Vec<Option<BoundInput>> {
    let mut inputs: Vec<Option<BoundInput>> = plan
        .inputs
        .iter()
        .map(|i| (plan.buffers[i.buffer.index()].region == Region::Bound).then(BoundInput::default))
        .collect();
    let mut input_of = vec![None; plan.buffers.len()];
    for (i, input) in plan.inputs.iter().enumerate() {
        input_of[input.buffer.index()] = Some(i);
    }
    for (number, launch) in plan.launches.iter().enumerate() {
        let reads: &[Slot] = match &launch.work {
            Work::Kernel { reads, .. } => reads,
            Work::Copy { source, .. } => std::slice::from_ref(source),
            Work::Conditional { .. } | Work::Collective { .. } => &[],
        };
        for slot in reads {
            if let Some(input) = input_of[slot.buffer.index()].and_then(|i: usize| inputs[i].as_mut())
                && input.readers.last() != Some(&(number as u32))
            {
                input.readers.push(number as u32);
            }
        }
    }
    inputs
}

/// A view of a slot: the region it lies in, from the region's start.
pub(super) fn view(plan: &Plan, regions: &Regions, slot: Slot, bytes: u64) -> View {
    let buffer = &plan.buffers[slot.buffer.index()];
    let memory = regions.of(buffer.region).cloned().unwrap_or_else(|| regions.arena.clone());
    View { place: super::place(memory.context()).into(), memory, offset: buffer.offset + slot.offset, bytes }
}
