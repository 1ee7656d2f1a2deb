//! Running the tool, and making .npy files byte by byte.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a run of the tool left behind.
pub(crate) struct Outcome {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: i32,
}

impl Outcome {
    /// The run succeeded and said nothing on standard error.
    #[track_caller]
    pub(crate) fn fine(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// The run failed with this code, wrote nothing on standard output, and these words on standard error.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, words: &[&str]) {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{}", self.err);
        for word in words {
            assert!(self.err.contains(word), "{word:?} is not in\n{}", self.err);
        }
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}\n{}", self.out, self.err))
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_monograph"));
    command.args(arguments).current_dir(programs()).env_remove("MONOGRAPH_LOG").env("NO_COLOR", "1");
    command
}

/// The folder of example programs, where the tool runs.
pub(crate) fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// Runs the tool.
pub(crate) fn tool(arguments: &[&str]) -> Outcome {
    tool_with(arguments, b"")
}

/// Runs the tool with these environment variables.
pub(crate) fn tool_in(arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let mut command = command(arguments);
    command.envs(variables.iter().copied());
    outcome(command, b"")
}

/// Runs the tool with bytes on standard input.
pub(crate) fn tool_with(arguments: &[&str], stdin: &[u8]) -> Outcome {
    outcome(command(arguments), stdin)
}

fn outcome(mut command: Command, stdin: &[u8]) -> Outcome {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The tool may end without reading everything.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let code = output.status.code().expect("the tool ends by itself");
    Outcome { out: text(output.stdout), err: text(output.stderr), code }
}

/// Starts the tool with a standard output whose reader is gone, and gives its exit code and standard error.
pub(crate) fn tool_into_closed_pipe(arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = command(arguments);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// A .npy file of version 1 as the format's description says, not as the tool writes it.
pub(crate) fn npy(dict: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dict.len() as u16 + 1).to_le_bytes());
    bytes.extend(dict.as_bytes());
    bytes.push(b'\n');
    bytes.extend(data);
    bytes
}

/// The dictionary of a row-major array.
pub(crate) fn dict(descr: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}")
}

/// A folder that is removed at the end of the test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    /// The path of a file in it.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_string()
    }

    /// Writes a file, and gives its path.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> String {
        std::fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    /// The names in it, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}
