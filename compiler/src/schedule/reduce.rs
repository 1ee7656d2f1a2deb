//! Transitive reduction by bitsets of ancestors.

use super::Waits;

/// The ancestors of each launch, one bit each. The row of launch `i` has `i` bits, so 20,000 launches take 25 MB and
/// the most that a plan may have take 268 MB.
#[derive(Clone, Debug, Default)]
pub struct Ancestors {
    rows: Vec<Vec<u64>>,
}

impl Ancestors {
    /// The ancestors of launches that wait for these earlier ones.
    pub fn of(waits: &Waits) -> Ancestors {
        let mut ancestors = Ancestors::default();
        waits.iter().for_each(|wait| {
            ancestors.push(wait);
        });
        ancestors
    }

    /// Adds the next launch and returns those of its waits that no other one implies, ascending.
    fn push(&mut self, waits: &[u32]) -> Vec<u32> {
        let mut row = vec![0u64; self.rows.len().div_ceil(64)];
        let mut kept = Vec::with_capacity(waits.len());
        // From the latest to the earliest: what implies a wait comes after it in the order.
        for &wait in waits.iter().rev() {
            if contains(&row, wait) {
                continue;
            }
            row.iter_mut().zip(&self.rows[wait as usize]).for_each(|(bits, theirs)| *bits |= theirs);
            row[wait as usize / 64] |= 1 << (wait % 64);
            kept.push(wait);
        }
        self.rows.push(row);
        kept.reverse();
        kept
    }

    /// Whether `launch` starts only after `before` is complete.
    pub fn precedes(&self, before: u32, launch: u32) -> bool {
        before < launch && contains(&self.rows[launch as usize], before)
    }
}

fn contains(row: &[u64], bit: u32) -> bool {
    row[bit as usize / 64] >> (bit % 64) & 1 == 1
}

/// The fewest waits with the same order: each wait that others imply is dropped. The waits of each launch are
/// ascending and earlier launches.
pub fn reduce(waits: &Waits) -> Waits {
    let mut ancestors = Ancestors::default();
    waits.iter().map(|wait| ancestors.push(wait)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::to_petgraph;
    use petgraph::algo::tred::{dag_to_toposorted_adjacency_list, dag_transitive_reduction_closure};
    use petgraph::visit::IntoNeighbors;

    #[test]
    fn a_chain_keeps_its_links_only() {
        let waits = vec![vec![], vec![0], vec![0, 1], vec![0, 1, 2]];
        assert_eq!(reduce(&waits), [vec![], vec![0], vec![1], vec![2]]);
        let ancestors = Ancestors::of(&waits);
        assert!(ancestors.precedes(0, 3) && !ancestors.precedes(3, 0) && !ancestors.precedes(2, 2));
    }

    #[test]
    fn the_same_as_petgraph() {
        let mut seed = 3u64;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        for density in [2, 5, 20] {
            let waits: Waits = (0..150u32).map(|i| (0..i).filter(|_| next(density) == 0).collect()).collect();
            let graph = to_petgraph(&waits);
            let order: Vec<_> = graph.node_indices().collect();
            let (list, _) = dag_to_toposorted_adjacency_list::<_, u32>(&graph, &order);
            let (reduction, closure) = dag_transitive_reduction_closure(&list);
            let ours = reduce(&waits);
            let ancestors = Ancestors::of(&waits);
            for i in 0..waits.len() as u32 {
                let mut theirs: Vec<u32> = reduction.neighbors(i).collect();
                theirs.sort_unstable();
                let mine: Vec<u32> = (0..150).filter(|&j| ours[j as usize].contains(&i)).collect();
                assert_eq!(mine, theirs);
                let mut theirs: Vec<u32> = closure.neighbors(i).collect();
                theirs.sort_unstable();
                let mine: Vec<u32> = (0..150).filter(|&j| ancestors.precedes(i, j)).collect();
                assert_eq!(mine, theirs);
            }
        }
    }
}
