//! Names of kernels: what they do, and a hash that depends on their structure alone.

use crate::Options;
use monograph_ir::{Graph, Op, Target};
use std::hash::{Hash, Hasher};

/// FNV-1a over bytes in a fixed order, so that a hash is the same on every machine and in every run.
struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    fn write_u8(&mut self, i: u8) {
        self.write(&[i]);
    }
    fn write_u16(&mut self, i: u16) {
        self.write(&i.to_le_bytes());
    }
    fn write_u32(&mut self, i: u32) {
        self.write(&i.to_le_bytes());
    }
    fn write_u64(&mut self, i: u64) {
        self.write(&i.to_le_bytes());
    }
    fn write_usize(&mut self, i: usize) {
        self.write_u64(i as u64);
    }
    fn write_i32(&mut self, i: i32) {
        self.write_u32(i as u32);
    }
    fn write_i64(&mut self, i: i64) {
        self.write_u64(i as u64);
    }
    fn write_isize(&mut self, i: isize) {
        self.write_i64(i as i64);
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

/// A hash of what a body computes and of what else its code depends on. Names and origins are no part of it.
fn structure(body: &Graph, target: &Target, options: &Options) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    body.nodes().hash(&mut hash);
    for output in body.outputs() {
        output.value.hash(&mut hash);
    }
    for param in body.params() {
        param.spec.hash(&mut hash);
    }
    target.hash(&mut hash);
    options.excess_precision.hash(&mut hash);
    hash.finish()
}

/// The ops that give a kernel its name: those that compute, at most this many.
const NAMED_OPS: usize = 4;

/// The symbol of a body's kernel: `reduce_max_sub_exp_div_0123456789abcdef`.
pub(super) fn symbol(body: &Graph, target: &Target, options: &Options) -> String {
    let mut names: Vec<&str> = Vec::new();
    let computes = |op: &Op| {
        !op.is_view() && !matches!(op, Op::Parameter(_) | Op::Constant(_) | Op::Iota { .. } | Op::Cast(_) | Op::Select)
    };
    // What decides the family comes first.
    let heavy = |op: &Op| {
        matches!(
            op,
            Op::Matmul { .. }
                | Op::Scatter { .. }
                | Op::Scan { .. }
                | Op::Reduce { .. }
                | Op::ArgReduce { .. }
                | Op::SortPacked
                | Op::DigitCounts { .. }
                | Op::PlaceByDigit { .. }
                | Op::ScatterSorted { .. }
        ) || op.is_windowed()
    };
    let ops = || body.nodes().iter().map(|n| &n.op);
    for op in ops().filter(|op| heavy(op)).chain(ops().filter(|op| computes(op) && !heavy(op))) {
        if names.len() < NAMED_OPS && !names.contains(&op.name()) {
            names.push(op.name());
        }
    }
    if names.is_empty() {
        let moves = body.nodes().iter().map(|n| &n.op).find(|op| !matches!(op, Op::Parameter(_) | Op::Constant(_)));
        names.push(moves.map_or("copy", Op::name));
    }
    format!("{}_{:016x}", names.join("_"), structure(body, target, options))
}
