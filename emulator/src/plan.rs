//! `EmulatedPlan`: a plan whose launches run in the emulator, in the memory that the planner laid out.

use crate::build::Source;
use crate::emulator::Emulator;
use crate::explain::{Named, Scene, explain};
use crate::limits::Shape;
use crate::memory::Memory;
use crate::options::Schedule;
use crate::session::{Call, Failure, Mode, Range, Session};
use monograph_ir::plan::{Kernel, Orders, Plan, PlanError, Region, Slot, Variant, Work, verify_plan};
use monograph_ir::{Error, MemoryKind, Spec};
use std::fmt;
use std::sync::Arc;

/// The regions that have one segment each, in the order of the segments. Bound inputs follow, a segment each.
const REGIONS: [Region; 4] = [Region::Arena, Region::Inputs, Region::Constants, Region::States];
const ARENA: usize = 0;
const STATES: usize = 3;

/// The memory of an emulated plan.
#[derive(Debug)]
pub struct PlanMemory {
    plan: Arc<Plan>,
    memory: Arc<Memory>,
    /// For each buffer, its segment and where it starts there.
    places: Vec<(usize, u64)>,
}

impl PlanMemory {
    fn new(plan: Arc<Plan>) -> Result<PlanMemory, Error> {
        let mut sizes: Vec<u64> = REGIONS.iter().map(|&r| plan.region_bytes(r)).collect();
        let mut places = Vec::new();
        for buffer in &plan.buffers {
            places.push(match REGIONS.iter().position(|&r| r == buffer.region) {
                Some(segment) => (segment, buffer.offset),
                None => {
                    sizes.push(buffer.size);
                    (sizes.len() - 1, 0)
                }
            });
        }
        Ok(PlanMemory { memory: Arc::new(Memory::new(sizes)?), plan, places })
    }

    fn range(&self, slot: Slot, bytes: u64) -> Result<Range, Error> {
        let buffer = self.plan.buffers.get(slot.buffer.index());
        let inside = buffer.is_some_and(|b| slot.offset.checked_add(bytes).is_some_and(|end| end <= b.size));
        if !inside {
            return Err(Error::Internal(format!("{bytes} bytes at {slot:?} are in no buffer of the plan")));
        }
        let (segment, start) = self.places[slot.buffer.index()];
        Ok(Range { segment, offset: start + slot.offset, bytes })
    }

    /// Reads the bytes at a slot.
    ///
    /// # Errors
    /// [`Error::Io`] where the memory's file cannot be read, [`Error::Internal`] for bytes outside of the buffer.
    pub fn read(&self, slot: Slot, bytes: &mut [u8]) -> Result<(), Error> {
        let range = self.range(slot, bytes.len() as u64)?;
        self.memory.read(range.segment, range.offset, bytes)
    }
}

/// A plan that is compiled for the emulator and has memory.
pub struct EmulatedPlan {
    plan: Arc<Plan>,
    memory: Arc<PlanMemory>,
    session: Session,
    schedule: Schedule,
    orders: Orders,
    replays: u64,
}

impl EmulatedPlan {
    pub(crate) fn load(emulator: &Emulator, plan: Arc<Plan>) -> Result<EmulatedPlan, Error> {
        verify_plan(&plan)?;
        let options = *emulator.options();
        let mut sources: Vec<Source<'_>> =
            plan.programs.iter().map(|p| Source { name: &p.name, text: &p.source, symbols: Vec::new() }).collect();
        for kernel in &plan.kernels {
            let variant = code(kernel)?;
            shape(variant).check(options.checked)?;
            let symbols = &mut sources[variant.program.index()].symbols;
            if !symbols.contains(&variant.symbol.as_str()) {
                symbols.push(&variant.symbol);
            }
        }
        sources.retain(|s| !s.symbols.is_empty());
        let executable = Arc::new(emulator.build(&options, &sources)?);
        for kernel in &plan.kernels {
            shape(code(kernel)?).check_kernel(&executable.image, kernel.reads.len() + kernel.writes.len())?;
        }
        let memory = Arc::new(PlanMemory::new(plan.clone())?);
        let session = Session::new(executable, memory.memory.clone(), &options);
        let seed = match options.schedule {
            Schedule::Seeded(seed) => Some(seed),
            Schedule::InOrder | Schedule::Reverse => None,
        };
        let orders = Orders::new(&plan, seed);
        Ok(EmulatedPlan { plan, memory, session, schedule: options.schedule, orders, replays: 0 })
    }

    /// The memory, for who reads it without the plan.
    pub fn memory(&self) -> &Arc<PlanMemory> {
        &self.memory
    }

    /// The number of the process that executes the kernels, if one runs. There is none before the first replay and
    /// behind a finding.
    pub fn process(&self) -> Option<u32> {
        self.session.process()
    }

    /// Replaces the bytes at a slot of an input, a state or a constant.
    ///
    /// # Errors
    /// [`Error::Io`] where the memory's file cannot be written, [`Error::Internal`] for bytes outside of the buffer.
    pub fn write(&mut self, slot: Slot, bytes: &[u8]) -> Result<(), Error> {
        let range = self.memory.range(slot, bytes.len() as u64)?;
        self.memory.memory.write(range.segment, range.offset, bytes)?;
        if !bytes.is_empty() {
            self.session.written(range);
        }
        Ok(())
    }

    /// Reads the bytes at a slot.
    ///
    /// # Errors
    /// As [`PlanMemory::read`].
    pub fn read(&self, slot: Slot, bytes: &mut [u8]) -> Result<(), Error> {
        self.memory.read(slot, bytes)
    }

    /// Runs all launches once, in an arena full of NaN that counts as never written. The order of launches, and the
    /// seed of each, are a function of the schedule and of the number of replays before. After an error the states are
    /// what they were before.
    ///
    /// # Errors
    /// [`Error::Finding`] for what is wrong with a launch, [`Error::Device`] where there is not enough
    /// memory, [`Error::Io`] where the executable cannot be run or is killed.
    pub fn replay(&mut self) -> Result<(), Error> {
        let mut states = vec![0; self.plan.region_bytes(Region::States) as usize];
        self.memory.memory.read(STATES, 0, &mut states)?;
        let result = self.run();
        if result.is_err() {
            self.memory.memory.write(STATES, 0, &states)?;
        }
        result
    }

    fn run(&mut self) -> Result<(), Error> {
        let plan = self.plan.clone();
        let replay = self.replays;
        self.replays += 1;
        let arena = Range { segment: ARENA, offset: 0, bytes: plan.region_bytes(Region::Arena) };
        let begun = self.session.begin().and_then(|()| match arena.bytes {
            0 => Ok(()),
            _ => self.session.poison(arena),
        });
        begun.map_err(|failure| self.error(failure, &Scene::default()))?;
        for launch in self.orders.next(&plan) {
            match &plan.launches[launch].work {
                Work::Kernel { kernel, reads, writes } => {
                    let kernel = &plan.kernels[kernel.index()];
                    self.launch(&plan, replay, launch, kernel, reads, writes)?;
                }
                Work::Copy { bytes: 0, .. } => {}
                Work::Copy { source, target, bytes } => {
                    let ranges = (self.memory.range(*source, *bytes)?, self.memory.range(*target, *bytes)?);
                    let result = self.session.copy(ranges.0, ranges.1);
                    let launch = &plan.launches[launch];
                    let scene = Scene { launch: Some(&launch.name), origins: &launch.origins, ..Scene::default() };
                    result.map_err(|failure| self.error(failure, &scene))?;
                }
                Work::Conditional { .. } | Work::Collective { .. } => {
                    return Err(Error::Internal("the plan verifier accepts no such launch".into()));
                }
            }
        }
        Ok(())
    }

    fn launch(
        &mut self,
        plan: &Plan,
        replay: u64,
        number: usize,
        kernel: &Kernel,
        reads: &[Slot],
        writes: &[Slot],
    ) -> Result<(), Error> {
        let variant = code(kernel)?;
        let accesses = kernel.reads.iter().zip(reads).map(|(a, &s)| (a, s, Mode::Read));
        let accesses: Vec<_> =
            accesses.chain(kernel.writes.iter().zip(writes).map(|(a, &s)| (a, s, Mode::Write))).collect();
        let ranges = accesses
            .iter()
            .map(|(access, slot, mode)| Ok((self.memory.range(*slot, access.spec.bytes().unwrap_or(0))?, *mode)));
        let call = Call {
            symbol: &variant.symbol,
            grid: variant.grid,
            block: variant.block,
            dynamic: variant.shared.into(),
            schedule: self.schedule,
            seed: self.schedule.seed(replay, number as u64),
            parameters: ranges.collect::<Result<_, Error>>()?,
        };
        let result = self.session.launch(&call);
        result.map_err(|failure| {
            let launch = &plan.launches[number];
            let scene = Scene {
                kernel: Some((&variant.symbol, &plan.programs[variant.program.index()].source)),
                launch: Some(&launch.name),
                origins: &launch.origins,
                parameters: accesses.iter().map(|(access, slot, _)| named(plan, *slot, &access.spec)).collect(),
            };
            self.error(failure, &scene)
        })
    }

    fn error(&self, failure: Failure, scene: &Scene<'_>) -> Error {
        match failure {
            Failure::Failed(error) => error,
            Failure::Found(report) => explain(*report, &self.session.executable, scene).into(),
        }
    }
}

impl fmt::Debug for EmulatedPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EmulatedPlan({}, {} launches)", self.plan.name, self.plan.launches.len())
    }
}

fn shape(variant: &Variant) -> Shape<'_> {
    let Variant { symbol, grid, block, shared, .. } = variant;
    Shape { symbol, grid: *grid, block: *block, shared: *shared }
}

/// The code of a kernel that is run.
fn code(kernel: &Kernel) -> Result<&Variant, Error> {
    kernel.variants.first().ok_or_else(|| {
        Error::Plan(PlanError {
            launches: Vec::new(),
            message: format!("kernel {} has no code, so it runs on the host alone", kernel.name),
        })
    })
}

/// What a slot holds, in the words of the program. Outputs and intermediate values are told apart by their buffers.
fn named(plan: &Plan, slot: Slot, spec: &Spec) -> Named {
    let input = plan.inputs.iter().map(|i| (MemoryKind::Input, &i.name, i.buffer));
    let states = plan.states.iter().map(|s| (MemoryKind::State, &s.name, s.buffer));
    let constants = plan.constants.iter().map(|c| (MemoryKind::Constant, &c.name, c.buffer));
    let outputs = plan.outputs.iter().chain(&plan.probes);
    let outputs = outputs.map(|v| (MemoryKind::Output, &v.name, v.slot.buffer));
    let found = input.chain(states).chain(constants).chain(outputs).find(|(_, _, buffer)| *buffer == slot.buffer);
    let (what, name) = match found {
        Some((what, name, _)) => (what, name.clone()),
        None => (MemoryKind::Arena, slot.buffer.0.to_string()),
    };
    Named { what, name, dtype: spec.dtype }
}
