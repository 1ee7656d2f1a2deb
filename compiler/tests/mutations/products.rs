//! Matrix products: slices in shared memory, buffers in turns, asynchronous copies, fragments of tensor cores.

use crate::bodies::product;
use crate::mutants::{
    Expected::WrongValue, Subject, check, conflict, each, found, mutant, not_written, nth, once, race, race_within,
};
use monograph_ir::{
    DType,
    FindingKind::{DivergentBarrier, Misaligned, OutOfBounds, PendingCopy, Uninitialised},
};

#[test]
fn products() {
    check("product mutants", &subjects());
}

pub(crate) fn subjects() -> Vec<Subject> {
    vec![narrow_inner(), narrow_outer(), tiled(), copied(), loaded()]
}

/// Two rows; a block shares the inner dimension of one column.
fn narrow_inner() -> Subject {
    let mutants = vec![
        mutant("the barrier is missing", once("__syncthreads();", ""), race("sum = ", "s[t / 32 % 8 * 2")),
        mutant("one unit too many", once("u < 25", "u < 26"), found(OutOfBounds, &["mg_load<4>(x#"])),
        mutant("one result too few", once("e < 2", "e < 1"), not_written("y0", 70)),
        mutant("one result too many", once("e < 2", "e < 3"), found(OutOfBounds, &["s[w * 2 + e]"])),
        mutant(
            "only the first warp stores its part",
            once("if (t % 32 == 0)", "if (t == 0)"),
            found(Uninitialised, &["s[w * 2 + e]"]),
        ),
        mutant(
            "the shared array is too short",
            once("float s[16];", "float s[15];"),
            found(OutOfBounds, &["s[t / 32 % 8 * 2"]),
        ),
        mutant(
            "operands are multiplied twice",
            once("c0_0 = mg_fma(t10, t11, c0_0)", "c0_0 = mg_fma(t3, t6, c0_0)"),
            WrongValue,
        ),
    ];
    Subject::new("narrow along the inner dimension", product(DType::F32, [2, 70, 100], [false, true]), 1e-6, mutants)
}

/// Two rows; a block has 16 columns, the last six.
fn narrow_outer() -> Subject {
    let mutants = vec![
        mutant("the barrier is missing", once("__syncthreads();", ""), race("sum = ", "s[t / 32 * 32")),
        mutant("lanes store the same part", once("t % 32 < 8", "t % 32 < 9"), race_within("s[t / 32 * 32")),
        mutant(
            "one column too many",
            once("if (p < 70)", "if (p < 71)"),
            // The first row's is an element of the second row, the second row's is behind the end.
            race_within("y0[i#] = sum").or(found(OutOfBounds, &["y0[i#] = sum"])),
        ),
        mutant(
            "a shuffle has a distance within the unit",
            once("mg_shfl_xor(c0_0, 16)", "mg_shfl_xor(c0_0, 4)"),
            WrongValue,
        ),
    ];
    Subject::new("narrow along the outer dimension", product(DType::F32, [2, 70, 100], [false, false]), 1e-6, mutants)
}

/// Tiles of 32 x 32 from slices of 64, which take turns in two buffers.
fn tiled() -> Subject {
    let mutants = vec![
        mutant(
            "the barrier behind the first slice is missing",
            nth(0, 2, "__syncthreads();", ""),
            race("mg_load<2>(s", "[i#] = t#"),
        ),
        mutant(
            "the barrier behind each slice is missing",
            nth(1, 2, "__syncthreads();", ""),
            race("mg_load<2>(s", "[i#] = t#"),
        ),
        mutant(
            "half of the block passes by the barrier behind each slice",
            nth(1, 2, "__syncthreads();", "if (t < 128) __syncthreads();"),
            race("mg_load<2>(s", "[i#] = t#"),
        ),
        mutant(
            "the next slice is stored where the one in use lies",
            each(8, " + i# * 2304", " + (i# + 1) % 2 * 2304"),
            race("mg_load<2>(s", "[i#] = t#"),
        ),
        mutant(
            "a row too many is loaded",
            each(8, "mg_limit(i#, 33)", "mg_limit(i#, 34)"),
            found(OutOfBounds, &["mg_load<2>(x0 + i#)"]),
        ),
        mutant("a row too many is stored", each(2, "g# < 33", "g# < 34"), found(OutOfBounds, &["mg_store<2>(y0 + i#"])),
        mutant("a row too few is stored", each(2, "g# < 33", "g# < 32"), not_written("y0", 32 * 36)),
        mutant(
            "a pair of columns too many is stored",
            each(2, "g# < 18", "g# < 19"),
            // The last row's is behind the end, that of another row is the first of the next.
            race_within("mg_store<2>(y0 + i#").or(found(OutOfBounds, &["mg_store<2>(y0 + i#"])),
        ),
        mutant(
            "lines of shared memory are one element too short",
            once("sa + ((int)(s % 2) * 64 + k) * 36", "sa + ((int)(s % 2) * 64 + k) * 35"),
            found(Misaligned, &["mg_load<2>(sa +"]),
        ),
        mutant(
            "lines of shared memory are too long",
            once("sb + ((int)(s % 2) * 64 + k) * 36", "sb + ((int)(s % 2) * 64 + k) * 38"),
            // The last lines are in the other buffer, where the next slice is stored meanwhile.
            race("mg_load<2>(sb +", "sb[i#] = t#"),
        ),
        mutant(
            "an element of a slice is not stored",
            once("sb[i#] = t103;", "if (t != 40) sb[i#] = t103;"),
            found(Uninitialised, &["mg_load<2>(sb +"]),
        ),
        mutant("a sum does not start at zero", once("c0_0 = 0,", "c0_0 = 1,"), WrongValue),
        mutant(
            "a fragment has another's element",
            once("mg_fma(a0.x[0], b0.x[1]", "mg_fma(a0.x[1], b0.x[1]"),
            WrongValue,
        ),
        mutant("the inner dimension ends too late", once("i# < 65", "i# < 66"), WrongValue),
        mutant(
            "tiles are in the wrong order",
            once("gm = z / 2u % 2u", "gm = z % 2u"),
            race_within("mg_store<2>(y0 + i#"),
        ),
    ];
    Subject::new("tiled", product(DType::F32, [33, 36, 130], [false, true]), 1e-6, mutants)
}

/// Five slices, copied three ahead into a ring of four. What a copy overwrites while it is in use is a pending copy to
/// the thread that has issued it and a race to all others: where a thread uses elements of both, the schedule decides
/// which comes first.
fn copied() -> Subject {
    const USE: &str = "mg_ldmatrix(";
    const COPY: &str = "mg_async_copy<16>(";
    let pending = || conflict(PendingCopy, USE, COPY);
    let mutants = vec![
        mutant("nothing is waited for", once("mg_async_wait<2>();", ""), pending()),
        mutant("one group too few is waited for", once("mg_async_wait<2>();", "mg_async_wait<3>();"), pending()),
        mutant("a slice before the loop is not committed", nth(2, 4, "mg_async_commit();", ""), pending()),
        mutant("slices of the loop are not committed", nth(3, 4, "mg_async_commit();", ""), pending()),
        mutant("the barrier is missing", once("__syncthreads();", ""), race(USE, COPY)),
        mutant(
            "the barrier comes before the wait",
            once("mg_async_wait<2>();\n        __syncthreads();", "__syncthreads();\n        mg_async_wait<2>();"),
            pending(),
        ),
        mutant(
            "half of the block passes by the barrier once",
            once("__syncthreads();", "if (s != 1 || t < 128) __syncthreads();"),
            race(USE, COPY),
        ),
        mutant(
            "a slice is copied to where the one in use lies",
            once("int n = s + 3;", "int n = s + 4;"),
            pending().or(race(USE, COPY)),
        ),
        mutant(
            "the ring is shorter for copies than for uses",
            each(2, "(unsigned)n % 4u", "(unsigned)n % 3u"),
            pending().or(race(USE, COPY)),
        ),
        mutant(
            "the first buffer is used for all slices",
            once("pa + i# +", "pa + 0 * i# +"),
            pending().or(race("mg_ldmatrix(a", "mg_async_copy<16>(sa")),
        ),
        mutant(
            "two slices are copied to one buffer",
            once("mg_async_copy<16>(sa + 1024 +", "mg_async_copy<16>(sa + 0 +"),
            conflict(PendingCopy, "mg_async_copy<16>(sa + 0 +", "mg_async_copy<16>(sa + 0 +"),
        ),
        mutant(
            "a copy starts one element too late",
            nth(0, 3, "x0 + i#, 16u", "x0 + i# + 1, 16u"),
            found(Misaligned, &["mg_async_copy<16>(sa"]),
        ),
        mutant(
            "a copy reads past the end",
            each(2, "c# ? 16u : 0u", "16u"),
            found(OutOfBounds, &["mg_async_copy<16>(s"]),
        )
        .and(each(2, "mg_limit(i#, 17)", "i#")),
        mutant("what lies outside is not zero", each(2, "c# ? 16u : 0u", "16u"), WrongValue),
        mutant("the second half of a fragment comes first", once("b0[0], b0[1]", "b0[1], b0[0]"), WrongValue),
        mutant(
            "both fragments are of one operand",
            once("mg_ldmatrix(a0, pa + i#", "mg_ldmatrix(a0, pb + 2 * i#"),
            WrongValue,
        ),
        mutant("a fragment is transposed", once("mg_ldmatrix(a", "mg_ldmatrix_trans(a"), WrongValue),
        mutant("a sum does not start at zero", once("float c0_1[4] = {0.0f", "float c0_1[4] = {1.0f"), WrongValue),
        mutant(
            "a sum does not start at all",
            once("float c0_1[4] = {0.0f, 0.0f, 0.0f, 0.0f};", "float c0_1[4];"),
            WrongValue,
        ),
        mutant("a row too many is stored", each(2, "g# < 40", "g# < 41"), found(OutOfBounds, &["mg_store<2>(y0 + i#"])),
        mutant(
            "a warp does not load its fragment",
            once("mg_ldmatrix(a", "if (t >= 32 || s != 2) mg_ldmatrix(a"),
            WrongValue,
        ),
        mutant(
            "a lane passes by a load that is followed by another",
            once("mg_ldmatrix(b0", "if (t != 37) mg_ldmatrix(b0"),
            found(DivergentBarrier, &["mg_ldmatrix(b0", "mg_ldmatrix(a0"]),
        ),
        mutant(
            "a lane passes by a load that is followed by a product",
            once("mg_ldmatrix(a0", "if (t != 37) mg_ldmatrix(a0"),
            found(DivergentBarrier, &["mg_ldmatrix(a0", "mg_mma_f16(c0_0"]),
        ),
        mutant(
            "a lane takes no part in a product",
            once("mg_mma_f16(c0_0", "if (t != 37) mg_mma_f16(c0_0"),
            found(DivergentBarrier, &["mg_mma_f16(c0_0", "mg_mma_f16(c0_1"]),
        ),
        mutant(
            "rows of a matrix begin between multiples of 16 bytes",
            once("mg_ldmatrix(a0, pa + i#", "mg_ldmatrix(a0, pa + 4 + i#"),
            found(Misaligned, &["mg_ldmatrix(a0"]),
        ),
    ];
    Subject::new("copied", product(DType::F16, [40, 72, 136], [false, true]), 1e-3, mutants)
}

/// Four slices, loaded into registers, then stored in one of two buffers.
fn loaded() -> Subject {
    let mutants = vec![
        mutant("the barrier is missing", once("__syncthreads();", ""), race("mg_ldmatrix_trans(b", "sb[")),
        mutant(
            "the first buffer is used for all slices",
            once("pa + i# +", "pa + 0 * i# +"),
            race("mg_ldmatrix(a", "mg_store<4>(sa +"),
        ),
        mutant(
            "half of a slice is not stored",
            nth(1, 2, "mg_store<4>(sa + ", "if (t < 128) mg_store<4>(sa + "),
            found(Uninitialised, &["mg_ldmatrix(a"]),
        ),
    ];
    Subject::new("loaded", product(DType::F16, [40, 33, 100], [false, false]), 1e-3, mutants)
}
