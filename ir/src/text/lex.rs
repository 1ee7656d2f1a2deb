//! The tokens of the textual form, each with its place.

use std::borrow::Cow;

/// Where a token starts; both count from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) line: u32,
    /// In characters.
    pub(super) column: u32,
}

/// What is wrong, and where.
pub(super) type Wrong = (Place, String);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A keyword, an op, a dtype or an attribute: a letter or `_`, then letters, digits, `_` and `.`.
    Word,
    /// `%name`.
    Value,
    /// `@name` or `@"any name"`.
    Graph,
    /// A number with an optional sign; what it means is up to who reads it.
    Number,
    /// `"…"`.
    Text,
    /// One of `( ) { } [ ] , : = ?`.
    Punctuation(char),
    /// The end of the text.
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) place: Place,
    /// As it was written.
    raw: &'a str,
    /// Without sigil, quotes and escapes.
    pub(super) text: Cow<'a, str>,
}

impl Token<'_> {
    pub(super) fn is(&self, punctuation: char) -> bool {
        self.kind == Kind::Punctuation(punctuation)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text == word
    }

    /// For messages: what stands here, cut short where it is long.
    pub(super) fn found(&self) -> String {
        const SHOWN: usize = 40;
        if self.kind == Kind::End {
            return "the end of the text".into();
        }
        match self.raw.char_indices().nth(SHOWN) {
            Some((cut, _)) => format!("`{}…`", &self.raw[..cut]),
            None => format!("`{}`", self.raw),
        }
    }
}

/// Whether a name can stand behind its sigil without quotes.
pub(super) fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_name)
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '.'
}

/// A name in quotes, such that the lexer reads the same name back.
pub(super) fn quote(name: &str) -> String {
    let mut quoted = String::with_capacity(name.len() + 2);
    quoted.push('"');
    for c in name.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[derive(Clone)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    /// Byte offset of what comes next.
    at: usize,
    place: Place,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        // A byte order mark is no part of the text, whatever editors think.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Lexer { text, at: 0, place: Place { line: 1, column: 1 } }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        if c == '\n' {
            self.place = Place { line: self.place.line.saturating_add(1), column: 1 };
        } else {
            self.place.column = self.place.column.saturating_add(1);
        }
        Some(c)
    }

    fn skip_blanks_and_comments(&mut self) {
        while let Some(c) = self.peek() {
            let comment = c == '#' || self.text[self.at..].starts_with("//");
            if comment {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.bump();
                }
            } else if c.is_whitespace() {
                self.bump();
            } else {
                break;
            }
        }
    }

    /// The next token; at the end of the text, `End` again and again.
    pub(super) fn token(&mut self) -> Result<Token<'a>, Wrong> {
        self.skip_blanks_and_comments();
        let (start, place) = (self.at, self.place);
        let Some(first) = self.bump() else {
            return Ok(Token { kind: Kind::End, place, raw: "", text: Cow::Borrowed("") });
        };
        let mut unescaped = None;
        let kind = match first {
            '%' => Kind::Value,
            '@' => Kind::Graph,
            '"' => Kind::Text,
            '+' | '-' => Kind::Number,
            c if c.is_ascii_digit() => Kind::Number,
            c if c.is_ascii_alphabetic() || c == '_' => Kind::Word,
            '(' | ')' | '{' | '}' | '[' | ']' | ',' | ':' | '=' | '?' => Kind::Punctuation(first),
            other => return Err((place, format!("unexpected character `{}`", other.escape_default()))),
        };
        match kind {
            Kind::Text => unescaped = Some(self.string(place)?),
            Kind::Graph if self.peek() == Some('"') => {
                self.bump();
                unescaped = Some(self.string(place)?);
            }
            Kind::Value | Kind::Graph => {
                self.name();
                if self.at == start + 1 {
                    return Err((place, format!("expected a name after `{first}`")));
                }
            }
            Kind::Word => self.name(),
            Kind::Number => self.number(first),
            Kind::Punctuation(_) | Kind::End => {}
        }
        let raw = &self.text[start..self.at];
        let sigil = usize::from(matches!(kind, Kind::Value | Kind::Graph));
        let text = unescaped.map_or(Cow::Borrowed(&raw[sigil..]), Cow::Owned);
        Ok(Token { kind, place, raw, text })
    }

    fn name(&mut self) {
        while self.peek().is_some_and(is_name) {
            self.bump();
        }
    }

    /// Takes whatever can belong to a number, so that `12monkeys` is one bad number and not two good tokens.
    fn number(&mut self, first: char) {
        let start = self.at;
        let mut last = first;
        while let Some(c) = self.peek() {
            let hexadecimal = self.text[start..self.at].starts_with(['x', 'X']);
            let exponent_sign = matches!(c, '+' | '-') && matches!(last, 'e' | 'E') && !hexadecimal;
            if !is_name(c) && !exponent_sign {
                break;
            }
            last = c;
            self.bump();
        }
    }

    /// The rest of a string behind its opening quote.
    fn string(&mut self, open: Place) -> Result<String, Wrong> {
        let mut string = String::new();
        loop {
            let place = self.place;
            match self.bump() {
                None | Some('\n') => return Err((open, "the string is not closed on its line".into())),
                Some('"') => return Ok(string),
                Some('\\') => string.push(self.escape(place)?),
                Some(c) => string.push(c),
            }
        }
    }

    fn escape(&mut self, place: Place) -> Result<char, Wrong> {
        match self.bump() {
            Some(c @ ('"' | '\\')) => Ok(c),
            Some('n') => Ok('\n'),
            Some('t') => Ok('\t'),
            Some('u') if self.bump() == Some('{') => {
                let start = self.at;
                while self.peek().is_some_and(|c| c.is_ascii_hexdigit()) {
                    self.bump();
                }
                let code = u32::from_str_radix(&self.text[start..self.at], 16).ok().and_then(char::from_u32);
                match (code, self.bump()) {
                    (Some(c), Some('}')) => Ok(c),
                    _ => Err((place, "`\\u{…}` takes the hexadecimal number of a character".into())),
                }
            }
            _ => Err((place, r#"unknown escape; there are `\"`, `\\`, `\n`, `\t` and `\u{…}`"#.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Result<Vec<(Kind, String, u32, u32)>, Wrong> {
        let mut lexer = Lexer::new(text);
        let mut tokens = Vec::new();
        loop {
            let t = lexer.token()?;
            if t.kind == Kind::End {
                return Ok(tokens);
            }
            tokens.push((t.kind, t.text.to_string(), t.place.line, t.place.column));
        }
    }

    #[test]
    fn places_count_characters() {
        let found = tokens("# ä\n  \"äö\" %x.1 // rest\n@f-1e-3").unwrap();
        let expected = [
            (Kind::Text, "äö", 2, 3),
            (Kind::Value, "x.1", 2, 8),
            (Kind::Graph, "f", 3, 1),
            (Kind::Number, "-1e-3", 3, 3),
        ];
        assert_eq!(found, expected.map(|(k, t, l, c)| (k, t.to_string(), l, c)));
    }

    #[test]
    fn quoting_survives() {
        for name in ["", "w", "a b", "\"\\\n\t\r\0", "ä\u{7f}\u{85}", "%x"] {
            assert_eq!(tokens(&quote(name)).unwrap(), [(Kind::Text, name.to_string(), 1, 1)]);
        }
    }

    #[test]
    fn bad_tokens_are_placed() {
        let place = |text| tokens(text).unwrap_err().0;
        assert_eq!(place(" \"ab"), Place { line: 1, column: 2 });
        assert_eq!(place("\"ab\\q\""), Place { line: 1, column: 4 });
        assert_eq!(place("\"\\u{110000}\""), Place { line: 1, column: 2 });
        assert_eq!(place("\n %"), Place { line: 2, column: 2 });
        assert_eq!(place("a ; b"), Place { line: 1, column: 3 });
    }
}
