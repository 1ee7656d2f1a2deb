//! The reference interpreter against values that other software computed.
//!
//! `tests/fixtures` holds the values, the script that wrote them and what it takes for the truth. A case is a graph in
//! the textual form, or a call: a Rust expression over tensors that `calls/` holds as a closure under the same text,
//! which is traced. Either way the interpreter computes it, and the result must lie within the case's bound.

mod bound;
mod calls;
mod coverage;
mod fixture;

use fixture::{Case, Fixture, Work};
use monograph::ir::interp::{self, Tensor};
use monograph::ir::text;
use monograph::{Spec, trace};

/// Checks every case of a file, and reports all that fail.
fn check(name: &str) {
    let fixture = Fixture::read(name);
    let failures: Vec<String> =
        fixture.cases.iter().filter_map(|case| wrong(case).map(|why| format!("{}: {why}", case.name))).collect();
    assert!(
        failures.is_empty(),
        "{} of {} cases of {name} fail:\n{}",
        failures.len(),
        fixture.cases.len(),
        failures.join("\n")
    );
}

/// What is wrong with a case, if anything.
fn wrong(case: &Case) -> Option<String> {
    let found = match found(case) {
        Ok(found) => found,
        Err(message) => return Some(message),
    };
    if found.len() != case.expected.len() {
        return Some(format!("{} results, not {}", found.len(), case.expected.len()));
    }
    found.iter().zip(&case.expected).find_map(|(found, expected)| case.bound.violation(&case.inputs, expected, found))
}

/// What the interpreter computes for a case.
fn found(case: &Case) -> Result<Vec<Tensor>, String> {
    match &case.work {
        Work::Graph(graph) => {
            let graph = text::parse(graph, &case.name).map_err(|e| e.to_string())?;
            interp::evaluate(&graph, &case.inputs).map_err(|e| e.to_string())
        }
        Work::Call(call) => {
            let function = calls::find(call).ok_or_else(|| format!("no closure in `calls/` has the text `{call}`"))?;
            let specs: Vec<Spec> = case.inputs.iter().map(|x| x.spec().clone()).collect();
            let program = trace(|inputs: Vec<_>| function(&inputs), &specs).map_err(|e| e.to_string())?;
            interp::evaluate(program.graph(), &case.inputs).map_err(|e| e.to_string())
        }
    }
}

/// One test for each file.
macro_rules! files {
    ($($name:ident)*) => {
        /// The files that are checked.
        const FILES: &[&str] = &[$(stringify!($name)),*];

        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*
    };
}

files! {
    elementwise_bool elementwise_i8 elementwise_u8 elementwise_i32 elementwise_u32 elementwise_i64
    elementwise_f16 elementwise_bf16 elementwise_f32 elementwise_f64
    casts movement reductions scans matmul indexing control
    convolution pooling
    activations methods normalization order random sorting statistics composites
    special functions
}
