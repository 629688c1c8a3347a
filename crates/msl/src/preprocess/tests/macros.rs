//! Defining and expanding macros.

use super::*;

#[test]
fn objects_and_functions() {
    check("#define N 4\nN N2 N", "4 N2 4");
    check("#define F(x) [x]\nF(1) F (2) F\n(3) F", "[ 1 ] [ 2 ] [ 3 ] F");
    check("#define F() x\nF() F( )", "x x");
    check("#define F(x,y) x|y\nF(,) F((1,2),3) F(a b,)", "| ( 1 , 2 ) | 3 a b |");
    check("#define F(x) <x>\nF(a\n,\n)", "F\n4:1: too many arguments provided to function-like macro invocation");
    check("#define E\n#define F(x) x E x\nF(E 1 E)", "1 1");
    check("#define A B\n#define B A\nA B", "A B");
    check("#define foo foo a bar\n#define bar foo\nfoo", "foo a foo");
    check("#define A\\\n 1\nA", "1");
    check("#define A /* multi\nline */ 1\nA", "1");
    check("#define CAT(a,b) a##b\n#define AB ok\nCAT(A,B) CAT(,) CAT(x,) CAT(,y) CAT(1,.5)", "ok x y 1.5");
    check("#define XCAT(a,b) CAT(a,b)\n#define CAT(a,b) a##b\nXCAT(CAT(a,1),2)", "a12");
    check("\"a\" \"b\" x \"c\"", "\"ab\" x \"c\"");
    check("a and not b", "a && ! b");
}

#[test]
fn examples_of_the_standard() {
    // C11 6.10.3.5, examples 3 to 7.
    let example3 = "\
#define x 3
#define f(a) f(x * (a))
#undef x
#define x 2
#define g f
#define z z[0]
#define h g(~
#define m(a) a(w)
#define w 0,1
#define t(a) a
#define p() int
#define q(x) x
#define r(x,y) x ## y
#define str(x) # x
f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);
g(x+(3,4)-w) | h 5) & m
(f)^m(m);
p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };
char c[2][6] = { str(hello), str() };";
    check(
        example3,
        "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ; \
         f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) ) ^ m ( 0 , 1 ) ; \
         int i [ ] = { 1 , 23 , 4 , 5 , } ; char c [ 2 ] [ 6 ] = { \"hello\" , \"\" } ;",
    );
    let example4 = r#"
#define str(s) # s
#define xstr(s) str(s)
#define debug(s, t) printf("x" # s "= %d, x" # t "= %s", x ## s, x ## t)
#define INCFILE(n) vers ## n
#define glue(a, b) a ## b
#define xglue(a, b) glue(a, b)
#define HIGHLOW "hello"
#define LOW LOW ", world"
debug(1, 2);
fputs(str(strncmp("abc\0d", "abc", '\4') // this goes away
== 0) str(: @\n), s);
xstr(INCFILE(2).h)
glue(HIGH, LOW);
xglue(HIGH, LOW)"#;
    check(
        example4,
        "printf ( \"x1= %d, x2= %s\" , x1 , x2 ) ; \
         fputs ( \"strncmp(\\\"abc\\\\0d\\\", \\\"abc\\\", '\\\\4') == 0: @\\n\" , s ) ; \
         \"vers2.hhello\" ; \"hello, world\"",
    );
    let example5 = "\
#define t(x,y,z) x ## y ## z
int j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };";
    check(example5, "int j [ ] = { 123 , 45 , 67 , 89 , 10 , 11 , 12 , } ;");
    let example7 = "\
#define debug(...) fprintf(stderr, __VA_ARGS__)
#define showlist(...) puts(#__VA_ARGS__)
#define report(test, ...) ((test)?puts(#test):printf(__VA_ARGS__))
debug(\"Flag\");
debug(\"X = %d\\n\", x);
showlist(The first, second, and third items.);
report(x>y, \"x is %d but y is %d\", x, y);";
    check(
        example7,
        "fprintf ( stderr , \"Flag\" ) ; fprintf ( stderr , \"X = %d\\n\" , x ) ; \
         puts ( \"The first, second, and third items.\" ) ; \
         ( ( x > y ) ? puts ( \"x>y\" ) : printf ( \"x is %d but y is %d\" , x , y ) ) ;",
    );
    // The second `f` of `f(2)(9)` is unspecified; clang expands it no further.
    check("#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)", "2 * 9 * g");
    check("#define NIL(xxx) xxx\n#define G_0(arg) NIL(G_1)(arg)\n#define G_1(arg) NIL(arg)\nG_0(42)", "42");
    // Deferred calls, as in recursive macro libraries.
    check("#define E()\n#define D(x) x E()\n#define A() 1\nD(A)()", "A ( )");
    check("#define X(x) x\n#define E()\n#define D(x) x E()\n#define A() 1\nX(D(A)())", "1");
    check(
        "#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n#define join(c, d) in_between(c hash_hash d)\njoin(x, y)",
        "\"x ## y\"",
    );
}

#[test]
fn variadic() {
    check("#define F(a, ...) f(a, ## __VA_ARGS__)\nF(1) F(1,) F(1,2,3)", "f ( 1 ) f ( 1 ) f ( 1 , 2 , 3 )");
    check("#define F(a, args...) f(a, ## args)\nF(1) F(1,2)", "f ( 1 ) f ( 1 , 2 )");
    check("#define F(args...) g(args)\nF() F(1,2)", "g ( ) g ( 1 , 2 )");
    check("#define F(a, ...) f(a __VA_OPT__(, [__VA_ARGS__]))\nF(1) F(1,2,3)", "f ( 1 ) f ( 1 , [ 2 , 3 ] )");
    check("#define F(x, ...) a ## __VA_OPT__(b) ## x\nF(c) F(c, d)", "ac abc");
    check("#define F(...) __VA_OPT__()x\nF() F(1)", "x x");
    check("#define E\n#define F(...) __VA_OPT__(x)\nF(E) F(1)", "x");
    check("#define F(...) #__VA_ARGS__\nF(a ,  b)F()", "\"a , b\"");
}

#[test]
fn builtin_macros() {
    check("__METAL_VERSION__ __METAL__ __METAL_MACOS__ __cplusplus __HAVE_BFLOAT__", "310 1 1 201402 1");
    check("__FILE__ __LINE__\n__LINE__ __COUNTER__ __COUNTER__", "\"a.metal\" 1 2 0 1");
    check("#define L __LINE__\n\nL __func__ __FUNCTION__ __air__", "3 __func__ __FUNCTION__ __air__");
    check("#define S(x) #x\n#define X(x) S(x)\nX(__LINE__)", "\"3\"");
    let older = Options { std: LanguageVersion::new(3, 0), ..Options::default() };
    assert_eq!(run_with("__METAL_VERSION__ __HAVE_BFLOAT__", &older), "300 __HAVE_BFLOAT__");
    let newer = Options { std: LanguageVersion::new(4, 0), ..Options::default() };
    assert_eq!(run_with("__METAL_VERSION__ __cplusplus __HAVE_TENSOR__", &newer), "400 201703 1");
    check("#undef __FILE__\n__FILE__", "__FILE__\n1:8: warning: undefining builtin macro");
    check("#define __LINE__ 7\n__LINE__", "7\n1:9: warning: redefining builtin macro");
}

#[test]
fn macros_of_the_math_mode() {
    let text = "#include <metal_config>\n__FAST_MATH__ __FINITE_MATH_ONLY__ __METAL_MAYBE_FAST_MATH__";
    check(text, "1 1 true");
    let safe = Options { math: crate::preprocess::MathMode::Safe, ..Options::default() };
    assert_eq!(run_with(text, &safe), "__FAST_MATH__ 0 false");
    let relaxed = Options { math: crate::preprocess::MathMode::Relaxed, ..Options::default() };
    assert_eq!(run_with(text, &relaxed), "__FAST_MATH__ 0 true");
}

#[test]
fn command_line() {
    let define = |name: &str, body: Option<&str>| (name.to_owned(), body.map(str::to_owned));
    let defines =
        vec![define("A", None), define("B", Some("2 + 3")), define("F(x)", Some("(x)")), define("E", Some(""))];
    let options = Options { defines, ..Options::default() };
    assert_eq!(run_with("A B F(4) E", &options), "1 2 + 3 ( 4 )");
    let defines = vec![define("A", Some("1\n#error no")), define("B", Some("2\\")), define("C", Some("3"))];
    assert_eq!(run_with("A B C", &Options { defines, ..Options::default() }), "1 2 3");
}

#[test]
fn wrong_definitions() {
    for (text, message) in [
        ("#define", "1:8: macro name missing"),
        ("#define 1", "1:9: macro name must be an identifier"),
        ("#define defined 1", "1:9: 'defined' cannot be used as a macro name"),
        ("#define F(x", "1:12: missing ')' in macro parameter list"),
        ("#define F(x,", "1:13: missing ')' in macro parameter list"),
        ("#define F(x,)", "1:13: expected identifier in macro parameter list"),
        ("#define F(x y)", "1:13: expected comma in macro parameter list"),
        ("#define F(x,x)", "1:13: duplicate macro parameter name 'x'"),
        ("#define F(1)", "1:11: invalid token in macro parameter list"),
        ("#define F(..., x)", "1:14: missing ')' in macro parameter list"),
        ("#define F(x) #y", "1:14: '#' is not followed by a macro parameter"),
        ("#define F(x) ## x", "1:14: '##' cannot appear at start of macro expansion"),
        ("#define O x ##", "1:13: '##' cannot appear at end of macro expansion"),
        ("#define F(...) __VA_OPT__ x", "1:26: missing '(' following __VA_OPT__"),
        ("#define F(...) __VA_OPT__(x", "1:16: unterminated __VA_OPT__ replacement list; missing ')'"),
        ("#define A+1", "1:10: warning: ISO C99 requires whitespace after the macro name"),
        ("#undef", "1:7: macro name missing"),
        ("#undef A B", "1:10: warning: extra tokens at end of #undef directive"),
    ] {
        check(text, &format!("\n{message}"));
    }
    check("#define A 1\n#define A 2\nA", "2\n2:9: warning: 'A' macro redefined");
    check("#define A  1 + x\n#define A 1 +  x // same\nA", "1 + x");
    check("#define F(a) a\n#define F(b) b\nF(1)", "1\n2:9: warning: 'F' macro redefined");
}

#[test]
fn wrong_calls() {
    check("#define F(x,y) x\nF(1)", "F\n2:4: too few arguments provided to function-like macro invocation");
    check("#define F() x\nF(1)", "F\n2:3: too many arguments provided to function-like macro invocation");
    check("#define F(x) x\n1 F(2", "1 F\n2:3: unterminated function-like macro invocation");
    check("#define P(a,b) a##b\nP(+,x)", "+ x\n2:1: pasting formed '+x', an invalid preprocessing token");
    check("#define P(a,b) a##b\nP(/,/)", "/ /\n2:1: pasting formed '//', an invalid preprocessing token");
    check(
        "#define F(x) x\nF(1\n#include \"x\"\n)",
        "1\n3:2: embedding a #include directive within macro arguments is not supported",
    );
    check("#define F(x) x\nF(1\n#ifdef A\n2\n#else\n3\n#endif\n)", "1 3");
}

#[test]
fn spans_lead_through_the_expansions() {
    let mut sources = SourceMap::new();
    let text = "#define B(x) y+x\n#define A(x) B(x)\nA(arg)";
    let main = sources.add_file("a.metal", None, text, None, false);
    let tokens = preprocess(&mut sources, main, &Options::default(), &mut Vec::new());
    assert_eq!(sources.text(tokens[0].span), "y");
    let inner = sources.expansion(tokens[0].span.expansion).unwrap();
    assert_eq!(inner.macro_name, "B");
    assert_eq!(sources.text(inner.call_site), "B");
    assert_eq!(sources.line_column(inner.definition).line, 1);
    let outer = sources.expansion(inner.call_site.expansion).unwrap();
    assert_eq!((outer.macro_name.as_str(), outer.call_site.expansion), ("A", ExpansionId::NONE));
    assert_eq!(sources.line_column(sources.outermost(tokens[0].span)).line, 3);
    assert_eq!(tokens[2].span.expansion, ExpansionId::NONE);
    assert_eq!(sources.text(tokens[2].span), "arg");
}
