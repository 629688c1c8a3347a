//! Committed references, and small vocabularies.

use metalworks_inference::tokenizer::{EncodeOptions, Tokenizer, Vocabulary};
use serde_json::Value;

pub(crate) const PLAIN: EncodeOptions = EncodeOptions { add_special: false, parse_special: false };
pub(crate) const SPECIAL: EncodeOptions = EncodeOptions { add_special: false, parse_special: true };

pub(crate) struct Reference(Value);

impl Reference {
    pub(crate) fn bpe() -> Self {
        Self(serde_json::from_str(include_str!("../data/tokenizer/bpe.json")).unwrap())
    }

    pub(crate) fn sentencepiece() -> Self {
        Self(serde_json::from_str(include_str!("../data/tokenizer/sentencepiece.json")).unwrap())
    }

    /// Returns the vocabulary: `gpt2` with this pre-tokenizer, or `llama` for `None`.
    pub(crate) fn vocabulary(&self, pre: Option<&'static str>) -> Vocabulary<'_> {
        let strings = |key: &str| -> Vec<&str> {
            self.0[key].as_array().into_iter().flatten().map(|string| string.as_str().unwrap()).collect()
        };
        let numbers = |key: &str| -> Vec<f64> {
            self.0[key].as_array().into_iter().flatten().map(|number| number.as_f64().unwrap()).collect()
        };
        Vocabulary {
            model: if pre.is_some() { "gpt2" } else { "llama" },
            pre,
            tokens: strings("tokens"),
            token_types: numbers("types").into_iter().map(|number| number as i32).collect(),
            scores: numbers("scores").into_iter().map(|number| number as f32).collect(),
            merges: strings("merges"),
            add_bos: Some(false),
            ..Vocabulary::default()
        }
    }

    /// Returns the expected tokens of each text. `pre` is the pre-tokenizer if the file has several.
    pub(crate) fn ids(&self, pre: Option<&str>) -> Vec<Vec<u32>> {
        let ids = pre.map_or(&self.0["ids"], |pre| &self.0["ids"][pre]);
        serde_json::from_value(ids.clone()).unwrap()
    }
}

pub(crate) fn texts() -> Vec<String> {
    let texts: Value = serde_json::from_str(include_str!("../data/tokenizer/texts.json")).unwrap();
    texts["texts"].as_array().unwrap().iter().map(|text| text[0].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn small_bpe() -> Tokenizer {
    Tokenizer::new(&Reference::bpe().vocabulary(Some("smollm"))).unwrap()
}

pub(crate) fn small_sentencepiece() -> Tokenizer {
    Tokenizer::new(&Reference::sentencepiece().vocabulary(None)).unwrap()
}

/// Pseudorandom numbers, the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// Returns a text of up to `length` characters from all of Unicode, mostly from its beginning.
    pub(crate) fn text(&mut self, length: u64) -> String {
        let character = |random: &mut Self| {
            let limit = [0x20, 0x7f, 0x7f, 0x7f, 0x250, 0x3000, 0x11_0000][random.below(7) as usize];
            char::from_u32(random.below(limit) as u32)
        };
        (0..length).filter_map(|_| character(self)).collect()
    }
}
