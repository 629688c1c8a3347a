//! Special tokens: control tokens are parsed with `parse_special` only, user-defined ones in every text.

use metalworks_inference::tokenizer::{EncodeOptions, TokenType, Tokenizer, Vocabulary};

use crate::data::{PLAIN, Random, Reference, SPECIAL, small_bpe, small_sentencepiece};

#[test]
fn parses_control_tokens_with_parse_special_only() {
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

/// Without `parse_special`, no text encodes to a control token, even where merging could result in one.
#[test]
fn plain_text_encodes_to_no_control_token() {
    let mut random = Random(5);
    let reference = Reference::sentencepiece();
    let mut vocabulary = reference.vocabulary(None);
    // All parts of </s> are tokens, and </s> has the highest score.
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
fn user_defined_tokens_match_in_every_text() {
    let reference = Reference::bpe();
    let mut vocabulary = reference.vocabulary(Some("qwen2"));
    let id = vocabulary.tokens.len() as u32;
    vocabulary.tokens.extend(["<think>", "<think>>"]);
    vocabulary.token_types.extend([4, 4]);
    let tokenizer = Tokenizer::new(&vocabulary).unwrap();
    for options in [PLAIN, SPECIAL] {
        assert_eq!(tokenizer.encode("<think>", options), [id]);
        // The longest match wins.
        assert_eq!(tokenizer.encode("<think>><think>", options), [id + 1, id]);
    }
    assert_eq!(tokenizer.decode(&[id], false).unwrap(), "<think>");
}

#[test]
fn adds_bos_and_eos_as_configured() {
    let reference = Reference::bpe();
    let base = reference.vocabulary(Some("gpt-2"));
    let encode = |vocabulary: &Vocabulary<'_>, add_special| {
        Tokenizer::new(vocabulary).unwrap().encode("", EncodeOptions { add_special, parse_special: false })
    };
    let both = Vocabulary { bos: Some(1), eos: Some(2), add_bos: Some(true), add_eos: Some(true), ..base.clone() };
    assert_eq!(encode(&both, true), [1, 2]);
    assert!(encode(&both, false).is_empty());
    // The default depends on the tokenizer.
    let silent = Vocabulary { bos: Some(1), eos: Some(2), add_bos: None, add_eos: None, ..base.clone() };
    assert!(encode(&silent, true).is_empty());
    assert_eq!(encode(&Vocabulary { pre: Some("llama-bpe"), ..silent.clone() }, true), [1]);
    let reference = Reference::sentencepiece();
    let llama = Vocabulary { add_bos: None, ..reference.vocabulary(None) };
    assert_eq!(encode(&llama, true), [1]);
    assert_eq!(Tokenizer::new(&llama).unwrap().eos(), Some(2));
}

/// Like llama.cpp. The package `sentencepiece` does not parse special tokens.
#[test]
fn sentencepiece_adds_a_space_after_special_tokens() {
    let tokenizer = small_sentencepiece();
    let space = tokenizer.encode("the", SPECIAL);
    let mut expected = space.clone();
    expected.push(2);
    expected.extend(&space);
    assert_eq!(tokenizer.encode("the</s>the", SPECIAL), expected);
}

#[test]
fn named_control_tokens_end_generation() {
    let reference = Reference::bpe();
    let vocabulary = Vocabulary { eos: Some(0), ..reference.vocabulary(Some("smollm")) };
    let tokenizer = Tokenizer::new(&vocabulary).unwrap();
    let ends: Vec<u32> =
        (0..tokenizer.vocabulary_size() as u32).filter(|&id| tokenizer.ends_generation(id)).collect();
    assert_eq!(ends, [0, 2], "<|endoftext|> and <|im_end|>");
}
