//! What an executable's symbol table says about shared arrays.
//!
//! `__shared__` is `thread_local` for the C++ compiler, so a shared array is a symbol of thread-local storage, and its
//! distance from a symbol of the runtime's is the same wherever the storage lies.

use monograph_ir::Error;
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endian, Endianness, Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::collections::{BTreeSet, HashMap};

/// The runtime's symbol that distances are relative to.
const ORIGIN: &str = "emu_shared_origin";

/// A shared array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SharedArray {
    /// The kernel it is local to; `None` for those of other functions, which any kernel may call, and of no function.
    kernel: Option<String>,
    /// Its name in the source.
    pub(crate) name: String,
    /// Bytes from the origin.
    pub(crate) delta: i64,
    /// Its size.
    pub(crate) bytes: u64,
}

/// The shared arrays of an executable.
#[derive(Debug)]
pub(crate) struct Image {
    arrays: Vec<SharedArray>,
    dynamic: Option<i64>,
    /// How many parameters each kernel takes.
    parameters: HashMap<String, u32>,
}

impl Image {
    /// Reads an executable. `dynamic` is the symbol of dynamic shared memory, if there is any, and `of_programs` are the
    /// symbols of thread-local storage that programs define.
    pub(crate) fn read(
        executable: &[u8],
        dynamic: Option<&str>,
        of_programs: &BTreeSet<String>,
        kernels: &[&str],
    ) -> Result<Image, Error> {
        let symbols = thread_local(executable)?;
        let address = |wanted: &str| symbols.iter().find(|s| s.defined && s.name == wanted).map(|s| s.address as i64);
        let origin = address(ORIGIN).ok_or_else(|| Error::Internal(format!("the runtime has no `{ORIGIN}`")))?;
        let mut arrays: Vec<SharedArray> = symbols
            .iter()
            .filter(|s| s.defined && s.bytes > 0 && of_programs.contains(&s.name))
            .filter_map(|s| {
                let (function, name) = array(&s.name)?;
                let kernel = function.filter(|f| kernels.contains(f)).map(String::from);
                Some(SharedArray { kernel, name: name.into(), delta: s.address as i64 - origin, bytes: s.bytes })
            })
            .collect();
        arrays.sort_by_key(|a| a.delta);
        let parameters = parameters(executable, kernels)?;
        Ok(Image { arrays, dynamic: dynamic.and_then(address).map(|a| a - origin), parameters })
    }

    /// How many parameters a kernel takes, if it is known.
    pub(crate) fn parameters(&self, kernel: &str) -> Option<u32> {
        self.parameters.get(kernel).copied()
    }

    /// Bytes of the shared arrays that are a kernel's own.
    pub(crate) fn static_bytes(&self, kernel: &str) -> u64 {
        self.arrays.iter().filter(|a| a.kernel.as_deref() == Some(kernel)).map(|a| a.bytes).sum()
    }

    /// The arrays that a launch of a kernel may touch: its own, those that are no kernel's, and dynamic memory of that
    /// size.
    pub(crate) fn arrays(&self, kernel: &str, dynamic: u64) -> Vec<SharedArray> {
        let own = self.arrays.iter().filter(|a| a.kernel.as_deref().is_none_or(|k| k == kernel)).cloned();
        let dynamic = self.dynamic.filter(|_| dynamic > 0).map(|delta| SharedArray {
            kernel: None,
            name: "dynamic".into(),
            delta,
            bytes: dynamic,
        });
        own.chain(dynamic).collect()
    }
}

/// Symbols of thread-local storage that an object uses and does not define: `extern __shared__` arrays, and the
/// runtime's own.
pub(crate) fn undefined(object: &[u8]) -> Result<Vec<String>, Error> {
    Ok(thread_local(object)?.into_iter().filter(|s| !s.defined).map(|s| s.name).collect())
}

/// Symbols of thread-local storage that an object defines for others.
pub(crate) fn defined(object: &[u8]) -> Result<Vec<String>, Error> {
    Ok(thread_local(object)?.into_iter().filter(|s| s.defined).map(|s| s.name).collect())
}

/// Where `EmuKernel` of `device.h` says how many parameters a kernel takes, behind two pointers.
const PARAMETERS: u64 = 16;

/// How many parameters kernels take: what `EMU_KERNEL` put into the section of all kernels.
fn parameters(executable: &[u8], kernels: &[&str]) -> Result<HashMap<String, u32>, Error> {
    let file = ElfFile::<FileHeader64<Endianness>>::parse(executable).map_err(unreadable)?;
    let Some(section) = file.section_by_name("emu_kernels") else { return Ok(HashMap::new()) };
    let names = kernels.iter().map(|kernel| (format!("_ZL{}emu_kernel_{kernel}", 11 + kernel.len()), *kernel));
    let names: HashMap<String, &str> = names.collect();
    let number = |address: u64| -> Option<u32> {
        let bytes = section.data_range(address + PARAMETERS, 4).ok()??;
        Some(file.endian().read_u32_bytes(bytes.try_into().ok()?))
    };
    let found = file.symbols().filter_map(|s| {
        let kernel = names.get(s.name().ok()?)?;
        Some((kernel.to_string(), number(s.address())?))
    });
    Ok(found.collect())
}

struct Symbol {
    name: String,
    address: u64,
    bytes: u64,
    defined: bool,
}

fn thread_local(file: &[u8]) -> Result<Vec<Symbol>, Error> {
    let file = ElfFile::<FileHeader64<Endianness>>::parse(file).map_err(unreadable)?;
    let symbols = file.symbols().filter(|s| s.kind() == SymbolKind::Tls);
    symbols
        .map(|s| {
            let name = s.name().map_err(unreadable)?.to_string();
            Ok(Symbol { name, address: s.address(), bytes: s.size(), defined: !s.is_undefined() })
        })
        .collect()
}

/// The `extern "C"` function, if it is a variable of one, and the variable's name. `None` for what a compiler adds.
fn array(symbol: &str) -> Option<(Option<&str>, &str)> {
    let added = symbol.starts_with("_ZGV") || symbol == "__tls_guard";
    (!added).then(|| local(symbol).unwrap_or_else(|| (None, global(symbol))))
}

/// The name of a variable of no function: `t` of `t` and `_ZL1t`, `name` of `_ZN5space4nameE` and of `_Z4nameIfE`. The
/// whole symbol where that cannot be told.
fn global(symbol: &str) -> &str {
    let Some(encoding) = symbol.strip_prefix("_Z") else { return symbol };
    let nested = encoding.strip_prefix('N').and_then(|e| e.strip_suffix('E'));
    let encoding = nested.unwrap_or(encoding);
    // A name that reaches to the end. The first, because a length may have two digits.
    let names = (0..encoding.len()).filter(|&at| encoding.is_char_boundary(at));
    let mut names = names.filter_map(|at| source_name(&encoding[at..]));
    let last = names.find(|(_, rest)| rest.is_empty());
    last.or_else(|| source_name(encoding)).map_or(symbol, |(name, _)| name)
}

fn unreadable(error: object::Error) -> Error {
    Error::Toolchain {
        message: format!("the C++ compiler's output is no 64-bit ELF file, which the emulator needs: {error}"),
    }
}

/// Of a static variable of a function: the function, if it is an `extern "C"` one, and the variable's name. `None` for
/// all other symbols. `_ZZ3fooE4name` is `name` of `foo`, and `_ZZ3fooE4name_0` another of that name.
fn local(symbol: &str) -> Option<(Option<&str>, &str)> {
    let encoding = symbol.strip_prefix("_ZZ")?;
    if let Some((function, rest)) = source_name(encoding)
        && let Some(name) = rest.strip_prefix('E').and_then(last_name)
    {
        return Some((Some(function), name));
    }
    // The variable is behind the last `E` that a whole name follows.
    let name = encoding.match_indices('E').rev().find_map(|(at, _)| last_name(&encoding[at + 1..]))?;
    Some((None, name))
}

/// The name that a mangled text consists of, but for a number that tells it from others.
fn last_name(text: &str) -> Option<&str> {
    let (name, rest) = source_name(text)?;
    let number = rest.strip_prefix('_').unwrap_or(rest).trim_matches('_');
    number.bytes().all(|b| b.is_ascii_digit()).then_some(name)
}

/// A name with its length in front, and what follows it.
fn source_name(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = text[..digits].parse().ok()?;
    text[digits..].split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangled_names_of_local_variables_are_read() {
        assert_eq!(local("_ZZ3fooE4name"), Some((Some("foo"), "name")));
        assert_eq!(local("_ZZ3fooE4name_0"), Some((Some("foo"), "name")));
        assert_eq!(local("_ZZ3fooE4name__12_"), Some((Some("foo"), "name")));
        assert_eq!(local("_ZZ4tileIfEPT_vE3buf"), Some((None, "buf")));
        assert_eq!(local("_ZZL4tilePfE3buf"), Some((None, "buf")));
        assert_eq!(local("_ZZN12_GLOBAL__N_14tileEPfE6bufferE"), None);
        assert_eq!(local("_ZZN12_GLOBAL__N_14tileEPfE3EEE"), Some((None, "EEE")));
        assert_eq!(local("dynamic"), None);
        assert_eq!(local("_ZTW3dyn"), None);
    }

    #[test]
    fn mangled_names_of_other_variables_are_read() {
        assert_eq!(array("_ZZ3fooE4name"), Some((Some("foo"), "name")));
        for (symbol, name) in [
            ("t", "t"),
            ("_ZL1t", "t"),
            ("_ZL12abcdefghijkl", "abcdefghijkl"),
            ("_ZN5space4nameE", "name"),
            ("_ZN12_GLOBAL__N_14anonE", "anon"),
            ("_ZN4TileIfLi3EE3bufE", "buf"),
            ("_ZN1SIfE3EEEE", "EEE"),
            ("_Z3bufIfE", "buf"),
            ("_Zx", "_Zx"),
        ] {
            assert_eq!(array(symbol), Some((None, name)), "{symbol}");
        }
        assert_eq!(array("_ZGVZ3fooE4name"), None);
        assert_eq!(array("__tls_guard"), None);
    }

    #[test]
    fn what_is_no_elf_file_is_refused() {
        let error = undefined(b"MZ").unwrap_err().to_string();
        assert!(error.contains("64-bit ELF"), "{error}");
    }
}
