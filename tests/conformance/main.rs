//! Each function of the prelude, run by the emulator and by the GPU: equal bits.
//!
//! The functions are all that generated kernels build on, and some have one text for CUDA (inline PTX) and another for
//! the CPU. Where there is no GPU, the emulator's schedules are compared with each other and its checks must be silent.

#[allow(dead_code, reason = "each test uses a part")]
#[path = "../common/mod.rs"]
mod common;
mod elementwise;
mod order;
mod probe;
mod values;
mod warps;

use common::cuda;
use monograph::{EmulatorOptions, Schedule};
use monograph_compiler::codegen::prelude;
use monograph_runtime::Device;
use probe::Set;
use std::collections::BTreeSet;

/// Checked emulations of three schedules, and the GPU where there is one.
fn devices() -> Vec<Device> {
    let Some(_) = common::emulated() else { return Vec::new() };
    let schedules = [Schedule::InOrder, Schedule::Reverse, Schedule::Seeded(5)];
    let emulated = schedules.map(|schedule| {
        let options = EmulatorOptions { schedule, ..EmulatorOptions::default() };
        Device::emulated_with(options).expect("it was there a moment ago")
    });
    let gpu = cuda().map(|_| Device::cuda(0).expect("it was there a moment ago"));
    emulated.into_iter().chain(gpu).collect()
}

fn agree(sets: Vec<Set>) {
    let devices = devices();
    for set in sets {
        set.agree(&devices);
    }
}

#[test]
fn bits_and_halves() {
    agree(elementwise::bits_and_halves());
}

#[test]
fn casts() {
    agree(elementwise::casts());
}

#[test]
fn functions_of_floats() {
    agree(elementwise::floats());
}

#[test]
fn special_functions() {
    agree(elementwise::special());
}

#[test]
fn functions_of_integers() {
    agree(elementwise::integers());
}

#[test]
fn random_words() {
    agree(elementwise::random());
}

#[test]
fn vector_accesses() {
    agree(warps::vectors());
}

#[test]
fn shuffles() {
    agree(warps::shuffles());
}

#[test]
fn tensor_cores() {
    agree(warps::tensor_cores());
}

#[test]
fn votes() {
    agree(warps::votes());
}

#[test]
fn asynchronous_copies() {
    agree(order::async_copies());
}

#[test]
fn barriers_of_some_threads() {
    agree(order::barriers());
}

#[test]
fn releases_and_acquires() {
    agree(order::releases_and_acquires());
}

#[test]
fn barriers_that_count_bytes() {
    agree(order::transactions());
}

/// The names after `MG_FN`; one that a macro completes counts up to the place of completion.
fn functions(text: &str) -> BTreeSet<String> {
    let after = text.split("MG_FN").skip(1).filter_map(|rest| {
        let head = rest.split('(').next()?;
        let name = head.split_whitespace().last()?;
        name.starts_with("mg_").then(|| name.split("##").next().unwrap_or(name).to_string())
    });
    after.collect()
}

#[test]
fn every_function_of_the_prelude_is_probed() {
    let sets = [
        elementwise::bits_and_halves(),
        elementwise::casts(),
        elementwise::floats(),
        elementwise::special(),
        elementwise::integers(),
        elementwise::random(),
        warps::vectors(),
        warps::shuffles(),
        warps::tensor_cores(),
        order::async_copies(),
        order::barriers(),
        order::releases_and_acquires(),
        order::transactions(),
    ];
    let text: String = sets.iter().flatten().map(Set::text).collect();
    let names = functions(prelude());
    assert!(names.len() > 60, "the prelude's functions are found: {names:?}");
    let missing: Vec<&String> = names.iter().filter(|name| !text.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "functions of the prelude that no probe calls: {missing:?}");
}
