//! Diagnostics as printed.

use super::*;
use crate::preprocess::{Options, preprocess};

/// Preprocesses `text` as `a.metal`.
fn preprocessed(text: &str) -> (SourceMap, Vec<Diagnostic>) {
    let mut sources = SourceMap::new();
    let main = sources.add_file("a.metal", None, text, None, false);
    let mut diagnostics = Vec::new();
    preprocess(&mut sources, main, &Options::default(), &mut diagnostics);
    (sources, diagnostics)
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let (sources, diagnostics) = preprocessed(text);
    let rendered = render_all(&diagnostics, &sources, false);
    assert_eq!(rendered, expected, "\n{rendered}");
    assert!(!rendered.lines().any(|line| line.ends_with(' ')));
}

#[test]
fn an_error_shows_its_line_and_a_caret() {
    check(
        "int x;\nint y = 12q; // why\n",
        "a.metal:2:11: error: invalid suffix 'q' on integer constant\nint y = 12q; // why\n          ^\n",
    );
    check("#error  not \"today\"  \n", "a.metal:1:2: error: not \"today\"\n#error  not \"today\"\n ^~~~~\n");
}

#[test]
fn codes_of_terminals_are_shown_not_sent() {
    check(
        "#error \x1b[31mred\u{202e}\n",
        "\
a.metal:1:2: error: <U+001B>[31mred<U+202E>
#error <U+001B>[31mred<U+202E>
 ^~~~~
",
    );
}

#[test]
fn notes_and_tabs() {
    check(
        "#define\tA 1\n\t#define A 2\n",
        "\
a.metal:2:10: warning: 'A' macro redefined
        #define A 2
                ^
a.metal:1:9: note: previous definition is here
#define A 1
        ^
",
    );
}

#[test]
fn macros_are_followed_from_the_use_inwards() {
    check(
        "#define C 0b2\n#define B (C)\n#define A(x) x B\nint y = A(1 +);\n",
        "\
a.metal:4:9: error: invalid digit '2' in binary constant
int y = A(1 +);
        ^
a.metal:3:16: note: expanded from macro 'A'
#define A(x) x B
               ^
a.metal:2:12: note: expanded from macro 'B'
#define B (C)
           ^
a.metal:1:13: note: expanded from macro 'C'
#define C 0b2
            ^
",
    );
    // An argument is where it is written.
    check(
        "#define A(x) (x)\nint y = A(08);\n",
        "a.metal:2:12: error: invalid digit '8' in octal constant\nint y = A(08);\n           ^\n",
    );
}

#[test]
fn a_long_backtrace_loses_its_middle() {
    let mut text = String::from("#define M0 08\n");
    for i in 1..20 {
        text.push_str(&format!("#define M{i} M{}\n", i - 1));
    }
    text.push_str("M19\n");
    let (sources, diagnostics) = preprocessed(&text);
    let rendered = render_all(&diagnostics, &sources, false);
    let notes: Vec<&str> = rendered.lines().filter(|line| line.contains("note:")).collect();
    assert_eq!(notes.len(), 11);
    assert_eq!(notes[4], "a.metal:16:13: note: expanded from macro 'M15'");
    assert_eq!(notes[5], "note: (skipping 10 expansions in backtrace)");
    assert_eq!(notes[6], "a.metal:5:12: note: expanded from macro 'M4'");
}

#[test]
fn ranges_suggestions_and_odd_characters() {
    let mut sources = SourceMap::new();
    let text = "\tint \u{6f22} = a + b;\n\nlast\u{1}line";
    let file = sources.add_file("b.metal", None, text, None, false);
    let at = |start: u32, end: u32| Span { file, start, end, ..Span::default() };
    let error = Diagnostic::error("x", at(13, 14), "no").range(at(11, 12)).range(at(15, 16)).suggest("-");
    assert_eq!(
        render(&error, &sources, false),
        "b.metal:1:14: error: no\n        int \u{6f22} = a + b;\n                 ~ ^ ~\n                   -\n"
    );
    let cases = [
        (at(17, 17), "b.metal:1:18: error: no\n        int \u{6f22} = a + b;\n                       ^\n"),
        (at(18, 18), "b.metal:2:1: error: no\n"),
        (at(23, 28), "b.metal:3:5: error: no\nlast<U+0001>line\n    ^~~~~~~~~~~~\n"),
        (at(11, 24), "b.metal:1:12: error: no\n        int \u{6f22} = a + b;\n                 ^~~~~~\n"),
        (at(28, 99), "b.metal:3:10: error: no\nlast<U+0001>line\n                ^\n"),
    ];
    for (span, expected) in cases {
        assert_eq!(render(&Diagnostic::error("x", span, "no"), &sources, false), expected);
    }
    let nowhere = Diagnostic { span: None, ..Diagnostic::warning("x", at(0, 0), "no input") };
    assert_eq!(render(&nowhere, &sources, false), "warning: no input\n");
    let colored = render(&Diagnostic::error("x", at(19, 20), "no"), &sources, true);
    let expected = "\x1b[1mb.metal:3:1: \x1b[0m\x1b[0;1;31merror: \x1b[0m\x1b[1mno\x1b[0m\nlast<U+0001>line\n\x1b[0;1;32m^\x1b[0m\n";
    assert_eq!(colored, expected);
}

#[test]
fn includes_are_shown_where_they_change() {
    let mut sources = SourceMap::new();
    let main = sources.add_file("a.metal", None, "\n\n#include \"b.h\"\n", None, false);
    let from = |file| Some(Span { file, start: 2, end: 10, ..Span::default() });
    let b = sources.add_file("b.h", None, "\n\n#include <c>\n", from(main), false);
    let c = sources.add_file("<c>", None, "x\ny\n", from(b), true);
    let at = |file, start| Diagnostic::error("x", Span { file, start, end: start + 1, ..Span::default() }, "no");
    let rendered = render_all(&[at(c, 0), at(c, 2), at(main, 2)], &sources, false);
    let expected = "\
In file included from a.metal:3:
In file included from b.h:3:
<c>:1:1: error: no
x
^
<c>:2:1: error: no
y
^
a.metal:3:1: error: no
#include \"b.h\"
^
";
    assert_eq!(rendered, expected);
}

#[test]
fn summaries_count_as_clang_does() {
    for (errors, warnings, expected) in [
        (0, 0, None),
        (1, 0, Some("1 error generated.")),
        (2, 0, Some("2 errors generated.")),
        (0, 1, Some("1 warning generated.")),
        (1, 2, Some("2 warnings and 1 error generated.")),
    ] {
        assert_eq!(summary(errors, warnings).as_deref(), expected);
    }
}
