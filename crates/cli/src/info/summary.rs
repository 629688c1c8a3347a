//! Summary of a model, for text and JSON.

use std::collections::BTreeMap;

use inference::gguf::{Container, Gguf, Strings, Value};
use inference::weights::TensorType;
use serde_json::{Value as Json, json};

use super::value_to_json;

/// Summary of a model file. Properties missing from the file are `None`.
pub(crate) struct Summary {
    pub(crate) files: Vec<String>,
    pub(crate) container: Container,
    /// GGUF version.
    pub(crate) version: u32,
    pub(crate) bytes: u64,
    pub(crate) parameters: u64,
    pub(crate) tensors: usize,
    /// By number of parameters, descending.
    pub(crate) types: Vec<TypeShare>,
    /// Properties of the architecture by their names here.
    pub(crate) facts: Vec<(&'static str, Value)>,
    pub(crate) vocabulary: Option<usize>,
    pub(crate) special_tokens: Vec<(&'static str, u64, Option<String>)>,
    pub(crate) has_chat_template: bool,
    /// Remarks on a folder.
    pub(crate) notes: Vec<String>,
}

/// Tensors of one type.
pub(crate) struct TypeShare {
    pub(crate) kind: TensorType,
    pub(crate) tensors: usize,
    pub(crate) parameters: u64,
    pub(crate) bytes: u64,
}

/// Names of properties and their GGUF keys; `*` is the architecture.
const FACTS: [(&str, &str); 19] = [
    ("name", "general.name"),
    ("architecture", "general.architecture"),
    ("size label", "general.size_label"),
    ("license", "general.license"),
    ("context length", "*.context_length"),
    ("layers", "*.block_count"),
    ("width", "*.embedding_length"),
    ("feed forward", "*.feed_forward_length"),
    ("heads", "*.attention.head_count"),
    ("key/value heads", "*.attention.head_count_kv"),
    ("head size", "*.attention.key_length"),
    ("experts", "*.expert_count"),
    ("experts used", "*.expert_used_count"),
    ("sliding window", "*.attention.sliding_window"),
    ("rope base", "*.rope.freq_base"),
    ("rope dimensions", "*.rope.dimension_count"),
    ("norm epsilon", "*.attention.layer_norm_rms_epsilon"),
    ("tokenizer", "tokenizer.ggml.model"),
    ("pre-tokenizer", "tokenizer.ggml.pre"),
];

/// Special tokens.
const SPECIAL: [(&str, &str); 5] = [
    ("begin", "tokenizer.ggml.bos_token_id"),
    ("end", "tokenizer.ggml.eos_token_id"),
    ("end of turn", "tokenizer.ggml.eot_token_id"),
    ("padding", "tokenizer.ggml.padding_token_id"),
    ("unknown", "tokenizer.ggml.unknown_token_id"),
];

impl Summary {
    pub(crate) fn of(model: &Gguf) -> Summary {
        let weights = model.weights();
        let architecture = model.architecture().unwrap_or_default();
        let facts = FACTS.iter().filter_map(|(name, key)| {
            model.metadata().find(&key.replace('*', architecture)).map(|value| (*name, value.clone()))
        });
        let mut facts: Vec<(&str, Value)> = facts.collect();
        let number = |name: &str| facts.iter().find(|(known, _)| *known == name)?.1.integer();
        // Models whose heads divide the width evenly omit the head size.
        let size = number("width").zip(number("heads")).and_then(|(width, heads)| width.checked_div(heads));
        if let (None, Some(size)) = (number("head size"), size) {
            facts.push(("head size", Value::I64(i64::try_from(size).unwrap_or_default())));
        }
        if let Some(quantization) = model.quantization() {
            facts.push(("quantization", Value::from(quantization)));
        }
        let tokens = model.get::<&Strings>("tokenizer.ggml.tokens").ok();
        let special = SPECIAL.iter().filter_map(|(name, key)| {
            let id: u64 = model.get(key).ok()?;
            let token = tokens.and_then(|tokens| tokens.get(id as usize));
            Some((*name, id, token.map(|token| String::from_utf8_lossy(token).into_owned())))
        });
        let paths = weights.files().iter().filter_map(|file| file.path());
        Summary {
            files: paths.map(|path| path.display().to_string()).collect(),
            container: model.container(),
            version: model.version(),
            bytes: weights.files().iter().map(|file| file.bytes().len() as u64).sum(),
            parameters: model.parameters(),
            tensors: weights.tensors().len(),
            types: types(model),
            facts,
            vocabulary: tokens.map(Strings::len),
            special_tokens: special.collect(),
            has_chat_template: model.metadata().find("tokenizer.chat_template").is_some(),
            notes: model.notes().to_vec(),
        }
    }

    /// Types that no kernel reads.
    pub(crate) fn not_run(&self) -> Vec<&'static str> {
        self.types
            .iter()
            .map(|share| share.kind)
            .filter(|kind| kind.format().is_none())
            .map(TensorType::name)
            .collect()
    }

    pub(crate) fn to_json(&self) -> Json {
        let mut json = json!({
            "files": self.files,
            "format": match self.container {
                Container::Gguf => "gguf",
                Container::HuggingFace => "hugging_face",
                Container::Mlx => "mlx",
            },
            "version": (self.container == Container::Gguf).then_some(self.version),
            "bytes": self.bytes,
            "parameters": self.parameters,
            "tensor_count": self.tensors,
            "types": self.types.iter().map(|share| json!({
                "type": share.kind.name(),
                "tensors": share.tensors,
                "parameters": share.parameters,
                "bytes": share.bytes,
                "supported": share.kind.format().is_some(),
            })).collect::<Vec<Json>>(),
            "vocabulary": self.vocabulary,
            "special_tokens": self.special_tokens.iter().map(|(name, id, token)| json!({
                "name": name, "id": id, "token": token,
            })).collect::<Vec<Json>>(),
            "chat_template": self.has_chat_template,
            "notes": self.notes,
        });
        for (name, value) in &self.facts {
            json[name.replace([' ', '-', '/'], "_")] = value_to_json(value);
        }
        json
    }
}

fn types(model: &Gguf) -> Vec<TypeShare> {
    let mut shares: BTreeMap<TensorType, TypeShare> = BTreeMap::new();
    for tensor in model.weights().tensors() {
        let empty = TypeShare { kind: tensor.kind, tensors: 0, parameters: 0, bytes: 0 };
        let share = shares.entry(tensor.kind).or_insert(empty);
        share.tensors += 1;
        share.parameters = share.parameters.saturating_add(tensor.elements());
        share.bytes += tensor.size();
    }
    let mut shares: Vec<TypeShare> = shares.into_values().collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.parameters));
    shares
}
