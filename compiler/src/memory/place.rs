//! Placing classes of buffers.

use super::take_over::Class;

/// How a layout was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// In the order of the launches, each into the smallest gap that fits.
    #[default]
    Timeline,
    /// The greatest first.
    Size,
    /// The longest-lived first.
    Lifetime,
    /// The greatest product of size and lifetime first.
    Area,
}

/// Offsets of the classes, and the end of the last.
#[derive(Clone, Debug, Default)]
pub(super) struct Placed {
    pub(super) offsets: Vec<u64>,
    pub(super) total: u64,
}

/// Bytes that were used before.
#[derive(Clone, Debug)]
struct Gap {
    start: u64,
    end: u64,
    /// The class that used them last.
    by: u32,
}

/// Best fit in the order of the launches. Only gaps and classes that are given up are looked at, so that long chains
/// take time linear in their length.
pub(super) fn timeline(classes: &[Class], precedes: &dyn Fn(u32, u32) -> bool) -> Placed {
    let mut offsets = vec![0u64; classes.len()];
    let mut total = 0u64;
    let mut gaps: Vec<Gap> = Vec::new();
    // Classes by the launch after which their bytes may be used anew.
    let mut ends: Vec<u32> = (0..classes.len() as u32).filter(|&c| !classes[c as usize].keep).collect();
    ends.sort_by_key(|&c| classes[c as usize].end);
    let mut ended = 0;
    let mut order: Vec<u32> = (0..classes.len() as u32).collect();
    // Of one launch the greatest first: small ones fit into what is left over.
    order.sort_by_key(|&c| (classes[c as usize].producer, std::cmp::Reverse(classes[c as usize].size)));
    for c in order {
        let class = &classes[c as usize];
        while let Some(&e) = ends.get(ended).filter(|&&e| classes[e as usize].end < class.producer) {
            let start = offsets[e as usize];
            give_up(&mut gaps, Gap { start, end: start + classes[e as usize].size, by: e });
            ended += 1;
        }
        if class.size == 0 {
            continue;
        }
        let is_free = |gap: &Gap| classes[gap.by as usize].last.iter().all(|&l| precedes(l, class.producer));
        offsets[c as usize] = match best_fit(&gaps, class.size, total, is_free) {
            Some((start, size)) => {
                occupy(&mut gaps, start, (start + class.size).min(start + size));
                start
            }
            None => total,
        };
        total = total.max(offsets[c as usize] + class.size);
    }
    Placed { offsets, total }
}

fn give_up(gaps: &mut Vec<Gap>, gap: Gap) {
    if gap.start == gap.end {
        return;
    }
    let at = gaps.partition_point(|g| g.start < gap.start);
    gaps.insert(at, gap);
}

/// The start and size of the smallest run of free gaps that holds `size` bytes, or of a run at the very end, which
/// may grow.
fn best_fit(gaps: &[Gap], size: u64, total: u64, is_free: impl Fn(&Gap) -> bool) -> Option<(u64, u64)> {
    let mut best: Option<(u64, u64)> = None;
    let mut run: Option<(u64, u64)> = None;
    for gap in gaps {
        if !is_free(gap) {
            run = None;
            continue;
        }
        run = match run {
            Some((start, end)) if end == gap.start => Some((start, gap.end)),
            _ => Some((gap.start, gap.end)),
        };
        let Some((start, end)) = run else { continue };
        // A run that goes on is looked at again when it has grown; the shorter one it began with may fit better.
        if end - start >= size && best.is_none_or(|(_, b)| end - start < b) {
            best = Some((start, end - start));
        }
    }
    best.or(run.filter(|&(_, end)| end == total).map(|(start, end)| (start, end - start)))
}

/// Cuts `start..end` out of the gaps.
fn occupy(gaps: &mut Vec<Gap>, start: u64, end: u64) {
    let first = gaps.partition_point(|g| g.end <= start);
    let last = gaps.partition_point(|g| g.start < end);
    let mut rest: Vec<Gap> = Vec::new();
    for gap in &gaps[first..last] {
        if gap.start < start {
            rest.push(Gap { end: start, ..gap.clone() });
        }
        if gap.end > end {
            rest.push(Gap { start: end, ..gap.clone() });
        }
    }
    gaps.splice(first..last, rest);
}

/// For each class, the classes that it must not share bytes with.
pub(super) struct Conflicts(Vec<Vec<u32>>);

impl Conflicts {
    pub(super) fn new(classes: &[Class], precedes: &dyn Fn(u32, u32) -> bool) -> Conflicts {
        let before = |a: &Class, b: &Class| !a.keep && a.last.iter().all(|&l| precedes(l, b.producer));
        let mut with = vec![Vec::new(); classes.len()];
        for (i, a) in classes.iter().enumerate() {
            for (j, b) in classes.iter().enumerate().skip(i + 1) {
                if !before(a, b) && !before(b, a) {
                    with[i].push(j as u32);
                    with[j].push(i as u32);
                }
            }
        }
        Conflicts(with)
    }
}

/// One class after the other, in an order, each into the smallest gap among those it conflicts with.
pub(super) fn greedy(classes: &[Class], conflicts: &Conflicts, strategy: Strategy) -> Placed {
    let mut order: Vec<u32> = (0..classes.len() as u32).collect();
    order.sort_by_key(|&c| {
        let class = &classes[c as usize];
        let end = if class.keep { u64::from(u32::MAX) } else { u64::from(class.end) };
        let length = end - u64::from(class.producer) + 1;
        let rank = match strategy {
            Strategy::Timeline => 0,
            Strategy::Size => u128::from(class.size),
            Strategy::Lifetime => u128::from(length),
            Strategy::Area => u128::from(class.size) * u128::from(length),
        };
        (std::cmp::Reverse(rank), std::cmp::Reverse(class.size), class.producer)
    });
    let mut offsets: Vec<Option<u64>> = vec![None; classes.len()];
    let mut total = 0;
    for c in order {
        let size = classes[c as usize].size;
        let placed = |&other: &u32| {
            offsets[other as usize].map(|o| (o, o + classes[other as usize].size)).filter(|(start, end)| start < end)
        };
        let mut taken: Vec<(u64, u64)> = conflicts.0[c as usize].iter().filter_map(placed).collect();
        taken.sort_unstable();
        let (mut at, mut best) = (0, None);
        for (start, end) in taken {
            if start > at && start - at >= size && best.is_none_or(|(_, gap)| start - at < gap) {
                best = Some((at, start - at));
            }
            at = at.max(end);
        }
        let offset = best.map_or(at, |(start, _)| start);
        offsets[c as usize] = Some(offset);
        total = total.max(offset + size);
    }
    Placed { offsets: offsets.into_iter().map(Option::unwrap_or_default).collect(), total }
}
