//! Finding special tokens in text.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::{TokenType, TokenizerError, Vocabulary};

/// A part of a text.
pub(super) enum Part<'t> {
    Text(&'t str),
    Special(u32),
}

/// Tokens that are found in text before it is divided: of several the leftmost, and there the longest.
pub(super) struct SpecialTokens {
    /// The tokens that are looked for in any text, and those that are found when that is asked for.
    always: Finder,
    asked: Finder,
}

struct Finder {
    /// Nothing, where there are no tokens to be found.
    automaton: Option<AhoCorasick>,
    ids: Vec<u32>,
}

impl SpecialTokens {
    pub(super) fn new(vocabulary: &Vocabulary<'_>, types: &[TokenType]) -> Result<Self, TokenizerError> {
        let finder = |wanted: fn(TokenType) -> bool| {
            let ids = 0..types.len() as u32;
            Finder::new(vocabulary, ids.filter(|&id| wanted(types[id as usize])).collect())
        };
        Ok(Self {
            always: finder(|token| token == TokenType::UserDefined)?,
            asked: finder(|token| {
                matches!(token, TokenType::UserDefined | TokenType::Control | TokenType::Unknown)
            })?,
        })
    }

    /// Calls `each` with every part of the text. Without `parse_special`, control tokens in it are text like any other.
    pub(super) fn parts<'t>(&self, text: &'t str, parse_special: bool, mut each: impl FnMut(Part<'t>)) {
        let finder = if parse_special { &self.asked } else { &self.always };
        let mut end = 0;
        for found in finder.automaton.iter().flat_map(|automaton| automaton.find_iter(text)) {
            if found.start() > end {
                each(Part::Text(&text[end..found.start()]));
            }
            each(Part::Special(finder.ids[found.pattern().as_usize()]));
            end = found.end();
        }
        if end < text.len() {
            each(Part::Text(&text[end..]));
        }
    }
}

impl Finder {
    fn new(vocabulary: &Vocabulary<'_>, mut ids: Vec<u32>) -> Result<Self, TokenizerError> {
        ids.retain(|&id| !vocabulary.tokens[id as usize].is_empty());
        if ids.is_empty() {
            return Ok(Self { automaton: None, ids });
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            // A DFA would be somewhat faster, and is far larger.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(ids.iter().map(|&id| vocabulary.tokens[id as usize]))
            .map_err(|error| {
                TokenizerError::vocabulary(format!("its special tokens cannot be searched for: {error}"))
            })?;
        Ok(Self { automaton: Some(automaton), ids })
    }
}
