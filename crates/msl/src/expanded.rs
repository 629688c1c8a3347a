//! The text of a program after preprocessing, as `-E` prints it.
//!
//! Tokens stand on the lines that they come from, between `#line` directives. The headers of Metal's library stay
//! included, as `fold` keeps them: the text is for any compiler, which has its own.

use crate::compile::{MAX_FILE_BYTES, Options, ReadError, read};
use crate::diagnostics::{Diagnostic, Severity, render};
use crate::fold::line_directive;
use crate::lex::token::{
    DiagnosticPragma, FloatLiteral, FloatSuffix, IntLiteral, Pragma, Token, TokenKind, WarningSetting,
};
use crate::preprocess::{self, preprocess};
use crate::source::{ExpansionId, FileId, SourceMap};
use std::fmt::Write;
use std::path::Path;

/// A program after preprocessing.
#[derive(Clone, Debug)]
pub struct Expanded {
    /// Its text.
    pub text: String,
    /// The files that were read.
    pub sources: SourceMap,
    /// Errors and warnings of the preprocessor.
    pub diagnostics: Vec<Diagnostic>,
}

impl Expanded {
    /// True if there are errors.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// All diagnostics as clang would print them.
    pub fn render_diagnostics(&self, color: bool) -> String {
        render::render_all(&self.diagnostics, &self.sources, color)
    }
}

/// Preprocesses a file; `has_lines`: with `#line` directives.
pub fn expand_file(path: &Path, options: &Options, has_lines: bool) -> Result<Expanded, ReadError> {
    let text = read(path, MAX_FILE_BYTES)?;
    let mut sources = SourceMap::new();
    let main = sources.add_file(path.display().to_string(), Some(path), text, None, false);
    Ok(expand(sources, main, options, has_lines))
}

fn expand(mut sources: SourceMap, main: FileId, options: &Options, has_lines: bool) -> Expanded {
    let mut diagnostics = Vec::new();
    let preprocessing = preprocess::Options {
        include_dirs: options.include_dirs.clone(),
        defines: options.defines.clone(),
        std: options.std,
        math: options.math,
        math_functions: options.math_functions,
    };
    let tokens = preprocess(&mut sources, main, &preprocessing, &mut diagnostics);
    let mut printer = Printer { sources: &sources, text: String::new(), at: None, has_lines, included: 0 };
    tokens.iter().for_each(|token| printer.token(token));
    let text = printer.finish();
    Expanded { text, sources, diagnostics }
}

struct Printer<'s> {
    sources: &'s SourceMap,
    text: String,
    /// File and line of the text that was printed last, and the offset of its end.
    at: Option<(FileId, u32, u32)>,
    has_lines: bool,
    /// Number of files whose includes are printed.
    included: usize,
}

impl Printer<'_> {
    fn token(&mut self, token: &Token) {
        let span = self.sources.outermost(token.span);
        if token.kind == TokenKind::Eof || self.sources.file(span.file).builtin {
            return;
        }
        self.headers(Some((span.file, span.start)));
        let line = self.sources.line_column(span).line;
        let is_pragma = matches!(token.kind, TokenKind::Pragma(_));
        match self.at {
            Some((file, last, end)) if file == span.file && last == line && !is_pragma => {
                if end != span.start || token.span.expansion != ExpansionId::NONE {
                    self.text.push(' ');
                }
            }
            Some((file, last, _)) if file == span.file && last < line && line - last <= 8 => {
                (last..line).for_each(|_| self.text.push('\n'));
            }
            _ => self.line(span.file, line),
        }
        self.text.push_str(&spelling(token, self.sources));
        self.at = Some((span.file, line, span.end));
        if is_pragma {
            // Text behind a directive needs a line of its own.
            self.at = None;
        }
    }

    /// Begins a line of a file.
    fn line(&mut self, file: FileId, line: u32) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        if self.has_lines {
            let name = &self.sources.file(file).name;
            let _ = writeln!(self.text, "{}", line_directive(line, name));
        }
    }

    /// Prints the includes of Metal's headers that stand before a place; `None` is the end.
    fn headers(&mut self, before: Option<(FileId, u32)>) {
        while let Some((_, file)) = self.sources.files().nth(self.included) {
            let Some(from) = file.included_from else {
                self.included += 1;
                continue;
            };
            let is_metals = file.builtin && !self.sources.file(from.file).builtin;
            if is_metals {
                if before.is_some_and(|(place, offset)| place == from.file && offset < from.start) {
                    return;
                }
                self.line(from.file, self.sources.line_column(from).line);
                let _ = writeln!(self.text, "#include {}", file.name);
                self.at = None;
            }
            self.included += 1;
        }
    }

    fn finish(mut self) -> String {
        self.headers(None);
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text
    }
}

/// A token as source text. One from a macro may be pasted together: its span is not its text.
fn spelling(token: &Token, sources: &SourceMap) -> String {
    let is_written = token.span.expansion == ExpansionId::NONE;
    match &token.kind {
        TokenKind::Ident(name) => name.to_string(),
        TokenKind::Keyword(keyword) => keyword.text().to_owned(),
        TokenKind::Punct(punct) => punct.text().to_owned(),
        TokenKind::Int(_) | TokenKind::Float(_) | TokenKind::Char(_) if is_written => {
            sources.text(token.span).to_owned()
        }
        TokenKind::Int(literal) => integer(literal),
        TokenKind::Float(literal) => float(literal),
        TokenKind::Char(value) => match u8::try_from(*value) {
            Ok(byte) if byte.is_ascii_graphic() && !matches!(byte, b'\'' | b'\\') => {
                format!("'{}'", char::from(byte))
            }
            _ => format!("'\\x{:02x}'", *value as u8),
        },
        TokenKind::Str(text) => quoted(text),
        TokenKind::Pragma(pragma) => directive(pragma),
        TokenKind::Eof => String::new(),
    }
}

fn integer(literal: &IntLiteral) -> String {
    let IntLiteral { value, unsigned, long, decimal } = *literal;
    let digits = if decimal { value.to_string() } else { format!("{value:#x}") };
    format!("{digits}{}{}", if unsigned { "u" } else { "" }, if long { "l" } else { "" })
}

fn float(literal: &FloatLiteral) -> String {
    let suffix = match literal.suffix {
        FloatSuffix::None => "",
        FloatSuffix::Float => "f",
        FloatSuffix::Half => "h",
        FloatSuffix::BFloat => "bf",
    };
    format!("{:e}{suffix}", literal.value)
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            character if character.is_control() => {
                let _ = write!(quoted, "\\{:03o}", u32::from(character));
            }
            character => quoted.push(character),
        }
    }
    quoted + "\""
}

fn directive(pragma: &Pragma) -> String {
    match pragma {
        Pragma::Unroll => "#pragma unroll".into(),
        Pragma::UnrollFull => "#pragma clang loop unroll(full)".into(),
        Pragma::UnrollCount(count) => format!("#pragma unroll({count})"),
        Pragma::UnrollDisable => "#pragma nounroll".into(),
        Pragma::Fp(words) => format!("#pragma METAL fp {words}"),
        Pragma::Pack(None) => "#pragma pack()".into(),
        Pragma::Pack(Some(bytes)) => format!("#pragma pack({bytes})"),
        Pragma::Diagnostic(pragma) => match pragma {
            DiagnosticPragma::Push => "#pragma clang diagnostic push".into(),
            DiagnosticPragma::Pop => "#pragma clang diagnostic pop".into(),
            DiagnosticPragma::Set(name, setting) => {
                let word = match setting {
                    WarningSetting::Ignored => "ignored",
                    WarningSetting::Warning => "warning",
                    WarningSetting::Error => "error",
                };
                format!("#pragma clang diagnostic {word} \"-W{name}\"")
            }
            DiagnosticPragma::SystemHeader => "#pragma clang system_header".into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile_source;

    fn expanded(text: &str, has_lines: bool) -> String {
        let mut sources = SourceMap::new();
        let main = sources.add_file("k.metal", None, text, None, false);
        let expanded = expand(sources, main, &Options::default(), has_lines);
        assert!(!expanded.has_errors(), "{}", expanded.render_diagnostics(false));
        expanded.text
    }

    #[test]
    fn tokens_stand_on_their_lines() {
        let text = "#include <metal_stdlib>\n#define NAME(x) k_##x\n#define N 0x10u\n\nkernel void NAME(a)() {\n#pragma unroll\n  for (uint i=0; i<N; ++i) {}\n}\n";
        assert_eq!(
            expanded(text, true),
            "#line 1 \"k.metal\"\n#include <metal_stdlib>\n#line 5 \"k.metal\"\nkernel void k_a () {\n#pragma unroll\n\
             #line 7 \"k.metal\"\nfor (uint i=0; i< 0x10u; ++i) {}\n}\n"
        );
    }

    #[test]
    fn every_kind_of_token_comes_back() {
        let text = "#define A 1\n#define F 1.5h\n#define C '\\n'\n#define S \"a\\\"b\"\n#define B(x, y) x##y\n\
                    int a = A; half f = F; float g = B(0., 5f); int c = C; int h = B(0x, FFul); char d = 'x';\n";
        assert_eq!(
            expanded(text, false),
            "int a = 1; half f = 1.5e0h; float g = 5e-1f ; int c = '\\x0a'; int h = 0xfful ; char d = 'x';\n"
        );
    }

    #[test]
    fn the_text_of_the_shaders_means_the_same() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../inference/src/metal");
        let options = Options { include_dirs: vec![folder.join("include")], ..Options::default() };
        for name in ["softmax.metal", "rope.metal"] {
            let path = folder.join("shaders").join(name);
            let expanded = expand_file(&path, &options, true).unwrap_or_else(|error| panic!("{error}"));
            assert!(!expanded.has_errors(), "{}", expanded.render_diagnostics(false));
            let again = compile_source(name, &expanded.text, &Options::default());
            assert!(!again.has_errors(), "{}", again.render_diagnostics(false));
            let plain = crate::compile_file(&path, &options).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(again.reflect(), plain.reflect(), "{name}");
        }
    }
}
