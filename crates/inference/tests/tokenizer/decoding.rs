//! Decoding.

use metalworks_inference::tokenizer::{Tokenizer, TokenizerError};

use crate::data::{PLAIN, Random, SPECIAL, small_bpe, small_sentencepiece, texts};

/// Holds for vocabularies with a token for every byte.
#[test]
fn decoding_inverts_encoding() {
    let mut random = Random(1);
    let more = (0..300).map(|round| random.text(round % 60)).collect::<Vec<_>>();
    for tokenizer in [small_bpe(), small_sentencepiece()] {
        assert!(tokenizer.missing_bytes().is_empty());
        for text in texts().iter().chain(&more) {
            // SentencePiece decodes its space character as a space.
            let text = text.replace('▁', " ");
            for options in [PLAIN, SPECIAL] {
                let ids = tokenizer.encode(&text, options);
                if options == SPECIAL && ids.iter().any(|&id| is_special(&tokenizer, id)) {
                    continue;
                }
                assert_eq!(tokenizer.decode(&ids, true).unwrap(), text, "{ids:?}");
            }
        }
    }
}

fn is_special(tokenizer: &Tokenizer, id: u32) -> bool {
    use metalworks_inference::tokenizer::TokenType::{Control, Unknown};
    matches!(tokenizer.token_type(id).unwrap(), Control | Unknown)
}

/// A stream yields the same text as decoding all tokens at once, in whole characters.
#[test]
fn streams_yield_whole_characters() {
    let mut random = Random(2);
    for tokenizer in [small_bpe(), small_sentencepiece()] {
        for round in 0..300 {
            let text = random.text(round % 60).replace('▁', " ");
            let mut stream = tokenizer.stream(true);
            let mut found = String::new();
            for id in tokenizer.encode(&text, PLAIN) {
                found.push_str(stream.push(id).unwrap().unwrap_or_default());
                assert!(format!(" {text}").contains(found.trim_start()), "{found:?} is not in {text:?}");
            }
            assert_eq!(stream.finish(), None);
            // A stream keeps the space that SentencePiece adds before a text.
            assert!(found == text || found == format!(" {text}"), "{found:?} instead of {text:?}");
        }
    }
}

/// Random tokens: a stream yields the lossy decoding of all their bytes.
#[test]
fn streams_replace_invalid_utf8_like_decode() {
    let mut random = Random(3);
    let tokenizer = small_bpe();
    for _ in 0..2000 {
        // Tokens of single bytes, which follow the 3 special tokens.
        let ids: Vec<u32> = (0..random.below(12)).map(|_| 3 + random.below(256) as u32).collect();
        let mut stream = tokenizer.stream(false);
        let mut found = String::new();
        for &id in &ids {
            found.push_str(stream.push(id).unwrap().unwrap_or_default());
        }
        found.push_str(stream.finish().unwrap_or_default());
        assert_eq!(found, tokenizer.decode(&ids, false).unwrap());
    }
}

#[test]
fn streams_hold_back_incomplete_characters() {
    let tokenizer = small_bpe();
    let ids = tokenizer.encode("\u{10fffe}", PLAIN);
    let mut stream = tokenizer.stream(false);
    let (last, first) = ids.split_last().unwrap();
    for &id in first {
        assert_eq!(stream.push(id).unwrap(), None);
    }
    assert_eq!(stream.push(*last).unwrap(), Some("\u{10fffe}"));

    assert_eq!(stream.push(ids[0]).unwrap(), None);
    assert_eq!(stream.push(tokenizer.encode("a", PLAIN)[0]).unwrap(), Some("\u{fffd}a"));
    assert_eq!(stream.push(ids[0]).unwrap(), None);
    assert_eq!(stream.finish(), Some("\u{fffd}"));
    assert_eq!(stream.finish(), None);
}

#[test]
fn rejects_tokens_beyond_the_vocabulary() {
    let tokenizer = small_bpe();
    let count = tokenizer.vocabulary_size();
    let error = TokenizerError::NoToken { id: count as u32, count };
    assert_eq!(tokenizer.decode(&[count as u32], true), Err(error.clone()));
    assert_eq!(tokenizer.piece(u32::MAX), Err(TokenizerError::NoToken { id: u32::MAX, count }));
    assert_eq!(tokenizer.stream(true).push(count as u32), Err(error.clone()));
    assert_eq!(error.to_string(), format!("there is no token {count}, only 0 to {}", count - 1));
    assert!(!tokenizer.ends_generation(u32::MAX));
}
