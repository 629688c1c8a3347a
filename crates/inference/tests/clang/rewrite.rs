//! Rewrites Metal as C++ where headers are not enough.
//!
//! * Metal allows attributes after `template`; C++ does not. They are removed.
//! * A threadgroup variable is declared in a function, where C++ has thread memory only: it becomes `static`. (A struct
//!   would need a constructor for that address space; our shaders have none there.)
//! * The host sets a function constant, but a C++ constant is initialized in its definition: it becomes a declaration,
//!   `extern`. So it is not a constant expression either, as in Metal.
//!
//! All three match the beginning of a line, as our shaders are written. clang rejects what they miss.

use std::borrow::Cow;

/// Rewrites a shader for clang. Keeps line numbers.
pub(crate) fn for_clang(shader: &str) -> String {
    shader.lines().map(line_for_clang).collect::<Vec<_>>().join("\n") + "\n"
}

fn line_for_clang(line: &str) -> Cow<'_, str> {
    let code = line.trim_start();
    if code.starts_with("template [[") {
        return without_attributes(line).into();
    }
    if code.starts_with("constant ") && code.contains("[[function_constant(") {
        return format!("extern {line}").into();
    }
    let declares = code.starts_with("threadgroup ")
        && code.find(['*', '&', '=', '(', '[', ';']).is_some_and(|at| {
            let end = &code[at..];
            end.starts_with('[') || end.starts_with(';')
        });
    if declares { format!("static {line}").into() } else { line.into() }
}

/// Rewrites `template [[…]] [[…]] rest` as `template rest`.
fn without_attributes(line: &str) -> String {
    let mut rest = line.trim_start().trim_start_matches("template").trim_start();
    while let Some(attribute) = rest.strip_prefix("[[") {
        rest = attribute.split_once("]]").map_or("", |(_, after)| after.trim_start());
    }
    format!("template {rest}")
}

#[test]
fn rewrites_three_constructs_and_keeps_other_lines() {
    let changed = [
        ("constant uint K [[function_constant(0)]]; // K", "extern constant uint K [[function_constant(0)]]; // K"),
        ("    threadgroup float scratch[32];", "static     threadgroup float scratch[32];"),
        ("    template [[host_name(name)]] [[kernel]] decltype(f<T>) f<T>;", "template decltype(f<T>) f<T>;"),
    ];
    for (line, expected) in changed {
        assert_eq!(line_for_clang(line), expected);
    }
    let kept = [
        "constant uint K = 1;",
        "    threadgroup float* own = scratch;",
        "    threadgroup_barrier(mem_flags::mem_threadgroup);",
        "                 device const T* residual [[buffer(4), function_constant(RESIDUAL)]],",
        "template <typename T>",
    ];
    for line in kept {
        assert_eq!(line_for_clang(line), line);
    }
}
