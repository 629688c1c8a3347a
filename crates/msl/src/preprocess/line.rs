//! `#line 3 "file"` and the markers of other preprocessors, `# 3 "file" 1`: the presumed place of the following text.

use super::{Preprocessor, behind};
use crate::lex::{RawKind, RawToken};
use crate::source::Span;

/// Names of a directive in messages.
struct Form {
    short: &'static str,
    long: &'static str,
}

const DIRECTIVE: Form = Form { short: "#line directive", long: "#line directive" };
const MARKER: Form = Form { short: "line marker directive", long: "GNU line marker directive" };

impl Preprocessor<'_> {
    /// `#line`, whose operands may come from macros.
    pub(super) fn line_directive(&mut self, keyword: RawToken, operands: &[RawToken]) {
        let mut expanded = Vec::new();
        self.expand_alone(operands, &mut expanded);
        let Some(line) =
            self.line_number(behind(*operands.last().unwrap_or(&keyword)), expanded.first().copied(), &DIRECTIVE)
        else {
            return;
        };
        let Ok((name, rest)) = self.line_file(expanded.get(1..).unwrap_or_default(), &DIRECTIVE) else { return };
        self.extra_tokens("line", rest);
        self.add_line(keyword, operands, line, name.as_deref());
    }

    /// `# 3 "file" 1 3`: the flags say that a file begins or ends, and whose it is, which changes nothing here.
    pub(super) fn line_marker(&mut self, number: RawToken, operands: &[RawToken]) {
        let mut expanded = Vec::new();
        self.expand_alone(operands, &mut expanded);
        let Some(line) = self.line_number(number.span, Some(number), &MARKER) else { return };
        let Ok((name, flags)) = self.line_file(&expanded, &MARKER) else { return };
        let mut before = 0;
        for &flag in flags {
            let value = match (flag.kind, self.text(flag)) {
                (RawKind::Number, "1") if before == 0 => 1,
                (RawKind::Number, "2") if before == 0 => 2,
                (RawKind::Number, "3") if before < 3 => 3,
                (RawKind::Number, "4") if before == 3 => 4,
                _ => {
                    self.error("line-directive", flag.span, "invalid flag line marker directive");
                    return;
                }
            };
            before = value;
        }
        self.add_line(number, operands, line, name.as_deref());
    }

    fn add_line(&mut self, first: RawToken, operands: &[RawToken], line: u32, name: Option<&str>) {
        let last = operands.last().unwrap_or(&first);
        self.sources.add_line_directive(first.span.to(last.span), line, name);
    }

    /// Digits, always decimal; `end` is where they are missed.
    fn line_number(&mut self, end: Span, number: Option<RawToken>, form: &Form) -> Option<u32> {
        let needs_a_number = format!("{} requires a positive integer argument", form.short);
        let Some(number) = number.filter(|token| token.kind == RawKind::Number) else {
            let place = number.map_or(end, |token| token.span);
            self.error("line-directive", place, needs_a_number);
            return None;
        };
        let digits: String = self.text(number).replace('\'', "");
        if let Some(other) = self.text(number).find(|c: char| !c.is_ascii_digit() && c != '\'') {
            let mut place = number.span;
            place.start = place.end.min(place.start + other as u32);
            self.error("line-directive", place, format!("{} requires a simple digit sequence", form.long));
            return None;
        }
        let Ok(line) = digits.parse::<u32>() else {
            self.error("line-directive", number.span, needs_a_number);
            return None;
        };
        if digits.starts_with('0') && line > 0 {
            let message = format!("{} interprets number as decimal, not octal", form.long);
            self.warning("line-directive", number.span, message);
        }
        Some(line)
    }

    /// The name, if there is one, and what follows it.
    fn line_file<'t>(
        &mut self,
        operands: &'t [RawToken],
        form: &Form,
    ) -> Result<(Option<String>, &'t [RawToken]), ()> {
        let Some((&name, rest)) = operands.split_first() else { return Ok((None, operands)) };
        let text = self.text(name);
        let is_narrow = text.starts_with(['"', 'R']) && !name.has(RawToken::UNTERMINATED);
        if name.kind != RawKind::Str || !is_narrow {
            self.error("line-directive", name.span, format!("invalid filename for {}", form.short));
            return Err(());
        }
        let mut problems = Vec::new();
        let value = crate::lex::string(text, name.span, true, &mut problems);
        let is_fine = problems.is_empty();
        for problem in problems {
            self.report(problem);
        }
        if is_fine { Ok((Some(value.into()), rest)) } else { Err(()) }
    }
}
