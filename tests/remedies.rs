//! The examples of `monograph explain`, compiled: each wrong one is rejected with its code, each right one accepted.
//!
//! The code here is compared with the text there, so neither can change alone.

#![allow(unused_assignments, unused_must_use, reason = "the examples are shown as they are, without their context")]
#![allow(clippy::useless_vec, reason = "a `Vec` is what the example is about")]

use monograph::diagnostics::{codes, explain};
use monograph::ir::text;
use monograph::prelude::*;
use monograph::{Code, InputSpec, arange, dynamic_range, fori_loop, ones, while_loop, zeros};

/// An example: its tokens as they were compiled, and what running it gives.
struct Side {
    tokens: &'static str,
    result: monograph::Result<()>,
}

/// One side of an explanation: whole statements, or the inside of a traced function whose inputs, all `f32[3]`, are
/// named in front.
macro_rules! side {
    (statements { $($code:tt)* }) => {
        Side { tokens: stringify!($($code)*), result: (|| { $($code)* Ok(()) })() }
    };
    (inside ($($input:ident),*) { $($code:tt)* }) => {
        Side {
            tokens: stringify!($($code)*),
            result: trace(|($($input,)*)| { $($code)* }, ($(spec(stringify!($input)),)*)).map(drop),
        }
    };
}

fn spec(name: &str) -> InputSpec {
    f32::spec([3]).named(name)
}

/// Code without its spaces and comments.
fn dense(code: &str) -> String {
    let code = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    code.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect()
}

fn check(code: Code, wrong: Side, right: Side) {
    let explanation = explain(code).unwrap();
    assert_eq!(dense(wrong.tokens), dense(explanation.wrong), "{code}");
    assert_eq!(dense(right.tokens), dense(explanation.right), "{code}");
    match wrong.result {
        Err(Error::Rejected(found)) => assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), [code]),
        other => panic!("{code}: the wrong example gave {other:?}"),
    }
    if let Err(error) = right.result {
        panic!("{code}: the right example is rejected: {error}");
    }
}

macro_rules! examples {
    ($($code:ident: $kind:ident $(($($input:ident),*))? { $($wrong:tt)* } => { $($right:tt)* })*) => {
        const COMPILED: &[Code] = &[$(codes::$code),*];

        #[test]
        fn examples_are_rejected_and_accepted() {
            $(
                let wrong = side!($kind $(($($input),*))? { $($wrong)* });
                let right = side!($kind $(($($input),*))? { $($right)* });
                check(codes::$code, wrong, right);
            )*
        }
    };
}

examples! {
    OTHER_TRACE: statements {
        let mut kept = None;
        trace(|x: Tensor| { kept = Some(x.exp()); x }, f32::spec([3]))?;
        trace(|x: Tensor| x + kept.unwrap(), f32::spec([3]))?;
    } => {
        trace(|x: Tensor| x.exp(), f32::spec([3]))?;
        trace(|(x, e)| x + e, (f32::spec([3]), f32::spec([3])))?;
    }
    NO_TRACE: statements {
        let one = ones(DType::F32, [3]);
        trace(|x: Tensor| x + one, f32::spec([3]))?;
    } => {
        trace(|x: Tensor| x + ones(DType::F32, [3]), f32::spec([3]))?;
    }
    ENDED_BODY: inside (x) {
        let mut kept = x;
        fori_loop(3, x, |_, s| { kept = s * 2.0; kept });
        kept + 1.0
    } => {
        let last = fori_loop(3, x, |_, s| s * 2.0);
        last + 1.0
    }
    TOO_LARGE: inside (_x) {
        zeros(DType::F32, [1 << 40, 1 << 40])
    } => {
        zeros(DType::F32, [1 << 10, 1 << 10])
    }
    NAME: inside (a, b) {
        probe("loss", &a);
        probe("loss", &b);
    } => {
        probe("loss.data", &a);
        probe("loss.penalty", &b);
    }
    BROADCAST: statements {
        trace(|(x, y)| x + y, (f32::spec([3, 4]), f32::spec([3])))?;
    } => {
        trace(|(x, y)| x + y.unsqueeze(-1), (f32::spec([3, 4]), f32::spec([3])))?;
    }
    DTYPES: statements {
        trace(|(x, n)| x * n, (f32::spec([3]), i32::spec([3])))?;
    } => {
        trace(|(x, n)| x * n.cast(DType::F32), (f32::spec([3]), i32::spec([3])))?;
    }
    OPERANDS: statements {
        trace(|n: Tensor| n.exp(), i32::spec([3]))?;
    } => {
        trace(|n: Tensor| n.cast(DType::F32).exp(), i32::spec([3]))?;
    }
    AXIS: statements {
        trace(|x: Tensor| x.sum(2), f32::spec([3, 4]))?;
    } => {
        trace(|x: Tensor| x.sum(-1), f32::spec([3, 4]))?;
    }
    NUMBER: statements {
        trace(|n: Tensor| n * 0.5, i32::spec([3]))?;
    } => {
        trace(|n: Tensor| n.cast(DType::F32) * 0.5, i32::spec([3]))?;
    }
    MATMUL: statements {
        trace(|(x, w)| x.matmul(w), (f32::spec([8, 3]), f32::spec([4, 3])))?;
    } => {
        trace(|(x, w)| x.matmul(w.t()), (f32::spec([8, 3]), f32::spec([4, 3])))?;
    }
    PROBE_IN_BODY: inside (x) {
        fori_loop(3, x, |_, s| probe("s", &(s * 2.0)))
    } => {
        let s = fori_loop(3, x, |_, s| s * 2.0);
        probe("s", &s)
    }
    NONZERO: statements {
        trace(|x: Tensor| x.nonzero(), f32::spec([100]))?;
    } => {
        trace(|x: Tensor| x.nonzero_padded(16, -1), f32::spec([100]))?;
    }
    MASKED_SELECT: statements {
        trace(|x: Tensor| x.masked_select(&x.gt(0.0)).sum(0), f32::spec([100]))?;
    } => {
        trace(|x: Tensor| x.gt(0.0).select(x, 0.0).sum(0), f32::spec([100]))?;
    }
    UNIQUE: statements {
        trace(|x: Tensor| x.unique(), i32::spec([100]))?;
    } => {
        trace(|x: Tensor| x.unique_padded(10, -1), i32::spec([100]))?;
    }
    REPEAT_INTERLEAVE: statements {
        trace(|(x, n)| x.repeat_interleave(n), (f32::spec([3]), i64::spec([3])))?;
    } => {
        trace(|(x, i)| x.take(i, 0), (f32::spec([3]), i64::spec([10])))?;
    }
    DYNAMIC_RANGE: statements {
        trace(|n: Tensor| dynamic_range(&n).sum(0), i64::spec([]))?;
    } => {
        trace(|n: Tensor| { let i = arange(DType::I64, 100); i.lt(n).select(i, 0).sum(0) }, i64::spec([]))?;
    }
    WHILE_LOOP: inside (x) {
        while_loop(x, |x| x.sum(..).lt(100.0), |x| x * 2.0)
    } => {
        fori_loop(20, x, |_, x| x.sum(..).lt(100.0).select(x * 2.0, x))
    }
    ITEM: statements {
        trace(|x: Tensor| { let s: f32 = x.sum(..).item()?; Ok(x / s) }, f32::spec([3]))?;
    } => {
        trace(|x: Tensor| x / x.sum(..), f32::spec([3]))?;
    }
    TO_VEC: statements {
        trace(|x: Tensor| { let v = x.to_vec::<f32>()?; Ok(x * v[0]) }, f32::spec([3]))?;
    } => {
        trace(|x: Tensor| x * x.slice(0, 0..1), f32::spec([3]))?;
    }
    PRINT: statements {
        trace(|x: Tensor| { x.print(); x }, f32::spec([3]))?;
    } => {
        trace(|x: Tensor| probe("x", &x), f32::spec([3]))?;
    }
    ASSERT: statements {
        trace(|x: Tensor| { x.gt(0.0).assert(); x }, f32::spec([3]))?;
    } => {
        trace(|x: Tensor| { probe("positive", &x.gt(0.0).all(..)); x }, f32::spec([3]))?;
    }
}

#[test]
fn examples_with_state() {
    let count = Array::scalar(0.0f32);
    let wrong = side!(statements {
        trace_step(&count, f32::spec([5]), |n, x| (n + x, ()))?;
    });
    let right = side!(statements {
        trace_step(&count, f32::spec([5]), |n, x| (n + x.sum(..), ()))?;
    });
    check(codes::STATE_TYPE, wrong, right);

    let state = || [1.0f32, 2.0].map(Array::scalar);
    let [a, b] = state();
    let wrong = side!(statements {
        trace_step(&vec![a, b], (), |mut s, ()| { s.pop(); (s, ()) })?;
    });
    let [a, b] = state();
    let right = side!(statements {
        trace_step(&vec![a, b], (), |mut s, ()| { s[1] = s[0]; (s, ()) })?;
    });
    check(codes::STRUCTURE, wrong, right);

    let wrong = side!(statements {
        let rng = Rng::seed(7);
        trace(|x| constant(&rng).dropout(&x, 0.1), f32::spec([3]))?;
    });
    let right = side!(statements {
        let rng = Rng::seed(7);
        trace_step(&rng, f32::spec([3]), |mut rng, x| { let y = rng.dropout(&x, 0.1); (rng, y) })?;
    });
    check(codes::REPEATED_RANDOMNESS, wrong, right);
}

#[test]
fn the_example_of_textual_ir() {
    let graph = |line: &str| format!("graph @main(input %0 \"x\": f32[3]) {{\n  {line}\n  return \"y\" = %1\n}}\n");
    let explanation = explain(codes::PARSE).unwrap();
    assert!(text::parse(&graph(explanation.wrong), "wrong.mg").is_err());
    text::parse(&graph(explanation.right), "right.mg").unwrap();
}

#[test]
fn every_code_has_its_example_here() {
    let elsewhere = [codes::PARSE, codes::INVALID, codes::STATE_TYPE, codes::STRUCTURE, codes::REPEATED_RANDOMNESS];
    let missing: Vec<Code> = codes::codes().filter(|c| !COMPILED.contains(c) && !elsewhere.contains(c)).collect();
    assert_eq!(missing, []);
}
