//! Patterns of kernel names: text with placeholders. A placeholder matches a part of a name and yields the template
//! arguments that it stands for.
//!
//! | placeholder | matches | yields |
//! |---|---|---|
//! | `{n}` | `32` | `32` |
//! | `{bool}` | `true`, `false` | the same |
//! | `{type}` | `float16`, `bool_` | `half`, `bool` |
//! | `{spelled}` | `float16_t`, `float2` | the same |
//! | `{mask}` | `nomask`, or a type | `nomask_t`, or the type |
//! | `{op}` | `Abs` | the same |
//! | `{comparison}` | `Less` | the same |
//! | `{reduction}` | `sumint8` | `int8_t`, `int32_t`, `Sum<int32_t>` |
//! | `{scan}` | `sum_bool__int32` | `bool`, `int32_t`, `CumSum<int32_t>, 4` |
//! | `{transposes}` | `nt` | `false`, `true` |
//! | `{aligned}` | `taligned`, `naligned` | `true`, `false` |
//! | `{channels}` | `3`, `l` | `3`, `0` |
//! | `{filter}` | `s`, `l` | `true`, `false` |

/// MLX's name of each type, and its name in Metal.
const TYPES: [(&str, &str); 13] = [
    ("bool_", "bool"),
    ("uint8", "uint8_t"),
    ("uint16", "uint16_t"),
    ("uint32", "uint32_t"),
    ("uint64", "uint64_t"),
    ("int8", "int8_t"),
    ("int16", "int16_t"),
    ("int32", "int32_t"),
    ("int64", "int64_t"),
    ("float16", "half"),
    ("float32", "float"),
    ("bfloat16", "bfloat16_t"),
    ("complex64", "complex64_t"),
];

const SPELLED: [&str; 5] = ["float2", "float", "float16_t", "bfloat16_t", "complex32_t"];
const COMPARISONS: [&str; 7] = ["Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "NaNEqual", "NotEqual"];
const REDUCTIONS: [(&str, &str); 6] =
    [("and", "And"), ("or", "Or"), ("sum", "Sum"), ("prod", "Prod"), ("min", "Min"), ("max", "Max")];
const SCANS: [(&str, &str); 5] =
    [("sum", "CumSum"), ("prod", "CumProd"), ("min", "CumMin"), ("max", "CumMax"), ("logaddexp", "CumLogaddexp")];

/// Values of the placeholders of `pattern` in `name`; `None` if it does not match.
pub(crate) fn matches(pattern: &str, name: &str) -> Option<Vec<String>> {
    let Some((text, rest)) = pattern.split_once('{') else { return (pattern == name).then(Vec::new) };
    let name = name.strip_prefix(text)?;
    let (placeholder, rest) = rest.split_once('}').expect("a placeholder ends");
    // Shorter parts first: "Absuint8" is Abs of uint8, and not Absu of int8.
    (1..=name.len()).filter(|length| name.is_char_boundary(*length)).find_map(|length| {
        let (part, after) = name.split_at(length);
        let mut values = arguments(placeholder, part)?;
        values.extend(matches(rest, after)?);
        Some(values)
    })
}

/// The template arguments that `part` stands for.
fn arguments(placeholder: &str, part: &str) -> Option<Vec<String>> {
    let one = |text: &str| Some(vec![text.to_string()]);
    let either = |yes: &str, no: &str| match part {
        _ if part == yes => one("true"),
        _ if part == no => one("false"),
        _ => None,
    };
    match placeholder {
        "n" => part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.into()).map(|text| vec![text]),
        "bool" => either("true", "false"),
        "type" => one(metal_type(part)?),
        "spelled" => SPELLED.contains(&part).then(|| vec![part.into()]),
        "mask" if part == "nomask" => one("nomask_t"),
        "mask" => one(metal_type(part)?),
        "op" => {
            let is_name = part.starts_with(|first: char| first.is_ascii_uppercase())
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
            is_name.then(|| vec![part.into()])
        }
        "comparison" => COMPARISONS.contains(&part).then(|| vec![part.into()]),
        "reduction" => reduction(part),
        "scan" => scan(part),
        "transposes" => {
            let is_transposed = |letter| Some(String::from(if letter == b't' { "true" } else { "false" }));
            let letters = part.as_bytes();
            let is_pair = letters.len() == 2 && letters.iter().all(|letter| b"nt".contains(letter));
            if is_pair { letters.iter().map(|letter| is_transposed(*letter)).collect() } else { None }
        }
        "aligned" => either("taligned", "naligned"),
        "channels" if part == "l" => one("0"),
        "channels" => arguments("n", part),
        "filter" => either("s", "l"),
        _ => panic!("unknown placeholder {{{placeholder}}}"),
    }
}

fn metal_type(name: &str) -> Option<&'static str> {
    TYPES.iter().find(|(known, _)| *known == name).map(|(_, metal)| *metal)
}

/// An operation and a type. Sums and products of short integers are wider; `and` and `or` are bool.
fn reduction(part: &str) -> Option<Vec<String>> {
    REDUCTIONS.iter().find_map(|(name, operation)| {
        let input = metal_type(part.strip_prefix(name)?)?;
        let output = match (*name, input) {
            ("and" | "or", _) => "bool",
            ("sum" | "prod", "bool" | "int8_t" | "uint8_t" | "int16_t") => "int32_t",
            ("sum" | "prod", "uint16_t") => "uint32_t",
            _ => input,
        };
        Some(vec![input.into(), output.into(), format!("{operation}<{output}>")])
    })
}

/// An operation and two types. A thread reads 4 elements, or 2 of 8 bytes, as the mangled names in Apple's library say.
fn scan(part: &str) -> Option<Vec<String>> {
    SCANS.iter().find_map(|(name, operation)| {
        let types = part.strip_prefix(name)?.strip_prefix('_')?;
        let values = matches("{type}_{type}", types)?;
        let [input, output] = values.as_slice() else { return None };
        let reads = if matches!(output.as_str(), "int64_t" | "uint64_t" | "complex64_t") { 2 } else { 4 };
        Some(vec![input.clone(), output.clone(), format!("{operation}<{output}>, {reads}")])
    })
}
