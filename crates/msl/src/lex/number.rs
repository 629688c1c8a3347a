//! Values of pp-numbers.

use super::token::{FloatLiteral, FloatSuffix, IntLiteral, TokenKind};
use crate::diagnostics::Diagnostic;
use crate::source::Span;

/// The literal spelled `text` at `span`. After an error, its value is the part read so far.
pub fn number(text: &str, span: Span, diagnostics: &mut Vec<Diagnostic>) -> TokenKind {
    let mut reader = Reader { text, span, diagnostics, position: 0, failed: false };
    reader.literal()
}

struct Reader<'a> {
    text: &'a str,
    span: Span,
    diagnostics: &'a mut Vec<Diagnostic>,
    position: usize,
    /// One error per number is enough.
    failed: bool,
}

impl<'a> Reader<'a> {
    fn byte(&self, position: usize) -> u8 {
        self.text.as_bytes().get(position).copied().unwrap_or(0)
    }

    /// Reports at the character at `position`, or at the whole number where its text is not what the span covers.
    fn error(&mut self, position: usize, message: String) {
        if std::mem::replace(&mut self.failed, true) {
            return;
        }
        let mut span = self.span;
        if (span.end.saturating_sub(span.start)) as usize == self.text.len() {
            span.start += position as u32;
        }
        self.diagnostics.push(Diagnostic::error("invalid-number", span, message));
    }

    fn literal(&mut self) -> TokenKind {
        let second = self.byte(1) | 0x20;
        let third = self.byte(2);
        if self.byte(0) == b'0' && second == b'x' {
            let fraction = third == b'.' && self.byte(3).is_ascii_hexdigit();
            if third.is_ascii_hexdigit() || fraction {
                return self.hexadecimal();
            }
        }
        if self.byte(0) == b'0' && second == b'b' && third.is_ascii_digit() {
            return self.binary();
        }
        let digits = self.digits(0, |b| b.is_ascii_digit());
        let next = self.byte(self.position);
        if next == b'.' || next | 0x20 == b'e' {
            return self.decimal_float();
        }
        if digits.len() > 1 && digits.starts_with('0') {
            if let Some(at) = self.text.find(['8', '9']) {
                let digit = char::from(self.byte(at));
                self.error(at, format!("invalid digit '{digit}' in octal constant"));
            }
            return self.integer(&digits, 8);
        }
        self.integer(&digits, 10)
    }

    /// Reads digits from `start` on; gives them without their separators.
    fn digits(&mut self, start: usize, is_digit: impl Fn(u8) -> bool) -> String {
        self.position = start;
        let mut digits = String::new();
        loop {
            let byte = self.byte(self.position);
            if is_digit(byte) {
                digits.push(char::from(byte));
            } else if byte == b'\'' {
                let place = match (digits.is_empty(), is_digit(self.byte(self.position + 1))) {
                    (true, _) => Some("start"),
                    (_, false) => Some("end"),
                    _ => None,
                };
                if let Some(place) = place {
                    let message = format!("digit separator cannot appear at {place} of digit sequence");
                    self.error(self.position, message);
                }
            } else {
                return digits;
            }
            self.position += 1;
        }
    }

    fn suffix(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or("")
    }

    fn binary(&mut self) -> TokenKind {
        let digits = self.digits(2, |b| b.is_ascii_digit());
        if let Some(offset) = self.text[2..].find(|c: char| matches!(c, '2'..='9')) {
            let digit = char::from(self.byte(offset + 2));
            self.error(offset + 2, format!("invalid digit '{digit}' in binary constant"));
        }
        self.integer(&digits, 2)
    }

    fn integer(&mut self, digits: &str, radix: u32) -> TokenKind {
        let mut value = 0_u64;
        let mut fits = true;
        for digit in digits.chars() {
            let digit = u64::from(digit.to_digit(radix).unwrap_or(0));
            let next = value.checked_mul(u64::from(radix)).and_then(|v| v.checked_add(digit));
            fits &= next.is_some();
            value = next.unwrap_or(u64::MAX);
        }
        let (unsigned, long) = self.integer_suffix();
        if !fits {
            let message = "integer literal is too large to be represented in any integer type";
            self.error(0, message.into());
        }
        let decimal = radix == 10;
        if decimal && !unsigned && value > i64::MAX as u64 && !self.failed {
            let message = "integer literal is too large to be represented in a signed integer type, \
                           interpreting as unsigned";
            self.diagnostics.push(Diagnostic::warning("implicitly-unsigned-literal", self.span, message));
        }
        TokenKind::Int(IntLiteral { value, unsigned, long, decimal })
    }

    /// Reads the suffix of an integer: is it unsigned, is it long?
    fn integer_suffix(&mut self) -> (bool, bool) {
        let suffix = self.suffix();
        let without_sign = suffix.strip_prefix(['u', 'U']).or_else(|| suffix.strip_suffix(['u', 'U']));
        match without_sign.unwrap_or(suffix) {
            "" => (without_sign.is_some(), false),
            "l" | "L" | "ll" | "LL" => (without_sign.is_some(), true),
            _ => {
                self.error(self.position, format!("invalid suffix '{suffix}' on integer constant"));
                (false, false)
            }
        }
    }

    /// `digits` holds the digits before the point; the reader stands at the point or the exponent.
    fn decimal_float(&mut self) -> TokenKind {
        self.digits(0, |b| b.is_ascii_digit());
        if self.byte(self.position) == b'.' {
            self.digits(self.position + 1, |b| b.is_ascii_digit());
        }
        let mut end = self.position;
        if self.byte(self.position) | 0x20 == b'e' && self.exponent() {
            end = self.position;
        }
        let digits: String = self.text[..end].chars().filter(|&c| c != '\'').collect();
        let suffix = self.float_suffix();
        // `float` is parsed as such: rounding to double first could round twice.
        let exact = digits.parse::<f64>().unwrap_or(0.0);
        let value = match suffix {
            FloatSuffix::None | FloatSuffix::Float => digits.parse::<f32>().map_or(exact, f64::from),
            FloatSuffix::Half | FloatSuffix::BFloat => exact,
        };
        let mantissa = digits.split(['e', 'E']).next().unwrap_or("");
        let is_zero = !mantissa.bytes().any(|b| matches!(b, b'1'..=b'9'));
        self.float(value, is_zero, suffix)
    }

    /// Reads an exponent at the reader's position; `false` when it has no digits.
    fn exponent(&mut self) -> bool {
        let start = self.position;
        let signed = matches!(self.byte(start + 1), b'+' | b'-');
        let digits = self.digits(start + 1 + usize::from(signed), |b| b.is_ascii_digit());
        if digits.is_empty() {
            self.error(start, "exponent has no digits".into());
        }
        !digits.is_empty()
    }

    fn hexadecimal(&mut self) -> TokenKind {
        let whole = self.digits(2, |b| b.is_ascii_hexdigit());
        let mut fraction = String::new();
        let has_point = self.byte(self.position) == b'.';
        if has_point {
            fraction = self.digits(self.position + 1, |b| b.is_ascii_hexdigit());
        }
        if self.byte(self.position) | 0x20 != b'p' {
            if has_point {
                self.error(self.position, "hexadecimal floating constant requires an exponent".into());
                return self.float(0.0, true, FloatSuffix::None);
            }
            return self.integer(&whole, 16);
        }
        let start = self.position;
        let mut power = 0;
        if self.exponent() {
            let digits = self.text[start + 1..self.position].replace('\'', "");
            let limit = if digits.starts_with('-') { i32::MIN / 2 } else { i32::MAX / 2 };
            power = digits.parse::<i32>().unwrap_or(limit).clamp(i32::MIN / 2, i32::MAX / 2);
        }
        let suffix = self.float_suffix();
        let is_zero = !(whole.bytes().chain(fraction.bytes())).any(|b| b != b'0');
        let mut value = hexadecimal_value(&whole, &fraction, power);
        if matches!(suffix, FloatSuffix::None | FloatSuffix::Float) {
            value = f64::from(value as f32);
        }
        self.float(value, is_zero, suffix)
    }

    fn float_suffix(&mut self) -> FloatSuffix {
        match self.suffix() {
            "" => FloatSuffix::None,
            "f" | "F" => FloatSuffix::Float,
            "h" | "H" => FloatSuffix::Half,
            "bf" | "BF" => FloatSuffix::BFloat,
            suffix => {
                self.error(self.position, format!("invalid suffix '{suffix}' on floating constant"));
                FloatSuffix::None
            }
        }
    }

    fn float(&mut self, value: f64, is_zero: bool, suffix: FloatSuffix) -> TokenKind {
        // The first value that rounds to infinity, the last one that rounds to zero, and how clang prints the limits.
        let (name, infinite, zero, maximum, minimum) = match suffix {
            FloatSuffix::None | FloatSuffix::Float => {
                ("float", f64::from(f32::MAX) * 1.1, 0.0, "3.40282347E+38", "1.40129846E-45")
            }
            FloatSuffix::Half => ("half", 65520.0, 2f64.powi(-25), "65504", "5.9605E-8"),
            FloatSuffix::BFloat => {
                let last = (2.0 - 2f64.powi(-8)) * 2f64.powi(127);
                ("bfloat", last, 2f64.powi(-134), "3.38953139E+38", "9.18354962E-41")
            }
        };
        let limit = if value >= infinite {
            Some(format!("too large for type '{name}'; maximum is {maximum}"))
        } else if value <= zero && !is_zero {
            Some(format!("too small for type '{name}'; minimum is {minimum}"))
        } else {
            None
        };
        if let Some(limit) = limit.filter(|_| !self.failed) {
            let message = format!("magnitude of floating-point constant {limit}");
            self.diagnostics.push(Diagnostic::warning("literal-range", self.span, message));
        }
        TokenKind::Float(FloatLiteral { value, suffix })
    }
}

/// `whole.fraction × 2^power`, with the digits in hexadecimal.
fn hexadecimal_value(whole: &str, fraction: &str, power: i32) -> f64 {
    let mut mantissa = 0_u64;
    let mut exponent = i64::from(power);
    for (digit, in_fraction) in whole.chars().map(|c| (c, false)).chain(fraction.chars().map(|c| (c, true))) {
        let digit = u64::from(digit.to_digit(16).unwrap_or(0));
        // Digits that no longer fit only count as "not exact": the lowest bit stays set, so that the one rounding
        // at the end goes the right way.
        if mantissa >> 48 == 0 {
            mantissa = mantissa << 4 | digit;
            exponent -= if in_fraction { 4 } else { 0 };
        } else {
            mantissa |= u64::from(digit != 0);
            exponent += if in_fraction { 0 } else { 4 };
        }
    }
    let mut value = mantissa as f64;
    // In two steps, as the power alone may be out of range where the product is not.
    for _ in 0..3 {
        let step = exponent.clamp(-1000, 1000);
        value *= 2f64.powi(step as i32);
        exponent -= step;
    }
    match exponent {
        0 => value,
        _ if mantissa == 0 || exponent < 0 => 0.0,
        _ => f64::INFINITY,
    }
}
