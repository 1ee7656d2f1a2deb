//! Extraction: which term of each class is computed.
//!
//! The price of a choice is that of the set of classes below it, each counted once: where a tree's price doubles at
//! every shared term and soon means nothing, a set's price stays what the program will do. A set is a row of bits, and
//! prices are summed in `u128`, so nothing overflows.

use super::cost::cost;
use super::term::{Head, Term, Terms};
use egg::{Id, Language};
use monograph_ir::Spec;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The terms that were chosen, one a class.
pub(crate) struct Choice {
    /// The classes of values, ascending; what follows refers to them by their place here.
    ids: Vec<Id>,
    index: FxHashMap<Id, usize>,
    candidates: Vec<Vec<Candidate>>,
    /// Index into the candidates of each class.
    chosen: Vec<usize>,
}

/// A term that a class may be computed by.
struct Candidate {
    term: Term,
    /// Indices of the operands' classes.
    operands: SmallVec<[usize; 3]>,
    price: u64,
}

/// What the best choice so far computes below a class.
#[derive(Clone)]
struct Below {
    set: Vec<u64>,
    price: u128,
}

impl Choice {
    /// The term that computes a class.
    pub(crate) fn term(&self, terms: &Terms, id: Id) -> &Term {
        let class = self.index[&terms.find(id)];
        &self.candidates[class][self.chosen[class]].term
    }

    /// The classes that are computed.
    pub(crate) fn live(&self, terms: &Terms, roots: &[Id]) -> FxHashSet<Id> {
        let needed = self.needed(&self.classes(terms, roots)).unwrap_or_default();
        needed.into_iter().map(|class| self.ids[class]).collect()
    }

    fn classes(&self, terms: &Terms, ids: &[Id]) -> Vec<usize> {
        let mut classes: Vec<usize> = ids.iter().map(|&id| self.index[&terms.find(id)]).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }
}

/// Chooses terms so that all roots together are cheap.
///
/// It starts from the better of two choices: the oldest term of each class, which is the program as it was; and the
/// greedy one, which takes the cheapest set class by class from the leaves up. Then it tries other terms one at a
/// time, by what the roots cost together. The cheapest choice is NP-hard; this one is deterministic, ties go to the
/// older term, and it never costs more than the program did.
pub(crate) fn extract(terms: &Terms, roots: &[Id]) -> Choice {
    let mut choice = candidates(terms);
    let roots = choice.classes(terms, roots);
    // An older term has still older ones below it, so this choice has no cycle.
    choice.chosen = vec![0; choice.candidates.len()];
    let oldest = choice.price(&roots).unwrap_or(u128::MAX);
    let greedy = greedy(&choice.candidates).into_iter().map(|best| best.map_or(0, |(chosen, _)| chosen)).collect();
    let old = std::mem::replace(&mut choice.chosen, greedy);
    let best = match choice.price(&roots) {
        Some(price) if price < oldest => price,
        _ => {
            choice.chosen = old;
            oldest
        }
    };
    choice.improve(&roots, best);
    choice
}

/// Every class of values with its terms, in the order of their age.
fn candidates(terms: &Terms) -> Choice {
    let mut ages: FxHashMap<Term, usize> = FxHashMap::default();
    for (age, term) in terms.nodes().iter().enumerate() {
        ages.entry(term.clone().map_children(|id| terms.find(id))).or_insert(age);
    }
    let mut ids: Vec<Id> = terms.classes().filter(|c| c.data.spec.is_some()).map(|c| c.id).collect();
    ids.sort_unstable();
    let index: FxHashMap<Id, usize> = ids.iter().enumerate().map(|(i, &id)| (id, i)).collect();
    let mut candidates = Vec::with_capacity(ids.len());
    for &id in &ids {
        let class = &terms[id];
        let result = class.data.spec.as_ref().expect("filtered above");
        let mut list: Vec<(usize, Candidate)> = Vec::with_capacity(class.nodes.len());
        for term in &class.nodes {
            let age = ages.get(&term.clone().map_children(|id| terms.find(id))).copied().unwrap_or(usize::MAX);
            list.extend(candidate(terms, &index, term, result).map(|c| (age, c)));
        }
        list.sort_by_key(|(age, _)| *age);
        candidates.push(list.into_iter().map(|(_, c)| c).collect());
    }
    Choice { ids, index, candidates, chosen: Vec::new() }
}

fn candidate(terms: &Terms, index: &FxHashMap<Id, usize>, term: &Term, result: &Spec) -> Option<Candidate> {
    let operands = term.operands().iter().map(|&id| index.get(&terms.find(id)).copied());
    let operands = operands.collect::<Option<SmallVec<[usize; 3]>>>()?;
    let price = match &term.head {
        Head::Leaf(..) => 0,
        Head::Attribute(_) => return None,
        Head::Op(_) | Head::View(_) => {
            let specs = term.operands().iter().map(|&id| terms[id].data.spec.as_ref());
            cost(&term.to_op(terms)?, result, &specs.collect::<Option<SmallVec<[&Spec; 3]>>>()?)
        }
    };
    Some(Candidate { term: term.clone(), operands, price })
}

/// For each class the candidate whose set is cheapest, by itself, and the set.
fn greedy(candidates: &[Vec<Candidate>]) -> Vec<Option<(usize, Below)>> {
    let words = candidates.len().div_ceil(64);
    let mut own = vec![0; candidates.len()];
    let mut best: Vec<Option<(usize, Below)>> = vec![None; candidates.len()];
    // Prices only fall, and each round but the last lowers one, yet a bound costs nothing.
    for _ in 0..candidates.len() + 2 {
        let mut changed = false;
        for class in 0..candidates.len() {
            for (i, candidate) in candidates[class].iter().enumerate() {
                let Some(set) = union(&best, candidate, class, words) else { continue };
                let price = members(&set).map(|c| u128::from(own[c])).sum::<u128>() + u128::from(candidate.price);
                if best[class].as_ref().is_none_or(|(_, b)| price < b.price) {
                    let mut set = set;
                    set[class / 64] |= 1 << (class % 64);
                    own[class] = candidate.price;
                    best[class] = Some((i, Below { set, price }));
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    best
}

/// The classes below a candidate; `None` where one cannot be computed yet or needs the class itself.
fn union(best: &[Option<(usize, Below)>], candidate: &Candidate, class: usize, words: usize) -> Option<Vec<u64>> {
    let mut set = vec![0; words];
    for &operand in &candidate.operands {
        let (_, below) = best[operand].as_ref()?;
        set.iter_mut().zip(&below.set).for_each(|(s, b)| *s |= b);
    }
    (set[class / 64] & 1 << (class % 64) == 0).then_some(set)
}

fn members(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(w, &word)| {
        std::iter::successors((word != 0).then_some(word), |w| Some(w & (w - 1)).filter(|&w| w != 0))
            .map(move |bits| w * 64 + bits.trailing_zeros() as usize)
    })
}

impl Choice {
    /// The classes that the roots need, operands first; `None` where the choice is cyclic or incomplete.
    fn needed(&self, roots: &[usize]) -> Option<Vec<usize>> {
        const NEW: u8 = 0;
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
        let mut state = vec![NEW; self.candidates.len()];
        let mut order = Vec::new();
        let mut stack: Vec<usize> = Vec::new();
        for &root in roots {
            stack.push(root);
            while let Some(&class) = stack.last() {
                if state[class] != NEW {
                    if state[class] == OPEN {
                        state[class] = DONE;
                        order.push(class);
                    }
                    stack.pop();
                    continue;
                }
                state[class] = OPEN;
                for &operand in &self.candidates[class].get(self.chosen[class])?.operands {
                    match state[operand] {
                        NEW => stack.push(operand),
                        OPEN => return None,
                        _ => {}
                    }
                }
            }
        }
        Some(order)
    }

    /// What all roots cost together.
    fn price(&self, roots: &[usize]) -> Option<u128> {
        let needed = self.needed(roots)?;
        Some(needed.iter().map(|&c| u128::from(self.candidates[c][self.chosen[c]].price)).sum())
    }

    /// Takes another term for a class wherever that makes the roots cheaper together.
    fn improve(&mut self, roots: &[usize], mut best: u128) {
        for class in self.needed(roots).unwrap_or_default() {
            for other in 0..self.candidates[class].len() {
                if other == self.chosen[class] {
                    continue;
                }
                let before = std::mem::replace(&mut self.chosen[class], other);
                match self.price(roots) {
                    Some(price) if price < best => best = price,
                    _ => self.chosen[class] = before,
                }
            }
        }
    }
}
