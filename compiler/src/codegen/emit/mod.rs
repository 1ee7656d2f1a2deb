//! The expression emitter: statements that compute one element of a value of a body.
//!
//! [`Emitter::value`] is asked for a value at an index and answers with a name in the kernel's text. It walks the body
//! from users to operands with a stack of its own, folds everything that only renames indices into index arithmetic,
//! and computes each element once per scope. What it cannot compute from an index alone (reductions, products, scans,
//! scatters) a generator computes itself and announces with [`Emitter::hold`].

mod index;

use super::types::{literal, loaded, register, rounded, storage};
use crate::index::{Index, linear, through};
use monograph_ir::{DType, Elementwise, Graph, Literal, Op, Shape, ValueId};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Why a body has no code of this family.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Refusal(pub(super) String);

pub(super) type Emit<T> = Result<T, Refusal>;

pub(super) fn refuse<T>(message: impl Into<String>) -> Emit<T> {
    Err(Refusal(message.into()))
}

/// The most statements of one kernel: beyond, compiling takes seconds, and fusing so much gains nothing.
pub(super) const MAX_STATEMENTS: usize = 40_000;

/// An index with more atoms than this is computed into a variable of its own before it is built upon.
const MAX_INDEX_SIZE: usize = 12;

/// What one block of the text knows already.
#[derive(Default)]
struct Scope {
    values: FxHashMap<(ValueId, u32), String>,
    indices: FxHashMap<Index, String>,
    vectors: FxHashMap<(u32, Index), String>,
    /// Blocks of random words, by the names of the state's elements and the offset.
    blocks: FxHashMap<(String, Index), String>,
    /// Integers of the kernel that serve as indices, by the integer's name and the extent they are limited to.
    limited: FxHashMap<(String, usize), Index>,
    inside: FxHashMap<(Index, usize), String>,
    /// Indices that were put into variables of their own.
    named: FxHashMap<Index, Index>,
}

/// What a value at an index needs next.
enum Step {
    /// These first.
    Need(Vec<(ValueId, u32)>),
    /// It is there under this name.
    Done(String),
}

pub(super) struct Emitter<'a> {
    body: &'a Graph,
    excess_precision: bool,
    /// Whether indices are 64 bits wide.
    wide: bool,
    /// Elements that a thread handles next to each other: what loads try to combine. 1 for none.
    pub(super) lanes: i64,
    text: String,
    scopes: Vec<Scope>,
    held: BTreeMap<(ValueId, Index), String>,
    tuples: Vec<Rc<[Index]>>,
    tuple_ids: FxHashMap<Rc<[Index]>, u32>,
    vars: Vec<String>,
    values: Vec<String>,
    /// The elements in memory that some names are the values of.
    raw: FxHashMap<String, String>,
    next: u32,
    statements: usize,
    /// The positions at which each parameter was read.
    pub(super) positions: Vec<BTreeSet<Index>>,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(body: &'a Graph, excess_precision: bool) -> Emitter<'a> {
        Emitter {
            body,
            excess_precision,
            wide: needs_wide_indices(body),
            lanes: 1,
            text: String::new(),
            scopes: vec![Scope::default()],
            held: BTreeMap::new(),
            tuples: Vec::new(),
            tuple_ids: FxHashMap::default(),
            vars: Vec::new(),
            values: Vec::new(),
            raw: FxHashMap::default(),
            next: 0,
            statements: 0,
            positions: vec![BTreeSet::new(); body.params().len()],
        }
    }

    /// The text so far.
    pub(super) fn finish(self) -> String {
        self.text
    }

    /// Statements so far.
    pub(super) fn statements(&self) -> usize {
        self.statements
    }

    /// The type of indices.
    pub(super) fn index_type(&self) -> &'static str {
        if self.wide { "long long" } else { "int" }
    }

    /// One line of text, indented.
    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        for _ in 0..self.scopes.len() {
            self.text.push_str("    ");
        }
        self.text.push_str(text.as_ref());
        self.text.push('\n');
        self.statements += 1;
    }

    /// Opens a block; what is computed in it is forgotten at its end.
    pub(super) fn open(&mut self, head: impl AsRef<str>) {
        let head = head.as_ref();
        self.line(if head.is_empty() { "{".to_string() } else { format!("{head} {{") });
        self.scopes.push(Scope::default());
    }

    /// Closes the last block.
    pub(super) fn close(&mut self) {
        self.scopes.pop();
        self.line("}");
    }

    /// A name that is used nowhere else.
    pub(super) fn fresh(&mut self, stem: &str) -> String {
        self.next += 1;
        format!("{stem}{}", self.next)
    }

    /// Declares a variable with a value, and returns its name.
    pub(super) fn define(&mut self, ty: &str, stem: &str, value: impl AsRef<str>) -> String {
        let name = self.fresh(stem);
        self.line(format!("{ty} {name} = {};", value.as_ref()));
        name
    }

    /// The index that the variable `name` of the kernel is, known to lie in `0..extent`. The text declares it.
    pub(super) fn variable(&mut self, name: impl Into<String>, extent: usize) -> Index {
        self.vars.push(name.into());
        Index::var(self.vars.len() as u32 - 1, extent)
    }

    /// Announces the element of `value` at a row-major position.
    pub(super) fn hold(&mut self, value: ValueId, position: Index, name: impl Into<String>) {
        self.held.insert((value, position), name.into());
    }

    fn find<T>(&self, get: impl Fn(&Scope) -> Option<&T>) -> Option<&T> {
        self.scopes.iter().rev().find_map(get)
    }

    fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("the outermost scope is never closed")
    }

    fn intern(&mut self, index: Vec<Index>) -> u32 {
        if let Some(&id) = self.tuple_ids.get(&index[..]) {
            return id;
        }
        let index: Rc<[Index]> = index.into();
        let id = self.tuples.len() as u32;
        self.tuples.push(index.clone());
        self.tuple_ids.insert(index, id);
        id
    }

    fn known(&self, value: ValueId, index: u32) -> Option<&String> {
        self.find(|s| s.values.get(&(value, index)))
    }

    /// The name of the element of `value` at `index`.
    pub(super) fn value(&mut self, value: ValueId, index: &[Index]) -> Emit<String> {
        let root = (value, self.intern(index.to_vec()));
        let mut stack = vec![root];
        while let Some(&(value, index)) = stack.last() {
            if self.known(value, index).is_some() {
                stack.pop();
                continue;
            }
            match self.step(value, index)? {
                // The first need is on top, so that the text is in the order of the operands.
                Step::Need(needs) => stack.extend(needs.into_iter().rev()),
                Step::Done(name) => {
                    self.scope().values.insert((value, index), name);
                    stack.pop();
                }
            }
            if self.statements > MAX_STATEMENTS {
                return refuse(format!("the kernel would have more than {MAX_STATEMENTS} statements"));
            }
        }
        Ok(self.known(root.0, root.1).expect("just computed").clone())
    }

    /// Those of `needs` that are not known yet, or the names of all.
    fn all(&self, needs: &[(ValueId, u32)]) -> Result<Vec<String>, Step> {
        let missing: Vec<_> = needs.iter().copied().filter(|&(v, i)| self.known(v, i).is_none()).collect();
        if !missing.is_empty() {
            return Err(Step::Need(missing));
        }
        Ok(needs.iter().filter_map(|&(v, i)| self.known(v, i).cloned()).collect())
    }

    fn step(&mut self, value: ValueId, id: u32) -> Emit<Step> {
        let body = self.body;
        let node = body.node(value.node);
        let spec = body.spec(value);
        let x = &node.operands;
        let same = |n: usize| -> Vec<(ValueId, u32)> { x[..n].iter().map(|&v| (v, id)).collect() };
        macro_rules! get {
            ($needs:expr) => {
                match self.all(&$needs) {
                    Ok(names) => names,
                    Err(step) => return Ok(step),
                }
            };
        }
        let name = match &node.op {
            Op::Parameter(number) => self.load(*number, &spec.shape, id),
            Op::Constant(value) => literal(*value),
            Op::Iota { dtype, axis, .. } => {
                let index = self.tuples[id as usize][*axis].clone();
                let index = self.index(&index);
                let cast = self.cast_text(*dtype, &format!("({})({index})", self.index_type()));
                self.define(register(*dtype), "t", cast)
            }
            Op::RandomBits { shape } => {
                let at = |element: i64| (x[0], vec![Index::constant(element)]);
                let state = [at(0), at(1), at(2)].map(|(value, index)| (value, self.intern(index)));
                let state = get!(state);
                let position = linear(&self.tuples[id as usize], shape);
                self.random_word(&state, &position)
            }
            Op::Elementwise(e) => {
                let names = get!(same(e.arity()));
                let text = names
                    .iter()
                    .enumerate()
                    .fold(e.cuda().replace("$t", body.spec(x[0]).dtype.name()), |text, (i, name)| {
                        text.replace(&format!("${i}"), name)
                    });
                let text = if is_exact(*e) { text } else { self.round(spec.dtype, text) };
                self.define(register(spec.dtype), "t", text)
            }
            Op::Select => {
                let names = get!(same(3));
                self.define(register(spec.dtype), "t", format!("{} ? {} : {}", names[0], names[1], names[2]))
            }
            Op::Cast(dtype) => {
                let names = get!(same(1));
                if body.spec(x[0]).dtype == *dtype {
                    names[0].clone()
                } else {
                    let text = self.cast_text(*dtype, &names[0]);
                    self.define(register(*dtype), "t", text)
                }
            }
            Op::Bitcast(dtype) => {
                let names = get!(same(1));
                let bits = match body.spec(x[0]).dtype {
                    // Through memory's own bits: a conversion to float and back would lose the payload of a NaN.
                    from @ (DType::F16 | DType::BF16) => self.raw(from, &names[0]),
                    DType::F32 | DType::F64 => format!("mg_bits({})", names[0]),
                    _ => names[0].clone(),
                };
                let name = self.define(register(*dtype), "t", of_bits(*dtype, &bits));
                if matches!(dtype, DType::F16 | DType::BF16) {
                    self.raw.insert(name.clone(), format!("(unsigned short)({bits})"));
                }
                name
            }
            Op::Reshape(_) | Op::Permute(_) | Op::Broadcast(_) | Op::Slice { .. } | Op::Reverse(_) => {
                let index = self.tuples[id as usize].clone();
                let Some(inner) = through(&node.op, &body.spec(x[0]).shape, &index) else {
                    return refuse(format!("`{}` has no index map", node.op.name()));
                };
                let inner = self.tuple(inner);
                get!([(x[0], inner)])[0].clone()
            }
            Op::Pad { low, .. } => {
                let shape = &body.spec(x[0]).shape;
                let index = self.tuples[id as usize].clone();
                let moved: Vec<Index> = index.iter().zip(low).map(|(i, &low)| i.plus(-low)).collect();
                let scalar = self.tuple(Vec::new());
                if shape.is_empty() || moved.iter().zip(shape.iter()).any(|(i, &e)| outside(i, e)) {
                    get!([(x[1], scalar)])[0].clone()
                } else {
                    let inner = moved.iter().zip(shape.iter()).map(|(i, &e)| i.limit(e)).collect();
                    let inner = self.tuple(inner);
                    if moved.iter().zip(shape.iter()).all(|(i, &e)| i.within(e)) {
                        get!([(x[0], inner)])[0].clone()
                    } else {
                        let names = get!([(x[0], inner), (x[1], scalar)]);
                        let inside = self.inside(&moved, shape);
                        self.define(register(spec.dtype), "t", format!("{inside} ? {} : {}", names[0], names[1]))
                    }
                }
            }
            Op::Concat { axis } => {
                let index = self.tuples[id as usize].clone();
                // Operands that the index can reach, each with its end.
                let mut needs = Vec::new();
                let mut ends = Vec::new();
                let mut end = 0i64;
                for &operand in x {
                    let extent = body.spec(operand).shape[*axis];
                    let moved = index[*axis].plus(-end);
                    end += extent as i64;
                    if extent == 0 || outside(&moved, extent) {
                        continue;
                    }
                    let mut inner = index.to_vec();
                    inner[*axis] = moved.limit(extent);
                    needs.push((operand, self.tuple(inner)));
                    ends.push(end);
                }
                let names = get!(needs);
                let Some((last, before)) = names.split_last() else {
                    return refuse("a concatenation of nothing");
                };
                if before.is_empty() {
                    last.clone()
                } else {
                    let position = self.index(&index[*axis]);
                    let chain = before.iter().zip(&ends).map(|(name, end)| format!("{position} < {end} ? {name} : "));
                    let text = chain.collect::<String>() + last;
                    self.define(register(spec.dtype), "t", text)
                }
            }
            Op::Take { axis } => {
                let index = self.tuples[id as usize].clone();
                let rank = body.spec(x[1]).shape.rank();
                let shape = &body.spec(x[0]).shape;
                let at = self.tuple(index[*axis..axis + rank].to_vec());
                let which = get!([(x[1], at)])[0].clone();
                let limited = self.limited(&which, shape[*axis]);
                let mut inner = index[..*axis].to_vec();
                inner.push(limited);
                inner.extend_from_slice(&index[axis + rank..]);
                let inner = self.tuple(inner);
                let element = get!([(x[0], inner)])[0].clone();
                self.taken(&which, shape[*axis], spec.dtype, &element)
            }
            Op::TakeAlong { axis } => {
                let index = self.tuples[id as usize].clone();
                let shape = &body.spec(x[0]).shape;
                let which = get!([(x[1], id)])[0].clone();
                let mut inner = index.to_vec();
                inner[*axis] = self.limited(&which, shape[*axis]);
                let inner = self.tuple(inner);
                let element = get!([(x[0], inner)])[0].clone();
                self.taken(&which, shape[*axis], spec.dtype, &element)
            }
            Op::DynamicSlice { sizes } => {
                let index = self.tuples[id as usize].clone();
                let scalar = self.tuple(Vec::new());
                let needs: Vec<_> = x[1..].iter().map(|&v| (v, scalar)).collect();
                let starts = get!(needs);
                let shape = &body.spec(x[0]).shape;
                let mut inner = Vec::with_capacity(shape.rank());
                for (d, start) in starts.iter().enumerate() {
                    inner.push(self.limited(start, shape[d] - sizes[d] + 1).add(&index[d]));
                }
                let inner = self.tuple(inner);
                get!([(x[0], inner)])[0].clone()
            }
            Op::DynamicUpdateSlice => {
                let index = self.tuples[id as usize].clone();
                let scalar = self.tuple(Vec::new());
                let needs: Vec<_> = x[2..].iter().map(|&v| (v, scalar)).collect();
                let starts = get!(needs);
                let (shape, block) = (&spec.shape, &body.spec(x[1]).shape);
                if block.is_empty() {
                    get!([(x[0], id)])[0].clone()
                } else {
                    let mut moved = Vec::with_capacity(shape.rank());
                    for (d, start) in starts.iter().enumerate() {
                        moved.push(index[d].add(&self.limited(start, shape[d] - block[d] + 1).times(-1)));
                    }
                    let inner = moved.iter().zip(block.iter()).map(|(i, &e)| i.limit(e)).collect();
                    let inner = self.tuple(inner);
                    let names = get!([(x[1], inner), (x[0], id)]);
                    let inside = self.inside(&moved, block);
                    self.define(register(spec.dtype), "t", format!("{inside} ? {} : {}", names[0], names[1]))
                }
            }
            Op::Reduce { .. }
            | Op::ArgReduce { .. }
            | Op::Scan { .. }
            | Op::Matmul { .. }
            | Op::Scatter { .. }
            | Op::SortPacked
            | Op::DigitCounts { .. }
            | Op::PlaceByDigit { .. }
            | Op::ScatterSorted { .. }
            | Op::Convolution { .. }
            | Op::WindowReduce { .. }
            | Op::WindowArg { .. }
            | Op::WindowScatter { .. } => {
                let position = linear(&self.tuples[id as usize], &spec.shape);
                match self.held.get(&(value, position)) {
                    Some(name) => name.clone(),
                    None => return refuse(format!("`{}` is needed at another index than its own", node.op.name())),
                }
            }
            Op::Argsort { .. } | Op::Cond { .. } | Op::While { .. } | Op::For { .. } | Op::Dynamic(_) | Op::Host(_) => {
                return refuse(format!("`{}` has no code", node.op.name()));
            }
        };
        Ok(Step::Done(name))
    }

    /// Interns an index, with components that grew too big put into variables.
    fn tuple(&mut self, index: Vec<Index>) -> u32 {
        let index = index.into_iter().map(|i| if i.size() > MAX_INDEX_SIZE { self.named(&i) } else { i }).collect();
        self.intern(index)
    }

    /// What a gather gives: the element, or zero for an index outside.
    fn taken(&mut self, which: &str, extent: usize, dtype: DType, element: &str) -> String {
        let inside = format!("(mg_u64)(long long){which} < {extent}ull");
        self.define(register(dtype), "t", format!("{inside} ? {element} : {}", literal(Literal::zero(dtype))))
    }

    fn round(&self, dtype: DType, text: String) -> String {
        if self.excess_precision { text } else { rounded(dtype, &text) }
    }

    fn cast_text(&self, to: DType, value: &str) -> String {
        match to {
            DType::F16 | DType::BF16 if self.excess_precision => format!("mg_cast_f32({value})"),
            _ => format!("mg_cast_{}({value})", to.name()),
        }
    }

    /// A value of the accumulator's type rounded to the dtype of the graph's value.
    pub(super) fn settled(&mut self, dtype: DType, name: &str) -> String {
        match dtype {
            DType::F16 | DType::BF16 if !self.excess_precision => self.define("float", "t", rounded(dtype, name)),
            _ => name.to_string(),
        }
    }

    /// The random word at a row-major position behind a state. Words of one block share its computation.
    fn random_word(&mut self, state: &[String], position: &Index) -> String {
        let words = monograph_ir::philox::WORDS as i64;
        let (block, word) = (position.div(words), position.rem(words));
        let key = (state.join(", "), block);
        let name = match self.find(|s| s.blocks.get(&key)) {
            Some(name) => name.clone(),
            None => {
                let at = self.index(&key.1);
                let name = self.define("mg_vec<unsigned, 4>", "q", format!("mg_philox({}, {at})", key.0));
                self.scope().blocks.insert(key, name.clone());
                name
            }
        };
        let text = if word.terms.is_empty() {
            format!("{name}.x[{}]", word.constant)
        } else {
            format!("mg_word({name}, {})", self.index(&word))
        };
        self.define("unsigned", "t", text)
    }

    fn load(&mut self, number: u32, shape: &Shape, id: u32) -> String {
        let position = linear(&self.tuples[id as usize], shape);
        self.positions[number as usize].insert(position.clone());
        let dtype = self.body.params()[number as usize].spec.dtype;
        if let Some(element) = self.vector(number, shape, dtype, &position) {
            let name = self.define(register(dtype), "t", loaded(dtype, &element));
            self.raw.insert(name.clone(), element);
            return name;
        }
        let at = self.index(&position);
        let element = format!("x{number}[{at}]");
        if !matches!(dtype, DType::F16 | DType::BF16) {
            return self.define(register(dtype), "t", loaded(dtype, &element));
        }
        let bits = self.define(storage(dtype), "h", element);
        let name = self.define(register(dtype), "t", loaded(dtype, &bits));
        self.raw.insert(name.clone(), bits);
        name
    }

    /// The parameter and the position there that an element of `value` is read from, where nothing but the index changes
    /// on the way.
    pub(super) fn read(&mut self, mut value: ValueId, index: Vec<Index>) -> Option<(u32, Index)> {
        let mut id = self.tuple(index);
        loop {
            let node = self.body.node(value.node);
            match &node.op {
                Op::Parameter(number) => {
                    return Some((*number, linear(&self.tuples[id as usize], &self.body.spec(value).shape)));
                }
                Op::Reshape(_) | Op::Permute(_) | Op::Broadcast(_) | Op::Slice { .. } => {
                    value = node.operands[0];
                    let inner = through(&node.op, &self.body.spec(value).shape, &self.tuples[id as usize])?;
                    id = self.tuple(inner);
                }
                _ => return None,
            }
        }
    }

    /// The element in memory of a value: where it was loaded, what was loaded.
    pub(super) fn raw(&self, dtype: DType, name: &str) -> String {
        self.raw.get(name).cloned().unwrap_or_else(|| super::types::stored(dtype, name))
    }

    /// The element as a lane of an aligned vector of `lanes` elements, where the lanes of the thread lie in one.
    fn vector(&mut self, number: u32, shape: &Shape, dtype: DType, position: &Index) -> Option<String> {
        let lanes = self.lanes;
        let aligned = lanes > 1
            && lanes as usize * dtype.size() <= 16
            && shape.size() as i64 % lanes == 0
            && position.terms.values().all(|c| c % lanes == 0)
            && position.terms.values().any(|c| c.abs() == lanes);
        if !aligned {
            return None;
        }
        let lane = position.constant.rem_euclid(lanes);
        let key = (number, position.plus(-lane));
        let name = match self.find(|s| s.vectors.get(&key)) {
            Some(name) => name.clone(),
            None => {
                let at = self.index(&key.1);
                let ty = format!("mg_vec<{}, {lanes}>", storage(dtype));
                let name = self.define(&ty, "q", format!("mg_load<{lanes}>(x{number} + {at})"));
                self.scope().vectors.insert(key, name.clone());
                name
            }
        };
        Some(format!("{name}.x[{lane}]"))
    }

    /// Stores elements of output `number` that lie next to each other, the first at `position`.
    pub(super) fn store(&mut self, number: usize, dtype: DType, position: &Index, elements: &[String]) {
        let at = self.index(position);
        let stored: Vec<String> = elements.iter().map(|e| super::types::stored(dtype, e)).collect();
        match &stored[..] {
            [one] => self.line(format!("y{number}[{at}] = {one};")),
            many => {
                let lanes = many.len();
                let ty = format!("mg_vec<{}, {lanes}>", storage(dtype));
                self.line(format!("mg_store<{lanes}>(y{number} + {at}, {ty}{{{{{}}}}});", many.join(", ")));
            }
        }
    }
}

/// Whether no value of an index lies in `0..extent`.
fn outside(index: &Index, extent: usize) -> bool {
    let (low, high) = index.range();
    high < 0 || low >= extent as i64
}

/// Whether some position in some value of the body needs more than 32 bits. Leaves room for what tiles stick out.
fn needs_wide_indices(body: &Graph) -> bool {
    const LIMIT: usize = (i32::MAX as usize) - (1 << 22);
    let far = |node: &monograph_ir::Node| super::windows::reach(body, node) > LIMIT;
    let large = |t: &monograph_ir::Type| t.spec().is_some_and(|s| s.shape.size() > LIMIT);
    body.nodes().iter().any(|n| n.results.iter().any(large) || far(n))
}

/// Ops whose float result is an operand or has no more digits than one: rounding it again changes nothing.
fn is_exact(op: Elementwise) -> bool {
    matches!(
        op,
        Elementwise::Neg
            | Elementwise::Abs
            | Elementwise::Sign
            | Elementwise::Floor
            | Elementwise::Ceil
            | Elementwise::Round
            | Elementwise::Trunc
            | Elementwise::Copysign
            | Elementwise::Nextafter
            | Elementwise::Maximum
            | Elementwise::Minimum
    ) || op.result(DType::F16) == DType::Bool
}

fn of_bits(to: DType, bits: &str) -> String {
    match to {
        DType::F16 | DType::BF16 => loaded(to, &format!("(unsigned short)({bits})")),
        DType::F32 => format!("mg_f32_of_bits((unsigned)({bits}))"),
        DType::F64 => format!("mg_f64_of_bits((mg_u64)({bits}))"),
        _ => format!("({})({bits})", register(to)),
    }
}
