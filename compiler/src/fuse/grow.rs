//! The rules of fusion: where each node is placed, from the last to the first.
//!
//! When a node's turn comes, everything that uses it has been placed. It joins the group of its users where the kernel
//! family of that group can compute it there; otherwise it starts a group. Where its users are in several groups, these
//! are merged if they run over the same points, or the node becomes one more output of one of them.

use super::classify::{Class, is_elementwise, is_expensive};
use super::clusters::{Clusters, Kind};
use super::reads::{Reads, Relation, relation};
use super::{Assignment, asked_for, storage};
use monograph_ir::{Axes, Graph, NodeId, Op, OutputKind, Shape};
use rustc_hash::FxHashSet;

/// Bounds of one group: kernels beyond them take the CUDA compiler too long, or have too many arguments.
const MAX_NODES: usize = 1500;
const MAX_SLOTS: usize = 60;

/// How often an element may be computed where computing it is cheap.
const MAX_RECOMPUTE: u64 = 3;

/// The most element-wise ops that an anchor applies to what it loads: it loads each element several times.
const MAX_PROLOGUE: usize = 2;

/// The most groups that are merged for one node that they share.
const MAX_MERGE: usize = 8;

/// Where a member of a group is evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    /// At each point of the domain, for that point.
    Domain,
    /// Once a row of the domain, for that row.
    Row,
    /// Where the anchor loads an operand.
    Prologue,
    /// At other indices.
    Elsewhere,
}

/// What a reduction runs over.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Rows {
    space: Shape,
    axes: Axes,
}

/// Places every computed node; `alone` are anchors that nothing is fused with.
pub(super) fn grow(
    graph: &Graph,
    classes: &[Class],
    live: &[bool],
    alone: &FxHashSet<NodeId>,
) -> (Assignment, Vec<Vec<NodeId>>) {
    let reads = Reads::of(graph, classes, live);
    let mut grower = Grower {
        graph,
        classes,
        alone,
        rows: rows(graph, classes, &reads),
        epilogue: epilogues(graph, classes, &reads),
        asked: asked_for(graph),
        updates: updates(graph),
        reads,
        clusters: Clusters::new(graph.len()),
        group: vec![Assignment::NONE; graph.len()],
        at: vec![At::Elsewhere; graph.len()],
        evaluations: vec![0; graph.len()],
    };
    for (id, _) in graph.iter().rev() {
        if classes[id.index()] == Class::Computed && live[id.index()] {
            grower.place(id);
        }
    }
    grower.finish()
}

/// Which reduction's rows a node is pointwise over: a reduction, or element-wise ops on one. Only a hint.
fn rows(graph: &Graph, classes: &[Class], reads: &Reads) -> Vec<Option<u32>> {
    let mut rows: Vec<Option<u32>> = vec![None; graph.len()];
    for (id, node) in graph.iter().filter(|(id, _)| classes[id.index()] == Class::Computed) {
        rows[id.index()] = match &node.op {
            Op::Reduce { .. } | Op::ArgReduce { .. } => Some(id.0),
            op if is_elementwise(op) => {
                let elements = graph.spec(id.value()).shape.size();
                let of_rows = |r: &&NodeId| graph.spec(r.value()).shape.size() == elements;
                reads.roots[id.index()].iter().filter(of_rows).find_map(|r| rows[r.index()])
            }
            _ => None,
        };
    }
    rows
}

/// Whether a node is element-wise over an anchor's result, which it could be the epilogue of.
fn epilogues(graph: &Graph, classes: &[Class], reads: &Reads) -> Vec<bool> {
    let mut epilogue = vec![false; graph.len()];
    for (id, node) in graph.iter().filter(|(id, _)| classes[id.index()] == Class::Computed) {
        let elements = graph.spec(id.value()).shape.size();
        let over = |r: &NodeId| {
            graph.spec(r.value()).shape.size() == elements
                && reads.uses[r.index()].len() == 1
                && (is_anchor(&graph.node(*r).op) || epilogue[r.index()])
        };
        epilogue[id.index()] = is_elementwise(&node.op) && reads.roots[id.index()].iter().any(over);
    }
    epilogue
}

/// Which nodes are the new value of a state.
fn updates(graph: &Graph) -> Vec<bool> {
    let mut updates = vec![false; graph.len()];
    for output in graph.outputs().iter().filter(|o| matches!(o.kind, OutputKind::State(_))) {
        updates[storage(graph, output.value).node.index()] = true;
    }
    updates
}

/// Whether the node decides the family of its kernel alone: one of them a group.
pub(super) fn is_anchor(op: &Op) -> bool {
    matches!(
        op,
        Op::Matmul { .. }
            | Op::Scan { .. }
            | Op::Scatter { .. }
            | Op::SortPacked
            | Op::DigitCounts { .. }
            | Op::PlaceByDigit { .. }
            | Op::ScatterSorted { .. }
    ) || op.is_windowed()
}

/// Whether the node folds rows.
pub(super) fn is_reduction(op: &Op) -> bool {
    matches!(op, Op::Reduce { .. } | Op::ArgReduce { .. })
}

fn without_ones(shape: &[usize]) -> impl Iterator<Item = usize> {
    shape.iter().copied().filter(|&d| d != 1)
}

struct Grower<'a> {
    graph: &'a Graph,
    classes: &'a [Class],
    alone: &'a FxHashSet<NodeId>,
    rows: Vec<Option<u32>>,
    epilogue: Vec<bool>,
    asked: Vec<bool>,
    /// Whether a state becomes the node's value.
    updates: Vec<bool>,
    reads: Reads,
    clusters: Clusters,
    group: Vec<u32>,
    at: Vec<At>,
    /// How often elements of the node are computed in its group, all in all.
    evaluations: Vec<u64>,
}

impl Grower<'_> {
    fn op(&self, id: NodeId) -> &Op {
        &self.graph.node(id).op
    }

    fn shape(&self, id: NodeId) -> &Shape {
        &self.graph.spec(id.value()).shape
    }

    /// What a reduction, or a node over the rows of one, runs over.
    fn rows_of(&self, id: NodeId) -> Option<Rows> {
        let reduction = self.graph.node(NodeId(self.rows[id.index()]?));
        let space = self.graph.spec(reduction.operands[0]).shape.clone();
        match &reduction.op {
            Op::Reduce { axes, .. } => Some(Rows { space, axes: axes.clone() }),
            Op::ArgReduce { axis, .. } => Some(Rows { space, axes: smallvec::smallvec![*axis] }),
            _ => None,
        }
    }

    fn place(&mut self, id: NodeId) {
        let mut users: Vec<u32> =
            self.reads.uses[id.index()].iter().map(|u| self.clusters.find(self.group[u.user.index()])).collect();
        users.sort_unstable();
        users.dedup();
        match self.choose(id, &users) {
            Some((group, at)) => self.join(id, group, at, &users),
            None => self.start(id, &users),
        }
    }

    /// The group that a node joins, and where it is evaluated there.
    fn choose(&mut self, id: NodeId, users: &[u32]) -> Option<(u32, At)> {
        if users.is_empty() || self.alone.contains(&id) {
            return None;
        }
        if let [only] = *users {
            let at = self.fits(id, only)?;
            let is_output = self.asked[id.index()];
            return (!is_output || self.can_output(id, only, at)).then_some((only, at));
        }
        // What an anchor can compute in its epilogue is written by the anchor rather than by a later kernel.
        let merged = self.merge_users(id, users);
        if merged.is_some() || self.epilogue[id.index()] {
            return merged;
        }
        let mut candidates = users.to_vec();
        candidates.sort_by_key(|&g| (std::cmp::Reverse(self.clusters.height(g)), g));
        candidates.into_iter().take(MAX_MERGE).find_map(|group| {
            let at = self.fits(id, group)?;
            let safe = users.iter().all(|&other| other == group || !self.clusters.reaches(other, group));
            (safe && !self.clusters.is_exhausted() && self.can_output(id, group, at)).then_some((group, at))
        })
    }

    /// Merges the groups of all users where they run over the same points and do not wait for each other.
    fn merge_users(&mut self, id: NodeId, users: &[u32]) -> Option<(u32, At)> {
        if users.len() > MAX_MERGE || self.clusters.is_exhausted() {
            return None;
        }
        let mut at: Option<At> = None;
        let (mut nodes, mut slots) = (0, 0);
        let mut axes: Option<&Axes> = None;
        for &group in users {
            let cluster = self.clusters.at(group);
            nodes += cluster.members.len();
            slots += cluster.inputs.len() + cluster.outputs;
            match &cluster.kind {
                Kind::Pointwise => {}
                Kind::Rows(these) if axes.is_none_or(|a| a == these) => axes = Some(these),
                Kind::Rows(_) | Kind::Anchor => return None,
            }
            if cluster.domain != self.clusters.at(users[0]).domain {
                return None;
            }
            let here = self.fits(id, group)?;
            if !matches!(here, At::Domain | At::Row) || at.is_some_and(|a| a != here) {
                return None;
            }
            at = Some(here);
        }
        // A reduction that joins over the rows of one group would turn the other's points into rows.
        let is_reduction = is_reduction(self.op(id));
        if is_reduction && (at == Some(At::Domain) && axes.is_some()) || nodes > MAX_NODES || slots > MAX_SLOTS {
            return None;
        }
        if at == Some(At::Row) && axes.is_some_and(|a| self.rows_of(id).is_none_or(|r| r.axes != *a)) {
            return None;
        }
        for (i, &a) in users.iter().enumerate() {
            for &b in &users[i + 1..] {
                if self.clusters.reaches(a, b) || self.clusters.reaches(b, a) {
                    return None;
                }
            }
        }
        // Merging the first two may make a path between two others.
        let mut merged = users[0];
        for &next in &users[1..] {
            if self.clusters.reaches(merged, next) || self.clusters.reaches(next, merged) {
                return None;
            }
            merged = self.clusters.merge(merged, next);
        }
        let at = self.fits(id, merged)?;
        (!self.asked[id.index()] || self.can_output(id, merged, at)).then_some((merged, at))
    }

    /// Where a node would be evaluated in a group that uses it, for all its uses there.
    fn alignment(&self, id: NodeId, group: u32) -> At {
        let cluster = self.clusters.at(group);
        let hint;
        let axes = match &cluster.kind {
            Kind::Rows(axes) => Some(axes),
            Kind::Pointwise => {
                hint = self.rows_of(id).filter(|r| r.space == cluster.domain);
                hint.as_ref().map(|r| &r.axes)
            }
            Kind::Anchor => None,
        };
        let mut all: Option<At> = None;
        for usage in &self.reads.uses[id.index()] {
            if self.clusters.find(self.group[usage.user.index()]) != group {
                continue;
            }
            let operand = self.graph.node(usage.user).operands[usage.operand as usize];
            let user_at = self.at[usage.user.index()];
            let over = |space: &Shape, axes: Option<&Axes>| {
                relation(self.graph, self.classes, operand, space, axes.map(|a| &a[..]))
            };
            let at = match self.op(usage.user) {
                op if is_elementwise(op) => match user_at {
                    At::Domain => match over(&cluster.domain, axes) {
                        Relation::Same => At::Domain,
                        Relation::Row => At::Row,
                        Relation::Other => At::Elsewhere,
                    },
                    At::Row => match over(self.shape(usage.user), None) {
                        Relation::Same => At::Row,
                        Relation::Row | Relation::Other => At::Elsewhere,
                    },
                    at => at,
                },
                Op::Reduce { .. } | Op::ArgReduce { .. } | Op::Scan { .. } | Op::SortPacked => {
                    match over(&cluster.domain, axes) {
                        Relation::Same => At::Domain,
                        Relation::Row => At::Row,
                        Relation::Other => At::Elsewhere,
                    }
                }
                // Where to read is needed for the element at the same index.
                Op::TakeAlong { .. } | Op::Take { .. }
                    if usage.operand == 1
                        && user_at == At::Domain
                        && self.graph.spec(operand).shape == *self.shape(usage.user)
                        && over(&cluster.domain, None) == Relation::Same =>
                {
                    At::Domain
                }
                Op::Scatter { .. } | Op::ScatterSorted { .. }
                    if usage.operand == 0 && over(&cluster.domain, None) == Relation::Same =>
                {
                    At::Domain
                }
                op if is_anchor(op) => At::Prologue,
                _ => At::Elsewhere,
            };
            all = match all {
                None => Some(at),
                Some(before) if before == at => Some(at),
                Some(At::Prologue) => Some(At::Prologue),
                Some(_) if at == At::Prologue => Some(At::Prologue),
                Some(_) => Some(At::Elsewhere),
            };
        }
        all.unwrap_or(At::Elsewhere)
    }

    /// Where a node is evaluated if it joins that group; none if it cannot.
    fn fits(&self, id: NodeId, group: u32) -> Option<At> {
        let cluster = self.clusters.at(group);
        let new_inputs = self.reads.roots[id.index()].iter().filter(|r| !cluster.inputs.contains(r)).count();
        if cluster.members.len() >= MAX_NODES || cluster.inputs.len() + cluster.outputs + new_inputs > MAX_SLOTS {
            return None;
        }
        if cluster.members.iter().take(1).chain(cluster.members.last()).any(|m| self.alone.contains(m)) {
            return None;
        }
        let at = self.alignment(id, group);
        match self.op(id) {
            Op::Reduce { .. } | Op::ArgReduce { .. } => {
                let rows = self.rows_of(id)?;
                let same_space = cluster.domain == rows.space;
                let fits = match (&cluster.kind, at) {
                    (Kind::Pointwise, At::Row) => same_space,
                    (Kind::Rows(axes), At::Row) => same_space && *axes == rows.axes,
                    // The group runs over the rows.
                    (Kind::Pointwise, At::Domain) => without_ones(&cluster.domain).eq(without_ones(self.shape(id))),
                    _ => false,
                };
                fits.then_some(at)
            }
            op if is_anchor(op) => {
                let whole = at == At::Domain && cluster.kind == Kind::Pointwise && cluster.domain == *self.shape(id);
                // An anchor's kernel writes elements while others are still read: a state that it updates would have
                // to be copied, while a pointwise kernel of its own updates any number of states in place.
                let in_place = cluster.members.iter().any(|m| self.updates[m.index()]);
                (whole && !in_place).then_some(at)
            }
            op => match at {
                At::Domain | At::Row => Some(at),
                At::Prologue => {
                    let cheap = is_elementwise(op) && !is_expensive(op) && !self.epilogue[id.index()];
                    let once = self.reads.uses[id.index()].len() == 1;
                    (cheap && once && cluster.prologue < MAX_PROLOGUE).then_some(at)
                }
                At::Elsewhere => {
                    let limit = if is_expensive(op) { 1 } else { MAX_RECOMPUTE };
                    let worth = self.evaluations_in(id, group) <= limit * self.shape(id).size() as u64;
                    worth.then_some(at)
                }
            },
        }
    }

    /// How often the elements of a node would be computed in a group that reads it elsewhere.
    fn evaluations_in(&self, id: NodeId, group: u32) -> u64 {
        let own = self.shape(id).size() as u64;
        let mut sum = 0u64;
        for usage in &self.reads.uses[id.index()] {
            if self.clusters.find(self.group[usage.user.index()]) != group {
                continue;
            }
            let of_user = self.evaluations[usage.user.index()];
            let elements = (self.shape(usage.user).size() as u64).max(1);
            let each = match self.op(usage.user) {
                // Of these, an element of the result needs one operand only.
                Op::Concat { .. } | Op::Pad { .. } | Op::DynamicUpdateSlice if own <= elements => {
                    (u128::from(of_user) * u128::from(own) / u128::from(elements)) as u64
                }
                Op::Reduce { .. } | Op::ArgReduce { .. } => self.clusters.at(group).domain.size() as u64,
                _ => of_user,
            };
            sum = sum.saturating_add(each);
        }
        sum
    }

    /// Whether a group can write a node's value beside what it writes.
    fn can_output(&self, id: NodeId, group: u32, at: At) -> bool {
        let cluster = self.clusters.at(group);
        if cluster.inputs.len() + cluster.outputs >= MAX_SLOTS {
            return false;
        }
        match at {
            At::Domain if is_reduction(self.op(id)) => true,
            At::Domain => cluster.domain == *self.shape(id),
            At::Row => {
                let rows = match &cluster.kind {
                    Kind::Rows(axes) => Some(axes.clone()),
                    _ => self.rows_of(id).filter(|r| r.space == cluster.domain).map(|r| r.axes),
                };
                // Without a reduction in the group, nothing runs once a row.
                let reduces = matches!(cluster.kind, Kind::Rows(_)) || is_reduction(self.op(id));
                reduces
                    && rows.is_some_and(|axes| {
                        let kept = (0..cluster.domain.rank()).filter(|d| !axes.contains(d));
                        let kept: Vec<usize> = kept.map(|d| cluster.domain[d]).collect();
                        without_ones(&kept).eq(without_ones(self.shape(id)))
                    })
            }
            At::Prologue | At::Elsewhere => false,
        }
    }

    fn join(&mut self, id: NodeId, group: u32, at: At, users: &[u32]) {
        let mut at = at;
        if is_reduction(self.op(id))
            && let Some(rows) = self.rows_of(id)
        {
            if at == At::Domain {
                // The group ran over the rows; now it runs over what they are reduced from.
                for &member in &self.clusters.at(group).members {
                    if self.at[member.index()] == At::Domain {
                        self.at[member.index()] = At::Row;
                    }
                }
                self.clusters.at_mut(group).domain = rows.space;
                at = At::Row;
            }
            self.clusters.at_mut(group).kind = Kind::Rows(rows.axes);
        }
        if is_anchor(self.op(id)) {
            self.clusters.at_mut(group).kind = Kind::Anchor;
        }
        let elements = self.shape(id).size() as u64;
        self.evaluations[id.index()] = match at {
            At::Domain | At::Row => elements,
            At::Prologue | At::Elsewhere => self.evaluations_in(id, group),
        };
        let cluster = self.clusters.at_mut(group);
        cluster.members.push(id);
        cluster.prologue += usize::from(at == At::Prologue);
        self.settle(id, group, at, users);
    }

    fn start(&mut self, id: NodeId, users: &[u32]) {
        let (kind, domain, at) = match (self.op(id), self.rows_of(id)) {
            (Op::Reduce { .. } | Op::ArgReduce { .. }, Some(rows)) => (Kind::Rows(rows.axes), rows.space, At::Row),
            (op, _) if is_anchor(op) => (Kind::Anchor, self.shape(id).clone(), At::Domain),
            _ => (Kind::Pointwise, self.shape(id).clone(), At::Domain),
        };
        self.evaluations[id.index()] = self.shape(id).size() as u64;
        let group = self.clusters.push(kind, domain, id);
        self.settle(id, group, at, users);
    }

    /// What is true of a node that has found its group.
    fn settle(&mut self, id: NodeId, group: u32, at: At, users: &[u32]) {
        self.group[id.index()] = group;
        self.at[id.index()] = at;
        let mut written = self.asked[id.index()];
        for user in users.iter().map(|&u| self.clusters.find(u)).collect::<Vec<_>>() {
            if user != group {
                written = true;
                self.clusters.precede(group, user);
            }
        }
        let roots = &self.reads.roots[id.index()];
        let cluster = &mut self.clusters.all[group as usize];
        cluster.outputs += usize::from(written);
        cluster.inputs.remove(&id);
        cluster.inputs.extend(roots.iter().copied());
    }

    /// The groups, producers before users.
    fn finish(self) -> (Assignment, Vec<Vec<NodeId>>) {
        let mut order: Vec<u32> = (0..self.clusters.all.len() as u32).filter(|&g| self.clusters.find(g) == g).collect();
        let first = |g: u32| self.clusters.at(g).members.iter().min().copied();
        // A group that another one reads is higher than that.
        order.sort_by_key(|&g| (std::cmp::Reverse(self.clusters.height(g)), first(g)));
        let mut number = vec![Assignment::NONE; self.clusters.all.len()];
        order.iter().enumerate().for_each(|(i, &g)| number[g as usize] = i as u32);
        let of = |&g: &u32| if g == Assignment::NONE { g } else { number[self.clusters.find(g) as usize] };
        let assignment = Assignment(self.group.iter().map(of).collect());
        let members = order.iter().map(|&g| {
            let mut members = self.clusters.at(g).members.clone();
            members.sort_unstable();
            members
        });
        (assignment, members.collect())
    }
}
