//! The order of the launches: topological, deterministic, and kind to memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What the scheduler must know of a launch. Values are numbered from 0; each is written by at most one job.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Job {
    /// Values it reads, each once.
    pub reads: Vec<u32>,
    /// Values it writes.
    pub writes: Vec<u32>,
    /// Values that it would overwrite if all their other readers were done: the job is put off until they are, where
    /// nothing but it can run it runs all the same.
    pub overwrites: Vec<u32>,
}

/// Which jobs write and read each value.
struct Uses {
    writer: Vec<Option<u32>>,
    readers: Vec<Vec<u32>>,
}

impl Uses {
    fn of(jobs: &[Job], values: usize) -> Uses {
        let mut uses = Uses { writer: vec![None; values], readers: vec![Vec::new(); values] };
        for (i, job) in jobs.iter().enumerate() {
            job.writes.iter().for_each(|&v| uses.writer[v as usize] = Some(i as u32));
            job.reads.iter().for_each(|&v| uses.readers[v as usize].push(i as u32));
        }
        uses
    }
}

/// The order in which the jobs run. `sizes` are the bytes that each value occupies from its writer to its last reader;
/// 0 for what lies in memory anyway or stays there.
///
/// A list schedule: among the jobs that can run, the one that frees the most bytes beyond those it occupies; among
/// equals the one that became ready last, which follows a chain to its end before it starts the next. Where the order
/// given lets as many jobs overwrite what they would, and needs no more memory at its peak, that one is kept: the list
/// schedule looks one job ahead only.
pub fn order(jobs: &[Job], sizes: &[u64]) -> Vec<u32> {
    let uses = Uses::of(jobs, sizes.len());
    let listed = list(jobs, sizes, &uses);
    let given: Vec<u32> = (0..jobs.len() as u32).collect();
    let is_topological = jobs
        .iter()
        .enumerate()
        .all(|(i, job)| job.reads.iter().all(|&v| uses.writer[v as usize].is_none_or(|w| (w as usize) < i)));
    let cost = |order: &[u32]| (early(jobs, &uses, order), peak(jobs, sizes, order));
    if is_topological && cost(&given) <= cost(&listed) { given } else { listed }
}

/// How many jobs run before another reader of what they would overwrite.
fn early(jobs: &[Job], uses: &Uses, order: &[u32]) -> usize {
    let mut at = vec![0usize; jobs.len()];
    order.iter().enumerate().for_each(|(position, &job)| at[job as usize] = position);
    let is_early = |&i: &usize| {
        let readers = jobs[i].overwrites.iter().flat_map(|&v| &uses.readers[v as usize]);
        readers.into_iter().any(|&r| at[r as usize] > at[i])
    };
    (0..jobs.len()).filter(is_early).count()
}

/// The most bytes that are occupied at a time if the jobs run one after the other in that order.
pub fn peak(jobs: &[Job], sizes: &[u64], order: &[u32]) -> u64 {
    let mut readers = vec![0u32; sizes.len()];
    jobs.iter().flat_map(|j| &j.reads).for_each(|&v| readers[v as usize] += 1);
    let written: Vec<bool> = {
        let mut written = vec![false; sizes.len()];
        jobs.iter().flat_map(|j| &j.writes).for_each(|&v| written[v as usize] = true);
        written
    };
    let (mut live, mut peak) = (0u64, 0u64);
    for &job in order {
        let job = &jobs[job as usize];
        live += job.writes.iter().map(|&v| sizes[v as usize]).sum::<u64>();
        peak = peak.max(live);
        for &v in job.reads.iter().filter(|&&v| written[v as usize]) {
            readers[v as usize] -= 1;
            if readers[v as usize] == 0 {
                live -= sizes[v as usize];
            }
        }
    }
    peak
}

/// How urgent a ready job is; the greatest runs first.
type Urgency = (bool, i64, u32, Reverse<u32>);

fn list(jobs: &[Job], sizes: &[u64], uses: &Uses) -> Vec<u32> {
    let mut left: Vec<u32> = uses.readers.iter().map(|r| r.len() as u32).collect();
    let mut waiting: Vec<u32> =
        jobs.iter().map(|j| j.reads.iter().filter(|&&v| uses.writer[v as usize].is_some()).count() as u32).collect();
    let mut ready_since = vec![0u32; jobs.len()];
    let mut done = vec![false; jobs.len()];
    let mut overwriters: Vec<Vec<u32>> = vec![Vec::new(); sizes.len()];
    for (i, job) in jobs.iter().enumerate() {
        job.overwrites.iter().for_each(|&v| overwriters[v as usize].push(i as u32));
    }
    let urgency = |i: u32, left: &[u32], ready_since: &[u32]| -> Urgency {
        let job = &jobs[i as usize];
        let frees = |v: u32| uses.writer[v as usize].is_some() && left[v as usize] == 1;
        let freed: u64 = job.reads.iter().filter(|&&v| frees(v)).map(|&v| sizes[v as usize]).sum();
        let taken: u64 = job.writes.iter().map(|&v| sizes[v as usize]).sum();
        let free = job.overwrites.iter().all(|&v| left[v as usize] == u32::from(job.reads.contains(&v)));
        (free, freed as i64 - taken as i64, ready_since[i as usize], Reverse(i))
    };
    // An entry whose urgency has changed since is skipped: the change pushed a new one.
    let mut heap: BinaryHeap<(Urgency, u32)> = BinaryHeap::new();
    for i in (0..jobs.len() as u32).filter(|&i| waiting[i as usize] == 0) {
        heap.push((urgency(i, &left, &ready_since), i));
    }
    let mut order = Vec::with_capacity(jobs.len());
    while let Some((was, i)) = heap.pop() {
        if done[i as usize] || was != urgency(i, &left, &ready_since) {
            continue;
        }
        done[i as usize] = true;
        order.push(i);
        for &v in &jobs[i as usize].reads {
            left[v as usize] -= 1;
            // Only now may a last reader, or one that overwrites the value, have become more urgent.
            let last = if left[v as usize] == 1 { &uses.readers[v as usize][..] } else { &[] };
            let over = if left[v as usize] <= 1 { &overwriters[v as usize][..] } else { &[] };
            for &j in last.iter().chain(over).filter(|&&j| !done[j as usize] && waiting[j as usize] == 0) {
                heap.push((urgency(j, &left, &ready_since), j));
            }
        }
        for &v in &jobs[i as usize].writes {
            for &j in &uses.readers[v as usize] {
                waiting[j as usize] -= 1;
                if waiting[j as usize] == 0 {
                    ready_since[j as usize] = order.len() as u32;
                    heap.push((urgency(j, &left, &ready_since), j));
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(reads: &[u32], writes: &[u32]) -> Job {
        Job { reads: reads.to_vec(), writes: writes.to_vec(), overwrites: Vec::new() }
    }

    #[test]
    fn chains_are_followed_to_their_end() {
        // Two chains of three, written down alternating; values 0, 2, 4 and 1, 3, 5.
        let jobs = [job(&[], &[0]), job(&[], &[1]), job(&[0], &[2]), job(&[1], &[3]), job(&[2], &[4]), job(&[3], &[5])];
        let sizes = [100, 100, 100, 100, 1, 1];
        let order = order(&jobs, &sizes);
        assert_eq!(order, [0, 2, 4, 1, 3, 5]);
        assert_eq!(peak(&jobs, &sizes, &order), 201);
        assert_eq!(peak(&jobs, &sizes, &[0, 1, 2, 3, 4, 5]), 300);
    }

    #[test]
    fn whoever_overwrites_waits_for_the_readers_where_it_can() {
        let mut jobs = [job(&[0], &[1]), job(&[0], &[2])];
        jobs[0].overwrites.push(0);
        assert_eq!(order(&jobs, &[0, 8, 8]), [1, 0]);
        // The reader needs what the overwriter computes: nothing can be done.
        let mut jobs = [job(&[0], &[1]), job(&[0, 1], &[2])];
        jobs[0].overwrites.push(0);
        assert_eq!(order(&jobs, &[0, 8, 8]), [0, 1]);
    }
}
