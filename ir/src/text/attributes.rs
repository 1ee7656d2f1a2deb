//! The attributes of every op, to text and back: the two functions here are each other's inverse.

use super::lex::{Place, Token, Wrong};
use super::suggest::closest;
use crate::op::{DynamicOp, HostOp};
use crate::{
    Amounts, Axes, DType, Elementwise, Extreme, Graph, Literal, Op, Reduction, Region, ScatterKind, Shape, Spec, Type,
    Windows,
};
use std::fmt::Display;
use std::sync::Arc;

/// The attributes in the order in which they are printed. `graph` gives the reference to a graph.
pub(super) fn print(op: &Op, graph: &dyn Fn(&Region) -> String) -> Vec<(&'static str, String)> {
    match op {
        // Their attributes are the literal, the type, or the name itself.
        Op::Parameter(_)
        | Op::Constant(_)
        | Op::Elementwise(_)
        | Op::Select
        | Op::DynamicUpdateSlice
        | Op::SortPacked
        | Op::Dynamic(_)
        | Op::Host(_) => Vec::new(),
        // Dtype and shape are the type's.
        Op::Iota { dtype: _, shape: _, axis } => vec![("axis", axis.to_string())],
        Op::Cast(dtype) | Op::Bitcast(dtype) => vec![("dtype", dtype.to_string())],
        Op::Reshape(shape) | Op::Broadcast(shape) | Op::RandomBits { shape } => vec![("shape", shape.to_string())],
        Op::Permute(axes) | Op::Reverse(axes) | Op::Reduce { kind: _, axes } => vec![("axes", list(axes))],
        Op::Slice { starts, limits, strides } => {
            let mut attributes = vec![("starts", list(starts)), ("limits", list(limits))];
            if strides.len() != starts.len() || strides.iter().any(|&s| s != 1) {
                attributes.push(("strides", list(strides)));
            }
            attributes
        }
        Op::Pad { low, high } => vec![("low", list(low)), ("high", list(high))],
        Op::Concat { axis }
        | Op::ArgReduce { kind: _, axis }
        | Op::Scan { kind: _, axis }
        | Op::Take { axis }
        | Op::TakeAlong { axis }
        | Op::Scatter { kind: _, axis }
        | Op::ScatterSorted { kind: _, axis } => vec![("axis", axis.to_string())],
        Op::Argsort { axis, descending } => {
            let flag = descending.then(|| ("descending", "true".into()));
            [("axis", axis.to_string())].into_iter().chain(flag).collect()
        }
        Op::DigitCounts { shift, tile } | Op::PlaceByDigit { shift, tile } => {
            vec![("shift", shift.to_string()), ("tile", tile.to_string())]
        }
        Op::Matmul { transpose_a, transpose_b } => {
            let flags = [("transpose_a", *transpose_a), ("transpose_b", *transpose_b)];
            flags.into_iter().filter(|(_, on)| *on).map(|(name, _)| (name, "true".into())).collect()
        }
        Op::DynamicSlice { sizes } => vec![("sizes", sizes.to_string())],
        Op::Convolution { windows, groups } => {
            let mut attributes = of_windows(windows);
            if *groups != 1 {
                attributes.push(("groups", groups.to_string()));
            }
            attributes
        }
        Op::WindowReduce { kind: _, sizes, windows } | Op::WindowArg { kind: _, sizes, windows } => {
            [vec![("sizes", list(sizes))], of_windows(windows)].concat()
        }
        Op::WindowScatter { extents, sizes, windows } => {
            [vec![("extents", list(extents)), ("sizes", list(sizes))], of_windows(windows)].concat()
        }
        Op::Cond { then, otherwise } => vec![("then", graph(then)), ("otherwise", graph(otherwise))],
        Op::While { condition, body } => vec![("condition", graph(condition)), ("body", graph(body))],
        Op::For { count, body } => vec![("count", count.to_string()), ("body", graph(body))],
    }
}

/// The strides, and what differs from no padding and no dilation.
fn of_windows(windows: &Windows) -> Vec<(&'static str, String)> {
    let Windows { strides, low, high, input_dilation, dilation } = windows;
    let dense = Windows::dense(strides.len());
    let mut attributes = vec![("strides", list(strides))];
    let amounts = [("low", low), ("high", high)].into_iter().filter(|(_, given)| **given != dense.low);
    attributes.extend(amounts.map(|(name, given)| (name, list(given))));
    let steps = [("input_dilation", input_dilation), ("dilation", dilation)];
    let steps = steps.into_iter().filter(|(_, given)| **given != dense.dilation);
    attributes.extend(steps.map(|(name, given)| (name, list(given))));
    attributes
}

fn list<T: Display>(items: &[T]) -> String {
    format!("[{}]", items.iter().map(T::to_string).collect::<Vec<_>>().join(", "))
}

/// The op of that name with those attributes. `literal` and `ty` are what the text says beside them.
pub(super) fn build(
    given: &mut Attributes<'_>,
    literal: Option<&Token<'_>>,
    ty: Option<(&Type, Place)>,
) -> Result<Op, Wrong> {
    let op = given.op.clone();
    let name = op.text.as_ref();
    if let Some(row) = Elementwise::from_name(name) {
        return Ok(Op::Elementwise(row));
    }
    if let Some(kind) = name.strip_prefix("reduce_").and_then(Reduction::from_name) {
        return Ok(Op::Reduce { kind, axes: given.axes("axes")? });
    }
    if let Some(kind) = name.strip_prefix("scan_").and_then(Reduction::from_name) {
        return Ok(Op::Scan { kind, axis: given.number("axis")? });
    }
    if let Some(kind) = name.strip_prefix("scatter_sorted_").and_then(ScatterKind::from_name) {
        return Ok(Op::ScatterSorted { kind, axis: given.number("axis")? });
    }
    if let Some(kind) = name.strip_prefix("scatter_").and_then(ScatterKind::from_name) {
        return Ok(Op::Scatter { kind, axis: given.number("axis")? });
    }
    if let Some(kind) = name.strip_prefix("window_").and_then(Reduction::from_name) {
        return Ok(Op::WindowReduce { kind, sizes: given.axes("sizes")?, windows: given.windows()? });
    }
    if let Some(kind) = name.strip_prefix("window_").and_then(Extreme::from_name) {
        return Ok(Op::WindowArg { kind, sizes: given.axes("sizes")?, windows: given.windows()? });
    }
    if let Some(kind) = Extreme::from_name(name) {
        return Ok(Op::ArgReduce { kind, axis: given.number("axis")? });
    }
    if let Some(kind) = DynamicOp::from_name(name) {
        return Ok(Op::Dynamic(kind));
    }
    if let Some(kind) = HostOp::from_name(name) {
        return Ok(Op::Host(kind));
    }
    Ok(match name {
        "constant" => {
            let spec = written_spec(&op, ty)?;
            let (text, place) = literal.map_or(("", op.place), |t| (t.text.as_ref(), t.place));
            match Literal::parse(spec.dtype, text) {
                Some(literal) => Op::Constant(literal),
                None => return Err((place, format!("`{text}` is no value of {}", spec.dtype))),
            }
        }
        "iota" => {
            let Spec { dtype, shape } = written_spec(&op, ty)?.clone();
            Op::Iota { dtype, shape, axis: given.number("axis")? }
        }
        "random_bits" => Op::RandomBits { shape: given.shape("shape")? },
        "select" => Op::Select,
        "cast" => Op::Cast(given.dtype("dtype")?),
        "bitcast" => Op::Bitcast(given.dtype("dtype")?),
        "reshape" => Op::Reshape(given.shape("shape")?),
        "broadcast" => Op::Broadcast(given.shape("shape")?),
        "permute" => Op::Permute(given.axes("axes")?),
        "reverse" => Op::Reverse(given.axes("axes")?),
        "slice" => {
            let (starts, limits) = (given.axes("starts")?, given.axes("limits")?);
            let strides = match given.find("strides") {
                Some(_) => given.axes("strides")?,
                None => Axes::from_elem(1, starts.len()),
            };
            Op::Slice { starts, limits, strides }
        }
        "pad" => Op::Pad { low: given.amounts("low")?, high: given.amounts("high")? },
        "concat" => Op::Concat { axis: given.number("axis")? },
        "argsort" => Op::Argsort { axis: given.number("axis")?, descending: given.flag("descending")? },
        "sort_packed" => Op::SortPacked,
        "digit_counts" => Op::DigitCounts { shift: given.number("shift")?, tile: given.number("tile")? },
        "place_by_digit" => Op::PlaceByDigit { shift: given.number("shift")?, tile: given.number("tile")? },
        "matmul" => Op::Matmul { transpose_a: given.flag("transpose_a")?, transpose_b: given.flag("transpose_b")? },
        "convolution" => {
            let windows = given.windows()?;
            let groups = if given.find("groups").is_some() { given.number("groups")? } else { 1 };
            Op::Convolution { windows, groups }
        }
        "window_scatter" => Op::WindowScatter {
            extents: given.axes("extents")?,
            sizes: given.axes("sizes")?,
            windows: given.windows()?,
        },
        "take" => Op::Take { axis: given.number("axis")? },
        "take_along" => Op::TakeAlong { axis: given.number("axis")? },
        "dynamic_slice" => Op::DynamicSlice { sizes: given.shape("sizes")? },
        "dynamic_update_slice" => Op::DynamicUpdateSlice,
        "cond" => Op::Cond { then: given.graph("then")?, otherwise: given.graph("otherwise")? },
        "while_loop" => Op::While { condition: given.graph("condition")?, body: given.graph("body")? },
        "fori_loop" => Op::For { count: given.number("count")?, body: given.graph("body")? },
        _ => {
            let meant = closest(name, names()).map_or(String::new(), |n| format!("; did you mean `{n}`?"));
            return Err((op.place, format!("there is no op {}{meant}", op.found())));
        }
    })
}

/// The names of all ops, in the order of [`Op`].
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let reductions = Reduction::ALL
        .iter()
        .flat_map(|&kind| [Op::Reduce { kind, axes: Axes::new() }.name(), Op::Scan { kind, axis: 0 }.name()]);
    let scatters = (ScatterKind::ALL.iter())
        .flat_map(|&kind| [Op::Scatter { kind, axis: 0 }.name(), Op::ScatterSorted { kind, axis: 0 }.name()]);
    let windows = || Box::new(Windows::dense(0));
    let windowed = (Reduction::ALL.iter())
        .map(|&kind| Op::WindowReduce { kind, sizes: Axes::new(), windows: windows() })
        .chain(Extreme::ALL.iter().map(|&kind| Op::WindowArg { kind, sizes: Axes::new(), windows: windows() }));
    let windowed: Vec<&'static str> = windowed.map(|op| op.name()).collect();
    let single = "parameter constant iota random_bits select cast bitcast reshape permute broadcast slice pad concat reverse matmul \
                  convolution window_scatter take take_along dynamic_slice dynamic_update_slice cond while_loop fori_loop \
                  argsort sort_packed digit_counts place_by_digit";
    (single.split_ascii_whitespace())
        .chain(Elementwise::ALL.iter().map(|e| e.name()))
        .chain(reductions)
        .chain(windowed)
        .chain(scatters)
        .chain(Extreme::ALL.iter().map(|e| e.name()))
        .chain(DynamicOp::ALL.iter().map(|e| e.name()))
        .chain(HostOp::ALL.iter().map(|e| e.name()))
}

fn written_spec<'t>(op: &Token<'_>, ty: Option<(&'t Type, Place)>) -> Result<&'t Spec, Wrong> {
    match ty {
        Some((Type::Tensor(spec), _)) => Ok(spec),
        Some((Type::Dynamic(_), place)) => Err((place, format!("`{}` has a static shape", op.text))),
        None => Err((op.place, format!("`{0}` needs its type: `{0} … : f32[]`", op.text))),
    }
}

/// The value of an attribute.
pub(super) enum Value<'a> {
    /// `3`, `true`, `f32`.
    One(Token<'a>),
    /// `[1, 2]`.
    List(Vec<Token<'a>>),
    /// `@body`, resolved.
    Graph(Arc<Graph>),
    /// A name alone: a flag that is set.
    Flag,
}

/// What stands between the braces of an op.
pub(super) struct Attributes<'a> {
    op: Token<'a>,
    given: Vec<(Token<'a>, Value<'a>)>,
    /// What the op looked for.
    known: Vec<&'static str>,
}

impl<'a> Attributes<'a> {
    pub(super) fn new(op: Token<'a>) -> Attributes<'a> {
        Attributes { op, given: Vec::new(), known: Vec::new() }
    }

    pub(super) fn insert(&mut self, name: Token<'a>, value: Value<'a>) -> Result<(), Wrong> {
        if self.given.iter().any(|(n, _)| n.text == name.text) {
            return Err((name.place, format!("attribute {} is given twice", name.found())));
        }
        // No op has more, and the search for doubles is quadratic.
        if self.given.len() == 16 {
            return Err((name.place, format!("`{}` does not take that many attributes", self.op.text)));
        }
        self.given.push((name, value));
        Ok(())
    }

    /// To be called when the op is built: refuses attributes that it did not look for.
    pub(super) fn finish(self) -> Result<(), Wrong> {
        let Some((name, _)) = self.given.iter().find(|(n, _)| !self.known.contains(&n.text.as_ref())) else {
            return Ok(());
        };
        let known = match &self.known[..] {
            [] => "it has none".to_string(),
            known => format!("it has {}", known.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(" and ")),
        };
        Err((name.place, format!("`{}` has no attribute {}; {known}", self.op.text, name.found())))
    }

    fn find(&mut self, name: &'static str) -> Option<&(Token<'a>, Value<'a>)> {
        if !self.known.contains(&name) {
            self.known.push(name);
        }
        self.given.iter().find(|(n, _)| n.text == name)
    }

    fn required(&mut self, name: &'static str, example: &str) -> Result<&(Token<'a>, Value<'a>), Wrong> {
        let missing = (self.op.place, format!("`{0}` needs `{{{name} = {example}}}`", self.op.text));
        self.find(name).ok_or(missing)
    }

    fn number<T: TryFrom<i128>>(&mut self, name: &'static str) -> Result<T, Wrong> {
        match self.required(name, "0")? {
            (_, Value::One(token)) => integer(token),
            (at, _) => Err((at.place, format!("`{name}` is one number"))),
        }
    }

    fn numbers<T: TryFrom<i128>>(&mut self, name: &'static str) -> Result<Vec<T>, Wrong> {
        match self.required(name, "[0, 1]")? {
            (_, Value::List(tokens)) => tokens.iter().map(integer).collect(),
            (at, _) => Err((at.place, format!("`{name}` is a list: `{name} = [0, 1]`"))),
        }
    }

    fn axes(&mut self, name: &'static str) -> Result<Axes, Wrong> {
        self.numbers(name).map(Axes::from_vec)
    }

    fn amounts(&mut self, name: &'static str) -> Result<Amounts, Wrong> {
        self.numbers(name).map(Amounts::from_vec)
    }

    /// Padding is none and dilations are 1 where they are not given.
    fn windows(&mut self) -> Result<Box<Windows>, Wrong> {
        let mut windows = Windows::dense(0);
        windows.strides = self.axes("strides")?;
        let Windows { low, high, input_dilation, dilation, .. } = Windows::dense(windows.strides.len());
        windows.low = if self.find("low").is_some() { self.amounts("low")? } else { low };
        windows.high = if self.find("high").is_some() { self.amounts("high")? } else { high };
        let given = self.find("input_dilation").is_some();
        windows.input_dilation = if given { self.axes("input_dilation")? } else { input_dilation };
        windows.dilation = if self.find("dilation").is_some() { self.axes("dilation")? } else { dilation };
        Ok(Box::new(windows))
    }

    fn shape(&mut self, name: &'static str) -> Result<Shape, Wrong> {
        self.numbers(name).map(Shape::from)
    }

    fn dtype(&mut self, name: &'static str) -> Result<DType, Wrong> {
        match self.required(name, "f32")? {
            (_, Value::One(token)) => dtype(token),
            (at, _) => Err((at.place, format!("`{name}` is a dtype: `{name} = f32`"))),
        }
    }

    /// False where it is not given.
    fn flag(&mut self, name: &'static str) -> Result<bool, Wrong> {
        match self.find(name) {
            None => Ok(false),
            Some((_, Value::Flag)) => Ok(true),
            Some((_, Value::One(token))) if token.is_word("true") => Ok(true),
            Some((_, Value::One(token))) if token.is_word("false") => Ok(false),
            Some((at, _)) => Err((at.place, format!("`{name}` is `true` or `false`"))),
        }
    }

    fn graph(&mut self, name: &'static str) -> Result<Region, Wrong> {
        match self.required(name, "@a_graph")? {
            (_, Value::Graph(graph)) => Ok(Region(graph.clone())),
            (at, _) => Err((at.place, format!("`{name}` is a graph: `{name} = @a_graph`"))),
        }
    }
}

/// The integer that a token is, if the type can hold it.
pub(super) fn integer<T: TryFrom<i128>>(token: &Token<'_>) -> Result<T, Wrong> {
    let digits = token.text.strip_prefix(['-', '+']).unwrap_or(&token.text);
    if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
        return Err((token.place, format!("expected a whole number, found {}", token.found())));
    }
    let value: Option<i128> = token.text.parse().ok();
    match value.and_then(|v| T::try_from(v).ok()) {
        Some(value) => Ok(value),
        None if token.text.starts_with('-') => {
            Err((token.place, format!("{} is below what can stand here", token.found())))
        }
        None => Err((token.place, format!("{} is greater than what can stand here", token.found()))),
    }
}

/// The dtype that a token names.
pub(super) fn dtype(token: &Token<'_>) -> Result<DType, Wrong> {
    let known = DType::ALL.map(DType::name).join(", ");
    let unknown = || (token.place, format!("expected a dtype ({known}), found {}", token.found()));
    token.text.parse().map_err(|_| unknown())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::lex::Lexer;

    #[test]
    fn every_listed_name_is_an_op_and_listed_once() {
        let names: Vec<&str> = names().collect();
        for (i, name) in names.iter().enumerate() {
            assert!(!names[..i].contains(name), "{name} is listed twice");
            let op = Lexer::new(name).token().unwrap();
            let ty = Type::Tensor(Spec::new(DType::F32, []));
            let built = build(&mut Attributes::new(op.clone()), None, Some((&ty, op.place)));
            match built {
                Ok(op) => assert_eq!(op.name(), *name),
                // `parameter` is the parser's own; the others want attributes.
                Err((_, message)) if message.contains("there is no op") => assert_eq!(*name, "parameter"),
                Err(_) => {}
            }
        }
    }
}
