//! Reads the files that `tests/fixtures/generate.py` wrote.

use crate::bound::Bound;
use monograph::ir::interp::Tensor;
use monograph::{DType, Spec};
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;
use std::path::PathBuf;

/// The cases of a file.
pub(crate) struct Fixture {
    pub(crate) cases: Vec<Case>,
}

/// A computation, its operands, and what must come out.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) work: Work,
    pub(crate) inputs: Vec<Tensor>,
    pub(crate) expected: Vec<Tensor>,
    pub(crate) bound: Bound,
}

/// What is computed.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Work {
    /// A graph in the textual form.
    Graph(String),
    /// An expression over tensors.
    Call(String),
}

/// A case as it is written in the file's metadata.
#[derive(Deserialize)]
struct Written {
    name: String,
    #[serde(flatten)]
    work: Work,
    /// Parameter, and the name of its tensor.
    inputs: Vec<(String, String)>,
    /// Names of tensors.
    expected: Vec<String>,
    bound: Bound,
}

/// The folder of the files. Tests also run from a copied tree, so the place is not that of the build.
pub(crate) fn folder() -> PathBuf {
    let root = std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from("."), PathBuf::from);
    root.join("tests/fixtures")
}

impl Fixture {
    /// The file of that name.
    pub(crate) fn read(name: &str) -> Fixture {
        let path = folder().join(format!("{name}.safetensors"));
        let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let file = SafeTensors::deserialize(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let (_, metadata) = SafeTensors::read_metadata(&bytes).expect("it was read a moment ago");
        let cases = metadata.metadata().as_ref().and_then(|m| m.get("cases")).expect("the metadata lists the cases");
        let written: Vec<Written> = serde_json::from_str(cases).expect("a list of cases");
        let tensor = |name: &String| tensor(&file, name);
        let read = |case: Written| Case {
            name: case.name,
            work: case.work,
            inputs: case.inputs.iter().map(|(_, name)| tensor(name)).collect(),
            expected: case.expected.iter().map(tensor).collect(),
            bound: case.bound,
        };
        Fixture { cases: written.into_iter().map(read).collect() }
    }
}

fn tensor(file: &SafeTensors<'_>, name: &str) -> Tensor {
    let view = file.tensor(name).expect("a case names tensors of its file");
    let dtype = match view.dtype() {
        Dtype::BOOL => DType::Bool,
        Dtype::I8 => DType::I8,
        Dtype::U8 => DType::U8,
        Dtype::I32 => DType::I32,
        Dtype::U32 => DType::U32,
        Dtype::I64 => DType::I64,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::BF16,
        Dtype::F32 => DType::F32,
        Dtype::F64 => DType::F64,
        other => panic!("`{name}` is of {other:?}, which is no dtype of the IR"),
    };
    Tensor::from_bytes(Spec::new(dtype, view.shape()), view.data()).expect("as many bytes as the shape has")
}
