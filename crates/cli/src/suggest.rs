//! Suggestions for names that do not exist.

/// Similar names, best first: a few edits away, or with `name` as a part.
pub(crate) fn near_matches<'a>(name: &str, names: &[&'a str]) -> Vec<&'a str> {
    let tolerance = (name.chars().count() / 3).max(1);
    let mut near: Vec<(usize, &str)> = names
        .iter()
        .map(|other| (edit_distance(name, other), *other))
        .filter(|(distance, other)| *distance <= tolerance || (!name.is_empty() && other.contains(name)))
        .collect();
    near.sort();
    near.into_iter().map(|(_, other)| other).collect()
}

/// Levenshtein distance of `a` and `b`, computed row by row.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, in_a) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, in_b) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(in_a != *in_b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distance_counts_typing_mistakes() {
        assert_eq!(edit_distance("gemv", "gemv"), 0);
        assert_eq!(edit_distance("gemw", "gemv"), 1);
        assert_eq!(edit_distance("", "gemv"), 4);
        assert_eq!(edit_distance("gemv", ""), 4);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }
}
