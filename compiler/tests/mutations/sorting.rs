//! Sorts in shared memory, passes of a radix sort and scatters of sorted indices: barriers between steps, counters of
//! warps, and bounds.

use crate::build::{Body, Random};
use crate::mutants::{Expected::WrongValue, Subject, check, found, mutant, nth, once};
use monograph_ir::FindingKind::{NotWritten, OutOfBounds, Race, Uninitialised};
use monograph_ir::interp::{Tensor, evaluate_op};
use monograph_ir::{DType, Graph, Literal, Op, Reduction, ScatterKind, Spec};

#[test]
fn sorting() {
    check("sorting mutants", &subjects());
}

pub(crate) fn subjects() -> Vec<Subject> {
    vec![blocks(), short_rows(), counts(), places(), scatters()]
}

fn body(op: Op, inputs: &[&Tensor]) -> Graph {
    let mut body = Body::new();
    let operands: Vec<_> = inputs.iter().map(|x| body.input(x.spec().dtype, x.shape())).collect();
    let y = body.op(op, &operands);
    body.done(&[y])
}

fn subject(name: &'static str, op: Op, inputs: Vec<Tensor>, mutants: Vec<crate::mutants::Mutant>) -> Subject {
    let mut subject = Subject::new(name, body(op, &inputs.iter().collect::<Vec<_>>()), 0.0, mutants);
    subject.inputs = inputs;
    subject
}

/// Random bits above bit 32, and few values of the byte there.
fn packed(rows: usize, n: usize) -> Tensor {
    let mut at = 0;
    Random::new(n as u64).with(&Spec::new(DType::I64, [rows, n]), |r| {
        at += 1;
        Literal::from_bits(DType::I64, (r.next() % 7) << 32 | at)
    })
}

fn one(op: &Op, operands: &[Tensor]) -> Tensor {
    evaluate_op(op, operands).expect("the reference takes it").remove(0)
}

/// Four rows of 100, filled up to 128, in a block of 256 threads.
fn blocks() -> Subject {
    let mutants = vec![
        mutant(
            "the first step does not wait for the elements",
            nth(0, 2, "__syncthreads();", ""),
            found(Race, &["= s["]).or(found(Race, &["s[u * 256 + t] ="])),
        ),
        mutant(
            "no step waits for other warps",
            nth(1, 2, "__syncthreads();", ""),
            found(Race, &["= s["]).or(found(Race, &["] = "])),
        ),
        mutant(
            "steps between warps do not wait",
            once("if (j > 32 || next > 32)", "if (j > 64 || next > 64)"),
            found(Race, &["= s["]).or(found(Race, &["] = "])),
        ),
        mutant(
            "steps within a warp do not wait",
            once("__syncwarp(MG_ALL_LANES);", ""),
            found(Race, &["= s["]).or(found(Race, &["] = "])),
        ),
        mutant("no step is the mirror of another", once("2 * j == k ?", "2 * j == k + 1 ?"), WrongValue),
        mutant("the greater comes first", once("if (high < low)", "if (high > low)"), WrongValue),
        mutant("what fills a row is small", once(": ~0ull;", ": 0ull;"), WrongValue),
    ];
    subject("sort", Op::SortPacked, vec![packed(6, 100)], mutants)
}

/// Forty rows of 20, filled up to 32: each warp sorts some, and others store them.
fn short_rows() -> Subject {
    let mutants = vec![
        mutant(
            "the first step does not wait for the elements",
            nth(0, 2, "__syncthreads();", ""),
            found(Race, &["= s["]).or(found(Race, &["s[u * 256 + t] ="])),
        ),
        mutant(
            "steps do not wait",
            once("__syncwarp(MG_ALL_LANES);", ""),
            found(Race, &["= s["]).or(found(Race, &["] = "])),
        ),
        mutant(
            "rows are stored before they are sorted",
            nth(1, 2, "__syncthreads();", ""),
            found(Race, &["= (long long)s["]).or(found(Race, &["] = "])),
        ),
    ];
    subject("sort of short rows", Op::SortPacked, vec![packed(40, 20)], mutants)
}

/// Two rows of 600 in tiles of 512.
fn counts() -> Subject {
    let mutants = vec![
        mutant(
            "counters are not cleared",
            once("counts[w * 256 + d] = 0;", ""),
            found(Uninitialised, &["counts[w * 256 + d#] +="]),
        ),
        mutant(
            "sums do not wait for the counters",
            once("__syncthreads();", ""),
            found(Race, &["counts["]).or(found(Uninitialised, &["counts[v * 256 + t]"])),
        ),
        mutant(
            "counting does not wait for cleared counters",
            nth(0, 2, "__syncwarp(MG_ALL_LANES);", ""),
            found(Race, &["counts[w * 256 + d#] +="]).or(found(Uninitialised, &["counts[w * 256 + d#] +="])),
        ),
        mutant(
            "the second round does not wait for the first",
            nth(1, 2, "__syncwarp(MG_ALL_LANES);", ""),
            found(Race, &["counts[w * 256 + d#] +="]),
        ),
        mutant("a warp too many is summed", once("v < 8;", "v < 9;"), found(OutOfBounds, &["counts[v * 256 + t]"])),
        mutant("a warp is left out", once("v < 8;", "v < 7;"), WrongValue),
    ];
    subject("digit counts", Op::DigitCounts { shift: 32, tile: 512 }, vec![packed(2, 600)], mutants)
}

/// Two rows of 600 in tiles of 256.
fn places() -> Subject {
    let op = |tile| (Op::DigitCounts { shift: 32, tile }, Op::PlaceByDigit { shift: 32, tile });
    let (counts, place) = op(256);
    let x = packed(2, 600);
    let counts = one(&counts, std::slice::from_ref(&x));
    let ends = one(&Op::Scan { kind: Reduction::Sum, axis: 2 }, &[counts]);
    let mutants = vec![
        mutant(
            "the sums of the warps do not wait for the counters",
            nth(0, 4, "__syncthreads();", ""),
            found(Race, &["counts["]).or(found(Uninitialised, &["counts["])),
        ),
        mutant(
            "sums are read before all have written",
            nth(1, 4, "__syncthreads();", ""),
            found(Race, &["sums["]).or(found(Uninitialised, &["sums[v]"])),
        ),
        mutant(
            "elements go to places that are not known",
            nth(2, 4, "__syncthreads();", ""),
            found(Race, &["counts["]).or(found(Race, &["first["])),
        ),
        mutant(
            "elements are written before they are sorted",
            nth(3, 4, "__syncthreads();", ""),
            found(Race, &["s["]).or(found(Uninitialised, &["= s["])).or(found(Race, &["first["])),
        ),
        mutant(
            "the counters are read before all are cleared",
            nth(0, 2, "__syncwarp(MG_ALL_LANES);", ""),
            found(Race, &["counts[w * 256 + d#]"]).or(found(Uninitialised, &["counts[w * 256 + d#]"])),
        ),
        mutant(
            "the counters of the first round change while others read",
            nth(1, 2, "__syncwarp(MG_ALL_LANES);", ""),
            found(Race, &["counts[w * 256 + d#]"]).or(found(Uninitialised, &["counts[w * 256 + d#]"])),
        ),
        mutant("tiles before this one are left out", once("g > 0 ?", "g > 1 ?"), found(Race, &["y0[i#] = a#"])),
        mutant("the first digit starts behind the others", once("(int)(s#", "1 + (int)(s#"), found(NotWritten, &[])),
    ];
    subject("digit places", place, vec![x, ends], mutants)
}

/// Blocks of 55 places with 37 elements each, of which some have many entries.
fn scatters() -> Subject {
    let (places, count) = (120u64, 40);
    let mut at = 0;
    let entries = Random::new(3).with(&Spec::new(DType::I64, [1, count]), |r| {
        at += 1;
        Literal::from_bits(DType::I64, (r.next() % (places / 8) * 9) << 32 | (at - 1))
    });
    let entries = one(&Op::Reshape([count].into()), &[one(&Op::SortPacked, &[entries])]);
    let mut random = Random::new(4);
    let base = random.tensor(&Spec::new(DType::F32, [places as usize, 37]));
    let updates = random.tensor(&Spec::new(DType::F32, [count, 37]));
    let mutants = vec![
        mutant(
            "places do not wait for the searches",
            once("__syncthreads();", ""),
            found(Race, &["bounds["]).or(found(Uninitialised, &["bounds["])),
        ),
        mutant("the last place has no end", once("m <= 55;", "m < 55;"), found(Uninitialised, &["bounds[i# + 1]"])),
        mutant("a place too many is searched", once("m <= 55;", "m <= 56;"), found(OutOfBounds, &["bounds[m] = low;"])),
        mutant("the search stops early", once("q < 6;", "q < 3;"), WrongValue),
        mutant("the last entry is left out", once("; q < n#;", "; q < n# - 1;"), WrongValue),
    ];
    let op = Op::ScatterSorted { axis: 0, kind: ScatterKind::Add };
    subject("scatter of sorted indices", op, vec![base, entries, updates], mutants)
}
