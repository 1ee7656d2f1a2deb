//! `closest`: the name that was probably meant.

/// The candidate nearest to `name` by edit distance, if one is near enough to be a slip of the hand. The first wins
/// among equals.
pub(super) fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Nobody means a name of that length by accident, and the distance takes quadratic time.
    const LONGEST: usize = 64;
    if name.len() > LONGEST {
        return None;
    }
    let allowed = (name.chars().count() / 3).max(1);
    let near = candidates.into_iter().filter(|c| c.len() <= LONGEST && c.len().abs_diff(name.len()) <= 2 * allowed);
    near.map(|c| (distance(name, c), c)).filter(|(d, _)| *d <= allowed).min_by_key(|(d, _)| *d).map(|(_, c)| c)
}

/// Edit distance in characters, where swapping two neighbours is one edit.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1; b.len() + 1];
        for j in 0..b.len() {
            let substitute = above[j] + usize::from(a[i] != b[j]);
            row[j + 1] = substitute.min(row[j] + 1).min(above[j + 1] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let names = ["add", "maximum", "minimum", "matmul"];
        assert_eq!(closest("maximun", names), Some("maximum"));
        assert_eq!(closest("matmull", names), Some("matmul"));
        assert_eq!(closest("ad", names), Some("add"));
        assert_eq!(closest("amtmul", names), Some("matmul"));
        assert_eq!(closest("convolution", names), None);
        assert_eq!(closest(&"m".repeat(10_000), names), None);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abcd", "badc"), 2);
    }
}
