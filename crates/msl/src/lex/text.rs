//! Values of character and string literals.

use crate::diagnostics::Diagnostic;
use crate::source::Span;
use smol_str::SmolStr;

/// The value of a character literal, `text` being its spelling with prefix and quotes.
pub fn character(text: &str, span: Span, terminated: bool, diagnostics: &mut Vec<Diagnostic>) -> i64 {
    if !terminated {
        diagnostics.push(Diagnostic::error("unterminated-literal", span, "missing terminating ' character"));
        return 0;
    }
    let (wide, body) = body(text, '\'');
    let units = Unescape { text: body, span, wide, diagnostics }.units();
    let limit = if wide { u32::MAX } else { 0xff };
    match units[..] {
        [] => {
            diagnostics.push(Diagnostic::error("empty-character", span, "empty character constant"));
            0
        }
        [Unit::Char(c)] if !wide && !c.is_ascii() => {
            let message = "character too large for enclosing character literal type";
            diagnostics.push(Diagnostic::error("character-too-large", span, message));
            0
        }
        [unit] if wide => i64::from(unit.value()),
        [unit] => i64::from((unit.value() & limit) as u8 as i8),
        _ => {
            let message = "multi-character character constant";
            diagnostics.push(Diagnostic::warning("multichar", span, message));
            let value = units.iter().fold(0_u32, |value, unit| value << 8 | unit.value() & 0xff);
            i64::from(value as i32)
        }
    }
}

/// The value of a string literal, `text` being its spelling with prefix and quotes.
pub fn string(text: &str, span: Span, terminated: bool, diagnostics: &mut Vec<Diagnostic>) -> SmolStr {
    let raw = text.split('"').next().is_some_and(|prefix| prefix.ends_with('R'));
    if !terminated {
        let message = if raw {
            "raw string missing terminating delimiter".into()
        } else {
            format!("missing terminating '{}' character", '"')
        };
        diagnostics.push(Diagnostic::error("unterminated-literal", span, message));
        return SmolStr::default();
    }
    if raw && let Some(body) = raw_body(text) {
        return SmolStr::new(body);
    }
    let (wide, body) = body(text, '"');
    if !body.contains('\\') {
        return SmolStr::new(body);
    }
    let mut bytes = Vec::with_capacity(body.len());
    for unit in (Unescape { text: body, span, wide, diagnostics }).units() {
        match unit {
            Unit::Char(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Unit::Code(code) => bytes.push(code as u8),
        }
    }
    SmolStr::new(String::from_utf8_lossy(&bytes))
}

/// The text between the quotes, and true if the literal's characters are wider than a byte.
fn body(text: &str, quote: char) -> (bool, &str) {
    let start = text.find(quote).unwrap_or(0);
    let body = text[start..].strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    (matches!(&text[..start], "L" | "u" | "U"), body.unwrap_or(""))
}

fn raw_body(text: &str) -> Option<&str> {
    let open = text.find('(')?;
    let quote = text.find('"')?;
    let delimiter = text.get(quote + 1..open)?;
    text[open + 1..].strip_suffix('"')?.strip_suffix(delimiter)?.strip_suffix(')')
}

#[derive(Clone, Copy)]
enum Unit {
    Char(char),
    /// From `\x` or octal: a code, not a character.
    Code(u32),
}

impl Unit {
    fn value(self) -> u32 {
        match self {
            Unit::Char(c) => u32::from(c),
            Unit::Code(code) => code,
        }
    }
}

struct Unescape<'a> {
    text: &'a str,
    span: Span,
    wide: bool,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Unescape<'_> {
    fn error(&mut self, message: &str) -> Unit {
        self.diagnostics.push(Diagnostic::error("invalid-escape", self.span, message));
        Unit::Code(0)
    }

    fn units(&mut self) -> Vec<Unit> {
        let mut units = Vec::new();
        while let Some(c) = self.next() {
            units.push(if c == '\\' { self.escape() } else { Unit::Char(c) });
        }
        units
    }

    fn next(&mut self) -> Option<char> {
        let c = self.text.chars().next()?;
        self.text = &self.text[c.len_utf8()..];
        Some(c)
    }

    fn escape(&mut self) -> Unit {
        let Some(c) = self.next() else {
            return Unit::Char('\\');
        };
        match c {
            'n' => Unit::Char('\n'),
            't' => Unit::Char('\t'),
            'r' => Unit::Char('\r'),
            'a' => Unit::Char('\x07'),
            'b' => Unit::Char('\x08'),
            'f' => Unit::Char('\x0c'),
            'v' => Unit::Char('\x0b'),
            'e' => Unit::Char('\x1b'),
            '\\' | '\'' | '"' | '?' => Unit::Char(c),
            'x' => self.hexadecimal(),
            '0'..='7' => self.octal(c),
            'u' => self.universal(4),
            'U' => self.universal(8),
            _ => {
                let message = format!("unknown escape sequence '\\{c}'");
                self.diagnostics.push(Diagnostic::warning("unknown-escape", self.span, message));
                Unit::Char(c)
            }
        }
    }

    fn code(&mut self, value: u64, kind: &str) -> Unit {
        let limit = if self.wide { u64::from(u32::MAX) } else { 0xff };
        if value > limit {
            return self.error(&format!("{kind} escape sequence out of range"));
        }
        Unit::Code(value as u32)
    }

    fn hexadecimal(&mut self) -> Unit {
        let digits = self.text.len() - self.text.trim_start_matches(|c: char| c.is_ascii_hexdigit()).len();
        if digits == 0 {
            return self.error("\\x used with no following hex digits");
        }
        let value = u64::from_str_radix(&self.text[..digits], 16).unwrap_or(u64::MAX);
        self.text = &self.text[digits..];
        self.code(value, "hex")
    }

    fn octal(&mut self, first: char) -> Unit {
        let mut value = u64::from(first.to_digit(8).unwrap_or(0));
        for _ in 0..2 {
            let Some(digit) = self.text.chars().next().and_then(|c| c.to_digit(8)) else {
                break;
            };
            value = value * 8 + u64::from(digit);
            self.next();
        }
        self.code(value, "octal")
    }

    fn universal(&mut self, digits: usize) -> Unit {
        let Some(code) = self.text.get(..digits).and_then(|hex| u32::from_str_radix(hex, 16).ok()) else {
            return self.error("incomplete universal character name");
        };
        self.text = &self.text[digits..];
        match char::from_u32(code) {
            Some(c) => Unit::Char(c),
            None => self.error("invalid universal character"),
        }
    }
}
