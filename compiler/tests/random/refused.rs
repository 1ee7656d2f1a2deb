//! What is refused, with what message.

use monograph_compiler::diagnostics::codes;
use monograph_compiler::trace::{Rng, Tensor, arange, cond, constant, trace, trace_step, trace_with};
use monograph_ir::{Array, Code, DType, Element, Error};

/// Code and message of the one diagnostic.
#[track_caller]
fn refusal<T>(result: Result<T, Error>) -> (Code, String) {
    match result {
        Err(Error::Rejected(found)) if found.len() == 1 => (found[0].code, found[0].to_string()),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was accepted"),
    }
}

#[track_caller]
fn draw(f: impl FnOnce(&mut Rng<Tensor>) -> Tensor) -> (Code, String) {
    refusal(trace(|mut rng: Rng<Tensor>| f(&mut rng), &Rng::seed(0)))
}

#[test]
fn wrong_draws() {
    let cases: [(Code, &str, (Code, String)); 14] = [
        (codes::OPERANDS, "`uniform` gives floats", draw(|rng| rng.uniform(DType::I32, [3]))),
        (codes::OPERANDS, "`normal` gives floats", draw(|rng| rng.normal(DType::Bool, [3]))),
        (codes::OPERANDS, "`gumbel` gives floats", draw(|rng| rng.gumbel(DType::U8, [3]))),
        (codes::OPERANDS, "`randint` gives integers", draw(|rng| rng.randint(DType::F32, [3], 0..4))),
        (codes::NUMBER, "no integer lies in 4..4", draw(|rng| rng.randint(DType::I32, [3], 4..4))),
        (codes::NUMBER, "0..257 does not lie in u8, 0..=255", draw(|rng| rng.randint(DType::U8, [3], 0..257))),
        (codes::NUMBER, "1.5 is no probability", draw(|rng| rng.dropout(&arange(DType::F32, 3), 1.5))),
        (codes::NUMBER, "NaN is no probability", draw(|rng| rng.dropout(&arange(DType::F32, 3), f64::NAN))),
        (codes::OPERANDS, "`dropout` takes a float dtype", draw(|rng| rng.dropout(&arange(DType::I32, 3), 0.5))),
        (codes::OPERANDS, "`bernoulli` takes a float dtype", draw(|rng| rng.bernoulli([3], arange(DType::I32, 3)))),
        (codes::OPERANDS, "no dimension of classes", draw(|rng| rng.categorical(&arange(DType::F32, 3).sum(0)))),
        (codes::OPERANDS, "`topk`: 4 of the 3", draw(|rng| rng.multinomial_distinct(&arange(DType::F32, 3), 4))),
        (
            codes::DTYPES,
            "the dtypes differ",
            draw(|rng| rng.randint_between([3], &arange(DType::I32, 3), &arange(DType::I64, 3))),
        ),
        (codes::TOO_LARGE, "more bytes than 2^63", draw(|rng| rng.uniform(DType::F32, [1 << 40, 1 << 40]))),
    ];
    for (code, part, (found, message)) in cases {
        assert!(found == code && message.contains(part), "{code}: {part}\n{found}: {message}");
    }
    // Parameters that do not broadcast to the shape of the draw.
    let (code, message) = draw(|rng| rng.normal_with(DType::F32, [4], arange(DType::F32, 3), 1.0));
    assert!(code == codes::BROADCAST || code == codes::OPERANDS, "{message}");
}

#[test]
fn generators_that_stay() {
    let rng = Rng::seed(7);
    let x = || f32::spec([3]);
    let repeated = |result: (Code, String)| {
        assert_eq!(result.0, codes::REPEATED_RANDOMNESS, "{}", result.1);
        assert!(result.1.contains("state of `trace_step`"), "{}", result.1);
    };
    repeated(refusal(trace(|x| constant(&rng).dropout(&x, 0.5), x())));
    repeated(refusal(trace_with(&rng, x(), |mut rng: Rng<Tensor>, x| rng.dropout(&x, 0.5))));
    // A copy draws, and the original is returned.
    repeated(refusal(trace_step(&rng, x(), |rng: Rng<Tensor>, x| {
        let y = rng.clone().dropout(&x, 0.5);
        (rng, y)
    })));
    // Inside a body too.
    repeated(refusal(trace(
        |x: Tensor| {
            let mut rng = constant(&rng);
            cond(&x.sum(..).gt(0.0), || rng.uniform(DType::F32, [3]), || x)
        },
        x(),
    )));
}

#[test]
fn generators_that_change() {
    let rng = Rng::seed(7);
    trace_step(&rng, (), |mut rng: Rng<Tensor>, ()| {
        let x = rng.fork().uniform(DType::F32, [3]);
        (rng, x)
    })
    .unwrap();
    // An input is what the caller gives.
    trace(|mut rng: Rng<Tensor>| rng.uniform(DType::F32, [3]), &rng).unwrap();
    // A captured generator, folded with an input.
    trace(|n: Tensor| constant(&rng).fold_in(n).uniform(DType::F32, [3]), i64::spec([])).unwrap();
    // Nothing is drawn from what stays.
    let state = (rng, Array::scalar(1.0f32));
    trace_step(&state, (), |(rng, x): (Rng<Tensor>, Tensor), ()| ((rng, x + 1.0), x)).unwrap();
}
