//! Rust names and types for those of the shaders.

use std::path::Path;

/// Module of a file: `gemv_q4` for `src/gemv_q4.metal`.
pub(crate) fn module(path: &Path) -> Result<String, String> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    match stem.starts_with(|c: char| c.is_ascii_lowercase()) && stem.chars().all(allowed) && !is_keyword(stem) {
        true => Ok(stem.to_owned()),
        false => Err(format!(
            "{}: its name must be a Rust module's: lower-case letters, digits, underscores",
            path.display()
        )),
    }
}

/// `RmsNorm` for `rms_norm`.
pub(crate) fn camel(name: &str) -> String {
    let capitalized = |part: &str| {
        let mut letters = part.chars();
        letters.next().map_or(String::new(), |first| first.to_ascii_uppercase().to_string() + letters.as_str())
    };
    name.split('_').map(capitalized).collect()
}

/// `RMS_NORM_F32` for `rms_norm_f32`.
pub(crate) fn constant(name: &str) -> String {
    name.to_ascii_uppercase()
}

/// Name of a field: `head_dim` for `HEAD_DIM`, `r#in` for `in`.
pub(crate) fn field(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    if is_keyword(&name) { format!("r#{name}") } else { name }
}

fn is_keyword(name: &str) -> bool {
    const KEYWORDS: [&str; 38] = [
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "dyn", "else", "enum",
        "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override",
        "priv", "pub", "ref", "return", "static", "struct", "trait", "type", "unsafe", "use", "where", "while",
    ];
    KEYWORDS.contains(&name)
}

/// A number type of both languages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Scalar {
    /// Name in Rust: `u32`.
    pub(crate) rust: &'static str,
    /// Size in bytes.
    pub(crate) size: u64,
}

/// The number type that MSL calls `name`.
pub(crate) fn scalar(name: &str) -> Option<Scalar> {
    let (rust, size) = match name {
        "bool" => ("bool", 1),
        "char" => ("i8", 1),
        "uchar" => ("u8", 1),
        "short" => ("i16", 2),
        "ushort" => ("u16", 2),
        "int" => ("i32", 4),
        "uint" => ("u32", 4),
        "long" => ("i64", 8),
        "ulong" => ("u64", 8),
        "float" => ("f32", 4),
        _ => return None,
    };
    Some(Scalar { rust, size })
}

/// The Rust type of a field with the same bytes as in MSL, and its size in Rust: `[f32; 3]` with 12 bytes for `float3`.
pub(crate) fn plain(name: &str) -> Option<(String, u64)> {
    // `bool` is excluded: not every byte is a valid one.
    if let Some(found) = scalar(name).filter(|found| found.rust != "bool") {
        return Some((found.rust.to_owned(), found.size));
    }
    let (element, count): (&str, u64) = match name.strip_suffix(']').and_then(|name| name.rsplit_once('[')) {
        Some((element, count)) => (element.trim_end(), count.parse().ok()?),
        None => {
            let vector = name.strip_prefix("packed_").unwrap_or(name);
            let element = vector.strip_suffix(['2', '3', '4'])?;
            (element, vector[element.len()..].parse().ok()?)
        }
    };
    let found = scalar(element).filter(|found| found.rust != "bool")?;
    Some((format!("[{}; {count}]", found.rust), found.size * count))
}
