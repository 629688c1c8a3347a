//! Spans of nodes, which carets point at.

use super::parse_with_sources;
use crate::parse::ast::{DeclKind, Expr, ExprKind, Init};

/// Parses `int x = …;` and gives the texts of the expression's parts, as `part` picks them.
fn texts(source: &str, part: impl Fn(&Expr) -> Vec<crate::source::Span>) -> Vec<String> {
    let program = format!("int x = {source};");
    let (unit, diagnostics, sources) = parse_with_sources(&program);
    assert_eq!(diagnostics, [], "{source}");
    let DeclKind::Var(variable) = &unit.decls[0].kind else { panic!("no variable: {source}") };
    let Some(Init::Equal(value)) = &variable.init else { panic!("no initializer: {source}") };
    part(value).into_iter().map(|span| sources.text(span).to_string()).collect()
}

#[test]
fn expressions_cover_their_text() {
    for source in [
        "a + b * c",
        "(a + b)",
        "f(a, b)[1].c",
        "x++",
        "-y",
        "(float)y",
        "float4(1)",
        "vec<float, 2>{1, 2}",
        "a ? b : c",
        "[&](int x) { return x; }",
        "{1, 2}",
        "static_cast<int>(y)",
        "sizeof(int)",
        "(a + ...)",
    ] {
        assert_eq!(texts(source, |expr| vec![expr.span]), [source]);
    }
}

#[test]
fn operators_stand_where_the_caret_goes() {
    let operator = |expr: &Expr| match &expr.kind {
        ExprKind::Binary { op_span, .. } | ExprKind::Assign { op_span, .. } | ExprKind::Unary { op_span, .. } => {
            vec![*op_span]
        }
        _ => Vec::new(),
    };
    for (source, expected) in [("a + b * c", "+"), ("a >>= b", ">>="), ("-y", "-"), ("y++", "++"), ("a<b", "<")] {
        assert_eq!(texts(source, operator), [expected], "{source}");
    }
}

#[test]
fn closing_angles_are_split() {
    let path = |expr: &Expr| match &expr.kind {
        ExprKind::Call { callee, .. } => vec![callee.span],
        _ => Vec::new(),
    };
    assert_eq!(texts("vec<vec<float, 2>>(1)", path), ["vec<vec<float, 2>>"]);
}

#[test]
fn functions_end_before_their_body() {
    let (unit, _, sources) = parse_with_sources("static int f(int x) { return x; }");
    let DeclKind::Function(function) = &unit.decls[0].kind else { panic!("no function") };
    assert_eq!(sources.text(function.span), "static int f(int x)");
    assert_eq!(sources.text(unit.decls[0].span), "static int f(int x) { return x; }");
    assert_eq!(sources.text(function.result.span), "int");
}

#[test]
fn pragmas_go_to_their_loops() {
    let source = "void f() {\n#pragma unroll(4)\nfor (;;) x;\n#pragma unroll\nwhile (1) y; }";
    let (unit, _, _) = parse_with_sources(source);
    let dumped = crate::parse::dump::unit(&unit);
    assert_eq!(dumped, "(function f void () {(for #unroll(4) _ _ _ x;) (while #unroll 1 y;)})");
}
