//! The text of indices: integers of the kernel, each computed once per scope.

use super::Emitter;
use crate::index::{Atom, Index};
use monograph_ir::Shape;
use std::collections::BTreeMap;

impl Emitter<'_> {
    /// The same index as one atom.
    pub(super) fn named(&mut self, index: &Index) -> Index {
        if let Some(named) = self.find(|s| s.named.get(index)) {
            return named.clone();
        }
        let (low, high) = index.range();
        let name = self.index(&index.plus(-low));
        self.values.push(name);
        let named = Index::value(self.values.len() as u32 - 1, (high - low + 1).max(2) as usize).plus(low);
        self.scope().named.insert(index.clone(), named.clone());
        named
    }

    /// An integer of the kernel limited to `0..extent`, as an index.
    pub(in crate::codegen) fn limited(&mut self, name: &str, extent: usize) -> Index {
        let key = (name.to_string(), extent);
        if let Some(index) = self.find(|s| s.limited.get(&key)) {
            return index.clone();
        }
        let index = if extent <= 1 {
            Index::default()
        } else {
            let ty = self.index_type();
            let limited = self.define(ty, "i", format!("({ty})mg_limit<long long>({name}, {extent}ll)"));
            self.values.push(limited);
            Index::value(self.values.len() as u32 - 1, extent)
        };
        self.scope().limited.insert(key, index.clone());
        index
    }

    /// An integer of the kernel that is known to lie in `0..extent`, as an index.
    pub(in crate::codegen) fn integer(&mut self, name: &str, extent: usize) -> Index {
        self.values.push(name.to_string());
        Index::value(self.values.len() as u32 - 1, extent)
    }

    /// A condition that holds where the index lies in `0..extent`.
    pub(in crate::codegen) fn within(&mut self, index: &Index, extent: usize) -> String {
        self.inside(std::slice::from_ref(index), &Shape::from([extent]))
    }

    /// A condition that holds where every component lies within its extent.
    pub(in crate::codegen) fn inside(&mut self, index: &[Index], shape: &Shape) -> String {
        let mut conditions = Vec::new();
        for (i, &extent) in index.iter().zip(shape.iter()) {
            if i.within(extent) {
                continue;
            }
            let key = (i.clone(), extent);
            if let Some(name) = self.find(|s| s.inside.get(&key)) {
                conditions.push(name.clone());
                continue;
            }
            let (low, high) = i.range();
            let text = self.index(i);
            let lower = (low < 0).then(|| format!("{text} >= 0"));
            let upper = (high >= extent as i64).then(|| format!("{text} < {extent}"));
            let test = lower.into_iter().chain(upper).collect::<Vec<_>>().join(" && ");
            let name = self.define("bool", "c", test);
            self.scope().inside.insert(key, name.clone());
            conditions.push(name);
        }
        match conditions.len() {
            0 => "true".into(),
            1 => conditions.remove(0),
            _ => format!("({})", conditions.join(" && ")),
        }
    }

    fn number(&self, n: i64) -> String {
        if self.wide { format!("{n}ll") } else { n.to_string() }
    }

    /// The text of an index: a name or a number.
    pub(in crate::codegen) fn index(&mut self, index: &Index) -> String {
        if index.terms.is_empty() {
            return self.number(index.constant);
        }
        if let Some(name) = self.find(|s| s.indices.get(index)) {
            return name.clone();
        }
        let mut text = String::new();
        for (i, (atom, &coefficient)) in index.terms.iter().enumerate() {
            let name = self.atom(atom);
            if i == 0 {
                match coefficient {
                    1 => text.push_str(&name),
                    -1 => text += &format!("-{name}"),
                    c => text += &format!("{name} * {}", self.number(c)),
                }
                continue;
            }
            let sign = if coefficient < 0 { '-' } else { '+' };
            match coefficient.unsigned_abs() {
                1 => text += &format!(" {sign} {name}"),
                c => text += &format!(" {sign} {name} * {}", self.number(c as i64)),
            }
        }
        match index.constant {
            0 if index.terms.len() == 1 && index.terms.values().all(|&c| c == 1) => return text,
            0 => {}
            c if c < 0 => text += &format!(" - {}", self.number(-c)),
            c => text += &format!(" + {}", self.number(c)),
        }
        let name = self.define(self.index_type(), "i", text);
        self.scope().indices.insert(index.clone(), name.clone());
        name
    }

    fn atom(&mut self, atom: &Atom) -> String {
        let single = || Index { constant: 0, terms: BTreeMap::from([(atom.clone(), 1)]) };
        match atom {
            Atom::Var { id, .. } => self.vars[*id as usize].clone(),
            Atom::Value { id, .. } => self.values[*id as usize].clone(),
            Atom::Div(inner, by) | Atom::Mod(inner, by) => {
                if let Some(name) = self.find(|s| s.indices.get(&single())) {
                    return name.clone();
                }
                // Moved up to where it is not negative, as hardware rounds towards zero.
                let low = inner.range().0;
                let turns = if low < 0 { (-low).div_euclid(*by) + 1 } else { 0 };
                let inner = inner.plus(turns * by);
                let narrow = !self.wide || inner.range().1 <= i64::from(u32::MAX);
                let x = self.index(&inner);
                let (ty, suffix) = if narrow { ("unsigned", "u") } else { ("mg_u64", "ull") };
                let sign = if matches!(atom, Atom::Div(..)) { '/' } else { '%' };
                let mut text = format!("({})(({ty}){x} {sign} {by}{suffix})", self.index_type());
                if turns > 0 && sign == '/' {
                    text += &format!(" - {}", self.number(turns));
                }
                let name = self.define(self.index_type(), "i", text);
                self.scope().indices.insert(single(), name.clone());
                name
            }
            Atom::Clamp(inner, extent) => {
                if let Some(name) = self.find(|s| s.indices.get(&single())) {
                    return name.clone();
                }
                let x = self.index(inner);
                let extent = self.number(*extent);
                let name = self.define(self.index_type(), "i", format!("mg_limit({x}, {extent})"));
                self.scope().indices.insert(single(), name.clone());
                name
            }
        }
    }
}
