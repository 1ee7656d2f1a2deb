//! `Frozen`: host numbers that a trace froze into its graph.

use crate::diagnostics::Sources;
use monograph_ir::Origin;
use rustc_hash::FxHashSet;
use std::panic::Location;

/// A host number that a trace froze: every replay computes with this value, whatever the variable holds by then.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Frozen {
    /// The number, as Rust prints it.
    pub value: String,
    /// Its type: `f32`, `usize`, …
    pub rust_type: &'static str,
    /// Where it met a tensor.
    pub origin: Origin,
    /// Whether the source shows that very number at that place, so that nobody can think it would change.
    pub literal: bool,
}

/// The frozen numbers of a trace in order, each place and value once.
#[derive(Default)]
pub(super) struct FrozenNumbers {
    list: Vec<Frozen>,
    seen: FxHashSet<(String, Origin)>,
}

impl FrozenNumbers {
    pub(super) fn into_list(self) -> Vec<Frozen> {
        self.list
    }

    /// Adds a number that was frozen at `location`, which users find at `origin`.
    pub(super) fn add(
        &mut self,
        value: &str,
        rust_type: &'static str,
        maybe_literal: bool,
        location: &Location<'_>,
        origin: Origin,
        sources: &Sources,
    ) {
        if self.seen.insert((value.to_string(), origin.clone())) {
            // Where the source cannot be read, a type that literals have gets the benefit of the doubt.
            let literal = maybe_literal && shown_in_source(value, location, sources) != Some(false);
            self.list.push(Frozen { value: value.into(), rust_type, origin, literal });
        }
    }
}

/// Whether `value` stands as a literal in the source at the location or on the two lines after; `None` where the
/// source cannot be read.
fn shown_in_source(value: &str, location: &Location<'_>, sources: &Sources) -> Option<bool> {
    let text = sources.text(location.file())?;
    let mut lines = text.lines().skip(location.line() as usize - 1);
    // The column counts characters.
    let first: String = lines.next()?.chars().skip(location.column() as usize - 1).collect();
    let mut expression = first;
    for line in lines.take(2) {
        expression.push(' ');
        expression.push_str(line);
    }
    let expression = expression.split(';').next().unwrap_or_default();
    if value == "true" || value == "false" {
        return Some(expression.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == value));
    }
    let wanted = value.parse::<f64>().ok()?.abs();
    Some(numbers(expression).any(|n| n == wanted))
}

/// The numeric literals of an expression.
fn numbers(expression: &str) -> impl Iterator<Item = f64> {
    const SUFFIXES: [&str; 8] = ["f32", "f64", "i32", "i64", "usize", "u32", "u8", "i8"];
    let mut found = Vec::new();
    let mut literal = String::new();
    let mut previous = ' ';
    for c in expression.chars().chain([' ']) {
        let starts = literal.is_empty() && c.is_ascii_digit() && !previous.is_alphanumeric() && previous != '_';
        let exponent_sign = matches!(c, '-' | '+') && matches!(previous, 'e' | 'E');
        let goes_on = !literal.is_empty() && (c.is_ascii_alphanumeric() || matches!(c, '_' | '.') || exponent_sign);
        if starts || goes_on {
            literal.push(c);
        } else if !literal.is_empty() {
            let digits = literal.replace('_', "");
            let digits = SUFFIXES.iter().fold(digits.as_str(), |d, s| d.strip_suffix(s).unwrap_or(d));
            found.extend(digits.trim_end_matches('.').parse::<f64>());
            literal.clear();
        }
        previous = c;
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn literals_are_found_and_names_are_not() {
        let found: Vec<f64> = numbers("x1 * 2.5f32 + 1_000 - y.0 * 1e-3 / 7. + v[3]").collect();
        assert_eq!(found, [2.5, 1000.0, 0.0, 1e-3, 7.0, 3.0]);
    }
}
