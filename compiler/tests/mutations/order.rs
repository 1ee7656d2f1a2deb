//! Scatters and scans: lists and totals in shared memory that are written anew in each turn of a loop.

use crate::bodies::{scan, scatter};
use crate::mutants::{Expected::WrongValue, Subject, check, found, mutant, nth, once, race, race_within};
use monograph_ir::interp::Tensor;
use monograph_ir::{
    FindingKind::{DivergentBarrier, InvalidMask, OutOfBounds, Timeout, Uninitialised},
    Reduction, ScatterKind,
};

#[test]
fn ordered() {
    check("ordered mutants", &subjects());
}

pub(crate) fn subjects() -> Vec<Subject> {
    vec![scatters(), scans()]
}

/// 150 indices in three turns of 64 threads; 50 of them have elements.
fn scatters() -> Subject {
    let mutants = vec![
        mutant(
            "the list is read before all have written",
            nth(0, 2, "__syncthreads();", ""),
            race("hits[w]", "hits[t / 32] = h#"),
        ),
        mutant(
            "the list is written before all have read",
            nth(1, 2, "__syncthreads();", ""),
            race("hits[w]", "hits[t / 32] = h#"),
        ),
        mutant(
            "threads that found nothing pass by the barrier",
            once("if (__syncthreads_or(found))", "if (found && __syncthreads_or(found))"),
            found(DivergentBarrier, &["__syncthreads_or(found)"]),
        ),
        mutant(
            "threads decide alone",
            once("if (__syncthreads_or(found))", "if (found)"),
            found(InvalidMask, &["__ballot_sync("]),
        ),
        mutant(
            "a lane is not in its mask",
            once("__ballot_sync(MG_ALL_LANES,", "__ballot_sync(0x7fffffffu,"),
            found(InvalidMask, &["__ballot_sync(0x7fffffffu,"]),
        ),
        mutant(
            "the barrier is within the loop over hits",
            nth(0, 2, "__syncthreads();", ""),
            race("hits[w]", "hits[t / 32] = h#"),
        )
        .and(once("m &= m - 1) {", "m &= m - 1) {\n__syncthreads();")),
        mutant("one index too many", once("mg_limit(i#, 150)", "mg_limit(i#, 151)"), found(OutOfBounds, &["= x1[i#]"])),
        mutant("one index too many is searched", once("i < 150;", "i < 151;"), found(OutOfBounds, &["= x1[i]"])),
        mutant("threads without an element store", once("if (c#) {", "{"), race_within("mg_store<4>(y0 + i#")),
        mutant("a list too many is read", once("w < 2;", "w < 3;"), found(OutOfBounds, &["hits[w]"])),
        mutant(
            "only one warp has a list",
            once("if (t % 32 == 0) hits", "if (t == 0) hits"),
            found(Uninitialised, &["hits[w]"]),
        ),
        mutant("a hit is never done", once("m &= m - 1)", "m &= m)"), found(Timeout, &["m &= m)"])),
        mutant(
            "the place is that of another block",
            once("p = z / 1u;", "p = z / 2u;"),
            race_within("mg_store<4>(y0 + i#"),
        ),
        mutant("hits are those of one warp", once("w * 32 + __ffs", "__ffs"), WrongValue),
    ];
    let mut subject = Subject::new("scatter", scatter(&[9, 200], 0, 150, ScatterKind::Add), 0.0, mutants);
    let indices: Vec<i32> = (0..150).map(|i| i * 7 % 11 - 1).collect();
    subject.inputs[1] = Tensor::from_vec([150], indices).expect("as many indices");
    subject
}

/// 325 vectors of four in two turns of 256 threads.
fn scans() -> Subject {
    let mutants = vec![
        mutant(
            "totals are read before all have written",
            nth(0, 2, "__syncthreads();", ""),
            race("totals[w]", "totals[t / 32] = a#"),
        ),
        mutant(
            "totals are written before all have read",
            nth(1, 2, "__syncthreads();", ""),
            race("totals[w]", "totals[t / 32] = a#"),
        ),
        mutant(
            "one warp waits for the totals",
            nth(0, 2, "__syncthreads();", "if (t < 32) __syncthreads();"),
            race("totals[w]", "totals[t / 32] = a#"),
        ),
        mutant(
            "the block waits at two barriers at once",
            nth(1, 2, "__syncthreads();", "if (t % 64 < 32) {\n__syncthreads();\n} else {\n__syncthreads();\n}"),
            found(DivergentBarrier, &["__syncthreads();"]),
        ),
        mutant(
            "half of the block leaves in the first turn",
            nth(1, 2, "__syncthreads();", "__syncthreads();\nif (t >= 128) return;"),
            found(DivergentBarrier, &["__syncthreads();"]),
        ),
        mutant(
            "a shuffle is only for lanes with elements",
            once("float o# = mg_shfl_up(a#, 2);", "float o#1 = 0.0f;\nif (c2) o#1 = mg_shfl_up(a#2, 2);"),
            found(DivergentBarrier, &["__syncthreads();", "mg_shfl_up("]),
        ),
        mutant(
            "there are too few totals",
            once("totals[8];", "totals[7];"),
            found(OutOfBounds, &["totals[t / 32] = a#"]),
        ),
        mutant("a total too many is read", once("w < 8;", "w < 9;"), found(OutOfBounds, &["totals[w]"])),
        mutant(
            "the last warp has no total",
            once("if (t % 32 == 31)", "if (t % 32 == 31 && t < 224)"),
            found(Uninitialised, &["totals[w]"]),
        ),
        mutant(
            "all lanes write the total",
            once("if (t % 32 == 31) totals", "totals"),
            race_within("totals[t / 32] = a#"),
        ),
        mutant("threads without elements store", once("if (c#) {", "{"), race_within("mg_store<4>(y0 + i#")),
        mutant("the total is that of another lane", once("t % 32 == 31", "t % 32 == 30"), WrongValue),
        mutant("a shuffle has another's distance", once("mg_shfl_up(a#, 4)", "mg_shfl_up(a#, 3)"), WrongValue),
    ];
    Subject::new("scan", scan(Reduction::Sum, &[2, 1300]), 2e-6, mutants)
}
