//! From groups to launches: their order, where values lie, what is copied, and what waits for what.

use super::Kernels;
use super::moves::{Move, Step, sequence};
use crate::Options;
use crate::fuse::{Group, storage};
use crate::memory::{self, Layout, Request};
use crate::schedule::{Ancestors, Job, Range, Touches, Waits, hazards, levels, order, reduce};
use monograph_ir::plan::{ALIGNMENT, Access, IndexMap, MAX_LAUNCHES};
use monograph_ir::{Binding, Error, Graph, Op, OutputKind, ParamKind, Spec, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Where a value lies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Place {
    /// The buffer of that parameter of the graph.
    Param(u32),
    /// The temporary of that number.
    Temp(u32),
}

/// A value that is computed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Temp {
    /// Bytes.
    pub(crate) bytes: u64,
    /// Whether it is read after the replay.
    pub(crate) keep: bool,
    /// The state whose buffer it is computed into.
    pub(crate) in_state: Option<u32>,
}

/// What a launch does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Task {
    /// Runs the kernel of a group.
    Group(usize),
    /// Copies the bytes of one place to another.
    Copy {
        /// From.
        source: Place,
        /// To.
        target: Place,
        /// How many.
        bytes: u64,
        /// What is copied, for names.
        what: String,
    },
}

/// A launch and the places it touches, in the order of its kernel's reads and writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Launch {
    pub(crate) task: Task,
    pub(crate) reads: Vec<(Place, u64)>,
    pub(crate) writes: Vec<(Place, u64)>,
    /// For each write that may take over the bytes of a read, the temporary that is read.
    pub(crate) may_take: Vec<(u32, u32)>,
}

/// The launches in their order, before bytes are given out.
pub(crate) struct Arranged<'a> {
    pub(crate) groups: &'a [Group],
    pub(crate) launches: Vec<Launch>,
    pub(crate) temps: Vec<Temp>,
    /// Where each output of the graph lies after the replay; for states, the state itself.
    pub(crate) outputs: Vec<Place>,
    /// Bytes of each parameter.
    pub(crate) params: Vec<u64>,
}

/// Where each temporary lies in the arena.
pub(crate) struct Placed {
    pub(crate) layout: Layout,
    /// The request of each temporary that lies in the arena.
    pub(crate) request_of: Vec<Option<u32>>,
}

fn bytes(spec: &Spec) -> u64 {
    spec.bytes().expect("inference refuses values whose bytes overflow")
}

/// What an arrangement is built from.
struct Arranger<'a> {
    graph: &'a Graph,
    groups: &'a [Group],
    kernels: &'a Kernels<'a>,
    places: FxHashMap<ValueId, Place>,
    temps: Vec<Temp>,
}

/// Orders the groups and decides what becomes of states and outputs.
///
/// # Errors
/// [`Error::TooManyNodes`].
pub(crate) fn arrange<'a>(
    graph: &'a Graph,
    groups: &'a [Group],
    kernels: &'a Kernels<'a>,
) -> Result<Arranged<'a>, Error> {
    let mut arranger = Arranger { graph, groups, kernels, places: FxHashMap::default(), temps: Vec::new() };
    arranger.give_places();
    let (launches, outputs) = arranger.launches();
    if launches.len() > MAX_LAUNCHES {
        return Err(Error::TooManyNodes { nodes: launches.len(), limit: MAX_LAUNCHES });
    }
    let params = graph.params().iter().map(|p| bytes(&p.spec)).collect();
    let mut arranged = Arranged { groups, launches, temps: arranger.temps, outputs, params };
    arranged.offer_bytes(kernels);
    Ok(arranged)
}

impl Arranger<'_> {
    fn temp(&mut self, bytes: u64) -> u32 {
        self.temps.push(Temp { bytes, keep: false, in_state: None });
        self.temps.len() as u32 - 1
    }

    fn give_places(&mut self) {
        for number in 0..self.graph.params().len() {
            self.places.insert(self.graph.param_value(number), Place::Param(number as u32));
        }
        for group in self.groups {
            for &output in &group.outputs {
                let temp = self.temp(bytes(self.graph.spec(output)));
                self.places.insert(output, Place::Temp(temp));
            }
        }
    }

    /// Where a value lies. What has no elements is computed by nobody and gets an empty place of its own.
    fn place(&mut self, value: ValueId) -> Place {
        let root = storage(self.graph, value);
        if let Some(&place) = self.places.get(&root) {
            return place;
        }
        debug_assert!(self.graph.spec(root).shape.is_empty(), "{root} is computed by no group");
        let place = Place::Temp(self.temp(0));
        self.places.insert(root, place);
        place
    }

    fn param_bytes(&self, number: u32) -> u64 {
        bytes(&self.graph.params()[number as usize].spec)
    }

    fn is_bound(&self, number: u32) -> bool {
        self.graph.params()[number as usize].kind == ParamKind::Input(Binding::Bound)
    }

    fn copy(&self, source: Place, target: Place, bytes: u64, what: String) -> Launch {
        let task = Task::Copy { source, target, bytes, what };
        Launch { task, reads: vec![(source, bytes)], writes: vec![(target, bytes)], may_take: Vec::new() }
    }

    fn group_launch(&mut self, g: usize) -> Launch {
        let group = &self.groups[g];
        let sized = |this: &mut Self, v: ValueId| (this.place(v), bytes(this.graph.spec(v)));
        let reads = group.inputs.iter().map(|&v| sized(self, v)).collect();
        let writes = group.outputs.iter().map(|&v| sized(self, v)).collect();
        Launch { task: Task::Group(g), reads, writes, may_take: Vec::new() }
    }

    /// Every launch in order, and the place of each output.
    fn launches(&mut self) -> (Vec<Launch>, Vec<Place>) {
        let output_places: Vec<Place> =
            self.graph.outputs().iter().map(|o| o.value).collect::<Vec<_>>().iter().map(|&v| self.place(v)).collect();
        let mut of_groups: Vec<Option<Launch>> = (0..self.groups.len()).map(|g| Some(self.group_launch(g))).collect();
        // What each state becomes, where that is not what it was.
        let updates: Vec<Move> = (self.graph.outputs().iter().zip(&output_places))
            .filter_map(|(output, &source)| match output.kind {
                OutputKind::State(state) if source != Place::Param(state) && self.param_bytes(state) > 0 => {
                    Some(Move { state, source })
                }
                _ => None,
            })
            .collect();
        let mut launches = Vec::with_capacity(of_groups.len());
        let outputs = self.outputs(&output_places, &updates, &mut launches);
        let order = self.order(&of_groups, &updates);
        launches.extend(order.iter().filter_map(|&g| of_groups[g as usize].take()));
        let (early, late) = self.update_in_place(&launches, &updates);
        let mut launches = self.copies_between(launches, early);
        self.copies_at_the_end(&late, &mut launches);
        (launches, outputs)
    }

    /// Where the outputs lie after the replay. Old states that are returned although they change are copied first;
    /// bound inputs are copied too, because an output must not move with its caller's memory.
    fn outputs(&mut self, places: &[Place], updates: &[Move], launches: &mut Vec<Launch>) -> Vec<Place> {
        let updated: FxHashSet<u32> = updates.iter().map(|m| m.state).collect();
        let mut saved: FxHashMap<u32, Place> = FxHashMap::default();
        let mut outputs = Vec::with_capacity(places.len());
        for (output, &place) in self.graph.outputs().iter().zip(places) {
            let is_state = matches!(output.kind, OutputKind::State(_));
            outputs.push(match place {
                Place::Param(p)
                    if !is_state && (updated.contains(&p) || self.is_bound(p)) && self.param_bytes(p) > 0 =>
                {
                    if let Some(&copy) = saved.get(&p) {
                        copy
                    } else {
                        let bytes = self.param_bytes(p);
                        let copy = Place::Temp(self.temp(bytes));
                        let what = self.graph.params()[p as usize].name.clone();
                        let what = if updated.contains(&p) { format!("old {what}") } else { what };
                        launches.push(self.copy(place, copy, bytes, what));
                        saved.insert(p, copy);
                        copy
                    }
                }
                place => place,
            });
            if let (Some(&Place::Temp(temp)), false) = (outputs.last(), is_state) {
                self.temps[temp as usize].keep = true;
            }
        }
        outputs
    }

    /// The order of the groups.
    fn order(&self, launches: &[Option<Launch>], updates: &[Move]) -> Vec<u32> {
        let params = self.graph.params().len();
        let number = |place: Place| match place {
            Place::Param(p) => p,
            Place::Temp(t) => params as u32 + t,
        };
        let distinct = |places: &[(Place, u64)]| {
            let mut values: Vec<u32> = places.iter().map(|&(p, _)| number(p)).collect();
            values.sort_unstable();
            values.dedup();
            values
        };
        let mut overwrites: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for update in updates {
            overwrites.entry(number(update.source)).or_default().push(update.state);
        }
        let jobs: Vec<Job> = (launches.iter().flatten())
            .map(|launch| {
                let writes = distinct(&launch.writes);
                let over = writes.iter().filter_map(|v| overwrites.get(v)).flatten().copied().collect();
                Job { reads: distinct(&launch.reads), writes, overwrites: over }
            })
            .collect();
        // What becomes a state is hoped to be computed right into it.
        let temps = self.temps.iter().map(|t| if t.keep { 0 } else { t.bytes });
        let mut sizes: Vec<u64> = std::iter::repeat_n(0, params).chain(temps).collect();
        updates.iter().for_each(|update| sizes[number(update.source) as usize] = 0);
        order(&jobs, &sizes)
    }

    /// Computes new values of states right into them where that is sound; returns the updates that are left: those
    /// that can be copied right after a launch, with its number, and those that are one parallel move at the end.
    ///
    /// Sound is: no other launch reads the old state at or after the one that writes the new, that one reads it
    /// element for element where it writes, and no other state takes the old value.
    fn update_in_place(&mut self, launches: &[Launch], updates: &[Move]) -> (Vec<(usize, Move)>, Vec<Move>) {
        let mut writer: FxHashMap<u32, (usize, usize)> = FxHashMap::default();
        let mut last_reader: FxHashMap<u32, usize> = FxHashMap::default();
        for (i, launch) in launches.iter().enumerate() {
            for (w, (place, _)) in launch.writes.iter().enumerate() {
                if let Place::Temp(temp) = *place {
                    writer.insert(temp, (i, w));
                }
            }
            for (place, _) in &launch.reads {
                if let Place::Param(p) = *place {
                    last_reader.insert(p, i);
                }
            }
        }
        let moved: FxHashSet<Place> = updates.iter().map(|m| m.source).collect();
        let (mut early, mut late) = (Vec::new(), Vec::new());
        for &update in updates {
            let moved_on = moved.contains(&Place::Param(update.state));
            let written = match update.source {
                Place::Temp(temp) if !moved_on => writer.get(&temp).map(|&(at, write)| (temp, at, write)),
                _ => None,
            };
            let Some((temp, at, write)) = written else {
                late.push(update);
                continue;
            };
            let last = last_reader.get(&update.state).copied().unwrap_or(at);
            let fits = last <= at
                && self.temps[temp as usize].in_state.is_none()
                && self.writes_where_it_reads(&launches[at], write, Place::Param(update.state));
            if fits {
                self.temps[temp as usize].in_state = Some(update.state);
            } else {
                early.push((last.max(at), update));
            }
        }
        (early, late)
    }

    /// Puts copies right after the launches that they have to follow, so that what they copy need not be kept longer.
    fn copies_between(&self, launches: Vec<Launch>, mut copies: Vec<(usize, Move)>) -> Vec<Launch> {
        copies.sort_by_key(|&(after, _)| after);
        let mut copies = copies.into_iter().peekable();
        let mut all = Vec::with_capacity(launches.len() + copies.len());
        for (i, launch) in launches.into_iter().enumerate() {
            all.push(launch);
            while let Some((_, Move { state, source })) = copies.next_if(|&(after, _)| after == i) {
                let what = self.graph.params()[state as usize].name.clone();
                all.push(self.copy(source, Place::Param(state), self.param_bytes(state), what));
            }
        }
        all
    }

    /// Whether a launch reads a place, if at all, element for element where it makes that write.
    fn writes_where_it_reads(&self, launch: &Launch, write: usize, place: Place) -> bool {
        let Task::Group(g) = launch.task else { return false };
        let kernel = self.kernels.of(g);
        let of_place = launch.reads.iter().zip(&kernel.reads).filter(|((p, _), _)| *p == place);
        of_place.into_iter().all(|(_, read)| same_elements(read, &kernel.writes[write]))
    }

    fn copies_at_the_end(&mut self, updates: &[Move], launches: &mut Vec<Launch>) {
        let mut scratch: FxHashMap<u32, Place> = FxHashMap::default();
        for step in sequence(updates) {
            let (source, target, state) = match step {
                Step::Save { state, scratch: s } => {
                    let place = Place::Temp(self.temp(self.param_bytes(state)));
                    scratch.insert(s, place);
                    (Place::Param(state), place, state)
                }
                Step::Copy(m) => (m.source, Place::Param(m.state), m.state),
                Step::Restore { scratch: s, state } => (scratch[&s], Place::Param(state), state),
            };
            let what = self.graph.params()[state as usize].name.clone();
            launches.push(self.copy(source, target, self.param_bytes(state), what));
        }
    }
}

/// Whether two accesses of one kernel touch the same bytes at each point of its iteration space.
fn same_elements(a: &Access, b: &Access) -> bool {
    let affine = matches!(a.map, IndexMap::Affine { .. });
    affine && a.map == b.map && a.spec.dtype.size() == b.spec.dtype.size() && a.spec.bytes() == b.spec.bytes()
}

impl Arranged<'_> {
    /// Notes for each launch which of its reads' bytes its writes may take over.
    fn offer_bytes(&mut self, kernels: &Kernels<'_>) {
        for launch in &mut self.launches {
            let Task::Group(g) = launch.task else { continue };
            let kernel = kernels.of(g);
            for (w, &(write, _)) in launch.writes.iter().enumerate() {
                let Place::Temp(new) = write else { continue };
                for &(read, _) in &launch.reads {
                    let Place::Temp(old) = read else { continue };
                    let mut reads = launch.reads.iter().zip(&kernel.reads).filter(|((p, _), _)| *p == read);
                    if !launch.may_take.contains(&(new, old))
                        && reads.all(|(_, access)| same_elements(access, &kernel.writes[w]))
                    {
                        launch.may_take.push((new, old));
                    }
                }
            }
        }
    }

    /// What each launch touches, given the bytes of each place.
    fn touches(&self, range: &dyn Fn(Place, u64) -> Range) -> Vec<Touches> {
        let ranges = |places: &[(Place, u64)]| places.iter().map(|&(p, bytes)| range(p, bytes)).collect();
        self.launches.iter().map(|l| Touches { reads: ranges(&l.reads), writes: ranges(&l.writes) }).collect()
    }

    /// The parameter whose buffer a place is, if it is one.
    pub(crate) fn param_of(&self, place: Place) -> Option<u32> {
        match place {
            Place::Param(p) => Some(p),
            Place::Temp(t) => self.temps[t as usize].in_state,
        }
    }

    /// What waits for what if every value has bytes of its own.
    fn true_waits(&self) -> Waits {
        let params = self.params.len() as u32;
        hazards(&self.touches(&|place, bytes| {
            let space = match (self.param_of(place), place) {
                (Some(p), _) | (None, Place::Param(p)) => p,
                (None, Place::Temp(t)) => params + t,
            };
            Range { space, start: 0, end: bytes }
        }))
    }

    /// One request for each temporary that lies in the arena.
    fn requests(&self) -> (Vec<Request>, Vec<Option<u32>>) {
        let mut request_of = vec![None; self.temps.len()];
        let mut requests: Vec<Request> = Vec::new();
        for (t, temp) in self.temps.iter().enumerate() {
            if temp.in_state.is_none() {
                request_of[t] = Some(requests.len() as u32);
                requests.push(Request { size: temp.bytes, keep: temp.keep, ..Request::default() });
            }
        }
        let of = |place: Place| match place {
            Place::Temp(t) => request_of[t as usize],
            Place::Param(_) => None,
        };
        for (i, launch) in self.launches.iter().enumerate() {
            for request in launch.writes.iter().filter_map(|&(p, _)| of(p)) {
                requests[request as usize].producer = i as u32;
            }
            for request in launch.reads.iter().filter_map(|&(p, _)| of(p)) {
                let users = &mut requests[request as usize].users;
                if users.last() != Some(&(i as u32)) {
                    users.push(i as u32);
                }
            }
            for &(new, old) in &launch.may_take {
                if let (Some(new), Some(old)) = (request_of[new as usize], request_of[old as usize]) {
                    requests[new as usize].may_take.push(old);
                }
            }
        }
        (requests, request_of)
    }
}

/// An arena that is smaller by less than this part, or by fewer bytes than that, is not worth extra order.
const WORTH_PART: u64 = 8;
const WORTH_BYTES: u64 = 1 << 20;

/// Gives every temporary its bytes.
///
/// First only what is ordered by true dependencies shares bytes. Then bytes may also be shared along the order of the
/// launches wherever the extra edge leads from a lower to a higher level, and so cannot make the longest path longer;
/// that layout is taken where it saves much, since order that is not needed costs parallelism.
pub(crate) fn place(arranged: &Arranged<'_>, options: &Options) -> Placed {
    let (requests, request_of) = arranged.requests();
    let waits = arranged.true_waits();
    let levels = levels(&waits);
    let ancestors = Ancestors::of(&waits);
    let free = memory::plan(&requests, ALIGNMENT, &|a, b| ancestors.precedes(a, b));
    if !options.order_for_memory || free.total < free.max_live.saturating_add(WORTH_BYTES) {
        return Placed { layout: free, request_of };
    }
    let ordered = memory::plan(&requests, ALIGNMENT, &|a, b| a < b && levels[a as usize] < levels[b as usize]);
    let saved = free.total.saturating_sub(ordered.total);
    let worth = saved >= WORTH_BYTES && saved >= free.total / WORTH_PART;
    Placed { layout: if worth { ordered } else { free }, request_of }
}

/// What waits for what, given the bytes of each value; the fewest edges that say so.
pub(crate) fn edges(arranged: &Arranged<'_>, placed: &Placed) -> Waits {
    // Space 0 is the arena, the others are parameters.
    let touches = arranged.touches(&|place, bytes| match (arranged.param_of(place), place) {
        (Some(p), _) | (None, Place::Param(p)) => Range { space: 1 + p, start: 0, end: bytes },
        (None, Place::Temp(t)) => {
            let start = placed.offset(t);
            Range { space: 0, start, end: start + bytes }
        }
    });
    reduce(&hazards(&touches))
}

impl Placed {
    /// Where a temporary starts in the arena.
    pub(crate) fn offset(&self, temp: u32) -> u64 {
        self.request_of[temp as usize].map_or(0, |r| self.layout.offsets[r as usize])
    }
}

/// Whether a node computes nothing by itself and so needs no name in a list of launches.
pub(crate) fn is_silent(op: &Op) -> bool {
    matches!(op, Op::Constant(_) | Op::Iota { .. } | Op::Parameter(_)) || op.is_view()
}
