//! Changes to the assembly text of checked programs, which no option of a compiler makes.
//!
//! - Behind each shared array lies a red zone: bytes that belong to nothing. Without it the first byte behind an array
//!   would be one of another array, and an index that is too large would not be noticed.
//! - Calls of `memcpy` and its like become calls of the emulator's, which check what is read and written: g++ puts no
//!   checks in front of these calls.

use std::collections::HashMap;

/// The least and the most bytes of a red zone. In between it is as large as the array, so that an index of twice the
/// range is still noticed.
const RED_ZONE: [u64; 2] = [256, 64 << 10];

/// Functions of the C library that touch memory for a program.
const MEMORY_FUNCTIONS: [&str; 3] = ["memcpy", "memmove", "memset"];

/// What is put in front of the names of these.
const OURS: &str = "emu_";

/// Instructions of x86-64 and aarch64 that call a function, or leave for it.
const CALLS: [&str; 6] = ["call", "callq", "jmp", "jmpq", "bl", "b"];

/// Directives that define bytes.
const DATA: [&str; 22] = [
    ".zero", ".skip", ".space", ".byte", ".value", ".short", ".hword", ".word", ".long", ".int", ".quad", ".xword",
    ".octa", ".2byte", ".4byte", ".8byte", ".single", ".float", ".double", ".ascii", ".asciz", ".string",
];

/// The text as it is to be assembled.
pub(crate) fn transform(text: &str) -> String {
    let sizes: HashMap<&str, u64> = text.lines().filter_map(size).collect();
    let mut result = String::with_capacity(text.len() + text.len() / 8);
    let mut sections = Sections::default();
    // Bytes of the red zone that is to follow the object whose definition goes on.
    let mut red_zone = None;
    for line in text.lines() {
        let (word, rest) = split(line);
        if !word.is_empty() && !DATA.contains(&word) {
            end_object(&mut result, &mut red_zone);
        }
        sections.follow(word, rest);
        if sections.in_thread_local()
            && let Some(bytes) = label(line).and_then(|symbol| sizes.get(symbol))
        {
            red_zone = Some((*bytes).clamp(RED_ZONE[0], RED_ZONE[1]));
        }
        match memory_function(word, rest) {
            Some(at) => {
                let (before, name) = line.split_at(line.len() - rest.len() + at);
                result.extend([before, OURS, name]);
            }
            None => result += line,
        }
        result.push('\n');
    }
    end_object(&mut result, &mut red_zone);
    result
}

fn end_object(result: &mut String, red_zone: &mut Option<u64>) {
    if let Some(bytes) = red_zone.take() {
        *result += &format!("\t.zero\t{bytes}\n");
    }
}

/// Which section the text is in: whether it is one of thread-local storage.
#[derive(Default)]
struct Sections {
    current: bool,
    previous: bool,
    pushed: Vec<(bool, bool)>,
}

impl Sections {
    fn in_thread_local(&self) -> bool {
        self.current
    }

    fn follow(&mut self, word: &str, rest: &str) {
        let entered = match word {
            ".section" => rest.starts_with(".tbss") || rest.starts_with(".tdata"),
            ".text" | ".data" | ".bss" => false,
            ".pushsection" => {
                self.pushed.push((self.current, self.previous));
                rest.starts_with(".tbss") || rest.starts_with(".tdata")
            }
            ".popsection" => {
                (self.current, self.previous) = self.pushed.pop().unwrap_or_default();
                return;
            }
            ".previous" => self.previous,
            _ => return,
        };
        self.previous = std::mem::replace(&mut self.current, entered);
    }
}

/// The first word of a line without a comment behind it, and the rest of the line.
fn split(line: &str) -> (&str, &str) {
    let line = line.trim_start();
    if line.starts_with('#') || line.starts_with("//") {
        return ("", "");
    }
    let (word, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    (word, rest.trim_start())
}

/// The symbol and the size of `.size symbol, 128`.
fn size(line: &str) -> Option<(&str, u64)> {
    let (".size", rest) = split(line) else { return None };
    let (symbol, size) = rest.split_once(',')?;
    let size = size.split_whitespace().next()?;
    Some((symbol.trim(), size.parse().ok()?))
}

/// The symbol that a line defines.
fn label(line: &str) -> Option<&str> {
    let (word, _) = split(line);
    word.strip_suffix(':').filter(|symbol| !symbol.starts_with(".L"))
}

/// Where in `rest` the name of a function that touches memory starts, if the instruction calls one.
fn memory_function(word: &str, rest: &str) -> Option<usize> {
    let name = rest.split([' ', '\t', '@', '#']).next()?;
    (CALLS.contains(&word) && MEMORY_FUNCTIONS.contains(&name)).then_some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(transform(text), expected);
    }

    #[test]
    fn arrays_of_gcc_get_a_red_zone() {
        check(
            "\t.section\t.tbss,\"awT\",@nobits\n\t.align 32\n\t.type\t_ZZ1kE1s, @object\n\t.size\t_ZZ1kE1s, 400\n\
             _ZZ1kE1s:\n\t.zero\t400\n\t.align 16\n\t.type\tt, @object\n\t.size\tt, 8\nt:\n\t.zero\t8\n\t.text\nk:\n",
            "\t.section\t.tbss,\"awT\",@nobits\n\t.align 32\n\t.type\t_ZZ1kE1s, @object\n\t.size\t_ZZ1kE1s, 400\n\
             _ZZ1kE1s:\n\t.zero\t400\n\t.zero\t400\n\t.align 16\n\t.type\tt, @object\n\t.size\tt, 8\nt:\n\t.zero\t8\n\
             \t.zero\t256\n\t.text\nk:\n",
        );
    }

    #[test]
    fn arrays_of_clang_get_a_red_zone() {
        // The size follows the bytes, and comments stand everywhere.
        check(
            "\t.type\tt,@object                       # @t\n\t.section\t.tdata._Z1t,\"awT\",@progbits\n\t.globl\tt\n\
             \t.p2align\t2, 0x0\nt:                                      # @t\n\t.long\t1                     # 0x1\n\
             \t.zero\t99996\n\t.size\tt, 100000\n\n\t.section\t.rodata,\"a\"\nc:\n\t.zero\t4\n\t.size\tc, 4\n",
            "\t.type\tt,@object                       # @t\n\t.section\t.tdata._Z1t,\"awT\",@progbits\n\t.globl\tt\n\
             \t.p2align\t2, 0x0\nt:                                      # @t\n\t.long\t1                     # 0x1\n\
             \t.zero\t99996\n\t.zero\t65536\n\t.size\tt, 100000\n\n\t.section\t.rodata,\"a\"\nc:\n\t.zero\t4\n\
             \t.size\tc, 4\n",
        );
    }

    #[test]
    fn arrays_on_aarch64_get_a_red_zone() {
        check(
            "\t.section\t.tbss,\"awT\",@nobits\n\t.align\t3\n\t.type\tt, %object\n\t.size\tt, 300\nt:\n\t.zero\t300\n\
             // comment\n\t.section\t.tdata.u,\"awTG\",@progbits,u,comdat\n\t.size\tu, 8\nu:\n\t.xword\t1\n",
            "\t.section\t.tbss,\"awT\",@nobits\n\t.align\t3\n\t.type\tt, %object\n\t.size\tt, 300\nt:\n\t.zero\t300\n\
             // comment\n\t.zero\t300\n\t.section\t.tdata.u,\"awTG\",@progbits,u,comdat\n\t.size\tu, 8\nu:\n\t.xword\t1\n\
             \t.zero\t256\n",
        );
    }

    #[test]
    fn only_thread_local_objects_get_one() {
        let text = "\t.data\n\t.size\ta, 4\na:\n\t.long\t3\n\t.section\t.tbss,\"awT\",@nobits\n\t.previous\n\
                    \t.size\tb, 4\nb:\n\t.long\t1\n\t.pushsection .tdata\n\t.popsection\n\t.size\tc, 4\nc:\n\t.long\t1\n";
        check(text, text);
        check(
            "\t.section .tdata\n\t.size a, 4\na:\n\t.long 1",
            "\t.section .tdata\n\t.size a, 4\na:\n\t.long 1\n\t.zero\t256\n",
        );
    }

    #[test]
    fn functions_that_touch_memory_are_the_emulators() {
        let lines = [
            ("\tcall\tmemcpy", "\tcall\temu_memcpy"),
            ("\tjmp\tmemset@PLT", "\tjmp\temu_memset@PLT"),
            ("\tcallq\tmemmove@PLT  # comment", "\tcallq\temu_memmove@PLT  # comment"),
            ("\tbl\tmemcpy", "\tbl\temu_memcpy"),
            ("\tb\tmemmove", "\tb\temu_memmove"),
        ];
        for (line, expected) in lines {
            check(line, &format!("{expected}\n"));
        }
        for line in
            ["\tcall\t_Z6memcpyv", "\tcall\tmemcpy_s", "\t.globl\tmemcpy", "memcpy:", "\t.string\t\"call memcpy\""]
        {
            check(line, &format!("{line}\n"));
        }
    }
}
