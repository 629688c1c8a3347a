//! Small vocabularies, compared with the packages that trained them.

use metalworks_inference::tokenizer::Tokenizer;

use crate::data::{Reference, SPECIAL, texts};

fn compare(tokenizer: &Tokenizer, ids: &[Vec<u32>], skip: impl Fn(&str) -> bool) {
    let texts = texts();
    assert_eq!(texts.len(), ids.len());
    let mut compared = 0;
    for (text, expected) in texts.iter().zip(ids) {
        if skip(text) {
            continue;
        }
        compared += 1;
        let found = tokenizer.encode(text, SPECIAL);
        let pieces = |ids: &[u32]| -> Vec<String> {
            ids.iter().map(|&id| String::from_utf8_lossy(tokenizer.piece(id).unwrap()).into_owned()).collect()
        };
        assert_eq!(&found, expected, "{text:?}: {:?}, expected {:?}", pieces(&found), pieces(expected));
    }
    assert!(compared > 200, "only {compared} texts were compared");
}

#[test]
fn byte_level_bpe_encodes_like_tokenizers() {
    let reference = Reference::bpe();
    for pre in ["gpt-2", "smollm", "llama-bpe", "qwen2"] {
        let tokenizer = Tokenizer::new(&reference.vocabulary(Some(pre))).unwrap();
        compare(&tokenizer, &reference.ids(Some(pre)), |_| false);
    }
}

#[test]
fn sentencepiece_encodes_like_its_package() {
    let reference = Reference::sentencepiece();
    let tokenizer = Tokenizer::new(&reference.vocabulary(None)).unwrap();
    // The package does not parse control tokens in text.
    let special = ["<s>", "</s>", "<unk>"];
    compare(&tokenizer, &reference.ids(None), |text| special.iter().any(|token| text.contains(token)));
}
