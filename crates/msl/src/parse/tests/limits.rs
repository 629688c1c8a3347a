//! Deep nesting and long chains end in an error, not in a full stack or an endless wait.

use super::parse_text;
use std::time::{Duration, Instant};

/// Parses on a stack of 8 MB, which is what a main thread has.
fn messages(text: String) -> Vec<String> {
    messages_on(8 << 20, text)
}

fn messages_on(stack: usize, text: String) -> Vec<String> {
    let parse = move || {
        let start = Instant::now();
        let (_, diagnostics) = parse_text(&text);
        assert!(start.elapsed() < Duration::from_secs(60), "slow: {}", &text[..text.len().min(60)]);
        diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect()
    };
    std::thread::Builder::new().stack_size(stack).spawn(parse).unwrap().join().unwrap()
}

#[test]
fn nesting_is_limited() {
    for (start, repeated) in [
        ("void f() { x = ", "("),
        ("void f() { ", "{"),
        ("void f() { x = a", "[a"),
        ("void f() { x = a", "<a"),
        ("void f() { x = ", "!"),
        ("void f() { x = ", "- "),
        ("void f() { x = ", "(int)"),
        ("void f() { x = ", "sizeof "),
        ("void f() { x = ", "1 ? "),
        ("void f() { x = ", "[] { "),
        ("void f() { x = ", "a || b && c | d ^ e & f == g < h << i + j * ("),
        ("void f() { ", "if (1) "),
        ("void f() { ", "if (1) { "),
        ("void f() { ", "if (1); else { "),
        ("void f() { ", "for (;;) "),
        ("int x = ", "{"),
        ("int ", "("),
        ("int ", "*"),
        ("int x", "[1]"),
        ("void f(", "void (*g)("),
        ("", "vec<"),
        ("", "template <"),
        ("", "template <template <"),
        ("", "template <typename T> "),
        ("", "struct {"),
        ("", "struct S {"),
        ("", "namespace a {"),
        ("namespace ", "a::"),
        ("", "extern \"C\" "),
        ("", "decltype("),
        ("", "[[a("),
    ] {
        let found = messages(format!("{start}{}", repeated.repeat(100_000)));
        assert_eq!(found, ["bracket nesting level exceeded maximum of 256"], "{start}{repeated}…");
    }
}

#[test]
fn nesting_in_late_bodies_is_limited() {
    let classes = |count: usize| format!("{}{}", "struct S { void f() { ".repeat(count), "} };".repeat(count));
    assert_eq!(messages(classes(100)), [""; 0]);
    assert_eq!(messages(classes(100_000)), ["bracket nesting level exceeded maximum of 256"]);
}

#[test]
fn chains_are_limited() {
    for repeated in ["+ 1", "()", ".a", "[1]", ", 1", "++", "= a", "+= a", "? 1 : 2", "&& a || b"] {
        let found = messages(format!("int x = (f{});", repeated.repeat(100_000)));
        assert_eq!(found, ["chain exceeded maximum of 4096 links"], "{repeated}");
    }
}

/// As in clang, which has no limit.
#[test]
fn chains_of_thousands_are_no_nesting() {
    for repeated in ["+ 1", ", 1", "= a", "? 1 : a", "+ a * 2", "|| a && b"] {
        let found = messages(format!("void f() {{ a {}; }}", repeated.repeat(3000)));
        assert_eq!(found, [""; 0], "{repeated}");
    }
}

/// The limits of brackets and of chains do not multiply.
#[test]
fn chains_in_operands_of_chains_count_together() {
    // The compiler has much more.
    let messages = |text| messages_on(64 << 20, text);
    for link in ["+ 1", "()", ".a", "[1]", ", 1", "++", "|| a"] {
        let text = format!("int x = {}f{};", "(".repeat(20), (link.repeat(400) + ")").repeat(20));
        assert_eq!(messages(text), ["chain exceeded maximum of 4096 links"], "{link}");
    }
    for link in ["a = ", "a ? b : ", "a = b ? c : "] {
        let text = format!("int x = {};", (link.repeat(400) + "(").repeat(20));
        assert_eq!(messages(text), ["chain exceeded maximum of 4096 links"], "{link}");
    }
    let branches = "if (a) b; else ".repeat(400) + "{ ";
    assert_eq!(messages(format!("void f() {{ {}", branches.repeat(20))), ["chain exceeded maximum of 4096 links"]);
    let mixed = format!("int x = {}{}", "a = ".repeat(3000), "+ 1".repeat(3000));
    assert_eq!(messages(mixed.replacen("+", "a +", 1)), ["chain exceeded maximum of 4096 links"]);
}

#[test]
fn chains_of_else_if_are_limited_and_labels_are_not() {
    let found = messages(format!("void f() {{ {}", "if (1); else ".repeat(100_000)));
    assert_eq!(found, ["chain exceeded maximum of 4096 links"]);
    let found = messages(format!("void f() {{ switch (1) {{ {}; }} }}", "case 1: ".repeat(100_000)));
    assert_eq!(found, [""; 0]);
}

#[test]
fn attempts_do_not_multiply() {
    for (start, repeated) in [
        ("void f() { x = ", "u<"),
        ("void f() { x = ", "u<(u<"),
        ("void f() { x = ", "(vec<("),
        ("void f() { x = ", "vec<vec<float, u<"),
        ("struct S { template <typename T> void g(); }; void f() { x = ", "a.g<a.g<"),
        ("void f() { ", "int(("),
        ("void f() { int x(", "int(int("),
        ("void f() { ", "vec<decltype([] { vec<decltype([] { "),
        ("void f() { ", "int(x[[] { int(x[[] { "),
        ("void f() { ", "if (int x = [] { if (int x = [] { "),
        ("void f() { ", "for (int x = [] { for (int x = [] { "),
        ("struct S { ", "S<"),
        ("struct S { ", "operator struct S { "),
        ("struct ", "alignas(sizeof(vec<alignof("),
    ] {
        for count in [20, 60, 200] {
            messages(format!("{start}{}", repeated.repeat(count)));
        }
    }
}

#[test]
fn two_hundred_levels_are_accepted() {
    let nested = |open: &str, middle: &str, close: &str| {
        let program = format!("int x = {}{middle}{};", open.repeat(200), close.repeat(200));
        assert_eq!(messages(program), [""; 0], "{open}…{close}");
    };
    nested("(", "1", ")");
    nested("f(", "1", ")");
    nested("a[", "1", "]");
    for open in ["if (1) { ", "if (1) ; else { ", "for (;;) { ", "{ "] {
        // A statement in the innermost is one more.
        let statements = format!("void f() {{ {}{} }}", open.repeat(255), "}".repeat(255));
        assert_eq!(messages(statements), [""; 0], "{open}…");
    }
    let types = format!("template <typename T> struct v {{}}; {}int{} x;", "v<".repeat(200), ">".repeat(200));
    assert_eq!(messages(types), [""; 0]);
}
