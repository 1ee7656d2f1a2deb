//! Random numbers: a generator that is part of the state of a step.
//!
//! [`Rng`] is a tree of one tensor: the key, the stream and the position of a sequence of random words, those of
//! [`Op::RandomBits`]. Drawing takes `&mut self` and moves the position behind what was drawn, so a step that returns
//! its generator with its state draws new numbers at every replay. The same words come on every device.
//!
//! `distributions` makes numbers of the words, `sampling` makes choices.

mod distributions;
mod sampling;

use super::create::filled;
use super::tracer::{record, scope};
use super::{Operand, Tensor};
use monograph_ir::philox::{STATE, WORDS, block};
use monograph_ir::{Array, DType, Entry, Error, Leaf, Literal, Op, Path, Shape, Tree};

/// A generator of random numbers: a tree of one leaf, to be kept in the state of a step.
///
/// It is made on the host from a seed. In a traced function it draws tensors, and each draw moves it on:
///
/// ```
/// use monograph_compiler::trace::{Rng, trace_step};
/// use monograph_ir::{DType, interp};
///
/// let program = trace_step(&Rng::seed(7), (), |mut rng, ()| {
///     let points = rng.uniform(DType::F32, [1000, 2]);
///     let inside = points.square().sum(-1).lt(1.0);
///     (rng, inside.cast(DType::F32).mean(..) * 4.0)
/// })?;
///
/// // The host runs two replays: the state that one leaves is what the next starts from.
/// let state = Rng::seed(7).state().to_vec::<i64>()?;
/// let first = interp::evaluate(program.graph(), &[interp::Tensor::from_vec([3], state)?])?;
/// let second = interp::evaluate(program.graph(), &first[..1])?;
/// for replay in [&first, &second] {
///     assert!((replay[1].to_f64_vec()[0] - std::f64::consts::PI).abs() < 0.2);
/// }
/// assert_ne!(first[1], second[1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What repeats and what does not
///
/// - Equal states give equal numbers, on every device and at every time: words, integers, `uniform`, `bernoulli`,
///   `randint`, permutations and everything else without transcendental functions to the bit; `normal`, `exponential`
///   and what is made of them within the few units in the last place in which devices differ in `log` and `cos`.
/// - A generator that is captured, a parameter of [`trace_with`](super::trace_with), or one that the step does not
///   return moved on would give the same numbers at every replay. Drawing from it is an error. To have the same numbers
///   on purpose, pass the generator as an input.
/// - `clone` is explicit, because a copy draws what the original draws. For numbers of its own, use [`Rng::fork`].
///
/// A stream has 2⁶⁴ blocks of four words; seeds give different keys, and forked streams differ in 128 random bits.
#[derive(Clone, Debug)]
pub struct Rng<T> {
    /// `i64[3]`: key, stream, position, each the bits of an unsigned number.
    state: T,
}

impl<T: Leaf> Tree for Rng<T> {
    type Leaf = T;
    type Map<U: Leaf> = Rng<U>;

    fn visit<'a>(&'a self, path: &mut Path, f: &mut dyn FnMut(&Path, Entry<'a, T>)) {
        path.field("state", |path| f(path, Entry::Leaf(&self.state)));
    }

    fn map_leaves<U: Leaf>(&self, path: &mut Path, f: &mut dyn FnMut(&Path, &T) -> U) -> Rng<U> {
        Rng { state: path.field("state", |path| f(path, &self.state)) }
    }
}

impl<T> Rng<T> {
    /// The leaf: `i64[3]`, the bits of key, stream and position.
    pub fn state(&self) -> &T {
        &self.state
    }
}

impl Rng<Array> {
    /// The generator of a seed, at the start of its first stream.
    pub fn seed(seed: u64) -> Rng<Array> {
        Rng::at(seed, 0, 0)
    }

    /// The generator at a place: so many blocks of four words behind the start of a stream of a key.
    pub fn at(key: u64, stream: u64, position: u64) -> Rng<Array> {
        of([key, stream, position].map(|x| x as i64))
    }

    /// A generator with a stream of its own, and this one moved on by a block: [`Rng::fork`] of a traced generator,
    /// on the host.
    ///
    /// # Errors
    /// [`Error::Array`](monograph_ir::Error) where the state lies on a device that cannot be read.
    pub fn fork(&mut self) -> Result<Rng<Array>, Error> {
        let [key, stream, position] = self.numbers()?;
        *self = of([key, stream, position.wrapping_add(1)]);
        Ok(of(child([key, stream, position])))
    }

    /// So many forks.
    ///
    /// # Errors
    /// As [`Rng::fork`].
    pub fn split(&mut self, count: usize) -> Result<Vec<Rng<Array>>, Error> {
        (0..count).map(|_| self.fork()).collect()
    }

    /// A fork that differs for each `data`: for the number of a worker or a device. Generators that were equal before
    /// are equal after, whatever the data.
    ///
    /// # Errors
    /// As [`Rng::fork`].
    pub fn fold_in(&mut self, data: i64) -> Result<Rng<Array>, Error> {
        let [key, stream, _] = self.fork()?.numbers()?;
        Ok(of(child([key, stream, data])))
    }

    fn numbers(&self) -> Result<[i64; STATE], Error> {
        let state = self.state.to_vec::<i64>()?;
        state.try_into().map_err(|_| Error::Internal("the state of a generator has three elements".into()))
    }
}

/// The generator of these numbers.
fn of(state: [i64; STATE]) -> Rng<Array> {
    Rng { state: Array::from_slice([STATE], &state).expect("three elements for a shape of three") }
}

/// The state of the stream that a block names.
fn child(state: [i64; STATE]) -> [i64; STATE] {
    let [a, b, c, d] = block(state, 0).map(i64::from);
    [a | b << 32, c | d << 32, 0]
}

impl Rng<Tensor> {
    /// Random words of u32: 32 independent fair bits each.
    #[track_caller]
    pub fn bits(&mut self, shape: impl Into<Shape>) -> Tensor {
        let shape = shape.into();
        let blocks = shape.elements().unwrap_or(0).div_ceil(WORDS);
        let words = record(Op::RandomBits { shape }, &[self.state]);
        self.advance(blocks);
        words
    }

    /// A generator with a stream of its own, and this one moved on by a block: for a part of a model that shall draw
    /// the same numbers, however much other parts draw.
    #[track_caller]
    #[must_use = "the fork is what draws; the generator itself has only moved on"]
    pub fn fork(&mut self) -> Rng<Tensor> {
        let _scope = scope("fork");
        let identity = self.identities(1);
        Rng { state: begin(identity.reshape([2])) }
    }

    /// So many forks.
    #[track_caller]
    #[must_use = "the forks are what draws; the generator itself has only moved on"]
    pub fn split(&mut self, count: usize) -> Vec<Rng<Tensor>> {
        let _scope = scope("split");
        let identities = self.identities(count);
        (0..count).map(|i| Rng { state: begin(identities.slice(0, i..i + 1).reshape([2])) }).collect()
    }

    /// A fork that differs for each `data`, an integer scalar: for the number of a worker, a layer or a round.
    /// Generators that were equal before are equal after, whatever the data.
    #[track_caller]
    #[must_use = "the result is what draws; the generator itself has only moved on"]
    pub fn fold_in(&mut self, data: impl Operand) -> Rng<Tensor> {
        let data = data.tensor(Some(DType::I64)).cast(DType::I64);
        let _scope = scope("fold_in");
        let identity = self.identities(1).reshape([2]);
        Rng { state: super::concat(&[identity, data.reshape([1])], 0) }.fork()
    }

    /// Key and stream of `count` new streams: `i64[count, 2]`.
    #[track_caller]
    fn identities(&mut self, count: usize) -> Tensor {
        let words = self.bits([count, 2, 2]).cast(DType::I64);
        let half = |i: usize| words.slice(2, i..i + 1).reshape([count, 2]);
        half(0) | half(1).shift_left(words.constant_like(32.0))
    }

    /// Moves on by blocks of four words.
    #[track_caller]
    fn advance(&mut self, blocks: usize) {
        // A draw that cannot exist, or of nothing, is none.
        if blocks == 0 {
            return;
        }
        let number = |x: usize| filled(Literal::from_i64(DType::I64, x as i64), Shape::scalar());
        let at_position = super::arange(DType::I64, STATE).eq(number(STATE - 1));
        self.state += at_position.select(number(blocks), number(0));
    }

    /// `count` random words for each element: tensors of the shape.
    #[track_caller]
    fn words(&mut self, shape: &Shape, count: usize) -> Vec<Tensor> {
        if count == 1 {
            return vec![self.bits(shape.clone())];
        }
        let all = self.bits(shape.iter().copied().chain([count]).collect::<Shape>());
        (0..count).map(|i| all.slice(-1, i..i + 1).reshape(shape.clone())).collect()
    }
}

/// The state at the start of the stream with these key and stream, `i64[2]`.
#[track_caller]
fn begin(identity: Tensor) -> Tensor {
    super::concat(&[identity, super::zeros(DType::I64, [1])], 0)
}
