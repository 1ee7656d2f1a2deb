//! State as a parallel move: what is copied when all else is done.

use super::arrange::Place;
use std::collections::BTreeMap;

/// The new value of a state comes from there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Move {
    /// The parameter that is overwritten.
    pub(crate) state: u32,
    /// Where its new value lies.
    pub(crate) source: Place,
}

/// A copy, in the order in which copies happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Saves the old contents of a state that is about to be overwritten, in the scratch buffer of that number.
    Save { state: u32, scratch: u32 },
    /// Copies a place into a state.
    Copy(Move),
    /// Copies a scratch buffer into a state.
    Restore { scratch: u32, state: u32 },
}

/// Orders moves so that each reads what was there before all of them. Every state is the target of one move at most.
pub(crate) fn sequence(moves: &[Move]) -> Vec<Step> {
    let mut steps = Vec::with_capacity(moves.len());
    // How many moves that are left read the old contents of each state that is a target.
    let mut readers: BTreeMap<u32, usize> = moves.iter().map(|m| (m.state, 0)).collect();
    for m in moves {
        if let Place::Param(p) = m.source
            && let Some(count) = readers.get_mut(&p)
        {
            *count += 1;
        }
    }
    let by_target: BTreeMap<u32, Move> = moves.iter().map(|m| (m.state, *m)).collect();
    let mut scratch_of: BTreeMap<u32, u32> = BTreeMap::new();
    let mut left: BTreeMap<u32, Move> = by_target.clone();
    let mut ready: Vec<u32> = readers.iter().filter(|(_, count)| **count == 0).map(|(&s, _)| s).rev().collect();
    while let Some(&first) = left.keys().next() {
        let state = match ready.pop() {
            Some(state) => state,
            None => {
                // What is left are cycles: save one state, so that its readers read the copy.
                let scratch = scratch_of.len() as u32;
                steps.push(Step::Save { state: first, scratch });
                scratch_of.insert(first, scratch);
                first
            }
        };
        let Some(m) = left.remove(&state) else { continue };
        let saved = match m.source {
            Place::Param(p) => scratch_of.get(&p).copied(),
            Place::Temp(_) => None,
        };
        steps.push(match saved {
            Some(scratch) => Step::Restore { scratch, state },
            None => Step::Copy(m),
        });
        if let (Place::Param(p), None) = (m.source, saved)
            && let Some(count) = readers.get_mut(&p)
        {
            *count -= 1;
            if *count == 0 && left.contains_key(&p) {
                ready.push(p);
            }
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the steps on numbers and compares with the simultaneous assignment.
    fn check(moves: &[(u32, Place)]) -> Vec<Step> {
        let moves: Vec<Move> = moves.iter().map(|&(state, source)| Move { state, source }).collect();
        let steps = sequence(&moves);
        let params: Vec<u32> = (0..10).collect();
        let read = |memory: &[u32], place| match place {
            Place::Param(p) => memory[p as usize],
            Place::Temp(t) => 100 + t,
        };
        let mut expected = params.clone();
        moves.iter().for_each(|m| expected[m.state as usize] = read(&params, m.source));
        let (mut memory, mut scratch) = (params, BTreeMap::new());
        for step in &steps {
            match *step {
                Step::Save { state, scratch: s } => {
                    scratch.insert(s, memory[state as usize]);
                }
                Step::Copy(m) => memory[m.state as usize] = read(&memory, m.source),
                Step::Restore { scratch: s, state } => memory[state as usize] = scratch[&s],
            }
        }
        assert_eq!(memory, expected, "{steps:?}");
        steps
    }

    #[test]
    fn every_kind_of_move_is_simultaneous() {
        use Place::{Param, Temp};
        assert_eq!(check(&[(0, Param(1)), (1, Param(0))]).len(), 3);
        assert_eq!(check(&[(0, Param(1)), (1, Param(2)), (2, Param(0))]).len(), 4);
        assert_eq!(check(&[(0, Param(1)), (1, Param(2)), (2, Temp(0))]).len(), 3);
        assert_eq!(check(&[(1, Param(0)), (2, Param(0)), (0, Param(2))]).len(), 4);
        assert_eq!(check(&[(0, Temp(3)), (1, Temp(3)), (2, Param(9))]).len(), 3);
        // Two cycles, and one that hangs on the first.
        assert_eq!(check(&[(0, Param(1)), (1, Param(0)), (2, Param(3)), (3, Param(2)), (4, Param(0))]).len(), 7);
    }
}
