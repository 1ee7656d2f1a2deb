//! `infer`: the one place that says which operands an op takes and what type its results have.

mod windowed;

use crate::op::{DynamicOp, HostOp};
use crate::philox::STATE;
use crate::{Axes, DType, Domain, Elementwise, Graph, Op, Reduction, Shape, Spec, Type};
use smallvec::{SmallVec, smallvec};

/// Why an op does not take its operands. The message names the op, what was given and what it takes.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{op}`: {message}")]
pub struct InferError {
    /// The op's name.
    pub op: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do instead, where there is one obvious thing.
    pub help: Option<String>,
}

/// The types of an op's results.
pub type Types = SmallVec<[Type; 1]>;

/// A message, and what to do.
type Wrong = (String, Option<String>);

fn wrong<T>(message: impl Into<String>) -> Result<T, Wrong> {
    Err((message.into(), None))
}

fn wrong_help<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, Wrong> {
    Err((message.into(), Some(help.into())))
}

/// The types of the results of `op` over operands of these types.
///
/// # Errors
/// A wrong number of operands, a dtype or shape the op does not take, an attribute that does not fit, or a result
/// whose size in bytes does not fit in an `i64`.
pub fn infer(op: &Op, operands: &[&Type]) -> Result<Types, InferError> {
    check(op, operands).map_err(|(message, help)| InferError { op: op.name(), message, help })
}

fn check(op: &Op, operands: &[&Type]) -> Result<Types, Wrong> {
    if let Op::Host(op) = op {
        return arity(operands, 1).map(|()| match op {
            HostOp::Item | HostOp::ToVec | HostOp::Print | HostOp::Assert => Types::new(),
        });
    }
    // One rule for everything whose shape is unknown: the result's is unknown too.
    if let Some(dynamic) = operands.iter().find(|t| t.spec().is_none()) {
        return Ok(smallvec![Type::Dynamic(dynamic.dtype())]);
    }
    let specs: SmallVec<[&Spec; 4]> = operands.iter().filter_map(|t| t.spec()).collect();
    let results = match op {
        Op::Dynamic(op) => return dynamic(*op, &specs),
        Op::Cond { then, otherwise } => return cond(&then.0, &otherwise.0, &specs),
        Op::While { condition, body } => return while_loop(&condition.0, &body.0, &specs),
        Op::For { body, .. } => return fori_loop(&body.0, &specs),
        _ => tensor(op, &specs)?,
    };
    if results.bytes().is_none() {
        return wrong(format!("the result {results} has more bytes than 2^63"));
    }
    Ok(smallvec![Type::Tensor(results)])
}

fn arity<T>(operands: &[T], n: usize) -> Result<(), Wrong> {
    if operands.len() == n {
        return Ok(());
    }
    wrong(format!("takes {n} operand{}, not {}", if n == 1 { "" } else { "s" }, operands.len()))
}

fn take<'a, const N: usize>(specs: &[&'a Spec]) -> Result<[&'a Spec; N], Wrong> {
    arity(specs, N)?;
    let mut it = specs.iter().copied();
    Ok(std::array::from_fn(|_| it.next().expect("as many as counted")))
}

/// Ops with one tensor result.
fn tensor(op: &Op, specs: &[&Spec]) -> Result<Spec, Wrong> {
    match op {
        Op::Parameter(_) => wrong("parameters are declared, not applied"),
        Op::Constant(literal) => {
            arity(specs, 0)?;
            Ok(Spec::new(literal.dtype(), []))
        }
        Op::Iota { dtype, shape, axis } => {
            arity(specs, 0)?;
            check_axis(*axis, shape)?;
            if *dtype == DType::Bool {
                return wrong("counts in numbers; bool is none");
            }
            Ok(Spec::new(*dtype, shape))
        }
        Op::RandomBits { shape } => {
            let [state] = take(specs)?;
            if *state != Spec::new(DType::I64, [STATE]) {
                return wrong(format!("the state is {state}, not i64[{STATE}]: key, stream and position"));
            }
            Ok(Spec::new(DType::U32, shape))
        }
        Op::Elementwise(e) => elementwise(*e, specs),
        Op::Select => select(take(specs)?),
        Op::Cast(dtype) => take(specs).map(|[x]: [_; 1]| Spec::new(*dtype, &x.shape)),
        Op::Bitcast(dtype) => {
            let [x] = take(specs)?;
            if dtype.size() != x.dtype.size() || *dtype == DType::Bool {
                return wrong(format!("the bits of {} cannot be read as {dtype}", x.dtype));
            }
            Ok(Spec::new(*dtype, &x.shape))
        }
        Op::Reshape(shape) => {
            let [x] = take(specs)?;
            match shape.elements() {
                Some(n) if Some(n) == x.shape.elements() => Ok(Spec::new(x.dtype, shape)),
                _ => wrong(format!("{x} does not have as many elements as {shape}")),
            }
        }
        Op::Permute(axes) => permute(take(specs)?, axes),
        Op::Broadcast(shape) => {
            let [x] = take(specs)?;
            if x.shape.broadcast_with(shape).as_ref() != Some(shape) {
                return wrong(format!("{x} does not broadcast to {shape}"));
            }
            Ok(Spec::new(x.dtype, shape))
        }
        Op::Slice { starts, limits, strides } => slice(take(specs)?, starts, limits, strides),
        Op::Pad { low, high } => pad(take(specs)?, low, high),
        Op::Concat { axis } => concat(specs, *axis),
        Op::Reverse(axes) => {
            let [x] = take(specs)?;
            check_axes(axes, &x.shape)?;
            Ok(x.clone())
        }
        Op::Reduce { kind, axes } => reduce(take(specs)?, *kind, axes),
        Op::ArgReduce { axis, .. } => {
            let [x] = take(specs)?;
            check_axis(*axis, &x.shape)?;
            not_empty_axis(x, *axis)?;
            Ok(Spec::new(DType::I64, without(&x.shape, &[*axis])))
        }
        Op::Scan { kind, axis } => {
            let [x] = take(specs)?;
            check_axis(*axis, &x.shape)?;
            reduction_takes(*kind, x.dtype)?;
            Ok(x.clone())
        }
        Op::Argsort { axis, descending: _ } => {
            let [x] = take(specs)?;
            check_axis(*axis, &x.shape)?;
            Ok(Spec::new(DType::I64, &x.shape))
        }
        Op::SortPacked => {
            let [x] = take(specs)?;
            packed_rows(x)?;
            Ok(x.clone())
        }
        Op::DigitCounts { shift, tile } => digit_counts(take(specs)?, *shift, *tile),
        Op::PlaceByDigit { shift, tile } => {
            let [x, ends] = take(specs)?;
            let expected = digit_counts([x], *shift, *tile)?;
            if *ends != expected {
                return wrong(format!("{x} in tiles of {tile} has ends {expected}, not {ends}"));
            }
            Ok(x.clone())
        }
        Op::ScatterSorted { axis, kind: _ } => {
            let [base, entries, updates] = take(specs)?;
            if entries.dtype != DType::I64 {
                return wrong(format!("the entries are {entries}, not i64"));
            }
            scatter([base, entries, updates], *axis)
        }
        Op::Matmul { transpose_a, transpose_b } => matmul(take(specs)?, *transpose_a, *transpose_b),
        Op::Convolution { windows, groups } => windowed::convolution(take(specs)?, windows, *groups),
        Op::WindowReduce { kind, sizes, windows } => windowed::reduce(take(specs)?, *kind, sizes, windows),
        Op::WindowArg { sizes, windows, .. } => windowed::arg(take(specs)?, sizes, windows),
        Op::WindowScatter { extents, sizes, windows } => windowed::scatter(take(specs)?, extents, sizes, windows),
        Op::Take { axis } => {
            let [x, indices] = take(specs)?;
            check_axis(*axis, &x.shape)?;
            check_indices(indices)?;
            let (before, after) = (&x.shape[..*axis], &x.shape[axis + 1..]);
            let shape = before.iter().chain(indices.shape.iter()).chain(after).copied().collect::<Shape>();
            Ok(Spec::new(x.dtype, shape))
        }
        Op::TakeAlong { axis } => take_along(take(specs)?, *axis),
        Op::Scatter { axis, kind: _ } => scatter(take(specs)?, *axis),
        Op::DynamicSlice { sizes } => {
            let (x, starts) = corner(specs, 1)?;
            check_starts(&x[0].shape, starts)?;
            fits(sizes, &x[0].shape)?;
            Ok(Spec::new(x[0].dtype, sizes))
        }
        Op::DynamicUpdateSlice => {
            let (x, starts) = corner(specs, 2)?;
            let [x, block] = [x[0], x[1]];
            check_starts(&x.shape, starts)?;
            same_dtype(x, block)?;
            fits(&block.shape, &x.shape)?;
            Ok(x.clone())
        }
        Op::Cond { .. } | Op::While { .. } | Op::For { .. } | Op::Dynamic(_) | Op::Host(_) => {
            wrong("has no single tensor result")
        }
    }
}

fn same_dtype(a: &Spec, b: &Spec) -> Result<(), Wrong> {
    if a.dtype == b.dtype {
        return Ok(());
    }
    wrong_help(
        format!("{a} with {b}: the dtypes differ"),
        format!("there is no implicit promotion; convert one side: `.cast(DType::{:?})`", a.dtype),
    )
}

fn elementwise(op: Elementwise, specs: &[&Spec]) -> Result<Spec, Wrong> {
    arity(specs, op.arity())?;
    let first = specs[0];
    for other in &specs[1..] {
        same_dtype(first, other)?;
        if other.shape != first.shape {
            return wrong(format!("{first} with {other}: the shapes differ"));
        }
    }
    if !op.domain().contains(first.dtype) {
        let help = match op.domain() {
            Domain::Float => "convert it first: `.cast(DType::F32)`",
            Domain::Integer | Domain::Number => "convert it first: `.cast(DType::I32)`",
            Domain::Bits => "compare it first: `.ne(0)` is a bool tensor",
            Domain::Any => "",
        };
        return wrong_help(format!("takes {}, not {}", op.domain().describe(), first.dtype), help);
    }
    Ok(Spec::new(op.result(first.dtype), &first.shape))
}

fn select([mask, a, b]: [&Spec; 3]) -> Result<Spec, Wrong> {
    if mask.dtype != DType::Bool {
        return wrong_help(format!("the mask is {mask}, not bool"), "compare it first: `.ne(0)` is a bool tensor");
    }
    same_dtype(a, b)?;
    if a.shape != b.shape || a.shape != mask.shape {
        return wrong(format!("{mask}, {a} and {b}: the shapes differ"));
    }
    Ok(a.clone())
}

fn check_axis(axis: usize, shape: &Shape) -> Result<(), Wrong> {
    if axis < shape.rank() {
        return Ok(());
    }
    wrong(format!("axis {axis} of a tensor with {} dimensions", shape.rank()))
}

fn check_axes(axes: &[usize], shape: &Shape) -> Result<(), Wrong> {
    for (i, &axis) in axes.iter().enumerate() {
        check_axis(axis, shape)?;
        if axes[..i].contains(&axis) {
            return wrong(format!("axis {axis} is given twice"));
        }
    }
    Ok(())
}

fn without(shape: &Shape, axes: &[usize]) -> Shape {
    shape.iter().enumerate().filter(|(i, _)| !axes.contains(i)).map(|(_, &d)| d).collect()
}

fn permute([x]: [&Spec; 1], axes: &Axes) -> Result<Spec, Wrong> {
    if axes.len() != x.shape.rank() {
        return wrong(format!("{} axes for a tensor with {} dimensions", axes.len(), x.shape.rank()));
    }
    check_axes(axes, &x.shape)?;
    Ok(Spec::new(x.dtype, axes.iter().map(|&a| x.shape[a]).collect::<Shape>()))
}

fn slice([x]: [&Spec; 1], starts: &Axes, limits: &Axes, strides: &Axes) -> Result<Spec, Wrong> {
    let rank = x.shape.rank();
    if [starts, limits, strides].iter().any(|a| a.len() != rank) {
        return wrong(format!("one start, limit and stride for each of the {rank} dimensions of {x}"));
    }
    let mut dims = Shape::default().to_vec();
    for i in 0..rank {
        let (start, limit, stride, extent) = (starts[i], limits[i], strides[i], x.shape[i]);
        if start > limit || limit > extent || stride == 0 {
            return wrong(format!("{start}..{limit} with step {stride} does not lie in dimension {i} of {x}"));
        }
        dims.push((limit - start).div_ceil(stride));
    }
    Ok(Spec::new(x.dtype, dims))
}

fn pad([x, value]: [&Spec; 2], low: &[i64], high: &[i64]) -> Result<Spec, Wrong> {
    let rank = x.shape.rank();
    if low.len() != rank || high.len() != rank {
        return wrong(format!("one amount before and one after for each of the {rank} dimensions of {x}"));
    }
    same_dtype(x, value)?;
    if value.shape.rank() != 0 {
        return wrong(format!("the value is {value}, not a scalar"));
    }
    let mut dims = Vec::with_capacity(rank);
    for i in 0..rank {
        let extent = i128::from(x.shape[i] as u64) + i128::from(low[i]) + i128::from(high[i]);
        match usize::try_from(extent) {
            Ok(d) => dims.push(d),
            Err(_) => return wrong(format!("({}, {}) leaves dimension {i} of {x} with {extent}", low[i], high[i])),
        }
    }
    Ok(Spec::new(x.dtype, dims))
}

fn concat(specs: &[&Spec], axis: usize) -> Result<Spec, Wrong> {
    let Some((first, rest)) = specs.split_first() else {
        return wrong("takes at least one operand");
    };
    check_axis(axis, &first.shape)?;
    let mut extent = first.shape[axis];
    for other in rest {
        same_dtype(first, other)?;
        if other.shape.rank() != first.shape.rank() || without(&other.shape, &[axis]) != without(&first.shape, &[axis])
        {
            return wrong(format!("{first} with {other}: the shapes differ beside axis {axis}"));
        }
        extent = match extent.checked_add(other.shape[axis]) {
            Some(e) => e,
            None => return wrong(format!("axis {axis} of the result does not fit")),
        };
    }
    let dims = first.shape.iter().enumerate().map(|(i, &d)| if i == axis { extent } else { d });
    Ok(Spec::new(first.dtype, dims.collect::<Shape>()))
}

fn reduction_takes(kind: Reduction, dtype: DType) -> Result<(), Wrong> {
    if kind.takes(dtype) {
        return Ok(());
    }
    match kind {
        Reduction::Any | Reduction::All => {
            wrong_help(format!("takes bool, not {dtype}"), "compare first: `.ne(0)` is a bool tensor")
        }
        _ => wrong_help(format!("does not take {dtype}"), "convert it first: `.cast(DType::I32)`"),
    }
}

fn not_empty_axis(x: &Spec, axis: usize) -> Result<(), Wrong> {
    if x.shape[axis] > 0 {
        return Ok(());
    }
    wrong(format!("axis {axis} of {x} is empty and has no extreme"))
}

fn reduce([x]: [&Spec; 1], kind: Reduction, axes: &Axes) -> Result<Spec, Wrong> {
    check_axes(axes, &x.shape)?;
    if axes.windows(2).any(|w| w[0] > w[1]) {
        return wrong("the axes are not ascending");
    }
    reduction_takes(kind, x.dtype)?;
    if kind.identity(x.dtype).is_none() {
        for &axis in axes {
            not_empty_axis(x, axis)?;
        }
    }
    Ok(Spec::new(x.dtype, without(&x.shape, axes)))
}

fn matmul([a, b]: [&Spec; 2], transpose_a: bool, transpose_b: bool) -> Result<Spec, Wrong> {
    same_dtype(a, b)?;
    if a.dtype == DType::Bool {
        return wrong_help("takes numbers, not bool", "convert it first: `.cast(DType::I32)`");
    }
    let rank = a.shape.rank();
    if rank < 2 || b.shape.rank() != rank {
        return wrong(format!("{a} with {b}: both need the same number of dimensions, at least 2"));
    }
    let last = |s: &Spec, t: bool| {
        if t { (s.shape[rank - 1], s.shape[rank - 2]) } else { (s.shape[rank - 2], s.shape[rank - 1]) }
    };
    let ((m, k), (k2, n)) = (last(a, transpose_a), last(b, transpose_b));
    if k != k2 {
        return wrong(format!("{a} with {b}: the inner dimensions {k} and {k2} differ"));
    }
    if a.shape[..rank - 2] != b.shape[..rank - 2] {
        return wrong(format!("{a} with {b}: the batch dimensions differ"));
    }
    Ok(Spec::new(a.dtype, a.shape[..rank - 2].iter().copied().chain([m, n]).collect::<Shape>()))
}

fn check_indices(indices: &Spec) -> Result<(), Wrong> {
    if matches!(indices.dtype, DType::I32 | DType::I64) {
        return Ok(());
    }
    wrong_help(format!("the indices are {indices}, not i32 or i64"), "convert them first: `.cast(DType::I64)`")
}

fn take_along([x, indices]: [&Spec; 2], axis: usize) -> Result<Spec, Wrong> {
    check_axis(axis, &x.shape)?;
    check_indices(indices)?;
    if indices.shape.rank() != x.shape.rank() || without(&indices.shape, &[axis]) != without(&x.shape, &[axis]) {
        return wrong(format!("{x} with indices {indices}: the shapes differ beside axis {axis}"));
    }
    Ok(Spec::new(x.dtype, &indices.shape))
}

fn scatter([base, indices, updates]: [&Spec; 3], axis: usize) -> Result<Spec, Wrong> {
    check_axis(axis, &base.shape)?;
    check_indices(indices)?;
    same_dtype(base, updates)?;
    if indices.shape.rank() != 1 {
        return wrong(format!("the indices are {indices}, not one-dimensional"));
    }
    let expected = base.shape.iter().enumerate().map(|(i, &d)| if i == axis { indices.shape[0] } else { d });
    let expected = expected.collect::<Shape>();
    if updates.shape != expected {
        return wrong(format!(
            "updates {updates} into {base} at {indices} along axis {axis} must have shape {expected}"
        ));
    }
    Ok(base.clone())
}

fn packed_rows(x: &Spec) -> Result<(), Wrong> {
    if x.dtype == DType::I64 && x.shape.rank() == 2 {
        return Ok(());
    }
    wrong(format!("takes i64 in rows, [rows, n], not {x}"))
}

fn digit_counts([x]: [&Spec; 1], shift: u32, tile: usize) -> Result<Spec, Wrong> {
    packed_rows(x)?;
    if shift > 56 {
        return wrong(format!("bit {shift} is not the lowest of a byte of i64"));
    }
    if tile == 0 {
        return wrong("a tile has at least one element");
    }
    if i32::try_from(x.shape[1]).is_err() {
        return wrong(format!("rows of {} elements: their numbers do not fit in i32", x.shape[1]));
    }
    Ok(Spec::new(DType::I32, [x.shape[0], 256, x.shape[1].div_ceil(tile)]))
}

/// Splits the operands of the dynamic slices into the first `n` and the start indices.
fn corner<'a, 'b>(specs: &'b [&'a Spec], n: usize) -> Result<(&'b [&'a Spec], &'b [&'a Spec]), Wrong> {
    if specs.len() < n {
        return wrong(format!("takes at least {n} operands"));
    }
    let (x, starts) = specs.split_at(n);
    arity(starts, x[0].shape.rank()).map_err(|_| {
        (format!("one start for each of the {} dimensions of {}, not {}", x[0].shape.rank(), x[0], starts.len()), None)
    })?;
    Ok((x, starts))
}

fn check_starts(_x: &Shape, starts: &[&Spec]) -> Result<(), Wrong> {
    for start in starts {
        check_indices(start)?;
        if start.shape.rank() != 0 {
            return wrong(format!("a start is {start}, not a scalar"));
        }
    }
    Ok(())
}

fn fits(block: &Shape, x: &Shape) -> Result<(), Wrong> {
    if block.rank() == x.rank() && block.iter().zip(x.iter()).all(|(b, x)| b <= x) {
        return Ok(());
    }
    wrong(format!("a block of {block} does not fit into {x}"))
}

fn dynamic(op: DynamicOp, specs: &[&Spec]) -> Result<Types, Wrong> {
    let dtype = match op {
        DynamicOp::Nonzero => {
            arity(specs, 1)?;
            DType::I64
        }
        DynamicOp::Unique => take(specs).map(|[x]: [_; 1]| x.dtype)?,
        DynamicOp::MaskedSelect => {
            let [x, mask] = take(specs)?;
            if mask.dtype != DType::Bool {
                return wrong(format!("the mask is {mask}, not bool"));
            }
            x.dtype
        }
        DynamicOp::RepeatInterleave => take(specs).map(|[x, _]: [_; 2]| x.dtype)?,
        DynamicOp::DynamicRange => take(specs).map(|[end]: [_; 1]| end.dtype)?,
    };
    Ok(smallvec![Type::Dynamic(dtype)])
}

fn results(graph: &Graph) -> Types {
    graph.outputs().iter().map(|o| graph.ty(o.value).clone()).collect()
}

/// Checks that a region's parameters are what it is given.
fn enters<'a>(what: &str, graph: &Graph, given: impl ExactSizeIterator<Item = &'a Spec>) -> Result<(), Wrong> {
    if graph.params().len() != given.len() {
        return wrong(format!("{what} takes {} values, not {}", graph.params().len(), given.len()));
    }
    for (param, spec) in graph.params().iter().zip(given) {
        if param.spec != *spec {
            return wrong(format!("{what} takes {} for `{}`, not {spec}", param.spec, param.name));
        }
    }
    Ok(())
}

fn is_truth(spec: Option<&Spec>) -> bool {
    spec.is_some_and(|s| s.dtype == DType::Bool && s.shape.rank() == 0)
}

fn cond(then: &Graph, otherwise: &Graph, specs: &[&Spec]) -> Result<Types, Wrong> {
    let Some((condition, operands)) = specs.split_first() else {
        return wrong("takes a condition");
    };
    if !is_truth(Some(condition)) {
        return wrong(format!("the condition is {condition}, not bool[]"));
    }
    enters("the branch for true", then, operands.iter().copied())?;
    enters("the branch for false", otherwise, operands.iter().copied())?;
    let (a, b) = (results(then), results(otherwise));
    if a != b {
        let list = |t: &Types| t.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
        return wrong(format!("the branches return ({}) and ({})", list(&a), list(&b)));
    }
    Ok(a)
}

fn while_loop(condition: &Graph, body: &Graph, specs: &[&Spec]) -> Result<Types, Wrong> {
    enters("the condition", condition, specs.iter().copied())?;
    enters("the body", body, specs.iter().copied())?;
    match &results(condition)[..] {
        [t] if is_truth(t.spec()) => {}
        _ => return wrong("the condition does not return bool[]"),
    }
    keeps(body, specs)
}

fn fori_loop(body: &Graph, specs: &[&Spec]) -> Result<Types, Wrong> {
    let counter = Spec::new(DType::I64, []);
    let given: Vec<&Spec> = std::iter::once(&counter).chain(specs.iter().copied()).collect();
    enters("the body", body, given.into_iter())?;
    keeps(body, specs)
}

/// A loop's body returns its state with unchanged types.
fn keeps(body: &Graph, state: &[&Spec]) -> Result<Types, Wrong> {
    let results = results(body);
    if results.len() != state.len() {
        return wrong(format!("the body returns {} values for a state of {}", results.len(), state.len()));
    }
    for (i, (after, before)) in results.iter().zip(state).enumerate() {
        if after.spec() != Some(before) {
            return wrong(format!("the body returns {after} for value {i} of the state, which is {before}"));
        }
    }
    Ok(results)
}
