//! Renders Markdown on a terminal while it is generated: headings, bold and italic text, code, lists. Control characters
//! of the text itself are escaped.

use crate::output::printable;

const BOLD: &str = "\x1b[1m";
const ITALIC: &str = "\x1b[3m";
const CODE: &str = "\x1b[36m";
const FAINT: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

/// State of the text so far. Marks are held back until the next character decides their meaning.
#[derive(Default)]
pub(super) struct Markdown {
    /// Beginning of a line, or a run of marks.
    held: String,
    /// Last character printed.
    before: Option<char>,
    in_block: bool,
    /// True in the first and the last line of a block.
    is_fence: bool,
    is_heading: bool,
    is_bold: bool,
    is_italic: bool,
    is_code: bool,
    /// True inside a line whose beginning is decided.
    in_line: bool,
}

impl Markdown {
    /// Returns the next part of the text, as far as its meaning is known.
    pub(super) fn push(&mut self, text: &str) -> String {
        let mut out = String::new();
        for character in printable(text).chars() {
            self.take(character, &mut out);
        }
        out
    }

    /// Returns what was held back, and ends all styles.
    pub(super) fn finish(&mut self) -> String {
        let mut out = String::new();
        if !self.in_line {
            self.begin_line(&mut out);
        }
        self.decide(None, &mut out);
        if self.has_style() || self.in_block {
            out.push_str(RESET);
        }
        *self = Markdown::default();
        out
    }

    fn has_style(&self) -> bool {
        self.is_fence || self.is_heading || self.is_bold || self.is_italic || self.is_code
    }

    fn take(&mut self, character: char, out: &mut String) {
        if character == '\n' {
            return self.end_line(out);
        }
        if !self.in_line {
            self.held.push(character);
            if could_begin_a_line(&self.held, self.in_block) {
                return;
            }
            self.begin_line(out);
            return;
        }
        self.inside_line(character, out);
    }

    fn inside_line(&mut self, character: char, out: &mut String) {
        if !self.held.starts_with(character) {
            self.decide(Some(character), out);
        }
        if !self.in_block && (character == '`' || (character == '*' && !self.is_code)) {
            self.held.push(character);
        } else {
            out.push(character);
            self.before = Some(character);
        }
    }

    /// Decides the meaning of marks that were held back.
    fn decide(&mut self, next: Option<char>, out: &mut String) {
        let marks = std::mem::take(&mut self.held);
        let opens = next.is_some_and(|next| !next.is_whitespace());
        let closes = self.before.is_some_and(|before| !before.is_whitespace());
        match marks.as_str() {
            "" => {}
            "`" if self.is_code || opens => self.style(out, |state| state.is_code = !state.is_code),
            "**" if if self.is_bold { closes } else { opens } => {
                self.style(out, |state| state.is_bold = !state.is_bold)
            }
            "*" if if self.is_italic { closes } else { opens && !self.is_after_a_word() } => {
                self.style(out, |state| state.is_italic = !state.is_italic);
            }
            other => {
                out.push_str(other);
                self.before = other.chars().next_back();
            }
        }
    }

    /// True if a mark here would be inside a word or a product.
    fn is_after_a_word(&self) -> bool {
        self.before.is_some_and(char::is_alphanumeric)
    }

    fn style(&mut self, out: &mut String, change: impl FnOnce(&mut Markdown)) {
        change(self);
        out.push_str(RESET);
        let styles = [
            (self.is_heading || self.is_bold, BOLD),
            (self.is_italic, ITALIC),
            (self.is_code, CODE),
            (self.in_block, CODE),
        ];
        styles.iter().filter(|(is_on, _)| *is_on).for_each(|(_, style)| out.push_str(style));
    }

    /// Prints the beginning of a line as what it is: fence, heading, item of a list, text.
    fn begin_line(&mut self, out: &mut String) {
        self.in_line = true;
        let start = std::mem::take(&mut self.held);
        let text = start.trim_start();
        let indent = &start[..start.len() - text.len()];
        if text.starts_with("```") {
            self.in_block = !self.in_block;
            self.is_fence = true;
            out.push_str(FAINT);
            out.push_str(&start);
        } else if self.in_block {
            out.push_str(&start);
        } else if text.starts_with('#') && text.ends_with(' ') {
            self.style(out, |state| state.is_heading = true);
        } else if text == "- " || text == "* " {
            out.push_str(indent);
            out.push_str("• ");
        } else {
            start.chars().for_each(|character| self.inside_line(character, out));
        }
    }

    fn end_line(&mut self, out: &mut String) {
        if !self.in_line {
            self.begin_line(out);
        }
        self.decide(None, out);
        if self.has_style() {
            self.style(out, |state| {
                *state = Markdown { in_block: state.in_block, ..Markdown::default() };
            });
        }
        out.push('\n');
        (self.in_line, self.before) = (false, None);
    }
}

/// True while the beginning of a line may still become a fence, a heading or an item of a list.
fn could_begin_a_line(start: &str, in_block: bool) -> bool {
    let text = start.trim_start_matches([' ', '\t']);
    let is_fence = text.len() < 3 && text.chars().all(|character| character == '`');
    let is_heading = text.len() <= 6 && text.chars().all(|character| character == '#');
    let is_item = matches!(text, "-" | "*");
    is_fence || (!in_block && (is_heading || is_item))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders a text in pieces of every size; all must give the same.
    fn render(text: &str) -> String {
        let pieces = |size: usize| {
            let mut markdown = Markdown::default();
            let characters: Vec<char> = text.chars().collect();
            let pieces = characters.chunks(size).map(|piece| piece.iter().collect::<String>());
            let out: String = pieces.map(|piece| markdown.push(&piece)).collect();
            out + &markdown.finish()
        };
        let whole = pieces(text.chars().count().max(1));
        for size in 1..4 {
            assert_eq!(pieces(size), whole, "in pieces of {size}");
        }
        // Names instead of escape codes.
        whole
            .replace(RESET, "<>")
            .replace(BOLD, "<b>")
            .replace(ITALIC, "<i>")
            .replace(CODE, "<c>")
            .replace(FAINT, "<f>")
    }

    #[test]
    fn styles_inside_a_line() {
        assert_eq!(render("a **bold** word"), "a <><b>bold<> word");
        assert_eq!(render("an *italic* word"), "an <><i>italic<> word");
        assert_eq!(render("call `f(*p)` now"), "call <><c>f(*p)<> now");
        assert_eq!(render("**`both`**"), "<><b><><b><c>both<><b><>");
    }

    #[test]
    fn marks_that_mean_nothing_stay() {
        for text in ["2 * 3 * 4", "a*b*c", "x ** y", "5 * ", "#include", "a - b", "-1", "*", "", "``", "é ö"] {
            assert_eq!(render(text), text);
        }
    }

    #[test]
    fn lines_begin_with_headings_and_items() {
        assert_eq!(render("## Title\ntext"), "<><b>Title<>\ntext");
        assert_eq!(render("- one\n* two\n  - three"), "• one\n• two\n  • three");
        assert_eq!(render("1. one\n2. **two**\n"), "1. one\n2. <><b>two<>\n");
    }

    #[test]
    fn styles_end_with_their_line() {
        assert_eq!(render("**open\nnext"), "<><b>open<>\nnext");
        assert_eq!(render("**open"), "<><b>open<>");
    }

    #[test]
    fn control_characters_of_the_text_are_escaped() {
        assert_eq!(render("\x1b[2J **b**"), "\\u{1b}[2J <><b>b<>");
    }

    #[test]
    fn blocks_of_code_keep_their_marks() {
        assert_eq!(render("```c\nint *p = a*b;\n# x\n```\nend"), "<f>```c<><c>\nint *p = a*b;\n# x\n<f>```<>\nend");
    }
}
