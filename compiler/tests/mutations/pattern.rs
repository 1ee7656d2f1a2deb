//! Patterns of kernel text: `#` stands for a number, so that a pattern holds whatever numbers names end in.

use std::ops::Range;

/// Where a pattern is, and the numbers there.
pub(crate) struct Match {
    pub(crate) range: Range<usize>,
    numbers: Vec<String>,
}

impl Match {
    /// A text with the numbers for each `#`, in their order; `#1` is the first of them.
    pub(crate) fn fill(&self, text: &str) -> String {
        let mut pieces = text.split('#');
        let mut filled = pieces.next().unwrap_or_default().to_string();
        for (i, piece) in pieces.enumerate() {
            let named = piece.chars().next().and_then(|c| c.to_digit(10));
            let (number, rest) = named.map_or((i, piece), |digit| (digit as usize - 1, &piece[1..]));
            filled += &self.numbers[number];
            filled += rest;
        }
        filled
    }
}

/// All places of a pattern in a text, none within another.
pub(crate) fn find(text: &str, pattern: &str) -> Vec<Match> {
    let mut matches: Vec<Match> = Vec::new();
    for (start, _) in text.char_indices() {
        if matches.last().is_none_or(|m| m.range.end <= start) {
            matches.extend(at(text, start, pattern));
        }
    }
    matches
}

/// The pattern at this place, if it is there.
fn at(text: &str, start: usize, pattern: &str) -> Option<Match> {
    let mut pieces = pattern.split('#');
    let mut rest = text[start..].strip_prefix(pieces.next()?)?;
    let mut numbers = Vec::new();
    for piece in pieces {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, behind) = rest.split_at(digits);
        if number.is_empty() {
            return None;
        }
        numbers.push(number.to_string());
        rest = behind.strip_prefix(piece)?;
    }
    Some(Match { range: start..text.len() - rest.len(), numbers })
}

#[test]
fn a_sign_stands_for_a_number() {
    let text = "s23[t / 32] = a1; s4[t / 32] = a18;";
    let matches = find(text, "s#[t / 32] = a#;");
    assert_eq!(matches.iter().map(|m| &text[m.range.clone()]).collect::<Vec<_>>(), [&text[..17], &text[18..]]);
    assert_eq!(matches[1].fill("a# = s#;"), "a4 = s18;");
    assert_eq!(matches[1].fill("a#2 = s#1; s#1"), "a18 = s4; s4");
    assert!(find(text, "s#[t % 32]").is_empty() && find(text, "s[#").is_empty());
}
