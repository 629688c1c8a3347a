//! Byte-level BPE (`gpt2`): merges the bytes of each word by a ranked list of pairs.

use super::bytes::alphabet;
use super::map::{self, Map};
use super::merge::{Merger, NONE, Pairs};
use super::words::PreTokenizer;
use super::{TokenType, TokenizerError, Vocabulary};

pub(super) struct Bpe {
    pre_tokenizer: PreTokenizer,
    /// Token of each byte, or `NONE`.
    bytes: [u32; 256],
    pairs: Pairs,
    /// Words that are tokens as a whole. `Some` if the pre-tokenizer looks words up before it merges.
    words: Option<Map<Vec<u8>, u32>>,
}

impl Bpe {
    /// Returns the model, and true if it adds `bos` by default.
    pub(super) fn new(
        vocabulary: &Vocabulary<'_>,
        types: &[TokenType],
        ids: &Map<&str, u32>,
        piece: impl Fn(u32) -> Vec<u8>,
    ) -> Result<(Self, bool), TokenizerError> {
        let Some(pre) = vocabulary.pre else {
            return Err(TokenizerError::vocabulary("it does not name its pre-tokenizer"));
        };
        let pre_tokenizer = PreTokenizer::named(pre)?;
        let mut buffer = [0; 4];
        let bytes = alphabet().map(|character| {
            let id = ids.get(&*character.encode_utf8(&mut buffer)).copied();
            id.filter(|&id| types[id as usize] == TokenType::Normal).unwrap_or(NONE)
        });
        if bytes.iter().all(|&id| id == NONE) {
            return Err(TokenizerError::vocabulary("it has no tokens for single bytes"));
        }
        let ignores_merges = vocabulary.ignore_merges.unwrap_or(pre_tokenizer.ignores_merges());
        let words = ignores_merges.then(|| {
            let normal = (0..types.len() as u32).filter(|&id| types[id as usize] == TokenType::Normal);
            let mut words = map::with_capacity(types.len());
            words.extend(normal.map(|id| (piece(id), id)));
            words
        });
        let pairs = pairs(vocabulary, types, ids)?;
        Ok((Self { pre_tokenizer, bytes, pairs, words }, pre_tokenizer.adds_bos()))
    }

    /// Appends the tokens of a text. Drops a byte that has no token, as llama.cpp does.
    pub(super) fn encode(&self, text: &str, merger: &mut Merger, tokens: &mut Vec<u32>) {
        self.pre_tokenizer.words(text, |word| {
            if let Some(&id) = self.words.as_ref().and_then(|words| words.get(word.as_bytes())) {
                tokens.push(id);
                return;
            }
            merger.symbols.clear();
            merger.symbols.extend(word.bytes().map(|byte| self.bytes[byte as usize]));
            merger.merge(&self.pairs);
            tokens.extend(merger.symbols.iter().filter(|&&id| id != NONE));
        });
    }

    pub(super) fn missing_bytes(&self) -> impl Iterator<Item = u8> {
        (0..=u8::MAX).filter(|&byte| self.bytes[byte as usize] == NONE)
    }
}

/// Pairs of tokens that merge.
pub(super) fn pairs(
    vocabulary: &Vocabulary<'_>,
    types: &[TokenType],
    ids: &Map<&str, u32>,
) -> Result<Pairs, TokenizerError> {
    let mut pairs = Pairs::with_capacity(vocabulary.merges.len());
    let mut joined = String::new();
    for (rank, merge) in vocabulary.merges.iter().enumerate() {
        let problem = |what: &str| TokenizerError::vocabulary(format!("merge {rank}, {merge:?}, {what}"));
        let token = |text: &str| ids.get(text).copied().filter(|&id| types[id as usize] == TokenType::Normal);
        let Some((left, right)) = merge.split_once(' ') else {
            return Err(problem("is not two tokens separated by a space"));
        };
        joined.clear();
        joined.push_str(left);
        joined.push_str(right);
        let (Some(left), Some(right)) = (token(left), token(right)) else {
            return Err(problem("has a part that is not a token"));
        };
        let Some(result) = token(&joined) else { return Err(problem("results in no token")) };
        let rank = u32::try_from(rank).ok().filter(|&rank| rank != NONE);
        let rank = rank.ok_or_else(|| problem("exceeds the number of supported merges"))?;
        if !pairs.insert(left, right, rank, result) {
            return Err(problem("is a duplicate"));
        }
    }
    Ok(pairs)
}
