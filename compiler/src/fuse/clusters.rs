//! Groups while they grow: a DAG of groups that stays one.
//!
//! Nodes are placed from the last to the first, so a group's producers come after it. Each group has a height: the
//! longest way to a group that nobody reads. A path leads from higher to lower groups only, which answers most
//! questions about cycles without a search.

use monograph_ir::{Axes, NodeId, Shape};
use rustc_hash::FxHashSet;

/// What kind of kernel a group becomes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Each point of the domain computes its own elements.
    Pointwise,
    /// Reductions of these axes of the domain, and what is pointwise over the domain or over its rows.
    Rows(Axes),
    /// One op that is neither (matmul, scan, scatter), and what is pointwise before and after it.
    Anchor,
}

/// A group that grows.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) kind: Kind,
    pub(super) domain: Shape,
    pub(super) members: Vec<NodeId>,
    /// Members that are written to memory.
    pub(super) outputs: usize,
    /// Nodes outside that members read, as far as they are known.
    pub(super) inputs: FxHashSet<NodeId>,
    /// Element-wise ops that an anchor applies to what it loads.
    pub(super) prologue: usize,
    height: u32,
    before: FxHashSet<u32>,
    after: FxHashSet<u32>,
}

/// All groups. A group that was merged into another one is reached through [`Clusters::find`].
pub(super) struct Clusters {
    pub(super) all: Vec<Cluster>,
    merged_into: Vec<u32>,
    /// How many more heights may be raised; then nothing that would raise one is done any more, which keeps the time
    /// linear.
    budget: u64,
}

/// The most groups that a search for a path visits before it gives up and says yes.
const SEARCH: usize = 128;

impl Clusters {
    pub(super) fn new(nodes: usize) -> Clusters {
        Clusters { all: Vec::new(), merged_into: Vec::new(), budget: 64 * nodes as u64 }
    }

    /// A new group, which nobody precedes yet; whom it precedes is declared by [`Clusters::precede`].
    pub(super) fn push(&mut self, kind: Kind, domain: Shape, member: NodeId) -> u32 {
        let cluster = Cluster {
            kind,
            domain,
            members: vec![member],
            outputs: 0,
            inputs: FxHashSet::default(),
            prologue: 0,
            height: 0,
            before: FxHashSet::default(),
            after: FxHashSet::default(),
        };
        self.all.push(cluster);
        self.merged_into.push(self.merged_into.len() as u32);
        self.merged_into.len() as u32 - 1
    }

    /// The group that a number stands for by now.
    pub(super) fn find(&self, mut group: u32) -> u32 {
        while self.merged_into[group as usize] != group {
            group = self.merged_into[group as usize];
        }
        group
    }

    pub(super) fn at(&self, group: u32) -> &Cluster {
        &self.all[group as usize]
    }

    pub(super) fn at_mut(&mut self, group: u32) -> &mut Cluster {
        &mut self.all[group as usize]
    }

    pub(super) fn height(&self, group: u32) -> u32 {
        self.at(group).height
    }

    /// Whether one group may reach the other; a search that takes too long says yes.
    pub(super) fn reaches(&self, from: u32, to: u32) -> bool {
        let floor = self.height(to);
        if self.height(from) <= floor {
            return false;
        }
        let mut visited: FxHashSet<u32> = FxHashSet::default();
        let mut stack = vec![from];
        while let Some(group) = stack.pop() {
            for &next in &self.at(group).after {
                let next = self.find(next);
                if next == to {
                    return true;
                }
                if self.height(next) > floor && visited.insert(next) {
                    if visited.len() > SEARCH {
                        return true;
                    }
                    stack.push(next);
                }
            }
        }
        false
    }

    /// Whether nothing that raises heights may be done any more.
    pub(super) fn is_exhausted(&self) -> bool {
        self.budget == 0
    }

    /// Declares that `first` writes what `then` reads.
    pub(super) fn precede(&mut self, first: u32, then: u32) {
        self.at_mut(first).after.insert(then);
        self.at_mut(then).before.insert(first);
        self.raise(first, self.height(then) + 1);
    }

    fn raise(&mut self, group: u32, height: u32) {
        let mut stack = vec![(group, height)];
        while let Some((group, height)) = stack.pop() {
            if self.at(group).height >= height {
                continue;
            }
            self.at_mut(group).height = height;
            self.budget = self.budget.saturating_sub(1);
            for &before in &self.at(group).before {
                stack.push((self.find(before), height + 1));
            }
        }
    }

    /// Makes one group of two that do not reach each other; returns the one that stays.
    pub(super) fn merge(&mut self, a: u32, b: u32) -> u32 {
        let (into, from) = if self.at(a).members.len() >= self.at(b).members.len() { (a, b) } else { (b, a) };
        let gone = std::mem::replace(
            self.at_mut(from),
            Cluster {
                kind: Kind::Pointwise,
                domain: Shape::default(),
                members: Vec::new(),
                outputs: 0,
                inputs: FxHashSet::default(),
                prologue: 0,
                height: 0,
                before: FxHashSet::default(),
                after: FxHashSet::default(),
            },
        );
        self.merged_into[from as usize] = into;
        let stays = self.at_mut(into);
        if gone.kind != Kind::Pointwise {
            stays.kind = gone.kind;
        }
        stays.members.extend(gone.members);
        stays.outputs += gone.outputs;
        stays.inputs.extend(gone.inputs);
        stays.prologue += gone.prologue;
        stays.before.extend(gone.before);
        stays.after.extend(gone.after);
        let own = stays.height;
        // Those before the lower of the two may have to rise.
        let height = own.max(gone.height);
        stays.height = height;
        let before: Vec<u32> = self.at(into).before.iter().map(|&g| self.find(g)).collect();
        before.into_iter().for_each(|g| self.raise(g, height + 1));
        into
    }
}
