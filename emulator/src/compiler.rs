//! The system's C++ compiler: finding it, what it is, and calling it.

use crate::assembly;
use crate::options::EmulatorOptions;
use crate::store::failed;
use monograph_ir::Error;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What is looked for where `CXX` names nothing.
const USUAL: [&str; 3] = ["g++", "clang++", "c++"];

/// Options of every translation unit. No `-march`: results must not depend on the machine's vector units.
const COMMON: [&str; 2] = ["-std=c++17", "-fno-pie"];
/// Options of the runtime. Findings name lines of programs alone, so it needs no line tables, which would make each
/// executable several times larger.
const RUNTIME: [&str; 1] = ["-O2"];
/// Options of programs. A device contracts nothing and knows no strict aliasing of pointers.
const PROGRAM: [&str; 3] = ["-ffp-contract=off", "-fno-strict-aliasing", "-w"];
/// How programs are optimized, with line tables for findings.
const FAST: [&str; 2] = ["-O1", "-g1"];
/// The same for a debugger: every variable is there, and every line is on its own.
const STEPPED: [&str; 2] = ["-O0", "-g"];
/// What tells a debugger types.
const TYPES: &str = "-g";
/// What tells units that they are part of a checked build.
const CHECKED: &str = "-DEMU_CHECKED";
/// What makes the compiler call the checker at each access of a program.
const INSTRUMENT: &str = "-fsanitize=thread";
/// Spellings of: volatile accesses call functions of their own. A checked build needs one of them.
const VOLATILE: [[&str; 2]; 2] =
    [["--param", "tsan-distinguish-volatile=1"], ["-mllvm", "-tsan-distinguish-volatile=1"]];
/// Spellings of: no calls at the start and the end of functions, which would only cost time.
const NO_ENTRIES: [[&str; 2]; 2] =
    [["--param", "tsan-instrument-func-entry-exit=0"], ["-mllvm", "-tsan-instrument-func-entry-exit=0"]];
/// No splitting of structs that are read or written at once: the access of a vector is checked whole, with its
/// alignment. Where the compiler does not know it, some are checked in parts.
const WHOLE: [&str; 1] = ["-fno-tree-sra"];
/// What checked programs are compiled with besides. Calls of these functions stay calls, with the place in the program
/// as their return address.
const CALLS: [&str; 4] =
    ["-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset", "-fno-optimize-sibling-calls"];
/// Arrays are addressed by their own symbols, and not by their distances from each other: more bytes are put in between.
const NO_ANCHORS: &str = "-fno-section-anchors";
/// Fills the variables that a kernel does not initialise, where the compiler can: what they hold must not depend on what
/// ran on the stack before.
const FILL: &str = "-ftrivial-auto-var-init=pattern";

/// The most lines of a compiler's log that a message holds.
const LOG_LINES: usize = 60;

/// What a file is compiled as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    /// A part of the emulator.
    Runtime,
    /// The part of the emulator whose debug information describes the state of all.
    Types,
    /// A program with kernels.
    Program,
    /// Assembly text with definitions.
    Assembly,
}

/// A C++ compiler that was asked its version.
#[derive(Clone, Debug)]
pub(crate) struct Compiler {
    /// The command, and arguments that the user wants in front of all others.
    command: OsString,
    arguments: Vec<String>,
    /// Everything that it says about itself, for the cache.
    identity: String,
    /// `g++ 12.2.0`.
    name: String,
    /// Options that instrument a checked program; none where this compiler cannot.
    instrument: Option<Vec<&'static str>>,
    /// [`FILL`], if this compiler takes it.
    fill: Option<&'static str>,
}

impl Compiler {
    /// What the environment asks for: `CXX`, else the usual names.
    pub(crate) fn candidates() -> Vec<OsString> {
        match std::env::var_os("CXX").filter(|c| !c.is_empty()) {
            Some(chosen) => vec![chosen],
            None => USUAL.iter().map(OsString::from).collect(),
        }
    }

    /// The first of these that runs. Each may have arguments behind it, separated by spaces, as `CXX` has.
    pub(crate) fn find(candidates: &[OsString]) -> Result<Compiler, Error> {
        let mut problems = Vec::new();
        for candidate in candidates {
            match Compiler::ask(candidate) {
                Ok(compiler) => return Ok(compiler),
                Err(problem) => problems.push(format!("\n  {}: {problem}", candidate.to_string_lossy())),
            }
        }
        Err(Error::Toolchain {
            message: format!(
                "the emulator compiles kernels with the system's C++ compiler, and there is none; looked for:{}\nInstall \
                 one (Debian and Ubuntu: `apt install g++`, Fedora: `dnf install gcc-c++`, Arch: `pacman -S gcc`), or \
                 name one by the environment variable CXX",
                problems.concat()
            ),
        })
    }

    fn ask(candidate: &OsString) -> Result<Compiler, String> {
        // A path with spaces is taken as it is if there is such a file.
        let (command, arguments) = match candidate.to_str() {
            Some(text) if !Path::new(text).exists() => {
                let mut words = text.split_whitespace();
                (words.next().unwrap_or_default().into(), words.map(String::from).collect())
            }
            _ => (candidate.clone(), Vec::new()),
        };
        let (identity, unnamed) = (String::new(), String::new());
        let mut compiler = Compiler { command, arguments, identity, name: unnamed, instrument: None, fill: None };
        let version = compiler.output(&["--version"])?;
        let machine = compiler.output(&["-dumpmachine"])?;
        let known = name(&version).filter(|_| machine.contains('-'));
        compiler.name = known.ok_or("it does not say its version and its target, so it is neither g++ nor clang++")?;
        compiler.identity = format!("{:?} {:?}\n{version}\n{machine}", compiler.command, compiler.arguments);
        compiler.instrument = compiler.probe();
        compiler.fill = Some(FILL).filter(|option| compiler.takes(&["-Werror", option]));
        Ok(compiler)
    }

    /// `g++ 12.2.0`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Everything that the compiler's output depends on besides the options.
    pub(crate) fn identity(&self) -> &str {
        &self.identity
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.command);
        // Messages are for a log, not for this terminal's language.
        command.args(&self.arguments).env("LC_ALL", "C");
        command
    }

    fn output(&self, arguments: &[&str]) -> Result<String, String> {
        let output = self.command().args(arguments).output().map_err(|e| e.to_string())?;
        if !output.status.success() {
            return Err(format!("`{}` ended with {}", arguments.join(" "), output.status));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Whether the compiler takes these options.
    fn takes(&self, options: &[&str]) -> bool {
        let rest = ["-x", "c++", "-fsyntax-only", "/dev/null"];
        self.command().args(options).args(rest).output().is_ok_and(|o| o.status.success())
    }

    /// The spelling of instrumentation that this compiler takes.
    fn probe(&self) -> Option<Vec<&'static str>> {
        let takes = |options: &[&str]| self.takes(&[&[INSTRUMENT], options].concat());
        let volatile = VOLATILE.iter().find(|options| takes(&options[..]))?;
        let no_entries = NO_ENTRIES.iter().find(|options| takes(&options[..]));
        let whole = Some(&WHOLE).filter(|options| takes(&options[..]));
        let rest = no_entries.into_iter().flatten().chain(whole.into_iter().flatten());
        let no_anchors = Some(&NO_ANCHORS).filter(|option| self.takes(&["-Werror", option]));
        Some([INSTRUMENT].iter().chain(volatile).chain(rest).chain(&CALLS).chain(no_anchors).copied().collect())
    }

    /// The options of a unit.
    ///
    /// # Errors
    /// [`Error::Toolchain`] for a checked build by a compiler that cannot instrument as it takes.
    pub(crate) fn options(&self, unit: Unit, chosen: &EmulatorOptions) -> Result<Vec<&'static str>, Error> {
        let optimization = if chosen.debugger { STEPPED } else { FAST };
        let mut options = match unit {
            Unit::Runtime => [&COMMON[..], &RUNTIME].concat(),
            Unit::Types => {
                [&COMMON[..], &RUNTIME].concat().into_iter().chain(chosen.debugger.then_some(TYPES)).collect()
            }
            Unit::Program => [&COMMON[..], &PROGRAM, &optimization].concat().into_iter().chain(self.fill).collect(),
            Unit::Assembly => return Ok(Vec::new()),
        };
        if chosen.checked {
            options.push(CHECKED);
        }
        if chosen.checked && unit == Unit::Program {
            options.extend(self.instrument.as_ref().ok_or_else(|| Error::Toolchain {
                message: format!(
                    "checked emulation needs a compiler that tells volatile accesses from others (g++ 11 or newer, or \
                     clang++ 12 or newer), and {} does not; name another by CXX, or emulate without checks",
                    self.name
                ),
            })?);
        }
        Ok(options)
    }

    /// Compiles a file with the headers of a folder, by way of changed assembly text if it is a checked program. `what` is its name for people; the folder that it is compiled in is
    /// where a debugger looks for the files that it names.
    pub(crate) fn compile(
        &self,
        what: &str,
        options: &[&str],
        [folder, headers]: [&Path; 2],
        file: &Path,
        object: &Path,
    ) -> Result<(), Error> {
        let compile = |step: &str, output: &Path| {
            let mut command = self.command();
            command.args(options).arg("-I").arg(headers).arg(step).arg(file).arg("-o").arg(output).current_dir(folder);
            self.run(command, what)
        };
        if !options.contains(&INSTRUMENT) {
            return compile("-c", object);
        }
        let assembly = object.with_extension("s");
        compile("-S", &assembly)?;
        let text = fs::read_to_string(&assembly).map_err(|e| failed(&assembly, &e))?;
        fs::write(&assembly, assembly::transform(&text)).map_err(|e| failed(&assembly, &e))?;
        let mut command = self.command();
        command.arg("-c").arg(&assembly).arg("-o").arg(object).current_dir(folder);
        self.run(command, what)
    }

    /// Links objects into an executable at fixed addresses, which is what findings are told in.
    pub(crate) fn link(&self, objects: &[&Path], executable: &Path) -> Result<(), Error> {
        let mut command = self.command();
        command.arg("-no-pie").args(objects).arg("-o").arg(executable);
        self.run(command, "the emulator's executable")
    }

    fn run(&self, mut command: Command, what: &str) -> Result<(), Error> {
        let output = command.output().map_err(|e| Error::Toolchain {
            message: format!("{} could not be started to compile {what}: {e}", self.name),
        })?;
        if output.status.success() {
            return Ok(());
        }
        let log = String::from_utf8_lossy(&output.stderr);
        let shown: Vec<&str> = log.lines().take(LOG_LINES).collect();
        let rest = log.lines().count() - shown.len();
        let rest = if rest > 0 { format!("\n… and {rest} more lines") } else { String::new() };
        Err(Error::Toolchain { message: format!("{} refuses {what}:\n{}{rest}", self.name, shown.join("\n")) })
    }
}

/// `g++ 12.2.0` from the first line of what a compiler says about its version.
fn name(version: &str) -> Option<String> {
    let line = version.lines().next()?;
    let mut depth = 0;
    let outside: String = line
        .chars()
        .filter(|&c| {
            depth += i32::from(c == '(');
            let outside = depth == 0;
            depth -= i32::from(c == ')');
            outside
        })
        .collect();
    let number = outside.split_whitespace().find(|w| w.starts_with(|c: char| c.is_ascii_digit()) && w.contains('.'))?;
    let number = number.split(['-', '+']).next()?;
    Some(format!("{} {number}", if line.contains("clang") { "clang++" } else { "g++" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        let versions = [
            ("g++ (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright", "g++ 12.2.0"),
            ("g++ (GCC) 13.2.1 20231205 (Red Hat 13.2.1-6)", "g++ 13.2.1"),
            ("Debian clang version 14.0.6", "clang++ 14.0.6"),
            ("Ubuntu clang version 18.1.3 (1ubuntu1)", "clang++ 18.1.3"),
            ("clang version 17.0.0-rc1", "clang++ 17.0.0"),
        ];
        for (text, expected) in versions {
            assert_eq!(name(text).as_deref(), Some(expected));
        }
        assert_eq!(name("hello"), None);
        assert_eq!(name(""), None);
    }

    #[test]
    fn what_cannot_be_used_is_named_with_a_remedy() {
        let error = Compiler::find(&["/nonsense/g++".into(), "/bin/true".into()]).unwrap_err().to_string();
        for words in
            ["/nonsense/g++: ", "/bin/true: it does not say its version and its target", "apt install g++", "CXX"]
        {
            assert!(error.contains(words), "{words} is not in {error}");
        }
    }
}
