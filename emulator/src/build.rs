//! Building executables from the runtime and programs.

use crate::compiler::{Compiler, Unit};
use crate::debugger::{self, Debugging};
use crate::image::{self, Image};
use crate::jobs::{Job, Workshop};
use crate::limits::DYNAMIC_BYTES;
use crate::lines::PROGRAM;
use crate::options::EmulatorOptions;
use crate::sources;
use crate::store::{Key, Store, unusable};
use monograph_ir::Error;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A program to compile.
pub(crate) struct Source<'a> {
    /// Its name for messages.
    pub(crate) name: &'a str,
    /// CUDA C++.
    pub(crate) text: &'a str,
    /// The kernels in it that will be launched.
    pub(crate) symbols: Vec<&'a str>,
}

/// A built executable.
#[derive(Debug)]
pub(crate) struct Executable {
    pub(crate) path: PathBuf,
    pub(crate) image: Image,
    /// Where it is meant for a debugger.
    pub(crate) debugging: Option<Debugging>,
}

/// Compiles what is not in the store, and links.
pub(crate) fn build(
    compiler: &Compiler,
    store: &Store,
    options: &EmulatorOptions,
    programs: &[Source<'_>],
) -> Result<Executable, Error> {
    for symbol in programs.iter().flat_map(|p| &p.symbols) {
        check_symbol(symbol)?;
    }
    let mut jobs = Vec::new();
    for program in programs {
        jobs.push(Job {
            what: format!("the program `{}`", program.name),
            unit: Unit::Program,
            file: "unit.cpp".into(),
            text: unit(program),
            folder: if options.debugger { Some(debugger::folder(store, program)?) } else { None },
        });
    }
    jobs.extend(sources::units().map(|(file, text)| Job {
        what: format!("the emulator's own file {file}"),
        unit: if file == sources::TYPES { Unit::Types } else { Unit::Runtime },
        file: file.into(),
        text: text.into(),
        folder: None,
    }));
    let workshop = Workshop::new(compiler, store, *options);
    let mut objects = workshop.compile(&jobs)?;
    let (of_programs, of_runtime) = objects.split_at(programs.len());
    let (dynamic, defined) = shared(of_programs, of_runtime)?;
    if !dynamic.is_empty() {
        objects.extend(workshop.compile(&[Job {
            what: "the definition of dynamic shared memory".into(),
            unit: Unit::Assembly,
            file: "dynamic.s".into(),
            text: definition(&dynamic),
            folder: None,
        }])?);
    }
    let mut key = Key::new("executable");
    key.add(compiler.identity());
    let mut paths: Vec<&Path> = Vec::new();
    for object in &objects {
        // The name of an object is the hash of everything in it.
        key.add(object.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default());
        // Equal programs, or two that differ in name alone, are one object.
        if !paths.contains(&object.as_path()) {
            paths.push(object);
        }
    }
    let path = store.file(&key.name("exe"), |path| compiler.link(&paths, path))?;
    let bytes = fs::read(&path).map_err(|e| unusable(&path, &e))?;
    let kernels: Vec<&str> = programs.iter().flat_map(|p| p.symbols.iter().copied()).collect();
    let image = Image::read(&bytes, dynamic.first().map(String::as_str), &defined, &kernels)?;
    let debugging = if options.debugger { Some(Debugging::new(store, &kernels)?) } else { None };
    Ok(Executable { path, image, debugging })
}

/// Kernels are named to the compiler and to the child, so their names must be names.
fn check_symbol(symbol: &str) -> Result<(), Error> {
    let starts = symbol.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts && symbol.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return Ok(());
    }
    Err(Error::Toolchain { message: format!("`{symbol}` is no name that a kernel can have in CUDA C++") })
}

/// The translation unit of a program.
fn unit(program: &Source<'_>) -> String {
    let registrations: String = program.symbols.iter().map(|s| format!("EMU_KERNEL({s})\n")).collect();
    let text = program.text;
    format!(
        "#include \"cuda.h\"\n#include \"memory_functions.h\"\n#line 1 \"{PROGRAM}\"\n{text}\n#line 1 \"kernels\"\n{registrations}"
    )
}

/// The shared arrays of programs: those declared `extern`, which they leave undefined and the runtime does not define,
/// and those that they define.
fn shared(programs: &[PathBuf], runtime: &[PathBuf]) -> Result<(Vec<String>, BTreeSet<String>), Error> {
    let symbols = |objects: &[PathBuf], of: fn(&[u8]) -> Result<Vec<String>, Error>| {
        let mut all = BTreeSet::new();
        for object in objects {
            all.extend(of(&fs::read(object).map_err(|e| unusable(object, &e))?)?);
        }
        Ok::<_, Error>(all)
    };
    let mut dynamic = symbols(programs, image::undefined)?;
    if !dynamic.is_empty() {
        for defined in symbols(runtime, image::defined)? {
            dynamic.remove(&defined);
        }
    }
    Ok((dynamic.into_iter().collect(), symbols(programs, image::defined)?))
}

/// Assembly text that defines these symbols, all at one address, with room for what any device gives. The alignment is
/// the greatest that a device needs of shared memory (of targets of bulk copies with a swizzle).
fn definition(symbols: &[String]) -> String {
    let mut text = String::from("    .section .tbss,\"awT\",%nobits\n    .balign 1024\n");
    for symbol in symbols {
        text += &format!("    .globl {symbol}\n    .type {symbol}, %tls_object\n    .size {symbol}, {DYNAMIC_BYTES}\n");
    }
    symbols.iter().for_each(|symbol| text += &format!("{symbol}:\n"));
    text + &format!("    .zero {DYNAMIC_BYTES}\n    .section .note.GNU-stack,\"\",%progbits\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_text_is_in_its_unit_byte_for_byte() {
        let source = Source { name: "p", text: "a\n\tb", symbols: vec!["f", "g"] };
        let expected = "#line 1 \"program\"\na\n\tb\n#line 1 \"kernels\"\nEMU_KERNEL(f)\nEMU_KERNEL(g)\n";
        assert!(unit(&source).ends_with(expected));
    }

    #[test]
    fn kernels_have_names() {
        assert!(check_symbol("add_0f").is_ok() && check_symbol("_a").is_ok());
        for symbol in ["", "1a", "a b", "a)", "é", "a\n"] {
            assert!(check_symbol(symbol).is_err(), "{symbol:?}");
        }
    }
}
