//! Kernels with a convolution: operands and epilogue are evaluated element by element around it.
//!
//! It is a matrix product for each group, of the kernel `[O / groups, K]` and of the patches `[K, N · windows]`, where
//! `K` runs over the channels of a group and the elements of a window; a patch is never stored, but read through
//! index arithmetic. [`tiled`] has blocks compute tiles from shared memory; [`direct`] has threads compute some
//! elements by themselves, where groups or results are small. Sums accumulate in `float` for `f16`, `bf16` and `f32`,
//! in `double` for `f64`, and wrap for integers.

mod direct;
mod tiled;

use super::emit::{Emit, Emitter, refuse};
use super::types::{literal, register};
use super::windows::{Place, finish, is_mixed};
use super::{Code, Request};
use crate::index::{Index, delinear, linear};
use monograph_ir::{DType, Literal, Op, Shape, ValueId};

/// A group with fewer output channels has no tiles.
const FEW_CHANNELS: usize = 16;

/// The convolution of a body.
struct Convolution {
    value: ValueId,
    x: ValueId,
    kernel: ValueId,
    dtype: DType,
    batch: usize,
    groups: usize,
    /// Channels of a group.
    channels: usize,
    /// Output channels of a group.
    outputs: usize,
    /// Extents of the windows.
    windows: Shape,
    place: Place,
}

impl Convolution {
    fn of(request: &Request<'_>) -> Emit<Convolution> {
        let body = request.body;
        let mut found = body.iter().filter(|(_, n)| matches!(n.op, Op::Convolution { .. }));
        let (Some((id, node)), None) = (found.next(), found.next()) else {
            return refuse("not exactly one convolution");
        };
        let Op::Convolution { windows, groups } = &node.op else { return refuse("no convolution") };
        if is_mixed(body, id.value()) {
            return refuse("a convolution with another operation that has loops");
        }
        let [x, kernel] = [node.operands[0], node.operands[1]];
        let (of_x, of_kernel, spec) = (&body.spec(x).shape, &body.spec(kernel).shape, body.spec(id.value()));
        if of_x.is_empty() || of_kernel.is_empty() || spec.shape.is_empty() {
            return refuse("a convolution of no elements");
        }
        if request.outputs().any(|(_, s)| s.shape.size() != spec.shape.size()) {
            return refuse("an output that has not as many elements as the convolution");
        }
        Ok(Convolution {
            value: id.value(),
            x,
            kernel,
            dtype: spec.dtype,
            batch: spec.shape[0],
            groups: *groups,
            channels: of_kernel[1],
            outputs: spec.shape[1] / groups,
            windows: spec.shape[2..].into(),
            place: Place { windows: (**windows).clone(), extents: of_x[2..].into(), sizes: of_kernel[2..].into() },
        })
    }

    /// Windows of one channel of one element of the batch.
    fn area(&self) -> usize {
        self.windows.size()
    }

    /// Terms of each sum.
    fn terms(&self) -> usize {
        self.channels * self.place.sizes.size()
    }

    /// The element of a patch: of channel `c` of a group, in the window at `at`; zero for padding and holes, and where
    /// `exists` does not hold.
    fn patch(
        &self,
        emit: &mut Emitter<'_>,
        [n, group, c]: [&Index; 3],
        at: &[Index],
        tap: &[Index],
        exists: &str,
    ) -> Emit<String> {
        let (element, inside) = self.place.element(emit, at, tap);
        let channel = group.times(self.channels as i64).add(c);
        let value = emit.value(self.x, &[&[n.clone(), channel][..], &element].concat())?;
        Ok(self.zero_unless(emit, &[&inside, exists], value))
    }

    /// The element of the kernel for channel `o` of all output channels, channel `c` of its group.
    fn weight(&self, emit: &mut Emitter<'_>, [o, c]: [&Index; 2], tap: &[Index], exists: &str) -> Emit<String> {
        let value = emit.value(self.kernel, &[&[o.clone(), c.clone()][..], tap].concat())?;
        Ok(self.zero_unless(emit, &[exists], value))
    }

    fn zero_unless(&self, emit: &mut Emitter<'_>, conditions: &[&str], value: String) -> String {
        let conditions: Vec<&str> = conditions.iter().copied().filter(|&c| c != "true").collect();
        if conditions.is_empty() {
            return value;
        }
        let zero = literal(Literal::zero(self.dtype));
        emit.define(register(self.dtype), "t", format!("{} ? {value} : {zero}", conditions.join(" && ")))
    }

    /// Where an element of the result lies.
    fn position(&self, n: &Index, o: &Index, window: &Index) -> Index {
        let outputs = self.groups * self.outputs;
        linear(&[n.clone(), o.clone(), window.clone()], &[self.batch, outputs, self.area()])
    }

    /// Stores the outputs for adjacent windows of one output channel.
    fn finish(
        &self,
        request: &Request<'_>,
        emit: &mut Emitter<'_>,
        [n, o]: [&Index; 2],
        sums: &[(Index, String)],
    ) -> Emit<()> {
        let elements: Vec<_> = sums.iter().map(|(w, sum)| (self.position(n, o, w), sum.clone())).collect();
        finish(request, emit, (self.value, self.dtype), &elements)
    }
}

/// Whether the body has code of this family, by writing it for one element.
pub(super) fn check(request: &Request<'_>) -> Emit<()> {
    epilogue(request, &Convolution::of(request)?).map(drop)
}

/// Statements of one element of the outputs.
fn epilogue(request: &Request<'_>, convolution: &Convolution) -> Emit<usize> {
    let mut emit = request.emitter();
    let n = emit.variable("n", convolution.batch);
    let o = emit.variable("o", convolution.groups * convolution.outputs);
    let window = emit.variable("w", convolution.area());
    let c = emit.variable("c", convolution.channels);
    let tap: Vec<Index> = convolution.place.sizes.iter().map(|&size| emit.variable("k", size)).collect();
    let at = delinear(&window, &convolution.windows);
    let group = o.div(convolution.outputs as i64);
    convolution.patch(&mut emit, [&n, &group, &c], &at, &tap, "true")?;
    convolution.weight(&mut emit, [&o, &c], &tap, "true")?;
    let before = emit.statements();
    convolution.finish(request, &mut emit, [&n, &o], &[(window, "sum".to_string())])?;
    Ok(emit.statements() - before)
}

pub(super) fn generate(request: &Request<'_>) -> Emit<Code> {
    let convolution = Convolution::of(request)?;
    if convolution.outputs < FEW_CHANNELS || convolution.batch * convolution.area() < FEW_CHANNELS {
        direct::generate(request, &convolution)
    } else {
        tiled::generate(request, &convolution)
    }
}
