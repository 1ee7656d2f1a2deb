//! Who waits where, told briefly: the child tells of runs of threads, and a hang of a large block has hundreds of them.

use monograph_ir::{KernelLine, Wait};
use std::collections::BTreeSet;

/// The most places that a finding lists.
const PLACES: usize = 20;
/// The most runs of threads that are listed for one place.
const RUNS: usize = 8;

/// Threads that wait at one place: `threads 0..31 of block 0 0 0 at __syncthreads`, in parts.
struct Group<'a> {
    at: Option<KernelLine>,
    /// `at __syncthreads`, `in __nanosleep`.
    call: &'a str,
    blocks: Vec<&'a str>,
    /// First and last threads of runs, ascending.
    runs: Vec<(u32, u32)>,
}

/// Brings together threads that wait at the same place of the program: all of a block, and blocks whose threads do
/// alike. What is of another form stays as it is, in front.
pub(crate) fn group(waits: Vec<(Option<KernelLine>, String)>) -> Vec<Wait> {
    let mut result = Vec::new();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (at, text) in &waits {
        let Some((run, block, call)) = parts(text) else {
            result.push(Wait { at: at.clone(), text: text.clone() });
            continue;
        };
        match groups.iter_mut().find(|g| g.at == *at && g.call == call && g.blocks == [block]) {
            Some(group) => group.runs.push(run),
            None => groups.push(Group { at: at.clone(), call, blocks: vec![block], runs: vec![run] }),
        }
    }
    let groups = merge_blocks(groups);
    let rest = groups.get(PLACES..).unwrap_or_default();
    result.extend(groups.iter().take(PLACES).map(|g| Wait { at: g.at.clone(), text: g.text() }));
    if !rest.is_empty() {
        let threads: u64 = rest.iter().map(Group::threads).sum();
        let places: BTreeSet<_> = rest.iter().map(|g| g.at.as_ref().map(|at| at.line)).collect();
        let text = format!("and {threads} more threads, on {} lines", places.len());
        result.push(Wait { at: None, text });
    }
    result
}

/// Joins the blocks of groups that are alike but for the block.
fn merge_blocks(groups: Vec<Group<'_>>) -> Vec<Group<'_>> {
    let mut merged: Vec<Group<'_>> = Vec::new();
    for group in groups {
        match merged.iter_mut().find(|m| m.at == group.at && m.call == group.call && m.runs == group.runs) {
            Some(same) => same.blocks.extend(group.blocks),
            None => merged.push(group),
        }
    }
    merged
}

impl Group<'_> {
    fn threads(&self) -> u64 {
        let each: u64 = self.runs.iter().map(|(first, last)| u64::from(last - first) + 1).sum();
        each * self.blocks.len() as u64
    }

    fn text(&self) -> String {
        let run = |&(first, last): &(u32, u32)| match first == last {
            true => first.to_string(),
            false => format!("{first}..{last}"),
        };
        let shown: Vec<String> = self.runs.iter().take(RUNS).map(run).collect();
        let mut threads = format!("{} {}", if self.threads() == 1 { "thread" } else { "threads" }, shown.join(", "));
        if self.runs.len() > RUNS {
            threads += &format!(", … ({} in all)", self.threads() / self.blocks.len() as u64);
        }
        let (word, rest) = match self.blocks.len() {
            1 => ("block", String::new()),
            n if n > RUNS => ("blocks", format!(", … ({n} in all)")),
            _ => ("blocks", String::new()),
        };
        let blocks = self.blocks.iter().take(RUNS).copied().collect::<Vec<_>>().join(", ");
        format!("{threads} of {word} {blocks}{rest} {}", self.call)
    }
}

/// The run of threads, the block, and the call.
fn parts(text: &str) -> Option<((u32, u32), &str, &str)> {
    let (threads, rest) =
        text.strip_prefix("threads ").or_else(|| text.strip_prefix("thread "))?.split_once(" of block ")?;
    let (first, last) = threads.split_once("..").unwrap_or((threads, threads));
    // The block is three numbers.
    let end = rest.match_indices(' ').nth(2)?.0;
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last).then_some(((first, last), &rest[..end], &rest[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(line: u32) -> Option<KernelLine> {
        Some(KernelLine { line, text: format!("line {line}"), inner: None })
    }

    fn texts(waits: &[(u32, &str)]) -> Vec<(u32, String)> {
        let waits = waits.iter().map(|(at, text)| (line(*at), text.to_string())).collect();
        group(waits).into_iter().map(|w| (w.at.map_or(0, |at| at.line), w.text)).collect()
    }

    #[test]
    fn threads_of_a_place_and_blocks_alike_are_one_line() {
        let found = texts(&[
            (3, "the flag is read here"),
            (12, "threads 0..31 of block 0 0 0 at __syncthreads"),
            (14, "threads 32..63 of block 0 0 0 at __syncwarp"),
            (12, "threads 64..95 of block 0 0 0 at __syncthreads"),
            (12, "thread 100 of block 0 0 0 at __syncthreads"),
            (14, "threads 32..63 of block 1 0 2 at __syncwarp"),
            (14, "thread 5 of block 1 0 2 in __nanosleep"),
        ]);
        let expected = [
            (3, "the flag is read here"),
            (12, "threads 0..31, 64..95, 100 of block 0 0 0 at __syncthreads"),
            (14, "threads 32..63 of blocks 0 0 0, 1 0 2 at __syncwarp"),
            (14, "thread 5 of block 1 0 2 in __nanosleep"),
        ];
        assert_eq!(found, expected.map(|(at, text)| (at, text.to_string())));
    }

    #[test]
    fn many_are_counted() {
        let every_other: Vec<(u32, String)> =
            (0..130).map(|i| (7 + i % 2, format!("thread {i} of block 0 0 0 at __syncthreads"))).collect();
        let waits: Vec<(u32, &str)> = every_other.iter().map(|(at, text)| (*at, text.as_str())).collect();
        let found = texts(&waits);
        assert_eq!(found.len(), 2);
        let text = "threads 1, 3, 5, 7, 9, 11, 13, 15, … (65 in all) of block 0 0 0 at __syncthreads";
        assert_eq!(found[1], (8, text.to_string()));

        let scattered: Vec<(u32, String)> = (0..30)
            .map(|i| (i + 1, format!("threads {}..{} of block 0 0 0 at __syncwarp", 2 * i, 2 * i + 1)))
            .collect();
        let waits: Vec<(u32, &str)> = scattered.iter().map(|(at, text)| (*at, text.as_str())).collect();
        let found = texts(&waits);
        assert_eq!(found.len(), PLACES + 1);
        assert_eq!(found[PLACES], (0, "and 20 more threads, on 10 lines".to_string()));
    }
}
