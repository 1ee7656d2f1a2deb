//! The memory planner by itself.

use monograph_compiler::memory::{Layout, Request, plan};
use monograph_compiler::schedule::{Ancestors, Waits};
use monograph_ir::testing::Random;

fn request(size: u64, producer: u32, users: &[u32]) -> Request {
    Request { size, producer, users: users.to_vec(), ..Request::default() }
}

fn in_a_row(requests: &[Request]) -> Layout {
    checked(requests, &|a, b| a < b)
}

/// Plans, and checks every pair of buffers against the rule.
fn checked(requests: &[Request], precedes: &dyn Fn(u32, u32) -> bool) -> Layout {
    let layout = plan(requests, 16, precedes);
    let before = |a: &Request, b: &Request| {
        !a.keep && precedes(a.producer, b.producer) && a.users.iter().all(|&u| precedes(u, b.producer))
    };
    // A buffer may take over another's bytes whole, in the other's last user, after all other users.
    let takes = |b: usize, a: usize| {
        let (old, new) = (&requests[a], &requests[b]);
        new.may_take.contains(&(a as u32))
            && layout.offsets[a] == layout.offsets[b]
            && old.size == new.size
            && !old.keep
            && old.users.iter().all(|&u| u == new.producer || precedes(u, new.producer))
    };
    for (i, a) in requests.iter().enumerate() {
        assert_eq!(layout.offsets[i] % 16, 0);
        assert!(layout.offsets[i] + a.size <= layout.total);
        for (j, b) in requests.iter().enumerate().skip(i + 1) {
            let (p, q) = (layout.offsets[i], layout.offsets[j]);
            let shares = p < q + b.size && q < p + a.size;
            assert!(
                !shares || before(a, b) || before(b, a) || takes(j, i) || takes(i, j),
                "{i} at {p} and {j} at {q} share bytes: {a:?} {b:?}"
            );
        }
    }
    layout
}

#[test]
fn nothing_takes_nothing() {
    assert_eq!(in_a_row(&[]).total, 0);
    assert_eq!(in_a_row(&[request(0, 0, &[1])]).total, 0);
}

#[test]
fn a_chain_needs_two_buffers_and_one_where_bytes_may_be_taken_over() {
    let mut chain: Vec<Request> = (0..100).map(|i| request(1000, i, &[i + 1])).collect();
    let layout = in_a_row(&chain);
    assert_eq!((layout.total, layout.max_live, layout.taken), (2 * 1008, 2 * 1008, 0));
    for (i, request) in chain.iter_mut().enumerate().skip(1) {
        request.may_take.push(i as u32 - 1);
    }
    let layout = in_a_row(&chain);
    assert_eq!((layout.total, layout.max_live, layout.taken), (1008, 1008, 99));
}

#[test]
fn what_is_kept_shares_with_what_came_before_only() {
    let mut requests = [request(64, 0, &[1]), request(64, 2, &[]), request(64, 3, &[4])];
    requests[1].keep = true;
    let layout = in_a_row(&requests);
    assert_eq!(layout.total, 128);
    assert_ne!(layout.offsets[1], layout.offsets[2]);
}

#[test]
fn a_kept_value_or_one_with_a_later_reader_is_not_taken_over() {
    let mut requests = [request(64, 0, &[1]), request(64, 1, &[2])];
    requests[1].may_take.push(0);
    requests[0].keep = true;
    assert_eq!(in_a_row(&requests).taken, 0);
    let mut requests = [request(64, 0, &[1, 2]), request(64, 1, &[3])];
    requests[1].may_take.push(0);
    assert_eq!(in_a_row(&requests).taken, 0);
    // The other reader comes first in the order, but nothing makes it.
    let mut requests = [request(64, 0, &[1, 2]), request(64, 2, &[3])];
    requests[1].may_take.push(0);
    assert_eq!(in_a_row(&requests).taken, 1);
    let unordered = |a: u32, b: u32| a < b && (a, b) != (1, 2);
    assert_eq!(checked(&requests, &unordered).taken, 0);
}

#[test]
fn branches_that_may_run_together_share_nothing() {
    // 0 forks into 1 and 2, which 3 joins.
    let ancestors = Ancestors::of(&vec![vec![], vec![0], vec![0], vec![1, 2]]);
    let requests = [request(64, 1, &[3]), request(64, 2, &[3])];
    assert_eq!(checked(&requests, &|a, b| ancestors.precedes(a, b)).total, 128);
}

#[test]
fn a_gap_is_split_and_runs_of_gaps_are_joined() {
    let requests = [request(96, 0, &[1]), request(32, 0, &[1]), request(64, 2, &[3]), request(64, 2, &[3])];
    assert_eq!(in_a_row(&requests).total, 128);
    let requests = [request(64, 0, &[1]), request(64, 0, &[1]), request(128, 2, &[3])];
    assert_eq!(in_a_row(&requests).total, 128);
}

#[test]
fn random_buffers_obey_the_rule() {
    let mut random = Random::new(11);
    for round in 0..60 {
        let launches = 5 + random.below(60) as u32;
        let waits: Waits = (0..launches)
            .map(|i| (i.saturating_sub(6)..i).filter(|_| random.one_in(if round % 2 == 0 { 2 } else { 5 })).collect())
            .collect();
        let ancestors = Ancestors::of(&waits);
        let mut requests: Vec<Request> = Vec::new();
        for producer in 0..launches {
            for _ in 0..random.below(3) {
                let users = (producer + 1..launches).filter(|&u| ancestors.precedes(producer, u) && random.one_in(3));
                let users: Vec<u32> = users.collect();
                let mut new = request(16 * random.below(9) as u64, producer, &users);
                new.keep = random.one_in(8);
                let inputs = requests.iter().enumerate().filter(|(_, r)| r.users.contains(&producer));
                new.may_take = inputs.map(|(i, _)| i as u32).collect();
                requests.push(new);
            }
        }
        let layout = checked(&requests, &|a, b| ancestors.precedes(a, b));
        assert!(layout.total >= layout.max_live || requests.is_empty());
    }
}

#[test]
fn twenty_thousand_buffers_are_placed_in_a_moment() {
    let requests: Vec<Request> =
        (0..20_000u32).map(|i| request(256 * u64::from(1 + i % 7), i, &[i + 1, i + 1 + i % 40])).collect();
    let requests: Vec<Request> = requests
        .into_iter()
        .map(|mut r| {
            r.users.dedup();
            r
        })
        .collect();
    let start = std::time::Instant::now();
    let layout = plan(&requests, 256, &|a, b| a < b);
    assert!(layout.total <= 2 * layout.max_live, "{} for {}", layout.total, layout.max_live);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
