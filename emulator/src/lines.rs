//! From addresses of an executable to lines of a program.

use addr2line::gimli::{self, EndianSlice, RunTimeEndian};
use addr2line::{Context, Frame};
use monograph_ir::{InnerLine, KernelLine};
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object, ObjectSection};

type Reader<'a> = EndianSlice<'a, RunTimeEndian>;

/// The name that the translation unit gives to the program's lines.
pub(crate) const PROGRAM: &str = "program";

/// The line tables of an executable.
pub(crate) struct Lines<'a> {
    context: Context<Reader<'a>>,
}

impl<'a> Lines<'a> {
    /// Those of this executable; `None` where it holds none that can be read.
    pub(crate) fn of(executable: &'a [u8]) -> Option<Lines<'a>> {
        let file = ElfFile::<FileHeader64<Endianness>>::parse(executable).ok()?;
        let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let section = |id: gimli::SectionId| -> Result<Reader<'a>, gimli::Error> {
            let data = file.section_by_name(id.name()).and_then(|s| s.data().ok()).unwrap_or_default();
            Ok(EndianSlice::new(data, endian))
        };
        let dwarf = gimli::Dwarf::load(section).ok()?;
        Some(Lines { context: Context::from_dwarf(dwarf).ok()? })
    }

    /// The line of `source` at an address: the kernel's own line, and the line inside of the function that it calls
    /// there. `None` where the address is in no function of the program.
    pub(crate) fn at(&self, address: u64, kernel: &str, source: &str) -> Option<KernelLine> {
        let mut places: Vec<(u32, Option<String>)> = Vec::new();
        let mut frames = self.context.find_frames(address).skip_all_loads().ok()?;
        while let Ok(Some(frame)) = frames.next() {
            places.extend(place(&frame));
        }
        let (line, outermost) = places.last()?;
        let inner = match places.first() {
            // A function that was not inlined is all that is known.
            Some((line, Some(function))) if places.len() > 1 || outermost.as_deref() != Some(kernel) => {
                Some(InnerLine { function: function.clone(), line: *line, text: text(source, *line) })
            }
            _ => None,
        };
        Some(KernelLine { line: *line, text: text(source, *line), inner })
    }
}

/// The line and the function of a frame that is in the program.
fn place(frame: &Frame<'_, Reader<'_>>) -> Option<(u32, Option<String>)> {
    let location = frame.location.as_ref()?;
    let file = location.file?.rsplit('/').next()?;
    let name = frame.function.as_ref().and_then(|f| f.raw_name().ok().map(|n| plain(&n)));
    (file == PROGRAM).then_some((location.line?, name))
}

/// The name of a function without what mangling puts around it: `load` of `_Z4loadPKf` and `_ZL4loadIfEvPT_`.
fn plain(name: &str) -> String {
    let mangled = || {
        let rest = name.strip_prefix("_Z")?.trim_start_matches(['L', 'N', 'K']);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest[digits..].get(..rest[..digits].parse().ok()?)
    };
    mangled().unwrap_or(name).to_string()
}

fn text(source: &str, line: u32) -> String {
    source.lines().nth((line as usize).saturating_sub(1)).unwrap_or_default().trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_named_as_in_the_source() {
        assert_eq!(plain("_Z4loadPKf"), "load");
        assert_eq!(plain("_ZL4loadIfEvPT_"), "load");
        assert_eq!(plain("kernel"), "kernel");
        assert_eq!(plain("_Zx"), "_Zx");
    }

    #[test]
    fn lines_are_counted_from_one() {
        assert_eq!(text("a\n  b \n", 2), "b");
        assert_eq!(text("a", 9), "");
        assert_eq!(text("a", 0), "a");
    }
}
