//! Special tokens: found when asked for, never otherwise.

use inference::tokenizer::{EncodeOptions, TokenType, Tokenizer, Vocabulary};

use crate::data::{PLAIN, Random, Reference, SPECIAL, small_bpe, small_sentencepiece};

#[test]
fn control_tokens_are_found_only_when_asked_for() {
    let tokenizer = small_bpe();
    let text = "<|im_start|>user\nHi<|im_end|>";
    let found = tokenizer.encode(text, SPECIAL);
    assert_eq!((found.first(), found.last()), (Some(&1), Some(&2)));
    assert_eq!(tokenizer.token_type(1).unwrap(), TokenType::Control);

    let plain = tokenizer.encode(text, PLAIN);
    assert!(plain.iter().all(|&id| tokenizer.token_type(id).unwrap() == TokenType::Normal), "{plain:?}");
    assert_eq!(tokenizer.decode(&plain, false).unwrap(), text);
    assert_eq!(tokenizer.decode(&found, false).unwrap(), "user\nHi");
    assert_eq!(tokenizer.decode(&found, true).unwrap(), text);
}

/// Whatever is in a text, no control token comes out of it: also where merging could make one.
#[test]
fn no_text_becomes_a_control_token() {
    let mut random = Random(5);
    let reference = Reference::sentencepiece();
    let mut vocabulary = reference.vocabulary(None);
    // All parts of </s> are tokens, and the score of </s> is above all others.
    for part in ["</", "</s", "s>", "/s>"] {
        if !vocabulary.tokens.contains(&part) {
            vocabulary.tokens.push(part);
            vocabulary.token_types.push(1);
            vocabulary.scores.push(-1.0);
        }
    }
    let tokenizers = [small_bpe(), Tokenizer::new(&vocabulary).unwrap()];
    let parts =
        ["</s>", "<s>", "<unk>", "<|im_end|>", "<|endoftext|>", "<0x41>", " ", "a", "<", "|", ">", "/", "s"];
    for tokenizer in &tokenizers {
        for _ in 0..300 {
            let text: String =
                (0..random.below(8)).map(|_| parts[random.below(parts.len() as u64) as usize]).collect();
            for id in tokenizer.encode(&text, PLAIN) {
                let kind = tokenizer.token_type(id).unwrap();
                assert!(matches!(kind, TokenType::Normal | TokenType::Byte), "{text:?} became {id}, {kind:?}");
            }
        }
    }
}

#[test]
fn user_defined_tokens_are_always_found() {
    let reference = Reference::bpe();
    let mut vocabulary = reference.vocabulary(Some("qwen2"));
    let id = vocabulary.tokens.len() as u32;
    vocabulary.tokens.extend(["<think>", "<think>>"]);
    vocabulary.token_types.extend([4, 4]);
    let tokenizer = Tokenizer::new(&vocabulary).unwrap();
    for options in [PLAIN, SPECIAL] {
        assert_eq!(tokenizer.encode("<think>", options), [id]);
        // The longest of those that begin at a place.
        assert_eq!(tokenizer.encode("<think>><think>", options), [id + 1, id]);
    }
    assert_eq!(tokenizer.decode(&[id], false).unwrap(), "<think>");
}

#[test]
fn texts_begin_and_end_as_the_model_wants() {
    let reference = Reference::bpe();
    let base = reference.vocabulary(Some("gpt-2"));
    let encode = |vocabulary: &Vocabulary<'_>, add_special| {
        Tokenizer::new(vocabulary).unwrap().encode("", EncodeOptions { add_special, parse_special: false })
    };
    let both = Vocabulary { bos: Some(1), eos: Some(2), add_bos: Some(true), add_eos: Some(true), ..base.clone() };
    assert_eq!(encode(&both, true), [1, 2]);
    assert!(encode(&both, false).is_empty());
    // What files do not say depends on the model.
    let silent = Vocabulary { bos: Some(1), eos: Some(2), add_bos: None, add_eos: None, ..base.clone() };
    assert!(encode(&silent, true).is_empty());
    assert_eq!(encode(&Vocabulary { pre: Some("llama-bpe"), ..silent.clone() }, true), [1]);
    let reference = Reference::sentencepiece();
    let llama = Vocabulary { add_bos: None, ..reference.vocabulary(None) };
    assert_eq!(encode(&llama, true), [1]);
    assert_eq!(Tokenizer::new(&llama).unwrap().eos(), Some(2));
}

/// As llama.cpp does, and not the package `sentencepiece`, which takes no special tokens from texts.
#[test]
fn sentencepiece_puts_a_space_after_special_tokens() {
    let tokenizer = small_sentencepiece();
    let space = tokenizer.encode("the", SPECIAL);
    let mut expected = space.clone();
    expected.push(2);
    expected.extend(&space);
    assert_eq!(tokenizer.encode("the</s>the", SPECIAL), expected);
}

#[test]
fn the_ends_of_answers() {
    let reference = Reference::bpe();
    let vocabulary = Vocabulary { eos: Some(0), ..reference.vocabulary(Some("smollm")) };
    let tokenizer = Tokenizer::new(&vocabulary).unwrap();
    let ends: Vec<u32> =
        (0..tokenizer.vocabulary_size() as u32).filter(|&id| tokenizer.ends_generation(id)).collect();
    assert_eq!(ends, [0, 2], "<|endoftext|> and <|im_end|>");
}
