//! Kernels over windows: a thread computes one window (or, going back, one element) by a loop over what it holds.
//!
//! Going back from an arg-reduction is a loop of the same form: the windows that hold an element are a window of the
//! transposed map, so each element gathers its updates in their order, and no two threads write one element.

mod place;

pub(super) use place::{Place, open_loop};

use super::emit::{Emit, Emitter, refuse};
use super::types::{identity, literal, register};
use super::{Code, Request};
use crate::index::{Index, delinear, linear};
use monograph_ir::dilated;
use monograph_ir::plan::IndexMap;
use monograph_ir::{Axes, DType, Elementwise, Extreme, Graph, Literal, Node, Op, Reduction, Shape, ValueId, Windows};

/// Threads of a block.
const THREADS: usize = 128;

/// How far the positions of an op's windows reach along one dimension.
pub(super) fn reach(body: &Graph, node: &Node) -> usize {
    let shape = |i: usize| &body.spec(node.operands[i]).shape;
    let (windows, extents, sizes): (&Windows, &[usize], &[usize]) = match &node.op {
        Op::Convolution { windows, .. } => (windows, &shape(0)[2..], &shape(1)[2..]),
        Op::WindowReduce { sizes, windows, .. } | Op::WindowArg { sizes, windows, .. } => {
            (windows, &shape(0)[shape(0).rank() - sizes.len()..], sizes)
        }
        Op::WindowScatter { extents, sizes, windows } => (windows, extents, sizes),
        _ => return 0,
    };
    let along = |axis: usize| {
        let padding = windows.low[axis].unsigned_abs() + windows.high[axis].unsigned_abs();
        let elements = dilated(extents[axis], windows.input_dilation[axis]);
        let window = dilated(sizes[axis], windows.dilation[axis]) + windows.strides[axis] as u128;
        usize::try_from(elements + window + u128::from(padding)).unwrap_or(usize::MAX)
    };
    (0..extents.len()).map(along).max().unwrap_or(0)
}

/// Whether anything of the body but the one op at `value` has loops of its own.
pub(super) fn is_mixed(body: &Graph, value: ValueId) -> bool {
    let loops = |op: &Op| {
        op.is_windowed()
            || matches!(
                op,
                Op::Reduce { .. } | Op::ArgReduce { .. } | Op::Scan { .. } | Op::Scatter { .. } | Op::Matmul { .. }
            )
    };
    body.iter().any(|(id, node)| id != value.node && loops(&node.op))
}

/// Announces elements of `value` at adjacent positions and stores those of the outputs.
pub(super) fn finish(
    request: &Request<'_>,
    emit: &mut Emitter<'_>,
    (value, dtype): (ValueId, DType),
    elements: &[(Index, String)],
) -> Emit<()> {
    for (position, element) in elements {
        let settled = emit.settled(dtype, element);
        emit.hold(value, position.clone(), settled);
    }
    let mut stores = Vec::new();
    for (output, spec) in request.outputs() {
        let mut values = Vec::with_capacity(elements.len());
        for (position, _) in elements {
            values.push(emit.value(output, &delinear(position, &spec.shape))?);
        }
        stores.push((spec.dtype, values));
    }
    for (number, (dtype, values)) in stores.iter().enumerate() {
        emit.store(number, *dtype, &elements[0].0, values);
    }
    Ok(())
}

/// What a thread does with the elements of its window.
enum Work {
    Reduce(Reduction),
    Arg(Extreme),
    /// Adds up the updates whose index is the thread's own position.
    Gather,
}

/// The op of a body.
struct Windowed {
    value: ValueId,
    operands: Vec<ValueId>,
    work: Work,
    /// The dtype of what is read.
    dtype: DType,
    shape: Shape,
    /// The dimensions before the windows'.
    leading: usize,
    place: Place,
}

impl Windowed {
    fn of(request: &Request<'_>) -> Emit<Windowed> {
        let body = request.body;
        let Some((id, node)) = body.iter().find(|(_, n)| n.op.is_windowed()) else { return refuse("no windows") };
        if is_mixed(body, id.value()) {
            return refuse("windows with another operation that has loops");
        }
        let operand = body.spec(node.operands[0]);
        let shape = body.spec(id.value()).shape.clone();
        if operand.shape.is_empty() || shape.is_empty() {
            return refuse("windows over no elements");
        }
        if request.outputs().any(|(_, s)| s.shape.size() != shape.size()) {
            return refuse("an output that has not as many elements as there are windows");
        }
        let (work, windows, sizes): (Work, Windows, &Axes) = match &node.op {
            Op::WindowReduce { kind, sizes, windows } => (Work::Reduce(*kind), Windows::clone(windows), sizes),
            Op::WindowArg { kind, sizes, windows } => (Work::Arg(*kind), Windows::clone(windows), sizes),
            Op::WindowScatter { extents, sizes, windows } => (Work::Gather, windows.transposed(extents, sizes), sizes),
            _ => return refuse("no windows"),
        };
        let leading = shape.rank() - sizes.len();
        let extents = operand.shape[leading..].into();
        Ok(Windowed {
            value: id.value(),
            operands: node.operands.to_vec(),
            work,
            dtype: operand.dtype,
            leading,
            place: Place { windows, extents, sizes: sizes[..].into() },
            shape,
        })
    }

    /// The statements of one thread, for the window at this row-major position.
    fn emit(&self, request: &Request<'_>, emit: &mut Emitter<'_>, point: &Index) -> Emit<()> {
        let index = delinear(point, &self.shape);
        let (before, window) = index.split_at(self.leading);
        let ty = register(self.dtype);
        let start = literal(match &self.work {
            Work::Reduce(kind) => identity(*kind, self.dtype),
            Work::Arg(_) | Work::Gather => Literal::zero(self.dtype),
        });
        let best = emit.define(ty, "a", start);
        let at = matches!(self.work, Work::Arg(_)).then(|| emit.define("long long", "at", "-1"));
        let taps = self.place.open(emit);
        let (element, inside) = self.place.element(emit, window, &taps);
        let full = [before, &element].concat();
        let x = emit.value(self.operands[0], &full)?;
        match &self.work {
            Work::Reduce(kind) => {
                let combined = apply(kind.combine(), &best, &x);
                emit.line(format!("{best} = {};", chosen(&inside, &combined, &best)));
            }
            Work::Arg(kind) => {
                let at = at.as_deref().unwrap_or_default();
                let sign = if *kind == Extreme::Max { '>' } else { '<' };
                let nan =
                    if self.dtype.is_float() { format!(" || ({x} != {x} && {best} == {best})") } else { String::new() };
                let better = emit.define("bool", "c", format!("{inside} && ({at} < 0 || {x} {sign} {best}{nan})"));
                let position = emit.index(&linear(&element, &self.place.extents));
                emit.line(format!("{best} = {better} ? {x} : {best};"));
                emit.line(format!("{at} = {better} ? (long long)({position}) : {at};"));
            }
            Work::Gather => {
                let named = emit.value(self.operands[1], &full)?;
                let own = linear(window, &self.shape[self.leading..]);
                let own = emit.index(&own);
                let sum = apply(Elementwise::Add, &best, &x);
                let hit = format!("{inside} && (long long){named} == (long long)({own})");
                emit.line(format!("{best} = {};", chosen(&hit, &sum, &best)));
            }
        }
        self.place.close(emit);
        let result = at.unwrap_or(best);
        let dtype = request.body.spec(self.value).dtype;
        finish(request, emit, (self.value, dtype), &[(point.clone(), result)])
    }
}

fn apply(op: Elementwise, a: &str, b: &str) -> String {
    op.cuda().replace("$0", a).replace("$1", b)
}

/// `then` where the condition holds.
fn chosen(condition: &str, then: &str, otherwise: &str) -> String {
    if condition == "true" { then.to_string() } else { format!("{condition} ? {then} : {otherwise}") }
}

/// Whether the body has code of this family, by writing it for one thread.
pub(super) fn check(request: &Request<'_>) -> Emit<()> {
    let windowed = Windowed::of(request)?;
    let mut emit = request.emitter();
    let point = emit.variable("p", windowed.shape.size());
    windowed.emit(request, &mut emit, &point)
}

pub(super) fn generate(request: &Request<'_>) -> Emit<Code> {
    let windowed = Windowed::of(request)?;
    let points = windowed.shape.size();
    let mut emit = request.emitter();
    let point = open_points(&mut emit, points, THREADS);
    windowed.emit(request, &mut emit, &point)?;
    code(request, windowed.shape.clone(), emit, points.div_ceil(THREADS), THREADS)
}

/// The number of a thread in its grid, which ends threads behind the last of `points`.
pub(super) fn open_points(emit: &mut Emitter<'_>, points: usize, threads: usize) -> Index {
    let ty = emit.index_type();
    let unsigned = if ty == "int" { "unsigned" } else { "mg_u64" };
    emit.line(format!("{ty} p = ({ty})(({unsigned})blockIdx.x * {threads}u + threadIdx.x);"));
    if !points.is_multiple_of(threads) {
        emit.line(format!("if (p >= {points}) return;"));
    }
    emit.variable("p", points)
}

/// The code around an emitter's text.
pub(super) fn code(
    request: &Request<'_>,
    domain: Shape,
    emit: Emitter<'_>,
    blocks: usize,
    threads: usize,
) -> Emit<Code> {
    let Some(grid) = u32::try_from(blocks).ok().filter(|&g| g <= i32::MAX as u32) else {
        return refuse("more windows than a grid has threads");
    };
    Ok(Code {
        domain,
        reads: vec![IndexMap::Any; request.body.params().len()],
        writes: vec![IndexMap::Any; request.body.outputs().len()],
        text: emit.finish(),
        grid,
        block: [threads as u32, 1, 1],
    })
}
