//! Rules 13 to 16: every byte that is read holds what is meant, in every order of the launches.
//!
//! One walk in index order over a map from bytes to who wrote them last and who has read them since. Each access is
//! compared with those only: who came before them is ordered before them already, so paths join up.

use super::order::Ancestors;
use super::{Bytes, PlanError, Touched, called, fail_at};
use crate::plan::{BufferId, Plan, Region, Slot};
use std::collections::BTreeMap;

/// Bytes with one history, from the key under which they are kept.
#[derive(Clone, Copy)]
struct Segment {
    end: u64,
    /// The buffer through which they were written.
    buffer: BufferId,
    /// The launch that wrote them; none for what is there from the start.
    writer: Option<usize>,
    /// Who has read them since: a list in [`Memory::cells`].
    readers: Option<usize>,
}

/// Segments of one region by their first byte. They do not overlap.
type Segments = BTreeMap<u64, Segment>;

struct Memory<'a> {
    plan: &'a Plan,
    given: &'a [u64],
    arena: Segments,
    states: Segments,
    /// Linked lists of readers: a launch, and the rest. Segments that were one share their tails.
    cells: Vec<(usize, Option<usize>)>,
    ancestors: Ancestors,
}

/// `given` is how many bytes of each buffer hold something before the first launch.
pub(super) fn check(plan: &Plan, given: &[u64], launches: &[Touched]) -> Result<(), PlanError> {
    let mut memory = Memory {
        plan,
        given,
        arena: Segments::new(),
        states: Segments::new(),
        cells: Vec::new(),
        ancestors: Ancestors::new(plan),
    };
    for state in &plan.states {
        let (start, size) = (plan.buffers[state.buffer.index()].offset, given[state.buffer.index()]);
        if size > 0 {
            let segment = Segment { end: start + size, buffer: state.buffer, writer: None, readers: None };
            memory.states.insert(start, segment);
        }
    }
    for (i, launch) in launches.iter().enumerate() {
        memory.ancestors.advance();
        launch.reads.iter().try_for_each(|bytes| memory.read(i, bytes))?;
        launch.writes.iter().try_for_each(|bytes| memory.write(i, bytes))?;
    }
    let outputs = plan.outputs.iter().map(|v| ("output", v));
    for (what, value) in outputs.chain(plan.probes.iter().map(|v| ("probe", v))) {
        let bytes = slot_bytes(plan, value.slot, value.spec.bytes().unwrap_or(0));
        if bytes.start < bytes.end {
            let found = memory.holds(&bytes);
            found.or_else(|(launches, wrong)| fail_at(&launches, format!("{what} `{}`: {wrong}", value.name)))?;
        }
    }
    Ok(())
}

fn slot_bytes(plan: &Plan, slot: Slot, size: u64) -> Bytes {
    let buffer = &plan.buffers[slot.buffer.index()];
    let start = buffer.offset + slot.offset;
    Bytes { buffer: slot.buffer, region: buffer.region, start, end: start + size }
}

/// The keys of the segments that a range overlaps.
fn overlapped(segments: &Segments, start: u64, end: u64) -> impl Iterator<Item = (u64, Segment)> {
    let before = segments.range(..start).next_back().filter(|(_, s)| s.end > start);
    before.into_iter().chain(segments.range(start..end)).map(|(&k, &s)| (k, s))
}

impl Memory<'_> {
    fn segments(&mut self, region: Region) -> Option<&mut Segments> {
        match region {
            Region::Arena => Some(&mut self.arena),
            Region::States => Some(&mut self.states),
            Region::Inputs | Region::Bound | Region::Constants => None,
        }
    }

    /// Makes segments begin and end at that byte.
    fn split(&mut self, region: Region, at: u64) {
        let Some(segments) = self.segments(region) else { return };
        let Some((_, segment)) = segments.range_mut(..at).next_back().filter(|(_, s)| s.end > at) else { return };
        let rest = *segment;
        segment.end = at;
        segments.insert(at, rest);
    }

    /// Checks that every byte was given, or last written through the buffer that is named. Else, the launches it is
    /// about, and what is wrong.
    fn holds(&self, bytes: &Bytes) -> Result<(), (Vec<usize>, String)> {
        let number = bytes.buffer.0;
        let segments = match bytes.region {
            Region::Arena => &self.arena,
            Region::States => &self.states,
            Region::Inputs | Region::Bound | Region::Constants => {
                let given = self.plan.buffers[bytes.buffer.index()].offset + self.given[bytes.buffer.index()];
                if bytes.end <= given {
                    return Ok(());
                }
                return Err((
                    Vec::new(),
                    format!("nothing is given for byte {given} of the region of buffer {number}"),
                ));
            }
        };
        let mut covered = bytes.start;
        for (start, segment) in overlapped(segments, bytes.start, bytes.end) {
            if start > covered {
                break;
            }
            if segment.buffer != bytes.buffer {
                let by = segment.writer.map_or("the start".into(), |w| called(self.plan, w));
                let other = segment.buffer.0;
                let wrong = format!("byte {covered} of buffer {number} was overwritten by {by} as buffer {other}");
                return Err((segment.writer.into_iter().collect(), wrong));
            }
            covered = segment.end;
        }
        if covered < bytes.end {
            return Err((Vec::new(), format!("nothing has written byte {covered} of the region, in buffer {number}")));
        }
        Ok(())
    }

    fn read(&mut self, launch: usize, bytes: &Bytes) -> Result<(), PlanError> {
        if let Err((mut launches, wrong)) = self.holds(bytes) {
            launches.push(launch);
            return fail_at(&launches, format!("{}: {wrong}", called(self.plan, launch)));
        }
        if self.segments(bytes.region).is_none() {
            return Ok(());
        }
        self.split(bytes.region, bytes.start);
        self.split(bytes.region, bytes.end);
        let segments = if bytes.region == Region::Arena { &mut self.arena } else { &mut self.states };
        for (_, segment) in segments.range_mut(bytes.start..bytes.end) {
            if let Some(writer) = segment.writer.filter(|&w| !self.ancestors.contains(w)) {
                return unordered(self.plan, writer, launch, "writes", "reads", segment.buffer);
            }
            // A reader that this launch waits for is covered by whoever waits for this launch.
            let mut rest = segment.readers;
            while let Some((reader, tail)) = rest.map(|cell| self.cells[cell])
                && (reader == launch || self.ancestors.contains(reader))
            {
                rest = tail;
            }
            segment.readers = Some(self.cells.len());
            self.cells.push((launch, rest));
        }
        Ok(())
    }

    fn write(&mut self, launch: usize, bytes: &Bytes) -> Result<(), PlanError> {
        self.split(bytes.region, bytes.start);
        self.split(bytes.region, bytes.end);
        let plan = self.plan;
        let segments = if bytes.region == Region::Arena { &mut self.arena } else { &mut self.states };
        let mut replaced = Vec::new();
        for (&start, segment) in segments.range(bytes.start..bytes.end) {
            replaced.push(start);
            if let Some(writer) = segment.writer.filter(|&w| !self.ancestors.contains(w)) {
                return unordered(plan, writer, launch, "writes", "writes", segment.buffer);
            }
            let mut cell = segment.readers;
            while let Some((reader, tail)) = cell.map(|c| self.cells[c]) {
                if reader != launch && !self.ancestors.contains(reader) {
                    return unordered(plan, reader, launch, "reads", "writes", segment.buffer);
                }
                cell = tail;
            }
        }
        for start in replaced {
            segments.remove(&start);
        }
        let segment = Segment { end: bytes.end, buffer: bytes.buffer, writer: Some(launch), readers: None };
        segments.insert(bytes.start, segment);
        Ok(())
    }
}

fn unordered<T>(
    plan: &Plan,
    earlier: usize,
    later: usize,
    does: &str,
    then: &str,
    buffer: BufferId,
) -> Result<T, PlanError> {
    let (a, b) = (called(plan, earlier), called(plan, later));
    fail_at(
        &[earlier, later],
        format!("{a} {does} bytes of buffer {} that {b} {then}, and no path of edges orders them", buffer.0),
    )
}
