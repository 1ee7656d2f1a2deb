//! Seeded defects: each mutant of a generated kernel is found by the emulator, as what it is and where it is, under
//! every schedule; the kernels themselves are clean.

#[path = "../codegen/build.rs"]
#[expect(dead_code, reason = "shared with the tests of the code generator, which need more of it")]
mod build;
#[path = "../codegen/emulate.rs"]
mod emulate;

mod barriers;
mod bodies;
mod mutants;
mod order;
mod pattern;
mod pointwise;
mod products;
mod rows;
mod sorting;
mod waits;
