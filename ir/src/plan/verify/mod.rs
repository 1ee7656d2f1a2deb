//! The independent verifier of plans. It shares no code with the compiler that makes them.
//!
//! What it proves, in the order in which it is checked:
//!
//! **Tables** (`tables`)
//! 1. The version is [`PLAN_VERSION`], and there are at most [`MAX_LAUNCHES`] launches.
//! 2. Buffers lie on device 0, inside an address space of 2⁶³ bytes, at a multiple of their alignment, which is a
//!    power of two; bound ones start at 0. Buffers outside the arena do not overlap others of their region.
//! 3. Every input, state and constant has a buffer of its own, in the region of its kind, large enough and aligned for
//!    its elements. Names are not empty and differ within a table.
//! 4. Outputs and probes lie inside their buffers, aligned for their elements, and not in bound inputs.
//! 5. Edges go forward in index order between launches that exist, and none is there twice; programmatic ones join
//!    kernels.
//!
//! **Kernels** (`kernels`)
//! 6. The body is a valid graph of ops that can run; its parameters are the reads, its outputs the writes.
//! 7. Every affine index map has one stride a dimension and stays inside its tensor; that of a write has at least one
//!    point for each element.
//! 8. Every variant has a program, a symbol, and a geometry within the limits of CUDA and of the target.
//!
//! **Launches** (`launches`)
//! 9. They run on device 0; kernels, buffers and numbers of slots are right; conditional and collective work is
//!    refused.
//! 10. Every access lies inside its buffer and is aligned for its elements.
//! 11. Nothing writes to inputs, bound inputs or constants.
//! 12. Inside a launch, writes do not overlap; a read overlaps a write only if both are the same bytes and the same
//!     injective affine map over elements of one size; a copy does not overlap itself.
//!
//! **Memory** (`memory`)
//! 13. Every byte that is read was given (inputs, constants, states) or written before.
//! 14. Every two accesses to one byte, of which one is a write, are ordered by a path of edges, whatever buffers they
//!     name. So every order that respects the edges gives the same result as the index order.
//! 15. Every byte that is read was last written through the buffer that the read names: memory that was given to
//!     another buffer in between is found.
//! 16. Every byte of outputs and probes was written or given, and last through the buffer that they name.
//!
//! An access of no bytes is none. A programmatic edge orders as a full one does, because its kernel waits.
//!
//! Cost: each launch looks up its bytes in an ordered map of segments, and ancestors are bitsets that live only until
//! the last direct successor of their launch is done. For `n` launches that is `n²/8` bytes at the very worst and much
//! less for real plans (20,000 launches in 32 chains keep 32 sets of 2.5 kB).

mod kernels;
mod launches;
mod memory;
mod order;
mod tables;

use super::{BufferId, Launch, LaunchId, Plan, PlanError, Region};
#[cfg(doc)]
use super::{MAX_LAUNCHES, PLAN_VERSION};

/// Proves that a plan is sound: that replaying it in any order that respects its edges computes what the bodies of
/// its kernels say. The module's documentation lists the rules.
///
/// # Errors
/// The first rule that is broken.
pub fn verify_plan(plan: &Plan) -> Result<(), PlanError> {
    let given = tables::check(plan)?;
    kernels::check(plan)?;
    let touched = launches::check(plan)?;
    memory::check(plan, &given, &touched)
}

/// Bytes that a launch touches, at least one.
#[derive(Clone, Copy, Debug)]
struct Bytes {
    buffer: BufferId,
    region: Region,
    /// First byte, from the region's start.
    start: u64,
    /// One past the last.
    end: u64,
}

impl Bytes {
    fn overlaps(&self, other: &Bytes) -> bool {
        self.same_space(other) && self.start < other.end && other.start < self.end
    }

    /// Whether positions in both can be compared: each bound input is a space of its own.
    fn same_space(&self, other: &Bytes) -> bool {
        self.region == other.region && (self.region != Region::Bound || self.buffer == other.buffer)
    }
}

/// What a launch reads and writes.
#[derive(Clone, Debug, Default)]
struct Touched {
    reads: Vec<Bytes>,
    writes: Vec<Bytes>,
}

/// An error about no launch in particular.
fn fail<T>(message: String) -> Result<T, PlanError> {
    Err(PlanError { launches: Vec::new(), message })
}

/// An error about some launches, whose names the message should hold.
fn fail_at<T>(launches: &[usize], message: String) -> Result<T, PlanError> {
    Err(PlanError { launches: launches.iter().map(|&l| LaunchId(l as u32)).collect(), message })
}

/// How messages call a launch.
fn called(plan: &Plan, launch: usize) -> String {
    let name = plan.launches.get(launch).map_or("", |l: &Launch| &l.name);
    format!("launch {launch} `{name}`")
}
