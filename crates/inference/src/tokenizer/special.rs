//! Splitting text at special tokens.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::{TokenType, TokenizerError, Vocabulary};

/// Segment of a text.
pub(super) enum Segment<'t> {
    Text(&'t str),
    Special(u32),
}

/// Special tokens of a vocabulary. Of overlapping matches the leftmost wins, of those the longest.
pub(super) struct SpecialTokens {
    /// User-defined tokens, matched in every text.
    user_defined: TokenMatcher,
    /// All special tokens, matched with `parse_special`.
    all: TokenMatcher,
}

struct TokenMatcher {
    /// `None` if there are no tokens to match.
    automaton: Option<AhoCorasick>,
    ids: Vec<u32>,
}

impl SpecialTokens {
    pub(super) fn new(vocabulary: &Vocabulary<'_>, types: &[TokenType]) -> Result<Self, TokenizerError> {
        let matcher = |wanted: fn(TokenType) -> bool| {
            let ids = 0..types.len() as u32;
            TokenMatcher::new(vocabulary, ids.filter(|&id| wanted(types[id as usize])).collect())
        };
        Ok(Self {
            user_defined: matcher(|token| token == TokenType::UserDefined)?,
            all: matcher(|token| {
                matches!(token, TokenType::UserDefined | TokenType::Control | TokenType::Unknown)
            })?,
        })
    }

    /// Calls `each` with every segment of the text. Without `parse_special`, control and unknown tokens are plain text.
    pub(super) fn split<'t>(&self, text: &'t str, parse_special: bool, mut each: impl FnMut(Segment<'t>)) {
        let matcher = if parse_special { &self.all } else { &self.user_defined };
        let mut end = 0;
        for found in matcher.automaton.iter().flat_map(|automaton| automaton.find_iter(text)) {
            if found.start() > end {
                each(Segment::Text(&text[end..found.start()]));
            }
            each(Segment::Special(matcher.ids[found.pattern().as_usize()]));
            end = found.end();
        }
        if end < text.len() {
            each(Segment::Text(&text[end..]));
        }
    }
}

impl TokenMatcher {
    fn new(vocabulary: &Vocabulary<'_>, mut ids: Vec<u32>) -> Result<Self, TokenizerError> {
        ids.retain(|&id| !vocabulary.tokens[id as usize].is_empty());
        if ids.is_empty() {
            return Ok(Self { automaton: None, ids });
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            // A DFA would be slightly faster but far larger.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(ids.iter().map(|&id| vocabulary.tokens[id as usize]))
            .map_err(|error| {
                TokenizerError::vocabulary(format!("cannot build a matcher for its special tokens: {error}"))
            })?;
        Ok(Self { automaton: Some(automaton), ids })
    }
}
