//! A Metal source that calls every function of the library's headers.

use msl::stdlib::families;
use std::fmt::Write as _;
use std::path::Path;

/// The headers of compute functions.
const HEADERS: &[&str] = &[
    "metal_common",
    "metal_integer",
    "metal_relational",
    "metal_geometric",
    "metal_compute",
    "metal_simdgroup",
    "metal_quadgroup",
    "metal_simdgroup_matrix",
    "metal_matrix",
    "metal_pack",
    "metal_atomic",
    "__metal_internals",
];

/// Calls that cannot be generated from a declaration: functions with several template parameters.
const BY_HAND: &str = "
kernel void by_hand(device float *f [[buffer(0)]], device half *h [[buffer(1)]], threadgroup bfloat *b [[threadgroup(0)]]) {
  simdgroup_float8x8 fm = make_filled_simdgroup_matrix<float, 8, 8>(1.0f), fd = make_diagonal_simdgroup_matrix<float, 8>(2.0f);
  simdgroup_half8x8 hm = make_filled_simdgroup_matrix<half, 8, 8>(1.0h), hd = make_diagonal_simdgroup_matrix<half, 8>(2.0h);
  simdgroup_bfloat8x8 bm = make_filled_simdgroup_matrix<bfloat, 8, 8>(1.0bf), bd = make_diagonal_simdgroup_matrix<bfloat, 8>(bfloat(2.0f));
  simdgroup_multiply(fm, fm, fd); simdgroup_multiply(hm, hm, hd); simdgroup_multiply(bm, bm, bd); simdgroup_multiply(fm, hm, bm);
  simdgroup_multiply_accumulate(fm, fm, fd, fm); simdgroup_multiply_accumulate(fm, hm, bd, fd);
  simdgroup_multiply_accumulate(bm, bm, bd, fm);
  f[0] = as_type<float>(1); f[1] = as_type<float>(ushort2(1)); f[2] = as_type<float>(uchar4(1)); f[3] = as_type<float>(half2(1));
  h[0] = as_type<half>(short(1)); h[1] = as_type<half>(bfloat(1.0f)); h[2] = as_type<half>(uchar2(1));
  float3 v = as_type<float3>(int3(1)); float4 w = as_type<float4>(int4(1)); uint2 u = as_type<uint2>(1ul);
  long l = as_type<long>(float2(1)); ushort s = as_type<ushort>(bfloat(1.0f)); uint2 x = as_type<uint2>(half4(1)); int4 z = as_type<int4>(float3(1)); char3 q = as_type<char3>(1);
}
";

fn include_dir() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../msl/src/stdlib/include")
}

/// A declaration: `template <FAMILY _T> RESULT name(PARAMS)`.
struct Declaration {
    family: Option<String>,
    result: String,
    /// With its namespace.
    name: String,
    params: Vec<String>,
}

/// The functions of a header that have no body.
fn declarations(text: &str, namespace: &str, math_family: &str) -> Vec<Declaration> {
    let text: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default().trim())
        .filter(|line| !line.starts_with('#'))
        .collect::<Vec<_>>()
        .join(" ");
    let mut namespace = namespace.to_string();
    let mut depth = 0;
    let mut found = Vec::new();
    let mut start = 0;
    for (position, c) in text.char_indices() {
        match c {
            '{' => {
                let head = text[start..position].trim();
                match head.strip_prefix("namespace ") {
                    Some("metal") => {}
                    Some(inner) => namespace = format!("{inner}::"),
                    None => depth += 1,
                }
                start = position + 1;
            }
            '}' => {
                if depth > 0 {
                    depth -= 1;
                } else {
                    namespace.clear();
                }
                start = position + 1;
            }
            ';' => {
                if depth == 0 {
                    found.extend(declaration(text[start..position].trim(), &namespace, math_family));
                }
                start = position + 1;
            }
            _ => {}
        }
    }
    found
}

fn declaration(text: &str, namespace: &str, math_family: &str) -> Option<Declaration> {
    let (family, text) = match text.strip_prefix("template <") {
        // Until the `>` before which all are closed.
        Some(rest) => {
            let mut depth = 1;
            let end = rest.char_indices().find(|&(_, c)| {
                depth += i32::from(c == '<') - i32::from(c == '>');
                depth == 0
            })?;
            (Some(&rest[..end.0]), rest[end.0 + 1..].trim())
        }
        None => (None, text),
    };
    let family = match family {
        None => None,
        Some(family) if family.contains("__MATH_FAMILY") => Some(math_family.to_string()),
        Some(family) if family.contains("__if_simdgroup_type") => Some("__if_simdgroup_type".into()),
        Some(family) if family.contains("__if_simdgroup_integer") => Some("__if_simdgroup_integer".into()),
        Some(family) if family.contains("typename _T, int _C, int _R") => Some("matrix".into()),
        Some(family) if family.starts_with("__each_") => Some(family.split(' ').next()?.to_string()),
        Some(_) => return None,
    };
    let (head, params) = text.strip_suffix(')')?.split_once('(')?;
    let (result, name) = head.rsplit_once(' ')?;
    let mut split = vec![String::new()];
    let mut depth = 0;
    for c in params.chars() {
        depth += i32::from(c == '<') - i32::from(c == '>');
        match c {
            ',' if depth == 0 => split.push(String::new()),
            c => split.last_mut()?.push(c),
        }
    }
    let params = split.iter().map(|p| p.split('=').next().unwrap_or_default().trim().to_string());
    let params = params.filter(|param| !param.is_empty()).collect();
    Some(Declaration { family, result: result.into(), name: format!("{namespace}{name}"), params })
}

/// The types that a family stands for.
fn types_of(family: Option<&str>) -> Vec<String> {
    let widths = |elements: &[&str], widths: &[u8]| -> Vec<String> {
        let name =
            |element: &str, width| if width == 1 { element.to_string() } else { format!("{element}{width}") };
        elements.iter().flat_map(|element| widths.iter().map(move |&width| name(element, width))).collect()
    };
    const INTEGERS: &[&str] = &["char", "uchar", "short", "ushort", "int", "uint"];
    match family {
        None => vec!["void".into()],
        Some("__if_simdgroup_type") => widths(&[INTEGERS, &["half", "float"]].concat(), &[1, 2, 3, 4]),
        Some("__if_simdgroup_integer") => widths(INTEGERS, &[1, 2, 3, 4]),
        Some("matrix") => vec!["float".into(), "half".into()],
        Some(name) => {
            let family = families::family(name).unwrap_or_else(|| panic!("no family {name}"));
            widths(family.elements, family.widths)
        }
    }
}

/// A function that calls a declared one, for each type of its family.
fn calls(source: &mut String, declaration: &Declaration, number: &mut u32) {
    for ty in types_of(declaration.family.as_deref()) {
        let shapes: Vec<(u8, u8)> = match declaration.family.as_deref() {
            Some("matrix") => (2..=4).flat_map(|c| (2..=4).map(move |r| (c, r))).collect(),
            _ => vec![(0, 0)],
        };
        for (columns, rows) in shapes {
            *number += 1;
            let mut params = Vec::new();
            let mut args = Vec::new();
            for (index, param) in declaration.params.iter().enumerate() {
                // An unnamed parameter is a type alone.
                let end = param.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |end| end + 1);
                let ty = if end == 0 { param.as_str() } else { &param[..end] };
                params.push(format!("{ty} a{index}"));
                args.push(format!("a{index}"));
            }
            let mut text = format!(
                "{} f{number}({}) {{ return {}({}); }}",
                declaration.result,
                params.join(", "),
                declaration.name,
                args.join(", ")
            );
            if columns != 0 {
                text = text
                    .replace("_R, _C", &format!("{rows}, {columns}"))
                    .replace("_C, _R", &format!("{columns}, {rows}"));
            }
            let alias = if ty == "void" { String::new() } else { format!("typedef {ty} _T; ") };
            let _ = writeln!(source, "namespace n{number} {{ {alias}{text} }}");
        }
    }
}

/// Calls of everything that the headers declare.
pub(super) fn generated_source() -> String {
    let mut source = String::from("#include <metal_stdlib>\nusing namespace metal;\n");
    let mut number = 0;
    let mut all = Vec::new();
    let read = |name: &str| std::fs::read_to_string(include_dir().join(name)).expect("a header");
    for (namespace, family) in
        [("", "__each_floatn"), ("fast::", "__each_float32n"), ("precise::", "__each_float32n")]
    {
        all.extend(declarations(&read("__metal_math_functions"), namespace, family));
    }
    for header in HEADERS {
        all.extend(declarations(&read(header), "", ""));
    }
    for declaration in &all {
        calls(&mut source, declaration, &mut number);
    }
    source.push_str("constant int fc [[function_constant(0)]];\n");
    source.push_str("constant bool fc_defined = is_function_constant_defined(fc);\n");
    source.push_str(BY_HAND);
    source
}
