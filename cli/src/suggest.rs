//! `closest`: the name that was probably meant.

/// The candidate nearest to `name`, if one is near enough to be a slip of the hand. The first wins among equals.
pub(crate) fn closest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Nobody means a name of that length by accident, and the distance takes quadratic time.
    const LONGEST: usize = 64;
    if name.len() > LONGEST {
        return None;
    }
    let allowed = (name.chars().count() / 3).max(1);
    let near = candidates.into_iter().filter(|c| c.len() <= LONGEST);
    near.map(|c| (strsim::osa_distance(&name.to_lowercase(), &c.to_lowercase()), c))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, c)| c)
}

/// Names between grave accents, with commas: "`x`, `y`".
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_strangers_are_not() {
        let names = ["weight", "bias", "x"];
        assert_eq!(closest("wieght", names), Some("weight"));
        assert_eq!(closest("Bias", names), Some("bias"));
        assert_eq!(closest("y", names), Some("x"));
        assert_eq!(closest("learning_rate", names), None);
        assert_eq!(closest(&"x".repeat(10_000), names), None);
    }
}
