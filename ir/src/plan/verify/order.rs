//! `Ancestors`: which launches a launch waits for, directly or not.

use crate::plan::Plan;

/// A set of launches: bit `i` of word `i / 64`.
type Set = Vec<u64>;

/// Goes through the launches in index order and knows the ancestors of the current one.
///
/// The sets of earlier launches are kept only until their last direct successor took them over.
pub(super) struct Ancestors {
    /// Predecessors of all launches, one list after the other, each descending.
    predecessors: Vec<u32>,
    /// Where each launch's list starts, and the end.
    starts: Vec<usize>,
    /// Successors of each launch that are still to come.
    waiting: Vec<u32>,
    sets: Vec<Set>,
    current: Set,
    next: usize,
}

impl Ancestors {
    /// Of a plan whose edges were checked.
    pub(super) fn new(plan: &Plan) -> Ancestors {
        let count = plan.launches.len();
        let mut edges: Vec<(u32, u32)> = plan.edges.iter().map(|e| (e.to.0, e.from.0)).collect();
        edges.sort_unstable_by_key(|&(to, from)| (to, std::cmp::Reverse(from)));
        let mut waiting = vec![0; count];
        let mut starts = vec![0; count + 1];
        for &(to, from) in &edges {
            waiting[from as usize] += 1;
            starts[to as usize + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let predecessors = edges.into_iter().map(|(_, from)| from).collect();
        Ancestors { predecessors, starts, waiting, sets: vec![Set::new(); count], current: Set::new(), next: 0 }
    }

    /// Moves on to the next launch.
    pub(super) fn advance(&mut self) {
        if let Some(done) = self.next.checked_sub(1)
            && self.waiting[done] > 0
        {
            self.sets[done] = std::mem::take(&mut self.current);
        }
        let predecessors = &self.predecessors[self.starts[self.next]..self.starts[self.next + 1]];
        self.current.clear();
        // The latest predecessors come first: what they wait for needs no look of its own.
        for &before in predecessors {
            let index = before as usize;
            self.waiting[index] -= 1;
            let last_use = self.waiting[index] == 0;
            if !contains(&self.current, index) {
                if self.current.is_empty() && last_use {
                    self.current = std::mem::take(&mut self.sets[index]);
                } else {
                    unite(&mut self.current, &self.sets[index]);
                }
                insert(&mut self.current, index);
            }
            if last_use {
                self.sets[index] = Set::new();
            }
        }
        self.next += 1;
    }

    /// Whether the current launch waits for that one.
    pub(super) fn contains(&self, launch: usize) -> bool {
        contains(&self.current, launch)
    }
}

fn contains(set: &Set, launch: usize) -> bool {
    set.get(launch / 64).is_some_and(|word| word >> (launch % 64) & 1 == 1)
}

fn insert(set: &mut Set, launch: usize) {
    if set.len() <= launch / 64 {
        set.resize(launch / 64 + 1, 0);
    }
    set[launch / 64] |= 1 << (launch % 64);
}

fn unite(set: &mut Set, other: &Set) {
    if set.len() < other.len() {
        set.resize(other.len(), 0);
    }
    for (a, b) in set.iter_mut().zip(other) {
        *a |= b;
    }
}
