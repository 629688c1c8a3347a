//! Pre-tokenizers: split text into words, which are then merged one by one.
//!
//! The model's own files define each by a regular expression; GGUF files name it. They are hand-written scanners: the
//! expressions need look-ahead, which backtracking engines have, but those are several times slower and may overflow
//! the stack on hostile text. The scanners look ahead to the end of a run of one character class at most, so each takes
//! linear time.

use super::TokenizerError;
use super::classes::{CharClass, LetterCase, first, letter_case};

/// Supported pre-tokenizers by their names in GGUF files. Some have aliases, for other models.
pub const PRE_TOKENIZERS: &[&str] = &["gpt-2", "llama-bpe", "qwen2", "qwen35", "smollm", "gpt-4o", "tekken"];

/// Rule that splits text into words, and what goes with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PreTokenizer {
    rule: SplitRule,
    /// A word that is a token becomes that token without merging.
    ignores_merges: bool,
    /// Texts begin with `bos` by default.
    adds_bos: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SplitRule {
    /// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
    Gpt2,
    /// Splits off each `\p{N}`, then splits the parts in between like `Gpt2`, each as a text of its own.
    SmolLm,
    /// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
    /// with up to `digits` digits in a word; with `marks`, marks (`\p{M}`) count as letters.
    Llama3 { digits: usize, marks: bool },
    /// `[^\r\n\p{L}\p{N}]?U*L+E?|[^\r\n\p{L}\p{N}]?U+L*E?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
    /// U are upper-case letters, L lower-case ones, and both have letters without case and marks; E are the endings of
    /// `Llama3`, with `endings`.
    Gpt4o { digits: usize, endings: bool },
}

impl PreTokenizer {
    pub(super) fn named(name: &str) -> Result<Self, TokenizerError> {
        let llama3 = SplitRule::Llama3 { digits: 3, marks: false };
        let (rule, ignores_merges, adds_bos) = match name {
            "gpt-2" | "phi-2" | "mpt" | "olmo" | "exaone4" => (SplitRule::Gpt2, false, false),
            "smollm" | "starcoder" | "refact" | "command-r" | "codeshell" | "exaone" | "minerva-7b" => {
                (SplitRule::SmolLm, false, false)
            }
            "llama-bpe" | "llama3" | "llama-v3" | "falcon3" | "falcon-h1" | "pixtral" | "lfm2" => {
                (llama3, true, true)
            }
            "glm4" => (llama3, true, false),
            "dbrx" | "smaug-bpe" | "chatglm-bpe" => (llama3, false, false),
            "qwen2" | "deepseek-r1-qwen" | "megrez" | "stablelm2" => {
                (SplitRule::Llama3 { digits: 1, marks: false }, false, false)
            }
            "qwen35" => (SplitRule::Llama3 { digits: 1, marks: true }, false, false),
            "gpt-4o" | "llama4" => (SplitRule::Gpt4o { digits: 3, endings: true }, false, false),
            "tekken" => (SplitRule::Gpt4o { digits: 1, endings: false }, true, true),
            _ => return Err(TokenizerError::UnknownPreTokenizer(name.to_owned())),
        };
        Ok(PreTokenizer { rule, ignores_merges, adds_bos })
    }

    /// Returns true if a word that is a token becomes that token without merging.
    pub(super) fn ignores_merges(self) -> bool {
        self.ignores_merges
    }

    /// Returns true if texts begin with `bos` by default.
    pub(super) fn adds_bos(self) -> bool {
        self.adds_bos
    }

    /// Calls `each` with every word. The words concatenate to the text.
    pub(super) fn words<'t>(self, text: &'t str, mut each: impl FnMut(&'t str)) {
        match self.rule {
            SplitRule::Gpt2 => split(text, gpt2_word, each),
            SplitRule::SmolLm => {
                let mut rest = text;
                while !rest.is_empty() {
                    let end = run(rest, |class| class != CharClass::Number);
                    split(&rest[..end], gpt2_word, &mut each);
                    rest = &rest[end..];
                    if let Some((_, length)) = first(rest) {
                        each(&rest[..length]);
                        rest = &rest[length..];
                    }
                }
            }
            SplitRule::Llama3 { digits, marks } => split(text, |text| llama3_word(text, digits, marks), each),
            SplitRule::Gpt4o { digits, endings } => split(text, |text| gpt4o_word(text, digits, endings), each),
        }
    }
}

/// Splits off first words until the text is empty. `first_word` returns the length of a word, at least 1.
fn split<'t>(mut text: &'t str, first_word: impl Fn(&str) -> usize, mut each: impl FnMut(&'t str)) {
    while !text.is_empty() {
        let (word, rest) = text.split_at(first_word(text));
        each(word);
        text = rest;
    }
}

/// Length in bytes of the longest prefix whose characters are all of wanted classes.
fn run(text: &str, wanted: impl Fn(CharClass) -> bool) -> usize {
    let mut end = 0;
    while let Some((class, length)) = first(&text[end..]) {
        if !wanted(class) {
            break;
        }
        end += length;
    }
    end
}

fn gpt2_word(text: &str) -> usize {
    if let Some(length) = contraction(text, |bytes, expected| bytes == expected) {
        return length;
    }
    let space = usize::from(text.starts_with(' '));
    let word = &text[space..];
    match first(word) {
        Some((CharClass::Letter, _)) => space + run(word, |class| class == CharClass::Letter),
        Some((CharClass::Number, _)) => space + run(word, |class| class == CharClass::Number),
        Some((CharClass::Other | CharClass::Mark, _)) => {
            space + run(word, |class| matches!(class, CharClass::Other | CharClass::Mark))
        }
        Some((CharClass::Space, _)) | None => spaces(text),
    }
}

fn llama3_word(text: &str, digits: usize, marks: bool) -> usize {
    if let Some(length) = contraction(text, |bytes, expected| bytes.eq_ignore_ascii_case(expected)) {
        return length;
    }
    let is_letter = |class| class == CharClass::Letter || (marks && class == CharClass::Mark);
    let is_other = |class| matches!(class, CharClass::Other | CharClass::Mark) && !is_letter(class);
    let Some((class, length)) = first(text) else { return 0 };

    let newline = text.starts_with(['\r', '\n']);
    if !newline && class != CharClass::Number {
        // With `marks`, a leading mark could also be the optional first character: the run is the same.
        let before = if is_letter(class) { 0 } else { length };
        let letters = run(&text[before..], is_letter);
        if letters > 0 {
            return before + letters;
        }
    }
    if class == CharClass::Number {
        return numbers(text, digits);
    }
    let space = usize::from(text.starts_with(' '));
    let others = run(&text[space..], is_other);
    if others > 0 {
        let end = space + others;
        return end + any_of(&text[end..], b"\r\n");
    }
    lines_or_spaces(text)
}

fn gpt4o_word(text: &str, digits: usize, endings: bool) -> usize {
    let Some((class, length)) = first(text) else { return 0 };
    if class == CharClass::Number {
        return numbers(text, digits);
    }
    // Any character but a newline, a letter or a digit may be before the letters. The first alternative comes first, with
    // such a character and without.
    let may_precede = !text.starts_with(['\r', '\n']) && class != CharClass::Letter;
    let starts = [may_precede.then_some(length), Some(0)];
    let word = |letters: fn(&str) -> usize| {
        starts.iter().flatten().find_map(|&start| Some(start + Some(letters(&text[start..])).filter(|&n| n > 0)?))
    };
    if let Some(end) = word(lower_word).or_else(|| word(upper_word)) {
        let ending = contraction(&text[end..], |bytes, expected| bytes.eq_ignore_ascii_case(expected));
        return end + ending.filter(|_| endings).unwrap_or(0);
    }
    let space = usize::from(text.starts_with(' '));
    let others = run(&text[space..], |class| matches!(class, CharClass::Other | CharClass::Mark));
    if others > 0 {
        let end = space + others;
        return end + any_of(&text[end..], b"\r\n/");
    }
    lines_or_spaces(text)
}

/// `U*L+`: length in bytes, or 0.
fn lower_word(text: &str) -> usize {
    let upper = upper_word(text);
    let lower = run_of(&text[upper..], LetterCase::may_be_lower);
    if lower > 0 {
        return upper + lower;
    }
    // `U*` gives back the characters after the last that is in L, too.
    let last = text[..upper].char_indices().rev().find(|&(_, character)| letter_case(character).may_be_lower());
    last.map_or(0, |(at, character)| at + character.len_utf8())
}

/// `U*`: length in bytes.
fn upper_word(text: &str) -> usize {
    run_of(text, LetterCase::may_be_upper)
}

/// Length in bytes of the longest prefix whose characters all have a wanted case.
fn run_of(text: &str, wanted: fn(LetterCase) -> bool) -> usize {
    text.find(|character| !wanted(letter_case(character))).unwrap_or(text.len())
}

/// `\p{N}{1,digits}` at the beginning of a text that has one.
fn numbers(text: &str, digits: usize) -> usize {
    let numbers =
        text.char_indices().take(digits).take_while(|&(at, _)| starts_with(&text[at..], CharClass::Number));
    numbers.last().map_or(0, |(at, character)| at + character.len_utf8())
}

/// `\s*[\r\n]+|\s+(?!\S)|\s+`
fn lines_or_spaces(text: &str) -> usize {
    let spaces_end = run(text, |class| class == CharClass::Space);
    match text[..spaces_end].rfind(['\r', '\n']) {
        Some(last) => last + 1,
        None => spaces(text),
    }
}

/// `\s+(?!\S)|\s+`: all spaces at the end of the text, otherwise all but the last, which belongs to the next word.
fn spaces(text: &str) -> usize {
    let end = run(text, |class| class == CharClass::Space);
    if end == text.len() {
        return end;
    }
    match text[..end].char_indices().next_back() {
        Some((last, _)) if last > 0 => last,
        _ => end,
    }
}

/// Length of the longest prefix of these bytes.
fn any_of(text: &str, bytes: &[u8]) -> usize {
    text.bytes().take_while(|byte| bytes.contains(byte)).count()
}

fn starts_with(text: &str, wanted: CharClass) -> bool {
    first(text).is_some_and(|(class, _)| class == wanted)
}

fn contraction(text: &str, equal: impl Fn(&[u8], &[u8]) -> bool) -> Option<usize> {
    let rest = text.as_bytes().strip_prefix(b"'")?;
    let endings: [&[u8]; 7] = [b"s", b"t", b"re", b"ve", b"m", b"ll", b"d"];
    let found =
        endings.into_iter().find(|ending| rest.get(..ending.len()).is_some_and(|start| equal(start, ending)));
    found.map(|ending| 1 + ending.len())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn words_of(pre: &str, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        PreTokenizer::named(pre).unwrap().words(text, |word| words.push(word.to_owned()));
        words
    }

    /// The references are from the package `tokenizers`, which runs the regular expressions.
    #[test]
    fn words_match_the_regular_expressions() {
        let texts: Value = serde_json::from_str(include_str!("../../tests/data/tokenizer/texts.json")).unwrap();
        let references: Value =
            serde_json::from_str(include_str!("../../tests/data/tokenizer/words.json")).unwrap();
        let texts = texts["texts"].as_array().unwrap();
        for &pre in PRE_TOKENIZERS {
            let references = references["words"][pre].as_array().unwrap();
            assert_eq!(texts.len(), references.len());
            for (text, reference) in texts.iter().zip(references) {
                let text = text[0].as_str().unwrap();
                let words = words_of(pre, text);
                let lengths: Vec<u64> = words.iter().map(|word| word.len() as u64).collect();
                let reference: Vec<u64> =
                    reference.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
                assert_eq!(lengths, reference, "{pre}: {text:?} became {words:?}");
            }
        }
    }

    #[test]
    fn words_concatenate_to_the_text() {
        let mut state = 1u32;
        for &pre in PRE_TOKENIZERS {
            for _ in 0..200 {
                let characters = (0..30).filter_map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    char::from_u32((state >> 8) % [0x80, 0x250, 0x3000, 0x11_0000][(state >> 30) as usize])
                });
                let text: String = characters.collect();
                assert_eq!(words_of(pre, &text).concat(), text, "{pre}");
            }
        }
    }

    #[test]
    fn error_names_an_unknown_pre_tokenizer() {
        let error = PreTokenizer::named("viking").unwrap_err().to_string();
        assert!(error.contains("\"viking\"") && error.contains("smollm"), "{error}");
    }

    #[test]
    fn other_names_have_the_rules_of_their_models() {
        let like = |name: &str, other: &str| {
            let [name, other] = [name, other].map(|name| PreTokenizer::named(name).unwrap());
            (name.rule == other.rule, name.ignores_merges, name.adds_bos)
        };
        assert_eq!(like("llama-bpe", "llama-bpe"), (true, true, true));
        assert_eq!(like("glm4", "llama-bpe"), (true, true, false));
        assert_eq!(like("dbrx", "llama-bpe"), (true, false, false));
        assert_eq!(like("smaug-bpe", "llama-bpe"), (true, false, false));
        assert_eq!(like("refact", "smollm"), (true, false, false));
        assert_eq!(like("command-r", "smollm"), (true, false, false));
        assert_eq!(like("olmo", "gpt-2"), (true, false, false));
        assert_eq!(like("tekken", "tekken"), (true, true, true));
        assert_eq!(like("llama4", "gpt-4o"), (true, false, false));
    }
}
