//! Conditionals, messages and pragmas.

use super::*;

#[test]
fn conditionals() {
    check("#if 1\na\n#else\nb\n#endif\nc", "a c");
    check("#if 0\na\n#elif 0\nb\n#elif 1\nc\n#elif 1\nd\n#else\ne\n#endif", "c");
    check("#ifdef A\na\n#endif\n#ifndef A\nb\n#endif", "b");
    check("#define A\n#if 0\n#elifdef A\na\n#else\nb\n#endif\n#if 0\n#elifndef A\nc\n#else\nd\n#endif", "a d");
    check("#if 0\n#if 1\na\n#else\nb\n#endif\n#elif 1\nc\n#endif", "c");
    check("#if 0\nit's \"open\n#bogus\n#error no\n#endif\nok", "ok");
    check("#if 1\n#elif 1/0\n#endif", "");
    check("  #  if 1 /* c */ // d\nx\n # endif", "x");
    check("#\nx #if\n", "x # if");
    for (text, message) in [
        ("#if 1\n", "1:2: unterminated conditional directive"),
        ("#ifdef X\n", "1:2: unterminated conditional directive"),
        ("#endif", "1:2: #endif without #if"),
        ("#else", "1:2: #else without #if"),
        ("#elif 1", "1:2: #elif without #if"),
        ("#if 1\n#else\n#else\n#endif", "3:2: #else after #else"),
        ("#if 0\n#else\n#elif 1\n#endif", "3:2: #elif after #else"),
        ("#if 1\n#endif x", "2:8: warning: extra tokens at end of #endif directive"),
        ("#ifdef\n#endif", "1:7: macro name missing"),
        ("#ifndef 3\n#endif", "1:9: macro name must be an identifier"),
        ("#bogus", "1:2: invalid preprocessing directive"),
        ("#+", "1:2: invalid preprocessing directive"),
        ("#error it's  \"over\"  // yes", "1:2: it's  \"over\"  // yes"),
        ("#warning careful // now", "1:2: warning: careful"),
        ("x /* y", "1:3: unterminated /* comment"),
    ] {
        let tokens = if text.starts_with('x') { "x" } else { "" };
        let expected = if message.is_empty() { String::new() } else { format!("{tokens}\n{message}") };
        check(text, &expected);
    }
}

#[test]
fn lines() {
    for (text, expected) in [
        ("#line 7\n__LINE__ __FILE__\n__LINE__", "7 \"a.metal\" 8"),
        ("#line 7 \"b.h\"\n__LINE__ __FILE__\n#line 20\n__LINE__ __FILE__", "7 \"b.h\" 20 \"b.h\""),
        ("#define L 30 \"m.h\"\n#define E\n#line L E\n__LINE__ __FILE__", "30 \"m.h\""),
        ("#define L __LINE__\n#line 5\nL\n#line 9\nL", "5 9"),
        ("#line __LINE__ __FILE__\n__LINE__ __FILE__", "1 \"a.metal\""),
        ("#line 10 /* two\nlines */\n__LINE__", "11"),
        ("#line \\\n 10\n__LINE__", "10"),
        ("#define F(x) x\nF(\n#line 50\n__LINE__)", "50"),
        ("#line 0\n__LINE__", "0"),
        ("#line 4294967295\n__LINE__\n__LINE__", "4294967295 0"),
        ("#line 1'000\n__LINE__", "1000"),
        ("#line 3 \"a\\\\b\\\"c\"\n__FILE__", "\"a\\\\b\\\"c\""),
        ("#line 3 \"a\\nb\"\n__FILE__", "\"a?b\""),
        ("#line 3 R\"(a\\b)\"\n__FILE__", "\"a\\\\b\""),
        ("#if 0\n#line 7\n#line x\n#endif\n__LINE__", "5"),
        ("# 7 \"b.h\"\n__LINE__ __FILE__\n# 3\n__LINE__ __FILE__", "7 \"b.h\" 3 \"b.h\""),
        ("# 7 \"b.h\" 1 3 4\n__LINE__\n# 1 \"c.h\" 2\n__LINE__\n# 5 \"d.h\" 3\n__LINE__", "7 1 5"),
        ("#line 010\n__LINE__", "10\n1:7: warning: #line directive interprets number as decimal, not octal"),
        ("# 010\n__LINE__", "10\n1:3: warning: GNU line marker directive interprets number as decimal, not octal"),
        ("#line 8 \"b\" c\n__LINE__", "8\n1:13: warning: extra tokens at end of #line directive"),
    ] {
        check(text, expected);
    }
    let number = "#line directive requires a positive integer argument";
    let digits = "#line directive requires a simple digit sequence";
    let name = "invalid filename for #line directive";
    let flag = "invalid flag line marker directive";
    for (text, place, message) in [
        ("#line", "1:6", number),
        ("#define E\n#line E", "2:8", number),
        ("#line -3", "1:7", number),
        ("#line x", "1:7", number),
        ("#line \"x\"", "1:7", number),
        ("#define L (3)\n#line L", "2:7", number),
        ("#line 4294967296", "1:7", number),
        ("#line 12u", "1:9", digits),
        ("#line 0x10", "1:8", digits),
        ("#line 1.5", "1:8", digits),
        ("#line 3 x", "1:9", name),
        ("#line 3 <x>", "1:9", name),
        ("#line 3 4", "1:9", name),
        ("#line 3 L\"x\"", "1:9", name),
        ("#line 3 \"x", "1:9", name),
        ("# 3 x", "1:5", "invalid filename for line marker directive"),
        ("# 3u", "1:4", "GNU line marker directive requires a simple digit sequence"),
        ("# 99999999999", "1:3", "line marker directive requires a positive integer argument"),
        ("# 3 \"x\" 5", "1:9", flag),
        ("# 3 \"x\" 1 2", "1:11", flag),
        ("# 3 \"x\" 3 3", "1:11", flag),
        ("# 3 \"x\" 4", "1:9", flag),
    ] {
        // A wrong directive changes nothing.
        let lines = text.lines().count() + 1;
        check(&format!("{text}\n__LINE__"), &format!("{lines}\n{place}: {message}"));
    }
}

#[test]
fn conditions() {
    let defines = "#define ONE 1\n#define EMPTY\n#define ADD(a,b) a+b\n#define HAS defined ONE\n";
    for (condition, expected) in [
        ("1 + 2 * 3 == 7", true),
        ("(1 + 2) * 3 == 9", true),
        ("-1 < 0", true),
        ("-1 < 0u", false),
        ("~0u == 18446744073709551615u", true),
        ("1 ? 2 : 0", true),
        ("0 ? 1 : 0 ? 1 : 0", false),
        ("1 || 1/0", true),
        ("0 && 1/0", false),
        ("0 ? 1/0 : 1", true),
        ("1 << 4 >> 2 == 4", true),
        ("1 << 64", false),
        ("-8 >> 1 == -4", true),
        ("5 % 3 == 2 && 5 / 2 == 2", true),
        ("6 & 3 ^ 1 | 8", true),
        ("!0 && ~0 && +1 && - 1", true),
        ("1 != 2, 0", false),
        ("'a' == 97 && '\\n' == 10", true),
        ("0x10 == 16 && 010 == 8 && 0b11 == 3 && 1'0 == 10", true),
        ("true && !false", true),
        ("UNKNOWN", false),
        ("not UNKNOWN and ONE", true),
        ("defined ONE && defined(ONE) && !defined TWO", true),
        ("defined EMPTY", true),
        ("ONE && ADD(1,2) == 3", true),
        ("HAS", true),
        ("defined __FILE__ && defined __has_include && defined(__METAL_VERSION__)", true),
        ("__METAL_VERSION__ >= 310", true),
        ("__has_include(<metal_stdlib>) && !__has_include(\"nope.h\") && !__has_include(<nope>)", true),
        ("__has_attribute(always_inline) && __has_attribute(__unused__) && !__has_attribute(nope)", true),
        ("__has_feature(cxx_static_assert) && __has_extension(cxx_auto_type) && !__has_feature(x)", true),
        ("__has_builtin(__builtin_nope)", false),
        ("9223372036854775807 > 0", true),
    ] {
        let expected = if expected { "yes" } else { "no" };
        let text = format!("{defines}#if {condition}\nyes\n#else\nno\n#endif");
        assert_eq!(run_with(&text, &Options::default()), expected, "{condition}");
    }
    for (condition, message) in [
        ("", "1:4: expected value in expression"),
        ("1 +", "1:8: expected value in expression"),
        ("1/0", "1:6: division by zero in preprocessor expression"),
        ("1%0", "1:6: remainder by zero in preprocessor expression"),
        ("(1", "1:7: expected ')' in preprocessor expression"),
        ("1)", "1:6: missing '(' in preprocessor expression"),
        ("1 2", "1:7: token is not a valid binary operator in a preprocessor subexpression"),
        ("1.5", "1:5: floating point literal in preprocessor expression"),
        ("\"s\"", "1:5: invalid token at start of a preprocessor expression"),
        ("F(1)", "1:5: function-like macro 'F' is not defined"),
        ("1 ? 2", "1:10: expected ':' in preprocessor expression"),
        ("defined", "1:12: macro name missing"),
        ("defined(A", "1:14: missing ')' after 'defined'"),
        ("defined 3", "1:13: macro name must be an identifier"),
        ("08", "1:6: invalid digit '8' in octal constant"),
        ("__has_include", "1:18: missing '(' after '__has_include'"),
        ("__has_feature(x", "1:20: missing ')' after '__has_feature'"),
        ("!(9223372036854775807 + 1)", "1:27: warning: integer overflow in preprocessor expression"),
        ("!(-9223372036854775807-1) / -1", ""),
    ] {
        let text = format!("#if {condition}\n#endif");
        let message = if message.is_empty() { String::new() } else { format!("\n{message}") };
        check(&text, &message);
    }
}

#[test]
fn pragmas() {
    for (text, expected) in [
        ("#pragma unroll\nx", "Unroll x"),
        ("#pragma unroll(4)\nx", "UnrollCount(4) x"),
        ("#pragma unroll 8\nx", "UnrollCount(8) x"),
        ("#define N 2\n#pragma unroll(N * 2)\nx", "UnrollCount(4) x"),
        ("#pragma unroll(T)\nx", "Unroll x"),
        ("#pragma nounroll\nx", "UnrollDisable x"),
        ("#pragma clang loop unroll(full)\nx", "UnrollFull x"),
        ("#pragma clang loop unroll(enable)\nx", "Unroll x"),
        ("#pragma clang loop unroll(disable)\nx", "UnrollDisable x"),
        ("#pragma clang loop vectorize(enable) unroll_count(6)\nx", "UnrollCount(6) x"),
        ("#pragma METAL fp math_mode(safe)\nx", "Fp(\"math_mode(safe)\") x"),
        ("#pragma clang fp contract(off)\nx", "Fp(\"contract(off)\") x"),
        ("#pragma STDC FP_CONTRACT OFF\nx", "Fp(\"contract(off)\") x"),
        ("#pragma STDC FP_CONTRACT ON\nx", "Fp(\"contract(on)\") x"),
        ("#pragma STDC FP_CONTRACT DEFAULT\nx", "Fp(\"contract(default)\") x"),
        ("#pragma STDC FP_CONTRACT\nx", "x\n1:9: warning: expected 'ON' or 'OFF' or 'DEFAULT' in pragma"),
        ("#pragma STDC FENV_ACCESS ON\nx", "x\n1:9: '#pragma STDC' is not supported: it would change the program"),
        ("#pragma anything (\n#pragma\nx", "x\n1:9: warning: unknown pragma ignored"),
        ("#pragma clang diagnostic push\nx", "Diagnostic(Push) x"),
        ("#pragma clang fp contract(off) reassociate( on )\nx", "Fp(\"contract(off) reassociate(on)\") x"),
        (
            "#pragma METAL fp math_mode(quick)\nx",
            "x\n1:28: unexpected argument 'quick' to '#pragma METAL fp math_mode'; expected 'safe' or 'relaxed' or 'fast'",
        ),
        (
            "#pragma clang loop unrol(full)\nx",
            "x\n1:20: invalid option 'unrol'; expected vectorize, vectorize_width, interleave, interleave_count, unroll, unroll_count, pipeline, pipeline_initiation_interval, vectorize_predicate, or distribute",
        ),
        ("#pragma message(\"careful\" \" now\")\nx", "x\n1:9: warning: careful now"),
        ("#pragma GCC error \"stop\"\nx", "x\n1:13: stop"),
        ("_Pragma(\"unroll\") x", "Unroll x"),
        ("#define P _Pragma(\"unroll(4)\") for\nP x", "UnrollCount(4) for x"),
        ("#define DO(x) _Pragma(#x)\n#define I(x) x\nI(DO(unroll 3)) x", "UnrollCount(3) x"),
        ("_Pragma(\"clang diagnostic push\") x", "Diagnostic(Push) x"),
        ("_Pragma(1) x", ") x\n1:1: _Pragma takes a parenthesized string literal"),
        ("#pragma unroll(0)\nx", "x\n1:15: invalid value '0'; must be positive"),
        ("#pragma unroll(-1)\nx", "x\n1:15: invalid value '-1'; must be positive"),
        ("#pragma once\nx", "x\n1:9: warning: #pragma once in main file"),
    ] {
        check(text, expected);
    }
}

#[test]
fn stray_characters_and_literals() {
    check("a \u{201c} b", "a b\n1:3: unexpected character <U+201C>");
    check("a \0 b", "a b\n1:3: null character is not allowed outside of comments and literals");
    check("a ` b", "a b\n1:3: unexpected character '`'");
    check("\"x", "\"\"\n1:1: missing terminating '\"' character");
    check("8 08 08", "8 0 0\n1:4: invalid digit '8' in octal constant\n1:7: invalid digit '8' in octal constant");
}
