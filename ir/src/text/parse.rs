//! `module`: the last graph of a text.

use super::attributes::{self, Attributes, Value, dtype, integer};
use super::lex::{Kind, Lexer, Place, Token, Wrong};
use super::suggest::closest;
use super::{MAX_DEPTH, MAX_NESTED_NODES, ParseError};
use crate::{Binding, Graph, Op, Origin, OutputKind, ParamKind, Shape, Spec, Type, ValueId, verify};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(super) fn module(text: &str, file: &str) -> Result<Graph, ParseError> {
    let located = |(place, message): Wrong| ParseError {
        file: file.to_string(),
        line: place.line,
        column: place.column,
        message,
    };
    Parser::new(text, file).and_then(Parser::module).map_err(located)
}

/// A graph that was read, and what walking it takes.
struct Definition {
    graph: Arc<Graph>,
    /// Nodes, with those of the graphs inside for each reference.
    nodes: u64,
    /// Graphs that lie inside each other, itself included.
    depth: u32,
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    next: Token<'a>,
    file: Arc<str>,
    definitions: BTreeMap<String, Definition>,
    /// Nodes behind all references so far.
    nested: u64,
}

/// The graph that is being read.
struct Body<'a> {
    graph: Graph,
    values: BTreeMap<String, ValueId>,
    param_names: BTreeSet<String>,
    /// The name in the header, where errors without a better place go.
    name: Token<'a>,
    nodes: u64,
    depth: u32,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, file: &str) -> Result<Parser<'a>, Wrong> {
        let mut lexer = Lexer::new(text);
        let next = lexer.token()?;
        Ok(Parser { lexer, next, file: file.into(), definitions: BTreeMap::new(), nested: 0 })
    }

    fn advance(&mut self) -> Result<Token<'a>, Wrong> {
        let next = self.lexer.token()?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    fn expected<T>(&self, what: &str) -> Result<T, Wrong> {
        Err((self.next.place, format!("expected {what}, found {}", self.next.found())))
    }

    fn expect(&mut self, kind: Kind, what: &str) -> Result<Token<'a>, Wrong> {
        if self.next.kind == kind { self.advance() } else { self.expected(what) }
    }

    fn punctuation(&mut self, c: char) -> Result<Token<'a>, Wrong> {
        self.expect(Kind::Punctuation(c), &format!("`{c}`"))
    }

    fn accept(&mut self, c: char) -> Result<bool, Wrong> {
        let there = self.next.is(c);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    /// Items separated by commas up to `close`, which is taken; a comma may stand before it.
    fn list<T>(&mut self, close: char, mut item: impl FnMut(&mut Self) -> Result<T, Wrong>) -> Result<Vec<T>, Wrong> {
        let mut items = Vec::new();
        while !self.accept(close)? {
            items.push(item(self)?);
            if !self.next.is(close) && !self.accept(',')? {
                return self.expected(&format!("`,` or `{close}`"));
            }
        }
        Ok(items)
    }

    fn module(mut self) -> Result<Graph, Wrong> {
        let mut last = None;
        while self.next.kind != Kind::End {
            last = Some(self.graph()?);
        }
        let Some(name) = last else {
            return self.expected("`graph @name(…) {…}`");
        };
        let entry = self.definitions.remove(&name).map(|d| d.graph);
        match entry {
            Some(graph) => Ok(Arc::unwrap_or_clone(graph)),
            None => self.expected("a graph"),
        }
    }

    /// A whole definition; returns the graph's name.
    fn graph(&mut self) -> Result<String, Wrong> {
        if !self.next.is_word("graph") {
            return self.expected("`graph @name(…) {…}`");
        }
        self.advance()?;
        let name = self.expect(Kind::Graph, "the graph's name: `@name`")?;
        if self.definitions.contains_key(name.text.as_ref()) {
            return Err((name.place, format!("graph {} is defined above already", name.found())));
        }
        let mut body = Body {
            graph: Graph::new(name.text.clone()),
            values: BTreeMap::new(),
            param_names: BTreeSet::new(),
            name: name.clone(),
            nodes: 0,
            depth: 1,
        };
        self.punctuation('(')?;
        self.list(')', |p| p.header_parameter(&mut body))?;
        self.punctuation('{')?;
        while !self.next.is_word("return") {
            match self.next.kind {
                Kind::Value | Kind::Word => self.statement(&mut body)?,
                _ => return self.expected("an op or `return`"),
            }
        }
        self.advance()?;
        self.outputs(&mut body)?;
        self.finish(body)
    }

    fn finish(&mut self, body: Body<'a>) -> Result<String, Wrong> {
        if let Err(error) = verify(&body.graph) {
            let place = match error.node.map(|node| body.graph.origin(node)) {
                Some(&Origin::Text { line, column, .. }) => Place { line, column },
                _ => body.name.place,
            };
            return Err((place, error.message));
        }
        let name = body.name.text.into_owned();
        let nodes = body.nodes + body.graph.len() as u64;
        self.definitions.insert(name.clone(), Definition { graph: Arc::new(body.graph), nodes, depth: body.depth });
        Ok(name)
    }

    fn origin(&self, place: Place) -> Origin {
        Origin::Text { file: self.file.clone(), line: place.line, column: place.column }
    }

    fn parameter_kind(&mut self) -> Result<ParamKind, Wrong> {
        if self.next.kind != Kind::Word {
            return Ok(ParamKind::Input(Binding::Copied));
        }
        let kind = match self.next.text.as_ref() {
            "input" => ParamKind::Input(Binding::Copied),
            "bound" => ParamKind::Input(Binding::Bound),
            "state" => ParamKind::State,
            "constant" => ParamKind::Constant,
            _ => return self.expected("`input`, `bound`, `state`, `constant` or a value's name"),
        };
        self.advance()?;
        Ok(kind)
    }

    /// `[kind] %x ["name"]: type`.
    fn header_parameter(&mut self, body: &mut Body<'a>) -> Result<(), Wrong> {
        let kind = self.parameter_kind()?;
        let value = self.expect(Kind::Value, "a parameter: `input %x \"name\": f32[2]`")?;
        self.declare(body, kind, value)
    }

    /// `["name"]: type`, and declares it.
    fn declare(&mut self, body: &mut Body<'a>, kind: ParamKind, value: Token<'a>) -> Result<(), Wrong> {
        let name = if self.next.kind == Kind::Text { self.advance()? } else { value.clone() };
        self.punctuation(':')?;
        let (ty, place) = self.ty()?;
        let Type::Tensor(spec) = ty else {
            return Err((place, "a parameter has a static shape".into()));
        };
        if spec.bytes().is_none() {
            return Err((place, format!("{spec} has more bytes than 2^63")));
        }
        if name.text.is_empty() || !body.param_names.insert(name.text.to_string()) {
            return Err((name.place, format!("parameter name \"{}\" is empty or taken", name.text.escape_debug())));
        }
        let id = body.graph.parameter(name.text, spec, kind, self.origin(value.place));
        body.define(&value, id)
    }

    /// `[%a, … =] op operands {attributes} : types`.
    fn statement(&mut self, body: &mut Body<'a>) -> Result<(), Wrong> {
        let mut names: Vec<Token<'a>> = Vec::new();
        if self.next.kind == Kind::Value {
            names.push(self.advance()?);
            while self.accept(',')? {
                names.push(self.expect(Kind::Value, "a value's name")?);
            }
            self.punctuation('=')?;
        }
        let op = self.expect(Kind::Word, "an op")?;
        if op.text == "parameter" {
            let kind = self.parameter_kind()?;
            let [value] = &names[..] else {
                return Err((op.place, "a parameter has one name: `%x = parameter input \"x\" : f32[2]`".into()));
            };
            return self.declare(body, kind, value.clone());
        }
        let literal = match op.text.as_ref() {
            "constant" => match self.next.kind {
                Kind::Number | Kind::Word => Some(self.advance()?),
                _ => return self.expected("a number, `true`, `false`, `inf` or `NaN`"),
            },
            _ => None,
        };
        let operands = self.operands(body)?;
        let mut attributes = self.attributes(body, &op)?;
        let types = self.types()?;
        let written = types.first().map(|(ty, place)| (ty, *place));
        let built = attributes::build(&mut attributes, literal.as_ref(), written)?;
        attributes.finish()?;
        self.append(body, &op, built, &operands, &names, &types)
    }

    /// Adds a node, checks the types that are written, and gives its results their names.
    fn append(
        &mut self,
        body: &mut Body<'a>,
        op: &Token<'a>,
        built: Op,
        operands: &[ValueId],
        names: &[Token<'a>],
        types: &[(Type, Place)],
    ) -> Result<(), Wrong> {
        let node = body.graph.add(built, operands, self.origin(op.place)).map_err(|error| {
            let help = error.help.as_ref().map_or(String::new(), |h| format!("; {h}"));
            (op.place, format!("{error}{help}"))
        })?;
        let results = body.graph.node(node).results.clone();
        for ((ty, place), result) in types.iter().zip(&results) {
            if ty != result {
                return Err((*place, format!("the type is {ty}, but `{}` gives {result}", op.text)));
            }
        }
        let count = |n: usize| format!("{n} result{}", if n == 1 { "" } else { "s" });
        if !types.is_empty() && types.len() != results.len() {
            let found = format!("{} types for `{}`, which has {}", types.len(), op.text, count(results.len()));
            return Err((types[0].1, found));
        }
        if names.len() != results.len() {
            let place = names.first().map_or(op.place, |n| n.place);
            let found = format!("{} names for `{}`, which has {}", names.len(), op.text, count(results.len()));
            return Err((place, found));
        }
        for (result, name) in names.iter().enumerate() {
            body.define(name, ValueId { node, result: result as u32 })?;
        }
        Ok(())
    }

    fn value(&mut self, body: &Body<'a>) -> Result<ValueId, Wrong> {
        let token = self.expect(Kind::Value, "a value: `%name`")?;
        body.values.get(token.text.as_ref()).copied().ok_or_else(|| {
            let meant = closest(&token.text, body.values.keys().map(String::as_str));
            let meant = meant.map_or(String::new(), |n| format!("; did you mean `%{n}`?"));
            (token.place, format!("{} is not defined above{meant}", token.found()))
        })
    }

    fn operands(&mut self, body: &Body<'a>) -> Result<Vec<ValueId>, Wrong> {
        let mut operands = Vec::new();
        // A name that stands behind an op without operands is the next statement's.
        if self.next.kind != Kind::Value || self.starts_statement() {
            return Ok(operands);
        }
        operands.push(self.value(body)?);
        while self.accept(',')? {
            operands.push(self.value(body)?);
        }
        Ok(operands)
    }

    /// Whether the value that comes next is followed by `=`, or by names and then `=`: a left side.
    fn starts_statement(&self) -> bool {
        let mut ahead = self.lexer.clone();
        loop {
            match ahead.token() {
                Ok(t) if t.is('=') => return true,
                Ok(t) if t.is(',') => {}
                _ => return false,
            }
            if !ahead.token().is_ok_and(|t| t.kind == Kind::Value) {
                return false;
            }
        }
    }

    fn attributes(&mut self, body: &mut Body<'a>, op: &Token<'a>) -> Result<Attributes<'a>, Wrong> {
        let mut attributes = Attributes::new(op.clone());
        if self.accept('{')? {
            self.list('}', |p| {
                let name = p.expect(Kind::Word, "an attribute: `name = value`")?;
                let value = if p.accept('=')? { p.attribute_value(body)? } else { Value::Flag };
                attributes.insert(name, value)
            })?;
        }
        Ok(attributes)
    }

    fn attribute_value(&mut self, body: &mut Body<'a>) -> Result<Value<'a>, Wrong> {
        match self.next.kind {
            Kind::Number | Kind::Word => self.advance().map(Value::One),
            Kind::Punctuation('[') => {
                self.advance()?;
                self.list(']', |p| p.expect(Kind::Number, "a number")).map(Value::List)
            }
            Kind::Graph => {
                let token = self.advance()?;
                self.reference(body, &token).map(Value::Graph)
            }
            _ => self.expected("a number, a word, a list `[…]` or a graph `@name`"),
        }
    }

    fn reference(&mut self, body: &mut Body<'a>, token: &Token<'a>) -> Result<Arc<Graph>, Wrong> {
        let Some(found) = self.definitions.get(token.text.as_ref()) else {
            let meant = closest(&token.text, self.definitions.keys().map(String::as_str));
            let meant = meant.map_or(String::new(), |n| format!("; did you mean `@{n}`?"));
            return Err((token.place, format!("graph {} is not defined above{meant}", token.found())));
        };
        body.depth = body.depth.max(found.depth + 1);
        if body.depth > MAX_DEPTH {
            return Err((token.place, format!("more than {MAX_DEPTH} graphs inside each other")));
        }
        self.nested = self.nested.saturating_add(found.nodes);
        body.nodes = body.nodes.saturating_add(found.nodes);
        if self.nested > MAX_NESTED_NODES {
            let message = format!("the graphs inside ops stand for more than {MAX_NESTED_NODES} nodes");
            return Err((token.place, message));
        }
        Ok(found.graph.clone())
    }

    fn types(&mut self) -> Result<Vec<(Type, Place)>, Wrong> {
        let mut types = Vec::new();
        if self.accept(':')? {
            types.push(self.ty()?);
            while self.accept(',')? {
                types.push(self.ty()?);
            }
        }
        Ok(types)
    }

    /// `f32[2, 3]` or `f32[?]`.
    fn ty(&mut self) -> Result<(Type, Place), Wrong> {
        let place = self.next.place;
        let dtype = dtype(&self.next)?;
        self.advance()?;
        self.punctuation('[')?;
        if self.accept('?')? {
            self.punctuation(']')?;
            return Ok((Type::Dynamic(dtype), place));
        }
        let dims = self.list(']', |p| integer::<usize>(&p.expect(Kind::Number, "an extent or `]`")?))?;
        Ok((Type::Tensor(Spec::new(dtype, Shape::from(dims))), place))
    }

    /// What stands between `return` and the closing brace, which is taken.
    fn outputs(&mut self, body: &mut Body<'a>) -> Result<(), Wrong> {
        let mut names = BTreeSet::new();
        let mut updated = BTreeSet::new();
        let mut count = 0usize;
        self.list('}', |p| {
            let word = if p.next.kind == Kind::Word { p.advance()? } else { p.next.clone() };
            let name = if p.next.kind == Kind::Text { Some(p.advance()?) } else { None };
            let (mut kind, mut name) = match (word.kind, word.text.as_ref(), name) {
                (Kind::Word, "state", Some(name)) => (p.state(body, &name)?, name.text.into_owned()),
                (Kind::Word, "probe", Some(name)) => (OutputKind::Probe, name.text.into_owned()),
                (Kind::Word, "state" | "probe", None) => return p.expected("its name in quotes"),
                (Kind::Word, other, _) if other != "result" => {
                    return Err((word.place, format!("expected an output or `}}`, found {}", word.found())));
                }
                (_, _, Some(name)) => (OutputKind::Result, name.text.into_owned()),
                (_, _, None) => (OutputKind::Result, format!("out{count}")),
            };
            p.accept('=')?;
            let place = p.next.place;
            let value = p.value(body)?;
            if let OutputKind::State(number) = &mut kind {
                let (spec, found) = (&body.graph.params()[*number as usize].spec, body.graph.ty(value));
                if found.spec() != Some(spec) {
                    return Err((place, format!("state \"{}\" is {spec}, not {found}", name.escape_debug())));
                }
                if !updated.insert(*number) {
                    return Err((word.place, format!("state \"{}\" is updated twice", name.escape_debug())));
                }
                if p.next.is_word("as") {
                    p.advance()?;
                    name = p.expect(Kind::Text, "the output's name in quotes")?.text.into_owned();
                }
            }
            if name.is_empty() || !names.insert((kind_number(kind), name.clone())) {
                return Err((word.place, format!("output name \"{}\" is empty or taken", name.escape_debug())));
            }
            body.graph.output(name, value, kind);
            count += 1;
            Ok(())
        })?;
        Ok(())
    }

    fn state(&self, body: &Body<'a>, name: &Token<'a>) -> Result<OutputKind, Wrong> {
        let params = body.graph.params();
        let found = params.iter().position(|p| p.kind == ParamKind::State && p.name == name.text);
        found.map(|number| OutputKind::State(number as u32)).ok_or_else(|| {
            let states = params.iter().filter(|p| p.kind == ParamKind::State).map(|p| p.name.as_str());
            let meant = closest(&name.text, states).map_or(String::new(), |n| format!("; did you mean \"{n}\"?"));
            (name.place, format!("there is no state {}{meant}", name.found()))
        })
    }
}

impl<'a> Body<'a> {
    fn define(&mut self, name: &Token<'a>, value: ValueId) -> Result<(), Wrong> {
        match self.values.insert(name.text.to_string(), value) {
            None => Ok(()),
            Some(_) => Err((name.place, format!("{} is defined above already", name.found()))),
        }
    }
}

/// Output names differ within a kind; states are one kind.
fn kind_number(kind: OutputKind) -> u8 {
    match kind {
        OutputKind::Result => 0,
        OutputKind::State(_) => 1,
        OutputKind::Probe => 2,
    }
}
