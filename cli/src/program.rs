//! `Loaded`: a program as the user wrote it, parsed and accepted.

use crate::failure::Failure;
use crate::file;
use monograph_compiler::diagnostics::{Sources, from_parse_error};
use monograph_compiler::reject;
use monograph_ir::{Graph, text};
use std::io::Read;
use std::path::Path;

/// The longest program text, in bytes: larger ones are not programs but mistakes, or `/dev/zero`.
const LONGEST: u64 = 256 << 20;

/// A program that can be one CUDA graph.
pub(crate) struct Loaded {
    /// The file, for messages.
    pub(crate) name: String,
    /// The program.
    pub(crate) graph: Graph,
    text: String,
}

impl Loaded {
    /// Reads, parses and checks a program.
    ///
    /// # Errors
    /// A file that cannot be read; a text that does not parse; a program that cannot be one CUDA graph, with every
    /// root error.
    pub(crate) fn read(path: &Path) -> Result<Loaded, Failure> {
        let name = file::name(path);
        let text = text_of(path)?;
        let graph = match text::parse(&text, &name) {
            Ok(graph) => graph,
            Err(error) => {
                let sources = Sources::none().with_text(&name, &text);
                return Err(Failure::Rejected { diagnostics: vec![from_parse_error(&error)], sources });
            }
        };
        let loaded = Loaded { name, graph, text };
        match reject::check(&loaded.graph) {
            Ok(()) => Ok(loaded),
            Err(diagnostics) => Err(Failure::Rejected { diagnostics, sources: loaded.sources() }),
        }
    }

    /// The text, for messages.
    fn sources(&self) -> Sources {
        Sources::none().with_text(&self.name, &self.text)
    }

    /// The failure of a later stage, with the text where it has places.
    pub(crate) fn failure(&self, error: monograph_ir::Error) -> Failure {
        match Failure::from(error) {
            Failure::Rejected { diagnostics, .. } => Failure::Rejected { diagnostics, sources: self.sources() },
            other => other,
        }
    }
}

fn text_of(path: &Path) -> Result<String, Failure> {
    let name = file::name(path);
    let (reader, _) = file::open(path)?;
    let mut bytes = Vec::new();
    reader.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|e| file::unreadable(path, &e))?;
    if bytes.len() as u64 > LONGEST {
        return Err(Failure::usage(format!("{name} is larger than {} MiB, which is no program", LONGEST >> 20)));
    }
    if bytes.starts_with(crate::npy::MAGIC) {
        return Err(Failure::usage(format!("{name} is a .npy file, not a program"))
            .help("give the program first, and data with `--input NAME=FILE.npy`"));
    }
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        Failure::usage(format!("{name} is not text: byte {at} is not UTF-8"))
            .help("a program is textual IR, see ir/TEXT.md")
    })
}
