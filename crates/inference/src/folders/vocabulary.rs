//! Keys of GGUF from `tokenizer.json`, `tokenizer_config.json` and `generation_config.json`.
//!
//! A tokenizer is described by parts: normalizer, pre-tokenizer, model, post-processor, decoder. They are compared with
//! those that [`crate::tokenizer`] knows; anything else is an error that names the part.

use super::json::{Object, describe};
use super::pre_tokenizers;
use super::safetensors::printable;
use crate::gguf::{Metadata, Strings};
use crate::weights::FileError;
use serde_json::Value as Json;

/// Key that tells to merge characters by the list of merges, not by scores.
pub(crate) const BY_MERGES: &str = "metalworks.tokenizer.by_merges";
/// Key that tells to add a space before the first word of a text only, not after special tokens.
pub(crate) const SPACE_ONCE: &str = "metalworks.tokenizer.space_once";
/// Key that tells to add no space before a text that begins with one.
pub(crate) const SPACE_IF_NONE: &str = "metalworks.tokenizer.space_if_none";
/// Key that tells to take words that are tokens without merging.
pub(crate) const IGNORE_MERGES: &str = "metalworks.tokenizer.ignore_merges";

/// Most tokens.
const MAX_TOKENS: u64 = 1 << 24;
/// Most ids without a token, beyond one for each token.
const MAX_GAP: u64 = 1 << 16;

/// The files of a tokenizer.
pub(super) struct TokenizerFiles<'a> {
    pub(super) tokenizer: Object<'a>,
    pub(super) config: Option<Object<'a>>,
    pub(super) generation: Option<Object<'a>>,
    /// `config.json`.
    pub(super) model: Object<'a>,
}

/// Types of tokens in GGUF files.
const NORMAL: i32 = 1;
const UNKNOWN: i32 = 2;
const CONTROL: i32 = 3;
const USER_DEFINED: i32 = 4;
const UNUSED: i32 = 5;
const BYTE: i32 = 6;

struct Token {
    text: String,
    kind: i32,
}

impl TokenizerFiles<'_> {
    /// Adds the vocabulary, for at least `least` tokens.
    pub(super) fn add_keys(&self, least: usize, metadata: &mut Metadata) -> Result<(), FileError> {
        let file = self.tokenizer;
        let model = file.required("model", file.object("model", "model.")?)?;
        match model.text("type")? {
            // Old files do not name it.
            Some("BPE") | None if model.find("merges").is_some() => {}
            other => {
                return Err(file.unsupported(format_args!(
                    "the tokenizer is of the type {}: only BPE is supported",
                    other.map_or("that is not named".into(), |name| format!("'{}'", printable(name)))
                )));
            }
        }
        for key in ["continuing_subword_prefix", "end_of_word_suffix"] {
            if model.text(key)?.is_some_and(|text| !text.is_empty()) {
                return Err(model.wrong(key, "a tokenizer with it is not supported"));
            }
        }
        let is_byte_level = is_byte_level(file);
        let merges = merges(model)?;
        let mut tokens = tokens(file, model, !is_byte_level)?;
        while tokens.len() < least {
            tokens.push(Some(Token { text: format!("[PAD{}]", tokens.len()), kind: UNUSED }));
        }
        let tokens: Vec<Token> = tokens
            .into_iter()
            .enumerate()
            .map(|(id, token)| token.unwrap_or_else(|| Token { text: format!("[PAD{id}]"), kind: UNUSED }))
            .collect();
        let unknown = model.text("unk_token")?;
        let id_of = |text: &str| tokens.iter().position(|token| token.text == text).map(|id| id as u32);
        if is_byte_level {
            check_normalizer(file, &["NFC"])?;
            metadata.set("tokenizer.ggml.model", "gpt2");
            metadata.set("tokenizer.ggml.pre", pre_tokenizers::name(file)?);
        } else {
            let prefix = space_prefix(file)?;
            metadata.set("tokenizer.ggml.model", "llama");
            metadata.set("tokenizer.ggml.pre", "default");
            metadata.set("tokenizer.ggml.add_space_prefix", prefix != SpacePrefix::Never);
            metadata.set(SPACE_ONCE, prefix == SpacePrefix::First);
            metadata.set(SPACE_IF_NONE, prefix != SpacePrefix::Prepended);
            metadata.set(BY_MERGES, true);
            metadata.set("tokenizer.ggml.scores", scores(&tokens, &merges));
            let falls_back = model.flag("byte_fallback")?.unwrap_or(false);
            if !falls_back && (unknown.is_none() || model.flag("fuse_unk")? == Some(false)) {
                return Err(model.wrong("byte_fallback", "without it, 'unk_token' and 'fuse_unk' are required"));
            }
            if let Some(id) = unknown.and_then(id_of) {
                metadata.set("tokenizer.ggml.unknown_token_id", id);
            }
        }
        metadata.set(IGNORE_MERGES, model.flag("ignore_merges")?.unwrap_or(false));
        self.add_special(&tokens, metadata)?;
        metadata.set("tokenizer.ggml.token_type", tokens.iter().map(|token| token.kind).collect::<Vec<i32>>());
        metadata.set("tokenizer.ggml.tokens", tokens.iter().map(|token| &token.text).collect::<Strings>());
        let joined = merges.iter().map(|(left, right)| format!("{left} {right}"));
        metadata.set("tokenizer.ggml.merges", joined.collect::<Strings>());
        Ok(())
    }

    /// Tokens that begin and end texts.
    fn add_special(&self, tokens: &[Token], metadata: &mut Metadata) -> Result<(), FileError> {
        let id_of = |text: &str| tokens.iter().position(|token| token.text == text).map(|id| id as u32);
        let named = |key: &str| -> Result<Option<u32>, FileError> {
            let Some(config) = self.config else { return Ok(None) };
            let text = match config.find(key) {
                // Old files have an object of the token's properties.
                Some(Json::Object(token)) => token.get("content").and_then(Json::as_str),
                _ => config.text(key)?,
            };
            let id = |text: &str| {
                id_of(text)
                    .ok_or_else(|| config.wrong(key, format_args!("there is no token '{}'", printable(text))))
            };
            text.filter(|text| !text.is_empty()).map(id).transpose()
        };
        let (mut bos, mut eos) = (named("bos_token")?, named("eos_token")?);
        let mut ends = Vec::new();
        for file in [self.generation, Some(self.model)].into_iter().flatten() {
            ends.extend(ids(file, "eos_token_id", tokens.len())?);
            bos = bos.or(ids(file, "bos_token_id", tokens.len())?.first().copied());
        }
        eos = eos.or(ends.first().copied());
        let mut others: Vec<u32> = Vec::new();
        for end in ends {
            if Some(end) != eos && !others.contains(&end) {
                others.push(end);
            }
        }
        // Any further ones have the usual names.
        let keys = [("bos", bos), ("eos", eos), ("eot", others.first().copied()), ("eom", others.get(1).copied())];
        for (name, id) in keys.into_iter().chain([("padding", named("pad_token").unwrap_or(None))]) {
            if let Some(id) = id {
                metadata.set(&format!("tokenizer.ggml.{name}_token_id"), id);
            }
        }
        let flag = |key: &str| self.config.map(|config| config.flag(key)).transpose().map(Option::flatten);
        let (first, last) = template(self.tokenizer);
        let add_bos = flag("add_bos_token")?.unwrap_or(first.is_some() && first.and_then(id_of) == bos);
        let add_eos = flag("add_eos_token")?.unwrap_or(last.is_some() && last.and_then(id_of) == eos);
        metadata.set("tokenizer.ggml.add_bos_token", add_bos && bos.is_some());
        metadata.set("tokenizer.ggml.add_eos_token", add_eos && eos.is_some());
        Ok(())
    }
}

/// One id, or a list of them.
fn ids(file: Object<'_>, key: &str, count: usize) -> Result<Vec<u32>, FileError> {
    let values = match file.find(key) {
        None => return Ok(Vec::new()),
        Some(Json::Array(values)) => values.as_slice(),
        Some(value) => std::slice::from_ref(value),
    };
    let id = |value: &Json| {
        let id = value
            .as_u64()
            .ok_or_else(|| file.wrong(key, format_args!("expected a token, found {}", describe(value))))?;
        match id < count as u64 {
            true => Ok(id as u32),
            false => Err(file.wrong(key, format_args!("there is no token {id} among {count}"))),
        }
    };
    values.iter().map(id).collect()
}

/// Pairs of tokens: `"a b"`, or `["a", "b"]`.
fn merges<'a>(model: Object<'a>) -> Result<Vec<(&'a str, &'a str)>, FileError> {
    let values = model.required("merges", model.array("merges")?)?;
    let pair = |value: &'a Json| match value {
        Json::String(text) => text.split_once(' '),
        Json::Array(parts) => match parts.as_slice() {
            [Json::String(left), Json::String(right)] => Some((left.as_str(), right.as_str())),
            _ => None,
        },
        _ => None,
    };
    let pairs = values.iter().enumerate();
    pairs
        .map(|(rank, value)| {
            let wrong = || {
                model.wrong("merges", format_args!("merge {rank}: expected two tokens, found {}", describe(value)))
            };
            let (left, right) = pair(value).ok_or_else(wrong)?;
            // The list in GGUF files separates them by a space.
            if left.contains(' ') || right.contains(' ') { Err(wrong()) } else { Ok((left, right)) }
        })
        .collect()
}

/// Tokens by their ids; `None` where there is none.
fn tokens(file: Object<'_>, model: Object<'_>, has_bytes: bool) -> Result<Vec<Option<Token>>, FileError> {
    let vocabulary = model.required("vocab", model.object("vocab", "model.vocab.")?)?;
    let added = file.array("added_tokens")?.into_iter().flatten();
    // Ids have few gaps: a small file does not make a large vocabulary.
    let most = (2 * (vocabulary.entries().count() + added.count()) as u64 + MAX_GAP).min(MAX_TOKENS);
    let mut tokens: Vec<Option<Token>> = Vec::new();
    let mut put = |id: u64, text: &str, kind: i32, is_added: bool| {
        let wrong =
            |problem: &str| model.wrong("vocab", format_args!("token {id}, '{}', {problem}", printable(text)));
        if id >= most {
            return Err(wrong("is far beyond the number of tokens"));
        }
        let id = id as usize;
        if tokens.len() <= id {
            tokens.resize_with(id + 1, || None);
        }
        match &tokens[id] {
            // Added tokens may be in the vocabulary, too.
            Some(token) if !(is_added && token.text == text) => Err(wrong("has the id of another")),
            _ => {
                tokens[id] = Some(Token { text: text.to_owned(), kind });
                Ok(())
            }
        }
    };
    let unknown = model.text("unk_token")?;
    for (text, id) in vocabulary.entries() {
        let id = id
            .as_u64()
            .ok_or_else(|| vocabulary.wrong(text, format_args!("expected an id, found {}", describe(id))))?;
        let is_byte = has_bytes && text.len() == 6 && text.starts_with("<0x") && text.ends_with('>');
        let kind = match () {
            () if is_byte => BYTE,
            () if has_bytes && Some(text.as_str()) == unknown => UNKNOWN,
            () => NORMAL,
        };
        put(id, text, kind, false)?;
    }
    for added in file.array("added_tokens")?.into_iter().flatten() {
        let field = |name: &str| added.get(name);
        let (Some(id), Some(text)) = (field("id").and_then(Json::as_u64), field("content").and_then(Json::as_str))
        else {
            return Err(file.wrong("added_tokens", "expected objects with 'id' and 'content'"));
        };
        let is_special = field("special").and_then(Json::as_bool).unwrap_or(false);
        let kind = match () {
            () if has_bytes && Some(text) == unknown => UNKNOWN,
            () if is_special => CONTROL,
            () => USER_DEFINED,
        };
        put(id, text, kind, true)?;
    }
    Ok(tokens)
}

/// Scores in the order of merges, for programs that merge by scores.
fn scores(tokens: &[Token], merges: &[(&str, &str)]) -> Vec<f32> {
    let ids: std::collections::HashMap<&str, usize> =
        tokens.iter().enumerate().map(|(id, token)| (token.text.as_str(), id)).collect();
    let mut scores = vec![-1e9; tokens.len()];
    for (rank, (left, right)) in merges.iter().enumerate().rev() {
        if let Some(&id) = ids.get(format!("{left}{right}").as_str()) {
            scores[id] = -(rank as f32);
        }
    }
    scores
}

/// Parts of a sequence, or the part itself.
pub(super) fn steps<'a>(file: Object<'a>, key: &str, list: &str) -> Vec<&'a Json> {
    match file.find(key) {
        None => Vec::new(),
        Some(part) if kind(part) == "Sequence" => {
            part.get(list).and_then(Json::as_array).into_iter().flatten().collect()
        }
        Some(part) => vec![part],
    }
}

/// Type of a part.
pub(super) fn kind(part: &Json) -> &str {
    part.get("type").and_then(Json::as_str).unwrap_or("")
}

fn is_byte_level(file: Object<'_>) -> bool {
    let has = |key: &str, list: &str| steps(file, key, list).iter().any(|part| kind(part) == "ByteLevel");
    has("pre_tokenizer", "pretokenizers") || has("decoder", "decoders")
}

fn check_normalizer(file: Object<'_>, known: &[&str]) -> Result<(), FileError> {
    match steps(file, "normalizer", "normalizers").iter().find(|part| !known.contains(&kind(part))) {
        Some(part) => Err(file.unsupported(format_args!(
            "the normalizer '{}' of the tokenizer is not supported",
            printable(kind(part))
        ))),
        None => Ok(()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SpacePrefix {
    /// Before every text between special tokens.
    Prepended,
    /// The same, unless the text begins with a space.
    Always,
    /// The same, and only at the beginning of the whole text.
    First,
    Never,
}

/// Spaces as `▁`: by a normalizer or by the pre-tokenizer.
fn space_prefix(file: Object<'_>) -> Result<SpacePrefix, FileError> {
    let (mut prefix, mut replaces) = (SpacePrefix::Never, false);
    let is = |part: &Json, key: &str, text: &str| part.get(key).and_then(Json::as_str) == Some(text);
    let unknown = |what: &str, part: &Json| {
        file.unsupported(format_args!("the {what} '{}' of the tokenizer is not supported", printable(kind(part))))
    };
    for part in steps(file, "normalizer", "normalizers") {
        match kind(part) {
            "Prepend" if is(part, "prepend", "▁") => prefix = SpacePrefix::Prepended,
            "Replace"
                if part.pointer("/pattern/String").and_then(Json::as_str) == Some(" ")
                    && is(part, "content", "▁") =>
            {
                replaces = true;
            }
            _ => return Err(unknown("normalizer", part)),
        }
    }
    for part in steps(file, "pre_tokenizer", "pretokenizers") {
        match kind(part) {
            "Metaspace" if is(part, "replacement", "▁") => {
                if part.get("split").and_then(Json::as_bool) != Some(false) {
                    return Err(
                        file.unsupported("the pre-tokenizer 'Metaspace' splits at spaces, which is not supported")
                    );
                }
                replaces = true;
                let adds = part.get("add_prefix_space").and_then(Json::as_bool).unwrap_or(true);
                prefix = match part.get("prepend_scheme").and_then(Json::as_str) {
                    Some("always") => SpacePrefix::Always,
                    Some("first") => SpacePrefix::First,
                    Some(_) => SpacePrefix::Never,
                    None if adds => SpacePrefix::Always,
                    None => SpacePrefix::Never,
                };
            }
            // Gemma's: spaces are no longer there when it splits.
            "Split" if part.pointer("/pattern/String").and_then(Json::as_str) == Some(" ") => {}
            _ => return Err(unknown("pre-tokenizer", part)),
        }
    }
    match replaces {
        true => Ok(prefix),
        false => Err(file.unsupported("the tokenizer is neither byte-level nor of SentencePiece")),
    }
}

/// Special tokens before and after a text.
fn template<'a>(file: Object<'a>) -> (Option<&'a str>, Option<&'a str>) {
    let Some(part) =
        steps(file, "post_processor", "processors").into_iter().find(|part| kind(part) == "TemplateProcessing")
    else {
        return (None, None);
    };
    let pieces = part.get("single").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    let text = |at: usize| pieces.get(at)?.pointer("/SpecialToken/id")?.as_str();
    let last = if pieces.len() > 1 { text(pieces.len() - 1) } else { None };
    (text(0), last)
}
