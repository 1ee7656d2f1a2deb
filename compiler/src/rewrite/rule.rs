//! What a rule is, and how rules are applied: only to terms of the same type, and only finitely often.

use super::term::{Term, Terms, add};
use egg::{Id, Pattern, Searcher, Subst};
use monograph_ir::{Axes, DType, Literal, Op, Shape, Spec};
use std::borrow::Cow;

/// A row of the table, as it is written.
pub(crate) struct Row {
    pub(crate) name: Cow<'static, str>,
    /// The pattern it looks for.
    pub(crate) from: Cow<'static, str>,
    /// What is equal to it.
    pub(crate) to: To,
    /// Under which condition.
    pub(crate) when: When,
    /// Whether it is wrong for NaN, infinities, signed zeros or in the last bit.
    pub(crate) fast_math: bool,
}

/// The right-hand side of a rule.
pub(crate) enum To {
    /// A pattern over the variables of the left-hand side.
    Pattern(Cow<'static, str>),
    /// A function that adds the term, or finds that there is none.
    Make(Make),
}

/// A condition on what matched.
pub(crate) type When = fn(&Match<'_>) -> bool;
/// A function that adds what is equal to what matched.
pub(crate) type Make = Box<dyn Fn(&mut Terms, &Bound<'_>) -> Option<Id> + Send + Sync>;

/// A row whose right-hand side is a pattern.
pub(crate) fn row(
    name: impl Into<Cow<'static, str>>,
    from: impl Into<Cow<'static, str>>,
    to: impl Into<Cow<'static, str>>,
    when: When,
) -> Row {
    Row { name: name.into(), from: from.into(), to: To::Pattern(to.into()), when, fast_math: false }
}

/// A row whose right-hand side is made by a function.
pub(crate) fn make(
    name: impl Into<Cow<'static, str>>,
    from: impl Into<Cow<'static, str>>,
    to: impl Fn(&mut Terms, &Bound<'_>) -> Option<Id> + Send + Sync + 'static,
    when: When,
) -> Row {
    Row { name: name.into(), from: from.into(), to: To::Make(Box::new(to)), when, fast_math: false }
}

/// The condition of a rule that always holds.
pub(crate) fn always(_: &Match<'_>) -> bool {
    true
}

/// A rule whose patterns are parsed.
pub(crate) struct Rule {
    #[cfg_attr(not(test), expect(dead_code, reason = "rules have names so that tests can say which is wrong"))]
    pub(crate) name: Cow<'static, str>,
    pub(crate) fast_math: bool,
    pub(crate) from: Pattern<Term>,
    to: Parsed,
    when: When,
}

enum Parsed {
    Pattern(Pattern<Term>),
    Make(Make),
}

impl Row {
    /// Parses the patterns.
    ///
    /// # Panics
    /// If they do not parse: the table is part of this crate, and a test parses all of it.
    pub(crate) fn parse(self) -> Rule {
        let pattern = |text: &str| match text.parse::<Pattern<Term>>() {
            Ok(pattern) => pattern,
            Err(e) => panic!("the rule `{}` has a bad pattern `{text}`: {e}", self.name),
        };
        let from = pattern(&self.from);
        let to = match self.to {
            To::Pattern(text) => Parsed::Pattern(pattern(&text)),
            To::Make(make) => Parsed::Make(make),
        };
        Rule { from, to, when: self.when, fast_math: self.fast_math, name: self.name }
    }
}

/// The variables of a pattern that matched.
pub(crate) struct Bound<'a> {
    /// The class of the whole pattern.
    pub(crate) class: Id,
    /// The classes of the variables.
    pub(crate) subst: &'a Subst,
}

impl Bound<'_> {
    /// The class of a variable such as `?x`; `?` alone is the whole pattern.
    ///
    /// # Panics
    /// If the pattern has no such variable.
    pub(crate) fn id(&self, variable: &str) -> Id {
        match variable {
            "?" => self.class,
            _ => self.subst[variable.parse().expect("variables begin with `?`")],
        }
    }
}

/// What is known of the variables of a pattern that matched.
pub(crate) struct Match<'a> {
    pub(crate) terms: &'a Terms,
    pub(crate) bound: &'a Bound<'a>,
}

impl Match<'_> {
    /// The type of a variable that stands for a value.
    pub(crate) fn spec(&self, variable: &str) -> Option<&Spec> {
        spec(self.terms, self.bound.id(variable))
    }

    pub(crate) fn dtype(&self, variable: &str) -> Option<DType> {
        self.spec(variable).map(|s| s.dtype)
    }

    pub(crate) fn is_integer(&self, variable: &str) -> bool {
        self.dtype(variable).is_some_and(DType::is_integer)
    }

    pub(crate) fn is_float(&self, variable: &str) -> bool {
        self.dtype(variable).is_some_and(DType::is_float)
    }

    /// The value of all elements, where it is known.
    pub(crate) fn splat(&self, variable: &str) -> Option<Literal> {
        self.terms[self.bound.id(variable)].data.splat
    }

    /// Whether all elements are known to be that number, exactly, and not -0 for 0.
    pub(crate) fn all_are(&self, variable: &str, number: f64) -> bool {
        self.splat(variable).is_some_and(|l| l == Literal::from_f64(l.dtype(), number) && l.to_f64() == number)
    }

    /// The list that a variable for attributes stands for.
    pub(crate) fn list(&self, variable: &str) -> Option<Axes> {
        list(self.terms, self.bound.id(variable))
    }

    /// Whether two variables have the same shape.
    pub(crate) fn same_shape(&self, a: &str, b: &str) -> bool {
        self.spec(a).zip(self.spec(b)).is_some_and(|(a, b)| a.shape == b.shape)
    }

    /// Whether a variable has fewer elements than the whole pattern.
    pub(crate) fn is_smaller(&self, variable: &str) -> bool {
        self.spec(variable).zip(self.spec("?")).is_some_and(|(a, b)| a.shape.elements() < b.shape.elements())
    }
}

/// The type of a class of values.
pub(crate) fn spec(terms: &Terms, id: Id) -> Option<&Spec> {
    terms[id].data.spec.as_ref()
}

/// The attributes of a class of such, where they are a list.
pub(crate) fn list(terms: &Terms, id: Id) -> Option<Axes> {
    match terms[id].data.attribute.as_ref()? {
        super::term::Attribute::List(list) => Some(list.clone()),
        super::term::Attribute::DType(_) => None,
    }
}

/// Adds a tensor of one value.
pub(crate) fn splat(terms: &mut Terms, literal: Literal, shape: &Shape) -> Id {
    let scalar = add(terms, Op::Constant(literal), &[]);
    if shape.rank() == 0 { scalar } else { add(terms, Op::Broadcast(shape.clone()), &[scalar]) }
}

/// How long rules are applied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Rounds in which every rule is tried once.
    pub(crate) rounds: usize,
    /// Terms in the e-graph.
    pub(crate) terms: usize,
}

/// Applies rules until nothing is new or a limit is reached.
///
/// A rule whose result would have another type than what it matched is not applied: that is how a rule over shapes
/// may be written for any shape. There is no limit of time, which would make builds differ.
pub(crate) fn saturate(terms: &mut Terms, rules: &[&Rule], limits: Limits) {
    terms.rebuild();
    for _ in 0..limits.rounds {
        let before = (terms.total_size(), terms.number_of_classes());
        let found: Vec<_> = rules.iter().map(|rule| rule.from.search(terms)).collect();
        for (rule, matches) in rules.iter().zip(found) {
            for found in &matches {
                for subst in &found.substs {
                    rule.apply(terms, &Bound { class: found.eclass, subst });
                }
            }
            if terms.total_size() > limits.terms {
                terms.rebuild();
                return;
            }
        }
        terms.rebuild();
        if (terms.total_size(), terms.number_of_classes()) == before {
            return;
        }
    }
}

impl Rule {
    fn apply(&self, terms: &mut Terms, bound: &Bound<'_>) {
        if let Some(id) = self.equal(terms, bound) {
            terms.union(bound.class, id);
        }
    }

    /// Adds what is equal to what matched, if the rule holds there and the types are equal.
    pub(crate) fn equal(&self, terms: &mut Terms, bound: &Bound<'_>) -> Option<Id> {
        // Only what inference accepted may be taken apart.
        spec(terms, bound.class)?;
        if !(self.when)(&Match { terms, bound }) {
            return None;
        }
        let id = match &self.to {
            Parsed::Pattern(pattern) => terms.add_instantiation(&pattern.ast, bound.subst),
            Parsed::Make(make) => make(terms, bound)?,
        };
        (spec(terms, bound.class) == spec(terms, id)).then_some(id)
    }
}
