//! The notation of `einsum`: `ij,jk->ik`, `...ij->...ji`, `ii`.

/// The name of a dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::trace) enum Label {
    /// A dimension without a letter. One under `...` is counted from the right, because shapes are aligned there.
    Number(usize),
    /// A dimension that a letter names.
    Letter(char),
}

impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Label::Number(from_right) => write!(f, "dimension -{} of `...`", from_right + 1),
            Label::Letter(letter) => write!(f, "`{letter}`"),
        }
    }
}

/// A parsed notation: the labels of each operand, of which some may repeat, and those of the result, which differ.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Notation {
    pub(super) operands: Vec<Vec<Label>>,
    pub(super) result: Vec<Label>,
}

/// What is wrong with a notation, and what to do about it.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Mistake {
    pub(super) message: String,
    pub(super) help: &'static str,
}

fn mistake<T>(message: String, help: &'static str) -> Result<T, Mistake> {
    Err(Mistake { message, help })
}

/// One side of a comma or arrow: letters, and the place of `...` among them.
struct Term {
    letters: Vec<char>,
    dots: Option<usize>,
}

impl Term {
    fn read(text: &str) -> Result<Term, Mistake> {
        let mut term = Term { letters: Vec::new(), dots: None };
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix("...") {
                if term.dots.replace(term.letters.len()).is_some() {
                    return mistake(format!("`{text}` has two `...`"), "write `...` once in each operand");
                }
                rest = after;
                continue;
            }
            if !first.is_ascii_alphabetic() {
                let help = "a subscript is letters a to z and A to Z, and `...` for the dimensions without a letter";
                return mistake(format!("`{text}` holds `{first}`, which names no dimension"), help);
            }
            term.letters.push(first);
            rest = &rest[first.len_utf8()..];
        }
        Ok(term)
    }

    /// The labels, with `dots` dimensions in the place of `...`.
    fn labels(&self, dots: usize) -> Vec<Label> {
        let (before, after) = self.letters.split_at(self.dots.unwrap_or(0));
        let middle = (0..dots).rev().map(Label::Number);
        let letter = |&letter: &char| Label::Letter(letter);
        before.iter().map(letter).chain(middle).chain(after.iter().map(letter)).collect()
    }
}

/// Reads a notation for operands with these numbers of dimensions. Spaces mean nothing.
pub(super) fn parse(text: &str, ranks: &[usize]) -> Result<Notation, Mistake> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let (left, right) = match text.split_once("->") {
        Some((left, right)) => (left, Some(Term::read(right)?)),
        None => (text.as_str(), None),
    };
    let terms = left.split(',').map(Term::read).collect::<Result<Vec<_>, _>>()?;
    if terms.len() != ranks.len() {
        let message = format!("the number of operands of `{text}` is {}, but {} are given", terms.len(), ranks.len());
        return mistake(message, "the subscripts of the operands are separated by commas");
    }
    let mut operands = Vec::with_capacity(terms.len());
    let mut widest = 0;
    for (number, (term, &rank)) in terms.iter().zip(ranks).enumerate() {
        let letters = term.letters.len();
        let fits = if term.dots.is_some() { letters <= rank } else { letters == rank };
        if !fits {
            let part = left.split(',').nth(number).unwrap_or(left);
            let message = format!("the rank of operand {number} is {rank}, but `{part}` is for rank {letters}");
            return mistake(message, "give each dimension a letter, or write `...` for the leading ones");
        }
        let dots = rank - letters;
        widest = widest.max(dots);
        operands.push(term.labels(dots));
    }
    let result = match right {
        Some(term) => explicit(&term, &operands, widest)?,
        None => implicit(&operands, widest),
    };
    Ok(Notation { operands, result })
}

/// The labels of a result that is written.
fn explicit(term: &Term, operands: &[Vec<Label>], widest: usize) -> Result<Vec<Label>, Mistake> {
    if term.dots.is_none() && widest > 0 {
        let message = "the result leaves out the dimensions of `...`".to_string();
        return mistake(message, "write `...` in the result too, or give the dimensions to sum over letters");
    }
    let labels = term.labels(if term.dots.is_some() { widest } else { 0 });
    for (at, label) in labels.iter().enumerate() {
        if labels[..at].contains(label) {
            let message = format!("{label} stands twice in the result");
            return mistake(message, "a letter of the result names one dimension; `diag` makes a diagonal matrix");
        }
        if matches!(label, Label::Letter(_)) && !operands.iter().any(|labels| labels.contains(label)) {
            let message = format!("{label} of the result is in no operand");
            return mistake(message, "every letter of the result has its extent from an operand");
        }
    }
    Ok(labels)
}

/// The labels of a result that is not written: `...`, then the letters that occur once, in alphabetical order.
fn implicit(operands: &[Vec<Label>], widest: usize) -> Vec<Label> {
    let letters: Vec<char> = operands
        .iter()
        .flatten()
        .filter_map(|label| match label {
            Label::Letter(letter) => Some(*letter),
            Label::Number(_) => None,
        })
        .collect();
    let mut once: Vec<char> =
        letters.iter().copied().filter(|letter| letters.iter().filter(|l| *l == letter).count() == 1).collect();
    once.sort_unstable();
    (0..widest).rev().map(Label::Number).chain(once.into_iter().map(Label::Letter)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(text: &str) -> Vec<Label> {
        text.chars().map(Label::Letter).collect()
    }

    #[test]
    fn results_are_read_or_inferred() {
        let result = |text: &str, ranks: &[usize]| parse(text, ranks).unwrap().result;
        assert_eq!(result("ij, jk -> ki", &[2, 2]), letters("ki"));
        assert_eq!(result("ba", &[2]), letters("ab"));
        assert_eq!(result("ij,jh", &[2, 2]), letters("hi"));
        assert_eq!(result("bA", &[2]), letters("Ab"));
        assert_eq!(result("ii", &[2]), []);
        assert_eq!(result("", &[0]), []);
        assert_eq!(result("i...", &[3]), [Label::Number(1), Label::Number(0), Label::Letter('i')]);
        assert_eq!(result("...i,...->i...", &[2, 3])[1..], [Label::Number(2), Label::Number(1), Label::Number(0)]);
    }

    #[test]
    fn mistakes_name_the_part() {
        let message = |text: &str, ranks: &[usize]| parse(text, ranks).unwrap_err().message;
        assert_eq!(message("i1", &[2]), "`i1` holds `1`, which names no dimension");
        assert_eq!(message("i..", &[2]), "`i..` holds `.`, which names no dimension");
        assert_eq!(message("...i...", &[2]), "`...i...` has two `...`");
        assert_eq!(message("i->j->k", &[1]), "`j->k` holds `-`, which names no dimension");
        assert_eq!(message("i,j", &[1]), "the number of operands of `i,j` is 2, but 1 are given");
        assert_eq!(message("ij,j", &[2, 2]), "the rank of operand 1 is 2, but `j` is for rank 1");
        assert_eq!(message("ijk...", &[2]), "the rank of operand 0 is 2, but `ijk...` is for rank 3");
        assert_eq!(message("ij->ik", &[2]), "`k` of the result is in no operand");
        assert_eq!(message("ij->ii", &[2]), "`i` stands twice in the result");
        assert_eq!(message("...i->i", &[2]), "the result leaves out the dimensions of `...`");
    }
}
