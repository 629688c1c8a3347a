//! Differences that are no errors, each with its reason.

/// Functions whose results may differ: a part of their names, by how many units in the last place, and the reason.
const BOUNDS: [(&str, u64, &str); 0] = [];

/// Units in the last place by which results of a function may differ.
pub(crate) fn bound(name: &str) -> u64 {
    BOUNDS.iter().find(|(part, ..)| name.contains(part)).map_or(0, |(_, bound, _)| *bound)
}
