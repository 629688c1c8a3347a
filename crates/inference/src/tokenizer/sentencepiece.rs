//! SentencePiece BPE (`llama`): merges characters into tokens, the result with the highest score first.
//!
//! Two neighbours merge if together they are a token. So the pairs are all splits of a token into two parts, each of
//! them a token or a single character, ranked by the score of the token. Folders list the pairs instead.

use super::bpe;
use super::map::{self, Map};
use super::merge::{Merger, NONE, Pairs};
use super::{TokenType, TokenizerError, Vocabulary};

/// Character that stands for a space in tokens.
pub(super) const SPACE: char = '▁';

/// Longest token in bytes: finding all splits takes quadratic time. Llama's longest token has 48 bytes.
const MAX_TOKEN_LEN: usize = 512;

pub(super) struct SentencePiece {
    /// Symbol of each character that is in a token: its own token, or a symbol from `first_character` on.
    characters: Map<char, u32>,
    first_character: u32,
    /// Characters that are in tokens but are not tokens: the symbols from `first_character` on.
    only_in_tokens: Vec<char>,
    pairs: Pairs,
    /// Token of each byte, the fallback for characters without a token.
    bytes: Option<Box<[u32; 256]>>,
    unknown: Option<u32>,
    add_space_prefix: bool,
    /// No space is added before one.
    space_if_none: bool,
    /// True if all spaces of a token are at its beginning, so text can be split before a run of spaces.
    spaces_begin_tokens: bool,
}

impl SentencePiece {
    pub(super) fn new(
        vocabulary: &Vocabulary<'_>,
        types: &[TokenType],
        ids: &Map<&str, u32>,
        unknown: Option<u32>,
    ) -> Result<Self, TokenizerError> {
        if vocabulary.scores.is_empty() && !vocabulary.by_merges {
            return Err(TokenizerError::vocabulary("it has no scores"));
        }
        let bytes = byte_tokens(vocabulary, types)?;
        if bytes.is_none() && unknown.is_none() {
            return Err(TokenizerError::vocabulary(
                "it has neither byte tokens nor an unknown token: some texts cannot be encoded",
            ));
        }
        let first_character = vocabulary.tokens.len() as u32;
        let mut model = Self {
            characters: map::with_capacity(0),
            first_character,
            only_in_tokens: Vec::new(),
            pairs: Pairs::with_capacity(vocabulary.tokens.len()),
            bytes,
            unknown,
            add_space_prefix: vocabulary.add_space_prefix.unwrap_or(true),
            space_if_none: vocabulary.space_if_none,
            spaces_begin_tokens: true,
        };
        if vocabulary.by_merges {
            model.pairs = bpe::pairs(vocabulary, types, ids)?;
            for id in (0..first_character).filter(|&id| types[id as usize] == TokenType::Normal) {
                let token = vocabulary.tokens[id as usize];
                model.spaces_begin_tokens &= !token.trim_start_matches(SPACE).contains(SPACE);
                let mut characters = token.chars();
                if let (Some(single), None) = (characters.next(), characters.next()) {
                    model.characters.insert(single, id);
                }
            }
            return Ok(model);
        }
        let mut normal: Vec<u32> =
            (0..first_character).filter(|&id| types[id as usize] == TokenType::Normal).collect();
        let score = |id: u32| vocabulary.scores[id as usize];
        normal.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
        let mut rank = 0;
        for (at, &id) in normal.iter().enumerate() {
            if at > 0 && score(id) != score(normal[at - 1]) {
                rank = at as u32;
            }
            model.add_token(vocabulary.tokens[id as usize], id, rank, types, ids)?;
        }
        Ok(model)
    }

    fn add_token(
        &mut self,
        token: &str,
        id: u32,
        rank: u32,
        types: &[TokenType],
        ids: &Map<&str, u32>,
    ) -> Result<(), TokenizerError> {
        if token.len() > MAX_TOKEN_LEN {
            let problem = format!("token {id} has {} bytes, more than {MAX_TOKEN_LEN}", token.len());
            return Err(TokenizerError::vocabulary(problem));
        }
        self.spaces_begin_tokens &= !token.trim_start_matches(SPACE).contains(SPACE);
        for (at, character) in token.char_indices() {
            if self.characters.contains_key(&character) {
                continue;
            }
            let symbol = symbol_of(&token[at..at + character.len_utf8()], types, ids).unwrap_or_else(|| {
                self.only_in_tokens.push(character);
                self.first_character + self.only_in_tokens.len() as u32 - 1
            });
            self.characters.insert(character, symbol);
        }
        for (at, _) in token.char_indices().skip(1) {
            let (left, right) = token.split_at(at);
            if let (Some(left), Some(right)) = (self.part(left, types, ids), self.part(right, types, ids)) {
                self.pairs.insert(left, right, rank, id);
            }
        }
        Ok(())
    }

    fn part(&self, text: &str, types: &[TokenType], ids: &Map<&str, u32>) -> Option<u32> {
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(single), None) => self.characters.get(&single).copied(),
            _ => symbol_of(text, types, ids),
        }
    }

    /// Appends the tokens of a text. `at_start` is true at the beginning and after a special token.
    pub(super) fn encode(&self, text: &str, at_start: bool, merger: &mut Merger, tokens: &mut Vec<u32>) {
        let has_space = self.space_if_none && text.starts_with([' ', SPACE]);
        let prefix = (self.add_space_prefix && at_start && !has_space).then_some(SPACE);
        // Characters that are in no token. They do not merge, so they stay in order.
        let mut strangers = Vec::new();
        let mut last = SPACE;
        merger.symbols.clear();
        for character in prefix.into_iter().chain(text.chars()) {
            let character = if character == ' ' { SPACE } else { character };
            if self.spaces_begin_tokens && character == SPACE && last != SPACE {
                self.finish(&mut strangers, merger, tokens);
            }
            let symbol = self.characters.get(&character).copied().unwrap_or(NONE);
            if symbol == NONE {
                strangers.push(character);
            }
            merger.symbols.push(symbol);
            last = character;
        }
        self.finish(&mut strangers, merger, tokens);
    }

    /// Merges the symbols read so far, appends their tokens, and clears them.
    fn finish(&self, strangers: &mut Vec<char>, merger: &mut Merger, tokens: &mut Vec<u32>) {
        merger.merge(&self.pairs);
        let mut strangers = strangers.drain(..);
        for symbol in merger.symbols.drain(..) {
            if symbol < self.first_character {
                tokens.push(symbol);
                continue;
            }
            let only_in_tokens = self.only_in_tokens.get((symbol - self.first_character) as usize).copied();
            if let Some(character) = only_in_tokens.or_else(|| strangers.next()) {
                self.fall_back(character, tokens);
            }
        }
    }

    /// Encodes a character without a token: as its bytes, or else as one unknown token for several in a row.
    fn fall_back(&self, character: char, tokens: &mut Vec<u32>) {
        if let Some(bytes) = &self.bytes {
            tokens.extend(character.encode_utf8(&mut [0; 4]).bytes().map(|byte| bytes[byte as usize]));
        } else if tokens.last().copied() != self.unknown {
            tokens.extend(self.unknown);
        }
    }

    pub(super) fn adds_space_prefix(&self) -> bool {
        self.add_space_prefix
    }
}

fn symbol_of(text: &str, types: &[TokenType], ids: &Map<&str, u32>) -> Option<u32> {
    ids.get(text).copied().filter(|&id| types[id as usize] == TokenType::Normal)
}

/// Token of each byte, or `None` if there are no byte tokens. Some but not all is an error.
fn byte_tokens(
    vocabulary: &Vocabulary<'_>,
    types: &[TokenType],
) -> Result<Option<Box<[u32; 256]>>, TokenizerError> {
    let mut bytes = Box::new([NONE; 256]);
    let mut found = false;
    for (id, token) in vocabulary.tokens.iter().enumerate() {
        if types[id] == TokenType::Byte {
            bytes[byte_of(token, id)? as usize] = id as u32;
            found = true;
        }
    }
    match bytes.iter().position(|&id| id == NONE) {
        Some(missing) if found => {
            Err(TokenizerError::vocabulary(format!("it has byte tokens, but none for <0x{missing:02X}>")))
        }
        _ => Ok(found.then_some(bytes)),
    }
}

/// Parses a byte token such as `<0x0A>`.
pub(super) fn byte_of(token: &str, id: usize) -> Result<u8, TokenizerError> {
    let digits = token.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
    let digits = digits.filter(|digits| digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).ok_or_else(|| {
        TokenizerError::vocabulary(format!("byte token {id}: expected a form like \"<0x0A>\", found {token:?}"))
    })
}
