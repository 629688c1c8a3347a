//! Names of kernels and the template arguments in them.
//!
//! A pattern is text with holes: `{T}` (one uppercase letter) is a type, `{Op}` an operation, `{n}` a number, and
//! `{n:a=x|b=y}` one of several texts and its replacement. A hole of the template takes what the pattern's hole of that
//! name has found; `{@out}` takes the type that Apple's kernel has for its argument `out`, where names do not tell it.

use std::collections::BTreeMap;

/// Types in names, those first that others begin with, and their spelling in MLX.
const TYPES: [(&str, &str); 19] = [
    ("bool_", "bool"),
    ("uint8", "uint8_t"),
    ("uint16", "uint16_t"),
    ("uint32", "uint32_t"),
    ("uint64", "uint64_t"),
    ("int8", "int8_t"),
    ("int16", "int16_t"),
    ("int32", "int32_t"),
    ("int64", "int64_t"),
    ("bfloat16_t", "bfloat16_t"),
    ("bfloat16", "bfloat16_t"),
    ("float16_t", "half"),
    ("float16", "half"),
    ("float32", "float"),
    ("float2", "float2"),
    ("float", "float"),
    ("complex64", "complex64_t"),
    ("complex32_t", "complex32_t"),
    ("nomask", "nomask_t"),
];

type Holes = BTreeMap<String, String>;

/// The contents of a pattern's holes, if the name has its form.
pub(crate) fn matches(pattern: &str, name: &str) -> Option<Holes> {
    let mut holes = Holes::new();
    rest_matches(pattern, name, &mut holes).then_some(holes)
}

fn rest_matches(pattern: &str, name: &str, holes: &mut Holes) -> bool {
    let Some(start) = pattern.find('{') else { return pattern == name };
    let Some(name) = name.strip_prefix(&pattern[..start]) else { return false };
    let (hole, rest) = pattern[start + 1..].split_once('}').expect("a hole ends");
    let (key, choices) = hole.split_once(':').unwrap_or((hole, ""));
    for (length, value) in candidates(key, choices, name) {
        if rest_matches(rest, &name[length..], holes) {
            holes.insert(key.to_owned(), value);
            return true;
        }
    }
    false
}

/// The beginnings of a name that fit into a hole: their length and their meaning.
fn candidates(key: &str, choices: &str, name: &str) -> Vec<(usize, String)> {
    let choice = |(text, value): (&str, &str)| name.starts_with(text).then(|| (text.len(), value.to_owned()));
    if !choices.is_empty() {
        return choices
            .split('|')
            .filter_map(|pair| choice(pair.split_once('=').unwrap_or((pair, pair))))
            .collect();
    }
    if key == "Op" {
        let length = name.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let is_operation = name.starts_with(|first: char| first.is_ascii_uppercase());
        return (1..=length).filter(|_| is_operation).map(|length| (length, name[..length].to_owned())).collect();
    }
    if key.starts_with(|first: char| first.is_ascii_uppercase()) {
        return TYPES.into_iter().filter_map(choice).collect();
    }
    let length = name.bytes().take_while(u8::is_ascii_digit).count();
    (length > 0).then(|| (length, name[..length].to_owned())).into_iter().collect()
}

/// A template with its holes filled; `argument` says what type an argument of Apple's kernel has.
pub(crate) fn fill(template: &str, holes: &Holes, argument: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (hole, after) = after.split_once('}').expect("a hole ends");
        text += before;
        text += &match hole.strip_prefix('@') {
            Some(name) => argument(name),
            None => holes.get(hole).unwrap_or_else(|| panic!("no hole '{hole}' for {template}")).clone(),
        };
        rest = after;
    }
    text + rest
}
