//! Words of CUDA C++ text.

/// The text without comments, and with strings emptied.
pub(crate) fn code(source: &str) -> String {
    let mut code = String::new();
    for line in source.lines() {
        let mut in_string = false;
        let mut rest = line.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '"' => {
                    in_string = !in_string;
                    code.push(c);
                }
                '\\' if in_string => drop(rest.next()),
                _ if in_string => {}
                '/' if rest.peek() == Some(&'/') => break,
                _ => code.push(c),
            }
        }
        code.push('\n');
    }
    code
}

/// Identifiers, numbers, and every other character alone.
pub(crate) fn words(code: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let length = if c.is_ascii_alphabetic() || c == '_' {
            rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else if c.is_ascii_digit() {
            number(rest)
        } else {
            c.len_utf8()
        };
        let (word, behind) = rest.split_at(length);
        if !c.is_whitespace() {
            words.push(word);
        }
        rest = behind;
    }
    words
}

/// How many characters the number has with which the text begins.
fn number(text: &str) -> usize {
    let hexadecimal = text.starts_with("0x");
    let mut before = ' ';
    let end = text.find(|c: char| {
        let exponent = matches!(before, 'e' | 'E') && !hexadecimal;
        let part = c.is_ascii_alphanumeric() || c == '.' || (matches!(c, '+' | '-') && exponent);
        before = c;
        !part
    });
    end.unwrap_or(text.len())
}

/// Whether a word is a name.
pub(crate) fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Whether a number is a decimal float that is not the shortest text of its value, and not exactly its value.
pub(crate) fn is_inexact(word: &str) -> bool {
    let is_float =
        word.starts_with(|c: char| c.is_ascii_digit()) && !word.starts_with("0x") && word.contains(['.', 'e']);
    let digits = word.trim_end_matches('f');
    // Normal form of the digits: mantissa without zeros around it.
    let form = |text: &str| {
        let mantissa = text.split('e').next().unwrap_or_default().replace('.', "");
        mantissa.trim_matches('0').to_string()
    };
    match (word.ends_with('f'), digits.parse::<f64>(), digits.parse::<f32>()) {
        _ if !is_float => false,
        (true, Ok(wide), Ok(narrow)) => f64::from(narrow) != wide && form(digits) != form(&format!("{narrow:e}")),
        (false, Ok(value), _) => form(digits) != form(&format!("{value:e}")),
        _ => true,
    }
}
