//! The offline memory planner, a pure function: from buffers with their producers and users, and an order, to
//! offsets.
//!
//! Two buffers may share bytes only if everything that touches the first is complete before the producer of the second
//! starts. What "before" means is the caller's: a path of edges, or anything that the caller will turn into one. A
//! buffer may also take over the bytes of an input of its own producer where the caller says that this is legal.

mod place;
mod take_over;

pub use place::Strategy;

use take_over::Class;

/// A buffer that needs bytes. Launches are numbered in the order in which they run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Request {
    /// Bytes.
    pub size: u64,
    /// The launch that writes it first.
    pub producer: u32,
    /// The launches that read it, ascending, each once, all after the producer.
    pub users: Vec<u32>,
    /// Whether its contents must last to the end: nothing later shares its bytes.
    pub keep: bool,
    /// Requests whose bytes it may take over in its producer, which is then their last user; the preferred first.
    pub may_take: Vec<u32>,
}

/// Where the buffers lie.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// Bytes from the start, one a request.
    pub offsets: Vec<u64>,
    /// The end of the last buffer.
    pub total: u64,
    /// The most bytes (aligned) that are live at a time if the launches run one after the other: no layout of that
    /// order needs less.
    pub max_live: u64,
    /// How many requests took over the bytes of another.
    pub taken: usize,
    /// What gave the smallest total.
    pub strategy: Strategy,
}

/// Above this many buffers only the strategy that needs no comparison of all pairs is tried.
const MANY: usize = 1500;

/// Gives every request its bytes. `precedes(a, b)` says whether launch `a` is complete before launch `b` starts; it
/// must be transitive and imply `a < b`. Offsets are multiples of `alignment`.
pub fn plan(requests: &[Request], alignment: u64, precedes: &dyn Fn(u32, u32) -> bool) -> Layout {
    let (classes, class_of) = take_over::classes(requests, alignment, precedes);
    let mut best = (place::timeline(&classes, precedes), Strategy::Timeline);
    if classes.len() <= MANY {
        let conflicts = place::Conflicts::new(&classes, precedes);
        for strategy in [Strategy::Size, Strategy::Lifetime, Strategy::Area] {
            let placed = place::greedy(&classes, &conflicts, strategy);
            if placed.total < best.0.total {
                best = (placed, strategy);
            }
        }
    }
    let (placed, strategy) = best;
    Layout {
        offsets: class_of.iter().map(|&c| placed.offsets[c as usize]).collect(),
        total: placed.total,
        max_live: max_live(&classes),
        taken: requests.len() - classes.len(),
        strategy,
    }
}

/// The most bytes that are live at a time.
fn max_live(classes: &[Class]) -> u64 {
    let mut changes: Vec<(u32, bool, u64)> = Vec::with_capacity(2 * classes.len());
    for class in classes {
        changes.push((class.producer, true, class.size));
        if !class.keep {
            // It still occupies its bytes while its last user runs.
            changes.push((class.end + 1, false, class.size));
        }
    }
    // At one launch, what ended before it is given up first.
    changes.sort_unstable_by_key(|&(at, starts, _)| (at, starts));
    let (mut live, mut most) = (0u64, 0u64);
    for (_, starts, size) in changes {
        live = if starts { live + size } else { live - size };
        most = most.max(live);
    }
    most
}
