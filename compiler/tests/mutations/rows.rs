//! Reductions: threads of a row meet in shuffles and in shared memory.

use crate::bodies::{argmax, layer_norm, softmax, sum};
use crate::mutants::{
    Expected::WrongValue, Subject, check, each, found, mutant, not_written, nth, once, race, race_within,
};
use monograph_ir::{
    Extreme,
    FindingKind::{DivergentBarrier, InvalidMask, OutOfBounds, Uninitialised},
};

#[test]
fn rows() {
    check("row mutants", &subjects());
}

pub(crate) fn subjects() -> Vec<Subject> {
    vec![threads(), warps(), blocks(), columns(), two_passes(), two_outputs(), two_arrays()]
}

/// A thread a row.
fn threads() -> Subject {
    let mutants = vec![
        mutant("one row too many", once("if (r >= 150)", "if (r >= 151)"), found(OutOfBounds, &["= x0[i#]"])),
        mutant("one row too few", once("if (r >= 150)", "if (r >= 149)"), not_written("y0", 149)),
        mutant("an element is read twice", once("r * 5 + 4;", "r * 5 + 3;"), WrongValue),
        mutant("a sum does not start at zero", once("float a2 = 0.0f;", "float a2 = 1.0f;"), WrongValue),
        mutant("a sum does not start at all", once("float a2 = 0.0f;", "float a2;"), WrongValue),
    ];
    Subject::new("a thread a row", sum(&[150, 5], &[1]), 1e-6, mutants)
}

/// A warp a row, four rows a block.
fn warps() -> Subject {
    let mutants = vec![
        mutant("a shuffle has another's distance", once("mg_shfl_xor(a#, 16)", "mg_shfl_xor(a#, 8)"), WrongValue),
        mutant(
            "a shuffle is in a divergent branch",
            once("float o# = mg_shfl_xor(a#, 16);", "float o#1 = 0.0f;\nif (t < 16) o#1 = mg_shfl_xor(a#2, 16);"),
            found(InvalidMask, &["mg_shfl_xor(a#, 1)"]),
        ),
        mutant(
            "a lane has left before a shuffle",
            once("if (r >= 6) return;", "if (r >= 6 || t == 31) return;"),
            found(InvalidMask, &["mg_shfl_xor(a#, 16)"]),
        ),
        mutant(
            "the mask has half of the lanes that come",
            once("mg_shfl_xor(a#, 16)", "__shfl_xor_sync(0xffffu, a#, 8)"),
            found(InvalidMask, &["__shfl_xor_sync(0xffffu, a#, 8)"]),
        ),
        mutant(
            "a shuffle asks for a lane outside of the mask",
            once(
                "float o# = mg_shfl_xor(a#, 16);",
                "float o#1 = 0.0f;\nif (t < 16) o#1 = __shfl_xor_sync(0xffffu, a#2, 16);",
            ),
            found(InvalidMask, &["__shfl_xor_sync(0xffffu, a#, 16)"]),
        ),
        mutant(
            "lanes come with different masks",
            once("mg_shfl_xor(a#, 16)", "__shfl_xor_sync(t < 16 ? 0xffffffffu : 0xfffffffeu, a#, 16)"),
            found(InvalidMask, &["__shfl_xor_sync(t < 16"]),
        ),
        mutant(
            "lanes meet in a shuffle and in a barrier of the warp",
            once(
                "float o# = mg_shfl_xor(a#, 16);",
                "float o#1 = 0.0f;\nif (t < 16) __syncwarp(); else o#1 = mg_shfl_xor(a#2, 16);",
            ),
            found(DivergentBarrier, &["mg_shfl_xor(a#, 16)"]),
        ),
        mutant("a guard counts an element twice", once("i# < 50;", "i# < 51;"), WrongValue),
        mutant("all lanes store", once("if (t == 0) {", "{"), race_within("y0[r] = a#")),
        mutant("one row too few", once("if (r >= 6)", "if (r >= 5)"), not_written("y0", 5)),
        mutant("one row too many", once("if (r >= 6)", "if (r >= 7)"), found(OutOfBounds, &["mg_load<2>(x0 + i#)"])),
        mutant(
            "lanes exchange in shared memory without a barrier",
            once(
                "float o# = mg_shfl_xor(a#, 16);",
                "__shared__ float lanes[4][32];\nlanes[threadIdx.y][t] = a#2;\nfloat o#1 = lanes[threadIdx.y][t ^ 16];",
            ),
            race("= lanes[threadIdx.y][t ^ 16]", "lanes[threadIdx.y][t] = a#"),
        ),
        mutant(
            "a shuffle stands where a barrier of the warp should",
            once(
                "float o# = mg_shfl_xor(a#, 16);",
                "__shared__ float lanes[4][32];\nlanes[threadIdx.y][t] = a#2;\nfloat o#1 = mg_shfl_xor(a#2, 16);\n\
                 o#1 += lanes[threadIdx.y][t ^ 8];",
            ),
            race("+= lanes[threadIdx.y][t ^ 8]", "lanes[threadIdx.y][t] = a#"),
        ),
    ];
    let mut subject = Subject::new("a warp a row", sum(&[6, 100], &[1]), 1e-6, mutants);
    subject.target.multiprocessors = 1;
    subject
}

/// A block a row.
fn blocks() -> Subject {
    let mutants = vec![
        mutant("there is no barrier", once("__syncthreads();", ""), race("a# = s#[t % 8]", "s#[t / 32] = a#")),
        mutant(
            "the barrier is one of a warp",
            once("__syncthreads();", "__syncwarp();"),
            race("a# = s#[t % 8]", "s#[t / 32] = a#"),
        ),
        mutant(
            "the barrier is in the branch before it",
            once("    }\n    __syncthreads();", "        __syncthreads();\n    }"),
            race("a# = s#[t % 8]", "s#[t / 32] = a#"),
        ),
        mutant(
            "there are two barriers where one should be",
            once("__syncthreads();", "if (t < 128) {\n__syncthreads();\n} else {\n__syncthreads();\n}"),
            found(DivergentBarrier, &["__syncthreads();"]),
        ),
        mutant(
            "a warp returns before the barrier",
            once("__syncthreads();", "if (t >= 224) return;\n__syncthreads();"),
            found(DivergentBarrier, &["__syncthreads();"]),
        ),
        mutant(
            "a lane returns before the barrier",
            once("__syncthreads();", "if (t == 77) return;\n__syncthreads();"),
            found(DivergentBarrier, &["__syncthreads();"]),
        ),
        mutant(
            "a warp stores nothing",
            once("if (t % 32 == 0) {", "if (t % 32 == 0 && t != 32) {"),
            found(Uninitialised, &["a# = s#[t % 8]"]),
        ),
        mutant(
            "the shared array is too short",
            once("float s#[8];", "float s#[7];"),
            found(OutOfBounds, &["s#[t / 32] = a#"]),
        ),
        mutant("two warps store to one element", once("s#[t / 32] =", "s#[t / 64] ="), race_within("s#[t / 64] = a#")),
        mutant(
            "the last shuffles have one distance",
            nth(1, 2, "mg_shfl_xor(a#, 4)", "mg_shfl_xor(a#, 2)"),
            WrongValue,
        ),
        mutant("the row is of another block", once("r = blockIdx.x;", "r = 0;"), race_within("y0[r] = a#")),
        mutant(
            "the row is behind the last",
            once("r = blockIdx.x;", "r = blockIdx.x + 1;"),
            found(OutOfBounds, &["= x0[i#]"]),
        ),
        mutant("the last unit is not limited", once("mg_limit(i#, 1025)", "i#"), found(OutOfBounds, &["= x0[i#]"])),
    ];
    Subject::new("a block a row", sum(&[2, 1025], &[1]), 1e-6, mutants)
}

/// Blocks of eight rows, of which the last lacks three.
fn columns() -> Subject {
    let mutants = vec![
        mutant(
            "there is no barrier",
            once("__syncthreads();", ""),
            race("s#[k# * 8 + threadIdx.x]", "s#[t * 8 + threadIdx.x] = a#"),
        ),
        mutant(
            "threads without a row return before the barrier",
            once("r = live ? r : 36;", "if (!live) return;"),
            found(DivergentBarrier, &["__syncthreads();"]),
        ),
        mutant("threads without a row store", once("t == 0 && live", "t == 0"), race_within("y0[r] = a#")),
        mutant("one part too many", once("k# < 32", "k# < 33"), found(OutOfBounds, &["s#[k# * 8 + threadIdx.x]"])),
        mutant(
            "the parts overlap",
            once("s#[t * 8 + threadIdx.x] =", "s#[t * 7 + threadIdx.x] ="),
            race_within("s#[t * 7 + threadIdx.x] = a#"),
        ),
        mutant(
            "what does not exist is loaded, and not used",
            once("mg_limit(i#, 40)", "i#"),
            found(OutOfBounds, &["= x0[i#]"]),
        ),
        mutant("a row too many is live", once("live = r < 37", "live = r < 38"), found(OutOfBounds, &["= x0[i#]"])),
    ];
    Subject::new("columns", sum(&[40, 37], &[0]), 1e-6, mutants)
}

/// Two reductions, one after the other.
fn two_passes() -> Subject {
    let mutants = vec![
        mutant(
            "the first barrier is missing",
            nth(0, 2, "__syncthreads();", ""),
            race("a1 = s#[t % 4]", "s#[t / 32] = a1"),
        ),
        mutant(
            "the second barrier is missing",
            nth(1, 2, "__syncthreads();", ""),
            race("a# = s#[t % 4]", "s#[t / 32] = a#"),
        ),
        mutant(
            "both passes use one array",
            nth(0, 2, "__shared__ float s#[4];", "__shared__ float s#1[4];\nfloat* scratch = s#1;"),
            race("a1 = s#[t % 4]", "s#[t / 32] = a28"),
        )
        .and(nth(1, 2, "__shared__ float s#[4];", "float* s# = scratch;")),
        mutant("threads without a unit store", once("if (c#) {", "{"), race_within("mg_store<4>(y0 + i#")),
        mutant(
            "what does not exist is loaded, and not used",
            once("mg_limit(i#, 250)", "i#"),
            found(OutOfBounds, &["mg_load<4>(x0 + i#)"]),
        ),
        mutant(
            "one unit too many is loaded, and not used",
            once("mg_limit(i#, 250)", "mg_limit(i#, 251)"),
            found(OutOfBounds, &["mg_load<4>(x0 + i#)"]),
        ),
        mutant(
            "the sum is of elements that do not exist too",
            each(4, "= c# ? mg_add(", "= true + 0 * c# ? mg_add("),
            WrongValue,
        ),
    ];
    Subject::new("softmax", softmax(&[2, 1000]), 2e-6, mutants)
}

/// Two reductions and two outputs.
fn two_outputs() -> Subject {
    let mutants = vec![
        mutant(
            "the first barrier is missing",
            nth(0, 2, "__syncthreads();", ""),
            race("a1 = s#[t % 4]", "s#[t / 32] = a1"),
        ),
        mutant(
            "the second barrier is missing",
            nth(1, 2, "__syncthreads();", ""),
            race("a# = s#[t % 4]", "s#[t / 32] = a#"),
        ),
        mutant("a warp too many stores", once("if (t == 0) {", "if (t % 64 == 0) {"), race_within("y1[r] =")),
        mutant("nobody stores", once("if (t == 0) {", "if (t == 128) {"), not_written("y1", 0)),
        mutant("a thread does not store", once("if (c#) {", "if (c# && t != 2) {"), not_written("y0", 8)),
        mutant("outputs are swapped", once("y1[r] = t#", "y0[r] = t#"), race("y0[r] = t#", "mg_store<4>(y0 + i#")),
    ];
    Subject::new("layer norm", layer_norm(3, 300), 3e-6, mutants)
}

/// Partial results in two arrays: values and places.
fn two_arrays() -> Subject {
    let mutants = vec![
        mutant("the barrier is missing", once("__syncthreads();", ""), race("a1 = s#[t % 4]", "s#[t / 32] = a1")),
        mutant(
            "the places are stored behind the barrier",
            once(
                "s#[t / 32] = p2;\n    }\n    __syncthreads();",
                "}\n    __syncthreads();\nif (t % 32 == 0) s#[t / 32] = p2;",
            ),
            race("p2 = s#[t % 4]", "s#[t / 32] = p2"),
        ),
        mutant("no places are stored", once("s#[t / 32] = p2;", ""), found(Uninitialised, &["p2 = s#[t % 4]"])),
        mutant("an element has the place of another", once("i# * 4 + 3;", "i# * 4 + 2;"), WrongValue),
        mutant("the smallest is found", each(14, "mg_argmax_before(", "mg_argmin_before("), WrongValue),
    ];
    Subject::new("argmax", argmax(Extreme::Max, &[8, 300]), 0.0, mutants)
}
