//! The registry of codes: what each kind of error means, with an example and its correction.

use monograph_ir::Code;

/// What `monograph explain` says of a code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// The code.
    pub code: Code,
    /// What is wrong, in one line.
    pub title: &'static str,
    /// Why it is wrong, and what to do.
    pub text: &'static str,
    /// Code that has the error.
    pub wrong: &'static str,
    /// The same, corrected.
    pub right: &'static str,
}

/// The explanation of a code, if there is such a code.
pub fn explain(code: Code) -> Option<&'static Explanation> {
    REGISTRY.iter().find(|e| e.code == code)
}

/// Every code, ascending.
pub fn codes() -> impl ExactSizeIterator<Item = Code> {
    REGISTRY.iter().map(|e| e.code)
}

macro_rules! registry {
    ($($name:ident $number:literal $title:literal; $text:literal $wrong:literal => $right:literal)*) => {
        $(
            #[doc = $title]
            pub const $name: Code = Code($number);
        )*

        /// Every kind of error, by ascending code.
        const REGISTRY: &[Explanation] = &[
            $(Explanation { code: $name, title: $title, text: $text, wrong: $wrong, right: $right },)*
        ];
    };
}

registry! {
    OTHER_TRACE 1 "A tensor of another trace was used.";
    "A `Tensor` is a handle into the trace that made it, and means nothing in another one. Values pass between
programs as arrays: return the tensor, and give what the replay returns to the other program as an input."
    "let mut kept = None;
trace(|x: Tensor| { kept = Some(x.exp()); x }, f32::spec([3]))?;
trace(|x: Tensor| x + kept.unwrap(), f32::spec([3]))?;"
    => "trace(|x: Tensor| x.exp(), f32::spec([3]))?;
trace(|(x, e)| x + e, (f32::spec([3]), f32::spec([3])))?;"

    NO_TRACE 2 "A tensor was made outside of any trace.";
    "Operations on tensors are recorded by the running trace. Without one there is nothing to record them in. Make the
tensor inside the traced function, or keep data in an `Array`, which can be captured."
    "let one = ones(DType::F32, [3]);
trace(|x: Tensor| x + one, f32::spec([3]))?;"
    => "trace(|x: Tensor| x + ones(DType::F32, [3]), f32::spec([3]))?;"

    ENDED_BODY 3 "A tensor of a body was used after the body had ended.";
    "What is computed in a branch of `cond` or in the body of a loop exists only there. Return it from the body; it is
then a result of the `cond` or loop."
    "let mut kept = x;
fori_loop(3, x, |_, s| { kept = s * 2.0; kept });
kept + 1.0"
    => "let last = fori_loop(3, x, |_, s| s * 2.0);
last + 1.0"

    TOO_LARGE 4 "A tensor has more bytes than can be addressed.";
    "The size of every tensor must fit in 63 bits. A shape this large is usually a mistake in a broadcast or a range."
    "zeros(DType::F32, [1 << 40, 1 << 40])"
    => "zeros(DType::F32, [1 << 10, 1 << 10])"

    NAME 5 "A name is empty or taken.";
    "Inputs, states and probes are found by their names, so names must differ."
    "probe(\"loss\", &a);
probe(\"loss\", &b);"
    => "probe(\"loss.data\", &a);
probe(\"loss.penalty\", &b);"

    PARSE 6 "Textual IR does not parse.";
    "The place is marked where the parser found something else than the grammar of `ir/TEXT.md` allows."
    "%1 = add %0 %0 : f32[3]"
    => "%1 = add %0, %0 : f32[3]"

    INVALID 7 "A graph breaks an invariant.";
    "Every graph that enters the compiler is verified: operands come before users, types are what inference says, and
parameters and outputs are declared once. A traced program never breaks an invariant; textual IR can."
    "%1 = relu %2"
    => "%1 = neg %0"

    BROADCAST 101 "Shapes do not broadcast.";
    "Shapes are aligned at the right, and an extent of 1 repeats (NumPy's rule). Two other extents must be equal. A
vector that belongs to the rows needs a dimension more: `.unsqueeze(-1)`."
    "trace(|(x, y)| x + y, (f32::spec([3, 4]), f32::spec([3])))?;"
    => "trace(|(x, y)| x + y.unsqueeze(-1), (f32::spec([3, 4]), f32::spec([3])))?;"

    DTYPES 102 "The dtypes of two tensors differ.";
    "There is no implicit promotion, because it hides conversions and changes precision unasked. Convert one side. A
number written in the source takes the dtype of the tensor beside it."
    "trace(|(x, n)| x * n, (f32::spec([3]), i32::spec([3])))?;"
    => "trace(|(x, n)| x * n.cast(DType::F32), (f32::spec([3]), i32::spec([3])))?;"

    OPERANDS 103 "An operation does not take its operands.";
    "The message says what was given and what the operation takes. Some operations take floats only, others integers;
attributes such as ranges and sizes must lie within the shape."
    "trace(|n: Tensor| n.exp(), i32::spec([3]))?;"
    => "trace(|n: Tensor| n.cast(DType::F32).exp(), i32::spec([3]))?;"

    AXIS 104 "There is no such axis.";
    "Axes count from 0, negative ones from the end: -1 is the last."
    "trace(|x: Tensor| x.sum(2), f32::spec([3, 4]))?;"
    => "trace(|x: Tensor| x.sum(-1), f32::spec([3, 4]))?;"

    NUMBER 105 "A number does not fit the dtype beside it.";
    "A host number takes the dtype of the tensor it meets. Integers must be held exactly, a fraction has no place in an
integer tensor, and a float must not overflow."
    "trace(|n: Tensor| n * 0.5, i32::spec([3]))?;"
    => "trace(|n: Tensor| n.cast(DType::F32) * 0.5, i32::spec([3]))?;"

    MATMUL 106 "Shapes do not multiply.";
    "A matrix product takes `[…, M, K]` and `[…, K, N]`. The inner dimensions must be equal, and the leading ones
broadcast."
    "trace(|(x, w)| x.matmul(w), (f32::spec([8, 3]), f32::spec([4, 3])))?;"
    => "trace(|(x, w)| x.matmul(w.t()), (f32::spec([8, 3]), f32::spec([4, 3])))?;"

    STATE_TYPE 201 "A state changes its dtype or shape.";
    "State lives in place on the device from one replay to the next, so the new value must have the dtype and shape of
the old one."
    "trace_step(&count, f32::spec([5]), |n, x| (n + x, ()))?;       // count: f32[]"
    => "trace_step(&count, f32::spec([5]), |n, x| (n + x.sum(..), ()))?;"

    STRUCTURE 202 "Structures differ.";
    "Both branches of a `cond`, the state of a loop before and after a round, and the state of a step must be trees of
the same structure: the same lengths of `Vec`s, and `Option`s that agree."
    "trace_step(&vec![a, b], (), |mut s, ()| { s.pop(); (s, ()) })?;"
    => "trace_step(&vec![a, b], (), |mut s, ()| { s[1] = s[0]; (s, ()) })?;"

    PROBE_IN_BODY 203 "A probe stands in the body of a `cond` or loop.";
    "A probe is an output of the whole graph, and a value inside a body is not visible there. Return it from the body."
    "fori_loop(3, x, |_, s| probe(\"s\", &(s * 2.0)))"
    => "let s = fori_loop(3, x, |_, s| s * 2.0);
probe(\"s\", &s)"

    REPEATED_RANDOMNESS 204 "A draw gives the same random numbers at every replay.";
    "The numbers are a function of the generator's state, so a generator that no replay changes repeats for ever: one that
is captured, a parameter, or not returned by the step that drew from it. Keep it in the state of `trace_step` and return
it. Numbers that shall stay the same are drawn from a generator that is an input."
    "let rng = Rng::seed(7);
trace(|x| constant(&rng).dropout(&x, 0.1), f32::spec([3]))?;"
    => "let rng = Rng::seed(7);
trace_step(&rng, f32::spec([3]), |mut rng, x| { let y = rng.dropout(&x, 0.1); (rng, y) })?;"

    NONZERO 301 "The shape of `nonzero` depends on data.";
    "Memory and launches are planned before there is data, so every shape must be known. `nonzero_padded` has a fixed
size and fills what is missing; a mask often needs no indices at all."
    "trace(|x: Tensor| x.nonzero(), f32::spec([100]))?;"
    => "trace(|x: Tensor| x.nonzero_padded(16, -1), f32::spec([100]))?;"

    MASKED_SELECT 302 "The shape of `masked_select` depends on data.";
    "As for MG0301. `masked_select_padded` has a fixed size; a sum over chosen elements needs no selection."
    "trace(|x: Tensor| x.masked_select(&x.gt(0.0)).sum(0), f32::spec([100]))?;"
    => "trace(|x: Tensor| x.gt(0.0).select(x, 0.0).sum(0), f32::spec([100]))?;"

    UNIQUE 303 "The shape of `unique` depends on data.";
    "As for MG0301. `unique_padded` has a fixed size and fills what is missing."
    "trace(|x: Tensor| x.unique(), i32::spec([100]))?;"
    => "trace(|x: Tensor| x.unique_padded(10, -1), i32::spec([100]))?;"

    REPEAT_INTERLEAVE 304 "The shape of `repeat_interleave` with traced counts depends on data.";
    "As for MG0301. Repetition is a gather: compute the indices with a fixed size and `take` them."
    "trace(|(x, n)| x.repeat_interleave(n), (f32::spec([3]), i64::spec([3])))?;"
    => "trace(|(x, i)| x.take(i, 0), (f32::spec([3]), i64::spec([10])))?;"

    DYNAMIC_RANGE 305 "The shape of a range up to a traced value depends on data.";
    "As for MG0301. A range of fixed size with a mask says the same."
    "trace(|n: Tensor| dynamic_range(&n).sum(0), i64::spec([]))?;"
    => "trace(|n: Tensor| { let i = arange(DType::I64, 100); i.lt(n).select(i, 0).sum(0) }, i64::spec([]))?;"

    WHILE_LOOP 401 "The number of rounds of a loop depends on data.";
    "A CUDA graph launches the same kernels at every replay. Give the loop a bound and let rounds beyond the end change
nothing, or replay one round at a time."
    "while_loop(x, |x| x.sum(..).lt(100.0), |x| x * 2.0)"
    => "fori_loop(20, x, |_, x| x.sum(..).lt(100.0).select(x * 2.0, x))"

    ITEM 501 "`item` reads a tensor on the host inside a trace.";
    "Tracing runs the function once, without data. Return the tensor and read it after the replay; a number that goes
back into the computation can stay a tensor."
    "trace(|x: Tensor| { let s: f32 = x.sum(..).item()?; Ok(x / s) }, f32::spec([3]))?;"
    => "trace(|x: Tensor| x / x.sum(..), f32::spec([3]))?;"

    TO_VEC 502 "`to_vec` reads a tensor on the host inside a trace.";
    "As for MG0501. Return the tensor, or name it with `probe`."
    "trace(|x: Tensor| { let v = x.to_vec::<f32>()?; Ok(x * v[0]) }, f32::spec([3]))?;"
    => "trace(|x: Tensor| x * x.slice(0, 0..1), f32::spec([3]))?;"

    PRINT 503 "`print` reads a tensor on the host inside a trace.";
    "As for MG0501. A probe is readable after each replay."
    "trace(|x: Tensor| { x.print(); x }, f32::spec([3]))?;"
    => "trace(|x: Tensor| probe(\"x\", &x), f32::spec([3]))?;"

    ASSERT 504 "`assert` reads a tensor on the host inside a trace.";
    "As for MG0501. A probe is readable after each replay, and can be checked there."
    "trace(|x: Tensor| { x.gt(0.0).assert(); x }, f32::spec([3]))?;"
    => "trace(|x: Tensor| { probe(\"positive\", &x.gt(0.0).all(..)); x }, f32::spec([3]))?;"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_and_are_explained() {
        let all: Vec<Code> = codes().collect();
        assert!(all.windows(2).all(|w| w[0] < w[1]), "{all:?}");
        assert_eq!(explain(NONZERO).unwrap().title, "The shape of `nonzero` depends on data.");
        assert_eq!(NONZERO.to_string(), "MG0301");
        assert_eq!(explain(Code(9999)), None);
        for explanation in REGISTRY {
            assert!(explanation.title.ends_with('.') && explanation.text.ends_with('.'), "{}", explanation.code);
            assert_ne!(explanation.wrong, explanation.right);
        }
    }
}
