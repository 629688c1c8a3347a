//! Byte-level BPE vocabulary of any size: all bytes, merges learned from a few English words, then merges of any
//! tokens.

use std::collections::{BTreeMap, HashSet};

use crate::gguf::{Builder, Strings};

/// Text that the first merges are learned from.
const TEXT: &str = "the quick brown fox jumps over the lazy dog and then the other foxes think that there is nothing to \
    be done in the morning when it is raining so they stay at home and read the long story of the king who had three \
    daughters and the one of the hunter and of the bear that was there before them all";
/// Most merges learned from the text.
const LEARNED: usize = 96;
/// Control tokens, at the end of the vocabulary.
const SPECIAL: [&str; 3] = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
/// ChatML.
const CHAT_TEMPLATE: &str = "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + \
    message['content'] + '<|im_end|>' + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' \
    }}{% endif %}";

/// Type codes of normal and control tokens.
const NORMAL: i32 = 1;
const CONTROL: i32 = 3;

/// Adds the metadata of a tokenizer with `size` tokens.
pub(super) fn add(builder: Builder, size: usize, pre_tokenizer: &str) -> Builder {
    let (mut tokens, merges) = tokens_and_merges(size.saturating_sub(SPECIAL.len()));
    let mut types = vec![NORMAL; tokens.len()];
    tokens.extend(SPECIAL.map(str::to_owned));
    types.resize(tokens.len(), CONTROL);
    let [end_of_text, _, end_of_message] = [3, 2, 1].map(|from_end| (tokens.len() - from_end) as u32);
    builder
        .key("tokenizer.ggml.model", "gpt2")
        .key("tokenizer.ggml.pre", pre_tokenizer)
        .key("tokenizer.ggml.tokens", tokens.iter().collect::<Strings>())
        .key("tokenizer.ggml.token_type", types)
        .key("tokenizer.ggml.merges", merges.iter().collect::<Strings>())
        .key("tokenizer.ggml.bos_token_id", end_of_text)
        .key("tokenizer.ggml.eos_token_id", end_of_message)
        .key("tokenizer.ggml.padding_token_id", end_of_text)
        .key("tokenizer.ggml.add_bos_token", false)
        .key("tokenizer.chat_template", CHAT_TEMPLATE)
}

/// Returns `size` tokens, and the merges that form them, in order.
fn tokens_and_merges(size: usize) -> (Vec<String>, Vec<String>) {
    let mut tokens: Vec<String> = (0..=255).map(|byte| character(byte).to_string()).collect();
    let mut known: HashSet<String> = tokens.iter().cloned().collect();
    let mut merges = Vec::new();
    let mut merge = |left: &str, right: &str, tokens: &mut Vec<String>| {
        let token = format!("{left}{right}");
        if tokens.len() < size && known.insert(token.clone()) {
            tokens.push(token);
            merges.push(format!("{left} {right}"));
        }
    };
    for (left, right) in learned() {
        merge(&left, &right, &mut tokens);
    }
    // Then all pairs of tokens, in the order of the sum of their indices.
    let mut sum = 0;
    while tokens.len() < size {
        for left in 0..=sum {
            let (left, right) = (tokens[left].clone(), tokens[sum - left].clone());
            merge(&left, &right, &mut tokens);
        }
        sum += 1;
    }
    (tokens, merges)
}

/// Returns the pairs that BPE learns from the text: each time the most frequent one, the alphabetically first of
/// equals.
fn learned() -> Vec<(String, String)> {
    let space = character(b' ');
    let mut words: Vec<Vec<String>> = TEXT
        .split_whitespace()
        .map(|word| std::iter::once(space).chain(word.chars()).map(String::from).collect())
        .collect();
    let mut pairs = Vec::new();
    for _ in 0..LEARNED {
        let mut counts = BTreeMap::new();
        for word in &words {
            for pair in word.windows(2) {
                *counts.entry((pair[0].clone(), pair[1].clone())).or_insert(0u32) += 1;
            }
        }
        let Some(((left, right), _)) = counts.into_iter().rev().max_by_key(|(_, count)| *count) else { break };
        for word in &mut words {
            while let Some(at) = word.windows(2).position(|pair| pair[0] == left && pair[1] == right) {
                word.splice(at..at + 2, [format!("{left}{right}")]);
            }
        }
        pairs.push((left, right));
    }
    pairs
}

/// Character of a byte in byte-level BPE: itself if it is printable, otherwise one from U+0100 on.
fn character(byte: u8) -> char {
    let printed = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    if printed(byte) {
        return char::from(byte);
    }
    let number = (0..byte).filter(|&before| !printed(before)).count() as u32;
    char::from_u32(0x100 + number).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_the_characters_that_byte_level_bpe_gives_them() {
        assert_eq!([b'a', b' ', b'\n', 0, 0xad, 0xff].map(character), ['a', 'Ġ', 'Ċ', 'Ā', 'Ń', 'ÿ']);
        assert_eq!((0..=255).map(character).collect::<HashSet<char>>().len(), 256);
    }

    #[test]
    fn every_merge_makes_a_token_of_two() {
        for size in [256, 381, 30_000] {
            let (tokens, merges) = tokens_and_merges(size);
            let places: std::collections::HashMap<&str, usize> =
                tokens.iter().enumerate().map(|(at, token)| (token.as_str(), at)).collect();
            assert_eq!((tokens.len(), places.len(), merges.len()), (size, size, size - 256));
            for (number, merge) in merges.iter().enumerate() {
                let (left, right) = merge.split_once(' ').expect("a merge is a pair");
                let token = places[format!("{left}{right}").as_str()];
                assert_eq!(token, 256 + number, "tokens are in the order of merges");
                assert!(places[left] < token && places[right] < token, "{merge}");
            }
        }
        let (tokens, _) = tokens_and_merges(381);
        assert!(["Ġthe", "in"].iter().all(|word| tokens.iter().any(|token| token == word)), "{:?}", &tokens[256..]);
    }
}
