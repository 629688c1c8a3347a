//! Tokens, literals and the bytes between them.

use super::token::{FloatSuffix, Punct, TokenKind};
use super::*;
use crate::diagnostics::Diagnostic;
use crate::source::{FileId, Span};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The raw tokens of `text`, each as a letter for its kind and its text.
fn raw(text: &str) -> Vec<String> {
    let mut symbols = Symbols::new();
    let lexed = lex(text, FileId(0), &mut symbols);
    let show = |token: &RawToken| match token.kind {
        RawKind::Punct(punct) => punct.text().to_owned(),
        kind => format!("{}:{}", &format!("{kind:?}")[..1], symbols.text(token.symbol)),
    };
    lexed.tokens.iter().map(show).collect()
}

#[test]
fn raw_tokens() {
    for (text, expected) in [
        ("int x=1;", "I:int I:x = N:1 ;"),
        ("a+++b a>>=b ... .5 a.b ->", "I:a ++ + I:b I:a >>= I:b ... N:.5 I:a . I:b ->"),
        ("1e+5 0x1p-3 1'000 1.f 1+2", "N:1e+5 N:0x1p-3 N:1'000 N:1.f N:1 + N:2"),
        ("a//b\\\nc\nd/*e\n*/f", "I:a I:d I:f"),
        ("in\\\nt x+\\\r\n+", "I:int I:x ++"),
        ("/\\\n/ gone\nx", "I:x"),
        ("'\\'' \"a\\\"b\" L'x' u8\"y\"", "C:'\\'' S:\"a\\\"b\" C:L'x' S:u8\"y\""),
        ("R\"(a\\\n)\" R\"x()\")x\"", "S:R\"(a\\\n)\" S:R\"x()\")x\""),
        ("\"open\nx", "S:\"open I:x"),
        ("caf\u{e9} \u{201c} ` $a", "I:caf\u{e9} O:\u{201c} O:` I:$a"),
        ("#include <a//b.h>\n<a>", "# I:include H:<a//b.h> < I:a >"),
        ("#include <a\n>", "# I:include < I:a >"),
        ("x \\", "I:x \\"),
        ("\u{feff}a", "I:a"),
        ("a\0b", "I:a O:\0 I:b"),
    ] {
        assert_eq!(raw(text).join(" "), expected, "{text:?}");
    }
}

#[test]
fn every_punctuator_is_read_as_the_table_says() {
    for &(text, punct) in Punct::ALL {
        let lexed = lex(text, FileId(0), &mut Symbols::new());
        assert!(lexed.tokens.len() == 1 && lexed.tokens[0].is(punct), "{text}");
    }
}

#[test]
fn spacing_is_kept() {
    let lexed = lex("a b\n c/**/d", FileId(0), &mut Symbols::new());
    let spacing: Vec<_> = lexed.tokens.iter().map(|t| (t.leading_space(), t.start_of_line())).collect();
    assert_eq!(spacing, [(false, true), (true, false), (true, true), (true, false)].map(|s| s));
    assert_eq!(lexed.tokens[3].span.start, 10);
    assert!(lex("a /* b", FileId(0), &mut Symbols::new()).unterminated_comment.is_some());
}

fn value(text: &str) -> String {
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    let span = Span { end: text.len() as u32, ..Span::default() };
    let kind = number(text, span, &mut diagnostics);
    if let Some(diagnostic) = diagnostics.first() {
        return format!("{}: {}", diagnostic.span.unwrap_or_default().start, diagnostic.message);
    }
    match kind {
        TokenKind::Int(i) => {
            let suffix = [(i.unsigned, "u"), (i.long, "l")].map(|(set, s)| if set { s } else { "" }).concat();
            format!("{}{suffix}{}", i.value, if i.decimal { "" } else { " radix" })
        }
        TokenKind::Float(f) => {
            let suffix = match f.suffix {
                FloatSuffix::None => "",
                FloatSuffix::Float => "f",
                FloatSuffix::Half => "h",
                FloatSuffix::BFloat => "bf",
            };
            format!("{:?}{suffix}", f.value)
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn numbers() {
    for (text, expected) in [
        ("0", "0"),
        ("42", "42"),
        ("42u", "42u"),
        ("42UL", "42ul"),
        ("42llu", "42ul"),
        ("0x1F", "31 radix"),
        ("017", "15 radix"),
        ("0b101", "5 radix"),
        ("1'000'000", "1000000"),
        ("0xffffffffffffffff", "18446744073709551615 radix"),
        ("0.5", "0.5"),
        (".5", "0.5"),
        ("1.", "1.0"),
        ("1e5", "100000.0"),
        ("1.0f", "1.0f"),
        ("2.5h", "2.5h"),
        ("1.5bf", "1.5bf"),
        ("09.5", "9.5"),
        ("0.1", "0.10000000149011612"),
        ("0x1.8p1", "3.0"),
        ("0x.8p0f", "0.5f"),
        ("0x1p-149", "1.401298464324817e-45"),
        ("08", "1: invalid digit '8' in octal constant"),
        ("0b12", "3: invalid digit '2' in binary constant"),
        ("12q", "2: invalid suffix 'q' on integer constant"),
        ("1f", "1: invalid suffix 'f' on integer constant"),
        ("1lul", "1: invalid suffix 'lul' on integer constant"),
        ("0x", "1: invalid suffix 'x' on integer constant"),
        ("1.0q", "3: invalid suffix 'q' on floating constant"),
        ("1.0l", "3: invalid suffix 'l' on floating constant"),
        ("1e", "1: exponent has no digits"),
        ("1e+", "1: exponent has no digits"),
        ("0x1.8", "5: hexadecimal floating constant requires an exponent"),
        ("1.2.3", "3: invalid suffix '.3' on floating constant"),
        ("1.'5", "2: digit separator cannot appear at start of digit sequence"),
        ("1'u", "1: digit separator cannot appear at end of digit sequence"),
        ("18446744073709551616", "0: integer literal is too large to be represented in any integer type"),
        (
            "9223372036854775808",
            "0: integer literal is too large to be represented in a signed integer type, interpreting as unsigned",
        ),
        ("1e39", "0: magnitude of floating-point constant too large for type 'float'; maximum is 3.40282347E+38"),
        ("70000.0h", "0: magnitude of floating-point constant too large for type 'half'; maximum is 65504"),
        ("1e-60", "0: magnitude of floating-point constant too small for type 'float'; minimum is 1.40129846E-45"),
        (
            "0x1p99999999999",
            "0: magnitude of floating-point constant too large for type 'float'; maximum is 3.40282347E+38",
        ),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn characters_and_strings() {
    let check = |text: &str, expected: &str| {
        let mut diagnostics = Vec::new();
        let lexed = lex(text, FileId(0), &mut Symbols::new());
        let token = lexed.tokens[0];
        let terminated = !token.has(RawToken::UNTERMINATED);
        let value = match token.kind {
            RawKind::Char => character(text, token.span, terminated, &mut diagnostics).to_string(),
            _ => string(text, token.span, terminated, &mut diagnostics).to_string(),
        };
        let shown = diagnostics.first().map_or(value, |d: &Diagnostic| d.message.clone());
        assert_eq!(shown, expected, "{text}");
    };
    check("'a'", "97");
    check(r"'\n'", "10");
    check(r"'\0'", "0");
    check(r"'\x41'", "65");
    check(r"'\xff'", "-1");
    check(r"'\177'", "127");
    check("L'\u{e9}'", "233");
    check("''", "empty character constant");
    check("'ab'", "multi-character character constant");
    check("'\u{e9}'", "character too large for enclosing character literal type");
    check(r"'\x'", r"\x used with no following hex digits");
    check(r"'\x100'", "hex escape sequence out of range");
    check(r"'\400'", "octal escape sequence out of range");
    check(r"'\q'", r"unknown escape sequence '\q'");
    check("'a", "missing terminating ' character");
    check("\"a", "missing terminating '\"' character");
    check(r#""a\tb\u00e9\x41\"""#, "a\tb\u{e9}A\"");
    check(r#""\u12""#, "incomplete universal character name");
    check(r#""\ud800""#, "invalid universal character");
    check("R\"(a\\n)\"", "a\\n");
    check("R\"x(a)\")x\"", "a)\"");
    check("R\"(a", "raw string missing terminating delimiter");
}

/// True if `gap` holds nothing but whitespace, comments and line continuations.
fn is_blank(gap: &str) -> bool {
    let mut rest = gap.replace("\\\n", "").replace("\\\r\n", "");
    loop {
        let trimmed = rest.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n', '\x0b', '\x0c']);
        let after = if trimmed.is_empty() {
            return true;
        } else if trimmed.starts_with("//") {
            trimmed.find('\n').map_or("", |end| &trimmed[end..])
        } else if let Some(comment) = trimmed.strip_prefix("/*") {
            comment.find("*/").map_or("", |end| &comment[end + 2..])
        } else {
            return false;
        };
        rest = after.to_owned();
    }
}

proptest! {
    // The same cases in every run, of which there is nothing to note.
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(256)
    })]

    #[test]
    fn tokens_and_blanks_add_up_to_the_source(
        text in "([a-z0-9.'\"eE+<>=/*#&|(){}!\\\\\n ]|\\PC|//|/\\*|\\*/|\\\\\n|R\"\\(|\\)\"){0,60}"
    ) {
        let lexed = lex(&text, FileId(0), &mut Symbols::new());
        let mut position = 0;
        for token in &lexed.tokens {
            prop_assert!(token.span.end > token.span.start);
            prop_assert!(is_blank(&text[position..token.span.start as usize]), "{text:?} {token:?}");
            position = token.span.end as usize;
        }
        prop_assert!(is_blank(&text[position..]), "{text:?}");
    }

    #[test]
    fn numbers_never_panic(text in "[0-9.][0-9a-fxXpPeE+'.uUlLhbB_\u{e9}-]{0,24}") {
        number(&text, Span::default(), &mut Vec::new());
    }

    #[test]
    fn quoted_text_never_panics(text in "(L|u8|R)?[\"'](\\\\|x|u|[0-9]|\\PC|\"|'){0,12}[\"']?") {
        character(&text, Span::default(), true, &mut Vec::new());
        string(&text, Span::default(), true, &mut Vec::new());
    }
}
