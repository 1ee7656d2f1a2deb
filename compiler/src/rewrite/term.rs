//! The language of the egg stage: a term is an op over classes, with its attributes as a leaf below it.

use egg::{Analysis, DidMerge, EGraph, FromOp, Id, Language};
use monograph_ir::{Axes, DType, Elementwise, Literal, Op, Reduction, Spec, Type, infer};
use smallvec::SmallVec;

/// A set of classes of equal terms.
pub(crate) type Terms = EGraph<Term, Types>;

/// What a term is, without its children.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Head {
    /// An op with all of its attributes inside: it has none, or no rule looks at them.
    Op(Op),
    /// An op whose attributes are its first child.
    View(View),
    /// Attributes.
    Attribute(Attribute),
    /// A value from outside, by a number; its spec is part of it.
    Leaf(u32, Spec),
}

/// The ops whose attributes rules look at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum View {
    Cast,
    Reshape,
    Permute,
    Broadcast,
    Reduce(Reduction),
    Matmul,
}

/// The attributes of a [`View`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Attribute {
    DType(DType),
    /// A shape, axes, or the flags of a matrix product as 0 and 1.
    List(Axes),
}

/// A node of the e-graph.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Term {
    pub(crate) head: Head,
    pub(crate) children: SmallVec<[Id; 4]>,
}

/// What the e-graph indexes terms by. Everything that no rule starts with is one kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    Elementwise(Elementwise),
    Select,
    View(View),
    Other,
}

impl Term {
    /// A term without attributes, or one that hides them.
    pub(crate) fn op(op: Op, operands: &[Id]) -> Term {
        Term { head: Head::Op(op), children: SmallVec::from_slice(operands) }
    }

    fn leaf(head: Head) -> Term {
        Term { head, children: SmallVec::new() }
    }

    /// A value from outside.
    pub(crate) fn outside(number: u32, spec: Spec) -> Term {
        Term::leaf(Head::Leaf(number, spec))
    }

    /// The classes of the operands, without the attributes.
    pub(crate) fn operands(&self) -> &[Id] {
        match self.head {
            Head::View(_) => &self.children[1..],
            Head::Op(_) | Head::Attribute(_) | Head::Leaf(..) => &self.children,
        }
    }

    /// The op, or `None` for attributes, leaves, and attributes that are of another op.
    pub(crate) fn to_op(&self, terms: &Terms) -> Option<Op> {
        match &self.head {
            Head::Op(op) => Some(op.clone()),
            Head::View(view) => view.op(terms[*self.children.first()?].data.attribute.as_ref()?),
            Head::Attribute(_) | Head::Leaf(..) => None,
        }
    }
}

impl View {
    /// The op with these attributes.
    fn op(self, attribute: &Attribute) -> Option<Op> {
        Some(match (self, attribute) {
            (View::Cast, Attribute::DType(dtype)) => Op::Cast(*dtype),
            (View::Reshape, Attribute::List(shape)) => Op::Reshape(shape[..].into()),
            (View::Permute, Attribute::List(axes)) => Op::Permute(axes.clone()),
            (View::Broadcast, Attribute::List(shape)) => Op::Broadcast(shape[..].into()),
            (View::Reduce(kind), Attribute::List(axes)) => Op::Reduce { kind, axes: axes.clone() },
            (View::Matmul, Attribute::List(flags)) => match flags[..] {
                [a, b] => Op::Matmul { transpose_a: a != 0, transpose_b: b != 0 },
                _ => return None,
            },
            (View::Cast, Attribute::List(_)) | (_, Attribute::DType(_)) => return None,
        })
    }
}

/// Adds an op over classes.
pub(crate) fn add(terms: &mut Terms, op: Op, operands: &[Id]) -> Id {
    let (view, attribute) = match op {
        Op::Cast(dtype) => (View::Cast, Attribute::DType(dtype)),
        Op::Reshape(shape) => (View::Reshape, Attribute::List(shape.iter().copied().collect())),
        Op::Permute(axes) => (View::Permute, Attribute::List(axes)),
        Op::Broadcast(shape) => (View::Broadcast, Attribute::List(shape.iter().copied().collect())),
        Op::Reduce { kind, axes } => (View::Reduce(kind), Attribute::List(axes)),
        Op::Matmul { transpose_a, transpose_b } => {
            let flags = [usize::from(transpose_a), usize::from(transpose_b)];
            (View::Matmul, Attribute::List(flags.into_iter().collect()))
        }
        other => return terms.add(Term::op(other, operands)),
    };
    let attribute = terms.add(Term::leaf(Head::Attribute(attribute)));
    let children = std::iter::once(attribute).chain(operands.iter().copied()).collect();
    terms.add(Term { head: Head::View(view), children })
}

impl Language for Term {
    type Discriminant = Kind;

    fn discriminant(&self) -> Kind {
        match &self.head {
            Head::Op(Op::Elementwise(op)) => Kind::Elementwise(*op),
            Head::Op(Op::Select) => Kind::Select,
            Head::View(view) => Kind::View(*view),
            Head::Op(_) | Head::Attribute(_) | Head::Leaf(..) => Kind::Other,
        }
    }

    fn matches(&self, other: &Term) -> bool {
        self.head == other.head && self.children.len() == other.children.len()
    }

    fn children(&self) -> &[Id] {
        &self.children
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.children
    }
}

/// Text that is no term.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` with {1} children is no term")]
pub(crate) struct NoTerm(String, usize);

impl FromOp for Term {
    type Error = NoTerm;

    /// Ops by their names, attributes as `[1,0]` or a dtype, literals as `2:f32`, leaves as `x:f32[2,3]`.
    fn from_op(text: &str, children: Vec<Id>) -> Result<Term, NoTerm> {
        let fail = || NoTerm(text.to_string(), children.len());
        let head = head(text).ok_or_else(fail)?;
        let arity = match &head {
            Head::Op(Op::Elementwise(op)) => op.arity(),
            Head::Op(Op::Select) | Head::View(View::Matmul) => 3,
            Head::View(_) => 2,
            Head::Op(_) | Head::Attribute(_) | Head::Leaf(..) => 0,
        };
        if children.len() != arity {
            return Err(fail());
        }
        Ok(Term { head, children: children.into() })
    }
}

fn head(text: &str) -> Option<Head> {
    if let Some(op) = Elementwise::from_name(text) {
        return Some(Head::Op(op.into()));
    }
    if let Some(kind) = text.strip_prefix("reduce_") {
        return Reduction::from_name(kind).map(|kind| Head::View(View::Reduce(kind)));
    }
    if let Some(list) = list(text) {
        return Some(Head::Attribute(Attribute::List(list)));
    }
    if let Some((what, spec)) = text.split_once(':') {
        let (dtype, shape) = spec.split_at(spec.find('[').unwrap_or(spec.len()));
        let dtype = dtype.parse().ok()?;
        return match (shape, what.as_bytes()) {
            ("", _) => Literal::parse(dtype, what).map(|l| Head::Op(Op::Constant(l))),
            (_, [letter]) => Some(Head::Leaf((*letter).into(), Spec::new(dtype, &list(shape)?[..]))),
            _ => None,
        };
    }
    Some(match text {
        "select" => Head::Op(Op::Select),
        "cast" => Head::View(View::Cast),
        "reshape" => Head::View(View::Reshape),
        "permute" => Head::View(View::Permute),
        "broadcast" => Head::View(View::Broadcast),
        "matmul" => Head::View(View::Matmul),
        _ => Head::Attribute(Attribute::DType(text.parse().ok()?)),
    })
}

fn list(text: &str) -> Option<Axes> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    inner.split(',').filter(|s| !s.is_empty()).map(|s| s.parse().ok()).collect()
}

/// The analysis: what is known of every term of a class.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Types;

/// What is known of every term of a class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Data {
    /// Dtype and shape; `None` for attributes and for terms that inference refuses.
    pub(crate) spec: Option<Spec>,
    /// The value of every element, where there is only one.
    pub(crate) splat: Option<Literal>,
    /// The attributes, for a class of such.
    pub(crate) attribute: Option<Attribute>,
}

impl Analysis<Term> for Types {
    type Data = Data;

    fn make(terms: &mut Terms, term: &Term, _: Id) -> Data {
        match &term.head {
            Head::Attribute(attribute) => return Data { attribute: Some(attribute.clone()), ..Data::default() },
            Head::Leaf(_, spec) => return Data { spec: Some(spec.clone()), ..Data::default() },
            Head::Op(_) | Head::View(_) => {}
        }
        let Some(op) = term.to_op(terms) else { return Data::default() };
        let operands = term.operands().iter().map(|&id| terms[id].data.spec.clone().map(Type::Tensor));
        let Some(operands) = operands.collect::<Option<SmallVec<[Type; 3]>>>() else { return Data::default() };
        let operands: SmallVec<[&Type; 3]> = operands.iter().collect();
        let spec = infer(&op, &operands).ok().and_then(|results| results.first()?.spec().cloned());
        let splat = match &op {
            Op::Constant(literal) => Some(*literal),
            op if op.is_view() => terms[term.operands()[0]].data.splat,
            _ => None,
        };
        Data { spec, splat, attribute: None }
    }

    fn merge(&mut self, a: &mut Data, b: Data) -> DidMerge {
        debug_assert_eq!(a.spec, b.spec, "only terms of one type are made equal");
        let merged = a.splat.or(b.splat);
        let changes = DidMerge(merged != a.splat, merged != b.splat);
        a.splat = merged;
        changes
    }
}
