//! Programs that do not compile, and what the compiler says to their authors.
//!
//! `TRYBUILD=overwrite cargo test --test compile_fail` writes the messages anew.

#[test]
fn messages() {
    // Needs cargo and the sources: not on a machine that was only handed the binaries.
    if std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui").is_dir() {
        trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
    } else {
        println!("skipped: the sources are not on this machine");
    }
}
