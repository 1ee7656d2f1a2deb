//! `Plan`: the contract between compiler and runtime. Plain data, versioned; a device needs nothing else but the
//! constants and the initial state.
//!
//! A plan is a list of launches in an order that respects its edges. Each launch names the slots of memory it reads
//! and writes, and each kernel carries its meaning as a [`Graph`] from what it reads to what it writes, so that the
//! same plan runs on a GPU as machine code and on the host through the interpreter. [`verify_plan`] proves from the
//! plan alone that replaying it in any order that respects the edges computes what the bodies say.

mod order;
mod verify;

pub use order::Orders;
pub use verify::verify_plan;

use crate::{Binding, Graph, Origin, Shape, Spec, Target};
use serde::{Deserialize, Serialize};

/// The version of the format; a plan of another version is refused.
pub const PLAN_VERSION: u32 = 1;

/// The most launches of one plan.
pub const MAX_LAUNCHES: usize = 65_536;

/// The alignment, in bytes, of every buffer of a plan: what `cuMemAlloc` guarantees, and enough for any vector access.
pub const ALIGNMENT: u64 = 256;

/// A whole compiled program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// [`PLAN_VERSION`].
    pub version: u32,
    /// The name of the graph it was compiled from.
    pub name: String,
    /// What it was compiled for.
    pub target: Target,
    /// Memory.
    pub buffers: Vec<Buffer>,
    /// Source or machine code.
    pub programs: Vec<Program>,
    /// Kernels, each different from the others.
    pub kernels: Vec<Kernel>,
    /// Launches; index order respects the edges.
    pub launches: Vec<Launch>,
    /// What must be complete before what starts.
    pub edges: Vec<Edge>,
    /// Inputs in the order in which a replay is given them.
    pub inputs: Vec<Input>,
    /// Outputs in the order in which they are returned.
    pub outputs: Vec<Value>,
    /// State in the order of its declaration.
    pub states: Vec<State>,
    /// Constants in the order of their declaration.
    pub constants: Vec<Constant>,
    /// Named values to look at.
    pub probes: Vec<Value>,
}

macro_rules! index {
    ($($(#[$meta:meta])* $name:ident,)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in its table.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index! {
    /// A buffer of a plan.
    BufferId,
    /// A program of a plan.
    ProgramId,
    /// A kernel of a plan.
    KernelId,
    /// A launch of a plan.
    LaunchId,
    /// A device of a plan. Always 0 for now.
    DeviceId,
}

/// A range of memory of one region of one device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Buffer {
    /// The device it lies on.
    pub device: DeviceId,
    /// The region it lies in.
    pub region: Region,
    /// Bytes from the region's start. Bound inputs have a region each, so theirs is 0.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Bytes; the offset is a multiple of it.
    pub alignment: u64,
}

/// The regions of a plan's memory. Buffers of the arena may overlap each other where the launches' order allows it;
/// no other buffers overlap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// Intermediate values and outputs; its contents do not outlive a replay, except the outputs until the next one.
    Arena,
    /// Resident buffers of copied inputs, written before each replay.
    Inputs,
    /// An input that is read where the caller has it.
    Bound,
    /// Data that never changes.
    Constants,
    /// What lives from one replay to the next.
    States,
}

/// CUDA C++ source, and what it was compiled to where that was done already.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Program {
    /// A name for messages and for the file in a debugger.
    pub name: String,
    /// The source, header-free.
    pub source: String,
    /// Options beside the architecture: `--fmad=false`, …
    pub options: Vec<String>,
    /// The cubin.
    pub cubin: Option<Vec<u8>>,
}

/// A function that launches call: its meaning, how it touches memory, and the code that does it.
///
/// The code's parameters are the pointers of the reads, then those of the writes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Kernel {
    /// Ops and a structural hash; also the symbol's stem.
    pub name: String,
    /// What it computes: parameter `i` is read `i`, output `i` is write `i`. All are whole dense row-major tensors.
    pub body: Graph,
    /// The iteration space that index maps speak of.
    pub domain: Shape,
    /// How each parameter is read.
    pub reads: Vec<Access>,
    /// How each output is written. Every element is written.
    pub writes: Vec<Access>,
    /// Codes that do it, the preferred one first. At least one, except that a plan for the host needs none.
    pub variants: Vec<Variant>,
}

/// How a kernel touches one tensor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Access {
    /// The tensor.
    pub spec: Spec,
    /// Which elements each point of the iteration space touches.
    pub map: IndexMap,
}

/// From a point of a kernel's iteration space to the elements that the point touches.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexMap {
    /// The element `offset + Σ strides[i] · point[i]` only, in elements; the thread that handles the point has read
    /// all that it reads before it writes.
    Affine {
        /// Of the point 0.
        offset: i64,
        /// One a dimension of the domain.
        strides: Vec<i64>,
    },
    /// Any element at any time.
    Any,
}

/// One code of a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Variant {
    /// The program that holds it.
    pub program: ProgramId,
    /// The symbol in the program.
    pub symbol: String,
    /// Blocks of the grid: x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block: x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes.
    pub shared: u32,
}

/// One node of the CUDA graph.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Launch {
    /// A name for profiles and the DOT dump.
    pub name: String,
    /// The device that runs it.
    pub device: DeviceId,
    /// What it does.
    pub work: Work,
    /// The places in the user's program that it computes.
    pub origins: Vec<Origin>,
}

/// What a launch does.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Calls a kernel.
    Kernel {
        /// The kernel.
        kernel: KernelId,
        /// Where its reads lie.
        reads: Vec<Slot>,
        /// Where its writes go.
        writes: Vec<Slot>,
    },
    /// Copies bytes between two ranges that do not overlap.
    Copy {
        /// From.
        source: Slot,
        /// To.
        target: Slot,
        /// How many bytes.
        bytes: u64,
    },
    /// Reserved: launches that run if, or while, a bool on the device is true. The verifier refuses it still.
    Conditional {
        /// The bool, one byte.
        condition: Slot,
        /// Whether it runs again while the bool is true.
        repeat: bool,
        /// The launches.
        launches: Vec<Launch>,
        /// Their edges.
        edges: Vec<Edge>,
    },
    /// Reserved: an exchange between devices. The verifier refuses it still.
    Collective {
        /// Its name.
        name: String,
        /// What it reads and writes.
        slots: Vec<Slot>,
    },
}

/// A place inside a buffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Slot {
    /// The buffer.
    pub buffer: BufferId,
    /// Bytes from its start.
    pub offset: u64,
}

/// An order between two launches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Edge {
    /// What comes first.
    pub from: LaunchId,
    /// What waits.
    pub to: LaunchId,
    /// How it waits.
    pub kind: EdgeKind,
}

/// How a launch waits for another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// It starts when the other is complete (port 0).
    #[default]
    Full,
    /// It may start early and waits in the kernel, if both grids are resident together (port 1, type 1).
    Programmatic,
}

/// An input of a replay.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Dtype and shape.
    pub spec: Spec,
    /// How it gets there.
    pub binding: Binding,
    /// Where.
    pub buffer: BufferId,
}

/// A value that can be read after a replay.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Value {
    /// Its name.
    pub name: String,
    /// Dtype and shape.
    pub spec: Spec,
    /// Where.
    pub slot: Slot,
}

/// A tensor that lives from one replay to the next.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct State {
    /// Its name.
    pub name: String,
    /// Dtype and shape.
    pub spec: Spec,
    /// Where.
    pub buffer: BufferId,
}

/// Data that never changes, kept outside the plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// Dtype and shape.
    pub spec: Spec,
    /// Where.
    pub buffer: BufferId,
    /// A hash of the contents, where it was worth computing.
    pub hash: Option<String>,
}

/// What is wrong with a plan.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct PlanError {
    /// The launches it is about.
    pub launches: Vec<LaunchId>,
    /// The rule that is broken, and how.
    pub message: String,
}

impl Plan {
    /// The size of a region, in bytes: the end of its last buffer.
    pub fn region_bytes(&self, region: Region) -> u64 {
        self.buffers.iter().filter(|b| b.region == region).map(|b| b.offset + b.size).max().unwrap_or(0)
    }

    /// What a launch touches.
    pub fn footprint(&self, launch: &Launch) -> Footprint {
        let sized = |slots: &[Slot], accesses: &[Access]| {
            slots.iter().copied().zip(accesses.iter().map(|a| a.spec.bytes().unwrap_or(u64::MAX))).collect()
        };
        let (reads, writes) = match &launch.work {
            Work::Kernel { kernel, reads, writes } => {
                let kernel = &self.kernels[kernel.index()];
                (sized(reads, &kernel.reads), sized(writes, &kernel.writes))
            }
            Work::Copy { source, target, bytes } => (vec![(*source, *bytes)], vec![(*target, *bytes)]),
            Work::Conditional { condition, .. } => (vec![(*condition, 1)], Vec::new()),
            Work::Collective { slots, .. } => (slots.iter().map(|&s| (s, 0)).collect(), Vec::new()),
        };
        Footprint { reads, writes }
    }
}

/// The slots that a launch touches, with their sizes in bytes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Footprint {
    /// What it reads.
    pub reads: Vec<(Slot, u64)>,
    /// What it writes.
    pub writes: Vec<(Slot, u64)>,
}
