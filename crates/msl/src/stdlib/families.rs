//! The overload families of the library: the types behind `template <__each_floatn T>`.
//!
//! Apple's headers declare one overload for each type, and that matters: `max(1, 2u)` is ambiguous, and `exp(x)` with a
//! `bfloat` picks the one overload it converts to. So a declaration with an `__each_…` parameter is no template: the
//! checker replaces it by one ordinary function for each member of the family.

/// The types behind an `__each_…` parameter: each element in each width.
#[derive(Debug, PartialEq, Eq)]
pub struct Family {
    /// The name in the headers.
    pub name: &'static str,
    /// The scalar types, by their names in Metal.
    pub elements: &'static [&'static str],
    /// Numbers of components: 1 is the scalar itself.
    pub widths: &'static [u8],
}

const SCALAR: &[u8] = &[1];
const VECTOR: &[u8] = &[2, 3, 4];
const ANY: &[u8] = &[1, 2, 3, 4];

const fn each(name: &'static str, elements: &'static [&'static str], widths: &'static [u8]) -> Family {
    Family { name, elements, widths }
}

const INTEGERS: &[&str] = &["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"];

/// All families.
pub const FAMILIES: &[Family] = &[
    // Floating point. `bfloat` has no functions of its own: it converts to `float`.
    each("__each_floatn", &["half", "float"], ANY),
    each("__each_floatv", &["half", "float"], VECTOR),
    each("__each_float32n", &["float"], ANY),
    each("__each_float32v", &["float"], VECTOR),
    // Integers.
    each("__each_intn", INTEGERS, ANY),
    each("__each_int32n", &["int", "uint"], ANY),
    each("__each_booln", &["bool"], ANY),
    // `select` has overloads for `bfloat`, too.
    each(
        "__each_selectn",
        &["bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "bfloat", "float"],
        ANY,
    ),
    each("__each_simdgroup_matrix", &["half", "bfloat", "float"], SCALAR),
    // `T` of the `atomic<T>` that an atomic function takes: in device memory, in threadgroup memory, for sums in device
    // memory, for everything else.
    each("__each_atomic", &["int", "uint", "bool", "float"], SCALAR),
    each("__each_atomic_local", &["int", "uint", "bool"], SCALAR),
    each("__each_atomic_sum", &["int", "uint", "float"], SCALAR),
    each("__each_atomic_int", &["int", "uint"], SCALAR),
];

/// The family of this name.
pub fn family(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stdlib::HEADERS;
    use std::collections::BTreeSet;

    /// The identifiers of a header that begin with `__each_`, comments included.
    fn families_in(text: &str) -> impl Iterator<Item = &str> {
        text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| word.starts_with("__each_"))
    }

    #[test]
    fn headers_use_the_families_and_no_others() {
        let used: BTreeSet<&str> = HEADERS.iter().flat_map(|(_, text)| families_in(text)).collect();
        let known: BTreeSet<&str> = FAMILIES.iter().map(|family| family.name).collect();
        assert_eq!(used, known);
        assert_eq!(known.len(), FAMILIES.len(), "no name twice");
    }

    #[test]
    fn a_family_is_found_by_name() {
        assert_eq!(family("__each_float32n").map(|family| family.elements), Some(&["float"][..]));
        assert_eq!(family("__each_double"), None);
    }
}
