//! In which order devices that run one launch at a time run the launches of a plan.

use super::Plan;

/// A source of orders that respect the edges: the plan's own, or random ones, another at each replay.
#[derive(Clone, Debug)]
pub struct Orders {
    /// State of the generator, where orders are random.
    random: Option<u64>,
    /// For each launch, who waits for it.
    successors: Vec<Vec<u32>>,
    /// For each launch, how many it waits for.
    waits: Vec<u32>,
}

impl Orders {
    /// Orders of this plan: its own without a seed, random ones drawn from the seed.
    pub fn new(plan: &Plan, seed: Option<u64>) -> Orders {
        let mut successors = vec![Vec::new(); plan.launches.len()];
        let mut waits = vec![0; plan.launches.len()];
        if seed.is_some() {
            for edge in &plan.edges {
                successors[edge.from.index()].push(edge.to.0);
                waits[edge.to.index()] += 1;
            }
        }
        Orders { random: seed, successors, waits }
    }

    /// The order of the next replay of the plan it was made for, as positions in [`Plan::launches`].
    pub fn next(&mut self, plan: &Plan) -> Vec<usize> {
        let Some(mut state) = self.random else {
            return (0..plan.launches.len()).collect();
        };
        let mut waits = self.waits.clone();
        let mut ready: Vec<usize> = (0..waits.len()).filter(|&i| waits[i] == 0).collect();
        let mut order = Vec::with_capacity(waits.len());
        while !ready.is_empty() {
            let launch = ready.swap_remove((splitmix(&mut state) % ready.len() as u64) as usize);
            order.push(launch);
            for &next in &self.successors[launch] {
                waits[next as usize] -= 1;
                if waits[next as usize] == 0 {
                    ready.push(next as usize);
                }
            }
        }
        self.random = Some(state);
        order
    }
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014): advances the state
/// and returns the next number.
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
