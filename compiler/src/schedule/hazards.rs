//! Hazards by byte range: read after write, write after read, write after write.

use super::Waits;
use std::collections::BTreeMap;

/// Bytes `start..end` of one address space.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Range {
    /// Which address space; ranges of different spaces never overlap.
    pub space: u32,
    /// The first byte.
    pub start: u64,
    /// One past the last byte; an empty range touches nothing.
    pub end: u64,
}

/// What one launch touches.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Touches {
    /// What it reads.
    pub reads: Vec<Range>,
    /// What it writes.
    pub writes: Vec<Range>,
}

/// What is known of a stretch of bytes, up to `end`; where it starts is its key.
#[derive(Clone)]
struct Stretch {
    end: u64,
    writer: Option<u32>,
    /// Who read it since, ascending.
    readers: Vec<u32>,
}

/// The last writer of each byte and who read it since, as disjoint stretches.
#[derive(Default)]
struct Memory(BTreeMap<(u32, u64), Stretch>);

impl Memory {
    /// Cuts stretches so that none crosses `at`.
    fn cut(&mut self, space: u32, at: u64) {
        let before = self.0.range_mut(..(space, at)).next_back();
        if let Some((&(s, _), stretch)) = before
            && s == space
            && stretch.end > at
        {
            let rest = stretch.clone();
            stretch.end = at;
            self.0.insert((space, at), rest);
        }
    }

    /// Cuts out a range and fills its holes, so that it is covered exactly.
    fn cover(&mut self, Range { space, start, end }: Range) {
        self.cut(space, start);
        self.cut(space, end);
        let mut holes = Vec::new();
        let mut at = start;
        for (&(_, from), stretch) in self.0.range((space, start)..(space, end)) {
            if from > at {
                holes.push((at, from));
            }
            at = stretch.end;
        }
        if at < end {
            holes.push((at, end));
        }
        for (from, to) in holes {
            self.0.insert((space, from), Stretch { end: to, writer: None, readers: Vec::new() });
        }
    }

    fn read(&mut self, range: Range, launch: u32, waits: &mut Vec<u32>) {
        self.cover(range);
        for stretch in self.within(range) {
            waits.extend(stretch.writer);
            if stretch.readers.last() != Some(&launch) {
                stretch.readers.push(launch);
            }
        }
    }

    fn write(&mut self, range: Range, launch: u32, waits: &mut Vec<u32>) {
        self.cover(range);
        let mut emptied = Vec::new();
        for (&key, stretch) in self.0.range((range.space, range.start)..(range.space, range.end)) {
            waits.extend(stretch.writer);
            waits.extend(&stretch.readers);
            emptied.push(key);
        }
        for key in emptied {
            self.0.remove(&key);
        }
        let stretch = Stretch { end: range.end, writer: Some(launch), readers: Vec::new() };
        self.0.insert((range.space, range.start), stretch);
    }

    fn within(&mut self, range: Range) -> impl Iterator<Item = &mut Stretch> {
        self.0.range_mut((range.space, range.start)..(range.space, range.end)).map(|(_, stretch)| stretch)
    }
}

/// For each launch, the earlier launches it conflicts with, as far as they are not ordered through a launch between
/// them on the same bytes.
pub fn hazards(launches: &[Touches]) -> Waits {
    let mut memory = Memory::default();
    let mut all = Vec::with_capacity(launches.len());
    for (i, touches) in launches.iter().enumerate() {
        let launch = i as u32;
        let mut waits = Vec::new();
        let filled = |r: &&Range| r.start < r.end;
        touches.reads.iter().filter(filled).for_each(|&r| memory.read(r, launch, &mut waits));
        touches.writes.iter().filter(filled).for_each(|&r| memory.write(r, launch, &mut waits));
        waits.sort_unstable();
        waits.dedup();
        // A launch that reads what it overwrites does not wait for itself.
        waits.retain(|&w| w != launch);
        all.push(waits);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, end: u64) -> Range {
        Range { space: 0, start, end }
    }

    fn touches(reads: &[(u64, u64)], writes: &[(u64, u64)]) -> Touches {
        let ranges = |list: &[(u64, u64)]| list.iter().map(|&(a, b)| range(a, b)).collect();
        Touches { reads: ranges(reads), writes: ranges(writes) }
    }

    #[test]
    fn a_reader_of_four_parts_waits_for_their_four_writers() {
        let launches = [
            touches(&[], &[(0, 8)]),
            touches(&[], &[(8, 16)]),
            touches(&[], &[(16, 24)]),
            touches(&[], &[(24, 32)]),
            touches(&[(0, 32)], &[(64, 96)]),
        ];
        assert_eq!(hazards(&launches), [vec![], vec![], vec![], vec![], vec![0, 1, 2, 3]]);
    }

    #[test]
    fn a_writer_waits_for_readers_and_the_last_writer_of_any_shared_byte() {
        let launches = [
            touches(&[], &[(0, 16)]),
            touches(&[(0, 4)], &[]),
            touches(&[(12, 16)], &[]),
            touches(&[], &[(2, 6)]),
            touches(&[], &[(0, 16)]),
        ];
        assert_eq!(hazards(&launches), [vec![], vec![0], vec![0], vec![0, 1], vec![0, 1, 2, 3]]);
    }

    #[test]
    fn other_spaces_and_empty_ranges_do_not_conflict() {
        let other = Touches { reads: vec![Range { space: 1, start: 0, end: 16 }], writes: vec![range(4, 4)] };
        assert_eq!(hazards(&[touches(&[], &[(0, 16)]), other]), [vec![], vec![]]);
    }

    #[test]
    fn byte_by_byte_the_same_as_the_definition() {
        // A small generator with a fixed seed; the oracle keeps the last writer and the readers of each byte.
        let mut seed = 7u64;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        for _ in 0..50 {
            let mut some = |count| {
                (0..count)
                    .map(|_| {
                        let start = next(60);
                        range(start, start + next(12))
                    })
                    .collect::<Vec<_>>()
            };
            let launches: Vec<Touches> = (0..30).map(|_| Touches { reads: some(2), writes: some(1) }).collect();
            let mut bytes: Vec<(Option<u32>, Vec<u32>)> = vec![(None, Vec::new()); 80];
            let mut expected = Vec::new();
            for (i, launch) in launches.iter().enumerate() {
                let mut waits = Vec::new();
                for b in launch.reads.iter().flat_map(|r| r.start..r.end) {
                    waits.extend(bytes[b as usize].0);
                    bytes[b as usize].1.push(i as u32);
                }
                for b in launch.writes.iter().flat_map(|r| r.start..r.end) {
                    waits.extend(bytes[b as usize].0);
                    waits.extend(&bytes[b as usize].1);
                    bytes[b as usize] = (Some(i as u32), Vec::new());
                }
                waits.sort_unstable();
                waits.dedup();
                waits.retain(|&w| w != i as u32);
                expected.push(waits);
            }
            assert_eq!(hazards(&launches), expected);
        }
    }
}
