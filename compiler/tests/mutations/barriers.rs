//! The tables are complete: every barrier and every wait of every kernel is left out by a mutant that must be found.

use crate::mutants::Subject;
use crate::{order, pattern, pointwise, products, rows, sorting, waits};
use std::collections::BTreeMap;

/// What orders threads or copies, and what is left where it is not.
const ORDERS: [(&str, &str); 4] = [
    ("__syncthreads();", ""),
    ("__syncthreads_or(found)", "found"),
    ("__syncwarp(MG_ALL_LANES);", ""),
    ("mg_async_wait<#>();", ""),
];

/// What a kernel calls where it waits for other threads or for copies, in whatever form.
const CALLS: [&str; 8] = [
    "__syncthreads",
    "__syncwarp",
    "mg_async_wait",
    "mg_barrier_sync",
    "mg_mbarrier_wait",
    "mg_mbarrier_try_wait",
    "mg_load_acquire",
    "mg_spin",
];

#[test]
fn every_barrier_is_left_out() {
    let all = [
        pointwise::subjects(),
        rows::subjects(),
        products::subjects(),
        order::subjects(),
        waits::subjects(),
        sorting::subjects(),
    ];
    // Subjects may have one kernel, whose mutants are then in several tables.
    let mut kernels: BTreeMap<String, (&'static str, Vec<String>)> = BTreeMap::new();
    for subject in all.iter().flatten() {
        let (text, mutants) = texts(subject);
        kernels.entry(text).or_insert((subject.name, Vec::new())).1.extend(mutants);
    }
    let mut missing = Vec::new();
    let mut total = 0;
    for (text, (name, mutants)) in &kernels {
        let mut known = 0;
        for (call, rest) in ORDERS {
            for (number, found) in pattern::find(text, call).iter().enumerate() {
                known += 1;
                let mut without = text.clone();
                without.replace_range(found.range.clone(), rest);
                if !mutants.contains(&without) {
                    missing.push(format!("{name}: no mutant leaves out `{call}` number {number}"));
                }
            }
        }
        let calls: usize = CALLS.iter().map(|call| text.matches(call).count()).sum();
        assert_eq!(known, calls, "{name} waits in a form that this test does not know:\n{text}");
        total += known;
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(total > 0, "no kernel has a barrier");
    println!("{total} barriers and waits of {} kernels", kernels.len());
}

/// The text of the kernel and those of its mutants that must be found.
fn texts(subject: &Subject) -> (String, Vec<String>) {
    let text = subject.generate().source;
    let mutants = subject.mutants.iter().filter(|mutant| mutant.is_found());
    let mutated = mutants.map(|mutant| mutant.apply(&text).unwrap_or_else(|why| panic!("{}: {why}", subject.name)));
    let mutated = mutated.collect();
    (text, mutated)
}
