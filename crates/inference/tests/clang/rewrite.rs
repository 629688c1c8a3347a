//! Metal as C++: what no header can make clang read.
//!
//! * Metal has attributes after `template`; C++ has no place for them there. They are left out.
//! * A variable in threadgroup memory is declared in a function, where C++ has memory of the thread alone: it becomes
//!   `static`. (Of structs that would need a constructor for that memory; none of ours has any there.)
//! * A function constant gets its value from the host, but a constant of C++ is initialized where it is defined: it
//!   becomes a declaration, `extern`. So it is no constant expression either, as in Metal.
//!
//! All three go by the beginning of a line, which is how our shaders are written. What is missed is an error of clang's.

use std::borrow::Cow;

/// The text for clang; lines stay where they are.
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

/// `template [[…]] [[…]] rest` as `template rest`.
fn without_attributes(line: &str) -> String {
    let mut rest = line.trim_start().trim_start_matches("template").trim_start();
    while let Some(attribute) = rest.strip_prefix("[[") {
        rest = attribute.split_once("]]").map_or("", |(_, after)| after.trim_start());
    }
    format!("template {rest}")
}

#[test]
fn lines_that_clang_cannot_read_are_changed_and_no_others() {
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
