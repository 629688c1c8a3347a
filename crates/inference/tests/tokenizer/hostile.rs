//! Invalid vocabularies, and long texts.

use metalworks_inference::tokenizer::{Tokenizer, TokenizerError, Vocabulary};

use crate::data::{PLAIN, Random, Reference, SPECIAL, small_bpe, small_sentencepiece};

/// Changes a valid vocabulary, and expects an error that contains `words`.
#[track_caller]
fn rejects(change: impl FnOnce(&mut Vocabulary<'_>), pre: Option<&'static str>, words: &str) {
    let reference = if pre.is_some() { Reference::bpe() } else { Reference::sentencepiece() };
    let mut vocabulary = reference.vocabulary(pre);
    assert!(Tokenizer::new(&vocabulary).is_ok());
    change(&mut vocabulary);
    let error = Tokenizer::new(&vocabulary).expect_err("the vocabulary is invalid").to_string();
    assert!(error.contains(words), "{error:?} does not say {words:?}");
}

const BPE: Option<&str> = Some("gpt-2");
const LLAMA: Option<&str> = None;

#[test]
fn rejects_invalid_vocabularies() {
    for pre in [BPE, LLAMA] {
        rejects(|it| *it = Vocabulary { model: it.model, pre: it.pre, ..Vocabulary::default() }, pre, "no tokens");
        rejects(|it| it.tokens[9] = it.tokens[8], pre, "tokens 8 and 9 are both");
        rejects(|it| it.bos = Some(900), pre, "the bos token is 900, but it has 900 tokens");
        rejects(|it| it.eot = Some(u32::MAX), pre, "the eot token is 4294967295, but it has 900 tokens");
        rejects(|it| it.token_types.truncate(899), pre, "it has 900 tokens, but 899 token types");
        rejects(|it| it.token_types[7] = 9, pre, "the type of token 7 is 9");
        rejects(|it| it.scores = vec![0.0], pre, "900 tokens, but 1 scores");
        rejects(|it| it.scores = vec![f32::NAN; 900], pre, "the score of token 0 is NaN");
        rejects(|it| it.model = "bert", pre, "\"bert\" is not supported");
        rejects(
            |it| (it.token_types[20], it.tokens[20]) = (6, "<0xG0>"),
            pre,
            "byte token 20: expected a form like \"<0x0A>\", found \"<0xG0>\"",
        );
    }
}

#[test]
fn rejects_invalid_bpe_vocabularies() {
    rejects(|it| it.merges[3] = "ab", BPE, "merge 3, \"ab\", is not two tokens");
    rejects(|it| it.merges[3] = "a 中", BPE, "merge 3, \"a 中\", has a part that is not a token");
    rejects(|it| it.merges[3] = "! #", BPE, "merge 3, \"! #\", results in no token");
    rejects(|it| it.merges[3] = it.merges[2], BPE, "is a duplicate");
    rejects(|it| it.merges[3] = " ", BPE, "has a part that is not a token");
    rejects(|it| it.pre = Some("poro"), BPE, "the pre-tokenizer \"poro\" is not supported");
    rejects(|it| it.pre = None, BPE, "does not name its pre-tokenizer");
    rejects(|it| it.add_bos = Some(true), BPE, "it adds a bos token, but has none");
    rejects(
        |it| {
            it.merges.clear();
            it.token_types = vec![3; 900];
        },
        BPE,
        "no tokens for single bytes",
    );
}

#[test]
fn rejects_invalid_sentencepiece_vocabularies() {
    rejects(|it| it.scores.clear(), LLAMA, "it has no scores");
    rejects(|it| it.token_types[50] = 1, LLAMA, "it has byte tokens, but none for <0x");
    let long: &'static str = "long".repeat(200).leak();
    rejects(|it| it.tokens[600] = long, LLAMA, "token 600 has 800 bytes");
    // Without byte tokens, an unknown token is required.
    rejects(
        |it| {
            it.token_types = vec![1; 900];
            it.unknown = None;
        },
        LLAMA,
        "neither byte tokens nor an unknown token",
    );
}

#[test]
fn consecutive_unknown_characters_are_one_token() {
    let vocabulary = Vocabulary {
        model: "llama",
        tokens: vec!["<unk>", "a", "ab"],
        token_types: vec![2, 1, 1],
        scores: vec![0.0, -1.0, -2.0],
        add_bos: Some(false),
        add_space_prefix: Some(false),
        ..Vocabulary::default()
    };
    let tokenizer = Tokenizer::new(&vocabulary).unwrap();
    // "b" is in a token but is not a token.
    assert_eq!(tokenizer.encode("abaxyzbab", PLAIN), [2, 1, 0, 2]);
}

#[test]
fn drops_a_byte_without_a_token_and_does_not_merge_across_it() {
    let vocabulary = Vocabulary {
        model: "gpt2",
        pre: Some("gpt-2"),
        tokens: vec!["!", "!!", "a"],
        merges: vec!["! !"],
        ..Vocabulary::default()
    };
    let tokenizer = Tokenizer::new(&vocabulary).unwrap();
    assert_eq!(tokenizer.encode("!!\u{4}!!\u{4}", PLAIN), [1, 1]);
    assert_eq!(tokenizer.encode("!\u{4}!", PLAIN), [0, 0]);
    assert_eq!(tokenizer.missing_bytes().len(), 254);
}

/// Quadratic time would take hours.
#[test]
fn encodes_long_words_in_reasonable_time() {
    let texts = [
        "a".repeat(1 << 20),
        " ".repeat(1 << 17),
        "ab".repeat(1 << 16),
        "!?".repeat(1 << 16),
        "\u{301}".repeat(1 << 16),
    ];
    for tokenizer in [small_bpe(), small_sentencepiece()] {
        for text in &texts {
            let ids = tokenizer.encode(text, SPECIAL);
            assert!(tokenizer.decode(&ids, true).unwrap() == *text);
        }
    }
}

#[test]
fn error_lists_supported_pre_tokenizers() {
    let error = TokenizerError::UnknownPreTokenizer("x".into()).to_string();
    let expected =
        "the pre-tokenizer \"x\" is not supported, only gpt-2, llama-bpe, qwen2, qwen35, smollm, gpt-4o, tekken";
    assert_eq!(error, expected);
}

/// Random vocabularies: each is an error or encodes and decodes without a panic.
#[test]
fn rejects_random_vocabularies_or_encodes_with_them() {
    let mut random = Random(7);
    let pieces =
        ["a", "b", "ab", "Ġ", "▁", "<0x41>", "<0x4", "é", "", "aa", "▁a", "a▁", "<s>", "Ã", "©", "中", " "];
    const TYPES: [i32; 14] = [1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 0];
    let (mut rejected, mut made) = (0, 0);
    for _ in 0..3000 {
        let piece = |random: &mut Random| pieces[random.below(pieces.len() as u64) as usize];
        // Most of the pieces, and sometimes a duplicate.
        let mut tokens: Vec<&str> = pieces.into_iter().filter(|_| random.below(8) > 0).collect();
        if random.below(8) == 0 {
            tokens.push(piece(&mut random));
        }
        let count = tokens.len() as u64;
        let mut merges: Vec<String> = (0..random.below(8).saturating_sub(5))
            .map(|_| format!("{} {}", piece(&mut random), piece(&mut random)))
            .collect();
        if random.below(2) == 0 {
            merges.push("a b".to_owned());
        }
        let id = |random: &mut Random| (random.below(3) == 0).then(|| random.below(18) as u32);
        let vocabulary = Vocabulary {
            model: ["gpt2", "llama"][random.below(2) as usize],
            pre: Some(["gpt-2", "llama-bpe", "qwen35"][random.below(3) as usize]),
            token_types: (0..count * random.below(2))
                .map(|_| TYPES[random.below(TYPES.len() as u64) as usize])
                .collect(),
            scores: (0..count).map(|_| random.below(4) as f32).collect(),
            merges: merges.iter().map(String::as_str).collect(),
            bos: id(&mut random),
            eos: id(&mut random),
            unknown: id(&mut random),
            add_bos: Some(random.below(4) == 0),
            tokens,
            ..Vocabulary::default()
        };
        let Ok(tokenizer) = Tokenizer::new(&vocabulary) else {
            rejected += 1;
            continue;
        };
        made += 1;
        for text in ["aab ab ba<s>é中", "", &random.text(20)] {
            for options in [PLAIN, SPECIAL] {
                let ids = tokenizer.encode(text, options);
                tokenizer.decode(&ids, true).unwrap();
                let mut stream = tokenizer.stream(false);
                for id in ids {
                    stream.push(id).unwrap();
                }
            }
        }
    }
    assert!(rejected > 500 && made > 500, "{rejected} rejected, {made} created");
}

#[test]
fn tokenizers_and_templates_are_send_and_sync() {
    fn shared<T: Send + Sync>() {}
    shared::<Tokenizer>();
    shared::<metalworks_inference::chat::ChatTemplate>();
}
