//! Global memory.

use crate::{Case, check, clean, defect};
use monograph_ir::FindingKind::{Misaligned, NotWritten, OutOfBounds, Race, ReadOnly, Uninitialised};

const CASES: &[Case] = &[
    clean("pointwise"),
    clean("in_place").written(),
    clean("constant_table"),
    clean("local_array"),
    clean("single_bytes").y(1000),
    clean("halves").y(2000),
    clean("vector_copy"),
    defect("read_behind", OutOfBounds),
    defect("write_behind", OutOfBounds),
    defect("no_guard", OutOfBounds),
    defect("read_in_front", OutOfBounds),
    defect("vector_read_behind", OutOfBounds),
    defect("vector_write_behind", OutOfBounds).y(3992),
    defect("wild_pointer", OutOfBounds),
    defect("wild_atomic_load", OutOfBounds).launch(1, 1).y(4),
    defect("wild_compare_exchange", OutOfBounds).launch(1, 1).y(4),
    defect("global_variable", OutOfBounds).launch(1, 32).y(128),
    defect("stack_of_another", OutOfBounds).launch(1, 32).y(128),
    defect("write_to_input", ReadOnly),
    defect("read_of_output", Uninitialised),
    defect("atomic_on_output", Uninitialised),
    defect("written_after_the_read", Uninitialised).launch(1, 64).y(8),
    defect("unwritten_tail", NotWritten),
    defect("unwritten_hole", NotWritten),
    defect("unwritten_byte", NotWritten).y(1000),
    defect("two_writers", Race),
    defect("two_writers_of_one_value", Race),
    defect("blocks_write_the_same", Race).y(1024),
    defect("read_of_the_next_block", Race),
    defect("index_from_the_next_block", Race).y(4096),
    defect("half_of_a_word", Race).y(2000),
    defect("misaligned_read", Misaligned),
    defect("misaligned_write", Misaligned),
    defect("shifted_f32_2", Misaligned),
    defect("shifted_f32_4", Misaligned),
    defect("shifted_f64_2", Misaligned),
    defect("shifted_i32_4", Misaligned),
    defect("shifted_i64_2", Misaligned),
    defect("shifted_u16_2", Misaligned),
    defect("shifted_u16_4", Misaligned),
    defect("shifted_u16_8", Misaligned),
    defect("shifted_u8_2", Misaligned),
    defect("shifted_u8_4", Misaligned),
    defect("shifted_u8_8", Misaligned),
    defect("shifted_u8_16", Misaligned),
    defect("shifted_bool_16", Misaligned),
];

#[test]
fn global_memory() {
    check(include_str!("memory.cu"), CASES);
}
