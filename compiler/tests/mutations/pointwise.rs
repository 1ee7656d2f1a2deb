//! Kernels without shared memory: guards, indices, and what a launch may touch.

use crate::bodies::{bias_relu, embedding};
use crate::mutants::{Expected::WrongValue, Subject, check, each, found, mutant, not_written, once, race, race_within};
use monograph_ir::interp::Tensor;
use monograph_ir::{
    DType,
    FindingKind::{Misaligned, OutOfBounds, ReadOnly},
};

#[test]
fn pointwise() {
    check("pointwise mutants", &subjects());
}

pub(crate) fn subjects() -> Vec<Subject> {
    vec![vectors(), scalars(), gather()]
}

/// 150 vectors of four in two blocks; the second operand is a row of 25.
fn vectors() -> Subject {
    let mutants = vec![
        mutant(
            "the guard ends one vector too late",
            once("if (n >= 150) return;", "if (n >= 151) return;"),
            found(OutOfBounds, &["mg_load<4>(x0 + i#)"]),
        ),
        mutant(
            "the guard ends one vector too early",
            once("if (n >= 150) return;", "if (n >= 149) return;"),
            not_written("y0", 596),
        ),
        mutant("there is no guard", once("if (n >= 150) return;", ""), found(OutOfBounds, &["mg_load<4>(x0 + i#)"])),
        mutant(
            "every other vector starts one element too early",
            once("mg_load<4>(x0 + i#)", "mg_load<4>(x0 + i# - n % 2)"),
            found(Misaligned, &["mg_load<4>(x0 + i# - n % 2)"]),
        ),
        mutant(
            "vectors are stored one element too late",
            once("mg_store<4>(y0 + i#", "mg_store<4>(y0 + i# - n % 2"),
            found(Misaligned, &["mg_store<4>(y0 + i# - n % 2"]),
        ),
        mutant(
            "the result goes to the input",
            once("mg_store<4>(y0 +", "mg_store<4>((float*)x0 +"),
            found(ReadOnly, &["mg_store<4>((float*)x0 +"]),
        ),
        mutant(
            "the output is read before it is written",
            once("mg_load<4>(x1 + i#)", "mg_load<4>(y0 + i#)"),
            race("mg_load<4>(y0 + i#)", "mg_store<4>(y0 + i#"),
        ),
        mutant(
            "eight threads store to one vector",
            once("mg_store<4>(y0 + i#", "mg_store<4>(y0 + i# / 32 * 4"),
            race_within("mg_store<4>(y0 + i# / 32 * 4"),
        ),
        mutant(
            "blocks overlap by one thread",
            once("blockIdx.x * 128u", "blockIdx.x * 127u"),
            race_within("mg_store<4>(y0 + i#"),
        ),
        mutant(
            "all blocks are the first",
            once("(unsigned)blockIdx.x * 128u", "0u"),
            race_within("mg_store<4>(y0 + i#"),
        ),
        mutant(
            "a pointer is null",
            once("mg_load<4>(x1 + i#)", "mg_load<4>((const float*)0 + i#)"),
            found(OutOfBounds, &["mg_load<4>((const float*)0 + i#)"]),
        ),
        mutant("the row is one vector too short", once("(unsigned)n % 25u", "(unsigned)n % 24u"), WrongValue),
        mutant("two lanes are swapped", once("q2.x[1]", "q2.x[2]"), WrongValue),
    ];
    Subject::new("vectors", bias_relu(DType::F32, 6, 100), 0.0, mutants)
}

/// 63 elements of a dtype that registers do not hold.
fn scalars() -> Subject {
    let mutants = vec![
        mutant("the guard ends too late", once("if (n >= 63)", "if (n >= 64)"), found(OutOfBounds, &["= x0[n]"])),
        mutant("the guard ends too early", once("if (n >= 63)", "if (n >= 62)"), not_written("y0", 62)),
        mutant("a row is read past its end", once("x1[i#]", "x1[i# + 1]"), found(OutOfBounds, &["= x1[i# + 1]"])),
        mutant(
            "an element behind the end is stored",
            once("y0[n] =", "y0[n + 1] ="),
            found(OutOfBounds, &["y0[n + 1]"]),
        ),
        mutant("the result has another dtype", once("mg_to_f16_bits(", "mg_to_bf16_bits("), WrongValue),
    ];
    Subject::new("scalars", bias_relu(DType::F16, 7, 9), 0.0, mutants)
}

/// 37 rows of a table of nine.
fn gather() -> Subject {
    let mutants = vec![
        mutant(
            "the index is not limited",
            once("(int)mg_limit<long long>(t#, 9ll)", "t#"),
            found(OutOfBounds, &["mg_load<4>(x0 + i#)"]),
        ),
        mutant(
            "the index is limited one too late",
            once("(int)mg_limit<long long>(t#, 9ll)", "(int)mg_limit<long long>(t#, 10ll)"),
            found(OutOfBounds, &["mg_load<4>(x0 + i#)"]),
        ),
        mutant("an index outside is taken for the last", each(4, "< 9ull ?", "< 10ull ?"), WrongValue),
        mutant(
            "an index is read past the end",
            once("= x1[i#]", "= x1[i# + 1]"),
            found(OutOfBounds, &["= x1[i# + 1]"]),
        ),
    ];
    let mut subject = Subject::new("gather", embedding(9, 8, 37), 0.0, mutants);
    // From one below the first row to one behind the last.
    subject.inputs[1] =
        Tensor::from_vec([37], (0..37).map(|i| i * 5 % 11 - 1).collect::<Vec<i32>>()).expect("37 indices");
    subject
}
