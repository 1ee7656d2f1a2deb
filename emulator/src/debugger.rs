//! Debuggers: what they need to find, and how a user is told to attach one.

use crate::build::Source;
use crate::lines::PROGRAM;
use crate::store::{Key, Store};
use monograph_ir::Error;
use std::io::{self, Write};
use std::path::PathBuf;

/// Commands for gdb.
const COMMANDS: &str = include_str!("../debug.gdb");

/// The most kernels that a message lists.
const KERNELS: usize = 20;

/// The folder where a debugger looks for the text of a program: it is compiled there, under the name by which its lines
/// go.
pub(crate) fn folder(store: &Store, program: &Source<'_>) -> Result<PathBuf, Error> {
    store.keep(&Key::new("text").add(program.text).short_name("text"), PROGRAM, program.text)
}

/// An executable that is meant for a debugger.
#[derive(Debug)]
pub(crate) struct Debugging {
    kernels: Vec<String>,
    /// The file with commands for gdb.
    commands: PathBuf,
}

impl Debugging {
    pub(crate) fn new(store: &Store, kernels: &[&str]) -> Result<Debugging, Error> {
        let folder = store.keep(&Key::new("commands").add(COMMANDS).short_name("gdb"), "debug.gdb", COMMANDS)?;
        let kernels = kernels.iter().map(|k| k.to_string()).collect();
        Ok(Debugging { kernels, commands: folder.join("debug.gdb") })
    }

    /// Tells the user, on standard error, that this process waits and what to do.
    pub(crate) fn invite(&self, process: u32) {
        // Who reads no messages has still the process's state to see.
        let _ = writeln!(io::stderr(), "{}", self.invitation(process));
    }

    fn invitation(&self, process: u32) -> String {
        let first = self.kernels.first().map_or("KERNEL", String::as_str);
        let mut kernels = self.kernels.iter().take(KERNELS).cloned().collect::<Vec<_>>().join(" ");
        if self.kernels.len() > KERNELS {
            kernels += &format!(" and {} more (`info functions` lists them)", self.kernels.len() - KERNELS);
        }
        let commands = self.commands.display();
        format!(
            "the emulator's process {process} waits for a debugger before its first launch; in another terminal:
    gdb -p {process} -x {commands}
    (gdb) break {first}
    (gdb) continue
kernels: {kernels}
in gdb, `cuda-thread` says which CUDA thread runs, and `cuda-break KERNEL THREAD BLOCK` stops in one thread alone
where gdb may not attach (ptrace: Operation not permitted): run it as root (`sudo gdb …`), set
/proc/sys/kernel/yama/ptrace_scope to 1 or 0, or start the container with `--cap-add=SYS_PTRACE`"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_invitation_says_what_to_type() {
        let kernels = |count: usize| (0..count).map(|i| format!("k{i}")).collect();
        let invitation =
            |count| Debugging { kernels: kernels(count), commands: "/store/debug.gdb".into() }.invitation(1234);
        let text = invitation(2);
        for words in ["gdb -p 1234 -x /store/debug.gdb", "break k0\n", "kernels: k0 k1\n", "ptrace_scope"] {
            assert!(text.contains(words), "{words} is not in {text}");
        }
        assert!(invitation(25).contains("k19 and 5 more"));
    }
}
