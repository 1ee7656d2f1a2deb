//! The last step: everything that was decided, as a `Plan`.

use super::Kernels;
use super::arrange::{Arranged, Place, Placed, Task, is_silent};
use crate::codegen::{NVRTC_OPTIONS, prelude};
use crate::schedule::Waits;
use monograph_ir::plan::{
    ALIGNMENT, Buffer, BufferId, Constant, DeviceId, Edge, EdgeKind, Input, Kernel, KernelId, Launch, LaunchId,
    PLAN_VERSION, Plan, Program, ProgramId, Region, Slot, State, Value, Variant, Work,
};
use monograph_ir::{Binding, Graph, Origin, OutputKind, ParamKind, Spec, Target};

/// The most kernels, and about the most bytes of source, of one program: programs are compiled in parallel.
const KERNELS_PER_PROGRAM: usize = 16;
const BYTES_PER_PROGRAM: usize = 64 << 10;

/// The only device there is for now.
const DEVICE: DeviceId = DeviceId(0);

/// Writes the plan down.
pub(crate) fn assemble(
    graph: &Graph,
    target: &Target,
    kernels: &Kernels<'_>,
    arranged: &Arranged<'_>,
    placed: &Placed,
    waits: &Waits,
) -> Plan {
    let mut plan = Plan {
        version: PLAN_VERSION,
        name: graph.name.clone(),
        target: target.clone(),
        buffers: Vec::new(),
        programs: Vec::new(),
        kernels: Vec::new(),
        launches: Vec::new(),
        edges: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        states: Vec::new(),
        constants: Vec::new(),
        probes: Vec::new(),
    };
    let buffers = Buffers::declare(&mut plan, graph, arranged, placed);
    add_kernels(&mut plan, kernels);
    for (i, launch) in arranged.launches.iter().enumerate() {
        let slots = |places: &[(Place, u64)]| places.iter().map(|&(p, _)| buffers.slot(arranged, p)).collect();
        plan.launches.push(match &launch.task {
            Task::Group(g) => {
                let kernel = KernelId(kernels.of_group[*g]);
                Launch {
                    name: format!("{}.{i}", plan.kernels[kernel.index()].name),
                    device: DEVICE,
                    work: Work::Kernel { kernel, reads: slots(&launch.reads), writes: slots(&launch.writes) },
                    origins: origins(graph, arranged, *g),
                }
            }
            Task::Copy { source, target, bytes, what } => Launch {
                name: format!("copy {what}.{i}"),
                device: DEVICE,
                work: Work::Copy {
                    source: buffers.slot(arranged, *source),
                    target: buffers.slot(arranged, *target),
                    bytes: *bytes,
                },
                origins: Vec::new(),
            },
        });
        let edge = |&from: &u32| Edge { from: LaunchId(from), to: LaunchId(i as u32), kind: EdgeKind::Full };
        plan.edges.extend(waits[i].iter().map(edge));
    }
    for (output, &place) in graph.outputs().iter().zip(&arranged.outputs) {
        let slot = buffers.slot(arranged, place);
        let value = Value { name: output.name.clone(), spec: graph.spec(output.value).clone(), slot };
        match output.kind {
            OutputKind::Result => plan.outputs.push(value),
            OutputKind::Probe => plan.probes.push(value),
            OutputKind::State(_) => {}
        }
    }
    plan
}

/// The buffers of parameters and temporaries.
struct Buffers {
    params: Vec<BufferId>,
    temps: Vec<Option<BufferId>>,
}

impl Buffers {
    fn declare(plan: &mut Plan, graph: &Graph, arranged: &Arranged<'_>, placed: &Placed) -> Buffers {
        let mut ends = [0u64; 3];
        let mut params = Vec::with_capacity(graph.params().len());
        for param in graph.params() {
            let (region, end) = match param.kind {
                ParamKind::Input(Binding::Copied) => (Region::Inputs, Some(0)),
                ParamKind::Input(Binding::Bound) => (Region::Bound, None),
                ParamKind::Constant => (Region::Constants, Some(1)),
                ParamKind::State => (Region::States, Some(2)),
            };
            let size = param.spec.bytes().expect("inference refuses values whose bytes overflow");
            let offset = end.map_or(0, |e: usize| ends[e]);
            if let Some(e) = end {
                ends[e] = (offset + size).next_multiple_of(ALIGNMENT);
            }
            let buffer = add_buffer(plan, region, offset, size);
            let (name, spec): (String, Spec) = (param.name.clone(), param.spec.clone());
            match param.kind {
                ParamKind::Input(binding) => plan.inputs.push(Input { name, spec, binding, buffer }),
                ParamKind::State => plan.states.push(State { name, spec, buffer }),
                ParamKind::Constant => plan.constants.push(Constant { name, spec, buffer, hash: None }),
            }
            params.push(buffer);
        }
        let temps = (0..arranged.temps.len() as u32).map(|t| {
            let temp = &arranged.temps[t as usize];
            temp.in_state.is_none().then(|| add_buffer(plan, Region::Arena, placed.offset(t), temp.bytes))
        });
        Buffers { temps: temps.collect(), params }
    }

    fn slot(&self, arranged: &Arranged<'_>, place: Place) -> Slot {
        let buffer = match (arranged.param_of(place), place) {
            (Some(p), _) | (None, Place::Param(p)) => self.params[p as usize],
            (None, Place::Temp(t)) => self.temps[t as usize].expect("what lies in no state lies in the arena"),
        };
        Slot { buffer, offset: 0 }
    }
}

fn add_buffer(plan: &mut Plan, region: Region, offset: u64, size: u64) -> BufferId {
    plan.buffers.push(Buffer { device: DEVICE, region, offset, size, alignment: ALIGNMENT });
    BufferId(plan.buffers.len() as u32 - 1)
}

/// Kernels, and the programs they are spread over.
fn add_kernels(plan: &mut Plan, kernels: &Kernels<'_>) {
    let mut in_program = usize::MAX;
    for (body, generated) in &kernels.kernels {
        let full = |p: &Program| in_program >= KERNELS_PER_PROGRAM || p.source.len() >= BYTES_PER_PROGRAM;
        if plan.programs.last().is_none_or(full) {
            plan.programs.push(Program {
                name: format!("{}.{}", plan.name, plan.programs.len()),
                source: prelude().to_string(),
                options: NVRTC_OPTIONS.iter().map(|o| o.to_string()).collect(),
                cubin: None,
            });
            in_program = 0;
        }
        in_program += 1;
        let program = ProgramId(plan.programs.len() as u32 - 1);
        plan.programs[program.index()].source.push_str(&generated.source);
        plan.kernels.push(Kernel {
            name: generated.name.clone(),
            body: (*body).clone(),
            domain: generated.domain.clone(),
            reads: generated.reads.clone(),
            writes: generated.writes.clone(),
            variants: vec![Variant {
                program,
                symbol: generated.name.clone(),
                grid: generated.grid,
                block: generated.block,
                shared: generated.shared,
            }],
        });
    }
}

/// The known places that a group computes, each once, in their order.
fn origins(graph: &Graph, arranged: &Arranged<'_>, group: usize) -> Vec<Origin> {
    let nodes = &arranged.groups[group].nodes;
    let mut origins: Vec<Origin> = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    // What only renames indices says little, unless there is nothing else.
    for silent in [false, true] {
        for &id in nodes.iter().filter(|&&id| is_silent(&graph.node(id).op) == silent) {
            let origin = graph.origin(id);
            if origin.is_known() && seen.insert(origin) {
                origins.push(origin.clone());
            }
        }
        if !origins.is_empty() {
            break;
        }
    }
    origins
}
