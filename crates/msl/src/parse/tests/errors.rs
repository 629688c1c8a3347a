//! Syntax errors, in clang's words and at clang's column, one message for one mistake.

use super::{check_errors, parse_text};

#[test]
fn errors() {
    for (source, expected) in CASES {
        check_errors(source, expected);
    }
}

#[test]
fn unmatched_brackets_have_a_note() {
    for (source, note) in [
        ("void f() { x = (1; }", "to match this '('"),
        ("void f() { x[1; }", "to match this '['"),
        ("void f() { x = 1;", "to match this '{'"),
        ("void f() { x = y ? 1; }", "to match this '?'"),
        ("template <typename T void f();", "to match this '<'"),
    ] {
        let (_, diagnostics) = parse_text(source);
        let notes: Vec<&str> = diagnostics[0].notes.iter().map(|note| note.message.as_str()).collect();
        assert_eq!(notes, [note], "{source}");
    }
}

const CASES: &[(&str, &[&str])] = &[
    (
        "void f() { goto a; a: x; }",
        &["1:12 error: 'goto' is not supported in Metal", "1:20 error: labels are not supported in Metal"],
    ),
    ("void f() { try { x; } catch (int e) { } y z; }", &["1:12 error: cannot use 'try' with exceptions disabled"]),
    ("void f() { throw 1; }", &["1:12 error: cannot use 'throw' with exceptions disabled"]),
    (
        "void f() { x = new int; delete x; }",
        &["1:16 error: 'new' is not supported in Metal", "1:25 error: 'delete' is not supported in Metal"],
    ),
    (
        "struct S { virtual void f(); virtual void g() = 0; };",
        &[
            "1:12 error: virtual functions are not supported in Metal",
            "1:30 error: virtual functions are not supported in Metal",
        ],
    ),
    (
        "void f() { dynamic_cast<int>(x); typeid(x); }",
        &[
            "1:12 error: use of dynamic_cast requires run-time type information, which Metal does not have",
            "1:34 error: use of typeid requires run-time type information, which Metal does not have",
        ],
    ),
    (
        r#"asm("x"); void f() { asm("y"); }"#,
        &["1:1 error: 'asm' is not supported in Metal", "1:22 error: 'asm' is not supported in Metal"],
    ),
    ("thread_local int x;", &["1:1 error: thread-local storage is not supported in Metal"]),
    (
        "wchar_t x; void f() { (wchar_t)x; }",
        &["1:1 error: 'wchar_t' is not supported in Metal", "1:24 error: 'wchar_t' is not supported in Metal"],
    ),
    ("void f() { int x = 1 int y = 2; }", &["1:21 error: expected ';' at end of declaration"]),
    ("void f() { x = 1 return; }", &["1:17 error: expected ';' after expression"]),
    ("void f() { f(1, 2; g(); }", &["1:18 error: expected ')'"]),
    ("void f() { a[1; b; }", &["1:15 error: expected ']'"]),
    ("void f() { x = (1 + 2; y = ); z; }", &["1:22 error: expected ')'"]),
    ("void f() { x = ; y = ; }", &["1:16 error: expected expression", "1:22 error: expected expression"]),
    ("void f() { if x; }", &["1:15 error: expected '(' after 'if'"]),
    ("void f() { for (int i = 0; i < 4) x; }", &["1:33 error: expected ';' in 'for' statement specifier"]),
    (
        "void f() { for (int i = 0, i < 4; ++i) { x = ; } }",
        &["1:29 error: expected ';' at end of declaration", "1:46 error: expected expression"],
    ),
    ("void f() { while (; ) x; }", &["1:21 error: expected expression"]),
    ("void f() { do x; }", &["1:18 error: expected 'while' in do/while loop"]),
    ("void f() { case 1 x; }", &["1:19 error: expected ':' after 'case'"]),
    ("void f() { switch (x) { case 1: } }", &["1:33 error: expected statement"]),
    ("void f() { return 1 }", &["1:20 error: expected ';' after return statement"]),
    ("void f() { break }", &["1:17 error: expected ';' after break statement"]),
    ("void f() { int; }", &["1:12 warning: declaration does not declare anything"]),
    (
        "void f() { auto [a, 3] = x; y = ; }",
        &["1:21 error: expected identifier", "1:33 error: expected expression"],
    ),
    (
        "void f() { void g() { } x = ; }",
        &["1:21 error: function definition is not allowed here", "1:29 error: expected expression"],
    ),
    ("void f() { float 3; x = ; }", &["1:18 error: expected unqualified-id", "1:25 error: expected expression"]),
    ("void f() { x ? y; }", &["1:17 error: expected ':'"]),
    ("struct S { int x; } kernel void f() {}", &["1:20 error: expected ';' after struct"]),
    ("struct S { int x; } int f() {}", &["1:20 error: expected ';' after struct"]),
    (
        "struct S { int x int y; void f() { x = ; } };",
        &["1:17 error: expected ';' at end of declaration list", "1:40 error: expected expression"],
    ),
    (
        "struct S { 3; int x; void };",
        &[
            "1:12 error: expected member name or ';' after declaration specifiers",
            "1:27 error: expected unqualified-id",
        ],
    ),
    ("enum E { A B };", &["1:11 error: missing ',' between enumerators"]),
    (
        "void f() { } } void g() { x = ; }",
        &["1:14 error: extraneous closing brace ('}')", "1:31 error: expected expression"],
    ),
    (
        "void f( { } void g() { x = ; }",
        &["1:9 error: expected parameter declarator", "1:28 error: expected expression"],
    ),
    (
        "void f(int x, ) { } int y = ;",
        &["1:15 error: expected parameter declarator", "1:29 error: expected expression"],
    ),
    ("int x = 1", &["1:10 error: expected ';' after top level declarator"]),
    ("void f() { x = 1;", &["1:18 error: expected '}'"]),
    ("namespace a { int x;", &["1:21 error: expected '}'"]),
    ("x = 3;", &["1:1 error: C++ requires a type specifier for all declarations"]),
    ("int f() int g();", &["1:8 error: expected function body after function declarator"]),
    ("static x;", &["1:8 error: C++ requires a type specifier for all declarations"]),
    ("template <typename T void f();", &["1:22 error: expected '>'"]),
    ("template <typename T> ;", &["1:1 warning: declaration does not declare anything"]),
    ("using x;", &["1:7 error: using declaration requires a qualified name"]),
    ("using namespace 3;", &["1:17 error: expected unqualified-id"]),
    ("unsigned float x;", &["1:10 error: cannot combine with previous 'unsigned' declaration specifier"]),
    ("device threadgroup float *p;", &["1:8 error: multiple address spaces specified for type"]),
    ("void f() { static_cast<float x; y = ; }", &["1:30 error: expected '>'", "1:37 error: expected expression"]),
    ("void f() { vec<float, 4 x; y = ; }", &["1:25 error: expected '>'", "1:32 error: expected expression"]),
    (
        "void f() { x = []; y = ; }",
        &["1:18 error: expected body of lambda expression", "1:24 error: expected expression"],
    ),
    (
        "void f() { struct S { int x }; y = ; }",
        &["1:28 error: expected ';' at end of declaration list", "1:36 error: expected expression"],
    ),
    ("void f() { [[likely; y = ; }", &["1:20 error: expected ']'", "1:26 error: expected expression"]),
    (
        "kernel void f(device float *x [[buffer(0]]) { } int z = ;",
        &["1:41 error: expected ')'", "1:57 error: expected expression"],
    ),
    ("static_assert(1, 2);", &["1:18 error: expected string literal for diagnostic message in static_assert"]),
    ("void f(int x, ...);", &["1:15 error: variadic functions are not supported in Metal"]),
    (
        "template <typename T> struct S { void f() { T * ; } }; int y = ;",
        &["1:49 error: expected unqualified-id", "1:64 error: expected expression"],
    ),
    ("void f() { x.; y->3; }", &["1:14 error: expected unqualified-id", "1:19 error: expected unqualified-id"]),
    ("UNDEFINED void f();", &["1:1 error: unknown type name 'UNDEFINED'"]),
    (
        "int x = decltype([]{ return 1; })(2);",
        &["1:18 error: a lambda expression may not appear inside of a constant expression"],
    ),
    ("int f() = 3;", &["1:11 error: initializer on function does not look like a pure-specifier"]),
    ("void f() { if (int x) y; }", &["1:21 error: variable declaration in condition must have an initializer"]),
    ("void f() { else x; }", &["1:12 error: expected expression"]),
];
