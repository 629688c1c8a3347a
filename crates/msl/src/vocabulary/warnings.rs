//! Names of warnings, as `-W` and `#pragma clang diagnostic` know them.

/// Identifiers of diagnostics whose name in clang is another, with that name.
const RENAMED: &[(&str, &str)] = &[
    ("user-warning", "#warnings"),
    ("pragma-message", "#pragma-messages"),
    ("index-range", "array-bounds"),
    ("return", "return-type"),
    ("missing-declarations", "missing-declarations"),
    ("macro-whitespace", "c99-extensions"),
    ("line-directive", "gnu-line-marker"),
];

/// Warnings that are printed even without `-W`: about text that has no effect, and messages of the program itself.
const ALWAYS_SHOWN: &[&str] = &[
    "user-warning",
    "pragma-message",
    "unknown-attributes",
    "ignored-attributes",
    "ignored-pragmas",
    "pragma-pack",
    "deprecated-declarations",
    "address-of-packed-member",
];

/// The name of the group of the warning `id`.
pub fn name_of(id: &str) -> &str {
    RENAMED.iter().find(|(ours, _)| *ours == id).map_or(id, |(_, name)| name)
}

/// True if the warning `id` is printed without `-W`.
pub fn is_always_shown(id: &str) -> bool {
    ALWAYS_SHOWN.contains(&id)
}

/// True if the group `name`, without `-W`, contains the warning `id`.
pub fn contains(name: &str, id: &str) -> bool {
    let of_all = !matches!(id, "conditional-uninitialized");
    match name {
        "everything" | "all" | "extra" | "most" => name == "everything" || of_all,
        "unused" => id.starts_with("unused-"),
        "attributes" => matches!(id, "unknown-attributes" | "ignored-attributes"),
        "pragmas" => matches!(id, "unknown-pragmas" | "ignored-pragmas" | "pragma-pack"),
        "deprecated" => id == "deprecated-declarations",
        "uninitialized" => matches!(id, "uninitialized" | "sometimes-uninitialized"),
        _ => name_of(id) == name,
    }
}
